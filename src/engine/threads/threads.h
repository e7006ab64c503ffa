/* The threaded engine: a thread per worker (workers.c), two copy threads per accelerator node (copies.c), the program's
 * threads while they wait (waiting.c), the real clock. What its files share.
 */
#ifndef HD_ENGINE_THREADS_H
#define HD_ENGINE_THREADS_H

#include <pthread.h>
#include "core/runtime.h"

/* us: a worker may take tiny tasks of so much at a time; less than a scheduling decision is worth. */
#define HD_BURST_US 4.0

/* A copy engine: the transfers of one node in one direction, in order. */
struct hd_copier {
	heddle_runtime *rt;
	pthread_t thread;
	struct hd_worker *device_of;            /* whose driver copies */
	struct hd_transfer *queue, *queue_tail; /* lock core */
	struct hd_event wake;
	int started;
};

/* A worker's thread, and its device, which lives in that thread: some devices are bound to the thread that opened
 * them. */
struct hd_seat {
	pthread_t thread;
	int started; /* only the thread that starts and stops the runtime */
	/* the worker's thread, before it is counted in n_seated */
	int opened, status;
	char *message; /* owns: what heddle_last_error says there */
};

struct hd_threads {
	struct hd_seat *seats;      /* per worker; owns */
	struct hd_copier *in, *out; /* per node; owns */
	/* lock core */
	size_t n_seated, n_done; /* threads of workers that have opened their device; that run no more tasks */
	int closing;             /* devices are to be closed */
	int caller_busy;         /* a waiting thread drives worker 0 */
	/* us: when a worker last looked for what the policy does not know of: into the inbox, at other workers'
	 * bursts */
	double looked, rescued;
	struct hd_event counted; /* a worker's thread sets it after counting itself */
};

static inline double hd_threads_now(const heddle_runtime *rt)
{
	return hd_clock_us() - rt->start_us;
}

/* workers.c */
/* One step of a worker: runs a task, spins or sleeps. 0 when it slept `timeout_us` in vain. The lock is held, and left
 * meanwhile, as for hd_worker_run. */
int hd_worker_step(struct hd_worker *w, double timeout_us);
/* Runs a staged task, and with it those behind it, without the lock, as long as they are expected to take less than
 * HD_BURST_US together: it costs a lock and a hand-over of its cache line once for all instead of once for each, and
 * delays their successors by no more than that time. A policy that is told when each kernel begins gets them one by
 * one. */
void hd_worker_run(struct hd_worker *w, heddle_task *t);
void *hd_worker_main(void *worker);
void hd_threads_worker_ready(struct hd_worker *w);
/* All waiting threads look again, but the one that drives `except` (may be NULL). The lock is held. */
void hd_wake_blocked(heddle_runtime *rt, const struct hd_worker *except);
/* In the thread that will run the worker's tasks. */
void hd_device_open(struct hd_worker *w);
void hd_device_close(struct hd_worker *w);

/* copies.c */
void *hd_copier_main(void *copier);
void hd_threads_transfer(heddle_runtime *rt, struct hd_transfer *tr);

/* waiting.c */
int hd_threads_wait(heddle_runtime *rt, struct hd_waiter *waiter);

#endif
