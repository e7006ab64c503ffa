/* The threaded engine: what its files share. It has a thread per worker (workers.c), two copy threads per accelerator
 * node (copies.c), and the real clock; waiting.c is for the program's threads while they wait.
 */
#ifndef HD_ENGINE_THREADS_H
#define HD_ENGINE_THREADS_H

#include <pthread.h>
#include "core/runtime.h"

/* us: a worker may take several tiny tasks at a time if they are expected to take less than this together. It is so
 * short that a worse distribution of the tasks among workers does not matter. */
#define HD_BURST_US 4.0

/* A copy engine: the transfers of one node in one direction, in order. */
struct hd_copier {
	heddle_runtime *rt;
	pthread_t thread;
	struct hd_worker *device_of;            /* the worker whose driver and device make the copies */
	struct hd_transfer *queue, *queue_tail; /* lock core */
	struct hd_event wake;                   /* set when the queue or rt->stopping has changed */
	int started;                            /* `thread` exists */
};

/* The thread of a worker. It also opens and closes the worker's device, since some devices can only be used by the
 * thread that opened them. */
struct hd_seat {
	pthread_t thread;
	int started; /* `thread` exists; used only by the thread that starts and stops the runtime */
	/* The result of opening the device, written before the thread is counted in n_seated: whether it is open, and
	 * the driver's status. */
	int opened, status;
	char *message; /* owned: the last error of that thread, if status is not 0 */
};

struct hd_threads {
	struct hd_seat *seats;      /* owned; per worker */
	struct hd_copier *in, *out; /* owned; per node */
	/* Guarded by the core lock: */
	size_t n_seated, n_done; /* threads of workers that have opened their device; those that run no more tasks */
	int closing;             /* threads of workers must close their devices and end */
	int caller_busy;         /* a waiting thread runs the tasks of worker 0 */
	/* us: when a worker last looked into the inbox, and when one last looked for tasks to rescue */
	double looked, rescued;
	struct hd_event counted; /* set by a worker's thread after it has counted itself in n_seated or n_done */
};

static inline double hd_threads_now(const heddle_runtime *rt)
{
	return hd_clock_us() - rt->start_us;
}

/* workers.c */
/* One step of a worker: runs a task (or a burst), spins, or sleeps. Returns 0 when it has slept for `timeout_us` and
 * was not woken; below 0: no limit. Called with the lock, which it leaves meanwhile. */
int hd_worker_step(struct hd_worker *w, double timeout_us);
/* Runs a task that was staged, and together with it the next staged ones if all are expected to take less than
 * HD_BURST_US: so the lock is taken once for all of them, and their successors wait no longer than that time. If the
 * policy is told when each kernel begins (its `started`), tasks are run one by one. Called with the lock, which it
 * leaves while kernels run. */
void hd_worker_run(struct hd_worker *w, heddle_task *t);
void *hd_worker_main(void *worker);
void hd_threads_worker_ready(struct hd_worker *w);
/* Wakes all waiting threads, so that they check their conditions again, but not the one that runs the tasks of `except`
 * (may be NULL). The lock is held. */
void hd_wake_blocked(heddle_runtime *rt, const struct hd_worker *except);
/* Called by the thread that runs the worker's tasks. */
void hd_device_open(struct hd_worker *w);
void hd_device_close(struct hd_worker *w);

/* copies.c */
void *hd_copier_main(void *copier);
void hd_threads_transfer(heddle_runtime *rt, struct hd_transfer *tr);

/* waiting.c */
int hd_threads_wait(heddle_runtime *rt, struct hd_waiter *waiter);

#endif
