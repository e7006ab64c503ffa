/* Submitting controls. Functions are called with the core lock. */
#ifndef HD_FLOW_SUBMIT_H
#define HD_FLOW_SUBMIT_H

#include <heddle/runtime.h>
#include <heddle/task.h>

/* A control of the program is checked and linked into the chains in one critical section, so that the checks are still
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
