/* The recorder of traces: lists of fixed-size events (log.h), which the core fills while tasks run, and the trace that
 * heddle_trace_take makes of them.
 *
 * Dependencies are not recorded. They are computed when the trace is taken, from the accesses of the tasks in the order
 * of submission (replay.h); so a run pays for its accesses only, not for its dependencies.
 */
#include <stdlib.h>
#include <string.h>
#include <heddle/trace.h>
#include "core/runtime.h"
#include "replay.h"
#include "trace/log.h"
#include "trace/recorder.h"
#include "trace/trace.h"

struct task_event {
	uint64_t id : 40, codelet : 24; /* memory ends before either of these numbers overflows */
	uint64_t footprint;
	double bytes, flops, ready, picked, start, end, ended; /* times in us; all as in struct heddle_trace_task */
	int32_t priority;
	int16_t status;
	uint16_t choice; /* as in heddle_task: 1 + the implementation, 0: the only one */
};

/* One task that was submitted, controls included. Its links are events of the list `links`: first the n_after tasks
 * that it waits for explicitly, then its n_accesses accesses. */
struct submission {
	struct hd_perf_entry *perf; /* counted in its users; NULL: the task has none */
	uint32_t codelet;           /* its number; NO_CODELET: a control */
	int32_t priority;
	uint32_t n_accesses, n_after : 24, kind : 8; /* kind: enum hd_task_kind, or STEP */
};
enum { STEP = 255, MOST_AFTER = (1 << 24) - 1 }; /* STEP: the core submitted the task, as a step of a reduction */
#define NO_CODELET UINT32_MAX

union link_event {
	uint64_t before;
	struct heddle_graph_access access;
};

/* A step of a reduction. Later tasks wait for the REDUCE control, which stands for its steps: they are what really
 * writes the datum. */
struct step_event {
	uint64_t reduce, task; /* ids of the control and of the step; `reduce` comes first because hd_search reads it */
	uint32_t data;
};

/* A child of a plan, whose number is that of its first child. */
struct child_event {
	uint32_t child, parent, plan;
};

struct hd_recorder {
	heddle_runtime *rt;
	struct hd_log *tasks; /* owns; per worker */
	struct hd_log transfers, submissions, links, steps;
	struct hd_log children; /* of all plans ever made */
	uint64_t first_id;      /* id of the first submission; the ids of the others follow without gaps */
	uint32_t n_after;       /* explicit links recorded so far for the task that is being submitted */
	uint64_t *data_bytes;   /* owns; size of every datum, by registration number */
	size_t n_data;
	struct heddle_names task_names; /* owns; of the submissions */
	char **data_names;              /* owns; by registration number, NULL: no name; room for n_data_names */
	size_t n_data_names;            /* 0 as long as no datum has been named */
	/* The trace of these submissions has been taken. They are kept for heddle_graph_record until the program
	 * submits another task. */
	int taken;
	uint64_t lost; /* events for which there was no memory */
};

/* As hd_log_append, and counts the event as lost when there is no memory for it. */
static inline void *append(struct hd_recorder *r, struct hd_log *log)
{
	void *event = hd_log_append(log);
	r->lost += !event;
	return event;
}

struct hd_recorder *hd_recorder_open(heddle_runtime *rt)
{
	struct hd_recorder *r = calloc(1, sizeof *r);
	if (!r || !(r->tasks = calloc(rt->n_workers, sizeof *r->tasks))) {
		free(r);
		hd_no_memory("a trace");
		return NULL;
	}
	r->rt = rt;
	for (size_t i = 0; i < rt->n_workers; i++)
		r->tasks[i].event_size = sizeof(struct task_event);
	r->transfers.event_size = sizeof(struct heddle_trace_transfer);
	r->submissions.event_size = sizeof(struct submission);
	r->links.event_size = sizeof(union link_event);
	r->steps.event_size = sizeof(struct step_event);
	r->children.event_size = sizeof(struct child_event);
	return r;
}

static void leave_perf(const void *event, void *arg)
{
	const struct submission *s = event;
	(void)arg;
	if (s->perf)
		hd_perf_leave(s->perf);
}

