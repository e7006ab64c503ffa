/* Leaving the core. What happens under the core lock delays everybody, so what takes a system call is put off until
 * the lock is given back: waking threads that sleep, and freeing memory. Whoever gives the lock back also tells a
 * worker that has asked to be served meanwhile. */
#include <stdlib.h>
#include "runtime.h"

void hd_core_wake(heddle_runtime *rt, struct hd_event *event)
{
	HD_HELD(&rt->lock);
	if (!hd_event_mark(event))
		return;
	struct hd_errands *e = &rt->errands;
	if (HD_LIKELY(e->n_roused < HD_MAX_ROUSED))
		e->roused[e->n_roused++] = event;
	else
		hd_event_rouse(event);
}

/* Gives the lock back and wakes the threads in the list, which is copied, because the next holder begins a new one. */
static void leave_and_rouse(heddle_runtime *rt)
{
	struct hd_errands e = rt->errands;
	rt->errands.n_roused = 0;
	hd_unlock(&rt->lock);
	for (unsigned i = 0; i < e.n_roused; i++)
		hd_event_rouse(e.roused[i]);
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

void hd_core_leave(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	if (rt->errands.starting)
		rt->engine->start(rt);
	if (HD_UNLIKELY(rt->config.time_core))
		rt->outcome.stats.core_time += hd_clock_us() - rt->entered - rt->clock_cost;
	/* While the runtime stops, devices may be closed without this thread: start.c frees what is left. */
	/* relaxed, pairs with nothing: `stopping` changes under the lock */
	int stopping = atomic_load_explicit(&rt->stopping, memory_order_relaxed);
	struct hd_block *unwanted = HD_LIKELY(!rt->unwanted) || stopping ? NULL : hd_blocks_unload(rt);
	if (HD_UNLIKELY(rt->errands.n_roused))
		leave_and_rouse(rt);
	else
		hd_unlock(&rt->lock);
	hand_over(rt);
	hd_blocks_free(rt, unwanted);
}
