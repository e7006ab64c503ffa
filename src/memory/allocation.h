/* The memory of replicas, and what keeps it: allocation.c and pin.c. The core lock is held in all functions. */
#ifndef HD_ALLOCATION_H
#define HD_ALLOCATION_H

#include <heddle/runtime.h>
#include <heddle/task.h>

struct hd_replica;

/* allocation.c: allocation and pins. */
/* Allocates and pins the replicas of all data of the task on `node`, and evicts others if the node is full.
 * HEDDLE_PENDING: there is no room now; the task waits, and hd_memory_retry will stage it again. HEDDLE_E_MEMORY. */
int hd_memory_reserve(heddle_task *t, unsigned node);
/* Allocates and pins a replica for a transfer, if there is room or what nobody needs can make room. 0; HEDDLE_PENDING:
 * no room; HD_LATER: a block is allocated for it when the lock is left, then the tasks and prefetches that wait are
 * tried again; or HEDDLE_E_MEMORY. With `at_once` not HD_LATER: a block that is not kept is allocated under the
 * lock. */
enum { HD_LATER = 2 }; /* neither a status nor HEDDLE_PENDING */
int hd_memory_try(struct hd_replica *r, int at_once);
void hd_memory_free(struct hd_replica *r);
void hd_replica_pin(struct hd_replica *r);
void hd_replica_unpin(struct hd_replica *r);
/* Stages the tasks that wait for room again, on the nodes where something was freed or unpinned since. */
void hd_memory_retry(heddle_runtime *rt);

#endif
