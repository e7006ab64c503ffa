/* How tasks enter the graph, become ready and end. Functions are called with the core lock. */
#ifndef HD_FLOW_TASK_LIFE_H
#define HD_FLOW_TASK_LIFE_H

#include <heddle/runtime.h>
#include <heddle/task.h>

/* Puts the task into the graph. */
void hd_core_insert(heddle_runtime *rt, heddle_task *t);
/* Ends a task: after its kernel; or without a kernel, if the task is a control or will not run. Releases its
 * accesses. */
void hd_core_end(heddle_runtime *rt, heddle_task *t, int status);
/* Called when a task has no unfinished predecessor and all its accesses are granted. */
void hd_core_on_ready(heddle_runtime *rt, heddle_task *t);
/* Records that the task has failed or was cancelled, for the statistics and the next wait. */
void hd_core_note_failure(heddle_runtime *rt, heddle_task *t);
/* Ends a hierarchical task that was expanded, after its whole sub-graph has ended. */
void hd_core_end_expanded(heddle_runtime *rt, heddle_task *t);
/* Makes a task ready again that was picked and has not ended: the policy is told of it once more. */
void hd_core_ready_again(heddle_runtime *rt, heddle_task *t);
/* Runs the callbacks of ended tasks, without the core lock. Returns 0 if this thread is running callbacks of the
 * runtime already: then the outer call runs them. */
int hd_core_run_callbacks(heddle_runtime *rt);

#endif
