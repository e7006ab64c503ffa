/* Bursts: several tiny tasks that a worker runs one after the other without taking the lock in between. */
#ifndef HD_ENGINE_THREADS_BURSTS_H
#define HD_ENGINE_THREADS_BURSTS_H

#include "flow/dispatch.h"

/* The worker begins a burst of one task. The lock is held. */
static inline void hd_burst_begin(struct hd_worker *w, heddle_task *t, double now)
{
	HD_HELD(&w->rt->lock);
	w->burst_expected = hd_core_expected(t); /* before hd_core_begin: then the policy may use the task's link */
	hd_core_begin(&w->slots[0], t, now);
	w->burst[0] = t;
	w->burst_size = 1;
	/* Relaxed, pairs with nothing: the lock is held, and the worker reads the word after it was given the burst. */
	atomic_store_explicit(&w->claimed, 0, memory_order_relaxed);
}
/* Adds staged tasks to a burst of one: as many as are expected to take less than `us` us together, so that their
 * successors wait no longer than that. The lock is held. */
void hd_burst_extend(struct hd_worker *w, double us, double now);
/* Claims all tasks of the burst that are left, and stages them again. They are all tasks of the burst if the worker's
 * thread has not begun it: perhaps it sleeps, and nothing has woken it yet. The lock is held. */
void hd_burst_take_back(struct hd_worker *w);
/* Claims task i of the burst, the next one. Returns 0 if another worker has claimed it. Called by the worker's own
 * thread, without the lock. */
static inline int hd_burst_claim(struct hd_worker *w, unsigned i)
{
	/* Relaxed, pairs with nothing: see the field `claimed`. */
	return atomic_fetch_add_explicit(&w->claimed, 1, memory_order_relaxed) == i;
}
/* The worker has run the tasks that it claimed, and holds the lock again. */
static inline void hd_burst_end(struct hd_worker *w)
{
	w->rt->count.bursts -= w->burst_size > 1;
	w->burst_size = 0;
}
/* Moves those staged tasks of `from` that `to` can run as well to the staged tasks of `to`, in their order. The lock is
 * held. */
void hd_burst_hand_over(struct hd_worker *from, struct hd_worker *to);
/* Moves tasks to `w` from workers that have been at one task for more than `overdue` us and twice as long as expected:
 * the tasks that are staged there or left of the burst, if `w` can run them. Returns whether `w` must stay awake: it
 * has staged tasks now, or it may have to take some over later, from a worker that is not overdue yet. The lock is
 * held. */
int hd_bursts_rescue(struct hd_worker *w, double overdue);

#endif
