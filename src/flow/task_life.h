/* How tasks enter the graph, become ready and end: task_life.c. The core lock is held in all functions. */
#ifndef HD_TASK_LIFE_H
#define HD_TASK_LIFE_H

#include <heddle/runtime.h>
#include <heddle/task.h>

/* task_life.c: how tasks enter the graph, become ready and end. All under the lock. */
/* Puts the task into the graph. */
void hd_core_insert(heddle_runtime *rt, heddle_task *t);
/* Ends a task after its kernel, or without one if it is a control or will not run: gives its accesses back. */
void hd_core_end(heddle_runtime *rt, heddle_task *t, int status);
/* Nothing in the graph holds the task back any more. */
void hd_core_on_ready(heddle_runtime *rt, heddle_task *t);
/* Notes that the task has failed or was cancelled, for the statistics and the next wait. */
void hd_core_note_failure(heddle_runtime *rt, heddle_task *t);
/* Ends a hierarchical task that was expanded, since all of its sub-graph has ended. */
void hd_core_end_expanded(heddle_runtime *rt, heddle_task *t);
/* Makes a task that was picked and has not ended ready once more: the policy is told of the task again. */
void hd_core_ready_again(heddle_runtime *rt, heddle_task *t);
/* Runs the callbacks of tasks that have ended, without the lock. Returns 0 if this thread is running callbacks of the
 * runtime already: then the outer call will run them. */
int hd_core_run_callbacks(heddle_runtime *rt);

#endif
