/* The practical critical path. It is found backwards, from the task that ends last. Each step goes to the task that
 * delayed the current task: among the tasks on which it depends and the task whose end freed its worker, the task that
 * ended last. A task may end later than its kernel: then its worker was free before the end of the task. */
#include <stdlib.h>
#include "base/base.h"
#include "trace/trace.h"

struct search {
	const struct heddle_trace *trace;
	struct hd_trace_index index;
	struct hd_task_lanes lanes;
	size_t *first_edge; /* owns; per task: index of the first edge that leads to it, or n_edges */
};

static int search_init(struct search *s, const struct heddle_trace *trace)
{
	*s = (struct search){.trace = trace};
	int status = hd_trace_index_init(&s->index, trace);
	if (!status)
		status = hd_task_lanes_init(&s->lanes, trace);
	s->first_edge = malloc((trace->n_tasks + 1) * sizeof *s->first_edge);
	if (status || !s->first_edge)
		return status ? status : hd_no_memory("a critical path");
	for (size_t i = 0; i < trace->n_tasks; i++)
		s->first_edge[i] = trace->n_edges;
	for (size_t e = trace->n_edges; e-- > 0;) {
		int is_first = e == 0 || trace->edges[e - 1].to != trace->edges[e].to;
		size_t to = is_first ? hd_trace_index_find(&s->index, trace->edges[e].to) : HD_NO_TASK;
		if (to != HD_NO_TASK)
			s->first_edge[to] = e;
	}
	return 0;
}

static void search_fini(struct search *s)
{
	hd_trace_index_free(&s->index);
	hd_task_lanes_free(&s->lanes);
	free(s->first_edge);
}

/* The task that delayed `task`, or HD_NO_TASK. The result always precedes `task` in the table, so that the walk ends
 * even in a trace whose times are inconsistent. */
static size_t cause_of(const struct search *s, size_t task)
{
	const struct heddle_trace *trace = s->trace;
	const struct heddle_trace_task *tasks = trace->tasks;
	size_t cause = HD_NO_TASK;
	double until = 0; /* us: when `cause` ended */
	for (size_t e = s->first_edge[task]; e < trace->n_edges && trace->edges[e].to == tasks[task].id; e++) {
		size_t from = hd_trace_index_find(&s->index, trace->edges[e].from);
		if (from < task && (cause == HD_NO_TASK || heddle_trace_task_end(&tasks[from]) > until)) {
			cause = from;
			until = heddle_trace_task_end(&tasks[from]);
		}
	}
	size_t before = s->lanes.before[task];
	while (before != HD_NO_TASK && tasks[before].end > tasks[task].start)
		before = s->lanes.before[before];
	if (before != HD_NO_TASK && (cause == HD_NO_TASK || tasks[before].end > until))
		cause = before;
	return cause;
}

static int walk(const struct search *s, size_t **path, size_t *n)
{
	const struct heddle_trace *trace = s->trace;
	size_t *steps = malloc((trace->n_tasks + 1) * sizeof *steps), last = 0;
	if (!steps)
		return hd_no_memory("a critical path");
	for (size_t i = 1; i < trace->n_tasks; i++)
		if (heddle_trace_task_end(&trace->tasks[i]) > heddle_trace_task_end(&trace->tasks[last]))
			last = i;
	*n = 0;
	for (size_t task = trace->n_tasks ? last : HD_NO_TASK; task != HD_NO_TASK; task = cause_of(s, task))
		steps[(*n)++] = task;
	*path = steps;
	return 0;
}

int hd_trace_path(const struct heddle_trace *trace, size_t **path, size_t *n)
{
	struct search s;
	int status = search_init(&s, trace);
	if (!status)
		status = walk(&s, path, n);
	search_fini(&s);
	return status;
}

int heddle_trace_critical_path(const struct heddle_trace *trace, uint64_t **ids, size_t *n)
{
	if (!ids || !n)
		return hd_error(HEDDLE_E_INVALID, "heddle_trace_critical_path: ids or n is NULL");
	size_t *path = NULL, length = 0;
	int status = hd_trace_check(trace);
	if (!status)
		status = hd_trace_path(trace, &path, &length);
	if (status)
		return status;
	uint64_t *found = malloc((length + 1) * sizeof *found);
	for (size_t i = 0; i < length && found; i++)
		found[i] = trace->tasks[path[i]].id;
	free(path);
	if (!found)
		return hd_no_memory("a critical path");
	*ids = found;
	*n = length;
	return 0;
}
