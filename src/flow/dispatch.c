/* Dispatch: the policy is told of ready tasks, and asked for tasks for each worker that can hold another task. A task
 * that the policy gives to a worker is staged, begun and ended on this worker. Everything runs under the core lock.
 *
 *   tell_policy (policy.ready) ──► fill: ask_policy (policy.pick) ──► assign: hd_stage ──► staged
 *   ──► hd_core_take, hd_core_begin, the kernel, hd_core_finish ──► hd_core_conclude ──► hd_core_end in task_life.c
 *
 * A task that ends by events waits for them between hd_core_finish and hd_core_conclude: event.c. */
#include "dispatch.h"
#include <stdlib.h>
#include "aside.h"
#include "ask.h"
#include "codelet.h"
#include "control.h"
#include "errands.h"
#include "event.h"
#include "expand.h"
#include "inlet.h"
#include "lost_device.h"
#include "pick.h"
#include "policy_host.h"
#include "task_life.h"
#include "wait.h"
#include "worker_set.h"
#include "graph/layout.h"
#include "graph/scratch_redux.h"
#include "memory/allocation.h"
#include "memory/coherency.h"
#include "perf/perf.h"
#include "record/record.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/engine.h"
#include "state/memory.h"

/* --- Slots -------------------------------------------------------------------------------------------------------- */

struct hd_slot *hd_task_slot(heddle_runtime *rt, const heddle_task *t)
{
	HD_HELD(&rt->lock);
	return t->extra && t->extra->slot ? &rt->workers[t->worker].slots[t->extra->slot - 1] : NULL;
}

static inline int has_free_slot(const struct hd_worker *w)
{
	unsigned i = 0;
	while (HD_UNLIKELY(w->slots[i].task != NULL))
		if (++i == w->n_slots)
			return 0;
	return 1;
}

/* The slot with the fewest bound tasks. If `free_only`, only free slots are considered; NULL: no slot is free. */
static struct hd_slot *choose_slot(const struct hd_worker *w, int free_only)
{
	struct hd_slot *best = NULL;
	for (unsigned i = 0; i < w->n_slots; i++) {
		struct hd_slot *s = &w->slots[i];
		if ((!free_only || !s->task) && (!best || s->n_bound < best->n_bound))
			best = s;
	}
	return best;
}

/* Gives a picked task private copies for its SCRATCH and REDUX accesses, and binds the task to the slot to which these
 * copies belong. HEDDLE_E_MEMORY. */
static int attach_privates(struct hd_worker *w, heddle_task *t)
{
	struct hd_slot *slot = choose_slot(w, 0);
	if (w->n_slots > 1) {
		struct hd_task_extra *extra = hd_task_extra(t);
		if (!extra)
			return hd_no_memory("a task with private copies");
		extra->slot = slot->index + 1;
		slot->n_bound++;
	}
	return hd_private_attach(t, w->id, slot->index);
}

static void unbind(heddle_runtime *rt, const heddle_task *t)
{
	if (HD_LIKELY(!t->extra) || !t->extra->slot)
		return;
	hd_task_slot(rt, t)->n_bound--;
	t->extra->slot = 0;
}

/* --- From picked to ended: the life of a task on a worker --------------------------------------------------------- */

/* All data of a picked task have arrived: puts the task into the queue of its worker. */
static inline void staged(struct hd_worker *w, heddle_task *t)
{
	heddle_runtime *rt = w->rt;
	hd_set_state(t, HD_STAGED);
	hd_queue_push(&w->staged, t);
	rt->count.staged++;
	/* An awake thread looks for tasks itself before it waits. But the thread of an accelerator counts as asleep
	 * while kernels run, and must be told: it may now hold enough tasks not to count as asleep any more
	 * (HD_ATTENDING). */
	if (HD_LIKELY(w->state == HD_AWAKE && rt->engine->runs_kernels))
		return;
	if (has_free_slot(w) || hd_worker_is_asleep(w))
		rt->engine->worker_ready(w);
}

