/* The recorder of traces: logs (log.h) of fixed-size events, which the core writes while tasks run and from which
 * heddle_trace_take makes a trace.
 *
 * Dependencies are not recorded. They are computed when the trace is taken, from the accesses of the tasks in the order
 * of submission (replay.h). So a run pays for recording its accesses only.
 */
#include "record.h"
#include <stdlib.h>
#include <string.h>
#include "state/core_lock.h"
#include "state/data.h"
#include "state/plan.h"
#include "state/runtime.h"
#include "state/transfer.h"
#include "events.h"
#include "names.h"

static __attribute__((noinline)) void ask_for_chunk(heddle_runtime *rt, struct hd_log *log)
{
	if (log->is_short)
		return;
	log->is_short = 1;
	log->next_short = rt->short_logs;
	rt->short_logs = log;
	rt->errands.slow = 1;
}

/* hd_log_append that counts the event as lost when out of memory, and asks for a spare chunk in time. */
static inline void *append(struct hd_recorder *r, struct hd_log *log)
{
	void *event = hd_log_append(log);
	r->lost += !event;
	if (HD_UNLIKELY(event && hd_log_runs_short(log)))
		ask_for_chunk(r->rt, log);
	return event;
}

void hd_supply_choose(heddle_runtime *rt, struct hd_supply *s)
{
	HD_HELD(&rt->lock);
	struct hd_log *log = rt->short_logs;
	*s = (struct hd_supply){.log = log};
	if (!log)
		return;
	rt->short_logs = log->next_short;
	log->is_short = 0;
	s->size = hd_log_next_size(log);
	s->event_size = log->event_size;
}

void hd_supply_make(struct hd_supply *s)
{
	s->chunk = hd_log_chunk_new(s->size, s->event_size);
}

void hd_supply_give(heddle_runtime *rt, struct hd_supply *s)
{
	HD_HELD(&rt->lock);
	if (s->log->spare)
		free(s->chunk);
	else
		s->log->spare = s->chunk;
}

struct hd_recorder *hd_recorder_open(heddle_runtime *rt)
{
	struct hd_recorder *r = calloc(1, sizeof *r);
	if (!r || !(r->tasks = calloc(rt->n_workers, sizeof *r->tasks)) || !(r->out = calloc(rt->n_workers, 1))) {
		if (r)
			free(r->tasks);
		free(r);
		hd_no_memory("a trace");
		return NULL;
	}
	r->rt = rt;
	for (size_t i = 0; i < rt->n_workers; i++) {
		r->tasks[i].event_size = sizeof(struct task_event);
		r->out[i] = rt->platform->workers[i].retired != 0;
	}
	r->transfers.event_size = sizeof(struct heddle_trace_transfer);
	r->submissions.event_size = sizeof(struct hd_submission);
	r->links.event_size = sizeof(union link_event);
	r->steps.event_size = sizeof(struct step_event);
	r->expansions.event_size = sizeof(struct heddle_trace_expansion);
	r->expanded.event_size = sizeof(uint64_t);
	r->layouts.event_size = sizeof(struct heddle_trace_layout);
	r->drives.event_size = sizeof(struct heddle_trace_drive);
	r->children.event_size = sizeof(struct child_event);
	return r;
}

void hd_recorder_graph_only(heddle_runtime *rt)
{
	hd_core_enter(rt);
	rt->recorder->graph_only = 1;
	hd_core_unlock(rt);
}

static void leave_perf(const void *event, void *arg)
{
	const struct hd_submission *s = event;
	(void)arg;
	if (s->perf)
		hd_perf_leave(s->perf);
}

static void empty_events(struct hd_recorder *r)
{
	for (size_t i = 0; i < r->rt->n_workers; i++)
		hd_log_empty(&r->tasks[i]);
	hd_log_empty(&r->transfers);
	hd_log_empty(&r->layouts);
	hd_log_empty(&r->drives);
	hd_log_empty(&r->steps);
	hd_log_empty(&r->expansions);
}

