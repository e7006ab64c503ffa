/* Lower bounds of the makespan of a task graph on a platform (bounds/bounds.h, bounds/near.h). */
#include "bounds/bounds.h"
#include "bounds/near.h"
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "report/report.h"
#include "taskgraph/graph.h"

static int has_time(const struct hd_costed *costed, size_t task)
{
	for (size_t c = 0; c < costed->n_classes; c++)
		if (costed->workers[c] > 0 && !isnan(costed->times[task * costed->n_classes + c]))
			return 1;
	return 0;
}

static int set_times_of(struct hd_costed *costed, const struct heddle_graph *graph, size_t task,
                        const struct heddle_kernel_time *const *kernels)
{
	double *times = costed->times + task * costed->n_classes;
	double bytes = hd_graph_task_bytes(graph, task);
	int is_too_large = 0;
	for (size_t c = 0; c < costed->n_classes; c++)
		times[c] = hd_graph_time(graph, task, costed->platform, (unsigned)c, kernels[c]);
	if (!has_time(costed, task))
		return hd_graph_no_time(HEDDLE_E_INVALID, graph, task, costed->platform);
	for (size_t c = 0; c < costed->n_classes; c++)
		if (costed->workers[c] > 0 && !isnan(times[c]) && bytes > costed->rooms[c]) {
			times[c] = NAN;
			is_too_large = 1;
		}
	costed->n_too_large += (size_t)is_too_large;
	return has_time(costed, task)
	           ? hd_costed_accept(costed, task, graph->types[graph->tasks[task].type].name, task)
	           : hd_error(HEDDLE_E_INVALID,
	                      "bounds: task %zu (%s) has %g bytes of data, for which no class that "
	                      "has a time for it has memory on platform %s",
	                      task, graph->types[graph->tasks[task].type].name, bytes, costed->platform->name);
}

/* The last task of a type that was given times, and the sum of the sizes of its data. Most tasks of a type have one
 * size, and then the same times, unless the graph itself gives times. */
struct last {
	size_t task;
	double bytes;       /* -1: the type has had no task yet */
	size_t n_too_large; /* 1: it is too large for some class, 0: it is not */
};

static int set_times(struct hd_costed *costed, const struct heddle_graph *graph)
{
	const struct heddle_kernel_time **kernels = hd_graph_kernels(graph, costed->platform);
	struct last *lasts = malloc((graph->n_types + 1) * sizeof *lasts);
	int status = kernels && lasts ? 0 : hd_no_memory("bounds");
	for (size_t i = 0; i < graph->n_types && !status; i++)
		lasts[i].bytes = -1;
	for (size_t i = 0; i < costed->n_tasks && !status; i++) {
		const struct heddle_graph_task *t = &graph->tasks[i];
		struct last *last = &lasts[t->type], this = {i, hd_graph_task_bytes(graph, i), costed->n_too_large};
		if (!graph->times && last->bytes == this.bytes && graph->tasks[last->task].flops == t->flops) {
			hd_costed_repeat(costed, i, last->task);
			costed->n_too_large += last->n_too_large;
		} else
			status = set_times_of(costed, graph, i, kernels + t->type * costed->n_classes);
		this.n_too_large = costed->n_too_large - this.n_too_large;
		*last = this;
	}
	free(kernels);
	free(lasts);
	return status;
}

static int set_edges(struct hd_costed *costed, const struct heddle_graph *graph)
{
	struct heddle_graph_edge *edges;
	size_t n;
	int status = heddle_graph_edges(graph, &edges, &n);
	if (status)
		return status;
	struct hd_costed_edge *wide = malloc((n + 1) * sizeof *wide);
	for (size_t e = 0; wide && e < n; e++)
		wide[e] = (struct hd_costed_edge){edges[e].from, edges[e].to};
	status = wide ? hd_costed_set_edges(costed, wide, n) : hd_no_memory("bounds");
	free(wide);
	free(edges);
	return status;
}

/* --- The critical path -------------------------------------------------------------------------------------------- */

/* What is known of a datum's accesses, from the last task back to the present one. Successive accesses with compatible
 * modes form a group, and each task of a group waits for all tasks of the group before. */
struct chain {
	uint32_t mode; /* mode of the present group; 0: there is no group yet */
	/* us: the longest path that begins in the present group; the longest one that begins in the group after it */
	double longest, after;
};

static uint32_t chain_mode(const struct heddle_graph_access *a)
{
	return a->mode == HEDDLE_SCRATCH ? HEDDLE_R : a->mode;
}