/* Called when a picked task cannot be staged on its worker, because its data cannot be brought there or the worker is
 * lost or retired: ends the task, or returns it to the policy. */
static void drop_picked(heddle_runtime *rt, heddle_task *t, int status)
{
	struct hd_worker *w = &rt->workers[t->worker];
	unbind(rt, t);
	w->in_flight--;
	w->backlog -= t->link.u.key;
	hd_worker_moved(w);
	if (HD_UNLIKELY(hd_worker_is_out(w)) || (!status && HD_UNLIKELY(hd_is_too_shallow(w, t)))) {
		if (w->state == HD_LEAVING) /* the thread waits in workers.c until the worker holds no task */
			hd_core_wake(rt, &w->wake);
		hd_give_back(t, 0);
		return;
	}
	hd_stage_end(t, w->node);
	if (rt->sched.policy->done && hd_sched_knows(&rt->sched, t)) /* the policy may count the tasks of each worker */
		rt->sched.policy->done(rt->sched.state, t, hd_given_to(t));
	hd_core_end(rt, t, status);
	if (w->in_flight < w->pipeline) {
		hd_core_hungry(w);
		rt->engine->worker_ready(w);
	}
}

void hd_core_stage_expansion(struct hd_worker *w, heddle_task *t)
{
	HD_HELD(&w->rt->lock);
	w->held_us = 0;
	w->waits_since = w->rt->now;
	if (++w->in_flight >= w->pipeline)
		hd_core_not_hungry(w);
	staged(w, t);
}

void hd_core_staged(heddle_runtime *rt, heddle_task *t, int status)
{
	HD_HELD(&rt->lock);
	if (!t->codelet)
		hd_control_staged(rt, t, status);
	else if (HD_UNLIKELY(status || t->cancelled) || HD_UNLIKELY(hd_worker_is_out(&rt->workers[t->worker])) ||
	         hd_is_too_shallow(&rt->workers[t->worker], t))
		drop_picked(rt, t, status);
	else
		staged(&rt->workers[t->worker], t);
}

void hd_core_restage(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	/* the node for gathering the pieces is chosen again, because pieces may have been evicted from the previous
	 * choice */
	if (HD_UNLIKELY(t->kind == HD_TASK_UNPARTITION))
		t->to_node = hd_layout_node(t);
	unsigned node = hd_task_node(rt, t);
	int status = HD_LIKELY(!rt->memories[node].lost) ? hd_stage(t, node) : HEDDLE_E_DEVICE;
	if (status != HEDDLE_PENDING)
		hd_core_staged(rt, t, status);
}

/* Stages a picked task that may need transfers or private copies; drops a task that has failed. */
static __attribute__((noinline)) void bring_data(struct hd_worker *w, heddle_task *t)
{
	heddle_runtime *rt = w->rt;
	int status = t->status;
	if ((t->special & HD_TASK_PRIVATE) && !status)
		status = attach_privates(w, t);
	if (!status)
		status = hd_stage(t, w->node);
	else if (!t->cancelled)
		hd_task_message(t, heddle_last_error());
	if (HD_LIKELY(!status))
		staged(w, t);
	else if (status != HEDDLE_PENDING)
		drop_picked(rt, t, status);
}

/* Assigns task `t`, which the policy has picked, to worker `w`. */
static inline void assign(struct hd_worker *w, heddle_task *t)
{
	heddle_runtime *rt = w->rt;
	double predicted = hd_perf_time(t->perf, w->class_id);
	rt->count.ready--;
	t->worker = w->id;
	t->picked = rt->now;
	t->link.u.key = predicted > 0 ? predicted : 0; /* NAN, an unknown time, becomes 0 */
	w->backlog += t->link.u.key;
	hd_worker_moved(w);
	if (!w->in_flight++) {
		w->held_us = 0;
		w->waits_since = rt->now;
	}
	w->held_us += hd_core_expected(t);
	hd_set_state(t, HD_PICKED);
	if (HD_UNLIKELY(rt->adapt.count != NULL))
		rt->adapt.count(rt, t, -1);
	if (HD_LIKELY(!t->status && hd_is_settled(t, rt->dispatch.n_lost)))
		staged(w, t);
	else
		bring_data(w, t);
}

