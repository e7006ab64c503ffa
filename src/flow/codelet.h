/* Codelets: codelet.c. */
#ifndef HD_FLOW_CODELET_H
#define HD_FLOW_CODELET_H

#include <heddle/task.h>

void hd_codelet_free(heddle_codelet *c);
/* Returns HEDDLE_E_NO_WORKER, with a message: the kinds of workers that the codelet has kernels for, and those of this
 * runtime. */
int hd_codelet_no_worker(const heddle_codelet *c);
/* Returns HEDDLE_E_NO_WORKER, with a message: the worker that a task is bound to cannot run the codelet. */
int hd_codelet_not_on(const heddle_codelet *c, unsigned worker);
/* Decides which implementation a task uses on a class: the one with the fewest samples until all have `calibrate`, then
 * the fastest. */
void hd_codelet_choose(heddle_task *t, unsigned class_id, unsigned calibrate);
/* Adds the time that the task took to the model of its implementation. */
void hd_codelet_record(heddle_task *t, unsigned class_id, double us);
/* Makes the model of the times from the ends of kernels to the ends of tasks, if it can be made: for lack of memory
 * these times are not measured. */
void hd_codelet_open_event(heddle_codelet *c);
/* Adds such a time, us, to the model. */
void hd_codelet_record_event(heddle_task *t, double us);
/* In virtual time: how long after its kernel, us, the task ends on a class; 0: with its kernel. HEDDLE_E_MEMORY. */
int hd_codelet_event_time(const heddle_task *t, unsigned class_id, double *us);

#endif
