/* Initialising tasks, and making the tasks of the core itself: task_make.c. */
#ifndef HD_STATE_TASK_MAKE_H
#define HD_STATE_TASK_MAKE_H

#include <stddef.h>
#include <string.h>
#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>
#include "runtime.h"

/* Initialises the memory of a task: not in the graph, without a codelet and without accesses. */
static inline void hd_task_clear(heddle_runtime *rt, heddle_task *t)
{
	_Static_assert(offsetof(heddle_task, state) > HD_CACHE_LINE, "the first line is cleared whole");
	/* One memset per cache line: for few bytes compilers emit a few stores, for more bytes an instruction that is
	 * slow to start. */
	memset(t, 0, HD_CACHE_LINE);
	memset((char *)t + HD_CACHE_LINE, 0, offsetof(heddle_task, state) - HD_CACHE_LINE);
	/* Relaxed, pairs with nothing: the task is not in the graph. Only heddle_dump may read its state meanwhile, and
	 * it skips tasks that are not in the graph. */
	atomic_store_explicit(&t->state, HD_OUTSIDE, memory_order_relaxed);
	t->cancelled = t->waited = t->aside = 0;
	t->refs = 1;
	t->special = rt->special;
	t->link.u.ptr = rt; /* see hd_task_runtime */
}

/* Bytes of a task with `n_accesses` accesses and `value_bytes` bytes behind them. */
static inline size_t hd_task_size(const heddle_runtime *rt, size_t n_accesses, size_t value_bytes)
{
	return sizeof(heddle_task) + n_accesses * rt->access_bytes + value_bytes;
}

/* Makes a task for the core itself; the caller holds the core lock and sets the accesses. NULL when out of memory. */
heddle_task *hd_task_make(heddle_runtime *rt, heddle_codelet *codelet, size_t n_accesses);
void hd_task_set_access(heddle_task *t, size_t i, heddle_data *d, unsigned mode);
/* Makes a control task, with room for a struct hd_inside_of; the caller sets the accesses. NULL when out of memory. */
heddle_task *hd_control_make(heddle_runtime *rt, int kind, size_t n_accesses);
/* Reinitialises a control task that has ended, for another step. Its memory has room for `n_accesses` accesses, which
 * the caller sets. */
void hd_control_renew(heddle_task *t, int kind, size_t n_accesses);

#endif
