/* Workers. Each has a thread that runs the worker's tasks and gets new tasks from the core: combine.c.
 *
 * A worker without tasks is in the hungry list, and its thread polls the worker's event. A thread that finds tasks for
 * the worker begins them on behalf of the worker, and sets the event (hd_worker_give). So idle workers need not take
 * the core lock to ask for tasks. One idle worker, the lookout, also checks every LOOKOUT_US whether tasks were
 * submitted. A worker that was idle for IDLE_US closes the gate and falls asleep, both under the core lock: the thread
 * that submits the next task must then take the lock, and finds the worker in the hungry list. The worker leaves the
 * gate open if other sleeping workers can run the same tasks and another thread looks into the ring for them (inlet.c).
 * If more workers are awake than the machine can run at once, a worker that finds nothing sleeps at once. */
#define _GNU_SOURCE
#include "bursts.h"
#include "team.h"
#include "threads.h"
#include "flow/errands.h"
#include "flow/inlet.h"
#include "flow/kernel_call.h"
#include "flow/wait.h"
#include "graph/chains.h"
#include "machine/machine.h"
#include "state/call_context.h"
#include "state/core_lock.h"

static const double IDLE_US = 40;    /* us that an idle worker polls before it sleeps */
static const double LOOKOUT_US = 1;  /* us between two checks of the lookout for submitted tasks */
static const double LOOK_US = 5;     /* us between two looks of look_around into the ring, while workers have tasks */
static const double OVERDUE_US = 16; /* us after which another worker may rescue a burst */

void hd_worker_give_back(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	struct hd_seat *seat = w->seat;
	unsigned n = seat->n_ended;
	seat->n_ended = 0;
	hd_burst_end(w);
	if (!n)
		return;
	/* a task that submits its sub-graph has run no kernel, and is alone in its burst */
	int expands = w->burst[0]->special & HD_TASK_EXPANDS;
	/* prefetches for all tasks of the burst before the first one ends, so that the cache misses overlap */
	for (unsigned i = 0; i < n && !expands; i++)
		hd_chain_fetch_successors(w->burst[i]);
	for (unsigned i = 0; i < n; i++) {
		const struct hd_ended *e = &seat->ended[i];
		if (HD_LIKELY(!(w->burst[i]->special & HD_TASK_EXPANDS)))
			hd_note_length(w->burst[i]->codelet, e->ran.own);
		hd_core_finish(&w->slots[0], w->burst[i], e->status, &e->ran);
	}
	double us = seat->ended[n - 1].ran.end - seat->ended[0].ran.start;
	if (HD_LIKELY(!expands))
		hd_note_mean(rt, n > 1 ? us / n : us);
}

/* Limit in us on the expected duration of a burst. Bursts have one task if the policy has a `started`, which must be
 * called when each kernel begins. */
static double burst_limit(const heddle_runtime *rt)
{
	return rt->sched.policy->started ? 0 : rt->count.reacting ? HD_BURST_US : HD_LONG_BURST_US;
}

int hd_worker_give(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	heddle_task *t = hd_core_take(w);
	if (!t)
		return 0;
	hd_burst_begin(w, t, rt->now);
	if (w->staged.first)
		hd_burst_extend(w, burst_limit(rt), rt->now);
	/* pairs: the load in given */
	atomic_store_explicit(&w->seat->given, w->burst_size, memory_order_release);
	if (HD_UNLIKELY(rt->inlet.step))
		hd_gate_worker_begins(rt);
	return 1;
}

/* The number of tasks that the worker's thread must run next. */
static unsigned given(const struct hd_worker *w)
{
	/* pairs: the store in hd_worker_give */
	return atomic_load_explicit(&w->seat->given, memory_order_acquire);
}

void hd_worker_put_back(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	/* a policy with `started` must not be told twice that a task has begun */
	if (!given(w) || rt->sched.policy->started)
		return;
	hd_burst_take_back(w);
	/* Relaxed, pairs with nothing: only this thread and threads with the core lock read it. */
	atomic_store_explicit(&w->seat->given, 0, memory_order_relaxed);
}

