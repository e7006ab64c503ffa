/* Waiting for a condition: one task has ended, all tasks have ended, a datum has arrived, or the window has room.
 *
 * How deadlocks are detected, all under the core lock:
 *
 * - Something *moves* while a kernel or a callback runs, a transfer is under way, or a worker has a task or looks for
 *   one: hd_core_still is false. A thread *may act* if it can make a condition true although nothing moves:
 *   hd_others_may_act. The runtime is *quiet* if tasks are unfinished, nothing moves, and no thread may act: is_quiet.
 * - A waiting thread sleeps only after it has *looked* (hd_core_stuck), or while something moves. A look has three
 *   results. The runtime is not quiet: the thread sleeps. The runtime is quiet, and the wait of this thread must end:
 *   it ends with HEDDLE_E_DEADLOCK. The runtime is quiet, and the wait of another thread must end: the other thread is
 *   *told* (`told` in its record is set, and it is woken), and this thread sleeps.
 * - Whose wait ends: while kernels wait, only waits of kernels end with HEDDLE_E_DEADLOCK, because a kernel can act
 *   afterwards: it returns, or cancels tasks. Only the innermost kernel of a stack is considered, because the kernels
 *   below cannot continue before it. A kernel that waits for a task whose kernel waits, too, comes last, because its
 *   wait may end well after the other kernel has given up. While no kernel waits, each looking thread of the program
 *   ends its own wait.
 * - Threads do not wake each other without end. A told thread counts as a thread that may act until it has looked: so
 *   other threads that look meanwhile sleep, and one thread is told at a time. A told kernel that looks ends its own
 *   wait, or tells a kernel that precedes it, and that kernel ends its own wait when it looks. So after two looks some
 *   wait has ended, or the runtime is not quiet any more.
 * - No wake-up is lost: the thread that ends the last movement, or stops being a thread that may act, looks itself or
 *   calls hd_wake_if_still before the lock is released. This concerns: a worker that goes to sleep (rest and switch_off
 *   in workers.c, devices.c); the end of a transfer, a callback, an event or a destruction of objects; the release of a
 *   datum; a wait that a thread has left (wait_until); cancelled or withdrawn tasks; newly driven workers. A thread
 *   that holds data and begins to wait looks at once.
 * - hd_wake_if_still wakes all waiting threads. While kernels wait, or submit with the window full, it instead tells
 *   one kernel if the runtime is quiet, and wakes the threads in hd_throttle, which wait until nothing moves. If the
 *   runtime is not quiet, no thread needs to look: there will be another call. */
#include "wait.h"
#include <stdlib.h>
#include <string.h>
#include "aside.h"
#include "dispatch.h"
#include "errands.h"
#include "give_up.h"
#include "group.h"
#include "inlet.h"
#include "worker_set.h"
#include "graph/scratch_redux.h"
#include "memory/lost_memory.h"
#include "misuse/misuse.h"
#include "state/call_context.h"
#include "state/core_lock.h"
#include "state/engine.h"
#include "state/failure.h"
#include "state/memory.h"
#include "state/process.h"
#include "state/task_pool.h"

void hd_wake_waiters(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	rt->waits.news = 0;
	for (struct hd_waiter *w = rt->waits.waiters; w; w = w->next) {
		/* Relaxed, pairs with nothing: the core lock is held. */
		if (!atomic_load_explicit(&w->woken, memory_order_relaxed) && w->done(rt, w->arg)) {
			hd_waiter_set_woken(w, 1);
			hd_core_wake(rt, w->event);
		}
	}
}

void hd_waiter_add(heddle_runtime *rt, struct hd_waiter *waiter)
{
	HD_HELD(&rt->lock);
	waiter->next = rt->waits.waiters;
	rt->waits.waiters = waiter;
}

void hd_waiter_remove(heddle_runtime *rt, struct hd_waiter *waiter)
{
	HD_HELD(&rt->lock);
	struct hd_waiter **p = &rt->waits.waiters;
	while (*p != waiter)
		p = &(*p)->next;
	*p = waiter->next;
}

/* Whether the thread that is about to wait will run the tasks of worker 0 (the setting caller_works). Then worker 0 is
 * given tasks before other workers: the thread is awake, and the tasks that it has just submitted are in its cache. */
static int will_work(const heddle_runtime *rt)
{
	const struct hd_worker *w = &rt->workers[0];
	return w->state == HD_AWAY && !w->slots[0].stream;
}