static void empty_events(struct hd_recorder *r)
{
	for (size_t i = 0; i < r->rt->n_workers; i++)
		hd_log_empty(&r->tasks[i]);
	hd_log_empty(&r->transfers);
	hd_log_empty(&r->steps);
}

static void empty_submissions(struct hd_recorder *r)
{
	hd_log_each(&r->submissions, leave_perf, NULL);
	hd_log_empty(&r->submissions);
	hd_log_empty(&r->links);
	hd_name_table_free(&r->task_names);
	r->taken = 0;
}

void hd_recorder_close(struct hd_recorder *r)
{
	if (!r)
		return;
	empty_events(r);
	empty_submissions(r);
	hd_log_empty(&r->children);
	for (size_t i = 0; i < r->n_data_names; i++)
		free(r->data_names[i]);
	free(r->data_names);
	free(r->tasks);
	free(r->data_bytes);
	free(r);
}

void hd_record_data(struct hd_recorder *r, const heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	if (d->id >= r->n_data) {
		size_t n = 2 * (size_t)d->id + 64;
		uint64_t *larger = realloc(r->data_bytes, n * sizeof *larger);
		if (!larger) {
			r->lost++;
			return;
		}
		memset(larger + r->n_data, 0, (n - r->n_data) * sizeof *larger);
		r->data_bytes = larger;
		r->n_data = n;
	}
	r->data_bytes[d->id] = d->bytes;
}

void hd_record_child(struct hd_recorder *r, const heddle_data *child)
{
	HD_HELD(&child->rt->lock);
	struct child_event *e = append(r, &r->children);
	if (e)
		*e = (struct child_event){child->id, child->plan->data->id, child->plan->children[0]->id};
}

void hd_record_data_name(struct hd_recorder *r, const heddle_data *d, const char *name)
{
	HD_HELD(&d->rt->lock);
	if (d->id >= r->n_data_names) {
		size_t n = 2 * (size_t)d->id + 64;
		char **larger = realloc(r->data_names, n * sizeof *larger);
		if (!larger) {
			r->lost++;
			return;
		}
		memset(larger + r->n_data_names, 0, (n - r->n_data_names) * sizeof *larger);
		r->data_names = larger;
		r->n_data_names = n;
	}
	char *copy = *name ? strdup(name) : NULL;
	r->lost += *name && !copy;
	free(r->data_names[d->id]);
	r->data_names[d->id] = copy;
}

/* The trace of the recorded submissions has been taken, and `t` is submitted. Controls that end the use of data still
 * belong to those submissions; any other task begins a new recording. */
static void begin_recording(struct hd_recorder *r, const heddle_task *t)
{
	if (t->kind != HD_TASK_ACQUIRE && t->kind != HD_TASK_UNREGISTER && t->kind != HD_TASK_UNPARTITION &&
	    t->kind != HD_TASK_PARTITION && t->kind != HD_TASK_UNPLAN)
		empty_submissions(r);
}

void hd_record_insert(struct hd_recorder *r, const heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	struct submission s = {.perf = t->perf,
	                       .codelet = t->codelet ? t->codelet->id : NO_CODELET,
	                       .priority = t->priority,
	                       .n_after = r->n_after & MOST_AFTER,
	                       .kind = t->kind};
	if (HD_UNLIKELY(r->taken))
		begin_recording(r, t);
	if (HD_UNLIKELY(t->extra && t->extra->name))
		r->lost += hd_name_table_add(&r->task_names, t->order, t->extra->name, strlen(t->extra->name)) != 0;
	/* A change of a layout follows from the accesses of the tasks that need it. */
	uint32_t n = t->kind == HD_TASK_PARTITION || t->kind == HD_TASK_UNPARTITION ? 0 : t->n_accesses;
	for (uint32_t i = 0; i < n; i++) {
		const struct hd_access *a = &t->accesses[i];
		if (HD_UNLIKELY(a->flags & HD_ACCESS_UNCHAINED)) {
			struct step_event *step = append(r, &r->steps);
			if (step)
				*step = (struct step_event){t->link.u.word, t->order, a->data->id};
			s.kind = STEP;
		}
		if (a->flags & (HD_ACCESS_ALIAS | HD_ACCESS_UNCHAINED))
			continue;
		union link_event *e = append(r, &r->links);
		if (e)
			e->access = (struct heddle_graph_access){a->data->id, a->mode};
		s.n_accesses++;
	}
	if (!r->submissions.n)
		r->first_id = t->order;
	r->lost += r->n_after > MOST_AFTER;
	struct submission *e = append(r, &r->submissions);
	if (e) {
		*e = s;
		if (s.perf)
			hd_perf_use(s.perf);
	}
	r->n_after = 0;
}

