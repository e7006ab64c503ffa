/* Makes a trace of the recorder's events: heddle_trace_take. Dependencies are computed here, from the accesses of the
 * tasks in the order of the sequential program. */
#include <stdlib.h>
#include <string.h>
#include "replay.h"
#include "record/events.h"
#include "trace/recorder.h"
#include "trace/records.h"
#include "trace/trace.h"
#include "flow/errands.h"
#include "state/process.h"
#include "state/core_lock.h"
#include "base/grow.h"

struct edges {
	struct heddle_trace *trace;
	size_t max;
	int failed;
	struct hd_replay *replay;
	uint64_t *ids; /* owned; the submission numbers of the tasks that have been replayed */
	size_t n_ids;
	uint64_t first;           /* the id of the first of these tasks in the replay; the others follow without gaps */
	int reordered;            /* 1: for some task, the id in the replay and the submission number differ */
	struct step_event *steps; /* owned; sorted by `reduce`, then by `task` */
	size_t n_steps;
};

/* A bit that is set in the ids of steps of reductions while they are replayed: the rest of such an id is the submission
 * number. */
#define STEP_BIT ((uint64_t)1 << 63)

/* The submission number of an id in the replay. */
static uint64_t number_of(const struct edges *p, uint64_t id)
{
	if (id & STEP_BIT)
		return id & ~STEP_BIT;
	return id >= p->first && id - p->first < p->n_ids ? p->ids[id - p->first] : id;
}

static void add_edge(uint64_t from, uint64_t to, void *arg)
{
	struct edges *p = arg;
	struct heddle_trace *t = p->trace;
	if (p->failed)
		return;
	if (HD_GROW(t->edges, t->n_edges, p->max, 64)) {
		p->failed = 1;
		return;
	}
	t->edges[t->n_edges++] = (struct heddle_trace_edge){number_of(p, from), number_of(p, to)};
}

