/* The clock of the virtual engine. It advances from event to event. An event is the end of a kernel, of a task that
 * ends later than its kernel, or of a transfer (sharing.c). No kernel runs and no byte moves. The same submissions from
 * one thread give the same schedule every time.
 *
 * A kernel that is alone on its worker takes the time that the platform or its codelet gives, times a random factor if
 * the setting `noise` is not 0; streams.c computes how long it takes beside other kernels. The time from the end of a
 * kernel to the end of its task has a random factor, too. */
#include <math.h>
#include <stdlib.h>
#include "virtual.h"
#include "flow/codelet.h"
#include "flow/dispatch.h"
#include "flow/errands.h"
#include "flow/event.h"
#include "flow/expand.h"
#include "flow/inlet.h"
#include "flow/task_model.h"
#include "flow/wait.h"
#include "flow/worker_set.h"
#include "graph/scratch_redux.h"
#include "state/core_lock.h"
#include "state/engine.h"

/* --- Kernel events ------------------------------------------------------------------------------------------------ */

/* Updates the worker's event, the next end of a kernel on the worker, after a kernel has begun or ended there. The heap
 * has room for one event per worker; make_room makes room for events that end tasks. */
static void plan_end(struct hd_virtual *v, struct hd_streams *s)
{
	if (s->clock.n) {
		struct event e = {.at = &s->at, .of.streams = s};
		e.time = hd_streams_next(s, &e.order);
		hd_events_put(&v->ends, &e);
	} else if (s->at) {
		hd_events_remove(&v->ends, s->at - 1);
	}
}

/* Makes room for one more event that ends a task. HEDDLE_E_MEMORY. */
static int make_room(heddle_runtime *rt, struct hd_virtual *v)
{
	if (v->n_waiting + rt->n_workers < v->max_ends)
		return 0;
	struct event *larger = realloc(v->ends.events, 2 * v->max_ends * sizeof *larger);
	if (!larger)
		return hd_no_memory("the virtual engine");
	v->ends.events = larger;
	v->max_ends *= 2;
	return 0;
}

/* Applies the random factor of the setting noise to a time. */
static double with_noise(heddle_runtime *rt, double us)
{
	if (rt->config.virtual_time.noise > 0) {
		double factor = 1 + rt->config.virtual_time.noise * hd_rng_normal(&rt->engine_state.virtual_->rng);
		us *= factor > 0.1 ? factor : 0.1;
	}
	return us;
}

static double duration(heddle_runtime *rt, const struct hd_worker *w, const heddle_task *t)
{
	double us = t->codelet->true_time ? hd_task_true_time(t, w->class_id) : hd_perf_time(t->perf, w->class_id);
	return with_noise(rt, us) + rt->config.virtual_time.sched_cost;
}

/* us that the init kernels take before the task: one for each private copy that has no neutral value yet. */
static double init_duration(heddle_runtime *rt, const struct hd_worker *w, heddle_task *t)
{
	double us = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (hd_private_needs_init(&t->accesses[i]))
			us += hd_task_init_time(rt, t->accesses[i].data, w->class_id);
	return us;
}

/* Begins the worker's next kernel, if it has a staged task and a free slot. */
static void virtual_worker_ready(struct hd_worker *w)
{
	struct hd_virtual *v = w->rt->engine_state.virtual_;
	struct hd_streams *s = &v->streams[w->id];
	struct hd_slot *slot;
	v->now = hd_later(v->now, w->rt->now); /* see advance */
	heddle_task *t = hd_core_take_for_slot(w, &slot);
	if (!t)
		return;
	hd_core_begin(slot, t, v->now);
	if (HD_UNLIKELY(t->special & HD_TASK_EXPANDS)) {
		t->extra->slot = slot->index + 1;
		slot->n_bound++;
		hd_queue_push(&v->expanding, t);
		return;
	}
	double us = t->special & HD_TASK_PRIVATE ? init_duration(w->rt, w, t) : 0;
	double due = hd_shared_clock(&s->clock, v->now) + us + duration(w->rt, w, t);
	hd_streams_begin(s, &(struct hd_kernel){.due = due, .order = v->next_order++, .slot = slot->index});
	plan_end(v, s);
}

/* --- The clock ---------------------------------------------------------------------------------------------------- */

static double virtual_now(heddle_runtime *rt)
{
	return rt->engine_state.virtual_->now;
}

/* Makes the task of `event` end at `time`. make_room has been called for it. */
static void wait_for_event(struct hd_virtual *v, heddle_event *event, double time)
{
	struct event e = {.time = time, .order = v->next_order++, .of.task_ends = event};
	v->n_waiting++;
	hd_events_put(&v->ends, &e);
}