void hd_worker_take_back(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	hd_burst_take_back(w);
	/* An awake worker needs no wake-up: its thread checks this before it sleeps. */
	if (HD_UNLIKELY(hd_team_polls(w)) && (w->state == HD_OFF || w->state == HD_SPINNING))
		hd_core_wake(w->rt, &w->wake);
}

void hd_worker_run(struct hd_worker *w)
{
	const heddle_runtime *rt = w->rt;
	struct hd_seat *seat = w->seat;
	unsigned n = given(w);
	/* Relaxed, pairs with nothing: no other thread reads `given` before the worker is served. */
	atomic_store_explicit(&seat->given, 0, memory_order_relaxed);
	double now = hd_threads_now(rt);
	while (seat->n_ended < n && hd_burst_claim(w, seat->n_ended)) {
		double start = now;
		int status = hd_run_kernel(w, w->burst[seat->n_ended]);
		now = hd_threads_now(rt);
		/* If the kernel has waited, its task is now the first and only one of the burst: waiting.c. */
		struct hd_ended *e = &seat->ended[seat->n_ended++];
		e->status = status;
		e->ran = (struct hd_span){start, now, now - start - seat->waited};
		seat->waited = 0;
	}
}

/* Called whenever a worker is served. While all workers have enough tasks, no idle worker would notice urgent tasks in
 * the ring, or tasks that wait behind a long task on another worker. Therefore one of the served workers drains the
 * ring every LOOK_US, and looks for tasks to rescue every OVERDUE_US. */
static void look_around(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	if (HD_LIKELY(rt->now - rt->inlet.looked < LOOK_US))
		return;
	rt->inlet.looked = rt->now;
	hd_drain(rt);
	struct hd_threads *th = rt->engine_state.threads;
	if (rt->now - th->rescued < OVERDUE_US)
		return;
	th->rescued = rt->now;
	hd_bursts_rescue(w, OVERDUE_US);
}

/* Closes the gate. Returns whether the ring had a task that was not yet in the graph. */
static int sees_news(heddle_runtime *rt)
{
	hd_revoke(rt);
	return hd_drain(rt) || hd_submitted_unseen(rt);
}

/* Called when the worker's pipeline is 0: puts the worker into the state HD_OFF, in which it gets no tasks, sleeps
 * until its pipeline is restored, and does not look into the ring. */
static void switch_off(struct hd_worker *w, struct hd_seat *seat)
{
	heddle_runtime *rt = w->rt;
	hd_worker_enter(w, HD_OFF);
	seat->may_sleep = 1;
	seat->hushes = hd_worker_is_out(w) && hd_team_polls(w);
	if (hd_drain(rt))
		hd_core_settle_quietly(rt);
	hd_gate_worker_begins(rt);
	seat->moves = !hd_core_still(rt);
	hd_wake_if_still(rt, &w->wake);
}

/* Called when the worker has found nothing to do. The worker will poll its event; if it is tired, it will sleep, unless
 * there may soon be tasks to rescue. */
static void rest(struct hd_worker *w, struct hd_seat *seat)
{
	heddle_runtime *rt = w->rt;
	if (HD_UNLIKELY(!w->pipeline)) {
		switch_off(w, seat);
		return;
	}
	hd_worker_enter(w, HD_SPINNING);
	seat->drained = rt->inlet.head;
	/* On a crowded machine a polling worker would keep other threads from running. */
	if (!seat->tired && HD_LIKELY(!hd_is_crowded(rt, rt->count.asleep)))
		return;
	if (!hd_bursts_rescue(w, OVERDUE_US)) {
		if (hd_gate_others_look(w) || !sees_news(rt)) {
			hd_worker_enter(w, HD_SLEEPING);
			seat->may_sleep = 1;
			seat->moves = !hd_core_still(rt);
			hd_wake_if_still(rt, &w->wake);
			return;
		}
		hd_core_refill(w);
	}
	if (hd_worker_give(w))
		hd_worker_enter(w, HD_AWAKE);
}

