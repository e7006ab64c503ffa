/* Waiting. A thread of the program that waits sleeps until its condition is true. With the setting caller_works, one
 * such thread runs the tasks of worker 0 meanwhile.
 *
 * While a kernel waits for a group, its thread runs other tasks of its worker. Their kernels may wait for groups, too,
 * so that several waiting kernels lie on the thread's stack. */
#define _GNU_SOURCE
#include "bursts.h"
#include "team.h"
#include "threads.h"
#include "flow/aside.h"
#include "flow/errands.h"
#include "flow/group.h"
#include "flow/inlet.h"
#include "flow/wait.h"
#include "flow/worker_set.h"
#include "state/call_context.h"
#include "state/core_lock.h"
#include "state/tree.h"

/* Runs the tasks that worker 0 still holds when the thread that runs its tasks stops waiting, because no other worker
 * would run them. */
static void run_what_is_left(heddle_runtime *rt, struct hd_worker *w)
{
	while (w->in_flight) {
		if (w->slots[0].stream) {
			hd_core_leave(rt);
			if (!hd_device_step(w, 0))
				hd_wakeup_wait(&w->wake, 0, -1);
			hd_core_enter(rt);
			continue;
		}
		/* Relaxed, pairs with nothing: the lock is held. */
		int any = atomic_load_explicit(&w->seat->given, memory_order_relaxed) || hd_worker_give(w);
		hd_core_leave(rt);
		if (any)
			hd_worker_run(w);
		else
			hd_wakeup_wait(&w->wake, 0, -1);
		hd_core_enter(rt);
		hd_core_clock(rt, hd_threads_now(rt));
		hd_worker_give_back(w);
		hd_drain(rt);
		hd_core_settle(rt);
	}
}

/* How long in us the waiter may sleep before it must look for deadlocks, signals or the watchdog; negative: for
 * ever. */
static double span_of(const heddle_runtime *rt, const struct hd_waiter *waiter)
{
	enum { LONGEST_SLEEP_US = 100000 };
	double patience = hd_watchdog_us(rt->config.watchdog, waiter->n_reports);
	if (HD_LIKELY(!rt->config.on_wait) || waiter->inside)
		return patience;
	return patience < 0 || patience > LONGEST_SLEEP_US ? LONGEST_SLEEP_US : patience;
}

/* Records that the thread has slept for `span` us, unless it was woken. */
static void note_sleep(struct hd_waiter *waiter, int woken, double span)
{
	waiter->quiet_us = woken ? 0 : waiter->quiet_us + span;
}

/* The watchdog: reports a hang if no task has ended for the configured time. Releases the core lock meanwhile. */
static void bark(heddle_runtime *rt, struct hd_waiter *waiter)
{
	double patience = hd_watchdog_us(rt->config.watchdog, waiter->n_reports);
	if (waiter->ended != rt->count.ended)
		waiter->quiet_us = 0;
	waiter->ended = rt->count.ended;
	if (HD_LIKELY(patience < 0 || waiter->quiet_us < patience))
		return;
	waiter->quiet_us = 0;
	hd_report_hang(rt, waiter->n_reports++);
}

/* Sleeps until the waiter is woken, or for the time span_of. HEDDLE_E_INTERRUPTED. Releases the core lock meanwhile. */
static int sleep_a_while(heddle_runtime *rt, struct hd_waiter *waiter, double spin_us)
{
	bark(rt, waiter);
	double span = span_of(rt, waiter);
	hd_core_leave(rt);
	int woken = hd_wakeup_wait(waiter->event, spin_us, span);
	hd_core_enter(rt);
	note_sleep(waiter, woken, span);
	bark(rt, waiter);
	return woken ? 0 : hd_wait_interrupted(rt, waiter);
}