static int compare_steps(const void *a, const void *b)
{
	const struct step_event *x = a, *y = b;
	if (x->reduce != y->reduce)
		return x->reduce < y->reduce ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

/* If the control is a REDUCE task, replays its steps, one after another, as writers of the datum. */
static int replay_steps(struct edges *p, uint64_t control)
{
	size_t i = hd_search(p->steps, p->n_steps, sizeof *p->steps, control);
	int status = 0;
	for (; i < p->n_steps && p->steps[i].reduce == control && !status; i++) {
		struct heddle_graph_access access = {p->steps[i].data, HEDDLE_RW};
		struct hd_replay_task step = {.id = STEP_BIT | p->steps[i].task, .accesses = &access, .n_accesses = 1};
		status = hd_replay_task(p->replay, &step);
	}
	return status;
}

static int replay_one(const struct hd_recorded *recorded, void *arg)
{
	struct edges *p = arg;
	if (!p->n_ids)
		p->first = recorded->task.id;
	p->ids[p->n_ids++] = recorded->id;
	p->reordered |= recorded->id != recorded->task.id;
	int status = recorded->task.control ? replay_steps(p, recorded->id) : 0;
	return status ? status : hd_replay_task(p->replay, &recorded->task);
}

static void copy_step(const void *event, void *arg)
{
	struct edges *p = arg;
	p->steps[p->n_steps++] = *(const struct step_event *)event;
}

static int compare_edges(const void *a, const void *b)
{
	const struct heddle_trace_edge *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static int make_edges(struct hd_recorder *r, struct heddle_trace *trace)
{
	struct edges p = {.trace = trace, .steps = malloc((r->steps.n + 1) * sizeof *p.steps)};
	p.ids = malloc((r->submissions.n + 1) * sizeof *p.ids);
	if (!p.steps || !p.ids) {
		free(p.steps);
		free(p.ids);
		return hd_no_memory("a trace");
	}
	hd_log_each(&r->steps, copy_step, &p);
	qsort(p.steps, p.n_steps, sizeof *p.steps, compare_steps);
	p.replay = hd_recorder_replay(r, add_edge, &p);
	int status = p.replay ? hd_recorder_each(r, replay_one, &p) : HEDDLE_E_MEMORY;
	hd_replay_close(p.replay);
	free(p.steps);
	free(p.ids);
	/* the edges are out of order: steps were replayed before tasks with smaller ids */
	if ((p.n_steps || p.reordered) && trace->n_edges)
		qsort(trace->edges, trace->n_edges, sizeof *trace->edges, compare_edges);
	return p.failed ? hd_no_memory("a trace") : status;
}

struct copying {
	struct heddle_trace *trace;
	uint32_t worker;
	const heddle_codelet **codelets; /* owned; by number */
	int status;
};

/* Adds the name of the implementation that ran, for a codelet that has several. */
static int copy_choice(const struct copying *to, const struct task_event *e)
{
	const char *name = to->codelets[e->codelet]->choices[e->choice - 1].model_name;
	return hd_name_table_add(&to->trace->implementations, e->id, name, strlen(name));
}

static void copy_task(const void *event, void *arg)
{
	struct copying *to = arg;
	struct heddle_trace *trace = to->trace;
	const struct task_event *e = event;
	if (HD_UNLIKELY(e->choice) && !to->status)
		to->status = copy_choice(to, e);
	trace->tasks[trace->n_tasks++] = (struct heddle_trace_task){.id = e->id,
	                                                            .codelet = e->codelet,
	                                                            .worker = to->worker,
	                                                            .ready = e->ready,
	                                                            .picked = e->picked,
	                                                            .start = e->start,
	                                                            .end = e->end,
	                                                            .ended = e->ended,
	                                                            .inside = e->inside,
	                                                            .priority = e->priority,
	                                                            .status = e->status,
	                                                            .bytes = e->bytes,
	                                                            .flops = e->flops,
	                                                            .footprint = e->footprint};
}

/* The list of a trace to which append() copies records unchanged; the list has room for them. */
struct appending {
	struct heddle_trace *trace;
	const struct hd_trace_list *list;
};

static void append(const void *record, void *arg)
{
	const struct appending *to = arg;
	memcpy(hd_trace_record(to->list, to->trace, (*hd_trace_n(to->list, to->trace))++), record, to->list->size);
}

/* Copies the events behind `from` in a log to a list of the trace. */
static int copy_log(const struct hd_log *log, struct hd_log_place *from, size_t most, struct heddle_trace *trace,
                    int list)
{
	struct appending to = {trace, &hd_trace_lists[list]};
	void *records = malloc((hd_log_left(log, from, most) + 1) * to.list->size);
	if (!records)
		return hd_no_memory("a trace");
	memcpy((char *)trace + to.list->list, &records, sizeof records);
	hd_log_read(log, from, most, append, &to);
	return 0;
}

static int copy_codelets(heddle_runtime *rt, struct heddle_trace *trace)
{
	trace->codelets = calloc(rt->n_codelets + 1, sizeof *trace->codelets);
	if (!trace->codelets)
		return hd_no_memory("a trace");
	trace->n_codelets = rt->n_codelets;
	for (const heddle_codelet *c = rt->codelets; c; c = c->next) {
		trace->codelets[c->id].name = strdup(c->desc.name);
		trace->codelets[c->id].color = c->desc.color;
		if (!trace->codelets[c->id].name)
			return hd_no_memory("a trace");
	}
	return 0;
}

/* Copies the names of the tasks that are in the trace. The recorder also has names of tasks that were cancelled or have
 * not run yet. */
static int copy_task_names(const struct hd_recorder *r, struct heddle_trace *trace)
{
	int status = 0;
	for (size_t i = 0; i < trace->n_tasks && r->task_names.n && !status; i++) {
		const char *name = heddle_name_of(&r->task_names, trace->tasks[i].id);
		if (name)
			status = hd_name_table_add(&trace->task_names, trace->tasks[i].id, name, strlen(name));
	}
	return status;
}

static int copy_data_names(const struct hd_recorder *r, struct heddle_trace *trace)
{
	int status = 0;
	for (size_t i = 0; i < r->n_data_names && !status; i++)
		if (r->data_names[i])
			status = hd_name_table_add(&trace->data_names, i, r->data_names[i], strlen(r->data_names[i]));
	return status;
}

static size_t n_new_tasks(const struct hd_recorder *r, const struct hd_reading *from)
{
	size_t n = 0;
	for (size_t i = 0; i < r->rt->n_workers; i++)
		n += hd_log_left(&r->tasks[i], &from->tasks[i], from->most);
	return n;
}

static int copy_events(struct hd_recorder *r, struct hd_reading *from, struct heddle_trace *trace)
{
	struct copying to = {.trace = trace, .codelets = hd_recorder_codelets(r->rt)};
	size_t most = from->most;
	trace->tasks = malloc((n_new_tasks(r, from) + 1) * sizeof *trace->tasks);
	int status = !to.codelets ? HEDDLE_E_MEMORY : trace->tasks ? 0 : hd_no_memory("a trace");
	for (; to.worker < r->rt->n_workers && !status; to.worker++)
		hd_log_read(&r->tasks[to.worker], &from->tasks[to.worker], most, copy_task, &to);
	free(to.codelets);
	if (!status)
		status = to.status;
	if (!status)
		status = copy_log(&r->transfers, &from->transfers, most, trace, HD_TRANSFERS);
	if (!status)
		status = copy_log(&r->layouts, &from->layouts, most, trace, HD_LAYOUTS);
	if (!status)
		status = copy_log(&r->drives, &from->drives, most, trace, HD_DRIVES);
	return status ? status : copy_log(&r->expansions, &from->expansions, most, trace, HD_EXPANSIONS);
}

/* Collects in `trace` the codelets, and the events after `from`. */
static int collect(heddle_runtime *rt, struct hd_reading *from, struct heddle_trace *trace)
{
	HD_HELD(&rt->lock);
	int status = copy_codelets(rt, trace);
	if (!status)
		status = copy_events(rt->recorder, from, trace);
	return status ? status : copy_task_names(rt->recorder, trace);
}

struct hd_reading *hd_reading_open(const heddle_runtime *rt, size_t most)
{
	struct hd_reading *from = calloc(1, sizeof *from + rt->n_workers * sizeof *from->tasks);
	if (from)
		from->most = most;
	else
		hd_no_memory("a trace");
	return from;
}

int hd_trace_take_part(heddle_runtime *rt, struct hd_reading *from, int *restarted, struct heddle_trace **out)
{
	struct heddle_trace *trace = calloc(1, sizeof *trace);
	if (!trace)
		return hd_no_memory("a trace");
	hd_core_enter(rt);
	*restarted = from->n_takes != rt->recorder->n_takes;
	if (*restarted) {
		size_t most = from->most;
		memset(from, 0, sizeof *from + rt->n_workers * sizeof *from->tasks);
		from->most = most;
		from->n_takes = rt->recorder->n_takes;
	}
	int status = collect(rt, from, trace);
	hd_core_leave(rt);
	hd_trace_sort(trace);
	*out = trace;
	return status;
}

/* Takes all events, and computes the dependencies. */
static int take_all(heddle_runtime *rt, struct hd_reading *from, struct heddle_trace *trace)
{
	HD_HELD(&rt->lock);
	trace->virtual_time = rt->engine->virtual_time;
	trace->policy = strdup(rt->sched.policy->name);
	int status = trace->policy ? heddle_platform_copy(rt->platform, &trace->platform) : hd_no_memory("a trace");
	if (!status)
		status = collect(rt, from, trace);
	if (!status)
		status = copy_data_names(rt->recorder, trace);
	if (!status && !rt->recorder->taken) /* otherwise an earlier trace has the edges */
		status = make_edges(rt->recorder, trace);
	hd_recorder_taken(rt->recorder);
	rt->recorder->executed = rt->count.executed;
	rt->recorder->left = hd_live(rt);
	return status;
}

int heddle_trace_take(heddle_runtime *rt, struct heddle_trace **out)
{
	if (!rt || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_trace_take needs a runtime and a place for the trace");
	if (!rt->recorder || rt->recorder->graph_only)
		return hd_error(HEDDLE_E_STATE,
		                "this runtime does not trace; set HEDDLE_TRACE=1 or config.trace before it starts");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	struct heddle_trace *trace = calloc(1, sizeof *trace);
	if (!trace)
		return hd_no_memory("a trace");
	struct hd_reading *from = hd_reading_open(rt, SIZE_MAX);
	int status = HEDDLE_E_MEMORY;
	if (from) {
		hd_core_enter(rt);
		status = take_all(rt, from, trace);
		hd_core_leave(rt);
		hd_trace_sort(trace);
	}
	free(from);
	if (status)
		heddle_trace_free(trace);
	else
		*out = trace;
	return status;
}
