/* The structure of a runtime.
 *
 * One lock, the core lock, guards the graph, the data, the policy and the workers. So the core is sequential code, and
 * the virtual engine runs the same code with one thread. Threads rarely compete for the lock, because they work in
 * batches: submitting threads put their tasks into a ring without the lock, and many tasks of the ring enter the graph
 * under one locking (inlet.c).
 */
#ifndef HD_STATE_RUNTIME_H
#define HD_STATE_RUNTIME_H

#include <stdatomic.h>
#include <heddle/driver.h>
#include <heddle/event.h>
#include <heddle/policy.h>
#include <heddle/runtime.h>
#include "adapt_hooks.h"
#include "ring.h"
#include "sched.h"
#include "worker.h"

struct hd_engine;
struct hd_flow_calls;
struct hd_destroying;
struct hd_failure;
struct hd_fresh;
struct hd_hops;
struct hd_cell;
struct hd_block;
struct hd_memory;
struct hd_journal;
struct hd_eviction_rule;
struct hd_log;
struct hd_misuse;
struct hd_topology;
struct hd_waiter;
struct hd_page;
struct hd_recorder;
struct hd_task_pool;
struct hd_virtual;
struct hd_threads;

/* One heddle_acquire of a datum by a thread of the program, until heddle_release. Only these records say which thread
 * holds which datum. */
struct hd_hold {
	struct hd_hold *next, *prev;  /* in the list of the runtime */
	struct hd_hold *next_of_data; /* in the list of the datum */
	heddle_task *task;            /* the ACQUIRE task; borrowed: it ends after the record is removed */
	uint64_t thread;              /* token of the thread that called heddle_acquire */
	int taken;                    /* 1: the access was granted, so the program holds the datum */
};

enum {
	/* Some memory has room again, so tasks that wait for room must be staged again; or replicas can leave a lost
	 * memory. */
	HD_RETRY_MEMORY = 1,
	HD_RETRY_EXPANSIONS = 2 /* hierarchical tasks wait to be expanded */
};

/* Blocks of memory that tasks wait for. A thread allocates them after it has released the core lock. */
enum { HD_MAX_WANTED = 16 };
struct hd_wanted {
	unsigned n;
	uint16_t nodes[HD_MAX_WANTED];
	size_t sizes[HD_MAX_WANTED]; /* bytes */
	uint16_t lost;               /* a node whose device was found lost during an allocation; 0: none */
};

/* The state between the graph and the workers: task_life.c, control.c and dispatch.c. */
struct hd_dispatch {
	/* n_lost: number of workers whose devices are lost; n_out: number of workers that are lost or retired */
	unsigned n_lost, n_out;
	int releaser; /* the worker whose task, by its end, made the batch ready; -1: none */
	int retry;    /* flags: what must be tried again: HD_RETRY_MEMORY ... */
	size_t n_batch, max_batch;
	heddle_task **batch;           /* owned; ready tasks that the policy has not been given yet */
	size_t n_aside;                /* number of ready tasks that workers must not begin yet: aside.c */
	struct hd_task_queue controls; /* ready control tasks, and ready tasks that will not run (cancelled ones) */
	/* tasks that have ended and whose callback has not been called, and external tasks that are to begin */
	struct hd_task_queue called;
	struct hd_task_queue parked; /* ready tasks that only retired workers can run */
	/* displaced: 1: the policy may have to give back tasks, because it has placed them for workers that are out, or
	 * because newly driven cores are to share them. to_share: the greatest number of tasks to give back for newly
	 * driven cores: worker_set.c */
	int displaced;
	size_t to_share;
	unsigned n_tight;             /* number of memories that are tight: memory/eviction.c */
	unsigned pauses;              /* calls of heddle_pause without heddle_resume: workers begin nothing */
	int unparked;                 /* 1: the policy may have tasks that only retired workers can run */
	int stops;                    /* 1: heddle_stop has begun, which nobody may pause */
	heddle_task *open_reductions; /* REDUCE tasks that are not in the graph yet (link.next, link.prev) */
	/* first in the list of workers that can hold another task: the fastest first; among equally fast ones, the
	 * worker that became hungry last */
	struct hd_worker *hungry;
	heddle_task *unexpanded; /* a heap of the hierarchical tasks that wait to be expanded: expand.c */
	size_t n_undecided;      /* number of ready hierarchical tasks that a heuristic has yet to decide about */
};