void hd_record_explicit(struct hd_recorder *r, uint64_t before)
{
	HD_HELD(&r->rt->lock);
	if (HD_UNLIKELY(r->taken)) /* only tasks of the program wait explicitly */
		empty_submissions(r);
	union link_event *e = append(r, &r->links);
	if (e)
		e->before = before;
	r->n_after++;
}

void hd_record_task(struct hd_recorder *r, const heddle_task *t, double start, double end, double now)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	struct task_event *e = append(r, &r->tasks[t->worker]);
	if (e)
		*e = (struct task_event){.id = t->order & (((uint64_t)1 << 40) - 1),
		                         .footprint = t->perf->footprint,
		                         .bytes = t->perf->bytes,
		                         .flops = t->perf->flops,
		                         .codelet = t->codelet->id & ((1U << 24) - 1),
		                         .ready = t->ready,
		                         .picked = t->picked,
		                         .start = start,
		                         .end = end,
		                         .ended = now > end ? now : 0,
		                         .priority = t->priority,
		                         .status = (int16_t)t->status,
		                         .choice = t->choice};
}

void hd_record_transfer(struct hd_recorder *r, const struct hd_transfer *tr)
{
	HD_HELD(&tr->data->rt->lock);
	struct heddle_trace_transfer *e = append(r, &r->transfers);
	if (e)
		*e = (struct heddle_trace_transfer){.from = tr->from,
		                                    .to = tr->to,
		                                    .start = tr->start,
		                                    .end = tr->end,
		                                    .bytes = tr->data->bytes,
		                                    .data = tr->data->id,
		                                    .reason = tr->reason};
}

/* --- What was submitted, told to a function ----------------------------------------------------------------------- */

/* A walk through the submissions and, in step with them, through their links. */
struct reading {
	const struct hd_log_chunk *chunk;
	size_t next;                     /* event in the chunk */
	union link_event *links;         /* owns; those of the task at hand */
	size_t max;                      /* `links` has room for this many */
	const heddle_codelet **codelets; /* owns; by number */
	const struct heddle_names *names;
	uint64_t id; /* the next task's */
	hd_recorded_fn f;
	void *arg;
	int status;
};

/* The caller frees the array. NULL: out of memory. */
static const heddle_codelet **codelets_by_number(const heddle_runtime *rt)
{
	const heddle_codelet **codelets = malloc((rt->n_codelets + 1) * sizeof(const heddle_codelet *));
	if (!codelets)
		hd_no_memory("a trace");
	for (const heddle_codelet *c = rt->codelets; c && codelets; c = c->next)
		codelets[c->id] = c;
	return codelets;
}

static const union link_event *next_link(struct reading *r)
{
	if (r->next == r->chunk->used) {
		r->chunk = r->chunk->next;
		r->next = 0;
	}
	return (const union link_event *)(const void *)r->chunk->bytes + r->next++;
}

static int is_control(const struct submission *s)
{
	return s->codelet != NO_CODELET ? 0 : s->kind == HD_TASK_SYNC ? HD_REPLAY_NAMED : HD_REPLAY_CONTROL;
}

