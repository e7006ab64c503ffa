/* Who will use each datum next, while some memory is tight; for tasks with HD_TASK_USES: uses.c. Included by data.h. */
#ifndef HD_USES_H
#define HD_USES_H

#include <heddle/runtime.h>
#include <stdint.h>
#include <heddle/data.h>
#include "state/task.h"

/* One access of a task that has not got its data yet, in the list of its datum. */
struct hd_use {
	struct hd_use *next, **prev_next; /* prev_next is NULL if it is in no list */
	struct hd_access *access;         /* borrowed: of the same task */
	/* 1 + the node where the task will run, or where its data are prefetched to; 0: not known. While the task is
	 * not listed, only that of its first access is defined. */
	uint16_t place;
};
/* Whether the access is to the datum's own copies: SCRATCH and REDUX have private ones. */
static inline int hd_is_use(const struct hd_access *a)
{
	return !(a->flags & HD_ACCESS_ALIAS) && a->mode != HEDDLE_SCRATCH && a->mode != HEDDLE_REDUX;
}
/* Whether the task is to be listed while a memory is tight: it is in the graph, and will use data. */
static inline int hd_uses_are_due(const heddle_task *t)
{
	/* relaxed, pairs with nothing: the core lock is held whenever the state of a task in the graph changes. Of
	 * tasks outside the graph, and of those that have ended, nothing else may be read: a thread may be making a new
	 * task in their memory. */
	unsigned state = atomic_load_explicit(&t->state, memory_order_relaxed);
	return state >= HD_WAITING && state < HD_STAGED && (t->special & HD_TASK_USES) &&
	       !(t->special & HD_TASK_EXPANDS) && t->codelet && t->n_accesses;
}
/* The task, which has a codelet, has entered the graph. */
void hd_uses_enter(heddle_task *t);
/* The task has its data or needs none any more. */
void hd_uses_leave(heddle_task *t);
/* The task will probably run on the node. */
void hd_uses_place(heddle_task *t, unsigned node);
/* Lists all tasks of the graph that will use data, because the first memory is tight. HEDDLE_E_MEMORY. */
int hd_uses_list(heddle_runtime *rt);
/* Takes all tasks out of the lists, because no memory is tight. */
void hd_uses_forget(heddle_runtime *rt);
/* When a copy of the datum on `node`, not main memory, will be needed there: the less, the sooner. HD_NEVER: no
 * submitted task needs it there. */
#define HD_NEVER ((uint64_t)1 << 62)
#define HD_WAITS ((uint64_t)1 << 61) /* set if that task waits for others; the bit below is always 0 */
/* Set if that task is ready, but may run on another accelerator, and few others may need the copy. */
#define HD_ANYWHERE ((uint64_t)1 << 59)
uint64_t hd_next_use(const heddle_data *d, unsigned node);
/* When the datum is used next, if the task that does so needs the value and is expected on an accelerator other than
 * `node`; else HD_NEVER. */
uint64_t hd_next_use_elsewhere(const heddle_data *d, unsigned node);

#endif
