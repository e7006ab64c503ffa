/* The life of a task from ready to its end on a worker: dispatch.c; the list of hungry workers: hungry_workers.c.
 * Functions are called with the core lock. */
#ifndef HD_FLOW_DISPATCH_H
#define HD_FLOW_DISPATCH_H

#include <heddle/runtime.h>
#include <heddle/task.h>
#include "state/runtime.h"

/* Settles: tells the policy which tasks have become ready, runs controls, gives tasks to hungry workers. Called before
 * the core lock is released. */
void hd_core_settle(heddle_runtime *rt);
/* Settles, but runs no callbacks: the caller calls hd_core_call_back before it releases the core lock. */
void hd_core_settle_quietly(heddle_runtime *rt);
/* Runs the callbacks of ended tasks, and settles afterwards. */
void hd_core_call_back(heddle_runtime *rt);
/* Gives the worker as many tasks as it can hold, then settles, but runs no callbacks: the caller calls
 * hd_core_call_back before it releases the core lock. Afterwards hd_core_take returns the worker's next task, or NULL
 * if there is none. A worker that can hold another task is then in the hungry list. */
void hd_core_refill(struct hd_worker *w);
void hd_worker_enter(struct hd_worker *w, enum hd_worker_state state);
/* Puts the worker into the hungry list, unless it is there already or cannot be given tasks. */
void hd_core_hungry(struct hd_worker *w);
/* Takes the first staged task of a worker. NULL: there is no staged task, or the worker must not begin tasks. Only for
 * workers with one slot. */
static inline heddle_task *hd_core_take(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	if (!w->staged.first || HD_UNLIKELY(!w->pipeline))
		return NULL;
	w->rt->count.staged--;
	return hd_queue_pop(&w->staged);
}
/* Takes the first staged task for which a slot is free, and sets *slot to the slot. NULL: there is no such task. */
heddle_task *hd_core_take_for_slot(struct hd_worker *w, struct hd_slot **slot);
/* hd_core_begin records that a task begins on a slot. hd_core_finish records that the task's kernel has returned on
 * this slot, at ran->end. */
void hd_core_begin(struct hd_slot *slot, heddle_task *t, double now);
void hd_core_finish(struct hd_slot *slot, heddle_task *t, int status, const struct hd_span *ran);
/* Ends a task whose kernel ran from `start` to `end`. The task ends at `end`, or at `now` if it ends by events. */
void hd_core_conclude(heddle_task *t, double start, double end, double now);
/* Undoes hd_core_begin for a task of a burst that has not run: the task becomes the worker's first staged task
 * again. */
void hd_core_unbegin(struct hd_worker *w, heddle_task *t);
/* The expected duration of a picked task in us: predicted by its model, otherwise the typical time of its codelet. */
static inline double hd_core_expected(const heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	return t->link.u.key > 0 ? t->link.u.key : t->codelet->typical_us;
}
/* All transfers of a picked task have ended; a `status` other than 0 means that some of its data could not be
 * transferred. */
void hd_core_staged(heddle_runtime *rt, heddle_task *t, int status);
/* Retries to stage a task that waited for memory. */
void hd_core_restage(heddle_runtime *rt, heddle_task *t);
/* The slot on which a picked task must run, because its private copies belong to the slot; NULL: any slot. */
struct hd_slot *hd_task_slot(heddle_runtime *rt, const heddle_task *t);
/* The predicted time, in us, at which the worker will have run all tasks that it holds; at least `now`. For a worker
 * with several slots it is assumed that other tasks keep all slots busy. */
double hd_worker_free_at(struct hd_worker *w, double now);
/* Takes the worker out of the hungry list, if it is there. */
void hd_core_not_hungry(struct hd_worker *w);

#endif
