/* Graphs whose tasks have times (struct hd_costed), and all bounds of one. */
#include "bounds/bounds.h"
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "bounds/internal.h"

static double best_gain(const struct heddle_class *class_)
{
	double best = 1;
	for (unsigned n = 2; n <= class_->streams; n++)
		best = fmax(best, n * heddle_class_rate(class_, n));
	return best;
}

int hd_costed_init(struct hd_costed *graph, const struct heddle_platform *platform, size_t n_tasks)
{
	size_t n_times = n_tasks * platform->n_classes;
	*graph = (struct hd_costed){.platform = platform,
	                            .n_tasks = n_tasks,
	                            .n_classes = platform->n_classes,
	                            .workers = calloc(platform->n_classes + 1, sizeof *graph->workers),
	                            .gains = calloc(platform->n_classes + 1, sizeof *graph->gains),
	                            .times = malloc((n_times + 1) * sizeof *graph->times),
	                            .first = calloc(n_tasks + 2, sizeof *graph->first)};
	if (!graph->workers || !graph->gains || !graph->times || !graph->first)
		return hd_no_memory("bounds");
	for (size_t w = 0; w < platform->n_workers; w++)
		graph->workers[platform->workers[w].class_id]++;
	for (size_t c = 0; c < platform->n_classes; c++)
		graph->gains[c] = best_gain(&platform->classes[c]);
	for (size_t i = 0; i < n_times; i++)
		graph->times[i] = NAN;
	return 0;
}

int hd_costed_set_edges(struct hd_costed *graph, const struct hd_costed_edge *edges, size_t n)
{
	graph->to = malloc((n + 1) * sizeof *graph->to);
	if (!graph->to)
		return hd_no_memory("bounds");
	for (size_t e = 0; e < n; e++)
		graph->first[edges[e].from +
		             /* counted two places up: the next loops turn the counts into positions, and these into the
		              * beginnings */
		             2]++;
	for (size_t i = 0; i + 1 < graph->n_tasks; i++)
		graph->first[i + 2] += graph->first[i + 1];
	for (size_t e = 0; e < n; e++)
		graph->to[graph->first[edges[e].from + 1]++] = edges[e].to;
	return 0;
}

void hd_costed_free(struct hd_costed *graph)
{
	free(graph->workers);
	free(graph->gains);
	free(graph->times);
	free(graph->first);
	free(graph->to);
}

int hd_costed_accept(struct hd_costed *graph, size_t task, const char *type, uint64_t id)
{
	double *times = graph->times + task * graph->n_classes;
	int runs = 0;
	for (size_t c = 0; c < graph->n_classes; c++) {
		if (graph->workers[c] == 0 || isnan(times[c])) {
			times[c] = NAN;
			continue;
		}
		if (!(times[c] >= 0) || times[c] >= HD_MOST_US)
			return hd_error(HEDDLE_E_INVALID,
			                "bounds: the time of %s (task %llu) on class %s is %g us: times are from 0 to "
			                "below %g us",
			                type, (unsigned long long)id, graph->platform->classes[c].name, times[c],
			                HD_MOST_US);
		times[c] += 0.0; /* -0 becomes 0, because types compare times bit by bit */
		runs = 1;
	}
	if (!runs)
		return hd_error(HEDDLE_E_INVALID,
		                "bounds: nobody says how long %s (task %llu) takes on any class of platform %s", type,
		                (unsigned long long)id, graph->platform->name);
	return 0;
}

void hd_best_times(const struct hd_costed *graph, double *best)
{
	for (size_t i = 0; i < graph->n_tasks; i++) {
		best[i] = INFINITY;
		for (size_t c = 0; c < graph->n_classes; c++)
			best[i] = fmin(best[i], graph->times[i * graph->n_classes + c]); /* fmin ignores NAN */
	}
}

static int area_bound(const struct hd_costed *graph, const struct hd_types *types, double *out)
{
	size_t n_classes = graph->n_classes, n_times = types->n * n_classes;
	double *work = malloc((n_times + n_classes + 1) * sizeof *work);
	if (!work)
		return hd_no_memory("the area bound");
	double *capacity = work + n_times;
	for (size_t c = 0; c < n_classes; c++)
		capacity[c] = hd_costed_capacity(graph, c);
	for (size_t i = 0; i < n_times; i++)
		work[i] = types->times[i] * types->counts[i / n_classes];
	struct hd_area area = {n_classes, capacity, types->n, work};
	int status = hd_area_bound(&area, out);
	free(work);
	return status;
}

int hd_bounds(const struct hd_costed *graph, unsigned rounds, struct heddle_bounds *out)
{
	struct heddle_bounds bounds = {.iterative = NAN};
	struct hd_types types;
	struct hd_paths paths = {0};
	int status = hd_types_init(&types, graph);
	if (!status)
		status = area_bound(graph, &types, &bounds.area);
	if (!status)
		status = hd_paths_init(&paths, graph);
	if (!status) {
		hd_best_times(graph, paths.weights);
		bounds.critical_path = hd_paths_find(&paths);
		bounds.mixed = fmax(bounds.area, bounds.critical_path);
	}
	if (!status && rounds > 0) {
		status = hd_iterative_bound(&types, &paths, rounds, &bounds);
		bounds.mixed = fmax(bounds.mixed, bounds.iterative);
	}
	if (!status)
		*out = bounds;
	hd_paths_free(&paths);
	hd_types_free(&types);
	return status;
}
