/* The table of functions by which the runtime calls the heuristics of src/adapt. src/adapt fills the table at the start
 * of a runtime. src/adapt may use the whole core; the rooms below know the heuristics by this table alone.
 *
 * A function is NULL if no heuristic of the runtime wants the call: then its caller pays for one test. The core lock is
 * held during every call. */
#ifndef HD_STATE_ADAPT_HOOKS_H
#define HD_STATE_ADAPT_HOOKS_H

#include <stddef.h>
#include <heddle/task.h>
#include "base/base.h"

struct hd_check;
struct hd_cluster_choice;
struct hd_expansions;
struct hd_memory;
struct hd_replica;

/* Const after start, except for the three functions that hd_adapt_clusters_end sets to NULL. */
struct hd_adapt {
	/* The expansion of hierarchical tasks. `choose` decides how a task is run if its codelet has no `expand`. It
	 * returns 1 + the index of a sub-graph, 0 (run the kernel), or HD_EXPAND_LATER (undecided). NULL: the first
	 * sub-graph is taken. */
	int (*choose)(heddle_runtime *rt, const heddle_task *t);
	void (*entered)(heddle_runtime *rt, heddle_task *t); /* a hierarchical task enters the graph */
	/* A hierarchical task is ready; `chosen` is what `choose` returned. After HD_EXPAND_LATER the task belongs to
	 * the heuristic, and is counted in dispatch.n_undecided, until the heuristic calls hd_expand_do or
	 * hd_expand_not. */
	void (*ready)(heddle_runtime *rt, heddle_task *t, int chosen);
	void (*decide)(heddle_runtime *rt); /* decides about undecided tasks, because workers may lack tasks */
	/* a task of a sub-graph enters the graph; control tasks count, too */
	void (*child_entered)(heddle_runtime *rt, const heddle_task *child);
	void (*child_ended)(heddle_runtime *rt, const heddle_task *child);
	/* the sub-graph of `t` has been submitted; `status` is not 0 if the submission has failed */
	void (*submitted)(heddle_runtime *rt, heddle_task *t, int status);
	void (*ended)(heddle_runtime *rt, heddle_task *t); /* a task with an `extra` has ended */

	/* The choice of the clusters of cores that are driven. `count`: the policy gets the task, or will get it (sign
	 * 1); or the task is not for the policy any more (sign -1). `count_none`: the policy has no tasks at all.
	 * `drive` may change which clusters are driven; the caller settles. */
	void (*count)(heddle_runtime *rt, const heddle_task *t, int sign);
	void (*count_none)(heddle_runtime *rt);
	void (*drive)(heddle_runtime *rt);

	/* Memories that are tight (nearly full), called only if the eviction rule looks ahead. The heuristics answer by
	 * setting memory->distrusted. */
	void (*tightened)(struct hd_memory *m, int tight); /* the memory has become tight, or loose */
	/* all data of the task are on the node, whose memory is tight */
	void (*used)(heddle_task *t, unsigned node);
	void (*left)(const struct hd_replica *r); /* the replica's memory is being freed */
	/* only the replica on the node is valid now; SIZE_MAX: none is. Need not be told while no memory is tight */
	void (*replaced)(const heddle_data *d, size_t node);

	/* Check the records that the heuristics keep about tasks and about memories: inspect/check.h. */
	int (*check_tasks)(struct hd_check *c);
	int (*check_memories)(struct hd_check *c);

	/* Bytes that the heuristics use at the end of the `extra` of each hierarchical task, and in each datum's handle
	 * from the offset `datum_at` on. The runtime clears them to zeros. */
	size_t task_bytes, datum_bytes, datum_at;

	/* Owned by src/adapt; NULL: the heuristic is off. */
	struct hd_expansions *expansions;
	struct hd_cluster_choice *clusters;
};

/* Tells the heuristics that only the replica on `node` is valid now; SIZE_MAX: none is. */
static inline void hd_adapt_replaced(const struct hd_adapt *a, const heddle_data *d, size_t node)
{
	if (HD_UNLIKELY(a->replaced != NULL))
		a->replaced(d, node);
}

/* Switches the heuristic of clusters off, because the program chooses the driven workers itself from now on. */
static inline void hd_adapt_clusters_end(struct hd_adapt *a)
{
	a->count = NULL;
	a->count_none = NULL;
	a->drive = NULL;
}

#endif
