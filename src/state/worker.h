/* Workers: the core's record of each worker, and the slots on which it runs kernels. */
#ifndef HD_STATE_WORKER_H
#define HD_STATE_WORKER_H

#include <stdatomic.h>
#include <heddle/driver.h>
#include <heddle/platform.h>
#include <heddle/runtime.h>
#include "base/lock.h"
#include "task.h"

struct hd_stream;
struct hd_worker;

enum { HD_MAX_BURST = 64 };
/* us: a worker may take several tiny tasks at a time (a burst) if they are expected to take less than this together.
 * The time is so short that a worse distribution of the tasks among workers does not matter. */
#define HD_BURST_US 4.0
/* us: the limit instead of HD_BURST_US for few tasks, at most a quarter of the worker's share of the ready tasks. */
#define HD_LONG_BURST_US 100.0

/* The state of a worker: what the thread that runs its tasks does. */
enum hd_worker_state {
	/* Worker 0 with caller_works, while no thread of the program waits: no thread runs its tasks, so it is given
	 * none. */
	HD_AWAY,
	/* Worker 0 with caller_works: a thread whose wait has ended runs the tasks that the worker still holds. The
	 * worker is given no new ones. */
	HD_LEAVING,
	/* The worker's pipeline is 0, so it is given no tasks; its thread sleeps until that changes. */
	HD_OFF,
	HD_AWAKE, /* the thread has tasks, or asks for some */
	/* The thread of an accelerator waits until a kernel on the device has ended or data have arrived. The worker
	 * holds as many tasks as it can, or its thread will soon look for more by itself. */
	HD_ATTENDING,
	HD_SPINNING, /* the thread has no task, and polls the worker's event */
	/* the thread sleeps on the worker's event, or is about to; it has no task, or its kernels are running */
	HD_SLEEPING
};

/* A slot: room for one running kernel of a worker. An accelerator with several streams has a slot per stream, a CPU
 * worker has one slot. The private copies of SCRATCH and REDUX accesses belong to a slot. A burst of tasks runs on one
 * slot. */
struct hd_slot {
	/* Const after start. */
	_Alignas(HD_CACHE_LINE) struct hd_worker *worker;
	unsigned index; /* index in worker->slots */

	/* Guarded by the core lock. */
	/* number of picked, not ended tasks that must run here because of their private copies */
	unsigned n_bound;
	/* the running task; during a burst, any task of the burst that has not ended; NULL: the slot is free */
	heddle_task *task;
	double start, predicted; /* us: start: when the task began; predicted: its predicted time */

	/* Owned by the engine: the driver's stream and the kernels on it; NULL if the device has no streams. Const
	 * after start; only the worker's thread uses what it points to. */
	struct hd_stream *stream;
};
/* The number of slots of each worker of a class. */
static inline unsigned hd_class_slots(const struct heddle_class *c)
{
	return c->streams > 1 ? c->streams : 1;
}

/* Counts of a class. n: number of workers; n_out: number of workers that are lost or retired. */
struct hd_class_count {
	unsigned n, n_out;
};

struct hd_seat;
struct hd_team;

/* Values of hd_worker.set_up. */
enum {
	/* the worker has several cores, or has run parallel kernels; set by the thread that runs its tasks */
	HD_SET_UP = 1,
	HD_OTHERS_RUN = 2 /* the set of driven workers has changed since libraries were told how many threads to use */
};

struct hd_worker {
	/* Const after start. */
	heddle_runtime *rt;
	unsigned id, class_id, node;
	unsigned n_slots;
	struct hd_slot *slots; /* borrowed from the runtime: its n_slots slots */
	unsigned depth;        /* const: how many tasks the worker may hold at the same time, while it is given any */
	/* owned: its rivals: the workers that share cores with it; only one of them runs at a time; worker_set.c */
	struct hd_worker **rivals;
	size_t n_rivals;
	/* how fast the worker's class is, relative to a CPU core: of several workers that lack tasks, the one with the
	 * largest speed is served first; 0: the setting fastest_first is off */
	float speed;
	const struct heddle_driver *driver; /* used by the threaded engine only */
	/* the driver's device; opened and closed by the thread that runs the tasks */
	void *device;
	struct hd_seat *seat; /* borrowed: the thread that runs the tasks; threaded engine only */
	/* the team that runs parallel kernels; NULL: the worker's kind is not "cpu" */
	struct hd_team *team;
	/* Bits HD_SET_UP and HD_OTHERS_RUN. 0: a sequential kernel is called directly. Otherwise the team calls it,
	 * which first sets the binding and the libraries' numbers of threads. Relaxed, pairs with nothing: each bit is
	 * set and cleared independently, and what depends on HD_OTHERS_RUN is read under the core lock. */
	_Atomic unsigned set_up;