/* Whether an access joins the present group; trace/replay.c has the same rule. */
static int joins(const struct chain *c, uint32_t mode)
{
	return mode == c->mode && (mode == HEDDLE_R || mode == HEDDLE_COMMUTE || mode == HEDDLE_REDUX);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static void enter(struct chain *c, uint32_t mode, double length)
{
	if (!joins(c, mode))
		*c = (struct chain){.mode = mode, .after = c->longest};
	c->longest = larger(c->longest, length);
}

/* The length in us of the critical path, if each task takes its least time. Goes from the last task to the first, so
 * that it needs only the chains, not a list of edges. `tails` is 0 for each task at first, and becomes the length of
 * the longest path that begins with the task. */
static double longest_path(const struct heddle_graph *g, const struct hd_costed *costed, struct chain *chains,
                           double *tails)
{
	double longest = 0;
	size_t e = g->n_edges;
	for (size_t i = g->n_tasks; i-- > 0;) {
		const struct heddle_graph_access *a = hd_graph_accesses(g, i);
		size_t n = g->tasks[i].n_accesses;
		double behind = tails[i]; /* length of the longest path after the task, first by the explicit edges */
		for (size_t k = 0; k < n; k++) {
			const struct chain *c = &chains[a[k].data];
			behind = larger(behind, joins(c, chain_mode(&a[k])) ? c->after : c->longest);
		}
		tails[i] = costed->best[i] + behind;
		longest = larger(longest, tails[i]);
		for (size_t k = 0; k < n; k++)
			enter(&chains[a[k].data], chain_mode(&a[k]), tails[i]);
		for (; e > 0 && g->edges[e - 1].to == i; e--)
			tails[g->edges[e - 1].from] = larger(tails[g->edges[e - 1].from], tails[i]);
	}
	return longest;
}

static int set_path(struct hd_costed *costed, const struct heddle_graph *graph)
{
	struct chain *chains = calloc(graph->n_data + 1, sizeof *chains);
	double *tails = calloc(graph->n_tasks + 1, sizeof *tails);
	int status = chains && tails ? 0 : hd_no_memory("the critical path");
	if (!status)
		costed->path = longest_path(graph, costed, chains, tails);
	free(chains);
	free(tails);
	return status;
}

/* --- Bounds ------------------------------------------------------------------------------------------------------- */

/* The largest memory of a worker of each class, in bytes. */
static void set_rooms(struct hd_costed *costed)
{
	const struct heddle_platform *p = costed->platform;
	for (size_t i = 0; i < p->n_workers; i++) {
		double *room = &costed->rooms[p->workers[i].class_id];
		uint64_t capacity = p->nodes[p->workers[i].node].capacity;
		*room = larger(*room, capacity ? (double)capacity : INFINITY);
	}
}

/* Fills *out with the tasks and their times on the platform. The caller calls hd_costed_free, even after an error. */
static int bring_over(const struct heddle_graph *graph, const struct heddle_platform *platform, struct hd_costed *out)
{
	int status = hd_costed_init(out, platform, graph->n_tasks);
	if (status)
		return status;
	set_rooms(out);
	return set_times(out, graph);
}

int hd_graph_bounds_watched(const struct heddle_graph *graph, const struct heddle_platform *platform, unsigned rounds,
                            const struct hd_bounds_watch *watch, struct heddle_bounds *out)
{
	if (!graph || !platform || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_graph_bounds: %s is NULL",
		                !graph      ? "graph"
		                : !platform ? "platform"
		                            : "out");
	struct hd_costed costed;
	int status = bring_over(graph, platform, &costed);
	if (!status)
		status = rounds > 0 ? set_edges(&costed, graph) : set_path(&costed, graph);
	costed.watch = watch;
	if (!status)
		status = hd_bounds(&costed, rounds, out);
	hd_costed_free(&costed);
	return status;
}

int hd_graph_bounds(const struct heddle_graph *graph, const struct heddle_platform *platform, unsigned rounds,
                    struct heddle_bounds *out)
{
	return hd_graph_bounds_watched(graph, platform, rounds, NULL, out);
}

int hd_graph_near_bounds_watched(const struct heddle_graph *graph, const struct heddle_platform *platform,
                                 unsigned rounds, const struct hd_bounds_watch *watch, struct heddle_near_bounds *out)
{
	if (!graph || !platform || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_graph_near_bounds: %s is NULL",
		                !graph      ? "graph"
		                : !platform ? "platform"
		                            : "out");
	struct hd_costed costed;
	struct heddle_near_bounds bounds = {.communication = NAN, .window = NAN};
	int status = bring_over(graph, platform, &costed);
	if (!status)
		status = set_edges(&costed, graph);
	costed.watch = watch;
	if (!status)
		status = hd_bounds(&costed, rounds, &bounds.plain);
	bounds.too_large = costed.n_too_large;
	if (!status)
		status = hd_near_bounds(&costed, graph, rounds, &bounds);
	if (!status)
		*out = bounds;
	hd_costed_free(&costed);
	return status;
}

int hd_graph_near_bounds(const struct heddle_graph *graph, const struct heddle_platform *platform, unsigned rounds,
                         struct heddle_near_bounds *out)
{
	return hd_graph_near_bounds_watched(graph, platform, rounds, NULL, out);
}

int hd_graph_optimum(const struct heddle_graph *graph, const struct heddle_platform *platform, double *out)
{
	struct hd_costed costed;
	int status = bring_over(graph, platform, &costed);
	if (!status)
		status = set_edges(&costed, graph);
	if (!status)
		status = hd_optimum(&costed, out);
	hd_costed_free(&costed);
	return status;
}
