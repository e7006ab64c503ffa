/* Traces as values: how they are freed, checked and searched; their makespan. */
#include "trace/trace.h"
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "trace/records.h"

void heddle_trace_free(struct heddle_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->n_codelets; i++)
		free(trace->codelets[i].name);
	free(trace->codelets);
	for (size_t i = 0; i < HD_N_TRACE_LISTS; i++)
		free(hd_trace_record(&hd_trace_lists[i], trace, 0));
	hd_name_table_free(&trace->task_names);
	hd_name_table_free(&trace->data_names);
	hd_name_table_free(&trace->implementations);
	heddle_platform_free(trace->platform);
	free(trace->policy);
	free(trace);
}

void hd_trace_sort(struct heddle_trace *trace)
{
	for (const struct hd_trace_list *l = hd_trace_lists; l < hd_trace_lists + HD_N_TRACE_LISTS; l++)
		if (l->compare && *hd_trace_n(l, trace))
			qsort(hd_trace_record(l, trace, 0), *hd_trace_n(l, trace), l->size, l->compare);
	hd_name_table_sort(&trace->task_names);
	hd_name_table_sort(&trace->implementations);
}

/* --- Checking ----------------------------------------------------------------------------------------------------- */

static int check_list(const struct heddle_trace *trace, const struct hd_trace_list *list)
{
	size_t n = *hd_trace_n(list, trace);
	for (size_t i = 0; i < n; i++) {
		const char *what = list->problem(trace, i);
		if (what)
			return hd_error(HEDDLE_E_INVALID, "trace: %s %zu of %zu %s", list->noun, i + 1, n, what);
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
	for (size_t i = 0; i < HD_N_TRACE_LISTS && !status; i++)
		status = check_list(trace, &hd_trace_lists[i]);
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
		until[w] = -INFINITY; /* the latest end of the worker's tasks so far */
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