static void record_drive(struct hd_recorder *r, uint32_t worker, double at)
{
	struct heddle_trace_drive *e = append(r, &r->drives);
	if (e)
		*e = (struct heddle_trace_drive){at, worker, !r->out[worker]};
}

void hd_record_drives(struct hd_recorder *r)
{
	HD_HELD(&r->rt->lock);
	for (uint32_t i = 0; i < r->rt->n_workers; i++) {
		int is_out = hd_worker_is_out(&r->rt->workers[i]);
		if (r->out[i] == is_out)
			continue;
		r->out[i] = (unsigned char)is_out;
		record_drive(r, i, r->rt->now);
	}
}

void hd_recorder_taken(struct hd_recorder *r)
{
	empty_events(r);
	r->n_takes++;
	r->taken = 1;
	/* The next trace begins with the workers whose state differs from the platform's, at time 0: tasks of that
	 * trace may be running already. */
	for (uint32_t i = 0; i < r->rt->n_workers; i++)
		if (r->out[i] != r->rt->platform->workers[i].retired)
			record_drive(r, i, 0);
}

static void empty_submissions(struct hd_recorder *r)
{
	hd_log_each(&r->submissions, leave_perf, NULL);
	hd_log_empty(&r->submissions);
	hd_log_empty(&r->links);
	hd_log_empty(&r->expanded);
	hd_name_table_free(&r->task_names);
	r->taken = r->has_control = r->has_edges = r->is_irregular = 0;
}

