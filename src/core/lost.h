/* What lost.c offers: devices that cannot be used any more. */
#ifndef HD_CORE_LOST_H
#define HD_CORE_LOST_H

#include "runtime.h"

/* The worker's device is lost, for the reason `why`; "": not known. It and the workers that share its memory get no
 * more tasks, and those that they have are given to others. Does nothing for a worker that is lost. */
void hd_core_lose(struct hd_worker *w, const char *why);
/* To be called when a task that was picked cannot begin on its worker, which is lost: the policy gets it back. */
void hd_lost_give_back(heddle_task *t);
/* To be called when a kernel has returned on a lost worker, with `status`. HEDDLE_PENDING: the task is to be run again
 * and has been given back to the policy; otherwise the task's status. */
int hd_lost_returned(heddle_task *t, int status);
/* To be called before the policy is told of a ready task while some worker is lost: whether no worker is left that
 * could run the task. Then its status and its message are set. */
int hd_lost_for_all(heddle_task *t);
/* Notes that a datum has lost its value, because its only copy was on a node that is lost. */
void hd_lost_value(heddle_data *d, unsigned node, const char *why);
/* Why a worker was lost; "" when that is not known. */
const char *hd_lost_why(const struct hd_worker *w);
/* How many workers of the class are not lost. */
size_t hd_class_left(const heddle_runtime *rt, unsigned class_id);

#endif
