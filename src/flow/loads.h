/* Whose load has changed since the policy asked last (heddle_sched_moved), for policies that do not look at each worker
 * for each task. */
#ifndef HD_CORE_LOADS_H
#define HD_CORE_LOADS_H

#include <stddef.h>
#include <heddle/runtime.h>

struct hd_worker;

/* Guarded by the core lock. Arrays have an element per worker, and are owned. */
struct hd_loads {
	/* The workers that the next call of heddle_sched_moved names, and the workers that the last call named. */
	unsigned *moved, *told;
	/* The workers that it names each time, because time changes their loads in another way than
	 * heddle_sched_worker_load says: they have several slots or rivals. */
	unsigned *unsteady;
	size_t n_moved, n_unsteady;
	int watched; /* the policy has called heddle_sched_moved, so `moved` is kept */
};

/* Allocates the arrays; the workers are known. HEDDLE_E_MEMORY. */
int hd_loads_open(heddle_runtime *rt);
void hd_loads_close(struct hd_loads *l);
/* To be called before an instance of the policy is made: nothing is noted until it asks. */
void hd_loads_forget(heddle_runtime *rt);
/* The load of the worker has changed, or whether it is driven: hd_worker_moved calls it where the policy wants to know.
 * Called under the core lock. */
void hd_loads_note(struct hd_worker *w);

#endif
