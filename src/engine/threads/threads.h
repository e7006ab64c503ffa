/* Private interface between the files of the threaded engine. The engine has a thread per worker (workers.c; devices.c
 * if the device has streams), two copy threads per accelerator node (copies.c), and the real clock. combine.c exchanges
 * tasks between workers and the core; waiting.c runs in threads of the program while they wait. */
#ifndef HD_ENGINE_THREADS_THREADS_H
#define HD_ENGINE_THREADS_THREADS_H

#include <math.h>
#include <pthread.h>
#include "engine/shared_clock.h"
#include "state/runtime.h"

struct hd_suspended;
struct hd_waiter;

/* A copy engine, which moves the transfers of one lane. */
struct hd_copier {
	heddle_runtime *rt;
	pthread_t thread;
	struct hd_worker *device_of; /* the worker whose driver and device make the copies */
	void *stream;                /* the driver's stream, opened and closed with the device; NULL: none */
	int is_open;                 /* the stream is open */
	/* Only used by the copy thread: the transfers whose copies are on the stream, in order, linked by lane_next;
	 * their number and expected duration in us; when the thread last saw that a copy had ended. */
	struct hd_transfer *first, *last;
	unsigned n_flight;
	double flight_us, last_end;
	struct hd_lane *lane;  /* lock core */
	struct hd_wakeup wake; /* set when the lane or rt->stopping has changed */
	int started;           /* `thread` exists */
};

/* A task of a burst that the worker's thread has run. */
struct hd_ended {
	int status;
	struct hd_span ran;
};

enum hd_post {
	HD_NOT_POSTED,
	HD_POSTED, /* the worker has requested to be served by the holder of the core lock */
	HD_SERVED  /* another thread has served the worker */
};

/* The thread of a worker. This thread also opens and closes the worker's device, because some devices can be used only
 * by the thread that opened them. */
struct hd_seat {
	pthread_t thread;
	int started; /* `thread` exists; only used by the thread that starts and stops the runtime */
	/* The result of opening the device: whether the device is open, and the driver's status. Written before the
	 * thread is counted in n_seated. */
	int opened, status;
	char *message; /* owned: the last error of this thread, if status is not 0 */
	/* Lock core. The wait during which the thread runs the worker's tasks: the wait of the innermost waiting
	 * kernel; otherwise the wait of a thread of the program (worker 0, with caller_works). NULL: no wait. */
	struct hd_waiter *waiter;
	struct hd_suspended *suspended; /* lock core: the innermost kernel that waits; NULL: none. See waiting.c */
	struct hd_shared_clock clock;   /* only used by the thread of a device with streams: measures kernels */

	/* The worker's request to the core, and the answer. The thread writes n_ended, `ended` and tired before the
	 * request. The thread that serves the worker, which holds the core lock, reads them and writes the answer. */
	_Alignas(HD_CACHE_LINE) unsigned n_ended; /* number of entries of `ended` */
	struct hd_ended ended[HD_MAX_BURST];      /* the tasks of the burst that have been run, and how they ended */
	double waited;     /* us: how long the running kernel has waited for groups; only used by the thread */
	uint8_t tired;     /* 1: the worker has had nothing to do for long, and wants to sleep */
	uint8_t may_sleep; /* the answer, 1: there is nothing to do, and the worker counts as asleep */
	uint8_t hushes;    /* the answer, 1: the worker is retired, and OpenMP threads may poll on its cores */
	/* the answer, 1: something moves, and the thread that ends the last movement will wake the waiting threads */
	uint8_t moves;
	uint64_t drained; /* the answer, if there is nothing to do: tickets below this number are in the graph */
	/* enum hd_post. pairs: the thread that serves the worker stores HD_SERVED with release, after the answer; the
	 * worker loads with acquire. The worker's own stores precede the setting of its bit in heddle_runtime.posts. */
	_Atomic uint8_t posted;
	/* The number of tasks in the worker's burst that its thread must run next; 0: none. pairs: the thread that
	 * gives the tasks stores with release, after it has written the burst; the worker loads with acquire. */
	_Atomic unsigned given;
};

struct hd_threads {
	struct hd_seat *seats;      /* owned; per worker */
	struct hd_copier *in, *out; /* owned; per node */
	/* Const after start: the worker whose driver allocates temporaries in main memory, for fast copies to and from
	 * its devices; NULL: no driver has such memory. */
	const struct hd_worker *host_memory;
	/* Guarded by the core lock. On another cache line than the fields above, which workers read without the
	 * lock. */
	/* three counters: worker threads that have opened their device, worker threads that have asked their device
	 * about direct copies, and worker threads that run no more tasks */
	_Alignas(HD_CACHE_LINE) size_t n_seated;
	size_t n_asked, n_done;
	int all_open;   /* all devices are open */
	int closing;    /* the threads of workers must close their devices and end */
	double rescued; /* us: when a worker last looked for tasks to rescue */
	/* 1 + the number of the lookout: the idle worker that looks into the ring while the other idle workers only
	 * poll their events; 0: none. Relaxed, pairs with nothing: tasks are taken from the ring under the core
	 * lock. */
	_Alignas(HD_CACHE_LINE) _Atomic unsigned lookout;
	/* Whether a worker spins until the core lock is free. Relaxed, pairs with nothing: it only limits the number of
	 * spinning workers. */
	_Atomic unsigned spinner;
	struct hd_wakeup counted; /* set by a worker's thread after it has incremented a counter above */
};

static inline double hd_threads_now(const heddle_runtime *rt)
{
	return hd_clock_us() - rt->start_us;
}