/* Counters of the present state, unless a comment says "ever". The counters that every task changes lie in the first
 * cache line. */
struct hd_counts {
	_Alignas(HD_CACHE_LINE) uint64_t inserted; /* tasks that have ever entered the graph, control tasks included */
	uint64_t ended;                            /* tasks that have ever left the graph */
	uint64_t executed; /* tasks that have ever left the graph after a kernel that succeeded */
	size_t ready;      /* tasks that the policy holds */
	unsigned running;  /* tasks in kernels */
	unsigned staged;   /* tasks in the `staged` queues of workers */
	/* how often the policy was given a batch of ready tasks; was asked for a task; had no task when asked */
	uint64_t batches, picks, empty_picks;

	uint64_t transfers; /* transfers that have not ended; the second cache line begins here */
	uint64_t fetching;  /* blocks that threads are allocating without the lock */
	uint64_t held;      /* ACQUIRE tasks that are granted: the program holds their datum */
	/* asleep: workers that sleep or are about to; bursts: workers that run a burst without the lock */
	unsigned asleep, bursts;
	unsigned off;      /* workers whose state is HD_OFF */
	uint64_t parked;   /* ready tasks that only retired workers can run */
	uint64_t detached; /* tasks that wait for events and of which no kernel runs */
	/* calling: callbacks that are running, among them `beginning` functions that begin external tasks */
	unsigned calling, beginning;
	/* held_back: threads that wait in hd_throttle, in a kernel or callback; calls_held_back: in a callback */
	unsigned held_back, calls_held_back;
	unsigned suspended; /* running tasks whose kernels wait for a group */
	/* hierarchical: hierarchical tasks in the graph, except those that run their kernels. expanding: sub-graphs
	 * that are being submitted in virtual time; the virtual clock stands still meanwhile */
	uint64_t hierarchical;
	unsigned expanding;
	unsigned reacting; /* threads that wait for one task or datum, and must be woken as soon as it has ended */
};
_Static_assert(offsetof(struct hd_counts, transfers) == HD_CACHE_LINE, "each task changes the first line only");

/* Waits and acquisitions of the program's threads: wait.c and acquire.c. */
struct hd_waits {
	struct hd_waiter *waiters; /* threads that wait now; each record is on the stack of its thread */
	struct hd_hold *holds;     /* owned; data that threads have acquired or asked for, the newest first */
	int news;                  /* 1: an event may have ended a wait, so hd_wake_waiters must be called */
	uint64_t n_asked;          /* how often the program has waited, not counting waits for the window */
};

/* The events that end tasks: event.c. */
struct hd_events {
	struct hd_arena arena;      /* the memory of all events */
	heddle_event *first, *last; /* free events; `last` is undefined while `first` is NULL */
	uint64_t n_made;            /* number of events ever allocated, in use or free */
	/* number of events that no task waits for any more and that may still be fulfilled */
	uint64_t n_orphans;
	/* Number of threads inside heddle_fulfill. heddle_stop may run as soon as their task has ended, and waits for
	 * these threads. pairs: a leaving thread decrements with release, hd_events_close loads with acquire, so that
	 * the runtime is freed after the thread's last access to it. */
	_Atomic unsigned fulfilling;
};

/* The handles of data: state/handle.c. */
struct hd_handles {
	heddle_data *list;       /* all handles, the newest first */
	heddle_data *next_left;  /* the handle that heddle_stop looks at next; hd_data_destroy moves it on */
	heddle_data *free;       /* freed handles, whose memory is reused; linked by `next` */
	struct hd_fresh *memory; /* owned: the memory of all handles */
	/* Main memory in virtual time, in bytes: its capacity, and the sum of the sizes of all data that are not
	 * children. If the capacity is 0, there is no limit, and nothing is counted. */
	uint64_t capacity, bytes;
	uint32_t n_made; /* number of handles ever made, which is the number of the next one */
	/* 1: state/known_handles.c counts this runtime; used only by the threads that start and stop it */
	uint8_t counted;
};