int hd_wait_interrupted(heddle_runtime *rt, const struct hd_waiter *waiter)
{
	HD_HELD(&rt->lock);
	int (*look)(void *) = waiter->inside ? NULL : rt->config.on_wait;
	if (!look)
		return 0;
	hd_core_leave(rt);
	struct hd_inside here = {.rt = rt, .what = HD_INSIDE_OTHER};
	hd_inside_enter(&here);
	int said = look(rt->config.on_wait_arg);
	hd_inside_leave(&here);
	hd_core_enter(rt);
	return said ? hd_error(HEDDLE_E_INTERRUPTED, "on_wait has ended the wait; what it was for goes on") : 0;
}

static int wait_until(heddle_runtime *rt, int (*done)(heddle_runtime *, void *), void *arg)
{
	HD_HELD(&rt->lock);
	struct hd_wakeup event = {0};
	struct hd_waiter waiter = {.done = done, .arg = arg, .thread = hd_thread_token(), .event = &event};
	hd_core_clock_now(rt);
	rt->dispatch.releaser = -1;
	hd_drain_all(rt);
	if (done(rt, arg) || !will_work(rt)) {
		hd_core_settle(rt);
		if (done(rt, arg))
			return 0;
	}
	hd_waiter_add(rt, &waiter);
	int status = rt->engine->wait(rt, &waiter);
	hd_waiter_remove(rt, &waiter);
	hd_wake_if_still(rt, NULL); /* other threads may sleep only because this thread could act until now */
	return status;
}

int hd_wait_until(heddle_runtime *rt, int (*done)(heddle_runtime *, void *), void *arg)
{
	HD_HELD(&rt->lock);
	rt->waits.n_asked++;
	int status = wait_until(rt, done, arg);
	/* The condition may have become true while the lock was released, after the wait was given up: then the wait
	 * ends well. */
	if (HD_UNLIKELY(status) && done(rt, arg))
		status = 0;
	if (HD_UNLIKELY(rt->tells_tsan))
		hd_tsan_waited(rt);
	return status;
}

int hd_wait_reacting(heddle_runtime *rt, int (*done)(heddle_runtime *, void *), void *arg)
{
	HD_HELD(&rt->lock);
	rt->count.reacting++;
	int status = hd_wait_until(rt, done, arg);
	rt->count.reacting--;
	return status;
}

/* Whether there are unused objects that have not been destroyed yet. */
static int objects_die(const heddle_runtime *rt)
{
	return rt->dead || rt->destroying;
}

/* Whether the first *arg threads that began to destroy objects have finished. */
static int earlier_are_destroyed(heddle_runtime *rt, void *arg)
{
	const uint64_t *n = arg;
	const struct hd_destroying *d = rt->destroying;
	while (d && d->number >= *n)
		d = d->next;
	return !d;
}

void hd_wait_destroyed(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	if (HD_LIKELY(!objects_die(rt)))
		return;
	uint64_t n = rt->n_destroying + (rt->dead != NULL);
	struct hd_wakeup event = {0};
	struct hd_waiter waiter = {
	    .done = earlier_are_destroyed, .arg = &n, .thread = hd_thread_token(), .event = &event};
	hd_waiter_add(rt, &waiter);
	do {
		hd_waiter_set_woken(&waiter, 0);
		hd_core_leave(rt); /* hd_core_leave destroys the objects that no thread has begun to destroy */
		hd_wakeup_wait(&event, 0, -1);
		hd_core_enter(rt);
	} while (!earlier_are_destroyed(rt, &n));
	hd_waiter_remove(rt, &waiter);
}

static int waits(const heddle_runtime *rt, uint64_t thread)
{
	const struct hd_waiter *w = rt->waits.waiters;
	while (w && w->thread != thread)
		w = w->next;
	return w != NULL;
}

/* Whether a thread may act, or, in a pause, may end it. There are four cases: a thread that runs a callback, which may
 * submit; a thread whose wait is over and that has not returned yet; a thread that was told to look for a deadlock; and
 * a thread that has acquired a datum and does not wait itself, so that it may release the datum. */
int hd_others_may_act(heddle_runtime *rt, const struct hd_waiter *waiter)
{
	HD_HELD(&rt->lock);
	if (rt->count.calling || rt->count.expanding || rt->dispatch.pauses)
		return 1;
	for (struct hd_waiter *w = rt->waits.waiters; w; w = w->next)
		if (w != waiter && !w->covered && (w->told || w->done(rt, w->arg)))
			return 1;
	for (const struct hd_hold *h = rt->waits.holds; h; h = h->next)
		if (!waits(rt, h->thread))
			return 1;
	return 0;
}

/* Whether the worker's thread runs a task or is about to look for one. A thread that waits in hd_throttle does neither,
 * nor does a thread whose tasks all wait for data. */
