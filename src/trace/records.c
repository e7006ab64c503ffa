/* The lists of records of a trace: the fields in files, the order, and the checks of each kind of record. */
#include "trace/records.h"
#include <assert.h>
#include <heddle/platform.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* --- Order -------------------------------------------------------------------------------------------------------- */

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

/* --- Problems ----------------------------------------------------------------------------------------------------- */

static int is_amount(double x)
{
	return isfinite(x) && x >= 0;
}

static const char *task_problem(const struct heddle_trace *trace, size_t i)
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

static const char *transfer_problem(const struct heddle_trace *trace, size_t i)
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

static const char *edge_problem(const struct heddle_trace *trace, size_t i)
{
	const struct heddle_trace_edge *e = &trace->edges[i];
	if (e->from == e->to)
		return "makes a task wait for itself";
	if (i > 0 && (e->to < e[-1].to || (e->to == e[-1].to && e->from < e[-1].from)))
		return "is out of order: edges go by the waiting task, then by the other";
	return NULL;
}

static const char *expansion_problem(const struct heddle_trace *trace, size_t i)
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

static const char *layout_problem(const struct heddle_trace *trace, size_t i)
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

static const char *drive_problem(const struct heddle_trace *trace, size_t i)
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

/* --- The lists ---------------------------------------------------------------------------------------------------- */

#define LIST(word, noun, member, record)                                                              \
	word, noun, offsetof(struct heddle_trace, member), offsetof(struct heddle_trace, n_##member), \
	    sizeof(struct heddle_trace_##record)
#define FIELD(name, kind, record, member)                                              \
	{                                                                              \
		name, HD_FIELD_##kind, offsetof(struct heddle_trace_##record, member), \
	}

const struct hd_trace_list hd_trace_lists[HD_N_TRACE_LISTS] = {
    {LIST("task", "task", tasks, task),
     {FIELD("id", U64, task, id), FIELD("codelet", U32, task, codelet), FIELD("worker", U32, task, worker),
      FIELD("ready", REAL, task, ready), FIELD("picked", REAL, task, picked), FIELD("start", REAL, task, start),
      FIELD("end", REAL, task, end), FIELD("priority", I32, task, priority), FIELD("status", I32, task, status),
      FIELD("bytes", REAL, task, bytes), FIELD("flops", REAL, task, flops), FIELD("footprint", U64, task, footprint)},
     task_problem,
     compare_tasks},
    {LIST("transfer", "transfer", transfers, transfer),
     {FIELD("from", U32, transfer, from), FIELD("to", U32, transfer, to), FIELD("start", REAL, transfer, start),
      FIELD("end", REAL, transfer, end), FIELD("bytes", U64, transfer, bytes), FIELD("data", U64, transfer, data),
      FIELD("reason", U32, transfer, reason)},
     transfer_problem,
     compare_transfers},
    {LIST("edge", "edge", edges, edge),
     {FIELD("from", U64, edge, from), FIELD("to", U64, edge, to)},
     edge_problem,
     NULL},
    {LIST("expansion", "expansion", expansions, expansion),
     {FIELD("id", U64, expansion, id), FIELD("hierarchical task", U64, expansion, inside),
      FIELD("number of tasks", U64, expansion, n_tasks), FIELD("codelet", U32, expansion, codelet),
      FIELD("worker", U32, expansion, worker), FIELD("sub-graph", U32, expansion, subgraph),
      FIELD("start", REAL, expansion, start), FIELD("end", REAL, expansion, end)},
     expansion_problem,
     compare_expansions},
    {LIST("layout", "layout", layouts, layout),
     {FIELD("time", REAL, layout, at), FIELD("datum", U32, layout, data), FIELD("plan", I32, layout, plan),
      FIELD("step", U32, layout, step), FIELD("task", U64, layout, before)},
     layout_problem,
     NULL},
    {LIST("driven", "change of what is driven", drives, drive),
     {FIELD("time", REAL, drive, at), FIELD("worker", U32, drive, worker), FIELD("driven", U32, drive, driven)},
     drive_problem,
     NULL},
};
static_assert(sizeof(enum heddle_layout_step) == sizeof(uint32_t), "read and written as a number");

void *hd_trace_record(const struct hd_trace_list *list, const struct heddle_trace *trace, size_t i)
{
	char *records;
	memcpy(&records, (const char *)trace + list->list, sizeof records);
	return records ? records + i * list->size : NULL;
}
