/* Gives each task of a trace a lane of its worker, so that tasks that ran on the worker at the same time can be drawn
 * side by side. Among the lanes that are free when a task begins, the task takes the lane whose last task ended last.
 * So a lane that has been free for long stays free, and a worker has no more lanes than it ever ran tasks at once. */
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "trace/trace.h"

/* The lanes of one worker, while its tasks are visited in the order of their starts. */
struct row {
	size_t *last; /* borrows; per lane: its last task so far, or HD_NO_TASK */
	size_t room;  /* largest number of lanes: the number of streams of its class */
	size_t n;     /* number of lanes in use; at least 1 */
};

static double ends(const struct heddle_trace *trace, size_t task)
{
	return task == HD_NO_TASK ? -INFINITY : trace->tasks[task].end;
}

/* Puts the task into a lane and returns the lane. *before: the last task of the lane that became free first. */
static size_t take_lane(const struct heddle_trace *trace, struct row *row, size_t task, size_t *before)
{
	size_t best = SIZE_MAX, first = 0;
	for (size_t lane = 0; lane < row->room; lane++) {
		double end = ends(trace, row->last[lane]);
		if (end <= trace->tasks[task].start && (best == SIZE_MAX || end > ends(trace, row->last[best])))
			best = lane;
		if (end < ends(trace, row->last[first]))
			first = lane;
	}
	*before = row->last[first];
	/* by the trace more tasks than streams ran at the same time: measured times are not exact */
	best = best == SIZE_MAX ? first : best;
	row->last[best] = task;
	row->n = best >= row->n ? best + 1 : row->n;
	return best;
}

/* Finds how many lanes each worker may have. Returns the sum. */
static size_t count_room(const struct heddle_trace *trace, struct row *rows)
{
	const struct heddle_platform *p = trace->platform;
	size_t sum = 0;
	for (size_t i = 0; i < trace->n_tasks; i++)
		rows[trace->tasks[i].worker].room++;
	for (size_t w = 0; w < p->n_workers; w++) {
		size_t streams = p->classes[p->workers[w].class_id].streams;
		rows[w].room = rows[w].room < streams ? rows[w].room : streams;
		rows[w].room = rows[w].room ? rows[w].room : 1;
		rows[w].n = 1;
		sum += rows[w].room;
	}
	return sum;
}

static void fill(struct hd_task_lanes *lanes, const struct heddle_trace *trace, struct row *rows, size_t *last)
{
	size_t n_workers = trace->platform->n_workers;
	for (size_t w = 0; w < n_workers; w++) {
		rows[w].last = last;
		for (size_t lane = 0; lane < rows[w].room; lane++)
			*last++ = HD_NO_TASK;
	}
	for (size_t i = 0; i < trace->n_tasks; i++)
		lanes->of[i] = take_lane(trace, &rows[trace->tasks[i].worker], i, &lanes->before[i]);
	for (size_t w = 0; w < n_workers; w++)
		lanes->first[w + 1] = lanes->first[w] + rows[w].n;
	for (size_t i = 0; i < trace->n_tasks; i++)
		lanes->of[i] += lanes->first[trace->tasks[i].worker];
}

int hd_task_lanes_init(struct hd_task_lanes *lanes, const struct heddle_trace *trace)
{
	size_t n_workers = trace->platform->n_workers;
	*lanes = (struct hd_task_lanes){.of = malloc((trace->n_tasks + 1) * sizeof *lanes->of),
	                                .before = malloc((trace->n_tasks + 1) * sizeof *lanes->before),
	                                .first = calloc(n_workers + 1, sizeof *lanes->first)};
	struct row *rows = calloc(n_workers + 1, sizeof *rows);
	size_t *last = rows ? malloc(count_room(trace, rows) * sizeof *last) : NULL;
	int status = lanes->of && lanes->before && lanes->first && last ? 0 : hd_no_memory("the tasks of a worker");
	if (status)
		hd_task_lanes_free(lanes);
	else
		fill(lanes, trace, rows, last);
	free(rows);
	free(last);
	return status;
}

void hd_task_lanes_free(struct hd_task_lanes *lanes)
{
	free(lanes->of);
	free(lanes->before);
	free(lanes->first);
	*lanes = (struct hd_task_lanes){0};
}
