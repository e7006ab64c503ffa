/* The core lock, taken and given back. What is below src/flow gives it back by hd_core_unlock; hd_core_leave of
 * flow/errands.c also does what was put off meanwhile. */
#ifndef HD_CORE_LOCK_H
#define HD_CORE_LOCK_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/runtime.h>

#include "runtime.h"

/* To be called when the core lock has been taken. */
static inline void hd_core_entered(heddle_runtime *rt)
{
	rt->entries++;
	if (HD_UNLIKELY(rt->config.time_core))
		rt->entered = hd_clock_us();
}
/* Takes the core lock. */
static inline void hd_core_enter(heddle_runtime *rt)
{
	hd_lock(&rt->lock);
	hd_core_entered(rt);
}
/* Takes the lock if it is free. Returns whether it was. */
static inline int hd_core_try_enter(heddle_runtime *rt)
{
	if (!hd_try_lock(&rt->lock))
		return 0;
	hd_core_entered(rt);
	return 1;
}

/* Sets the time of the critical section to `now`, which was read before the lock was taken. Time never goes back: if
 * another thread has set a later time meanwhile, that stays. */
static inline void hd_core_clock(heddle_runtime *rt, double now)
{
	if (HD_LIKELY(now > rt->now))
		rt->now = now;
}

/* Adds the time since the lock was taken to the statistics, if that is measured. */
static inline void hd_core_count_time(heddle_runtime *rt)
{
	if (HD_UNLIKELY(rt->config.time_core))
		rt->outcome.stats.core_time += hd_clock_us() - rt->entered - rt->clock_cost;
}
/* Without the lock, which was just given back: tells the first worker that asks to be served, if there is one, to take
 * the lock itself; that worker then serves the others, too. */
static inline void hd_core_hand_over(heddle_runtime *rt)
{
	for (size_t i = 0; i < rt->n_posts; i++) {
		/* pairs: the worker that sets its bit; see the field */
		uint64_t bits = atomic_load_explicit(&rt->posts[i], memory_order_seq_cst);
		if (HD_LIKELY(!bits))
			continue;
		hd_wakeup_set(&rt->workers[64 * i + (unsigned)__builtin_ctzll(bits)].wake);
		return;
	}
}
/* Gives the lock back. For critical sections that change nothing that others wait for. What has been put off
 * (hd_errands) is left to the next hd_core_leave. */
static inline void hd_core_unlock(heddle_runtime *rt)
{
	hd_core_count_time(rt);
	hd_unlock(&rt->lock);
	hd_core_hand_over(rt);
}

#endif
