/* The threaded engine: what its files share. It has a thread per worker (workers.c; devices.c if its device has
 * streams), two copy threads per accelerator node (copies.c), and the real clock. combine.c is how workers get the
 * core's attention; waiting.c is for the program's threads while they wait. */
#ifndef HD_ENGINE_THREADS_H
#define HD_ENGINE_THREADS_H

#include <math.h>
#include <pthread.h>
#include "engine/shared_clock.h"
#include "state/runtime.h"

struct hd_suspended;
struct hd_waiter;

/* A copy engine: it moves the transfers of one lane. */
struct hd_copier {
	heddle_runtime *rt;
	pthread_t thread;
	struct hd_worker *device_of; /* the worker whose driver and device make the copies */
	void *stream;                /* the driver's, opened and closed with the device; or NULL */
	int is_open;                 /* the stream has been opened */
	/* Only the thread: the transfers whose copies are on the stream, in order, linked by lane_next; how many they
	 * are and how many us they are expected to take; when a copy was last seen to have ended. */
	struct hd_transfer *first, *last;
	unsigned n_flight;
	double flight_us, last_end;
	struct hd_lane *lane;  /* lock core */
	struct hd_wakeup wake; /* set when the lane or rt->stopping has changed */
	int started;           /* `thread` exists */
};

/* A task of a burst that its worker has run. */
struct hd_ended {
	int status;
	struct hd_span ran;
};

enum hd_post {
	HD_NOT_POSTED,
	HD_POSTED, /* the worker asks to be served by whoever holds the core lock */
	HD_SERVED  /* another thread has served it */
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
	/* Lock core. What the thread waits for that runs the worker's tasks meanwhile: the innermost kernel that waits,
	 * otherwise a thread of the program (worker 0, with caller_works). NULL: neither. */
	struct hd_waiter *waiter;
	struct hd_suspended *suspended; /* lock core: the innermost kernel that waits; NULL: none. waiting.c */
	struct hd_shared_clock clock;   /* only the thread of a device with streams: measures its kernels */

	/* What the worker asks of the core, and what it is answered. The thread writes n_ended, `ended` and tired
	 * before it asks; whoever serves it, under the core lock, reads them and writes the answer. */
	_Alignas(HD_CACHE_LINE) unsigned n_ended; /* how many tasks of the burst it has run so far ... */
	struct hd_ended ended[HD_MAX_BURST];      /* ... and how they ended */
	double waited;     /* us: only the thread; how long the kernel that it runs has waited for groups */
	uint8_t tired;     /* it has had nothing to do for long, and wants to sleep */
	uint8_t may_sleep; /* the answer: there is nothing to do, and it counts as asleep ... */
	uint8_t hushes;    /* ... it has retired, and threads of OpenMP may poll on its cores ... */
	uint8_t moves;     /* ... and whether something moves: then whoever ends that wakes those that wait */
	uint64_t drained;  /* the answer, if there is nothing to do: tickets below it are in the graph */
	/* enum hd_post. pairs: whoever serves the worker stores HD_SERVED with release, after the answer; the worker
	 * loads with acquire. The worker's own stores come before the setting of its bit in heddle_runtime.posts. */
	_Atomic uint8_t posted;
	/* The number of tasks in the worker's burst, which its thread must run next; 0: none. pairs: whoever gives the
	 * tasks stores with release, after the burst is written; the worker loads with acquire. */
	_Atomic unsigned given;
};

struct hd_threads {
	struct hd_seat *seats;      /* owned; per worker */
	struct hd_copier *in, *out; /* owned; per node */
	/* const after start: the worker whose driver allocates temporaries in main memory, so that devices copy fast
	 * from and to them; NULL: no driver has such memory */
	const struct hd_worker *host_memory;
	/* Guarded by the core lock. Not on the cache line of the fields above, which workers read without the lock. */
	/* how many threads of workers have opened their device, have asked it about direct copies, and run no more
	 * tasks */
	_Alignas(HD_CACHE_LINE) size_t n_seated;
	size_t n_asked, n_done;
	int all_open;   /* all devices are open */
	int closing;    /* threads of workers must close their devices and end */
	double rescued; /* us: when a worker last looked for tasks to rescue */
	/* 1 + the idle worker that looks into the ring while the others only poll their events; 0: nobody does.
	 * Relaxed, pairs with nothing: what it finds there it takes under the lock. */
	_Alignas(HD_CACHE_LINE) _Atomic unsigned lookout;
	/* A worker spins until the core lock is free. Relaxed, pairs with nothing: it only limits how many do. */
	_Atomic unsigned spinner;
	struct hd_wakeup counted; /* set by a worker's thread after it has counted itself */
};

static inline double hd_threads_now(const heddle_runtime *rt)
{
	return hd_clock_us() - rt->start_us;
}

