/* Bursts: tiny tasks that a worker runs one after the other without entering the core between them. */
#ifndef HD_ENGINE_THREADS_BURSTS_H
#define HD_ENGINE_THREADS_BURSTS_H

#include "flow/dispatch.h"

/* Begins a burst of one task. Called with the core lock. */
static inline void hd_burst_begin(struct hd_worker *w, heddle_task *t, double now)
{
	HD_HELD(&w->rt->lock);
	/* computed before hd_core_begin, after which the policy may use t->link */
	w->burst_expected = hd_core_expected(t);
	hd_core_begin(&w->slots[0], t, now);
	w->burst[0] = t;
	w->burst_size = 1;
	/* Relaxed, pairs with nothing: the core lock is held, and the worker's thread reads the word after it was given
	 * the burst. */
	atomic_store_explicit(&w->claimed, 0, memory_order_relaxed);
}
/* Adds staged tasks to a burst of one: as many tasks as are expected to take less than `us` us together. The limit
 * bounds how long their successors wait for the end of the burst. Called with the core lock. */
void hd_burst_extend(struct hd_worker *w, double us, double now);
/* Claims all remaining tasks of the burst, and stages them again: all tasks of the burst if the worker's thread has not
 * begun it, for example because the thread has not woken up yet. Called with the core lock. */
void hd_burst_take_back(struct hd_worker *w);
/* Claims task i, the next task of the burst. Returns 0 if another worker has claimed it. Called by the worker's own
 * thread, without the core lock. */
static inline int hd_burst_claim(struct hd_worker *w, unsigned i)
{
	/* Relaxed, pairs with nothing: see the field `claimed`. */
	return atomic_fetch_add_explicit(&w->claimed, 1, memory_order_relaxed) == i;
}
/* Ends the burst: the worker's thread has run the tasks that it has claimed, and holds the core lock again. */
static inline void hd_burst_end(struct hd_worker *w)
{
	w->rt->count.bursts -= w->burst_size > 1;
	w->burst_size = 0;
}
/* Moves the staged tasks of `from` that `to` can run, too, to the staged tasks of `to`, in order. Called with the core
 * lock. */
void hd_burst_hand_over(struct hd_worker *from, struct hd_worker *to);
/* Moves tasks to `w` from overdue workers. A worker is overdue if it has run one task for more than `overdue` us and
 * for more than twice the expected time of its burst, if that time is known. Moves the staged tasks of such a worker
 * and the remaining tasks of its burst, if `w` can run them. Returns whether `w` must stay awake: `w` has staged tasks
 * now, or may take over tasks later, from a worker that is not overdue yet. Called with the core lock. */
int hd_bursts_rescue(struct hd_worker *w, double overdue);

#endif
