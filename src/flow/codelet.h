/* Codelets. */
#ifndef HD_FLOW_CODELET_H
#define HD_FLOW_CODELET_H

#include <heddle/task.h>

void hd_codelet_free(heddle_codelet *c);
/* Returns HEDDLE_E_NO_WORKER, with a message that lists the kinds of workers for which the codelet has kernels, and the
 * kinds of this runtime. */
int hd_codelet_no_worker(const heddle_codelet *c);
/* Returns HEDDLE_E_NO_WORKER, with a message, for a task that is bound to `worker`, which cannot run the codelet. */
int hd_codelet_not_on(const heddle_codelet *c, unsigned worker);
/* Chooses the implementation that the task uses on a class: the implementation with the fewest samples while some
 * implementation has fewer than `calibrate` samples, otherwise the fastest. */
void hd_codelet_choose(heddle_task *t, unsigned class_id, unsigned calibrate);
/* Adds the duration of the task, in us, to the model of its implementation. */
void hd_codelet_record(heddle_task *t, unsigned class_id, double us);
/* Opens the model of the time from the end of a kernel to the end of its task. If memory is short, these times are not
 * measured. */
void hd_codelet_open_event(heddle_codelet *c);
/* Adds the time from the end of the task's kernel to the end of the task, in us, to the model that
 * hd_codelet_open_event opens. */
void hd_codelet_record_event(heddle_task *t, double us);
/* In virtual time: sets the time from the end of the kernel to the end of the task on a class, in us; 0: the task ends
 * with its kernel. HEDDLE_E_MEMORY. */
int hd_codelet_event_time(const heddle_task *t, unsigned class_id, double *us);

#endif