static void tell(const void *event, void *arg)
{
	struct reading *r = arg;
	const struct submission *s = event;
	size_t n = (size_t)s->n_after + s->n_accesses;
	uint64_t id = r->id++;
	if (r->status)
		return;
	if (n > r->max) {
		union link_event *larger = realloc(r->links, 2 * n * sizeof *larger);
		if (!larger) {
			r->status = hd_no_memory("what was submitted");
			return;
		}
		r->links = larger;
		r->max = 2 * n;
	}
	for (size_t i = 0; i < n; i++)
		r->links[i] = *next_link(r);
	struct hd_recorded recorded = {
	    .task = {.id = id, .control = is_control(s), .n_after = s->n_after, .n_accesses = s->n_accesses},
	    .codelet = s->codelet != NO_CODELET ? r->codelets[s->codelet] : NULL,
	    .perf = s->perf,
	    .name = heddle_name_of(r->names, id),
	    .priority = s->priority,
	    .step = s->kind == STEP,
	};
	if (s->n_after)
		recorded.task.after = &r->links[0].before;
	if (s->n_accesses)
		recorded.task.accesses = &r->links[s->n_after].access;
	r->status = r->f(&recorded, r->arg);
}

int hd_recorder_each(const struct hd_recorder *r, hd_recorded_fn f, void *arg)
{
	if (r->lost)
		return hd_error(HEDDLE_E_MEMORY, "%llu events were lost for lack of memory",
		                (unsigned long long)r->lost);
	struct reading reading = {
	    .chunk = r->links.first, .names = &r->task_names, .id = r->first_id, .f = f, .arg = arg};
	reading.codelets = codelets_by_number(r->rt);
	if (!reading.codelets)
		return HEDDLE_E_MEMORY;
	hd_log_each(&r->submissions, tell, &reading);
	free(reading.codelets);
	free(reading.links);
	return reading.status;
}

static void tell_child(const void *event, void *arg)
{
	const struct child_event *e = event;
	hd_replay_child(arg, e->child, e->parent, e->plan);
}

struct hd_replay *hd_recorder_replay(const struct hd_recorder *r, void (*edge)(uint64_t from, uint64_t to, void *arg),
                                     void *arg)
{
	struct hd_replay *replay = hd_replay_open(r->rt->handles.n_made, edge, arg);
	if (replay)
		hd_log_each(&r->children, tell_child, replay);
	return replay;
}

uint64_t hd_recorder_data_bytes(const struct hd_recorder *r, uint32_t id)
{
	return id < r->n_data ? r->data_bytes[id] : 0;
}

const char *hd_recorder_data_name(const struct hd_recorder *r, uint32_t id)
{
	return id < r->n_data_names ? r->data_names[id] : NULL;
}

/* --- From events to a trace --------------------------------------------------------------------------------------- */

struct edges {
	struct heddle_trace *trace;
	size_t max;
	int failed;
	struct hd_replay *replay;
	struct step_event *steps; /* by `reduce`, then `task` */
	size_t n_steps;
};

static void add_edge(uint64_t from, uint64_t to, void *arg)
{
	struct edges *p = arg;
	struct heddle_trace *t = p->trace;
	if (p->failed)
		return;
	if (t->n_edges == p->max) {
		size_t max = p->max ? 2 * p->max : 64;
		void *larger = realloc(t->edges, max * sizeof *t->edges);
		if (!larger) {
			p->failed = 1;
			return;
		}
		t->edges = larger;
		p->max = max;
	}
	t->edges[t->n_edges++] = (struct heddle_trace_edge){from, to};
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
		struct hd_replay_task step = {.id = p->steps[i].task, .accesses = &access, .n_accesses = 1};
		status = hd_replay_task(p->replay, &step);
	}
	return status;
}

static int replay_one(const struct hd_recorded *recorded, void *arg)
{
	struct edges *p = arg;
	int status = recorded->task.control ? replay_steps(p, recorded->task.id) : 0;
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
	if (!p.steps)
		return hd_no_memory("a trace");
	hd_log_each(&r->steps, copy_step, &p);
	qsort(p.steps, p.n_steps, sizeof *p.steps, compare_steps);
	p.replay = hd_recorder_replay(r, add_edge, &p);
	int status = p.replay ? hd_recorder_each(r, replay_one, &p) : HEDDLE_E_MEMORY;
	hd_replay_close(p.replay);
	free(p.steps);
	if (p.n_steps && trace->n_edges) /* steps were replayed before tasks with smaller ids */
		qsort(trace->edges, trace->n_edges, sizeof *trace->edges, compare_edges);
	return p.failed ? hd_no_memory("a trace") : status;
}