/* Whether the thread of a worker must stop running tasks: hd_worker_turns. */
static inline int hd_is_over(const _Atomic int *over)
{
	/* Relaxed, pairs with nothing: see hd_waiter.woken and heddle_runtime.stopping. */
	return atomic_load_explicit(over, memory_order_relaxed);
}

/* combine.c */
/* Gives back what the worker's thread has run and asks for new tasks: enters the core, or is served by the thread that
 * is there. Afterwards hd_seat.given says how many tasks there are to run, unless another thread gives some later.
 * Called by the worker's thread without the lock. Returns 1, with the lock, if the thread has entered and *over is not
 * 0; otherwise 0. */
int hd_worker_exchange(struct hd_worker *w, const _Atomic int *over);
/* hd_worker_exchange for a thread that has the lock and keeps it, except while callbacks run. */
void hd_worker_exchange_here(struct hd_worker *w);

/* workers.c */
/* Does for a worker what it asks of the core. The lock is held, perhaps by another worker's thread. */
void hd_worker_serve(struct hd_worker *w);
/* Takes back the tasks that the worker's thread has run. The lock is held. */
void hd_worker_give_back(struct hd_worker *w);
/* Begins the staged tasks of a worker that has none, as many as may form a burst, for its thread to run them. Returns
 * whether there were any. The lock is held. */
int hd_worker_give(struct hd_worker *w);
/* Hands what is staged on the worker to those that are idle and can run it. The lock is held. */
void hd_worker_hand_to_idle(struct hd_worker *w);
/* Stages the tasks again that the worker has been given and has not begun. Called by its thread, with the lock. */
void hd_worker_put_back(struct hd_worker *w);
/* The same in any thread, with the lock, for a worker that is out; one that retires is told so if it must do something
 * about that. */
void hd_worker_take_back(struct hd_worker *w);
/* Runs the tasks that the worker has been given. Called by its thread without the lock. */
void hd_worker_run(struct hd_worker *w);
/* Runs tasks until *over is not 0, and returns 1 with the lock, or until the worker has been idle for long, and returns
 * 0 without the lock: then the thread must wait for w->wake, and if it is one of the program look for a deadlock
 * before, unless hd_seat.moves. Called by the worker's thread without the lock. served: hd_worker_exchange_here was
 * called just before. */
int hd_worker_turns(struct hd_worker *w, const _Atomic int *over, int served);
void *hd_worker_main(void *worker);
void hd_threads_worker_ready(struct hd_worker *w);
void hd_threads_start(heddle_runtime *rt);
/* Updates the typical time of the codelet if `us` differs much from it. Not for every task: each write would take the
 * cache line of the codelet away from other workers. After a task that took long by chance, the typical time comes down
 * to at most 1.15 of the usual one, so that hardly fewer tasks make a burst than before. */
static inline void hd_note_length(heddle_codelet *c, double us)
{
	if (us > 1.25 * c->typical_us || 1.15 * us < c->typical_us)
		c->typical_us = isinf(c->typical_us) ? us : c->typical_us + 0.25 * (us - c->typical_us);
}
/* Updates the running mean of kernel times. */
static inline void hd_note_mean(heddle_runtime *rt, double us)
{
	rt->inlet.mean_us = isinf(rt->inlet.mean_us) ? us : rt->inlet.mean_us + 0.25 * (us - rt->inlet.mean_us);
}

/* devices.c */
/* Open and close the worker's device with its streams. The result is in the worker's seat. Called by the thread that
 * runs the worker's tasks. */
void hd_device_open(struct hd_worker *w);
void hd_device_close(struct hd_worker *w);
/* One step of a worker whose device has streams: ends kernels, gives the worker more tasks if `takes`, launches the
 * staged ones. Returns 0 if there is nothing to do until the worker's event is set. Called by the worker's thread
 * without the lock. */
int hd_device_step(struct hd_worker *w, int takes);
/* What hd_worker_turns is to other workers. It also returns 0 while kernels run. */
int hd_device_turns(struct hd_worker *w, const _Atomic int *over);
/* Makes a copy by the device of the copier, and returns when it is done. Without the lock. */
int hd_device_copy(const struct hd_copier *c, const struct heddle_copy *copy);

/* threads.c: the copy engine for copies between two nodes. */
struct hd_copier *hd_copier_for(heddle_runtime *rt, unsigned from, unsigned to);

/* copies.c */
void *hd_copier_main(void *copier);
/* Asks the worker's device, if it manages a memory, whether it can copy directly from other devices to which there are
 * links, and closes the links where it cannot. Called by the thread that runs the worker's tasks. */
void hd_ask_direct_copies(const struct hd_worker *w);
void hd_threads_transfer(heddle_runtime *rt, struct hd_transfer *tr);

/* waiting.c */
int hd_threads_wait(heddle_runtime *rt, struct hd_waiter *waiter);
int hd_threads_may_wait(heddle_runtime *rt, size_t more, const heddle_data *d);
const heddle_task *hd_threads_running_here(const struct hd_worker *w);

#endif