/* Whether hd_worker_turns must return and the worker's thread stop running tasks. */
static inline int hd_is_over(const _Atomic int *over)
{
	/* Relaxed, pairs with nothing: see hd_waiter.woken and heddle_runtime.stopping. */
	return atomic_load_explicit(over, memory_order_relaxed);
}

/* --- combine.c ---------------------------------------------------------------------------------------------------- */

/* Returns the tasks that the worker's thread has run to the core, and asks for new ones: enters the core, or is served
 * by the thread that holds the core lock. Afterwards hd_seat.given is the number of tasks to run; another thread may
 * still give tasks later. Called by the worker's thread without the lock. Returns 1, with the lock, if the thread has
 * entered the core and *over is not 0; otherwise 0, without the lock. */
int hd_worker_exchange(struct hd_worker *w, const _Atomic int *over);
/* Does what hd_worker_exchange does, in a thread that holds the core lock and keeps it. The lock is released while
 * callbacks run. */
void hd_worker_exchange_here(struct hd_worker *w);

/* --- workers.c ---------------------------------------------------------------------------------------------------- */

/* Serves a worker: handles its request to the core. Called with the core lock, by the worker's own thread or by another
 * worker's. */
void hd_worker_serve(struct hd_worker *w);
/* Ends the tasks that the worker's thread has run. Called with the core lock. */
void hd_worker_give_back(struct hd_worker *w);
/* Begins staged tasks of a worker whose burst is empty, as many as may form a burst, for its thread to run. Returns
 * whether a task was begun. Called with the core lock. */
int hd_worker_give(struct hd_worker *w);
/* Moves staged tasks of the worker to idle workers that can run them. Called with the core lock. */
void hd_worker_hand_to_idle(struct hd_worker *w);
/* Stages the tasks again that the worker was given and has not begun. Called by the worker's thread, with the core
 * lock. */
void hd_worker_put_back(struct hd_worker *w);
/* Stages the tasks again that the worker was given and has not begun. Unlike hd_worker_put_back, any thread that holds
 * the core lock may call it, and it does so even if the policy has a `started`. If the worker is idle and its OpenMP
 * threads still poll, wakes the worker's thread, which puts the OpenMP threads to sleep. */
void hd_worker_take_back(struct hd_worker *w);
/* Runs the tasks that the worker has been given. Called by the worker's thread without the core lock. */
void hd_worker_run(struct hd_worker *w);
/* Runs tasks until *over is not 0, and then returns 1 with the core lock; or until the worker has been idle for long,
 * and then returns 0 without the lock. After 0 the thread must wait for w->wake; a thread of the program must first
 * look for a deadlock, unless hd_seat.moves. Called by the worker's thread without the lock. `served`:
 * hd_worker_exchange_here has just been called. */
int hd_worker_turns(struct hd_worker *w, const _Atomic int *over, int served);
void *hd_worker_main(void *worker);
void hd_threads_worker_ready(struct hd_worker *w);
void hd_threads_start(heddle_runtime *rt);
/* Updates the typical time of the codelet if `us` differs much from it. A small difference is not written, because each
 * write takes the codelet's cache line away from the other workers. After one task that took long by chance, the next
 * tasks bring the typical time down to at most 1.15 times the usual time, so that bursts are about as long as
 * before. */
static inline void hd_note_length(heddle_codelet *c, double us)
{
	if (us > 1.25 * c->typical_us || 1.15 * us < c->typical_us)
		c->typical_us = isinf(c->typical_us) ? us : c->typical_us + 0.25 * (us - c->typical_us);
}
/* Updates the moving average of kernel times. */
static inline void hd_note_mean(heddle_runtime *rt, double us)
{
	rt->inlet.mean_us = isinf(rt->inlet.mean_us) ? us : rt->inlet.mean_us + 0.25 * (us - rt->inlet.mean_us);
}

/* --- devices.c ---------------------------------------------------------------------------------------------------- */

/* Open and close the worker's device and its streams. The result is stored in the worker's seat. Called by the thread
 * that runs the worker's tasks. */
void hd_device_open(struct hd_worker *w);
void hd_device_close(struct hd_worker *w);
/* One step of a worker whose device has streams: ends kernels, gives the worker more tasks if `takes`, launches staged
 * tasks. Returns 0 if there is nothing to do until the worker's event is set. Called by the worker's thread without the
 * core lock. */
int hd_device_step(struct hd_worker *w, int takes);
/* The counterpart of hd_worker_turns for a worker whose device has streams. Also returns 0 while kernels run. */
int hd_device_turns(struct hd_worker *w, const _Atomic int *over);
/* Makes a copy with the device of the copier, and returns when the copy is complete. Called without the core lock. */
int hd_device_copy(const struct hd_copier *c, const struct heddle_copy *copy);

/* The copier for copies between two nodes. In threads.c. */
struct hd_copier *hd_copier_for(heddle_runtime *rt, unsigned from, unsigned to);

/* --- copies.c ----------------------------------------------------------------------------------------------------- */

void *hd_copier_main(void *copier);
/* If the worker's device manages a memory: asks the device, for each link from another device, whether it can copy
 * directly over this link, and closes the link if it cannot. Called by the thread that runs the worker's tasks. */
void hd_ask_direct_copies(const struct hd_worker *w);
void hd_threads_transfer(heddle_runtime *rt, struct hd_transfer *tr);

/* --- waiting.c: functions of struct hd_engine --------------------------------------------------------------------- */

int hd_threads_wait(heddle_runtime *rt, struct hd_waiter *waiter);
int hd_threads_may_wait(heddle_runtime *rt, size_t more, const heddle_data *d);
const heddle_task *hd_threads_running_here(const struct hd_worker *w);

#endif
