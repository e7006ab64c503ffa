/* Threads of the program that wait: they sleep until their condition is true. With the setting caller_works, one of
 * them runs the tasks of worker 0 meanwhile. */
#include "threads.h"

/* Runs the tasks that worker 0 still holds when its thread stops waiting: no other worker would run them. */
static void run_what_is_left(heddle_runtime *rt, struct hd_worker *w)
{
	while (w->in_flight) {
		if (w->slots[0].stream) {
			hd_core_leave(rt);
			if (!hd_device_step(w, 0))
				hd_event_wait(&w->wake, 0, -1);
			hd_core_enter(rt);
			continue;
		}
		/* Relaxed, pairs with nothing: the lock is held. */
		int any = atomic_load_explicit(&w->seat->given, memory_order_relaxed) || hd_worker_give(w);
		hd_core_leave(rt);
		if (any)
			hd_worker_run(w);
		else
			hd_event_wait(&w->wake, 0, -1);
		hd_core_enter(rt);
		hd_core_clock(rt, hd_threads_now(rt));
		hd_worker_give_back(w);
		hd_drain(rt);
		hd_core_settle(rt);
	}
}

/* Worker 0 has found nothing to do for long: its thread looks for a deadlock, then sleeps. */
static int sleep_or_give_up(heddle_runtime *rt, struct hd_waiter *waiter, double timeout_us)
{
	if (hd_core_stuck(rt, waiter) && !waiter->done(rt, waiter->arg))
		return hd_core_deadlock(rt);
	uint64_t before = rt->count.ended;
	hd_core_leave(rt);
	int woken = hd_event_wait(waiter->event, 0, timeout_us);
	hd_core_enter(rt);
	hd_core_clock(rt, hd_threads_now(rt));
	if (!woken && before == rt->count.ended)
		hd_report_hang(rt);
	return 0;
}

/* Wakes the other waiting threads: one of them takes over worker 0. */
static void wake_others(heddle_runtime *rt, const struct hd_worker *w)
{
	for (struct hd_waiter *other = rt->waits.waiters; other; other = other->next)
		if (other->event != &w->wake)
			hd_core_wake(rt, other->event);
}

/* Leaves the lock and runs the tasks of worker 0. Returns 1, with the lock, when the waiter was woken, and 0, without,
 * when the worker has found nothing to do for long. `may_sleep`: it may then sleep and go on, as long as something else
 * moves. */
static int work(heddle_runtime *rt, const struct hd_waiter *waiter, int may_sleep)
{
	struct hd_worker *w = &rt->workers[0];
	int served = !w->slots[0].stream;
	if (served) {
		w->seat->tired = 0;
		hd_worker_exchange_here(w);
	}
	hd_core_leave(rt);
	while (!hd_worker_turns(w, &waiter->woken, served)) {
		if (!may_sleep || !w->seat->moves)
			return 0;
		hd_event_wait(&w->wake, 0, -1);
		served = 0;
	}
	return 1;
}

/* Runs the tasks of worker 0 until the waiter's condition is true. */
static int wait_working(heddle_runtime *rt, struct hd_waiter *waiter, double timeout_us)
{
	struct hd_worker *w = &rt->workers[0];
	struct hd_threads *th = rt->engine_state.threads;
	struct hd_inside here = {.rt = rt, .what = HD_INSIDE_WORKER, .worker = w};
	int status = 0;
	hd_inside_enter(&here);
	th->caller = waiter;
	hd_worker_enter(w, HD_AWAKE);
	waiter->event = &w->wake;
	while (!status && !waiter->done(rt, waiter->arg)) {
		/* the condition may have been true before another thread submitted a task */
		hd_waiter_set_woken(waiter, 0);
		if (work(rt, waiter, timeout_us < 0))
			continue;
		hd_core_enter(rt);
		if (!waiter->done(rt, waiter->arg))
			status = sleep_or_give_up(rt, waiter, timeout_us);
	}
	hd_core_not_hungry(w);
	hd_worker_enter(w, HD_LEAVING);
	if (!status)
		run_what_is_left(rt, w);
	/* Relaxed, pairs with nothing: the lock is held. Another worker may have taken all of it over. */
	atomic_store_explicit(&w->seat->given, 0, memory_order_relaxed);
	hd_worker_enter(w, HD_AWAY);
	hd_gate_worker_begins(rt); /* it does not look into the ring any more */
	th->caller = NULL;
	hd_inside_leave(&here);
	wake_others(rt, w);
	return status;
}

static int wait_sleeping(heddle_runtime *rt, struct hd_waiter *waiter, double timeout_us)
{
	while (!waiter->done(rt, waiter->arg)) {
		if (rt->config.caller_works && !rt->engine_state.threads->caller)
			return wait_working(rt, waiter, timeout_us);
		if (hd_core_stuck(rt, waiter) && !waiter->done(rt, waiter->arg))
			return hd_core_deadlock(rt);
		uint64_t before = rt->count.ended;
		hd_waiter_set_woken(waiter, 0);
		hd_revoke(rt);
		hd_core_leave(rt);
		int woken = hd_event_wait(waiter->event, 5, timeout_us);
		hd_core_enter(rt);
		if (!woken && before == rt->count.ended)
			hd_report_hang(rt);
	}
	return 0;
}

int hd_threads_wait(heddle_runtime *rt, struct hd_waiter *waiter)
{
	double timeout_us = rt->config.watchdog ? rt->config.watchdog * 1e6 : -1;
	return wait_sleeping(rt, waiter, timeout_us);
}
