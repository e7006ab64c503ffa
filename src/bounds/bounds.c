/* Graphs whose tasks have times (struct hd_costed), and all bounds of such a graph. */
#include "bounds/bounds.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/internal.h"

static double best_gain(const struct heddle_class *class_)
{
	double best = 1;
	for (unsigned n = 2; n <= class_->streams; n++)
		best = fmax(best, n * heddle_class_rate(class_, n));
	return best;
}

static int drives_cores(const struct heddle_platform *p, const struct heddle_worker *w)
{
	return w->core >= 0 && strcmp(p->classes[w->class_id].kind, "cpu") == 0;
}

static double end_of(const struct heddle_platform *p, const struct heddle_worker *w)
{
	return w->core + fmax(1, p->classes[w->class_id].cores);
}

static int by_first_core(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Sets *out to the number of cores that CPU workers drive; 0 if no two of these have cores in common. */
static int count_cores(const struct heddle_platform *p, double *out)
{
	size_t n = 0;
	int has_clusters = 0;
	double sum = 0, all = 0, end = 0;
	double(*ranges)[2] = malloc((p->n_workers + 1) * sizeof *ranges);
	if (!ranges)
		return hd_no_memory("bounds");
	for (size_t i = 0; i < p->n_workers; i++) {
		const struct heddle_worker *w = &p->workers[i];
		if (!drives_cores(p, w))
			continue;
		ranges[n][0] = w->core;
		ranges[n][1] = end_of(p, w);
		has_clusters |= ranges[n][1] - ranges[n][0] > 1;
		sum += ranges[n][1] - ranges[n][0];
		n++;
	}
	qsort(ranges, n, sizeof *ranges, by_first_core);
	for (size_t i = 0; i < n; i++) {
		all += fmax(0, ranges[i][1] - fmax(end, ranges[i][0]));
		end = fmax(end, ranges[i][1]);
	}
	free(ranges);
	*out = has_clusters && all < sum ? all : 0;
	return 0;
}

int hd_costed_init(struct hd_costed *graph, const struct heddle_platform *platform, size_t n_tasks)
{
	size_t n_times = n_tasks * platform->n_classes;
	*graph = (struct hd_costed){.platform = platform,
	                            .n_tasks = n_tasks,
	                            .n_classes = platform->n_classes,
	                            .workers = calloc(platform->n_classes + 1, sizeof *graph->workers),
	                            .gains = calloc(platform->n_classes + 1, sizeof *graph->gains),
	                            .rooms = calloc(platform->n_classes + 1, sizeof *graph->rooms),
	                            .times = malloc((n_times + 1) * sizeof *graph->times),
	                            .best = malloc((n_tasks + 1) * sizeof *graph->best),
	                            .like = malloc((n_tasks + 1) * sizeof *graph->like),
	                            .first = calloc(n_tasks + 2, sizeof *graph->first),
	                            .path = NAN};
	if (!graph->workers || !graph->gains || !graph->rooms || !graph->times || !graph->best || !graph->like ||
	    !graph->first)
		return hd_no_memory("bounds");
	int status = count_cores(platform, &graph->n_cores);
	if (status)
		return status;
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
		             /* counted two places up: the loops below turn the counts into places, and these into
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
	free(graph->rooms);
	free(graph->times);
	free(graph->best);
	free(graph->like);
	free(graph->first);
	free(graph->to);
}

int hd_costed_accept(struct hd_costed *graph, size_t task, const char *type, uint64_t id)
{
	double *times = graph->times + task * graph->n_classes, best = INFINITY;
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
		best = times[c] < best ? times[c] : best;
	}
	graph->best[task] = best;
	graph->like[task] = task;
	if (best == INFINITY)
		return hd_error(HEDDLE_E_INVALID,
		                "bounds: nobody says how long %s (task %llu) takes on any class of platform %s", type,
		                (unsigned long long)id, graph->platform->name);
	return 0;
}

void hd_costed_repeat(struct hd_costed *graph, size_t task, size_t earlier)
{
	size_t n = graph->n_classes;
	memcpy(graph->times + task * n, graph->times + earlier * n, n * sizeof *graph->times);
	graph->best[task] = graph->best[earlier];
	graph->like[task] = graph->like[earlier];
}

int hd_area_of(const struct hd_costed *graph, struct hd_area *area, double **capacity)
{
	size_t n_classes = graph->n_classes;
	*capacity = malloc((2 * n_classes + 1) * sizeof **capacity);
	if (!*capacity)
		return hd_no_memory("the area bound");
	double *cores = *capacity + n_classes;
	for (size_t c = 0; c < n_classes; c++) {
		const struct heddle_class *class_ = &graph->platform->classes[c];
		int is_cpu = strcmp(class_->kind, "cpu") == 0;
		(*capacity)[c] = hd_costed_capacity(graph, c);
		cores[c] = is_cpu ? fmax(1, class_->cores) / graph->gains[c] : 0;
	}
	*area =
	    (struct hd_area){.n_classes = n_classes, .capacity = *capacity, .n_cores = graph->n_cores, .cores = cores};
	return 0;
}

static int area_bound(const struct hd_costed *graph, const struct hd_bound_types *types, double *out)
{
	size_t n_times = types->n * graph->n_classes;
	double *work = malloc((n_times + 1) * sizeof *work), *capacity = NULL;
	struct hd_area area;
	int status = work ? hd_area_of(graph, &area, &capacity) : hd_no_memory("the area bound");
	for (size_t i = 0; i < n_times && !status; i++)
		work[i] = types->times[i] * types->counts[i / graph->n_classes];
	if (!status) {
		area.n_types = types->n;
		area.work = work;
		status = hd_area_bound(&area, NULL, out);
	}
	free(capacity);
	free(work);
	return status;
}

/* Computes the bounds that need the edges. */
static int path_bounds(const struct hd_costed *graph, const struct hd_bound_types *types, unsigned rounds,
                       struct heddle_bounds *out)
{
	struct hd_paths paths;
	int status = hd_paths_init(&paths, graph);
	if (!status) {
		memcpy(paths.weights, graph->best, graph->n_tasks * sizeof *paths.weights);
		out->critical_path = hd_paths_find(&paths);
	}
	if (!status && rounds > 0)
		status = hd_iterative_bound(types, &paths, rounds, out);
	hd_paths_free(&paths);
	return status;
}

int hd_bounds(const struct hd_costed *graph, unsigned rounds, struct heddle_bounds *out)
{
	struct heddle_bounds bounds = {.critical_path = graph->path, .iterative = NAN};
	struct hd_bound_types types;
	int status = hd_types_init(&types, graph);
	if (!status)
		status = area_bound(graph, &types, &bounds.area);
	if (!status && (rounds > 0 || isnan(graph->path)))
		status = path_bounds(graph, &types, rounds, &bounds);
	bounds.mixed = fmax(fmax(bounds.area, bounds.critical_path), bounds.iterative); /* fmax ignores NAN */
	if (!status)
		*out = bounds;
	hd_types_free(&types);
	return status;
}