/* Looks for a deadlock. HEDDLE_E_DEADLOCK: the wait must end. */
static int look(heddle_runtime *rt, struct hd_waiter *waiter)
{
	return hd_core_stuck(rt, waiter) && !waiter->done(rt, waiter->arg) ? hd_core_deadlock(rt) : 0;
}

/* Called when the worker has been idle for long: looks for a deadlock, then sleeps. */
static int sleep_or_give_up(heddle_runtime *rt, struct hd_waiter *waiter)
{
	int status = look(rt, waiter);
	if (status)
		return status;
	status = sleep_a_while(rt, waiter, 0);
	hd_core_clock(rt, hd_threads_now(rt));
	return status;
}

/* Wakes the other waiting threads, so that one of them takes over worker 0. */
static void wake_others(heddle_runtime *rt, const struct hd_worker *w)
{
	for (struct hd_waiter *other = rt->waits.waiters; other; other = other->next)
		if (other->event != &w->wake)
			hd_core_wake(rt, other->event);
}

/* Releases the core lock and runs the worker's tasks. Returns 1, with the lock, when the waiter was woken; 0, without
 * the lock, when the worker has been idle for long. While something else moves, the thread sleeps and continues instead
 * of returning 0, unless on_wait must be called now and then, or the watchdog's time is over. */
static int work(struct hd_worker *w, struct hd_waiter *waiter)
{
	double span = span_of(w->rt, waiter);
	int may_sleep = waiter->inside || !w->rt->config.on_wait;
	int served = !w->slots[0].stream;
	if (served) {
		w->seat->tired = 0;
		hd_worker_exchange_here(w);
	}
	hd_core_leave(w->rt);
	while (!hd_worker_turns(w, &waiter->woken, served)) {
		if (!may_sleep || !w->seat->moves)
			return 0;
		int woken = hd_wakeup_wait(&w->wake, 0, span);
		note_sleep(waiter, woken, span);
		if (!woken)
			return 0;
		served = 0;
	}
	return 1;
}

/* Called when the wait of a kernel is over: runs the tasks to their end that the worker has begun during the wait.
 * Tasks that have not begun stay staged, or move to other workers. */
static void leave_rest(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	/* so that no other thread begins a task for the worker while the lock is released before the kernel resumes */
	hd_worker_enter(w, HD_AWAKE);
	hd_worker_put_back(w);
	/* If `given` is still not 0, the policy was told that the given task has begun, so the worker must run this
	 * task before the kernel resumes. Relaxed, pairs with nothing: the lock is held. */
	if (atomic_load_explicit(&w->seat->given, memory_order_relaxed)) {
		hd_core_leave(rt);
		hd_worker_run(w);
		hd_core_enter(rt);
		hd_core_clock(rt, hd_threads_now(rt));
		hd_worker_give_back(w);
	}
	hd_worker_hand_to_idle(w);
}

/* Runs the worker's tasks until the waiter's condition is true. HEDDLE_E_DEADLOCK. */
static int work_until_done(struct hd_worker *w, struct hd_waiter *waiter)
{
	heddle_runtime *rt = w->rt;
	struct hd_inside here = {.rt = rt, .what = HD_INSIDE_WORKER, .worker = w};
	struct hd_waiter *outer = w->seat->waiter;
	int status = 0;
	hd_inside_enter(&here);
	if (outer)
		outer->covered = 1;
	w->seat->waiter = waiter;
	hd_worker_enter(w, HD_AWAKE);
	waiter->event = &w->wake;
	while (!status && !waiter->done(rt, waiter->arg)) {
		/* the condition may be false again: all tasks had ended, and then another thread has submitted one */
		hd_waiter_set_woken(waiter, 0);
		if (HD_UNLIKELY(waiter->told)) {
			status = look(rt, waiter);
			continue;
		}
		if (work(w, waiter))
			continue;
		hd_core_enter(rt);
		if (!waiter->done(rt, waiter->arg))
			status = sleep_or_give_up(rt, waiter);
	}
	hd_core_not_hungry(w);
	if (waiter->inside)
		leave_rest(w); /* the kernels of these tasks may wait, too, above this wait on the stack */
	w->seat->waiter = outer;
	if (outer)
		outer->covered = 0;
	hd_inside_leave(&here);
	return status;
}

