/* Whose load has changed since the policy asked last (heddle_sched_moved), for policies that do not look at each worker
 * for each task. */
#ifndef HD_CORE_LOADS_H
#define HD_CORE_LOADS_H

#include <stddef.h>
#include <heddle/runtime.h>

struct hd_loads;

struct hd_worker;

/* Allocates the arrays; the workers are known. HEDDLE_E_MEMORY. */
int hd_loads_open(heddle_runtime *rt);
void hd_loads_close(struct hd_loads *l);
/* To be called before an instance of the policy is made: nothing is noted until it asks. */
void hd_loads_forget(heddle_runtime *rt);
/* The load of the worker has changed, or whether it is driven: hd_worker_moved calls it where the policy wants to know.
 * Called under the core lock. */
void hd_loads_note(struct hd_worker *w);

#endif
