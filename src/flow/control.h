/* Controls, which need no worker: control.c. The core lock is held in all functions. */
#ifndef HD_CONTROL_H
#define HD_CONTROL_H

#include <heddle/runtime.h>
#include <heddle/task.h>

/* control.c. Runs a control that is ready. */
void hd_control_run(heddle_runtime *rt, heddle_task *t);
/* The data of a control have arrived in main memory; `status` is not 0 if they cannot be brought there. */
void hd_control_staged(heddle_runtime *rt, heddle_task *t, int status);

#endif