void hd_recorder_close(struct hd_recorder *r)
{
	if (!r)
		return;
	r->rt->short_logs = NULL;
	empty_events(r);
	empty_submissions(r);
	hd_log_empty(&r->children);
	for (size_t i = 0; i < r->n_data_names; i++)
		free(r->data_names[i]);
	free(r->data_names);
	free(r->tasks);
	free(r->out);
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

void hd_record_child(struct hd_recorder *r, const heddle_data *child, const struct hd_window *window)
{
	HD_HELD(&child->rt->lock);
	struct child_event *e = append(r, &r->children);
	if (!e)
		return;
	*e = (struct child_event){{.child = child->id, .parent = child->plan->data->id}, child->plan->children[0]->id};
	for (unsigned d = 0; d < HEDDLE_MAX_DIMS; d++) {
		e->child.offset[d] = d < child->part.n_dims ? window->offset[d] : 0;
		e->child.n[d] = d < child->part.n_dims ? window->n[d] : 1;
	}
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

/* Called when `t` is submitted after the trace of the recorded submissions was taken. Control tasks that end the use of
 * data still belong to these submissions; any other task begins a new recording. */
static void begin_recording(struct hd_recorder *r, const heddle_task *t)
{
	if (t->kind != HD_TASK_ACQUIRE && t->kind != HD_TASK_UNREGISTER && t->kind != HD_TASK_UNPARTITION &&
	    t->kind != HD_TASK_PARTITION && t->kind != HD_TASK_UNPLAN)
		empty_submissions(r);
}

/* 1 + the submission number of the hierarchical task around the task; 0: the task is in no sub-graph. */
static uint64_t inside_of(const heddle_task *t)
{
	const heddle_task *outer = hd_task_inside(t);
	return outer ? 1 + outer->order : 0;
}

struct hd_submission *hd_record_enter(struct hd_recorder *r, const heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	if (HD_UNLIKELY(r->taken))
		begin_recording(r, t);
	if (!r->submissions.n) {
		r->first_id = t->order;
		r->n_waits = r->rt->waits.n_asked;
	}
	r->is_irregular |= r->rt->waits.n_asked != r->n_waits || t->only_worker || (t->extra && t->extra->callback);
	r->n_waits = r->rt->waits.n_asked;
	return append(r, &r->submissions);
}

void hd_record_insert(struct hd_recorder *r, const heddle_task *t, struct hd_submission *submission)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	struct hd_submission s = {.perf = t->perf,
	                          .codelet = t->codelet ? t->codelet->id : NO_CODELET,
	                          .priority = t->priority,
	                          .n_after = r->n_after & MOST_AFTER,
	                          .inside = inside_of(t),
	                          .kind = t->kind};
	if (HD_UNLIKELY(t->extra && t->extra->name))
		r->lost += hd_name_table_add(&r->task_names, t->order, t->extra->name, strlen(t->extra->name)) != 0;
	/* Steps of layouts have no accesses here: they follow from the accesses of the tasks that need them. */
	uint32_t n = t->kind == HD_TASK_PARTITION || t->kind == HD_TASK_UNPARTITION ? 0 : t->n_accesses;
	for (uint32_t i = 0; i < n; i++) {
		const struct hd_access *a = &t->accesses[i];
		if (HD_UNLIKELY(a->flags & HD_ACCESS_UNCHAINED) && !hd_is_unordered(a)) {
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
	r->lost += r->n_after > MOST_AFTER;
	if (HD_LIKELY(s.kind != STEP && s.kind != HD_TASK_UNPLAN)) {
		r->has_edges |= s.n_after || (r->has_control && t->codelet);
		r->has_control |= !t->codelet && t->kind != HD_TASK_UNREGISTER;
	}
	if (submission) {
		*submission = s;
		if (s.perf)
			hd_perf_use(s.perf);
	}
	r->n_after = 0;
}

void hd_record_explicit(struct hd_recorder *r, uint64_t before)
{
	HD_HELD(&r->rt->lock);
	/* a task of the program begins a new recording; no other has explicit predecessors */
	if (HD_UNLIKELY(r->taken))
		empty_submissions(r);
	union link_event *e = append(r, &r->links);
	if (e)
		e->before = before;
	r->n_after++;
}

static __attribute__((noinline)) void look_at_libraries(struct hd_recorder *r)
{
	const heddle_runtime *rt = r->rt;
	unsigned most = 1;
	r->has_looked = 1;
	if (!rt->config.explain || !rt->topology)
		return;
	for (size_t c = 0; c < rt->n_classes; c++)
		most = rt->platform->classes[c].cores > most ? rt->platform->classes[c].cores : most;
	if (!r->rt->engine->find_eager(most, &r->eager))
		r->eager.threads = 0;
}

void hd_record_task(struct hd_recorder *r, const heddle_task *t, double start, double end, double now)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	if (r->graph_only)
		return;
	struct task_event *e = append(r, &r->tasks[t->worker]);
	if (HD_UNLIKELY(!r->has_looked))
		look_at_libraries(r);
	if (e)
		*e = (struct task_event){.id = t->order & (((uint64_t)1 << 40) - 1),
		                         .inside = inside_of(t),
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

void hd_record_expansion(struct hd_recorder *r, const heddle_task *t, const struct hd_span *ran)
{
	HD_HELD(&r->rt->lock);
	uint64_t *expanded = append(r, &r->expanded);
	if (expanded)
		*expanded = t->order;
	struct heddle_trace_expansion *e = append(r, &r->expansions);
	if (e)
		*e = (struct heddle_trace_expansion){.id = t->order,
		                                     .inside = inside_of(t),
		                                     .codelet = t->codelet->id,
		                                     .worker = t->worker,
		                                     .subgraph = t->extra->subgraph - 1,
		                                     .start = ran->start,
		                                     .end = ran->end,
		                                     .n_tasks = t->extra->n_submitted};
}

void hd_record_transfer(struct hd_recorder *r, const struct hd_transfer *tr)
{
	HD_HELD(&tr->data->rt->lock);
	if (r->graph_only)
		return;
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

void hd_record_layout(struct hd_recorder *r, const heddle_data *d, const heddle_plan *plan, int step, uint64_t before)
{
	HD_HELD(&d->rt->lock);
	struct heddle_trace_layout *e = append(r, &r->layouts);
	if (e)
		*e = (struct heddle_trace_layout){.at = d->rt->now,
		                                  .data = d->id,
		                                  .plan = plan ? (int32_t)plan->number : -1,
		                                  .step = (enum heddle_layout_step)step,
		                                  .before = before};
}
