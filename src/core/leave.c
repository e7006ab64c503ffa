/* Leaving the core. What happens under the core lock delays everybody, so what takes a system call is put off until
 * the lock is given back: waking threads that sleep, and allocating and freeing memory. Whoever gives the lock back
 * also tells a worker that has asked to be served meanwhile. */
#include <stdlib.h>
#include <string.h>
#include "runtime.h"

void hd_core_wake(heddle_runtime *rt, struct hd_event *event)
{
	HD_HELD(&rt->lock);
	if (!hd_event_mark(event))
		return;
	struct hd_errands *e = &rt->errands;
	if (HD_LIKELY(e->n_roused < HD_MAX_ROUSED))
		rt->roused[e->n_roused++] = event;
	else
		hd_event_rouse(event);
}

/* Gives the lock back and wakes the threads in the list, which is copied, because the next holder begins a new one. */
static void leave_and_rouse(heddle_runtime *rt)
{
	struct hd_event *roused[HD_MAX_ROUSED];
	unsigned n = rt->errands.n_roused;
	memcpy(roused, rt->roused, n * sizeof *roused);
	rt->errands.n_roused = 0;
	hd_unlock(&rt->lock);
	for (unsigned i = 0; i < n; i++)
		hd_event_rouse(roused[i]);
}

/* Tells the first worker that asks to be served, if there is one, to take the lock itself; it then serves the others,
 * too. Without the lock. */
static void hand_over(heddle_runtime *rt)
{
	for (size_t i = 0; i < rt->n_posts; i++) {
		/* pairs: the worker that sets its bit; see the field */
		uint64_t bits = atomic_load_explicit(&rt->posts[i], memory_order_seq_cst);
		if (HD_LIKELY(!bits))
			continue;
		hd_event_set(&rt->workers[64 * i + (unsigned)__builtin_ctzll(bits)].wake);
		return;
	}
}

/* The last things that are done with the lock. */
static inline void finish_inside(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	if (rt->errands.starting)
		rt->engine->start(rt);
	if (HD_UNLIKELY(rt->config.time_core))
		rt->outcome.stats.core_time += hd_clock_us() - rt->entered - rt->clock_cost;
}

/* Gives the lock back and does what was put off. Returns how many blocks are to be allocated without the lock: *wanted
 * says which. */
static unsigned leave_once(heddle_runtime *rt, struct hd_wanted *wanted)
{
	HD_HELD(&rt->lock);
	wanted->n = 0;
	struct hd_block *unwanted = NULL;
	/* Relaxed, pairs with nothing: `stopping` changes under the lock. While the runtime stops, devices may be
	 * closed without this thread, and start.c frees what is left. */
	if ((rt->unwanted || rt->wanted.n) && !atomic_load_explicit(&rt->stopping, memory_order_relaxed))
		unwanted = hd_blocks_unload(rt, wanted);
	if (rt->errands.n_roused)
		leave_and_rouse(rt);
	else
		hd_unlock(&rt->lock);
	hand_over(rt);
	hd_blocks_free(rt, unwanted);
	return wanted->n;
}

/* Allocates blocks without the lock, then enters the core and tries the tasks again that wait for them. */
static void fetch_blocks(heddle_runtime *rt, struct hd_wanted *wanted)
{
	struct hd_sentence before; /* of what this thread does: the function that leaves the core may have set one */
	hd_error_keep(&before);
	struct hd_block *made = hd_blocks_make(rt, wanted);
	hd_core_enter(rt);
	hd_core_clock(rt, rt->engine->now(rt));
	rt->dispatch.releaser = -1;
	hd_blocks_deliver(rt, wanted, made);
	hd_core_settle(rt);
	hd_wake_if_still(rt, NULL);
	hd_error_give_back(&before);
}

static __attribute__((noinline)) void leave_with_errands(heddle_runtime *rt)
{
	struct hd_wanted wanted;
	while (leave_once(rt, &wanted)) {
		fetch_blocks(rt, &wanted);
		finish_inside(rt);
	}
}

void hd_core_leave(heddle_runtime *rt)
{
	finish_inside(rt);
	if (HD_UNLIKELY(rt->errands.n_roused || rt->unwanted || rt->wanted.n)) {
		leave_with_errands(rt);
		return;
	}
	hd_unlock(&rt->lock);
	hand_over(rt);
}
