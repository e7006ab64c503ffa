/* Lower bounds of the makespan of a traced graph (bounds/bounds.h). */
#include "bounds/bounds.h"
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "report/report.h"
#include "trace/trace.h"

static double platform_time(const struct heddle_trace *trace, size_t task, unsigned class_id, void *arg)
{
	const struct heddle_trace_task *t = &trace->tasks[task];
	(void)arg;
	return heddle_platform_time(trace->platform, trace->codelets[t->codelet].name, class_id, t->bytes, t->flops);
}

static int set_times(struct hd_costed *graph, const struct heddle_trace *trace, heddle_time_fn time, void *arg)
{
	int status = 0;
	for (size_t i = 0; i < graph->n_tasks && !status; i++) {
		for (size_t c = 0; c < graph->n_classes; c++)
			graph->times[i * graph->n_classes + c] = time(trace, i, (unsigned)c, arg);
		status = hd_costed_accept(graph, i, trace->codelets[trace->tasks[i].codelet].name, trace->tasks[i].id);
	}
	return status;
}

/* Sets the edges of the trace, but for edges from or to tasks that are not in the trace. */
static int set_edges(struct hd_costed *graph, const struct heddle_trace *trace)
{
	struct hd_trace_index index;
	struct hd_costed_edge *edges = malloc((trace->n_edges + 1) * sizeof *edges);
	if (!edges)
		return hd_no_memory("bounds");
	int status = hd_trace_index_init(&index, trace);
	size_t n = 0;
	for (size_t e = 0; e < trace->n_edges && !status; e++) {
		edges[n].from = hd_trace_index_find(&index, trace->edges[e].from);
		edges[n].to = hd_trace_index_find(&index, trace->edges[e].to);
		n += edges[n].from != HD_NO_TASK && edges[n].to != HD_NO_TASK;
	}
	if (!status)
		status = hd_costed_set_edges(graph, edges, n);
	hd_trace_index_free(&index);
	free(edges);
	return status;
}

int hd_trace_bounds(const struct heddle_trace *trace, heddle_time_fn time, void *arg, unsigned rounds,
                    struct heddle_bounds *out)
{
	if (!out)
		return hd_error(HEDDLE_E_INVALID, "heddle_trace_bounds: out is NULL");
	int status = hd_trace_check(trace);
	if (status)
		return status;
	struct hd_costed graph;
	status = hd_costed_init(&graph, trace->platform, trace->n_tasks);
	/* The time that a measured kernel takes alone is unknown: a worker may do the work of all its streams. */
	for (size_t c = 0; c < graph.n_classes && !status && !trace->virtual_time; c++)
		graph.gains[c] = fmax(1, trace->platform->classes[c].streams);
	if (!status)
		status = set_times(&graph, trace, time ? time : platform_time, arg);
	if (!status)
		status = set_edges(&graph, trace);
	if (!status)
		status = hd_bounds(&graph, rounds, out);
	hd_costed_free(&graph);
	return status;
}