static inline heddle_task *ask_policy(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	heddle_runtime *rt = w->rt;
	return HD_UNLIKELY(rt->sched.special) ? hd_pick_specially(w)
	                                      : hd_picked(w, rt->sched.policy->pick(rt->sched.state, w->id));
}

/* Creates an instance of the policy after the previous one was destroyed because the set of workers has changed. If
 * this fails, the tasks of the batch fail. Returns whether there is an instance. */
static int revive_policy(heddle_runtime *rt)
{
	int status = hd_sched_revive(rt);
	for (size_t i = 0; status && i < rt->dispatch.n_batch; i++) {
		heddle_task *t = rt->dispatch.batch[i];
		if (HD_UNLIKELY(rt->adapt.count != NULL))
			rt->adapt.count(rt, t, -1);
		hd_task_message(t, heddle_last_error());
		t->status = status;
		hd_set_state(t, HD_WAITING);
		hd_queue_push(&rt->dispatch.controls, t);
	}
	if (status)
		rt->dispatch.n_batch = 0;
	return !status;
}

static void tell_policy(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	size_t n = rt->dispatch.n_batch;
	if (n == 0 || (HD_UNLIKELY(rt->sched.absent) && !revive_policy(rt)))
		return;
	if (HD_UNLIKELY(rt->outcome.first_ready < 0)) {
		rt->outcome.first_ready = rt->dispatch.batch[0]->ready;
		rt->outcome.driven.until_begin = hd_driven_until(&rt->outcome.driven, rt->outcome.first_ready);
	}
	rt->count.ready += n;
	/* the batch stays intact during the call: the policy may prefetch, but a prefetch makes no task ready */
	rt->dispatch.n_batch = 0;
	double began = hd_policy_begins(rt);
	rt->sched.policy->ready(rt->sched.state, rt->dispatch.batch, n, rt->dispatch.releaser);
	hd_policy_ends(rt, began);
	rt->count.batches++;
}

/* Whether the worker may take one more task into its burst: the tasks that it holds take less than HD_BURST_US
 * together. A burst of up to FEW tasks may take HD_LONG_BURST_US if its tasks are at most a quarter of the worker's
 * share of the ready tasks. Longer bursts enter the core less often, and each entry costs cache misses on lines that
 * other workers have written; meanwhile other workers have enough ready tasks, so it hardly matters that successors
 * become ready later. The count of ready tasks includes tasks for workers of other kinds, because the core has one
 * count for all. */
static int is_short(const struct hd_worker *w)
{
	enum { FEW = 8, PART = 4 };
	if (w->held_us < w->burst_us)
		return 1;
	double each = w->held_us / w->in_flight;
	return w->in_flight < FEW && w->burst_us > 0 && w->held_us + each < HD_LONG_BURST_US &&
	       w->rt->count.ready >= PART * (w->in_flight + 1) * hd_n_driven(w->rt);
}

/* Whether the worker may hold another task. Tasks beyond its pipeline run as a burst. Other threads see all tasks of a
 * burst end together. Therefore the worker takes a burst only while tasks are short, there are enough ready tasks for
 * all workers, and no thread can wait for one of these tasks in particular. */
static int can_hold_more(const struct hd_worker *w)
{
	const heddle_runtime *rt = w->rt;
	if (w->in_flight < w->pipeline)
		return rt->count.ready != 0;
	const heddle_task *last = w->staged.first ? w->staged.last : NULL;
	return last && w->in_flight < HD_MAX_BURST && rt->count.ready > hd_n_driven(rt) && is_short(w) &&
	       !rt->count.reacting && last->refs == 1 && !last->extra && !(last->special & HD_TASK_INSIDE);
}

