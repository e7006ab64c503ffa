/* Engines. An engine keeps the time and executes tasks and copies. There are two: threads/ runs kernels in real time;
 * virtual/ runs nothing, it advances a clock by predicted times. The core knows no more of an engine than this table.
 */
#ifndef HD_ENGINE_H
#define HD_ENGINE_H

#include <heddle/task.h>
#include <stddef.h>
#include <heddle/data.h>
#include <heddle/runtime.h>

struct heddle_copy;
struct hd_transfer;
struct hd_worker;
struct hd_waiter;

/* A library in the process that would use more threads of its own than a worker has cores, where an ordinary kernel
 * called it. The texts are constants. */
struct hd_eager {
	const char *name, *variable; /* the environment variable that sets its number of threads */
	unsigned threads;
};

/* The functions are called under the core lock, unless a comment says otherwise. */
struct hd_engine {
	const char *name;
	/* Facts in which engines differ. */
	/* Kernels are called and use the data. If not, codelets need no kernels, and data count as having values from
	 * the start. */
	int runs_kernels;
	/* A task takes as long as the platform or its codelet says. So a class without a time for a task cannot run it,
	 * and times are not measured. */
	int times_are_given;
	int virtual_time; /* its clock is not the real one; traces and graphs say so */
	/* Without the lock. Starts the threads, or the clock; what it has opened when it fails, close and release
	 * free. */
	int (*open)(heddle_runtime *rt);
	/* Without the lock, after all tasks have ended: ends the execution of tasks and copies. */
	void (*close)(heddle_runtime *rt);
	/* Without the lock, after close and after the memory of all nodes was freed: closes devices. May be NULL. */
	void (*release)(heddle_runtime *rt);
	/* us. In virtual time under the core lock, in real time from any thread. */
	double (*now)(heddle_runtime *rt);
	/* A transfer has come into its lane, or has become more urgent there. The engine takes it with hd_lane_take,
	 * now or when it can move another one of that lane, and calls hd_transfer_done when it has ended. Must not wait
	 * for it. */
	void (*transfer)(heddle_runtime *rt, struct hd_transfer *tr);
	/* Without the lock: makes a copy between two nodes of which one is main memory, and returns when it is done,
	 * with 0 or an error. For measurements, while nothing else is copied. NULL if no kernels are run. */
	int (*copy)(heddle_runtime *rt, const struct heddle_copy *copy);
	/* The worker has a staged task and a free slot, or room for a task that nobody has given it: the engine makes
	 * it go on, at once or in `start`. */
	void (*worker_ready)(struct hd_worker *w);
	/* Stages the tasks again that the worker was given and has not begun. NULL: a task that is given is begun. */
	void (*take_back)(struct hd_worker *w);
	/* Makes the workers in the list rt->errands.starting run their staged tasks. Called before the lock is given
	 * back, if the list is not empty. */
	void (*start)(heddle_runtime *rt);
	/* Waits until the waiter's done() is true, leaving the lock meanwhile. Everything is settled, unless worker 0
	 * is HD_AWAY and will be run by this thread: then it is given tasks before all else is settled.
	 * HEDDLE_E_DEADLOCK. */
	int (*wait)(heddle_runtime *rt, struct hd_waiter *waiter);
	/* Whether the kernel that the calling thread runs, where hd_inside_may_wait says so, can wait, if the functions
	 * that it calls until then need `more` bytes of stack: 0, HEDDLE_E_UNSUPPORTED or HEDDLE_E_MEMORY. With `d` it
	 * waits for the end of that datum: HEDDLE_E_STATE if its task uses some of it. NULL if no kernels are run. */
	int (*may_wait)(heddle_runtime *rt, size_t more, const heddle_data *d);
	/* The task whose kernel the calling thread runs, which is that of a CPU worker. NULL if no kernels are run. */
	const struct heddle_task *(*running_here)(const struct hd_worker *w);
	/* Calls c->kernel, of a parallel codelet, as the codelet says, on the cores of the context's worker, without
	 * the lock. Returns what it has returned; of several members that fail, what the first of them has, and then
	 * c->rank and c->message are its own. NULL if no kernels are run. */
	int (*call_team)(heddle_context *c, const heddle_codelet *codelet);
	/* The barrier of an SPMD kernel, without the lock. Returns whether a member has failed. NULL likewise. */
	int (*team_barrier)(const heddle_context *c);
	/* Finds a library in the process that would use more than so many threads of its own where an ordinary kernel
	 * called it. Returns whether there is one. Without the lock. NULL if no kernels are run. */
	int (*find_eager)(unsigned cores, struct hd_eager *eager);
	/* Allocates `size` bytes on a node; with or without the lock, as `free`. HEDDLE_E_MEMORY: the node is full;
	 * HEDDLE_E_DEVICE: its device is lost. Both functions are NULL if no data are stored. */
	int (*alloc)(heddle_runtime *rt, unsigned node, size_t size, void **out);
	void (*free)(heddle_runtime *rt, unsigned node, void *ptr, size_t size);
	/* Without the lock: heddle_memory_pin and heddle_memory_unpin. NULL, both: no data are copied. */
	int (*pin)(heddle_runtime *rt, void *memory, size_t size);
	void (*unpin)(heddle_runtime *rt, void *memory);
};

extern const struct hd_engine hd_engine_threads, hd_engine_virtual;

#endif
