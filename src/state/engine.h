/* Engines. An engine keeps the time and executes tasks and copies. There are two: engine/threads runs kernels in real
 * time; engine/virtual runs no kernels, but advances a clock by predicted times. The core knows an engine by this table
 * alone.
 */
#ifndef HD_STATE_ENGINE_H
#define HD_STATE_ENGINE_H

#include <stddef.h>
#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

struct heddle_copy;
struct heddle_event;
struct hd_transfer;
struct hd_worker;
struct hd_waiter;

/* A library in the process (such as a BLAS) that would use more threads of its own than a worker has cores, if an
 * ordinary kernel called it. The texts are constants. */
struct hd_eager {
	/* name: of the library; variable: the environment variable that sets its number of threads */
	const char *name, *variable;
	unsigned threads;
};

/* The functions are called under the core lock, unless a comment says otherwise. */
struct hd_engine {
	const char *name;
	/* 1: the engine calls kernels, which use the data. 0: codelets need no kernels, and data count as having values
	 * from the start. */
	int runs_kernels;
	/* 1: the platform or the codelet says how long a task takes. Then a class without a time for a task cannot run
	 * it, and times are not measured. */
	int times_are_given;
	int virtual_time; /* 1: its clock is not the real one; traces and graphs say so */
	/* Starts the threads, or the clock. Called without the lock. If it fails, `close` and `release` free what it
	 * has opened. */
	int (*open)(heddle_runtime *rt);
	/* Ends the execution of tasks and copies. Called without the lock, after all tasks have ended. */
	void (*close)(heddle_runtime *rt);
	/* Closes the devices. Called without the lock, after `close` and after the memory of all nodes was freed. May
	 * be NULL. */
	void (*release)(heddle_runtime *rt);
	/* The time, us. In virtual time the caller holds the core lock; in real time any thread may call it. */
	double (*now)(heddle_runtime *rt);
	/* A transfer was put into its lane, or has become more urgent there. The engine takes it with hd_lane_take, now
	 * or when the lane can move another transfer, and calls hd_transfer_done when the transfer has ended. This
	 * function must not wait for the transfer. */
	void (*transfer)(heddle_runtime *rt, struct hd_transfer *tr);
	/* Makes a copy between main memory and another node; returns when the copy is done, with 0 or an error. Called
	 * without the lock, for measurements, while nothing else is copied. NULL if the engine runs no kernels. */
	int (*copy)(heddle_runtime *rt, const struct heddle_copy *copy);
	/* The worker has a staged task and a free slot, or can hold another task and should look for one. The engine
	 * makes the worker do so, at once or in `start`. */
	void (*worker_ready)(struct hd_worker *w);
	/* Takes back the tasks that were handed to the worker and that the worker has not begun, and puts them into its
	 * `staged` queue again. NULL: a task that is handed to a worker begins at once. */
	void (*take_back)(struct hd_worker *w);
	/* Makes the workers in the list rt->errands.starting run their staged tasks. Called before the lock is
	 * released, if the list is not empty. */
	void (*start)(heddle_runtime *rt);
	/* Waits until the waiter's done() is true, and releases the lock meanwhile. The caller has settled everything,
	 * unless worker 0 is HD_AWAY and will be run by this thread: then worker 0 is given tasks before everything
	 * else is settled. HEDDLE_E_DEADLOCK. */
	int (*wait)(heddle_runtime *rt, struct hd_waiter *waiter);
	/* Virtual time, otherwise NULL: fulfills the event when the clock comes to `time`. HEDDLE_E_MEMORY. */
	int (*fulfill_at)(heddle_runtime *rt, struct heddle_event *event, double time);
	/* Virtual time, otherwise NULL: handles the next event, if it is not later than `until`. Returns whether there
	 * was one; *time: its time, or that of the next one. */
	int (*step)(heddle_runtime *rt, double until, double *time);
	/* Whether the kernel that the calling thread runs can wait; called only where hd_inside_may_wait returns 1.
	 * `more`: bytes of stack that the functions called before the wait still need. `d`, if not NULL: the kernel
	 * will wait for the end of this datum. Returns 0; HEDDLE_E_UNSUPPORTED; HEDDLE_E_MEMORY; or HEDDLE_E_STATE if
	 * the kernel's task uses elements of `d`. NULL if the engine runs no kernels. */
	int (*may_wait)(heddle_runtime *rt, size_t more, const heddle_data *d);
	/* The task whose kernel the calling thread is running; the thread is that of CPU worker `w`. NULL if the engine
	 * runs no kernels. */
	const struct heddle_task *(*running_here)(const struct hd_worker *w);
	/* Calls c->kernel of a parallel codelet on the cores of the context's worker; called without the lock. Returns
	 * what the kernel returns. If several members of the team fail, the result is that of the first one to fail,
	 * and c->rank and c->message are set to those of that member. NULL if the engine runs no kernels. */
	int (*call_team)(heddle_context *c, const heddle_codelet *codelet);
	/* The barrier of an SPMD kernel; called without the lock. Returns whether a member has failed. NULL if the
	 * engine runs no kernels. */
	int (*team_barrier)(const heddle_context *c);
	/* Finds a library in the process that would use more than `cores` threads of its own if an ordinary kernel
	 * called it. Returns whether there is one. Called without the lock. NULL if the engine runs no kernels. */
	int (*find_eager)(unsigned cores, struct hd_eager *eager);
	/* `alloc` allocates `size` bytes on a node, `free` frees them; both may be called with or without the lock.
	 * HEDDLE_E_MEMORY: the node is full; HEDDLE_E_DEVICE: its device is lost. Both are NULL if the engine stores no
	 * data. */
	int (*alloc)(heddle_runtime *rt, unsigned node, size_t size, void **out);
	void (*free)(heddle_runtime *rt, unsigned node, void *ptr, size_t size);
	/* heddle_memory_pin and heddle_memory_unpin; called without the lock. Both are NULL if the engine copies no
	 * data. */
	int (*pin)(heddle_runtime *rt, void *memory, size_t size);
	void (*unpin)(heddle_runtime *rt, void *memory);
};

extern const struct hd_engine hd_engine_threads, hd_engine_virtual;

#endif
