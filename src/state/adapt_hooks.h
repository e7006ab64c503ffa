/* What the heuristics of src/adapt are told and asked. This header declares the table; src/adapt fills it at the start,
 * and knows the core, while the core and the data know the heuristics by this table alone. A part of the runtime.
 *
 * A function that no heuristic of the runtime wants is NULL: then its caller pays for one test. All are called with the
 * core lock held. */
#ifndef HD_CORE_ADAPT_HOOKS_H
#define HD_CORE_ADAPT_HOOKS_H

#include <stddef.h>
#include <heddle/task.h>

struct hd_check;
struct hd_cluster_choice;
struct hd_expansions;
struct hd_memory;
struct hd_replica;

/* Const after start, but for what hd_adapt_clusters_end clears. */
struct hd_adapt {
	/* The expansion of hierarchical tasks. `choose` says what becomes of a task whose codelet has no `expand`: 1 +
	 * the index of a sub-graph, 0 to run the kernel, or HD_EXPAND_LATER; NULL: the first sub-graph. */
	int (*choose)(heddle_runtime *rt, const heddle_task *t);
	void (*entered)(heddle_runtime *rt, heddle_task *t); /* a hierarchical task enters the graph */
	/* It is ready; `chosen` is what was chosen. After HD_EXPAND_LATER the heuristic has the task, counted in
	 * dispatch.n_undecided, until it calls hd_expand_do or hd_expand_not. */
	void (*ready)(heddle_runtime *rt, heddle_task *t, int chosen);
	void (*decide)(heddle_runtime *rt); /* processors may need work: some of the undecided tasks may be due */
	void (*child_entered)(heddle_runtime *rt, const heddle_task *child); /* a task of a sub-graph; controls, too */
	void (*child_ended)(heddle_runtime *rt, const heddle_task *child);
	void (*submitted)(heddle_runtime *rt, heddle_task *t, int status); /* its sub-graph, or that has failed */
	void (*ended)(heddle_runtime *rt, heddle_task *t);                 /* a task that has an `extra` */

	/* The set of workers. `count`: the task becomes one that the policy has or will have (1), or is none any more
	 * (-1); `count_none`: it has none. `drive` may drive other clusters; the caller settles. */
	void (*count)(heddle_runtime *rt, const heddle_task *t, int sign);
	void (*count_none)(heddle_runtime *rt);
	void (*drive)(heddle_runtime *rt);

	/* Memories that are nearly full, if the rule of eviction looks ahead. What follows from all this is in
	 * memory->distrusted and memory->in_order. */
	void (*tightened)(struct hd_memory *m, int tight);   /* the memory has become tight, or loose */
	void (*used)(heddle_task *t, unsigned node);         /* the task has its data on the node, which is tight */
	void (*prefetched)(struct hd_replica *r);            /* a prefetch has begun to bring the copy */
	void (*evicted)(const struct hd_replica *r);         /* the copy is about to be; `left` follows */
	void (*left)(const struct hd_replica *r);            /* the copy leaves its memory */
	void (*replaced)(const heddle_data *d, size_t node); /* the only value is there; SIZE_MAX: nowhere */

	/* The invariants of what the heuristics remember of tasks and of memories: inspect/check.h. */
	int (*check_tasks)(struct hd_check *c);
	int (*check_memories)(struct hd_check *c);

	/* Bytes that each `extra` of a task ends with, and each datum, from `datum_at` on: cleared to zeros. */
	size_t task_bytes, datum_bytes, datum_at;

	/* Owned by src/adapt; NULL: not used. */
	struct hd_expansions *expansions;
	struct hd_cluster_choice *clusters;
};

/* From now on the program says which workers are driven. */
static inline void hd_adapt_clusters_end(struct hd_adapt *a)
{
	a->count = NULL;
	a->count_none = NULL;
	a->drive = NULL;
}

#endif
