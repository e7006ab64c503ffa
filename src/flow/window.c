/* The window: the number of unfinished tasks at which submission waits. A thread of the program waits until a quarter
 * of the window is free again. A submitting kernel or callback waits, too, but its own task cannot end meanwhile, so
 * the window is wider by one for each waiting kernel or callback. The tasks staged on its worker cannot end either.
 * Therefore a kernel or callback waits only as long as something else moves: a kernel or callback that does not wait
 * here, a transfer, or a worker that is about to look for a task. When nothing else moves, the kernel submits one task,
 * and its next submission checks again. If all kernels wait here, the first kernel that notices this continues, and the
 * other kernels see it move: so one kernel always continues, and there is no deadlock. Other workers of the same class
 * and memory node take over the tasks that are staged on the worker of a waiting kernel (hd_bursts_rescue).
 *
 * A waiting thread checks again when enough tasks have ended, and when something stops moving: a worker that finds
 * nothing and goes to sleep, the end of a transfer or of a callback. In virtual time nothing moves during a callback,
 * so callbacks never wait. A kernel of one runtime that submits to another runtime does not wait either: two such
 * kernels could wait for each other. */
#include "dispatch.h"
#include "errands.h"
#include "expand.h"
#include "inlet.h"
#include "wait.h"
#include "state/core_lock.h"
#include "state/engine.h"

/* Whether a waiting thread of the program may go on. The window of the program is not widened by waiting kernels. */
static int below_throttle(heddle_runtime *rt, void *arg)
{
	(void)arg;
	return hd_live(rt) - rt->count.held + rt->count.held_back <= rt->inlet.throttle || rt->dispatch.pauses ||
	       (rt->count.held && !rt->count.detached && hd_core_still(rt));
}

/* The number of unfinished tasks at which submission waits; 0: no limit. For tasks shorter than TINY_US the window
 * shrinks in proportion to their length, from TINY_WINDOW down to PER_WORKER for each worker: when the tasks in the
 * graph exceed the second-level cache, each task costs more, and the schedules of tiny tasks do not improve. */
static uint64_t window_of(const heddle_runtime *rt)
{
	enum { TINY_WINDOW = 2048, PER_WORKER = 256 };
	static const double TINY_US = 2;
	uint64_t window = (uint64_t)rt->config.window;
	if (HD_LIKELY(rt->inlet.mean_us >= TINY_US))
		return window;
	uint64_t least = hd_n_driven(rt) < 2 ? 2 * PER_WORKER : PER_WORKER * hd_n_driven(rt);
	uint64_t tiny = (uint64_t)(rt->inlet.mean_us / TINY_US * TINY_WINDOW);
	if (tiny < least)
		tiny = least < TINY_WINDOW ? least : TINY_WINDOW;
	return window < tiny ? window : tiny;
}

/* Whether the thread, which runs a kernel or a callback, may wait for other tasks to end. */
static int may_be_held_back(const heddle_runtime *rt)
{
	if (!rt->engine->runs_kernels)
		return 0;
	for (const struct hd_inside *i = hd_inside(); i; i = i->outer)
		if (i->rt != rt || (i->what != HD_INSIDE_WORKER && i->what != HD_INSIDE_CALLBACK))
			return 0;
	return 1;
}

static int may_go_on(heddle_runtime *rt, void *arg)
{
	(void)arg;
	return hd_live(rt) - rt->count.held <= rt->inlet.throttle || rt->dispatch.pauses || hd_core_still(rt);
}

/* The worker whose tasks the thread runs; NULL: a thread of the program. */
static struct hd_worker *my_worker(void)
{
	const struct hd_inside *i = hd_inside();
	while (i && !i->worker)
		i = i->outer;
	return i ? i->worker : NULL;
}

/* The number of callbacks that the thread runs: at most one, see hd_core_run_callbacks. */
static unsigned calls(void)
{
	const struct hd_inside *i = hd_inside();
	while (i && i->what != HD_INSIDE_CALLBACK)
		i = i->outer;
	return i != NULL;
}

static void hold_back(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	struct hd_wakeup event = {0};
	struct hd_waiter waiter = {.done = may_go_on, .thread = hd_thread_token(), .event = &event};
	struct hd_worker *w = my_worker();
	int hungry = w && w->hungry;
	if (hungry)
		hd_core_not_hungry(w); /* the worker must get no task while its thread waits */
	if (w)
		w->held_back = 1;
	rt->count.held_back++;
	rt->inlet.throttle++;
	rt->count.calls_held_back += calls();
	hd_waiter_add(rt, &waiter);
	while (!may_go_on(rt, NULL)) {
		hd_waiter_set_woken(&waiter, 0);
		hd_core_leave(rt);
		hd_wakeup_wait(&event, 5, -1);
		hd_core_enter(rt);
	}
	hd_waiter_remove(rt, &waiter);
	rt->count.held_back--;
	rt->inlet.throttle--;
	/* bury_one has compared the number of tasks with the previous `throttle`, so waiting threads must check
	 * again */
	rt->waits.news = 1;
	rt->count.calls_held_back -= calls();
	if (w)
		w->held_back = 0;
	if (hungry)
		hd_core_hungry(w);
	hd_core_clock_now(rt);
}

int hd_throttle(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	uint64_t window = window_of(rt), live = hd_live(rt) - rt->count.held;
	int is_inside = hd_inside() != NULL;
	if (HD_LIKELY(!window || live < window) || rt->dispatch.pauses ||
	    (is_inside && live <= window + rt->count.held_back))
		return 0;
	rt->inlet.throttle = window - (window + 3) / 4 + rt->count.held_back;
	if (!is_inside) {
		hd_wait_until(rt, below_throttle, NULL);
		rt->waits.n_asked--;
	} else if (may_be_held_back(rt)) {
		hold_back(rt);
	}
	return 1;
}

uint32_t hd_window_room(heddle_runtime *rt)
{
	uint64_t window = window_of(rt), live = hd_live(rt) - rt->count.held;
	if (!window || window >= live + HD_RING_RUN)
		return HD_RING_RUN;
	return window > live ? (uint32_t)(window - live) : 0;
}

/* Whether nothing moves that could make room: no task that can run, no transfer, no callback, no other sub-graph. */
static int is_at_rest(const heddle_runtime *rt)
{
	return rt->count.running <= rt->count.suspended && !rt->count.staged && !rt->count.ready &&
	       !rt->dispatch.n_batch && !rt->dispatch.controls.first && !rt->count.transfers && !rt->count.fetching &&
	       !rt->wanted.n && !rt->count.calling;
}

int hd_window_admits_expansion(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	/* The limit on tasks of sub-graphs if the window of the program has no limit: sub-graphs can wait, so they must
	 * not fill the memory. */
	enum { UNLIMITED = 16384 };
	uint64_t window = window_of(rt), others = rt->count.hierarchical + rt->count.held;
	return hd_live(rt) - others < (window ? window : UNLIMITED) || is_at_rest(rt);
}
