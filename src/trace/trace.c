/* Traces as values: freed, checked, asked for their makespan and for tasks by id. */
#include "trace/trace.h"
#include <math.h>
#include <stdlib.h>
#include "base/base.h"

void heddle_trace_free(struct heddle_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->n_codelets; i++)
		free(trace->codelets[i].name);
	free(trace->codelets);
	free(trace->tasks);
	free(trace->transfers);
	free(trace->expansions);
	free(trace->edges);
	free(trace->layouts);
	free(trace->drives);
	hd_name_table_free(&trace->task_names);
	hd_name_table_free(&trace->data_names);
	hd_name_table_free(&trace->implementations);
	heddle_platform_free(trace->platform);
	free(trace->policy);
	free(trace);
}

/* --- Order ----------------------------------------------------------------------------------------------------- */

static int compare_tasks(const void *a, const void *b)
{
	const struct heddle_trace_task *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_transfers(const void *a, const void *b)
{
	const struct heddle_trace_transfer *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->data < y->data ? -1 : x->data > y->data;
}

static int compare_expansions(const void *a, const void *b)
{
	const struct heddle_trace_expansion *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Layouts and changes of what is driven are recorded in the order of time. */
void hd_trace_sort(struct heddle_trace *trace)
{
	if (trace->n_tasks)
		qsort(trace->tasks, trace->n_tasks, sizeof *trace->tasks, compare_tasks);
	if (trace->n_transfers)
		qsort(trace->transfers, trace->n_transfers, sizeof *trace->transfers, compare_transfers);
	if (trace->n_expansions)
		qsort(trace->expansions, trace->n_expansions, sizeof *trace->expansions, compare_expansions);
	hd_name_table_sort(&trace->task_names);
	hd_name_table_sort(&trace->implementations);
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */

static int is_amount(double x)
{
	return isfinite(x) && x >= 0;
}

const char *hd_trace_task_problem(const struct heddle_trace *trace, size_t i)
{
	const struct heddle_trace_task *t = &trace->tasks[i];
	if (t->codelet >= trace->n_codelets)
		return "has a codelet that is not in the list of codelets";
	if (t->worker >= trace->platform->n_workers)
		return "ran on a worker that the platform does not have";
	if (!isfinite(t->ready) || !isfinite(t->picked) || !isfinite(t->start) || !isfinite(t->end) ||
	    !isfinite(t->ended))
		return "has a time that is not a number";
	if (t->end < t->start)
		return "ends before it starts";
	if (t->ended != 0 && t->ended < t->end)
		return "ends before its kernel";
	if (!is_amount(t->bytes) || !is_amount(t->flops))
		return "has bytes or flops that are not a size";
	if (i > 0 && (t->start < t[-1].start || (t->start == t[-1].start && t->id < t[-1].id)))
		return "is out of order: tasks go by start, then by id";
	return NULL;
}

const char *hd_trace_transfer_problem(const struct heddle_trace *trace, size_t i)
{
	const struct heddle_trace_transfer *t = &trace->transfers[i];
	if (t->from >= trace->platform->n_nodes || t->to >= trace->platform->n_nodes)
		return "names a memory node that the platform does not have";
	if (!isfinite(t->start) || !isfinite(t->end))
		return "has a time that is not a number";
	if (t->end < t->start)
		return "ends before it starts";
	if (t->reason > 2)
		return "has an unknown reason: 0 is demand, 1 prefetch, 2 write-back";
	if (i > 0 && t->start < t[-1].start)
		return "is out of order: transfers go by start";
	return NULL;
}

const char *hd_trace_edge_problem(const struct heddle_trace *trace, size_t i)
{
	const struct heddle_trace_edge *e = &trace->edges[i];
	if (e->from == e->to)
		return "makes a task wait for itself";
	if (i > 0 && (e->to < e[-1].to || (e->to == e[-1].to && e->from < e[-1].from)))
		return "is out of order: edges go by the waiting task, then by the other";
	return NULL;
}

const char *hd_trace_expansion_problem(const struct heddle_trace *trace, size_t i)
{
	const struct heddle_trace_expansion *e = &trace->expansions[i];
	if (e->codelet >= trace->n_codelets)
		return "has a codelet that is not in the list of codelets";
	if (e->worker >= trace->platform->n_workers)
		return "ran on a worker that the platform does not have";
	if (!isfinite(e->start) || !isfinite(e->end) || e->end < e->start)
		return "has a time that is not a number, or ends before it starts";
	if (i > 0 && (e->start < e[-1].start || (e->start == e[-1].start && e->id < e[-1].id)))
		return "is out of order: expansions go by start, then by id";
	return NULL;
}

const char *hd_trace_layout_problem(const struct heddle_trace *trace, size_t i)
{
	const struct heddle_trace_layout *l = &trace->layouts[i];
	if (!isfinite(l->at))
		return "has a time that is not a number";
	if ((unsigned)l->step > HEDDLE_LAYOUT_JOIN || l->plan < -1)
		return "has an unknown step or plan";
	if (i > 0 && l->at < l[-1].at)
		return "is out of order: layouts go by time";
	return NULL;
}

const char *hd_trace_drive_problem(const struct heddle_trace *trace, size_t i)
{
	const struct heddle_trace_drive *d = &trace->drives[i];
	if (d->worker >= trace->platform->n_workers)
		return "is of a worker that the platform does not have";
	if (!isfinite(d->at))
		return "has a time that is not a number";
	if (d->driven > 1)
		return "is neither 1, driven, nor 0, not driven";
	if (i > 0 && d->at < d[-1].at)
		return "is out of order: changes of what is driven go by time";
	return NULL;
}

static int check_all(const struct heddle_trace *trace, const char *kind, size_t n,
                     const char *(*problem)(const struct heddle_trace *, size_t))
{
	for (size_t i = 0; i < n; i++) {
		const char *what = problem(trace, i);
		if (what)
			return hd_error(HEDDLE_E_INVALID, "trace: %s %zu of %zu %s", kind, i + 1, n, what);
	}
	return 0;
}

static int check_names(const struct heddle_names *names, const char *kind)
{
	for (size_t i = 0; i < names->n; i++) {
		const char *what = hd_name_table_problem(names, i);
		if (what)
			return hd_error(HEDDLE_E_INVALID, "trace: name %zu of %zu for %s %s", i + 1, names->n, kind,
			                what);
	}
	return 0;
}

int hd_trace_check(const struct heddle_trace *trace)
{
	if (!trace)
		return hd_error(HEDDLE_E_INVALID, "the trace is NULL");
	if (!trace->platform || !trace->policy)
		return hd_error(HEDDLE_E_INVALID, "the trace has no %s", trace->platform ? "policy" : "platform");
	int status = heddle_platform_check(trace->platform);
	if (status)
		return hd_error_context(status, "the platform of the trace");
	for (size_t i = 0; i < trace->n_codelets; i++)
		if (!trace->codelets[i].name)
			return hd_error(HEDDLE_E_INVALID, "trace: codelet %zu of %zu has no name", i + 1,
			                trace->n_codelets);
	status = check_all(trace, "task", trace->n_tasks, hd_trace_task_problem);
	if (!status)
		status = check_all(trace, "transfer", trace->n_transfers, hd_trace_transfer_problem);
	if (!status)
		status = check_all(trace, "edge", trace->n_edges, hd_trace_edge_problem);
	if (!status)
		status = check_all(trace, "expansion", trace->n_expansions, hd_trace_expansion_problem);
	if (!status)
		status = check_all(trace, "layout", trace->n_layouts, hd_trace_layout_problem);
	if (!status)
		status = check_all(trace, "change of what is driven", trace->n_drives, hd_trace_drive_problem);
	if (!status)
		status = check_names(&trace->task_names, "tasks");
	if (!status)
		status = check_names(&trace->data_names, "data");
	return status ? status : check_names(&trace->implementations, "implementations");
}

/* --- Figures ------------------------------------------------------------------------------------------------------ */

double hd_trace_begin(const struct heddle_trace *trace)
{
	double begin = trace->n_tasks ? trace->tasks[0].start : 0;
	for (size_t i = 0; i < trace->n_tasks; i++)
		begin = trace->tasks[i].ready < begin ? trace->tasks[i].ready : begin;
	return begin;
}

double hd_trace_end(const struct heddle_trace *trace)
{
	double end = hd_trace_begin(trace);
	for (size_t i = 0; i < trace->n_tasks; i++)
		end = fmax(end, heddle_trace_task_end(&trace->tasks[i]));
	return end;
}

double heddle_trace_makespan(const struct heddle_trace *trace)
{
	return trace ? hd_trace_end(trace) - hd_trace_begin(trace) : 0;
}

double *hd_trace_busy(const struct heddle_trace *trace)
{
	size_t n_workers = trace->platform->n_workers;
	double *busy = calloc(2 * n_workers + 1, sizeof *busy), *until = busy ? busy + n_workers : NULL;
	for (size_t w = 0; w < n_workers && busy; w++)
		until[w] = -INFINITY; /* the latest end of its tasks so far */
	for (size_t i = 0; i < trace->n_tasks && busy; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		busy[t->worker] += fmax(0, t->end - fmax(t->start, until[t->worker]));
		until[t->worker] = fmax(until[t->worker], t->end);
	}
	return busy;
}

/* --- Tasks by id -------------------------------------------------------------------------------------------------- */

int hd_trace_index_init(struct hd_trace_index *index, const struct heddle_trace *trace)
{
	*index = (struct hd_trace_index){.twice = HD_NO_TASK};
	if (hd_table_reserve(&index->by_id, trace->n_tasks))
		return hd_no_memory("the tasks of a trace by id");
	for (size_t i = 0; i < trace->n_tasks; i++) {
		struct hd_table_slot *slot = hd_table_find(&index->by_id, trace->tasks[i].id);
		if (slot->value)
			index->twice = i;
		hd_table_fill(&index->by_id, slot, trace->tasks[i].id, i);
	}
	return 0;
}

void hd_trace_index_free(struct hd_trace_index *index)
{
	free(index->by_id.slots);
}

size_t hd_trace_index_find(const struct hd_trace_index *index, uint64_t id)
{
	return hd_table_find(&index->by_id, id)->value - 1; /* a free slot gives HD_NO_TASK */
}