/* Restores the setup that the thread had before it ran tasks of the worker. Releases the core lock meanwhile. */
static void set_thread_up(struct hd_worker *w, unsigned setting)
{
	if (HD_LIKELY(hd_team_setting(w) == setting))
		return;
	hd_core_leave(w->rt);
	hd_team_restore(w, setting);
	hd_core_enter(w->rt);
}

/* Puts the OpenMP threads of the worker to sleep if the worker was retired after its last kernel, because other workers
 * use its cores. Releases the core lock meanwhile. */
static void hush_if_retired(struct hd_worker *w)
{
	if (HD_LIKELY(!w->retired) || !hd_team_polls(w))
		return;
	hd_core_leave(w->rt);
	hd_team_hush(w);
	hd_core_enter(w->rt);
}

/* Runs the tasks of worker 0 until the waiter's condition is true. */
static int wait_working(heddle_runtime *rt, struct hd_waiter *waiter)
{
	struct hd_worker *w = &rt->workers[0];
	hd_submitter_nests(rt, 1);
	int status = work_until_done(w, waiter);
	struct hd_inside here = {.rt = rt, .what = HD_INSIDE_WORKER, .worker = w};
	hd_inside_enter(&here);
	w->seat->waiter = waiter;
	hd_worker_enter(w, HD_LEAVING);
	if (!status)
		run_what_is_left(rt, w);
	else if (status == HEDDLE_E_INTERRUPTED) {
		/* The worker may have been given tasks during the call of on_wait. The run of these tasks may overwrite
		 * the thread's error message. */
		struct hd_sentence kept;
		hd_error_keep(&kept);
		run_what_is_left(rt, w);
		hd_error_give_back(&kept);
	}
	set_thread_up(w, 0);
	hush_if_retired(w);
	/* Relaxed, pairs with nothing: the core lock is held. `given` may not be 0 although the worker has no task
	 * left, because another worker has taken over all given tasks. */
	atomic_store_explicit(&w->seat->given, 0, memory_order_relaxed);
	hd_worker_enter(w, HD_AWAY);
	hd_gate_worker_begins(rt); /* the worker is no lookout any more */
	w->seat->waiter = NULL;
	hd_inside_leave(&here);
	hd_submitter_nests(rt, 0);
	wake_others(rt, w);
	return status;
}

/* --- Kernels that wait -------------------------------------------------------------------------------------------- */

/* A task whose kernel waits for a group. The record is on the stack, above the kernel's frame. */
struct hd_suspended {
	heddle_task *task;
	struct hd_suspended *below; /* the record of the next lower waiting kernel of the same worker; NULL: none */
	uint8_t state, hungry;      /* saved from the worker */
	uint16_t floor;             /* saved from the worker */
	double start, predicted, burst_expected, waited, since;
};

/* Removes the task whose kernel waits from the worker's slot, so that the worker can take other tasks. The tasks before
 * this task in the burst end now, and the tasks after it are staged again. */
static void suspend(struct hd_worker *w, heddle_task *t, struct hd_suspended *s)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	*s = (struct hd_suspended){
	    .task = t, .state = w->state, .hungry = w->hungry, .floor = w->floor, .waited = w->seat->waited};
	s->below = w->seat->suspended;
	w->seat->suspended = s;
	s->start = w->slots[0].start;
	s->predicted = w->slots[0].predicted;
	s->burst_expected = w->burst_expected;
	hd_core_clock(rt, hd_threads_now(rt));
	s->since = rt->now;
	hd_burst_take_back(w);
	hd_worker_give_back(w);
	w->slots[0].task = NULL;
	hd_worker_moved(w);
	w->waits_since = rt->now;
	w->seat->waited = 0;
	w->in_flight--;
	w->n_suspended++;
	rt->count.suspended++;
	hd_aside_raise_floor(w, t);
	if (HD_UNLIKELY(!w->pipeline))
		hd_cores_left(w);
}