/* Whether the wait during which the thread runs the worker's tasks is over, so that the worker must get no more
 * tasks. */
static int is_leaving(const struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	const struct hd_waiter *waiter = w->seat->waiter;
	if (HD_LIKELY(!waiter))
		return 0;
	/* Relaxed, pairs with nothing: the lock is held. */
	return atomic_load_explicit(&waiter->woken, memory_order_relaxed) ||
	       (rt->waits.news && waiter->done(rt, waiter->arg));
}

void hd_worker_serve(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	struct hd_seat *seat = w->seat;
	if (given(w))
		return; /* the worker has got tasks after its request */
	seat->may_sleep = 0;
	seat->hushes = 0;
	if (seat->n_ended)
		hd_worker_give_back(w);
	else
		hd_core_clock(rt, hd_threads_now(rt));
	if (HD_UNLIKELY(w->state != HD_AWAKE))
		hd_worker_enter(w, HD_AWAKE);
	if (HD_UNLIKELY(is_leaving(w))) {
		hd_core_settle_quietly(rt);
		return;
	}
	look_around(w);
	hd_core_refill(w);
	if (!hd_worker_give(w))
		rest(w, seat);
}

/* Gives the workers in the list errands.starting their staged tasks. */
void hd_threads_start(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	while (rt->errands.starting) {
		struct hd_worker *w = rt->errands.starting;
		rt->errands.starting = w->next_starting;
		w->starting = 0;
		if (hd_worker_is_idle(w) && hd_worker_give(w)) {
			hd_worker_enter(w, HD_AWAKE);
			hd_core_wake(rt, &w->wake);
		}
	}
}

void hd_threads_worker_ready(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	if (HD_LIKELY(w->state == HD_AWAKE)) /* the worker's thread looks for tasks itself before it waits */
		return;
	if (w->state == HD_LEAVING || w->slots[0].stream)
		hd_core_wake(rt, &w->wake);
	if (w->slots[0].stream)
		return;
	if (!hd_worker_is_idle(w) || w->starting)
		return;
	w->starting = 1;
	w->next_starting = rt->errands.starting;
	rt->errands.starting = w;
}

/* Whether the worker is the lookout. Makes it the lookout if there is none. */
static int is_lookout(const struct hd_worker *w)
{
	_Atomic unsigned *lookout = &w->rt->engine_state.threads->lookout;
	unsigned nobody = 0, id = w->id + 1;
	/* Relaxed, pairs with nothing: see the field. */
	return atomic_load_explicit(lookout, memory_order_relaxed) == id ||
	       atomic_compare_exchange_strong_explicit(lookout, &nobody, id, memory_order_relaxed,
	                                               memory_order_relaxed);
}

static void leave_lookout(const struct hd_worker *w)
{
	_Atomic unsigned *lookout = &w->rt->engine_state.threads->lookout;
	/* Relaxed, pairs with nothing: see the field. Only this thread makes its worker the lookout, and only the
	 * lookout resigns. */
	if (atomic_load_explicit(lookout, memory_order_relaxed) == w->id + 1)
		atomic_store_explicit(lookout, 0, memory_order_relaxed);
}

/* Whether tasks were submitted since the worker was served. */
static int is_news(const struct hd_worker *w)
{
	/* Relaxed, pairs with nothing: only a hint; tasks are taken from the ring under the core lock. */
	return atomic_load_explicit(&w->rt->ring.tail, memory_order_relaxed) != w->seat->drained;
}

/* Polls the worker's event until it is set, or, if the worker is the lookout, until a task was submitted. Returns 0 if
 * the worker has been idle for IDLE_US since `since`, in us. */
