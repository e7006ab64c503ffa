/* Engines: who keeps time and who executes. There are two: threads/ runs kernels in real time, virtual/ lets time pass
 * without running anything. The core knows no more of an engine than this table.
 */
#ifndef HD_ENGINE_H
#define HD_ENGINE_H

#include <stddef.h>
#include <heddle/runtime.h>

struct hd_transfer;
struct hd_worker;
struct hd_waiter;

/* An engine: who keeps time and who executes. Called under the core lock unless it says otherwise. */
struct hd_engine {
	const char *name;
	/* Facts, in which engines differ. */
	/* kernels are called and touch data; otherwise nobody needs kernels, and data have values from the start */
	int runs_kernels;
	/* a task takes as long as the platform or its codelet says: a class without a time for it cannot run it, and
	 * nothing is left to be measured */
	int times_are_given;
	int virtual_time; /* for traces and graphs: its clock is not the real one */
	int (*open)(heddle_runtime *rt);
	/* Without the lock; all tasks have ended. */
	void (*close)(heddle_runtime *rt);
	/* Last of all, when no memory of any node is in use any more. May be NULL. */
	void (*release)(heddle_runtime *rt);
	/* us. In virtual time under the core lock, in real time from any thread. */
	double (*now)(heddle_runtime *rt);
	/* Starts a copy whose replicas are pinned; ends with hd_transfer_done, later. */
	void (*transfer)(heddle_runtime *rt, struct hd_transfer *tr);
	/* The worker has got something to run (staged) and is not running: see that it does. */
	void (*worker_ready)(struct hd_worker *w);
	/* Lets time pass until done() may have become true; entered and left with the lock. HEDDLE_E_DEADLOCK. */
	int (*wait)(heddle_runtime *rt, struct hd_waiter *waiter);
	/* Memory of a node: NULL when there is none. */
	void *(*alloc)(heddle_runtime *rt, unsigned node, size_t size);
	void (*free)(heddle_runtime *rt, unsigned node, void *ptr, size_t size);
};
extern const struct hd_engine hd_engine_threads, hd_engine_virtual;

#endif
