/* Finds how early each task can start on each class, by the longest path that leads to it, transfers included.
 *
 * A task starts on class c after each predecessor has ended, and after the datum of this predecessor has come from the
 * class on which that ran. Which class that was is not known, so the best one counts. Every schedule runs each task on
 * some class; so by induction along a path no task starts earlier. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/near.h"

int hd_heads_init(struct hd_heads *h, const struct hd_costed *graph, const struct hd_flows *flows,
                  const struct hd_ways *ways)
{
	size_t n = graph->n_tasks, n_starts = n * graph->n_classes;
	*h = (struct hd_heads){.graph = graph,
	                       .flows = flows,
	                       .ways = ways,
	                       .start = malloc((n_starts + 1) * sizeof *h->start),
	                       .least = malloc((n + 1) * sizeof *h->least),
	                       .end = malloc((n_starts + 1) * sizeof *h->end)};
	return h->start && h->least && h->end ? 0 : hd_no_memory("bounds");
}

void hd_heads_free(struct hd_heads *h)
{
	free(h->start);
	free(h->least);
	free(h->end);
}

/* The number in the graph of task i of the flows. */
static size_t number(const struct hd_heads *h, size_t i)
{
	return h->backwards ? h->flows->n_tasks - 1 - i : i;
}

/* The earliest start of task i on class c, by its predecessors; the ends of those are known. */
static double earliest(const struct hd_heads *h, size_t i, size_t c)
{
	const struct hd_flows *f = h->flows;
	size_t n_classes = h->graph->n_classes;
	double start = f->initial ? hd_way_time(h->ways, n_classes, c, f->initial[i]) : 0;
	for (size_t e = f->first[i]; e < f->first[i + 1]; e++) {
		const double *end = h->end + f->from[e] * n_classes;
		double least = INFINITY;
		for (size_t k = 0; k < n_classes; k++) {
			if (end[k] >= least)
				continue;
			double way = h->backwards ? hd_way_time(h->ways, c, k, f->bytes[e])
			                          : hd_way_time(h->ways, k, c, f->bytes[e]);
			least = end[k] + way < least ? end[k] + way : least;
		}
		start = least > start ? least : start;
	}
	return start;
}

void hd_heads_find(struct hd_heads *h)
{
	size_t n_classes = h->graph->n_classes;
	for (size_t i = 0; i < h->flows->n_tasks; i++) {
		size_t task = number(h, i);
		const double *times = h->graph->times + task * n_classes;
		double *start = h->start + task * n_classes, least = INFINITY;
		for (size_t c = 0; c < n_classes; c++) {
			start[c] = isnan(times[c]) ? INFINITY : earliest(h, i, c);
			h->end[i * n_classes + c] = isnan(times[c]) ? INFINITY : start[c] + times[c];
			least = fmin(least, start[c]);
		}
		h->least[task] = least;
	}
}
