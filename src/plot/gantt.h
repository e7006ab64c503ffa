/* The structure and functions that the two files of the Gantt chart share. gantt.c lays the chart out and draws
 * everything but the rows; gantt_rows.c draws the rows. */
#ifndef HD_PLOT_GANTT_H
#define HD_PLOT_GANTT_H

#include "draw.h"
#include "trace/trace.h"

struct hd_gantt {
	const struct heddle_trace *trace; /* borrows */
	struct heddle_gantt_options options;
	struct hd_task_lanes lanes;  /* owns */
	struct hd_links links;       /* owns; empty unless options.transfers */
	uint32_t *colors;            /* owns; per codelet */
	struct hd_duty *duties;      /* owns; per worker */
	struct hd_absences absences; /* owns; within `time` */
	/* owns; per worker: for how many workers its row stands. Workers of a class that had no tasks and were driven
	 * at the same times share the row of the first; 0: the worker has no row of its own */
	size_t *stands_for;
	double *expanding;      /* owns; per worker: us in which the worker submitted sub-graphs */
	int expands;            /* the chart shows when workers submitted sub-graphs */
	size_t *path, n_path;   /* owns; empty unless options.critical_path */
	double begin, makespan; /* us */
	struct hd_axis time;    /* us since `begin` */
	/* the lengths that follow are in points */
	double width, height; /* of the picture */
	double name_width;
	double legend_y, top, bottom; /* top, bottom: of the area of the rows, above the time axis */
	double row;                   /* height of the row of a worker that has one lane */
	double *lane_y; /* owns; top of each lane of the workers, and the bottom of the last; a row is its lanes */
	double ready_y, ready_height; /* the curve of ready tasks; height 0: it is not shown */
	double link_row, link_y;      /* height of a link's row; top of the first one */
	cairo_t *cr;                  /* borrows */
	double scale;                 /* pixels per point */
};

enum { HD_REASONS = 3, HD_FAILED = 0x000000, HD_PATH = 0x8b0000, HD_AWAY_COLOR = 0xb8b8b8 };
extern const uint32_t hd_reason_colors[HD_REASONS];

/* The height of a lane. If a worker has several lanes, each is half as high as a row, so that names still fit. */
static inline double hd_gantt_lane_height(const struct hd_gantt *g, size_t worker)
{
	if (!g->stands_for[worker])
		return 0;
	return g->lanes.first[worker + 1] - g->lanes.first[worker] > 1 ? g->row / 2 : g->row;
}
/* The top of the row of a worker, and its height. */
static inline double hd_gantt_row_y(const struct hd_gantt *g, size_t worker)
{
	return g->lane_y[g->lanes.first[worker]];
}
static inline double hd_gantt_row_height(const struct hd_gantt *g, size_t worker)
{
	return hd_gantt_lane_height(g, worker) * (double)(g->lanes.first[worker + 1] - g->lanes.first[worker]);
}

/* These functions draw the times in which workers were retired, the rows of workers with the expansions, the rows of
 * links, the curve of ready tasks, and the practical critical path. They return 0 or HEDDLE_E_MEMORY. */
int hd_gantt_absences(struct hd_gantt *g);
int hd_gantt_workers(struct hd_gantt *g);
int hd_gantt_expansions(struct hd_gantt *g);
int hd_gantt_links(struct hd_gantt *g);
int hd_gantt_ready(struct hd_gantt *g);
void hd_gantt_path(struct hd_gantt *g);

#endif
