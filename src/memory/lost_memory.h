/* Memories of devices that are lost: lost_memory.c. The core lock is held in all functions. */
#ifndef HD_LOST_MEMORY_H
#define HD_LOST_MEMORY_H

#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

struct hd_memory;
struct hd_replica;

/* lost_memory.c: memories of devices that are lost. */
/* Frees the copies on a lost node that nobody uses. The only copy of a datum is first written back to main memory, if
 * the driver still can: otherwise the datum loses its value. To be called again when copies have been unpinned, or when
 * blocks have been allocated: hd_memory_retry does. */
void hd_memory_leave(heddle_runtime *rt, unsigned node);
/* Whether no copies are on lost nodes any more. */
int hd_memories_left(const heddle_runtime *rt);
/* To be called when the copy on a lost node could not be written back. */
void hd_replica_lose(struct hd_replica *r, const char *why);
/* Takes its private copies from a task that will run elsewhere. */
void hd_private_detach(heddle_task *t);
/* Whether the task, which may have changed its data on `node`, can be run again elsewhere: each value that it changes
 * has a valid copy on another node. If not, *stuck is the datum. */
int hd_can_run_again(const heddle_task *t, unsigned node, const heddle_data **stuck);
/* Ends the staging of a task on a lost node, where it will not run. `begun`: it may have changed its data, of which the
 * copies there are worth nothing then. */
void hd_stage_undo(heddle_task *t, unsigned node, int begun);

/* Ranks all copies of the node anew. */
void hd_evict_rank_all(struct hd_memory *m);

#endif