struct copying {
	struct heddle_trace *trace;
	uint32_t worker;
	const heddle_codelet **codelets; /* by number */
	int status;
};

/* The name of the implementation that ran, for a codelet that has several. */
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
	                                                            .priority = e->priority,
	                                                            .status = e->status,
	                                                            .bytes = e->bytes,
	                                                            .flops = e->flops,
	                                                            .footprint = e->footprint};
}

static void copy_transfer(const void *event, void *arg)
{
	struct heddle_trace *trace = arg;
	trace->transfers[trace->n_transfers++] = *(const struct heddle_trace_transfer *)event;
}

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
static int copy_names(const struct hd_recorder *r, struct heddle_trace *trace)
{
	int status = 0;
	for (size_t i = 0; i < trace->n_tasks && r->task_names.n && !status; i++) {
		const char *name = heddle_name_of(&r->task_names, trace->tasks[i].id);
		if (name)
			status = hd_name_table_add(&trace->task_names, trace->tasks[i].id, name, strlen(name));
	}
	hd_name_table_sort(&trace->task_names);
	for (size_t i = 0; i < r->n_data_names && !status; i++)
		if (r->data_names[i])
			status = hd_name_table_add(&trace->data_names, i, r->data_names[i], strlen(r->data_names[i]));
	return status;
}

static int copy_events(struct hd_recorder *r, struct heddle_trace *trace)
{
	size_t n = 0;
	for (size_t i = 0; i < r->rt->n_workers; i++)
		n += r->tasks[i].n;
	trace->tasks = malloc((n + 1) * sizeof *trace->tasks);
	trace->transfers = malloc((r->transfers.n + 1) * sizeof *trace->transfers);
	if (!trace->tasks || !trace->transfers)
		return hd_no_memory("a trace");
	struct copying to = {.trace = trace, .codelets = codelets_by_number(r->rt)};
	if (!to.codelets)
		return HEDDLE_E_MEMORY;
	for (; to.worker < r->rt->n_workers; to.worker++)
		hd_log_each(&r->tasks[to.worker], copy_task, &to);
	free(to.codelets);
	hd_log_each(&r->transfers, copy_transfer, trace);
	qsort(trace->tasks, trace->n_tasks, sizeof *trace->tasks, compare_tasks);
	qsort(trace->transfers, trace->n_transfers, sizeof *trace->transfers, compare_transfers);
	hd_name_table_sort(&trace->implementations);
	return to.status;
}

static int collect(heddle_runtime *rt, struct heddle_trace *trace)
{
	trace->virtual_time = rt->engine->virtual_time;
	trace->policy = strdup(rt->sched.policy->name);
	if (!trace->policy)
		return hd_no_memory("a trace");
	int status = hd_platform_copy(rt->platform, &trace->platform);
	if (!status)
		status = copy_codelets(rt, trace);
	if (!status)
		status = copy_events(rt->recorder, trace);
	if (!status)
		status = copy_names(rt->recorder, trace);
	if (!status && !rt->recorder->taken) /* otherwise an earlier trace has the edges */
		status = make_edges(rt->recorder, trace);
	return status;
}

int heddle_trace_take(heddle_runtime *rt, struct heddle_trace **out)
{
	if (!rt || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_trace_take needs a runtime and a place for the trace");
	if (!rt->recorder)
		return hd_error(HEDDLE_E_STATE,
		                "this runtime does not trace; set HEDDLE_TRACE=1 or config.trace before it starts");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	struct heddle_trace *trace = calloc(1, sizeof *trace);
	if (!trace)
		return hd_no_memory("a trace");
	hd_core_enter(rt);
	int status = collect(rt, trace);
	empty_events(rt->recorder);
	rt->recorder->taken = 1;
	hd_core_leave(rt);
	if (status)
		heddle_trace_free(trace);
	else
		*out = trace;
	return status;
}
