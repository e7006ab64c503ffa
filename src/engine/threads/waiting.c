/* Threads of the program that wait: they sleep until their condition is true. With the setting caller_works, one of
 * them runs the tasks of worker 0 meanwhile. */
#include "threads.h"

/* Runs the tasks that worker 0 still holds when its thread stops waiting: they are staged there, and no other worker
 * would run them. */
static void run_what_is_left(heddle_runtime *rt, struct hd_worker *w)
{
	while (w->in_flight) {
		heddle_task *t = hd_core_take(w);
		if (t) {
			hd_worker_run(w, t);
			hd_drain(rt);
			hd_core_settle(rt);
			continue;
		}
		hd_core_leave(rt);
		hd_event_wait(&w->wake, 0, -1);
		hd_core_enter(rt);
	}
}

/* Runs the tasks of worker 0 until the waiter's condition is true. */
static int wait_working(heddle_runtime *rt, struct hd_waiter *waiter, double timeout_us)
{
	struct hd_worker *w = &rt->workers[0];
	struct hd_threads *th = rt->engine_state.threads;
	int status = 0, outer = hd_inside_enter();
	th->caller_busy = 1;
	hd_worker_enter(w, HD_AWAKE);
	waiter->event = &w->wake;
	while (!waiter->done(rt, waiter->arg)) {
		uint64_t before = rt->count.ended;
		waiter->woken = 0; /* the condition may have been true before another thread submitted a task */
		int woken = hd_worker_step(w, timeout_us);
		/* Tasks that a kernel submitted enter the graph before the condition is checked, and other workers are
		 * given the tasks that have become ready. */
		hd_drain(rt);
		hd_core_settle(rt);
		if (w->state == HD_DROWSY && hd_core_stuck(rt, waiter) && !waiter->done(rt, waiter->arg)) {
			status = hd_core_deadlock(rt);
			break;
		}
		if (!woken && before == rt->count.ended)
			hd_report_hang(rt);
	}
	hd_core_not_hungry(w);
	hd_worker_enter(w, HD_LEAVING);
	if (!status)
		run_what_is_left(rt, w);
	hd_worker_enter(w, HD_AWAY);
	th->caller_busy = 0;
	hd_inside_leave(outer);
	hd_wake_blocked(rt, w); /* another waiting thread takes over worker 0 */
	return status;
}

static int wait_sleeping(heddle_runtime *rt, struct hd_waiter *waiter, double timeout_us)
{
	while (!waiter->done(rt, waiter->arg)) {
		if (rt->config.caller_works && !rt->engine_state.threads->caller_busy)
			return wait_working(rt, waiter, timeout_us);
		if (hd_core_stuck(rt, waiter) && !waiter->done(rt, waiter->arg))
			return hd_core_deadlock(rt);
		uint64_t before = rt->count.ended;
		waiter->woken = 0;
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
