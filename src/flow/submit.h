/* Submitting controls: submit.c. The core lock is held in all functions. */
#ifndef HD_SUBMIT_H
#define HD_SUBMIT_H

#include <heddle/runtime.h>
#include <heddle/task.h>

/* submit.c */
/* A control of the program is submitted under one locking, so that the result of its checks is still true when the
 * control is linked into the chains: hd_control_begin, the checks, hd_control_make, hd_control_enter.
 *
 * hd_control_begin waits for room in the window, then puts everything submitted so far into the graph. It may leave the
 * lock meanwhile. */
void hd_control_begin(heddle_runtime *rt);
/* hd_control_begin without a wait for room in the window: for a control that makes room. */
void hd_control_begin_now(heddle_runtime *rt);
/* Puts the control into the graph, then settles. The lock may be left for callbacks, so the caller must have made its
 * own changes of state before. */
void hd_control_enter(heddle_runtime *rt, heddle_task *t);

#endif
