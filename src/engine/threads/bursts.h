/* Bursts: several tiny tasks that a worker runs without the lock. For the threaded engine only. */
#ifndef HD_ENGINE_THREADS_BURSTS_H
#define HD_ENGINE_THREADS_BURSTS_H

#include "core/runtime.h"

/* The worker begins `t`, and the staged tasks behind it as long as they are expected to take less than `us` together.
 * Returns how many there are, in w->burst. The first is claimed. The lock is held. */
unsigned hd_burst_begin(struct hd_worker *w, heddle_task *t, double us, double now);
/* Whether task i of the burst, the next one, is still the worker's to run. Only its thread, without the lock. */
static inline int hd_burst_claim(struct hd_worker *w, unsigned i)
{
	/* relaxed: see the field; pairs: nothing */
	return atomic_fetch_add_explicit(&w->claimed, 1, memory_order_relaxed) == i;
}
/* The worker is back with the lock. */
void hd_burst_end(struct hd_worker *w);
/* A worker that has been at one task for more than `overdue` us leaves those that it took along to `w`, if it can run
 * them. The lock is held. */
void hd_bursts_rescue(struct hd_worker *w, double overdue);

#endif