/* The number of driven processors (hd_class_processors of driven workers), and its integral over time: the processor
 * time in which tasks could have run. worker_set.c. */
struct hd_driven {
	double n, since;    /* n: the present number; since: us, when it last changed */
	double time;        /* us: the integral from the start until `since` */
	double until_begin; /* us: the integral from the start until first_ready */
	double until_end;   /* us: the integral from the start until last_end, if last_end is before `since` */
};

/* Results for the program: the failure to report, statistics, the makespan. */
struct hd_outcome {
	struct hd_failure *failure; /* owned; heddle_wait_all reports it */
	struct heddle_stats stats;
	/* us: when the first task was ready: the begin of the makespan, which ends at heddle_runtime.last_end. -1: no
	 * task was ready yet */
	double first_ready;
	struct hd_driven driven;
};

/* The function set by heddle_set_prologue. */
struct hd_prologue {
	heddle_prologue call; /* NULL: none */
	void *arg;
};

/* Slow work that a critical section puts off until the lock is released: flow/errands.c. */
struct hd_errands {
	/* Workers that had no task and now have staged ones, linked by next_starting. The engine makes all of them
	 * begin when the lock is about to be released. */
	struct hd_worker *starting;
	unsigned n_roused; /* number of events in heddle_runtime.roused */
	int slow;          /* 1: heddle_runtime.unwanted, dead, wanted or short_logs is not empty */
};

struct heddle_runtime {
	/* Const after start. */
	struct heddle_config config;      /* its strings are owned */
	struct heddle_platform *platform; /* owned */
	struct hd_topology *topology;     /* owned; NULL in virtual time */
	const struct hd_engine *engine;
	const struct hd_flow_calls *flow; /* the functions of src/flow that lower rooms call */
	int watched;                      /* 1: calling a kernel needs extra work, for tells_tsan or misuse */
	/* 1: the order of tasks (happens-before) is announced to ThreadSanitizer: misuse/tsan.c */
	int tells_tsan;
	struct hd_misuse *misuse; /* owned: the checking mode; NULL: it is off */
	/* Checking mode: called for a task that has no references left and whose reference the program has given back.
	 * The task's memory is kept for a while, so that a later use is detected. */
	void (*retire_task)(heddle_task *t);
	struct hd_hops *hops;                /* owned: the links between memories */
	struct hd_worker *workers;           /* owned */
	struct hd_slot *slots;               /* owned: the slots of all workers */
	struct hd_class_count *class_counts; /* owned; per class; n_out is guarded by the core lock */
	/* owned; per node: the id of a worker whose driver manages the node's memory */
	unsigned *node_worker;
	size_t n_workers, n_slots, n_nodes, n_classes;
	size_t n_threads; /* number of threads that the machine runs at the same time; in virtual time: no limit */
	int limited;      /* 1: some memory has a capacity */
	int next_use;     /* 1: some memory has a capacity, and the eviction rule looks ahead */
	const struct hd_eviction_rule *rule;
	struct hd_adapt adapt; /* the functions of the heuristics */
	uint16_t special;      /* the flags (HD_TASK_COMMUTES ...) with which each task of the program begins */
	size_t access_bytes;   /* bytes of a task's memory per access */
	/* bytes: the least capacity of all memories; 0: no memory has a capacity */
	uint64_t least_capacity;
	unsigned report; /* number of this runtime among those of the process that write reports: start/reports.h */
	/* next in the list of start/reports.c; expected_lock of that file guards the list */
	struct heddle_runtime *next_expected;
	uint64_t uid;      /* unique id, which tells runtimes apart in thread-local caches */
	uint64_t process;  /* what hd_process() returned in the process that started the runtime */
	double start_us;   /* us: the real clock at the start */
	double clock_cost; /* us that reading the clock adds to a measurement of the policy; 0 unless measured */
	union {
		struct hd_threads *threads;
		struct hd_virtual *virtual_;
	} engine_state; /* owned by the engine */