static int linger(struct hd_worker *w, double since)
{
	double looked = hd_clock_us();
	while (!hd_wakeup_poll(&w->wake)) {
		hd_cpu_relax();
		double now = hd_clock_us();
		if (now - since > IDLE_US)
			return 0;
		if (now - looked < LOOKOUT_US)
			continue;
		if (is_lookout(w) && is_news(w))
			return 1;
		looked = now;
	}
	leave_lookout(w);
	return 1;
}

/* Implements hd_worker_turns for a worker whose kernels run in its thread. Returns whether the thread holds the core
 * lock. */
static int take_turns(struct hd_worker *w, const _Atomic int *over, int served)
{
	struct hd_seat *seat = w->seat;
	double idle_since = 0;
	seat->tired = 0;
	while (seat->n_ended || !hd_is_over(over)) {
		if (!served && !given(w) && hd_worker_exchange(w, over))
			return 1;
		served = 0;
		if (hd_is_over(over))
			break;
		/* `given` is read after the event was consumed: the thread that has served the worker and the thread
		 * that has given it tasks may both have set the event, which is consumed once. */
		if (given(w)) {
			if (HD_UNLIKELY(idle_since > 0))
				leave_lookout(w);
			idle_since = 0;
			seat->tired = 0;
			hd_worker_run(w);
		} else if (seat->may_sleep) {
			if (HD_UNLIKELY(seat->hushes))
				hd_team_hush(w);
			break;
		} else {
			/* A tired worker that may not sleep begins a new idle time: there are tasks, though not for
			 * this worker. */
			idle_since = idle_since > 0 && !seat->tired ? idle_since : hd_clock_us();
			seat->tired = !linger(w, idle_since);
		}
	}
	return 0;
}

int hd_worker_turns(struct hd_worker *w, const _Atomic int *over, int served)
{
	int entered = 0;
	if (w->slots[0].stream)
		hd_device_turns(w, over);
	else
		entered = take_turns(w, over, served);
	leave_lookout(w);
	if (!entered && hd_is_over(over)) {
		hd_core_enter(w->rt);
		entered = 1;
	}
	return entered;
}

/* --- The worker's thread ------------------------------------------------------------------------------------------ */

static void count_one(heddle_runtime *rt, size_t *counter)
{
	HD_HELD(&rt->lock);
	++*counter;
	hd_core_wake(rt, &rt->engine_state.threads->counted);
}

void *hd_worker_main(void *arg)
{
	struct hd_worker *w = arg;
	heddle_runtime *rt = w->rt;
	struct hd_threads *th = rt->engine_state.threads;
	int core = rt->platform->workers[w->id].core;
	if (rt->config.bind && core >= 0)
		hd_topology_bind(rt->topology, core);
	struct hd_inside here = {.rt = rt, .what = HD_INSIDE_WORKER, .worker = w};
	/* all code of the program in this thread runs in a kernel or a callback, which must not wait as the program
	 * does */
	hd_inside_enter(&here);
	hd_device_open(w);
	hd_core_enter(rt);
	count_one(rt, &th->n_seated);
	while (!th->all_open && !rt->stopping) {
		hd_core_leave(rt);
		hd_wakeup_wait(&w->wake, 0, -1);
		hd_core_enter(rt);
	}
	if (th->all_open) {
		hd_core_leave(rt);
		hd_ask_direct_copies(w);
		hd_core_enter(rt);
	}
	count_one(rt, &th->n_asked);
	hd_core_leave(rt);
	while (!hd_worker_turns(w, &rt->stopping, 0))
		hd_wakeup_wait(&w->wake, 0, -1);
	count_one(rt, &th->n_done);
	while (!th->closing) { /* the device stays open until its memory has been freed */
		hd_core_leave(rt);
		hd_wakeup_wait(&w->wake, 0, -1);
		hd_core_enter(rt);
	}
	hd_core_leave(rt);
	hd_device_close(w);
	hd_inside_leave(&here);
	return NULL;
}