/* Waits until no rival of the worker runs a kernel. Until the kernel has resumed, no rival begins one. */
static void await_cores(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	while (!hd_cores_claim(w)) {
		hd_worker_enter(w, HD_OFF); /* a worker in the state HD_OFF is no lookout */
		hd_gate_worker_begins(rt);
		hd_core_leave(rt);
		hd_wakeup_wait(&w->wake, 0, -1);
		hd_core_enter(rt);
	}
}

/* Puts the suspended task back into the worker's slot, as the only task of the burst. */
static void resume(struct hd_worker *w, const struct hd_suspended *s)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	struct hd_seat *seat = w->seat;
	hd_core_clock(rt, hd_threads_now(rt));
	/* hd_core_finish will add the whole time since the task began, the wait included */
	w->busy -= rt->now - s->since;
	w->waits_since = rt->now;
	seat->suspended = s->below;
	seat->waited = s->waited + (rt->now - s->since);
	w->slots[0].task = w->burst[0] = s->task;
	w->slots[0].start = s->start;
	w->slots[0].predicted = s->predicted;
	hd_worker_moved(w);
	w->burst_size = 1;
	w->burst_expected = s->burst_expected;
	/* Relaxed, pairs with nothing: see the field. No task of the burst can be claimed any more. */
	atomic_store_explicit(&w->claimed, HD_MAX_BURST + 1, memory_order_relaxed);
	w->in_flight++;
	w->n_suspended--;
	rt->count.suspended--;
	hd_aside_lower_floor(w, s->floor);
	hd_worker_enter(w, s->state);
	if (HD_UNLIKELY(w->n_rivals))
		hd_cores_claimed(w);
	if (s->hungry)
		hd_core_hungry(w);
}

/* Whether the thread's stack has room for another kernel: a quarter of the stack, or 1 MiB if that is less, plus `more`
 * bytes. */
static int has_stack(size_t more)
{
	static _Thread_local const char *end; /* lowest usable address of the stack; NULL: not known yet */
	if (!end) {
		pthread_attr_t attr;
		void *lowest;
		size_t size;
		if (pthread_getattr_np(pthread_self(), &attr))
			return 1;
		pthread_attr_getstack(&attr, &lowest, &size);
		pthread_attr_destroy(&attr);
		size_t reserve = size / 4 < 1 << 20 ? size / 4 : 1 << 20;
		end = (const char *)lowest + reserve;
	}
	return (const char *)__builtin_frame_address(0) > end + more;
}

/* The task whose kernel the calling thread runs. */
static heddle_task *running_here(const struct hd_worker *w)
{
	return w->burst[w->seat->n_ended];
}

const heddle_task *hd_threads_running_here(const struct hd_worker *w)
{
	return running_here(w);
}

/* Whether a kernel may wait that needs `more` bytes of stack during the wait: 0, or the error. */
static int check_inside(const struct hd_worker *w, size_t more)
{
	const heddle_task *t = running_here(w);
	char title[HD_TITLE];
	hd_task_title(t, title, sizeof title);
	if (t->special & HD_TASK_PRIVATE)
		return hd_error(HEDDLE_E_UNSUPPORTED,
		                "%s has SCRATCH or REDUX data, which belong to its worker, and so its kernel cannot "
		                "wait while the worker runs other tasks: give it a temporary (W) instead",
		                title);
	if (!has_stack(more))
		return hd_error(
		    HEDDLE_E_MEMORY,
		    "%s: %u kernels that wait for their tasks fill the stack of %s; nest fewer tasks in each other, by "
		    "larger ones at the end of the recursion, or start the program with larger stacks (ulimit -s)",
		    title, w->n_suspended, w->rt->platform->workers[w->id].name);
	return 0;
}