static void fill(struct hd_worker *w)
{
	while (can_hold_more(w)) {
		heddle_task *t = ask_policy(w);
		if (!t)
			return;
		assign(w, t);
	}
}

/* Fills the worker that has just ended a task before other workers: its thread is awake, and the data of the tasks that
 * became ready are in its cache. If faster workers are hungry, does nothing: hd_ask_hungry asks for the faster workers
 * first. */
static void fill_ender(struct hd_worker *w)
{
	const struct hd_worker *first = w->rt->dispatch.hungry;
	if (HD_LIKELY(w->speed == 0) || !first || first->speed <= w->speed) {
		fill(w);
		if (w->hungry && w->in_flight >= w->pipeline)
			hd_ask_filled(w);
	}
}

static void feed(struct hd_worker *w)
{
	fill(w);
	if (w->in_flight >= w->pipeline)
		hd_core_not_hungry(w);
}

static void feed_all(heddle_runtime *rt)
{
	size_t n_aside;
	do {
		n_aside = rt->dispatch.n_aside;
		hd_ask_hungry(rt, feed);
	} while (HD_UNLIKELY(rt->dispatch.n_aside > n_aside)); /* workers asked before may take over these tasks */
}

int hd_core_admit_aside(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	struct hd_worker *w;
	heddle_task *t = hd_aside_at_rest(rt, &w);
	if (!t)
		return 0;
	rt->count.picks++;
	assign(w, t);
	if (w->in_flight >= w->pipeline)
		hd_core_not_hungry(w);
	return 1;
}

void hd_core_end_aside(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	for (size_t i = 0; i < rt->n_workers && rt->dispatch.n_aside; i++) {
		struct hd_worker *w = &rt->workers[i];
		struct hd_task_queue given_up = {0};
		hd_aside_take(w, 1, &given_up);
		while (given_up.first) {
			rt->count.picks++;
			assign(w, hd_queue_pop(&given_up)); /* assign ends the cancelled task */
		}
	}
}

void hd_core_run_controls(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	while (rt->dispatch.controls.first)
		hd_control_run(rt, hd_queue_pop(&rt->dispatch.controls));
}

static int is_unsettled(const heddle_runtime *rt)
{
	return rt->dispatch.controls.first || rt->dispatch.n_batch || (rt->dispatch.retry & HD_RETRY_MEMORY);
}

/* Retries to stage the tasks that waited for memory, and to give workers the tasks that wait to be expanded. `w` is
 * about to look for a task, and gets the first task to expand; NULL: no worker is looking. */
static __attribute__((noinline)) void retry(heddle_runtime *rt, struct hd_worker *w)
{
	if (rt->dispatch.retry & HD_RETRY_MEMORY)
		hd_memory_retry(rt);
	if (rt->dispatch.retry & HD_RETRY_EXPANSIONS)
		hd_expand_give(rt, w);
}

/* The ring is drained before waiting threads are woken: a thread that waits for all tasks must not miss a task that an
 * ended kernel has submitted. */
void hd_core_settle_quietly(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	struct hd_achieved before = {.given = UINT64_MAX};
	do {
		hd_core_run_controls(rt);
		if (HD_UNLIKELY(rt->dispatch.retry))
			retry(rt, NULL);
		if (HD_UNLIKELY(rt->adapt.drive != NULL))
			rt->adapt.drive(rt);
		tell_policy(rt);
		feed_all(rt);
	} while (is_unsettled(rt) || (hd_displaced_wanted(rt) && hd_displaced_return(rt, &before)) ||
	         (HD_UNLIKELY(rt->waits.news) && hd_drain(rt)));
	if (HD_UNLIKELY(rt->waits.news))
		hd_wake_waiters(rt);
}

