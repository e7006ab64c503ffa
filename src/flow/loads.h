/* The workers whose load has changed since the policy asked last (heddle_sched_moved), for policies that do not look at
 * each worker for each task. */
#ifndef HD_FLOW_LOADS_H
#define HD_FLOW_LOADS_H

#include <stddef.h>
#include <heddle/runtime.h>

struct hd_loads;

struct hd_worker;

/* Allocates the arrays, after the workers are known. HEDDLE_E_MEMORY. */
int hd_loads_open(heddle_runtime *rt);
void hd_loads_close(struct hd_loads *l);
/* Stops recording until the policy asks. Called before an instance of the policy is created. */
void hd_loads_forget(heddle_runtime *rt);
/* Records that the load of the worker has changed, or that the worker is driven or not any more. Called by
 * hd_worker_moved if the policy asks for moved workers (heddle_sched_moved), with the core lock. */
void hd_loads_note(struct hd_worker *w);

#endif
