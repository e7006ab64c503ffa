/* What the two files of the Gantt chart share. gantt.c lays the chart out and draws everything but the rows;
 * gantt_rows.c draws the rows. */
#ifndef HD_PLOT_GANTT_H
#define HD_PLOT_GANTT_H

#include "draw.h"
#include "trace/trace.h"

struct hd_gantt {
	const struct heddle_trace *trace; /* borrowed */
	struct heddle_gantt_options options;
	struct hd_task_lanes lanes;  /* owned */
	struct hd_links links;       /* owned; empty unless options.transfers is set */
	uint32_t *colors;            /* owned; per codelet */
	struct hd_duty *duties;      /* owned; per worker */
	struct hd_absences absences; /* owned; within `time` */
	/* owned; per worker: the number of workers that its row stands for. Workers of a class that had no tasks and
	 * were driven at the same times are shown in the row of the first of them; 0: the worker has no row. */
	size_t *stands_for;
	double *expanding;      /* owned; per worker: us in which the worker submitted sub-graphs */
	int expands;            /* 1: the chart shows when workers submitted sub-graphs */
	size_t *path, n_path;   /* owned; empty unless options.critical_path is set */
	double begin, makespan; /* us */
	struct hd_axis time;    /* us since `begin` */
	/* the lengths below are in points */
	double width, height; /* of the picture */
	double name_width;
	double legend_y, top, bottom; /* top, bottom: of all rows together; the time axis is below */
	double row;                   /* height of the row of a worker that has one lane */
	double *lane_y; /* owned; top of each lane of the workers, and bottom of the last; a row is its lanes */
	double ready_y, ready_height; /* the curve of ready tasks; height 0: it is not shown */
	double link_row, link_y;      /* height of a link's row; top of the first link's row */
	cairo_t *cr;                  /* borrowed */
	double scale;                 /* pixels per point */
};

enum { HD_REASONS = 3, HD_FAILED = 0x000000, HD_PATH = 0x8b0000, HD_AWAY_COLOR = 0xb8b8b8 };
extern const uint32_t hd_reason_colors[HD_REASONS];

/* The height of a lane. If a worker has several lanes, each is half as high as a row of one lane; names still fit. */
static inline double hd_gantt_lane_height(const struct hd_gantt *g, size_t worker)
{
	if (!g->stands_for[worker])
		return 0;
	return g->lanes.first[worker + 1] - g->lanes.first[worker] > 1 ? g->row / 2 : g->row;
}
/* The top of the row of a worker, and the row's height. */
static inline double hd_gantt_row_y(const struct hd_gantt *g, size_t worker)
{
	return g->lane_y[g->lanes.first[worker]];
}
static inline double hd_gantt_row_height(const struct hd_gantt *g, size_t worker)
{
	return hd_gantt_lane_height(g, worker) * (double)(g->lanes.first[worker + 1] - g->lanes.first[worker]);
}

/* These functions draw when workers were retired, the rows of workers, the expansions, the rows of links, the curve of
 * ready tasks, and the practical critical path. Functions that return a status return 0 or HEDDLE_E_MEMORY. */
int hd_gantt_absences(struct hd_gantt *g);
int hd_gantt_workers(struct hd_gantt *g);
int hd_gantt_expansions(struct hd_gantt *g);
int hd_gantt_links(struct hd_gantt *g);
int hd_gantt_ready(struct hd_gantt *g);
void hd_gantt_path(struct hd_gantt *g);

#endif
