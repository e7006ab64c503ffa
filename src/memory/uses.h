/* Future uses: while a memory is tight, each datum has a list of the tasks that will use it next. Only tasks with
 * HD_TASK_USES are listed: uses.c. */
#ifndef HD_MEMORY_USES_H
#define HD_MEMORY_USES_H

#include <stdint.h>
#include <heddle/data.h>
#include <heddle/runtime.h>
#include "state/task.h"

/* One future use: an access of a task whose data are not pinned yet, in the list of its datum. */
struct hd_use {
	struct hd_use *next, **prev_next; /* prev_next is NULL while the record is in no list */
	struct hd_access *access;         /* borrowed: an access of the task in whose memory this record lies */
	/* 1 + the node where the task will run, or to which its data are prefetched; 0: not known. While the task is
	 * not listed, only its first record has a defined `place`, and only if the task has HD_TASK_PLACED. */
	uint16_t place;
};
/* Whether the access uses the datum's own replicas: SCRATCH and REDUX use private copies instead. */
static inline int hd_is_use(const struct hd_access *a)
{
	return !(a->flags & HD_ACCESS_ALIAS) && a->mode != HEDDLE_SCRATCH && a->mode != HEDDLE_REDUX;
}
/* Whether the task belongs in the lists while a memory is tight: it is in the graph, and will use data. */
static inline int hd_uses_are_due(const heddle_task *t)
{
	/* relaxed, pairs with nothing: the core lock is held whenever the state of a task in the graph changes. Of a
	 * task outside the graph, or an ended task, only the state may be read, because another thread may be making a
	 * new task in its memory. */
	unsigned state = atomic_load_explicit(&t->state, memory_order_relaxed);
	return state >= HD_WAITING && state < HD_STAGED && (t->special & HD_TASK_USES) &&
	       !(t->special & HD_TASK_EXPANDS) && t->codelet && t->n_accesses;
}
/* To be called when a task with HD_TASK_USES has entered the graph; has no effect while no memory is tight. */
void hd_uses_enter(heddle_task *t);
void hd_uses_unlist(heddle_task *t);
/* To be called when the task has its data, or needs none any more. */
static inline void hd_uses_leave(heddle_task *t)
{
	t->special &= (uint16_t)~HD_TASK_USES;
	if (HD_UNLIKELY(t->special & HD_TASK_LISTED))
		hd_uses_unlist(t);
}
/* Notes that the task will probably run on the node. */
void hd_uses_place(heddle_task *t, unsigned node);
/* Called when the first memory has become tight: puts all tasks of the graph that will use data into the lists.
 * HEDDLE_E_MEMORY. */
int hd_uses_list(heddle_runtime *rt);
/* Called when no memory is tight any more: takes all tasks out of the lists. */
void hd_uses_forget(heddle_runtime *rt);
/* hd_next_use predicts the turn at which the replica of the datum on `node`, which is not main memory, is needed next:
 * the smaller the turn, the sooner.
 *
 *     bit   63  62     61     60  59        58 .. 27                26 .. 0
 *           0   NEVER  WAITS  0   ANYWHERE  INT32_MAX - priority    order of submission modulo 2^27
 *
 * NEVER: no submitted task needs the replica; all other bits are 0. The other bits describe the next task that needs
 * it. WAITS: the task waits for other tasks. ANYWHERE: the task is ready but may run on another accelerator, and few
 * other tasks may need the replica. Bit 60 is left to the ranks of rule_next_use.c. */
#define HD_NEVER ((uint64_t)1 << 62)
#define HD_WAITS ((uint64_t)1 << 61)
#define HD_ANYWHERE ((uint64_t)1 << 59)
uint64_t hd_next_use(const heddle_data *d, unsigned node);
/* The turn of the datum's next use, if the task of this use needs the value and is expected on an accelerator other
 * than `node`; else HD_NEVER. */
uint64_t hd_next_use_elsewhere(const heddle_data *d, unsigned node);

#endif
