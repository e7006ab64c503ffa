/* Acquiring and releasing the core lock. Code below src/flow releases it with hd_core_unlock. hd_core_leave of
 * flow/errands.c releases it and also does the work that was put off while it was held. */
#ifndef HD_STATE_CORE_LOCK_H
#define HD_STATE_CORE_LOCK_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/runtime.h>
#include "engine.h"
#include "runtime.h"

/* Called right after the core lock was acquired. */
static inline void hd_core_entered(heddle_runtime *rt)
{
	rt->entries++;
	if (HD_UNLIKELY(rt->config.time_core))
		rt->entered = hd_clock_us();
}
/* Acquires the core lock; blocks until it is free. */
static inline void hd_core_enter(heddle_runtime *rt)
{
	hd_lock(&rt->lock);
	hd_core_entered(rt);
}
/* Acquires the core lock if it is free; never blocks. Returns whether the caller has the lock now. */
static inline int hd_core_try_enter(heddle_runtime *rt)
{
	if (!hd_try_lock(&rt->lock))
		return 0;
	hd_core_entered(rt);
	return 1;
}

/* Sets the time of the critical section to `now` (us), which the caller read before it acquired the lock. The time is
 * monotonic: a later time that another thread has set meanwhile is kept. */
static inline void hd_core_clock(heddle_runtime *rt, double now)
{
	if (HD_LIKELY(now > rt->now))
		rt->now = now;
}
/* Sets the time of the critical section to the present. */
static inline void hd_core_clock_now(heddle_runtime *rt)
{
	hd_core_clock(rt, rt->engine->now(rt));
}

/* Adds the time since the lock was acquired to the statistics, if the setting time_core asks for it. */
static inline void hd_core_count_time(heddle_runtime *rt)
{
	if (HD_UNLIKELY(rt->config.time_core))
		rt->outcome.stats.core_time += hd_clock_us() - rt->entered - rt->clock_cost;
}
/* Called without the core lock, right after it was released. If workers have asked to be served (flat combining, see
 * heddle_runtime.posts), wakes the first of them. That worker acquires the lock itself and serves the others, too. */
static inline void hd_core_hand_over(heddle_runtime *rt)
{
	for (size_t i = 0; i < rt->n_posts; i++) {
		/* pairs: the worker that sets its bit; see heddle_runtime.posts */
		uint64_t bits = atomic_load_explicit(&rt->posts[i], memory_order_seq_cst);
		if (HD_LIKELY(!bits))
			continue;
		hd_wakeup_set(&rt->workers[64 * i + (unsigned)__builtin_ctzll(bits)].wake);
		return;
	}
}
/* Releases the core lock, after a critical section that changes nothing for which other threads wait. Work that was put
 * off (struct hd_errands) stays until the next hd_core_leave. */
static inline void hd_core_unlock(heddle_runtime *rt)
{
	hd_core_count_time(rt);
	hd_unlock(&rt->lock);
	hd_core_hand_over(rt);
}

#endif