/* The wait of a kernel for a group: its worker runs other tasks meanwhile, on the same stack. */
static int wait_inside(struct hd_waiter *waiter)
{
	struct hd_worker *w = hd_inside()->worker;
	heddle_task *t = running_here(w);
	struct hd_suspended here;
	char title[HD_TITLE];
	if (hd_task_group(t) == waiter->arg)
		return hd_error(HEDDLE_E_STATE, "%s is in the group that its kernel waits for",
		                hd_task_title(t, title, sizeof title));
	int status = check_inside(w, 0);
	if (status)
		return status;
	unsigned setting = hd_team_setting(w);
	waiter->inside = 1;
	suspend(w, t, &here);
	status = work_until_done(w, waiter);
	set_thread_up(w, setting);
	hd_core_not_hungry(w);
	if (HD_UNLIKELY(w->n_rivals))
		/* the last step, because a rival could begin a kernel if the lock were released between this step and
		 * `resume` */
		await_cores(w);
	resume(w, &here);
	struct hd_sentence kept; /* callbacks may overwrite the thread's error message */
	hd_error_keep(&kept);
	hd_core_settle(w->rt);
	hd_error_give_back(&kept);
	return status;
}

/* The datum of the task's accesses that is `d` or a piece of `d`. NULL: the task accesses neither. */
static const heddle_data *own_part(const heddle_task *t, const heddle_data *d)
{
	for (uint32_t i = 0; i < t->n_accesses; i++)
		for (const heddle_data *above = t->accesses[i].data; above; above = hd_data_above(above))
			if (above == d)
				return t->accesses[i].data;
	return NULL;
}

/* HEDDLE_E_STATE if the task accesses the datum: the UNREGISTER task of the datum would wait for the end of the task,
 * and the task's kernel for the UNREGISTER task. */
static int check_own(const heddle_task *t, const heddle_data *d)
{
	const heddle_data *own = own_part(t, d);
	if (!own)
		return 0;
	char title[HD_TITLE], whole[80], piece[80];
	hd_data_name(own, piece, sizeof piece);
	return hd_error(HEDDLE_E_STATE,
	                "heddle_unregister: %s cannot end before %s, which uses %s%s and waits here: call "
	                "heddle_unregister_async",
	                hd_data_name(d, whole, sizeof whole), hd_task_title(t, title, sizeof title),
	                own == d ? "it" : piece, own == d ? "" : ", a piece of it,");
}

int hd_threads_may_wait(heddle_runtime *rt, size_t more, const heddle_data *d)
{
	HD_HELD(&rt->lock);
	const struct hd_worker *w = hd_inside()->worker;
	int status = d ? check_own(running_here(w), d) : 0;
	for (const struct hd_suspended *s = w->seat->suspended; d && s && !status; s = s->below)
		/* waiting kernels below on the stack are checked, too, because they cannot go on before the calling
		 * kernel has returned */
		status = check_own(s->task, d);
	return status ? status : check_inside(w, more);
}

/* --- Threads of the program --------------------------------------------------------------------------------------- */

static int wait_sleeping(heddle_runtime *rt, struct hd_waiter *waiter)
{
	while (!waiter->done(rt, waiter->arg)) {
		if (rt->config.caller_works && !rt->workers[0].seat->waiter)
			return wait_working(rt, waiter);
		int status = look(rt, waiter);
		if (status)
			return status;
		hd_waiter_set_woken(waiter, 0);
		hd_revoke(rt);
		status = sleep_a_while(rt, waiter, 5);
		if (status)
			return status;
	}
	return 0;
}

int hd_threads_wait(heddle_runtime *rt, struct hd_waiter *waiter)
{
	waiter->ended = rt->count.ended;
	return hd_inside() ? wait_inside(waiter) : wait_sleeping(rt, waiter);
}
