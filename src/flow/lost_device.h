/* What lost_device.c offers: devices that cannot be used any more. */
#ifndef HD_CORE_LOST_H
#define HD_CORE_LOST_H

#include <heddle/data.h>
#include <heddle/task.h>

struct hd_worker;

/* The worker's device is lost, for the reason `why`; "": not known. It and the workers that share its memory get no
 * more tasks, and those that they have are given to others. Does nothing for a worker that is lost. */
void hd_core_lose(struct hd_worker *w, const char *why);
/* To be called when a kernel has returned on a lost worker, with `status`. HEDDLE_PENDING: the task is to be run again
 * and has been given back to the policy; otherwise the task's status. */
int hd_lost_returned(heddle_task *t, int status);
/* For a ready task that no worker can run: whether a lost one could have. Then its status and its message are set. */
int hd_lost_for_all(heddle_task *t);
/* Notes that a datum has lost its value, because its only copy was on a node that is lost. */
void hd_lost_value(heddle_data *d, unsigned node, const char *why);
/* Why a worker was lost; "" when that is not known. */
const char *hd_lost_why(const struct hd_worker *w);

#endif
