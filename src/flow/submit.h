/* Submitting controls, and tasks that are known to be correct. */
#ifndef HD_FLOW_SUBMIT_H
#define HD_FLOW_SUBMIT_H

#include <heddle/runtime.h>
#include <heddle/task.h>

/* --- Tasks that are known to be correct --------------------------------------------------------------------------- */

/* Makes a task that is submitted without items. A graph is submitted in this way once for each simulation, because its
 * items have been checked before. Called without the core lock, outside sub-graphs and kernels, and not in checking
 * mode. The task has no accesses yet (hd_task_set_access adds them, in modes R, W and RW), no values (`value_bytes` are
 * reserved for them) and no `extra`. The caller completes the footprint, and sets HD_TASK_FITS if the data fit into
 * every memory. NULL: out of memory. */
heddle_task *hd_submission_begin(heddle_runtime *rt, heddle_codelet *c, size_t n_accesses, size_t value_bytes);
/* Submits the task, as heddle_submit does. */
int hd_submission_end(heddle_runtime *rt, heddle_task *t);

/* --- Controls ----------------------------------------------------------------------------------------------------- */

/* The functions below are called with the core lock.
 *
 * A control of the program is checked and linked into the chains in one critical section, so that the checks are still
 * valid when it is linked: hd_control_begin, the checks, hd_control_make, hd_control_enter.
 *
 * hd_control_begin waits for room in the window, then puts all submitted tasks into the graph. It may release the core
 * lock meanwhile. */
void hd_control_begin(heddle_runtime *rt);
/* Does what hd_control_begin does, but does not wait for the window: for a control that makes room. */
void hd_control_begin_now(heddle_runtime *rt);
/* Puts the control into the graph, then settles. The core lock may be released for callbacks; therefore the caller must
 * have made its own changes of state before. */
void hd_control_enter(heddle_runtime *rt, heddle_task *t);

#endif
