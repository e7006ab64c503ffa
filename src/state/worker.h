/* Workers: what the core knows of each, and the slots on which it runs kernels. */
#ifndef HD_CORE_WORKER_H
#define HD_CORE_WORKER_H

#include <heddle/runtime.h>
#include <stdatomic.h>
#include <heddle/driver.h>
#include <heddle/platform.h>
#include "base/lock.h"
#include "task.h"

struct hd_stream;
struct hd_worker;

enum { HD_MAX_BURST = 64 };
/* us: a worker may take several tiny tasks at a time if they are expected to take less than this together. It is so
 * short that a worse distribution of the tasks among workers does not matter. */
#define HD_BURST_US 4.0
/* us: the same for a few tasks where each worker has a multiple of them to do. */
#define HD_LONG_BURST_US 100.0

/* What the thread that runs a worker's tasks is doing. */
enum hd_worker_state {
	/* Worker 0 with caller_works, while no thread waits: no thread runs its tasks, so it is given none. */
	HD_AWAY,
	/* Worker 0 with caller_works: a thread whose wait has ended runs the tasks that the worker still holds. It is
	 * given no new ones. */
	HD_LEAVING,
	/* The worker is given no tasks (its pipeline is 0), and its thread sleeps until that changes. */
	HD_OFF,
	HD_AWAKE, /* the thread has been given tasks, or asks for some */
	/* The thread of an accelerator waits until a kernel there has ended or data have arrived. It holds as many
	 * tasks as it can, or looks for more by itself soon. */
	HD_ATTENDING,
	HD_SPINNING, /* the thread has no task, and polls the worker's event */
	HD_SLEEPING  /* the thread sleeps on the worker's event or is about to; it has no task, or its kernels run */
};

/* A place of a worker for one running kernel: an accelerator with several streams has a slot for each, a CPU core has
 * one. The private copies of SCRATCH and REDUX accesses belong to a slot. A burst of tasks runs on one slot. */
struct hd_slot {
	/* Const after start. */
	_Alignas(HD_CACHE_LINE) struct hd_worker *worker;
	unsigned index; /* in worker->slots */

	/* Guarded by the core lock. */
	unsigned n_bound;        /* tasks picked and not ended that must run here, because of their private copies */
	heddle_task *task;       /* the running task, of a burst any one that has not ended; NULL: the slot is free */
	double start, predicted; /* us: when the task began, and how long it should take */

	/* Owned by the engine: the driver's stream and the kernels on it, if the device has streams; otherwise NULL.
	 * Const after start; what it points to is used by the worker's thread only. */
	struct hd_stream *stream;
};
/* The number of slots of each worker of a class. */
static inline unsigned hd_class_slots(const struct heddle_class *c)
{
	return c->streams > 1 ? c->streams : 1;
}

/* How many workers a class has, and how many of them are lost or retired. */
struct hd_class_count {
	unsigned n, n_out;
};

struct hd_seat;
struct hd_team;

/* Values of hd_worker.set_up. */
enum {
	HD_SET_UP = 1,    /* it has several cores or has run parallel kernels; set by the thread that runs the tasks */
	HD_OTHERS_RUN = 2 /* other workers are driven than when libraries were told how many threads to use */
};

struct hd_worker {
	/* Const after start. */
	heddle_runtime *rt;
	unsigned id, class_id, node;
	unsigned n_slots;
	struct hd_slot *slots; /* borrowed from the runtime: its n_slots slots */
	unsigned depth;        /* number of tasks that it may hold at once while it is given any */
	/* owned: the workers that have cores in common with it, of which one runs at a time; worker_set.c */
	struct hd_worker **rivals;
	size_t n_rivals;
	float speed;                        /* hungry workers are asked by decreasing speed; 0: fastest_first is off */
	const struct heddle_driver *driver; /* threaded engine only */
	void *device;                       /* the driver's; opened and closed by the thread that runs the tasks */
	struct hd_seat *seat;               /* borrowed: the thread that runs the tasks; threaded engine only */
	struct hd_team *team;               /* how it runs parallel kernels; NULL: it is of another kind than "cpu" */
	/* Whether sequential kernels need the team, too: HD_SET_UP, HD_OTHERS_RUN. Relaxed, pairs with nothing: each
	 * bit is set and cleared alone, and what follows from the second is read under the core lock. */
	_Atomic unsigned set_up;

