/* What aside.c offers: tasks that are too shallow for a worker whose kernel waits. */
#ifndef HD_CORE_ASIDE_H
#define HD_CORE_ASIDE_H

#include <stdint.h>
#include <heddle/runtime.h>
#include <heddle/task.h>
#include "state/worker.h"

/* The depth of the tasks that the calling thread submits here. */
uint16_t hd_depth_here(const heddle_runtime *rt);
/* Whether the worker must not begin the task now. */
static inline int hd_is_too_shallow(const struct hd_worker *w, const heddle_task *t)
{
	return HD_UNLIKELY(t->depth < w->floor) && !t->status && !(t->special & HD_TASK_EXPANDS);
}
/* The kernel of a task that the worker runs begins to wait: from now on it is given deeper tasks only. Staged tasks
 * that are not deeper come back to the policy; the caller settles. */
void hd_aside_raise_floor(struct hd_worker *w, const heddle_task *t);
/* The kernel goes on: the floor is again what it was before. */
void hd_aside_lower_floor(struct hd_worker *w, uint16_t floor);
/* Keeps a ready task that the policy has given to the worker until the worker may begin it, or another one can. */
void hd_aside_push(struct hd_worker *w, heddle_task *t);
/* Takes a task that was put aside and that the worker may begin: for this worker, or for another one. NULL: there is
 * none. */
heddle_task *hd_aside_own(struct hd_worker *w);
heddle_task *hd_aside_of_others(struct hd_worker *w);
/* Nothing moves, and nobody may act: takes the deepest task that was put aside for a worker, which may begin the task
 * all the same. NULL: there is no such task, or nobody runs the tasks of those workers. */
heddle_task *hd_aside_at_rest(heddle_runtime *rt, struct hd_worker **w);
/* Takes all tasks that were put aside for a worker into a queue, or only those of them that were given up. */
void hd_aside_take(struct hd_worker *w, int given_up, struct hd_task_queue *to);

/* dispatch.c. Nothing moves, and nobody may act: lets a worker begin a task that was put aside. Returns whether there
 * was one; then the caller settles. */
int hd_core_admit_aside(heddle_runtime *rt);
/* Ends the tasks that were put aside and have been given up. */
void hd_core_end_aside(heddle_runtime *rt);

/* submit.c: from now on the calling thread runs kernels (1), or only the program itself again (0). The lock is held. */
void hd_submitter_nests(heddle_runtime *rt, int nests);

#endif
