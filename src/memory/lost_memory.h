/* Memories of devices that are lost: lost_memory.c. The caller of each function holds the core lock. */
#ifndef HD_MEMORY_LOST_MEMORY_H
#define HD_MEMORY_LOST_MEMORY_H

#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

struct hd_memory;
struct hd_replica;

/* Frees the unpinned replicas on a lost node. The only valid replica of a datum is first written back to main memory,
 * if the driver can still copy it; otherwise the datum loses its value. hd_memory_retry calls this again after replicas
 * were unpinned or blocks were allocated. */
void hd_memory_leave(heddle_runtime *rt, unsigned node);
/* Whether no replicas are left on lost nodes. */
int hd_memories_left(const heddle_runtime *rt);
/* Makes the replica on a lost node invalid, because it could not be written back. */
void hd_replica_lose(struct hd_replica *r, const char *why);
/* Detaches the private copies from the accesses of `t`, which will run elsewhere. */
void hd_private_detach(heddle_task *t);
/* Whether the task, which may have changed its data on `node`, can be run again on another node: each datum that it
 * reads and writes must have a valid replica on another node. If not, *stuck is the datum without one. */
int hd_can_run_again(const heddle_task *t, unsigned node, const heddle_data **stuck);
/* Undoes the staging of a task on a lost node. `begun`: 1: the task may have changed its data, so their replicas on the
 * node become invalid. */
void hd_stage_undo(heddle_task *t, unsigned node, int begun);

#endif