static int is_busy(const struct hd_worker *w)
{
	if (w->held_back || w->state == HD_AWAY)
		return 0;
	/* A worker without a pipeline takes no tasks; its picked tasks wait for transfers, which are counted. */
	if (HD_UNLIKELY(!w->pipeline))
		return hd_worker_runs(w) || (w->wants_cores && hd_cores_are_free(w));
	return hd_worker_runs(w) || w->staged.first || w->state == HD_SPINNING ||
	       (hd_worker_is_attended(w) && !w->hungry && !w->in_flight);
}

int hd_core_still(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	if (rt->count.transfers || rt->count.fetching || objects_die(rt) || rt->wanted.n ||
	    rt->count.calling > rt->count.calls_held_back)
		return 0;
	if (!rt->count.held_back && (rt->count.running > rt->count.suspended || rt->count.staged))
		return 0;
	for (size_t i = 0; i < rt->n_workers; i++)
		if (is_busy(&rt->workers[i]))
			return 0;
	return 1;
}

/* Whether the waiter is a kernel that waits for a task whose kernel waits, too. */
static int waits_for_waiting(heddle_runtime *rt, const struct hd_waiter *w)
{
	/* this check comes first: if the wait is over, the datum of an awaited UNREGISTER task is freed already */
	if (w->done(rt, w->arg))
		return 0;
	if (w->done == hd_group_is_over)
		return hd_has_begun(rt, w->arg, NULL);
	const heddle_task *t = w->done == hd_task_is_over ? w->arg : NULL;
	return t && t->kind == HD_TASK_UNREGISTER && hd_has_begun(rt, NULL, t->accesses[0].data);
}

/* Whether tasks are unfinished, nothing moves, and no thread may act. */
static int is_quiet(heddle_runtime *rt, const struct hd_waiter *waiter)
{
	/* If no thread runs the tasks of worker 0, or the thread that does is about to stop, a waiting thread of the
	 * program will run them, perhaps the thread that looks now: so something may still move. */
	if (HD_UNLIKELY(rt->workers[0].state == HD_AWAY || rt->workers[0].state == HD_LEAVING))
		return 0;
	return hd_live(rt) && hd_core_still(rt) && !rt->count.detached && !hd_others_may_act(rt, waiter);
}

static int is_innermost(const struct hd_waiter *w)
{
	return w->inside && !w->covered;
}

/* The waiter whose wait must end, given that the runtime is quiet and `waiter` has looked. NULL: a kernel whose wait is
 * over is about to continue. */
static struct hd_waiter *whose_wait_ends(heddle_runtime *rt, struct hd_waiter *waiter)
{
	if (HD_LIKELY(!rt->count.suspended) || (waiter->inside && !waits_for_waiting(rt, waiter)))
		return waiter;
	struct hd_waiter *last = waiter->inside ? waiter : NULL;
	for (struct hd_waiter *w = rt->waits.waiters; w; w = w->next) {
		if (!is_innermost(w))
			continue;
		if (!waits_for_waiting(rt, w))
			return w;
		if (!last)
			last = w;
	}
	return last;
}

/* Tells a waiting thread to look for a deadlock. */
static void tell(heddle_runtime *rt, struct hd_waiter *w)
{
	w->told = 1;
	hd_waiter_set_woken(w, 1);
	hd_core_wake(rt, w->event);
}

int hd_core_stuck(heddle_runtime *rt, struct hd_waiter *waiter)
{
	HD_HELD(&rt->lock);
	waiter->told = 0;
	do {
		do {
			hd_drain_all(rt);
			hd_core_settle(rt);
		} while (hd_submitted_unseen(rt));
		if (!is_quiet(rt, waiter))
			return 0;
	} while (hd_unparked_return(rt) || hd_core_admit_aside(rt));
	struct hd_waiter *w = whose_wait_ends(rt, waiter);
	if (w && w != waiter)
		tell(rt, w);
	return w == waiter;
}

void hd_wake_if_still(heddle_runtime *rt, const struct hd_wakeup *except)
{
	HD_HELD(&rt->lock);
	if (HD_LIKELY(!rt->waits.waiters) || !hd_core_still(rt))
		return;
	if (HD_UNLIKELY(rt->count.suspended || rt->count.held_back)) {
		hd_wake_waiters(rt);
		struct hd_waiter *w = is_quiet(rt, NULL) ? rt->waits.waiters : NULL;
		while (w && !is_innermost(w))
			w = w->next;
		if (w && w->event != except)
			tell(rt, w);
		return;
	}
	for (struct hd_waiter *w = rt->waits.waiters; w; w = w->next)
		if (w->event != except)
			hd_core_wake(rt, w->event);
}