	/* Guarded by the core lock. */
	/* us: the worker may hold more tasks than `pipeline` while all of them are expected to take less than this
	 * together. Const after start. */
	double burst_us;
	double held_us; /* us: expected time of the tasks that it holds, as predicted when they were picked */
	/* The number of tasks that it may hold now: `depth`; or 0 while the worker is given no tasks and begins none,
	 * because it is lost or retired or one of its rivals runs. Set by worker_set.c. */
	unsigned pipeline;
	unsigned in_flight; /* number of tasks picked for it and not ended, except suspended ones */
	/* number of suspended tasks: their kernels wait for a group, and the thread runs other tasks meanwhile:
	 * waiting.c */
	unsigned n_suspended;
	uint8_t hungry;    /* 1: it is in the hungry list: it can hold another task, and the policy had none for it */
	uint8_t state;     /* enum hd_worker_state, set by hd_worker_enter */
	uint8_t calling;   /* 1: its thread is running callbacks; it neither runs tasks nor looks for any */
	uint8_t held_back; /* 1: its thread waits in hd_throttle, inside a kernel or a callback */
	uint8_t lost;      /* 1: its device cannot be used any more: lost_device.c */
	uint8_t retired;   /* 1: the program does not drive it: worker_set.c */
	uint8_t joined;    /* 1: it was retired before the last change of the driven workers */
	/* 1: a suspended kernel of the worker is to resume as soon as no rival runs. Until then the rivals begin no
	 * tasks. */
	uint8_t wants_cores;
	char *why; /* owned: the driver's message when the device was lost; NULL: not lost, or out of memory */
	struct hd_worker *hungry_next, *hungry_prev;
	/* If the policy has made groups (heddle_sched_group): the worker's group, its neighbours among the group's
	 * hungry workers, and hungry_since, which is greater for the worker that became hungry later. */
	unsigned group;
	uint8_t moved; /* 1: it is in hd_loads.moved */
	uint8_t full;  /* 1: it is in the hungry list, and its pipeline has been filled since it was asked last */
	struct hd_worker *group_next, *group_prev;
	uint64_t hungry_since;
	struct hd_task_queue staged; /* tasks whose data have arrived, in the order in which they will run */
	heddle_task *aside;          /* picked tasks that the worker must not begin yet: aside.c; NULL: none */
	uint16_t floor;              /* the worker must not begin tasks whose depth is less */
	double backlog;              /* us: predicted time of the tasks that are picked and not begun */
	double busy;                 /* us: time in which at least one kernel was running */
	double waited_for_data;      /* us: time without a running kernel although a task was picked */
	/* us: when the worker last began or ended a task, or was given its only task */
	double waits_since;
	/* next in the list errands.starting; NULL also for the last worker in the list */
	struct hd_worker *next_starting;
	uint8_t starting; /* 1: it is in the list errands.starting */
	/* The burst: tasks that the worker has begun together and runs one after the other without the lock:
	 * engine/threads/bursts.c. */
	heddle_task *burst[HD_MAX_BURST];
	unsigned burst_size;
	double burst_expected; /* us: expected time of the burst; HUGE_VAL: unknown */

	/* Number of tasks of the burst that are claimed, counted from the front. The worker claims the next task by
	 * adding 1; another worker that rescues the rest claims all of it. Relaxed, pairs with nothing: a claim is one
	 * atomic operation on this word alone. The worker sees the tasks in `burst` because they were handed to it
	 * through its struct hd_seat; the rescuing worker holds the core lock, under which they were written. */
	_Atomic unsigned claimed;
	/* The event on which the worker's thread sleeps. Any thread may set it. It has a cache line of its own, so that
	 * setting it does not slow down the worker's use of the other fields. */
	_Alignas(HD_CACHE_LINE) struct hd_wakeup wake;
};

/* Whether a kernel runs on one of the worker's slots. */
static inline int hd_worker_runs(const struct hd_worker *w)
{
	for (unsigned i = 0; i < w->n_slots; i++)
		if (w->slots[i].task)
			return 1;
	return 0;
}
/* Whether a thread runs the tasks that the worker is given. */
static inline int hd_worker_is_attended(const struct hd_worker *w)
{
	return w->state >= HD_AWAKE;
}
/* Whether the worker is lost or retired: policies do not count on it. */
static inline int hd_worker_is_out(const struct hd_worker *w)
{
	return w->lost || w->retired;
}
/* Whether the worker sleeps or is about to: then it does not look into the ring. A thread that submits tasks that the
 * worker could run acquires the core lock, unless another worker looks into the ring: inlet.c. */
static inline int hd_worker_is_asleep(const struct hd_worker *w)
{
	return w->state == HD_SLEEPING;
}
/* Whether the worker has no task and its thread waits for one. */
static inline int hd_worker_is_idle(const struct hd_worker *w)
{
	return w->state >= HD_SPINNING;
}

#endif