/* If the task ends later than its kernel, which ends now: creates the event, and sets *us to the delay. */
static int detach(struct hd_worker *w, heddle_task *t, double *us, heddle_event **event)
{
	*us = 0;
	if (t->special & HD_TASK_PRIVATE)
		return 0; /* heddle_detach refuses tasks with private copies */
	int status = hd_codelet_event_time(t, w->class_id, us);
	if (status || *us <= 0)
		return status;
	status = make_room(w->rt, w->rt->engine_state.virtual_);
	if (!status)
		*event = hd_event_make(t);
	return status || *event ? status : HEDDLE_E_MEMORY;
}

/* Ends the kernel of the first event, and begins the worker's next kernel. The event stays at the top of the heap until
 * the next kernel begins, so that it moves only once. */
static void finish_kernel(heddle_runtime *rt, struct hd_virtual *v)
{
	struct hd_streams *s = v->ends.events[0].of.streams;
	uint64_t ended = v->ends.events[0].order;
	struct hd_worker *w = s->worker;
	struct hd_slot *slot = &w->slots[hd_streams_end(s, v->now)];
	heddle_event *event = NULL;
	double us;
	int expands = slot->task->special & HD_TASK_EXPANDS;
	int status = HD_UNLIKELY(expands) ? slot->task->extra->outcome : detach(w, slot->task, &us, &event);
	if (HD_UNLIKELY(status) && !expands)
		hd_task_message(slot->task, heddle_last_error());
	hd_core_finish(slot, slot->task, status, &(struct hd_span){slot->start, v->now, v->now - slot->start});
	if (HD_UNLIKELY(event != NULL))
		wait_for_event(v, event, v->now + with_noise(rt, us));
	hd_core_refill(w);
	hd_core_call_back(rt);
	if (w->staged.first) /* a task that was staged meanwhile has begun */
		virtual_worker_ready(w);
	if (v->ends.events[s->at - 1].order == ended)
		plan_end(v, s);
}

/* Ends the task of the first event. */
static void finish_task(heddle_runtime *rt, struct hd_virtual *v)
{
	heddle_event *event = v->ends.events[0].of.task_ends;
	v->n_waiting--;
	hd_events_remove(&v->ends, 0);
	hd_event_fulfill(event, v->now);
	hd_core_settle(rt);
	rt->dispatch.releaser = -1;
}

static int virtual_fulfill_at(heddle_runtime *rt, heddle_event *event, double time)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	int status = make_room(rt, v);
	if (!status)
		wait_for_event(v, event, time);
	return status;
}

/* Advances to the next event and handles it. Returns 0 if there is no event. */
static int advance(heddle_runtime *rt)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	if (v->changed)
		hd_plan_arrivals(v);
	double arrives = v->arrivals.n ? v->arrivals.events[0].time : INFINITY;
	if (v->ends.n && v->ends.events[0].time <= arrives) {
		/* rt->now may exceed the event's time by the least representable step: see hd_sched_revive */
		v->now = rt->now = hd_later(v->ends.events[0].time, rt->now);
		if (HD_UNLIKELY(!v->ends.events[0].at))
			finish_task(rt, v);
		else
			finish_kernel(rt, v);
		return 1;
	}
	if (!v->arrivals.n)
		return 0;
	v->now = rt->now = hd_later(arrives, rt->now);
	rt->dispatch.releaser = -1;
	hd_finish_transfer(rt, v->arrivals.events[0].of.group);
	hd_core_settle(rt);
	return 1;
}

/* Calls the functions of the sub-graphs that workers have begun. No virtual time passes during the calls; afterwards
 * the workers are busy for the time that an expansion costs, and the submitted tasks enter the graph. Releases the core
 * lock. */
static void expand(heddle_runtime *rt)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	heddle_task *t = hd_queue_pop(&v->expanding);
	struct hd_worker *w = &rt->workers[t->worker];
	rt->count.expanding++;
	hd_core_leave(rt);
	int status = hd_expand_run(w, t);
	hd_core_enter(rt);
	rt->count.expanding--;
	t->extra->outcome = status;
	struct hd_streams *s = &v->streams[w->id];
	double us =
	    rt->config.virtual_time.expand_cost + rt->config.virtual_time.submit_cost * (double)t->extra->n_submitted;
	double due = hd_shared_clock(&s->clock, v->now) + us;
	hd_streams_begin(s, &(struct hd_kernel){.due = due, .order = v->next_order++, .slot = t->extra->slot - 1});
	plan_end(v, s);
}

/* The time of the next event; INFINITY: there is none. */
static double next_time(heddle_runtime *rt)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	if (v->expanding.first)
		return v->now;
	if (v->changed)
		hd_plan_arrivals(v);
	double ends = v->ends.n ? v->ends.events[0].time : INFINITY;
	double arrives = v->arrivals.n ? v->arrivals.events[0].time : INFINITY;
	return ends < arrives ? ends : arrives;
}

