/* Tasks that are kept aside because they are too shallow for a worker whose kernel waits. aside.c defines depth and
 * floor. */
#ifndef HD_FLOW_ASIDE_H
#define HD_FLOW_ASIDE_H

#include <stdint.h>
#include <heddle/runtime.h>
#include <heddle/task.h>
#include "state/worker.h"

/* The depth of tasks that the calling thread submits. */
uint16_t hd_depth_here(const heddle_runtime *rt);
/* Whether the task is too shallow for the worker to begin now. */
static inline int hd_is_too_shallow(const struct hd_worker *w, const heddle_task *t)
{
	return HD_UNLIKELY(t->depth < w->floor) && !t->status && !(t->special & HD_TASK_EXPANDS);
}
/* Raises the worker's floor: the kernel of task `t` begins to wait, and the worker gets only deeper tasks. Staged tasks
 * that are not deeper return to the policy; the caller settles. */
void hd_aside_raise_floor(struct hd_worker *w, const heddle_task *t);
/* Restores the worker's earlier floor, because the kernel continues. */
void hd_aside_lower_floor(struct hd_worker *w, uint16_t floor);
/* Keeps a ready task aside that the policy has given to the worker, until this or another worker may begin it. */
void hd_aside_push(struct hd_worker *w, heddle_task *t);
/* Takes an aside task that the worker may begin, for this worker or for another one. NULL: none. */
heddle_task *hd_aside_own(struct hd_worker *w);
heddle_task *hd_aside_of_others(struct hd_worker *w);
/* Called when nothing moves and no thread may act: takes the deepest aside task of some worker, and sets *w to this
 * worker, which may now begin the task in spite of its floor. NULL: there is no aside task, or no thread runs the tasks
 * of these workers. */
heddle_task *hd_aside_at_rest(heddle_runtime *rt, struct hd_worker **w);
/* Moves the worker's aside tasks to a queue: all of them, or only the cancelled ones. */
void hd_aside_take(struct hd_worker *w, int given_up, struct hd_task_queue *to);

/* Called when nothing moves and no thread may act: lets a worker begin an aside task. Returns whether there was one;
 * then the caller settles. In dispatch.c. */
int hd_core_admit_aside(heddle_runtime *rt);
/* Ends the cancelled tasks among those kept aside. */
void hd_core_end_aside(heddle_runtime *rt);

/* From now on the calling thread runs kernels (1), or only code of the program outside kernels (0). Called with the
 * core lock. In submit.c. */
void hd_submitter_nests(heddle_runtime *rt, int nests);

#endif
