/* Allocation and pins of replicas: allocation.c. The caller of each function holds the core lock. */
#ifndef HD_MEMORY_ALLOCATION_H
#define HD_MEMORY_ALLOCATION_H

#include <heddle/runtime.h>
#include <heddle/task.h>

#include "state/data.h"

/* Allocates and pins the replicas of all data of the task on `node`; evicts other replicas if the node is full.
 * HEDDLE_PENDING: there is no room now, and the task is queued; hd_memory_retry will stage it again.
 * HEDDLE_E_MEMORY. */
int hd_memory_reserve(heddle_task *t, unsigned node);
/* Allocates and pins a replica for a transfer, if there is room or the eviction of unneeded replicas makes room. 0;
 * HEDDLE_PENDING: no room; HD_LATER: a block will be allocated when the lock is released, and then the waiting tasks
 * and prefetches are tried again; HEDDLE_E_MEMORY. With `at_once`, a missing block is allocated at once, under the
 * lock, and HD_LATER is not returned. */
enum { HD_LATER = 2 }; /* neither a status nor HEDDLE_PENDING */
int hd_memory_try(struct hd_replica *r, int at_once);
void hd_memory_free(struct hd_replica *r);
/* hd_replica_first_pin: to be called after the first pin of a replica that lies in a window or is a candidate of
 * eviction. hd_replica_unpinned: to be called after the last pin of a replica has ended. */
void hd_replica_first_pin(struct hd_replica *r);
void hd_replica_unpinned(struct hd_replica *r);
static inline void hd_replica_pin(struct hd_replica *r)
{
	if (r->pins++ == 0 && HD_UNLIKELY(r->window || r->place))
		hd_replica_first_pin(r);
}
static inline void hd_replica_unpin(struct hd_replica *r)
{
	if (--r->pins == 0)
		hd_replica_unpinned(r);
}
/* Stages again the tasks that wait for room on nodes where a replica was freed or unpinned. */
void hd_memory_retry(heddle_runtime *rt);

#endif
