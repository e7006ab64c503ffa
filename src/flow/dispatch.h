/* From a ready task to its end on a worker: dispatch.c and hungry_workers.c. The core lock is held in all functions. */
#ifndef HD_DISPATCH_H
#define HD_DISPATCH_H

#include <heddle/runtime.h>
#include <heddle/task.h>
#include "state/runtime.h"

/* dispatch.c: from a ready task to its end on a worker; all under the lock. */
/* Tells the policy what has become ready, runs controls, gives tasks to hungry workers. Call before leaving the
 * lock. */
void hd_core_settle(heddle_runtime *rt);
/* The same, but runs no callbacks: hd_core_call_back must be called before the lock is left. */
void hd_core_settle_quietly(heddle_runtime *rt);
/* Runs the callbacks of tasks that have ended, and settles what follows from them. */
void hd_core_call_back(heddle_runtime *rt);
/* Gives the worker as many tasks as it can hold, then settles, but runs no callbacks: the caller must call
 * hd_core_call_back before it leaves the lock. Afterwards hd_core_take returns the worker's next task, or NULL if there
 * is none now. A worker that can hold another task is then in the hungry list. */
void hd_core_refill(struct hd_worker *w);
void hd_worker_enter(struct hd_worker *w, enum hd_worker_state state);
/* Puts the worker into the hungry list, unless it is there already or cannot be given tasks. */
void hd_core_hungry(struct hd_worker *w);
/* Takes the first staged task of a worker; NULL: it has none, or must not begin any. For workers with one slot. */
static inline heddle_task *hd_core_take(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	if (!w->staged.first || HD_UNLIKELY(!w->pipeline))
		return NULL;
	w->rt->count.staged--;
	return hd_queue_pop(&w->staged);
}
/* Takes the first staged task for which a slot is free, and sets *slot to that; NULL: there is none. */
heddle_task *hd_core_take_for_slot(struct hd_worker *w, struct hd_slot **slot);
/* Book-keeping when a task begins on a slot, and when its kernel has returned there, at ran->end. */
void hd_core_begin(struct hd_slot *slot, heddle_task *t, double now);
void hd_core_finish(struct hd_slot *slot, heddle_task *t, int status, const struct hd_span *ran);
/* The end of a task whose kernel ran from `start` to `end`: at `end` or, if the task ends by events, at `now`. */
void hd_core_conclude(heddle_task *t, double start, double end, double now);
/* Undoes hd_core_begin for a task of a burst that has not run: it is the worker's first staged task again. */
void hd_core_unbegin(struct hd_worker *w, heddle_task *t);
/* us that a picked task is expected to take: what its model predicts, otherwise what tasks of its codelet took. */
static inline double hd_core_expected(const heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	return t->link.u.key > 0 ? t->link.u.key : t->codelet->typical_us;
}
/* All transfers of a picked task have ended; `status` is not 0 if its data cannot be had. */
void hd_core_staged(heddle_runtime *rt, heddle_task *t, int status);
/* Retries a task that waited for memory. */
void hd_core_restage(heddle_runtime *rt, heddle_task *t);
/* The slot on which a task must run that its worker has picked, because its private copies belong to it; NULL: any. */
struct hd_slot *hd_task_slot(heddle_runtime *rt, const heddle_task *t);
/* us: when the worker will have run all tasks that it holds, as predicted; at least `now`. If it has several slots,
 * other tasks are supposed to keep all of them busy. */
double hd_worker_free_at(struct hd_worker *w, double now);
/* Takes the worker out of the hungry list, if it is there. */
void hd_core_not_hungry(struct hd_worker *w);

#endif
