/* Control tasks, which need no worker. Functions are called with the core lock. */
#ifndef HD_FLOW_CONTROL_H
#define HD_FLOW_CONTROL_H

#include <heddle/runtime.h>
#include <heddle/task.h>

/* Runs a ready control. */
void hd_control_run(heddle_runtime *rt, heddle_task *t);
/* The data of a control have arrived in main memory; a `status` other than 0 means that they cannot be fetched. */
void hd_control_staged(heddle_runtime *rt, heddle_task *t, int status);

#endif