	/* Used by submitting threads without the lock. */
	struct hd_ring ring;
	struct hd_gate gate;

	/* Flat combining (threads/combine.c): bit k of word i is set if worker 64 i + k asks to be served by the thread
	 * that holds the lock. NULL in virtual time. pairs: a worker sets its bit and then tries to acquire the lock; a
	 * thread that releases the lock then reads the bits. All four operations are sequentially consistent. So the
	 * worker acquires the lock, or the other thread sees the bit and wakes the worker. */
	_Atomic uint64_t *posts; /* owned */
	size_t n_posts;          /* number of words in `posts`; const while workers run */

	/* The core lock, on a cache line of its own. It guards all that follows. */
	_Alignas(HD_CACHE_LINE) struct hd_lock lock;
	/* us: the time of the current critical section: everything in it happens at this time. Set by hd_core_clock,
	 * and by the virtual engine. */
	_Alignas(HD_CACHE_LINE) double now;
	/* The fields that each task changes lie on few cache lines, because every worker needs these lines in turn: the
	 * line from `now` to dispatch.n_batch, the first line of `count`, and the first of `inlet`. */
	double last_end;  /* us: when the last task ended */
	uint64_t entries; /* how often the core lock was acquired */
	struct hd_errands errands;
	struct hd_dispatch dispatch;
	double entered; /* us: when the lock was acquired; not used without the setting time_core */
	struct hd_counts count;
	struct hd_inlet inlet;
	struct hd_waits waits;
	struct heddle_sched sched;
	struct hd_perf *perf;       /* owned: the performance models */
	struct hd_task_pool *pool;  /* owned */
	struct hd_memory *memories; /* owned; per node */
	struct hd_transfer *spare;  /* owned: the memory of ended transfers, reused for new ones; linked by `next` */
	struct hd_block *unwanted;  /* owned: blocks that are to be given back to the system */
	struct hd_cell *dead;       /* owned: objects that are to be destroyed */
	struct hd_wanted wanted;    /* blocks that are to be allocated */
	struct hd_log *short_logs;  /* event logs that will need another chunk soon: record/log.h */
	/* destroying: threads that are destroying objects, the newest first; n_destroying: how many ever began to. */
	struct hd_destroying *destroying;
	uint64_t n_destroying;
	struct hd_handles handles;
	struct hd_events events;
	heddle_group *groups;     /* owned; the newest first: group.c */
	heddle_codelet *codelets; /* owned; the newest first */
	uint32_t n_codelets;
	uint64_t n_walks;             /* how often heddle_task_successors was called */
	struct hd_recorder *recorder; /* owned; NULL when not tracing */
	struct hd_page *page;         /* owned; NULL without the setting live */
	struct hd_journal *journal;   /* owned; NULL unless the trace of kernels that run is written to a file */
	struct hd_prologue prologue;
	struct hd_outcome outcome;
	/* Events that are set and whose waiters sleep; after the lock is released, each waiter is woken by a system
	 * call. The array is owned. An event may be freed before the call, because the call uses its address only. */
	struct hd_wakeup **roused;
	unsigned max_roused; /* capacity of `roused` */
	/* 1: the threads of workers and of copies must end. Written under the lock. Relaxed, pairs with nothing: a
	 * thread that reads 1 without the lock does nothing but end. */
	_Atomic int stopping;
};

/* The node to which the data of a picked task are brought. Control tasks use main memory; steps of layouts use
 * to_node. */
static inline unsigned hd_task_node(const heddle_runtime *rt, const heddle_task *t)
{
	return t->codelet ? rt->workers[t->worker].node : t->kind == HD_TASK_UNPARTITION ? t->to_node : 0;
}
/* The number of workers that are neither lost nor retired. */
static inline size_t hd_n_driven(const heddle_runtime *rt)
{
	return rt->n_workers - rt->dispatch.n_out;
}
/* The number of tasks in the graph: inserted and not ended. */
static inline uint64_t hd_live(const heddle_runtime *rt)
{
	return rt->count.inserted - rt->count.ended;
}

#endif