static int virtual_step(heddle_runtime *rt, double until, double *time)
{
	const struct hd_virtual *v = rt->engine_state.virtual_;
	*time = next_time(rt);
	if (*time > until || isinf(*time) || rt->count.calling || rt->count.expanding)
		return 0;
	if (v->expanding.first)
		expand(rt);
	else
		advance(rt);
	return 1;
}

/* Waits until the waiter's condition is true. Waiting threads of the program advance the clock, one thread at a time,
 * but not while another thread runs a callback, because no virtual time passes in callbacks. If the clock cannot
 * advance and another thread may act, the thread checks again after NAP_US of real time. */
static int virtual_wait(heddle_runtime *rt, struct hd_waiter *waiter)
{
	static const double NAP_US = 200;
	enum { LOOK = 1024 }; /* events between two calls of on_wait */
	const struct hd_virtual *v = rt->engine_state.virtual_;
	for (unsigned step = 1; !waiter->done(rt, waiter->arg); step++) {
		if (step % LOOK == 0 && hd_wait_interrupted(rt, waiter))
			return HEDDLE_E_INTERRUPTED;
		if (hd_submitted_unseen(rt)) {
			hd_drain_all(rt);
			hd_core_settle(rt);
			continue;
		}
		if (v->expanding.first && !rt->count.calling && !rt->count.expanding) {
			expand(rt);
			continue;
		}
		if (!rt->count.calling && !rt->count.expanding && advance(rt))
			continue;
		/* If all tasks have ended, this is no deadlock: another thread is about to submit a task to the group
		 * for which this thread waits. Nor if a task waits for an event, which a thread may fulfill. */
		if (hd_live(rt) && !rt->count.detached && !hd_others_may_act(rt, waiter)) {
			if (!hd_unparked_return(rt))
				return hd_core_deadlock(rt);
			hd_core_settle(rt);
			continue;
		}
		hd_waiter_set_woken(waiter, 0);
		hd_revoke(rt);
		hd_core_leave(rt);
		hd_wakeup_wait(waiter->event, 0, NAP_US);
		hd_core_enter(rt);
		hd_core_clock(rt, virtual_now(rt));
	}
	return 0;
}

static void virtual_close(heddle_runtime *rt)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	if (!v)
		return;
	free(v->ends.events);
	free(v->streams);
	free(v->kernels);
	free(v->in);
	free(v->out);
	hd_close_routes(rt);
	free(v);
	rt->engine_state.virtual_ = NULL;
}

static int open_streams(heddle_runtime *rt, struct hd_virtual *v)
{
	v->streams = calloc(rt->n_workers, sizeof *v->streams);
	v->kernels = calloc(rt->n_slots, sizeof *v->kernels);
	if (!v->streams || !v->kernels)
		return HEDDLE_E_MEMORY;
	struct hd_kernel *next = v->kernels;
	for (size_t i = 0; i < rt->n_workers; i++) {
		struct hd_worker *w = &rt->workers[i];
		v->streams[i] = (struct hd_streams){
		    .worker = w, .clock = {.class_ = &rt->platform->classes[w->class_id]}, .kernels = next};
		next += w->n_slots;
	}
	return 0;
}

static int virtual_open(heddle_runtime *rt)
{
	struct hd_virtual *v = calloc(1, sizeof *v);
	if (!v)
		return hd_no_memory("the virtual engine");
	rt->engine_state.virtual_ = v;
	v->max_ends = rt->n_workers + 1;
	v->ends.events = calloc(v->max_ends, sizeof *v->ends.events);
	v->in = calloc(rt->n_nodes, sizeof *v->in);
	v->out = calloc(rt->n_nodes, sizeof *v->out);
	if (!v->ends.events || !v->in || !v->out || open_streams(rt, v))
		return hd_no_memory("the virtual engine");
	if (hd_open_routes(rt, v))
		return HEDDLE_E_MEMORY;
	/* the noise must not have the same random numbers as the policy */
	hd_rng_seed(&v->rng, rt->config.seed ^ 0x6e6f697365);
	hd_core_enter(rt);
	/* backwards, so that worker 0 is the first in the hungry list, which is last in, first out */
	for (size_t i = rt->n_workers; i-- > 0;) {
		hd_worker_enter(&rt->workers[i], HD_AWAKE);
		hd_core_hungry(&rt->workers[i]);
	}
	hd_core_leave(rt);
	return 0;
}

const struct hd_engine hd_engine_virtual = {
    .name = "virtual",
    .times_are_given = 1,
    .virtual_time = 1,
    .open = virtual_open,
    .close = virtual_close,
    .now = virtual_now,
    .transfer = hd_virtual_transfer,
    .worker_ready = virtual_worker_ready,
    .fulfill_at = virtual_fulfill_at,
    .step = virtual_step,
    .wait = virtual_wait,
};