void hd_core_call_back(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	while (HD_UNLIKELY(rt->dispatch.called.first != NULL) && hd_core_run_callbacks(rt))
		hd_core_settle_quietly(rt);
}

void hd_core_settle(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	hd_core_settle_quietly(rt);
	hd_core_call_back(rt);
}

void hd_core_refill(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	heddle_runtime *rt = w->rt;
	hd_core_run_controls(rt);
	if (HD_UNLIKELY(rt->dispatch.retry))
		retry(rt, w);
	if (HD_UNLIKELY(rt->adapt.drive != NULL))
		rt->adapt.drive(rt);
	tell_policy(rt);
	rt->dispatch.releaser = -1;
	fill_ender(w);
	if (w->in_flight < w->pipeline && !w->staged.first) {
		hd_drain(rt);
		if (HD_UNLIKELY(rt->dispatch.retry))
			retry(rt, w);
		tell_policy(rt);
		fill_ender(w);
	}
	if (w->in_flight < w->pipeline)
		hd_core_hungry(w);
	if (is_unsettled(rt) || hd_displaced_wanted(rt) || rt->waits.news || (rt->count.ready && rt->dispatch.hungry))
		hd_core_settle_quietly(rt);
}

/* The first staged task that may run on a free slot; *before is its predecessor in the queue, or NULL. */
static heddle_task *find_for_slot(struct hd_worker *w, heddle_task **before, struct hd_slot **slot)
{
	*before = NULL;
	if (HD_LIKELY(w->n_slots == 1)) {
		*slot = w->slots;
		return w->slots->task ? NULL : w->staged.first;
	}
	struct hd_slot *any = choose_slot(w, 1);
	for (heddle_task *t = any ? w->staged.first : NULL; t; *before = t, t = t->link.next) {
		*slot = hd_task_slot(w->rt, t);
		if (!*slot)
			*slot = any;
		if (!(*slot)->task)
			return t;
	}
	return NULL;
}

heddle_task *hd_core_take_for_slot(struct hd_worker *w, struct hd_slot **slot)
{
	HD_HELD(&w->rt->lock);
	heddle_task *before, *t = HD_LIKELY(w->pipeline) ? find_for_slot(w, &before, slot) : NULL;
	if (!t)
		return NULL;
	if (before)
		before->link.next = t->link.next;
	else
		w->staged.first = t->link.next;
	if (w->staged.last == t)
		w->staged.last = before;
	w->rt->count.staged--;
	return t;
}

/* The steps of hd_core_begin for a task whose data need staging, or whose codelet has several implementations. */
static __attribute__((noinline)) void prepare(const struct hd_worker *w, heddle_task *t)
{
	if (!(t->special & (HD_TASK_ONE_NODE | HD_TASK_EXPANDS)))
		hd_stage_begin(t);
	if (t->codelet->n_choices)
		hd_codelet_choose(t, w->class_id, (unsigned)w->rt->config.calibrate);
}

static __attribute__((noinline)) void tell_started(const struct hd_worker *w, heddle_task *t)
{
	heddle_runtime *rt = w->rt;
	if (!hd_sched_knows(&rt->sched, t))
		return;
	double began = hd_policy_begins(rt);
	rt->sched.policy->started(rt->sched.state, t, hd_given_to(t));
	hd_policy_ends(rt, began);
}

void hd_core_begin(struct hd_slot *slot, heddle_task *t, double now)
{
	struct hd_worker *w = slot->worker;
	HD_HELD(&w->rt->lock);
	heddle_runtime *rt = w->rt;
	if (HD_UNLIKELY(!(t->special & HD_TASK_ONE_NODE) || t->codelet->n_choices))
		prepare(w, t);
	hd_set_state(t, HD_RUNNING);
	if (now > w->waits_since)
		*(hd_worker_runs(w) ? &w->busy : &w->waited_for_data) += now - w->waits_since;
	w->waits_since = now;
	slot->task = t;
	slot->start = now;
	slot->predicted = t->link.u.key;
	w->backlog -= t->link.u.key;
	hd_worker_moved(w);
	rt->count.running++;
	if (rt->sched.policy->started)
		tell_started(w, t);
}

