/* Devices that cannot be used any more. */
#ifndef HD_FLOW_LOST_DEVICE_H
#define HD_FLOW_LOST_DEVICE_H

#include <heddle/data.h>
#include <heddle/task.h>

struct hd_worker;

/* Declares the worker's device lost; `why` is the reason, "": unknown. The worker and the workers that share its memory
 * get no more tasks, and their tasks are given to others. Does nothing if the worker is lost already. */
void hd_core_lose(struct hd_worker *w, const char *why);
/* Called when a kernel has returned on a lost worker, with `status`. Returns HEDDLE_PENDING if the task is to be
 * repeated and has been returned to the policy; otherwise the task's status. */
int hd_lost_returned(heddle_task *t, int status);
/* Whether a lost worker could have run `t`, a ready task that no worker can run any more. If so, sets the task's status
 * and message. */
int hd_lost_for_all(heddle_task *t);
/* Records that a datum has lost its value, because its only valid replica was on a lost node. */
void hd_lost_value(heddle_data *d, unsigned node, const char *why);
/* Why a worker was lost; "": unknown. */
const char *hd_lost_why(const struct hd_worker *w);

#endif