/* --- For the program ---------------------------------------------------------------------------------------------- */

int hd_check_outside(const char *what)
{
	if (HD_LIKELY(!hd_inside()))
		return 0;
	hd_error(HEDDLE_E_STATE, "%s blocks and cannot be called from a kernel or a callback", what);
	if (hd_inside()->watch)
		hd_misuse_waits(heddle_last_error());
	return HEDDLE_E_STATE;
}

/* Whether all tasks have ended except ACQUIRE tasks in force, the ring (which may have tasks that a kernel has
 * submitted) is empty, unused objects are destroyed, and the check which values were lost with devices is complete.
 * Evaluated anew each time, because another thread may release or acquire data during the wait. */
static int all_ended(heddle_runtime *rt, void *arg)
{
	(void)arg;
	if (hd_live(rt) != rt->count.held || objects_die(rt) || hd_submitted_unseen(rt))
		return 0;
	return HD_LIKELY(!rt->dispatch.n_lost) || hd_memories_left(rt);
}

int heddle_wait_all(heddle_runtime *rt)
{
	if (!rt)
		return hd_error(HEDDLE_E_INVALID, "heddle_wait_all needs a runtime");
	if (hd_check_outside("heddle_wait_all") || hd_check_process(rt))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	hd_drain_all(rt);
	hd_reductions_close(rt);
	int status = hd_wait_until(rt, all_ended, NULL);
	if (HD_UNLIKELY(rt->misuse != NULL))
		hd_misuse_look(rt);
	if (!status)
		status = hd_failure_report(rt->outcome.failure);
	hd_core_leave(rt);
	return status;
}

int heddle_virtual_step(heddle_runtime *rt, double until, double *time)
{
	if (!rt || !time)
		return hd_error(HEDDLE_E_INVALID, "heddle_virtual_step needs a runtime and a place for the time");
	if (!rt->engine->step)
		return hd_error(HEDDLE_E_UNSUPPORTED, "heddle_virtual_step: the runtime is not in virtual time");
	if (hd_check_outside("heddle_virtual_step") || hd_check_process(rt))
		return HEDDLE_E_STATE;
	double at;
	hd_core_enter(rt);
	hd_core_clock_now(rt);
	rt->dispatch.releaser = -1;
	hd_drain_all(rt);
	hd_core_settle(rt);
	int stepped = rt->engine->step(rt, until, &at);
	hd_core_leave(rt);
	*time = at;
	return stepped;
}

int hd_task_is_over(heddle_runtime *rt, void *arg)
{
	HD_HELD(&rt->lock);
	return heddle_task_done(arg);
}

int heddle_task_done(const heddle_task *task)
{
	/* pairs: the release store in bury of task_life.c */
	int done = task && atomic_load_explicit(&task->state, memory_order_acquire) == HD_ENDED;
	if (done && HD_UNLIKELY(hd_task_runtime(task)->tells_tsan))
		hd_tsan_waited(hd_task_runtime(task));
	return done;
}

int heddle_task_wait(heddle_task *task)
{
	if (!task)
		return hd_error(HEDDLE_E_INVALID, "heddle_task_wait needs a task");
	heddle_runtime *rt = hd_task_runtime(task);
	if (hd_check_outside("heddle_task_wait") || hd_check_process(rt) ||
	    (HD_UNLIKELY(rt->misuse != NULL) && hd_misuse_check_task(task, "heddle_task_wait")))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	task->waited = 1;
	int status = hd_wait_reacting(rt, hd_task_is_over, task);
	if (!status && task->status) {
		char title[HD_TITLE], why[HD_REASON];
		char *text = hd_format("%s: %s", hd_task_title(task, title, sizeof title),
		                       hd_task_reason(task, why, sizeof why));
		status = hd_error_of_task(task->status, hd_task_code(task), text ? text : title);
		free(text);
	}
	hd_core_leave(rt);
	return status;
}

void heddle_task_release(heddle_task *task)
{
	if (!task)
		return;
	heddle_runtime *rt = hd_task_runtime(task);
	if (hd_check_process(rt))
		return;
	if (HD_UNLIKELY(rt->misuse != NULL) && hd_misuse_release(task))
		return;
	hd_core_enter(rt);
	hd_drain_all(rt); /* the task, and tasks that wait for it by heddle_after, may still be in the ring */
	hd_core_settle(rt);
	hd_task_unref(rt, task);
	hd_core_leave(rt);
}
