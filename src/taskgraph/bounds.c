/* Lower bounds of the makespan of a graph on a platform (bounds/bounds.h). */
#include <heddle/graph.h>
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "bounds/bounds.h"
#include "graph.h"

static int has_time(const struct hd_costed *costed, size_t task)
{
	for (size_t c = 0; c < costed->n_classes; c++)
		if (costed->workers[c] > 0 && !isnan(costed->times[task * costed->n_classes + c]))
			return 1;
	return 0;
}

static int set_times(struct hd_costed *costed, const struct heddle_graph *graph)
{
	size_t n = costed->n_classes;
	const struct heddle_kernel_time **kernels = hd_graph_kernels(graph, costed->platform);
	int status = kernels ? 0 : hd_no_memory("bounds");
	for (size_t i = 0; i < costed->n_tasks && !status; i++) {
		for (size_t c = 0; c < n; c++)
			costed->times[i * n + c] = hd_graph_time(graph, i, costed->platform, (unsigned)c,
			                                         kernels[graph->tasks[i].type * n + c]);
		status = has_time(costed, i) ? hd_costed_accept(costed, i, graph->types[graph->tasks[i].type].name, i)
		                             : hd_graph_no_time(HEDDLE_E_INVALID, graph, i, costed->platform);
	}
	free(kernels);
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

/* Fills *out with the graph and its times on the platform. The caller calls hd_costed_free even after an error. */
static int bring_over(const struct heddle_graph *graph, const struct heddle_platform *platform, struct hd_costed *out)
{
	int status = hd_costed_init(out, platform, graph->n_tasks);
	if (!status)
		status = set_times(out, graph);
	return status ? status : set_edges(out, graph);
}

int heddle_graph_bounds(const struct heddle_graph *graph, const struct heddle_platform *platform, unsigned rounds,
                        struct heddle_bounds *out)
{
	if (!graph || !platform || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_graph_bounds: %s is NULL",
		                !graph      ? "graph"
		                : !platform ? "platform"
		                            : "out");
	struct hd_costed costed;
	int status = bring_over(graph, platform, &costed);
	if (!status)
		status = hd_bounds(&costed, rounds, out);
	hd_costed_free(&costed);
	return status;
}

int hd_graph_optimum(const struct heddle_graph *graph, const struct heddle_platform *platform, double *out)
{
	struct hd_costed costed;
	int status = bring_over(graph, platform, &costed);
	if (!status)
		status = hd_optimum(&costed, out);
	hd_costed_free(&costed);
	return status;
}
