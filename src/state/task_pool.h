/* The memory of tasks: task_pool.c. */
#ifndef HD_STATE_TASK_POOL_H
#define HD_STATE_TASK_POOL_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/task.h>
#include "base/fresh.h"
#include "runtime.h"
#include "task.h"

struct slab;

/* A submitting thread takes free tasks from a list of its own (struct hd_submitter), which it fills from the pool.
 * Tasks are given back to the pool under the core lock. */
struct hd_size_class {
	heddle_task *open; /* the open bundle: fewer than HD_BUNDLE free tasks, linked by link.next */
	size_t n_open;
	heddle_task *bundles; /* full bundles, linked by the link.prev of their first tasks */
};
struct hd_task_pool {
	struct hd_size_class classes[HD_SIZE_CLASSES];
	/* all slabs; the slabs of large tasks are allocated one by one, the others in the arena `memory` */
	struct slab *slabs;
	uint64_t bytes;         /* bytes of all slabs */
	struct hd_fresh memory; /* the arena of the slabs */
};
enum { HD_SIZE_STEP = 64, HD_BUNDLE = 64 };
int hd_pool_open(struct hd_task_pool **out);   /* returns 0 or HEDDLE_E_MEMORY */
void hd_pool_close(struct hd_task_pool *pool); /* NULL is allowed */
/* The size class of tasks of `task_size` bytes; HD_SIZE_CLASSES: larger than all classes. */
static inline unsigned hd_size_class(size_t task_size)
{
	size_t size_class = (task_size - 1) / HD_SIZE_STEP;
	return size_class < HD_SIZE_CLASSES ? (unsigned)size_class : HD_SIZE_CLASSES;
}
/* Takes up to HD_BUNDLE free tasks of a size class, linked by link.next. NULL: no task is free. */
heddle_task *hd_pool_take_bundle(struct hd_task_pool *pool, unsigned size_class);
/* Makes a slab of free tasks of `task_size` bytes; a large task has a slab of its own. May make a system call, so
 * submitting threads call it without the core lock. `held`: 1 if the caller holds the lock. NULL when out of memory. */
struct slab *hd_pool_make(struct hd_task_pool *pool, size_t task_size, int held);
/* Adds a new slab to the pool, and takes a bundle of the slab's tasks. */
heddle_task *hd_pool_add(struct hd_task_pool *pool, struct slab *slab);
/* Takes one free task of `task_size` bytes, from a new slab if there is none. NULL when out of memory. */
heddle_task *hd_pool_take(struct hd_task_pool *pool, size_t task_size);
/* Bytes of the task's memory. The hd_use records of its accesses lie at the end of this memory (memory/uses.c). */
size_t hd_pool_task_size(const heddle_task *t);
/* The slow path of hd_pool_give: frees a task that is larger than all classes, with its slab. */
void hd_pool_remove(struct hd_task_pool *pool, heddle_task *t);
/* Gives a free task back: it joins the open bundle of its class; a bundle that becomes full is put away whole. */
static inline void hd_pool_give(struct hd_task_pool *pool, heddle_task *t)
{
	if (HD_UNLIKELY(t->size_class == HD_SIZE_CLASSES)) {
		hd_pool_remove(pool, t);
		return;
	}
	struct hd_size_class *c = &pool->classes[t->size_class];
	t->link.next = c->open;
	c->open = t;
	if (HD_LIKELY(++c->n_open < HD_BUNDLE))
		return;
	t->link.prev = c->bundles;
	c->bundles = t;
	c->open = NULL;
	c->n_open = 0;
}
/* Releases one reference to a task. The last release gives the task's memory back to the pool. */
static inline void hd_task_unref(heddle_runtime *rt, heddle_task *t)
{
	if (--t->refs)
		return;
	if (HD_LIKELY(!t->extra))
		hd_pool_give(rt->pool, t);
	else
		hd_task_retire(rt, t);
}
/* Calls f for every task in the pool's memory, including free ones: f must check the state of each. */
void hd_pool_each(const struct hd_task_pool *pool, void (*f)(const heddle_task *, void *), void *arg);

#endif
