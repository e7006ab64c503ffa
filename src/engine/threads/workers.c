/* Workers. Each has a thread that runs its tasks and looks for more.
 *
 * A worker that finds no task is in the hungry list. It first spins for some microseconds and looks into the inbox
 * every LINGER_US, so that a stream of small tasks is taken in batches. If that was in vain SPIN_ROUNDS times, it
 * becomes drowsy and revokes the lease, both under the lock: the next task is then submitted with the lock, which finds
 * the worker in the hungry list. If it still finds no task, it sleeps on its event. A thread that gives it a task sets
 * the event after the task is in its `staged` queue, so no wake-up is lost. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "threads.h"
#include "bursts.h"

enum { SPIN_ROUNDS = 40 };           /* how often a worker spins, for LINGER_US each, before it sleeps */
static const double LINGER_US = 1;   /* between two looks for a task while a worker spins */
static const double LOOK_US = 5;     /* between two calls of look_around that do something, while workers have tasks */
static const double OVERDUE_US = 16; /* a burst that has run for so long is rescued by another worker */

/* Updates the typical time of the codelet if `us` differs much from it. Not for every task: each write would take the
 * cache line of the codelet away from other workers. */
static void note_length(heddle_codelet *c, double us)
{
	if (us > 1.5 * c->typical_us || us < c->typical_us / 1.5)
		c->typical_us = isinf(c->typical_us) ? us : c->typical_us + 0.25 * (us - c->typical_us);
}

void hd_worker_run(struct hd_worker *w, heddle_task *t)
{
	heddle_runtime *rt = w->rt;
	struct {
		int status;
		double end;
	} done[HD_MAX_BURST];
	double begin = hd_threads_now(rt);
	unsigned n = hd_burst_begin(w, t, rt->sched.policy->started ? 0 : HD_BURST_US, begin), ran = 0;
	hd_core_leave(rt);
	if (n > 1)
		begin = hd_threads_now(rt); /* the time to begin the burst must not count for its first task */
	do {
		done[ran].status = hd_run_kernel(w, w->burst[ran]);
		done[ran].end = hd_threads_now(rt);
	} while (++ran < n && hd_burst_claim(w, ran));
	hd_core_enter(rt);
	hd_burst_end(w);
	for (unsigned i = 0; i < ran; i++) {
		double start = i ? done[i - 1].end : begin;
		note_length(w->burst[i]->codelet, done[i].end - start);
		hd_core_finish(w, w->burst[i], done[i].status, start, done[i].end);
	}
	double mean = (done[ran - 1].end - begin) / ran;
	rt->inlet.mean_us = isinf(rt->inlet.mean_us) ? mean : rt->inlet.mean_us + 0.25 * (mean - rt->inlet.mean_us);
}

void hd_wake_blocked(heddle_runtime *rt, const struct hd_worker *except)
{
	HD_HELD(&rt->lock);
	for (struct hd_waiter *w = rt->waits.waiters; w; w = w->next)
		if (!except || w->event != &except->wake)
			hd_core_wake(rt, w->event);
}

/* Sleeps until the worker's event is set. Returns 0 when that did not happen within `timeout_us`. */
static int sleep_on_event(struct hd_worker *w, double timeout_us)
{
	heddle_runtime *rt = w->rt;
	hd_worker_enter(w, HD_SLEEPING);
	hd_core_leave(rt);
	int woken = hd_event_wait(&w->wake, 0, timeout_us);
	hd_core_enter(rt);
	hd_core_clock(rt, hd_threads_now(rt));
	hd_worker_enter(w, HD_AWAKE);
	w->idle_rounds = 0;
	return woken;
}

static void spin(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	hd_worker_enter(w, HD_SPINNING);
	hd_core_leave(rt);
	double start = hd_clock_us();
	while (!hd_event_poll(&w->wake) && hd_clock_us() - start < LINGER_US)
		hd_cpu_relax();
	hd_core_enter(rt);
	hd_core_clock(rt, hd_threads_now(rt));
	hd_worker_enter(w, HD_AWAKE);
	if (++w->idle_rounds < SPIN_ROUNDS)
		return;
	if (hd_bursts_rescue(w, OVERDUE_US)) {
		w->idle_rounds = 0;
		return;
	}
	hd_worker_enter(w, HD_DROWSY);
	hd_revoke(rt);
	if (rt->waits.waiters && hd_core_still(rt))
		hd_wake_blocked(rt, w); /* nothing moves any more: they must look for a deadlock */
}

/* Called before each step. While workers have enough tasks, none of them would see the tasks in the inbox, which may be
 * more urgent, nor tasks that wait behind a long one on another worker. So one worker looks into the inbox every
 * LOOK_US, and for tasks to rescue every OVERDUE_US. */
static void look_around(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	struct hd_threads *th = rt->engine_state.threads;
	if (HD_LIKELY(rt->now - th->looked < LOOK_US))
		return;
	th->looked = rt->now;
	hd_drain(rt);
	if (rt->now - th->rescued < OVERDUE_US)
		return;
	th->rescued = rt->now;
	hd_bursts_rescue(w, OVERDUE_US);
}

int hd_worker_step(struct hd_worker *w, double timeout_us)
{
	HD_HELD(&w->rt->lock);
	look_around(w);
	hd_core_refill(w);
	heddle_task *t = hd_core_take(w);
	if (!t && w->state == HD_DROWSY)
		return sleep_on_event(w, timeout_us);
	if (!t) {
		spin(w);
		return 1;
	}
	if (HD_UNLIKELY(w->state != HD_AWAKE))
		hd_worker_enter(w, HD_AWAKE);
	w->idle_rounds = 0;
	hd_worker_run(w, t);
	return 1;
}

/* --- Its thread --------------------------------------------------------------------------------------------------- */

void hd_device_open(struct hd_worker *w)
{
	const struct heddle_platform *p = w->rt->platform;
	struct hd_seat *seat = &w->rt->engine_state.threads->seats[w->id];
	hd_error(0, "%s", ""); /* a last error after open is then the driver's */
	seat->status = w->driver->open(p, w->id, &w->device);
	seat->opened = seat->status == 0;
	if (seat->status && !heddle_last_error()[0])
		hd_error(seat->status, "the driver of kind %s cannot open the device of worker %s", w->driver->kind,
		         p->workers[w->id].name);
	if (seat->status)
		seat->message = strdup(heddle_last_error());
}

void hd_device_close(struct hd_worker *w)
{
	if (w->rt->engine_state.threads->seats[w->id].opened)
		w->driver->close(w->device);
}

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
	hd_inside_enter(); /* the program's code in this thread is a kernel or a callback: it must not wait */
	hd_device_open(w);
	hd_core_enter(rt);
	count_one(rt, &th->n_seated);
	while (!rt->stopping)
		hd_worker_step(w, -1);
	count_one(rt, &th->n_done);
	while (!th->closing) { /* the device stays open until its memory has been given back */
		hd_core_leave(rt);
		hd_event_wait(&w->wake, 0, -1);
		hd_core_enter(rt);
	}
	hd_core_leave(rt);
	hd_device_close(w);
	return NULL;
}

void hd_threads_worker_ready(struct hd_worker *w)
{
	if (w->state == HD_SPINNING || w->state == HD_SLEEPING || w->state == HD_LEAVING)
		hd_core_wake(w->rt, &w->wake);
}