void hd_core_unbegin(struct hd_worker *w, heddle_task *t)
{
	HD_HELD(&w->rt->lock);
	hd_set_state(t, HD_STAGED);
	t->choice = 0;
	w->backlog += t->link.u.key;
	hd_worker_moved(w);
	w->rt->count.running--;
	w->rt->count.staged++;
	hd_queue_push_first(&w->staged, t);
}

static inline void conclude(struct hd_worker *w, heddle_task *t, double start, double end, double now)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	/* Not simply `now`: another worker may have taken the lock first and recorded a later end. */
	rt->last_end = now > rt->last_end ? now : rt->last_end;
	if (HD_UNLIKELY(rt->recorder != NULL))
		hd_record_task(rt->recorder, t, start, end, now);
	if (HD_UNLIKELY(!(t->special & HD_TASK_ONE_NODE)))
		hd_stage_end(t, w->node);
	rt->dispatch.releaser = (int)w->id;
	hd_core_end(rt, t, t->status);
}

void hd_core_conclude(heddle_task *t, double start, double end, double now)
{
	heddle_runtime *rt = t->codelet->rt;
	HD_HELD(&rt->lock);
	conclude(&rt->workers[t->worker], t, start, end, now);
}

/* The rest of hd_core_finish for a task with an `extra`, or for a worker that gets no more tasks. Returns 1 if the task
 * does not end now: its sub-graph was submitted, or its device is lost. */
static __attribute__((noinline)) int goes_on(struct hd_worker *w, heddle_task *t, int *status,
                                             const struct hd_span *ran)
{
	unbind(w->rt, t);
	if (!w->pipeline)
		hd_cores_left(w);
	if (t->special & HD_TASK_EXPANDS) {
		hd_expand_over(t, *status, ran);
		return 1;
	}
	if (w->lost)
		*status = hd_lost_returned(t, *status);
	return *status == HEDDLE_PENDING;
}

void hd_core_finish(struct hd_slot *slot, heddle_task *t, int status, const struct hd_span *ran)
{
	struct hd_worker *w = slot->worker;
	double start = ran->start, now = ran->end;
	HD_HELD(&w->rt->lock);
	heddle_runtime *rt = w->rt;
	hd_core_clock(rt, now);
	if (HD_UNLIKELY(status == HEDDLE_E_DEVICE))
		hd_core_lose(w, t->extra && t->extra->message ? t->extra->message : "");
	/* With several slots, the time before waits_since is already counted. */
	if (w->n_slots == 1)
		w->busy += now - start;
	else if (now > w->waits_since)
		w->busy += now - w->waits_since;
	w->waits_since = now;
	slot->task = NULL;
	hd_worker_moved(w);
	w->in_flight--;
	rt->count.running--;
	if (HD_UNLIKELY(t->extra || !w->pipeline) && goes_on(w, t, &status, ran))
		return;
	if (HD_LIKELY(!status)) {
		hd_perf_record(t->perf, w->class_id, ran->own);
		if (HD_UNLIKELY(t->choice))
			hd_codelet_record(t, w->class_id, ran->own);
	} else if (!t->status) {
		t->status = status;
	}
	if (rt->sched.policy->done && hd_sched_knows(&rt->sched, t)) {
		double began = hd_policy_begins(rt);
		rt->sched.policy->done(rt->sched.state, t, hd_given_to(t));
		hd_policy_ends(rt, began);
	}
	if (HD_UNLIKELY(t->extra && t->extra->detached))
		hd_event_await(t, start, now);
	else
		conclude(w, t, start, now, now);
}
