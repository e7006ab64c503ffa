/* Brings the data of a task to the node where it runs: coherency.c. The caller of each function holds the core lock. */
#ifndef HD_MEMORY_COHERENCY_H
#define HD_MEMORY_COHERENCY_H

#include <heddle/task.h>

struct hd_access;
struct hd_transfer;

/* Brings the data of a task to the node. 0: the data are there; HEDDLE_PENDING: the task waits for room or for
 * t->pending transfers, and hd_core_staged will continue with the task; or an error. */
int hd_stage(heddle_task *t, unsigned node);
/* Makes the task wait until no transfer of its data is under way, without a transfer for the task. 0 or
 * HEDDLE_PENDING. */
int hd_stage_quiet(heddle_task *t);
/* Notes that the task begins and may change its data from now on. Not for tasks with HD_TASK_ONE_NODE. */
void hd_stage_begin(heddle_task *t);
/* To be called when the task has ended, with its status set. If the task had begun and has succeeded, makes the
 * replicas on `node` of the data that it has written the only valid ones. Unpins the task's data. */
void hd_stage_end(heddle_task *t, unsigned node);
/* Continues with the tasks that waited for a transfer, which has ended or failed. */
void hd_stage_arrived(struct hd_transfer *tr);

/* Continues with the tasks of a list of accesses whose transfers were dropped: a task may need another transfer, or
 * end. */
void hd_stage_again(struct hd_access *waiters);

/* Makes all replicas of the datum invalid, and frees them. No transfer of the datum is under way, and no task uses it.
 * The replica of a settled datum stays valid: no task would make it valid again. */
void hd_forget_value(heddle_data *d);

#endif
