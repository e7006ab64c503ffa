/* Whose load has changed since the policy asked last (heddle_sched_moved), for policies that do not look at each worker
 * for each task. */
#ifndef HD_CORE_LOADS_H
#define HD_CORE_LOADS_H

#include <stddef.h>
#include <heddle/runtime.h>

struct hd_worker;

/* Guarded by the core lock. Arrays have an element per worker, and are owned. */
struct hd_loads {
	unsigned *moved, *told; /* the workers that heddle_sched_moved will name, and those that it has named last */
	/* The workers that it names each time, because time changes their loads in another way than
	 * heddle_sched_worker_load says: they have several slots or rivals. */
	unsigned *unsteady;
	size_t n_moved, n_unsteady;
	int watched; /* the policy has called heddle_sched_moved, so `moved` is kept */
};

/* Allocates the arrays; the workers are known. HEDDLE_E_MEMORY. */
int hd_loads_open(heddle_runtime *rt);
void hd_loads_close(struct hd_loads *l);
/* An instance of the policy is to be made, and has not asked yet. */
void hd_loads_forget(heddle_runtime *rt);
/* The load of the worker has changed, or whether it is driven: hd_worker_moved calls it where the policy wants to know.
 * Called under the core lock. */
void hd_loads_note(struct hd_worker *w);

#endif
