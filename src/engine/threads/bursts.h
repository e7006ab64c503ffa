/* Bursts: several tiny tasks that a worker runs without the lock. For the threaded engine only. */
#ifndef HD_ENGINE_THREADS_BURSTS_H
#define HD_ENGINE_THREADS_BURSTS_H

#include "core/runtime.h"

/* Begins staged tasks behind the first as long as all are expected to take less than `us` together. Returns how many
 * the burst has. */
unsigned hd_burst_extend(struct hd_worker *w, double us, double expected, double now);
/* The worker begins `t`, which is claimed, and those that hd_burst_extend finds. The lock is held. */
static inline unsigned hd_burst_begin(struct hd_worker *w, heddle_task *t, double us, double now)
{
	HD_HELD(&w->rt->lock);
	double expected = hd_core_expected(t); /* before its link changes hands */
	hd_core_begin(w, t, now);
	w->burst[0] = t;
	w->burst_size = 1;
	return HD_LIKELY(!w->staged.first) || expected >= us ? 1 : hd_burst_extend(w, us, expected, now);
}
/* Whether task i of the burst, the next one, is still the worker's to run. Only its thread, without the lock. */
static inline int hd_burst_claim(struct hd_worker *w, unsigned i)
{
	/* relaxed: see the field; pairs: nothing */
	return atomic_fetch_add_explicit(&w->claimed, 1, memory_order_relaxed) == i;
}
/* The worker is back with the lock. */
static inline void hd_burst_end(struct hd_worker *w)
{
	w->rt->count.bursts -= w->burst_size > 1;
	w->burst_size = 0;
}
/* A worker that has been at one task for more than `overdue` us leaves those that it took along to `w`, if it can run
 * them. Whether `w` must not fall asleep now: it has tasks, or will have some if another worker takes longer than
 * expected. The lock is held. */
int hd_bursts_rescue(struct hd_worker *w, double overdue);

#endif