	/* Guarded by the core lock. */
	/* us: the worker may hold more tasks than `pipeline` while they are expected to take less than this together.
	 * Const after start. */
	double burst_us;
	double held_us; /* us that the tasks it holds were expected to take when they were picked */
	/* `depth`; or 0 while the worker is neither given tasks nor begins any: it is lost or retired, or one of its
	 * rivals runs. Set by worker_set.c. */
	unsigned pipeline;
	unsigned in_flight; /* number of tasks picked for it and not ended, without the suspended ones */
	/* tasks whose kernels wait for a group, and whose thread runs other tasks of the worker: waiting.c */
	unsigned n_suspended;
	uint8_t hungry;    /* it is in the hungry list: it can hold another task, and the policy had none for it */
	uint8_t state;     /* enum hd_worker_state, set by hd_worker_enter */
	uint8_t calling;   /* its thread runs callbacks, and neither its tasks nor looks for any */
	uint8_t held_back; /* its thread, in a kernel or a callback, waits in hd_throttle */
	uint8_t lost;      /* its device cannot be used any more: lost_device.c */
	uint8_t retired;   /* the program does not drive it: worker_set.c */
	uint8_t joined;    /* it was retired before the last change of which workers the program drives */
	/* A kernel there, which had waited, is to go on as soon as no rival runs. Until then these begin no tasks. */
	uint8_t wants_cores;
	char *why; /* owned: what the driver said then; NULL: not lost, or out of memory */
	struct hd_worker *hungry_next, *hungry_prev;
	/* If the policy has made groups (heddle_sched_group): the worker's group, its neighbours among the hungry
	 * workers of that group, and a number that says who became hungry later. */
	unsigned group;
	uint8_t moved; /* it is in hd_loads.moved */
	uint8_t full;  /* it is hungry, and has been filled since it was asked last */
	struct hd_worker *group_next, *group_prev;
	uint64_t hungry_since;
	struct hd_task_queue staged;     /* tasks whose data have arrived, to be run in this order */
	heddle_task *aside;              /* tasks that it was given and must not begin yet: aside.c; NULL: none */
	uint16_t floor;                  /* the least depth of a task that it may begin */
	double backlog;                  /* us: predicted time of the tasks that are picked and not begun */
	double busy;                     /* us in which it ran at least one kernel */
	double waited_for_data;          /* us without a kernel though a task was picked */
	double waits_since;              /* us: when it last began or ended a task, or got its only task */
	struct hd_worker *next_starting; /* in the list errands.starting; NULL also for the last one */
	uint8_t starting;                /* it is in that list */
	/* The tasks that the worker has begun together and runs one after the other without the lock:
	 * engine/threads/bursts.c. */
	heddle_task *burst[HD_MAX_BURST];
	unsigned burst_size;
	double burst_expected; /* us that they are expected to take together; HUGE_VAL: not known */

	/* How many tasks of the burst are claimed, counted from the front. The worker claims the next task by adding 1;
	 * a worker that rescues the rest claims all of it. Relaxed, pairs with nothing: a claim is one atomic operation
	 * on this word alone. The worker sees the tasks in `burst` because it was given them (struct hd_seat), and the
	 * other one holds the lock, under which they were written. */
	_Atomic unsigned claimed;
	/* Any thread may set it; only the worker's thread waits for it. It has a cache line of its own, so that setting
	 * it does not slow down the worker's use of the other fields. */
	_Alignas(HD_CACHE_LINE) struct hd_wakeup wake;
};

/* A kernel runs on one of its slots. */
static inline int hd_worker_runs(const struct hd_worker *w)
{
	for (unsigned i = 0; i < w->n_slots; i++)
		if (w->slots[i].task)
			return 1;
	return 0;
}
/* A thread runs the tasks that the worker is given. */
static inline int hd_worker_is_attended(const struct hd_worker *w)
{
	return w->state >= HD_AWAKE;
}
/* The worker is lost or retired: policies do not reckon with it. */
static inline int hd_worker_is_out(const struct hd_worker *w)
{
	return w->lost || w->retired;
}
/* The worker sleeps or is about to: it does not look into the ring. Tasks that it could run are submitted in the core,
 * unless another worker looks there: inlet.c. */
static inline int hd_worker_is_asleep(const struct hd_worker *w)
{
	return w->state == HD_SLEEPING;
}
/* The worker has no task, and its thread waits to be given some. */
static inline int hd_worker_is_idle(const struct hd_worker *w)
{
	return w->state >= HD_SPINNING;
}

#endif
