/* The runtime: its structure.
 *
 * One lock, the core lock, guards the graph, the data, the policy and the workers. So the core is sequential code, and
 * the virtual engine runs the same code with one thread. Threads rarely compete for the lock, because they work in
 * batches: threads that submit put their tasks into a ring without the lock, and many tasks of the ring enter the graph
 * under one locking (inlet.c).
 */
#ifndef HD_CORE_RUNTIME_H
#define HD_CORE_RUNTIME_H

#include <stdatomic.h>
#include <heddle/driver.h>
#include <heddle/event.h>
#include <heddle/policy.h>
#include <heddle/runtime.h>
#include "adapt_hooks.h"
#include "failure.h"
#include "ring.h"
#include "worker.h"
#include "machine/hops.h"
#include "sched.h"

struct hd_engine;
struct hd_flow_calls;
struct hd_destroying;
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
struct hd_virtual;
struct hd_threads;

/* A datum that a thread of the program has asked for with heddle_acquire, until heddle_release. Only these records say
 * which thread holds which datum. */
struct hd_hold {
	struct hd_hold *next, *prev;  /* in the list of the runtime */
	struct hd_hold *next_of_data; /* in the list of the datum */
	heddle_task *task;            /* the ACQUIRE task; borrowed: it ends after the record is removed */
	uint64_t thread;              /* token of the thread that asked */
	int taken;                    /* the datum was granted: the program has it */
};

enum {
	/* Some memory has room again: the tasks that wait for room must be retried; or copies can leave a lost one. */
	HD_RETRY_MEMORY = 1,
	HD_RETRY_EXPANSIONS = 2 /* tasks wait to be expanded: set as long as there are some */
};

/* Blocks that tasks wait for and that are to be allocated without the lock. */
enum { HD_MAX_WANTED = 16 };
struct hd_wanted {
	unsigned n;
	uint16_t nodes[HD_MAX_WANTED];
	size_t sizes[HD_MAX_WANTED]; /* bytes */
	uint16_t lost;               /* a node whose device turned out to be lost; 0: none */
};

/* What lies between the graph and the workers: task_life.c, control.c and dispatch.c. */
struct hd_dispatch {
	unsigned n_lost, n_out; /* workers whose devices are lost; workers that are lost or retired */
	int releaser;           /* the worker whose task made the batch ready; -1: none */
	int retry;              /* HD_RETRY_MEMORY ...: what must be looked at again */
	size_t n_batch, max_batch;
	heddle_task **batch;           /* owned; ready tasks that the policy has not been told of */
	size_t n_aside;                /* ready tasks that workers must not begin yet: aside.c */
	struct hd_task_queue controls; /* ready controls, and ready tasks that will not run */
	struct hd_task_queue called;   /* tasks that have ended and whose callback has not been called */
	struct hd_task_queue parked;   /* ready tasks that only retired workers can run */
	/* the policy may have tasks to give back, since they are placed for workers that are out, or are to be shared
	 * with new cores; how many of the latter it is to give back at most: worker_set.c */
	int displaced;
	size_t to_share;
	unsigned n_tight;             /* memories that are tight: memory/eviction.c */
	int unparked;                 /* the policy may have tasks that only retired workers can run */
	heddle_task *open_reductions; /* REDUCE tasks that are not in the graph yet (link.next, link.prev) */
	/* workers that can hold another task; the fastest first, of these the one that came last */
	struct hd_worker *hungry;
	heddle_task *unexpanded; /* a heap of the hierarchical tasks that wait to be expanded: expand.c */
	size_t n_undecided;      /* hierarchical tasks that are ready, and of which a heuristic has yet to decide */
};

/* Counters. They say how many there are now, unless a comment says otherwise. Those that each task changes are one
 * cache line, the first. */
struct hd_counts {
	_Alignas(HD_CACHE_LINE) uint64_t inserted; /* tasks that have ever entered the graph, controls included ... */
	uint64_t ended;                            /* ... and left it */
	uint64_t executed;                         /* how many of those that left had a kernel that ended well */
	size_t ready;                              /* tasks that the policy holds */
	unsigned running;                          /* tasks in kernels */
	unsigned staged;                           /* tasks in the `staged` queues of workers */
	/* how often the policy was ever told of ready tasks, was asked for a task, and had none */
	uint64_t batches, picks, empty_picks;

	uint64_t transfers; /* copies under way; the second line begins here */
	uint64_t fetching;  /* blocks that threads allocate without the lock */
	uint64_t held;      /* ACQUIRE tasks whose datum the program has */
	/* workers that sleep or are about to; workers that run several tasks without the lock */
	unsigned asleep, bursts;
	unsigned off;      /* workers whose state is HD_OFF */
	uint64_t parked;   /* ready tasks that only retired workers can run */
	uint64_t detached; /* tasks whose kernels have returned and that wait for events */
	unsigned calling;  /* callbacks being run */
	/* threads that run a kernel or a callback and wait in hd_throttle; those of them that run a callback */
	unsigned held_back, calls_held_back;
	unsigned suspended; /* tasks whose kernels wait for a group, of those that are running */
	/* hierarchical tasks in the graph, without those that run their kernels; sub-graphs that are being submitted in
	 * virtual time, which stands still meanwhile */
	uint64_t hierarchical;
	unsigned expanding;
	unsigned reacting; /* threads that wait for one task or datum: they must be told at once when it has ended */
};
_Static_assert(offsetof(struct hd_counts, transfers) == HD_CACHE_LINE, "each task changes the first line only");

/* What threads of the program wait for and hold: wait.c and acquire.c. */
struct hd_waits {
	struct hd_waiter *waiters; /* threads that wait now; each record is on the stack of its thread */
	struct hd_hold *holds;     /* owned; data that threads have acquired or asked for, the newest first */
	int news;                  /* something has happened that may end a wait: hd_wake_waiters must be called */
};

/* The events that end tasks: event.c. */
struct hd_events {
	struct hd_arena arena;      /* the memory of all events */
	heddle_event *first, *last; /* those that are not in use; `last` is undefined while `first` is NULL */
	uint64_t n_made;            /* how many there are, in use or not */
	uint64_t n_orphans;         /* how many nobody waits for any more, and that may still be fulfilled */
	/* Threads inside heddle_fulfill: heddle_stop may run as soon as their task has ended, and waits for them.
	 * pairs: a thread that leaves decrements with release, hd_events_close loads with acquire, so that the runtime
	 * is freed after the thread's last access to it. */
	_Atomic unsigned fulfilling;
};

/* The handles of data: state/handle.c. */
struct hd_handles {
	heddle_data *list;      /* all handles, the newest first */
	heddle_data *next_left; /* the handle that heddle_stop looks at next; hd_data_destroy moves it on */
	heddle_data *free;      /* freed handles, whose memory is used again; linked by `next` */
	struct hd_fresh memory; /* of all handles */
	/* Main memory in virtual time, in bytes: its capacity, and how much data take that are no parts of others. If
	 * the capacity is 0, there is no limit, and nothing is counted. */
	uint64_t capacity, bytes;
	uint32_t n_made; /* how many were ever made: the number of the next one */
	uint8_t counted; /* state/known_handles.c knows of the runtime; only who starts and stops it */
};

/* How many processors (hd_class_processors) have workers that are driven, and for how long they had, summed over
 * processors: the time in which they could have run tasks. worker_set.c. */
struct hd_driven {
	double n, since;    /* how many now, and since when, us */
	double time;        /* us until `since` */
	double until_begin; /* us until first_ready */
	double until_end;   /* us until last_end, if that is before `since` */
};

/* What the program is told. */
struct hd_outcome {
	struct hd_failure failure; /* for heddle_wait_all */
	struct heddle_stats stats;
	/* us: the makespan begins here, and ends at heddle_runtime.last_end; -1: no task was ready yet */
	double first_ready;
	struct hd_driven driven;
};

/* heddle_set_prologue. */
struct hd_prologue {
	heddle_prologue call; /* NULL: none */
	void *arg;
};

/* Slow things that a critical section puts off until the lock is given back: flow/errands.c. */
struct hd_errands {
	/* Workers that had no task and now have staged ones. The engine makes them begin these when the lock is about
	 * to be given back, so that they begin all of them together. Linked by next_starting. */
	struct hd_worker *starting;
	unsigned n_roused; /* how many events lie in heddle_runtime.roused */
	int slow;          /* one of the four lists from heddle_runtime.unwanted on is not empty */
};

struct heddle_runtime {
	/* Const after start. */
	struct heddle_config config;      /* its strings are owned */
	struct heddle_platform *platform; /* owned */
	struct hd_topology *topology;     /* owned; NULL in virtual time */
	const struct hd_engine *engine;
	const struct hd_flow_calls *flow; /* what lower rooms tell src/flow */
	int watched;                      /* each kernel needs more than to be called: one of the next two */
	int tells_tsan;                   /* ThreadSanitizer must be told of the order of tasks: misuse/tsan.c */
	struct hd_misuse *misuse;         /* owned: the checking mode; NULL: it is off */
	/* In checking mode, what becomes of a task to which nobody refers any more and whose reference the program has
	 * given back: it is kept for a while. */
	void (*retire_task)(heddle_task *t);
	struct hd_hops hops;                 /* the links between memories */
	struct hd_worker *workers;           /* owned */
	struct hd_slot *slots;               /* owned: those of all workers */
	struct hd_class_count *class_counts; /* owned; per class; n_out is guarded by the core lock */
	unsigned *node_worker;               /* owned; per node: a worker whose driver manages the node's memory */
	size_t n_workers, n_slots, n_nodes, n_classes;
	size_t n_threads; /* how many threads the machine can run at the same time; virtual time: no limit */
	int limited;      /* some memory has a capacity */
	int next_use;     /* some memory has a capacity, and `rule` looks ahead */
	const struct hd_eviction_rule *rule; /* by which copies leave memories that are full */
	struct hd_adapt adapt;               /* the heuristics */
	uint16_t special;                    /* flags that each task of the program begins with */
	size_t access_bytes;                 /* that each datum of a task takes of its memory */
	uint64_t least_capacity;             /* bytes: the least of all capacities; 0 if there is none */
	unsigned report; /* number of this runtime among those of the process that write reports: start/reports.h */
	struct heddle_runtime *next_expected; /* lock expected_lock of start/reports.c: in its list */
	uint64_t uid;                         /* tells runtimes apart in thread-local caches */
	uint64_t process;                     /* what hd_process() returned in the process that started the runtime */
	double start_us;                      /* us: the real clock at the start */
	double clock_cost; /* us that reading the clock adds to a measurement of the policy; 0 unless measured */
	union {
		struct hd_threads *threads;
		struct hd_virtual *virtual_;
	} engine_state; /* owned by the engine */

	/* What threads that submit use without the lock. */
	struct hd_ring ring;
	struct hd_gate gate;

	/* Bit k of word i is set if worker 64 i + k asks to be served by whoever holds the lock: threads/combine.c.
	 * NULL in virtual time. pairs: a worker sets its bit and then tries to take the lock; a thread that gives the
	 * lock back then reads the bits. All four operations are sequentially consistent. So the worker gets the lock,
	 * or the other thread sees the bit and tells the worker. */
	_Atomic uint64_t *posts; /* owned */
	size_t n_posts;          /* words; const while workers run */

	/* The core lock, on a cache line of its own. It guards all that follows. */
	_Alignas(HD_CACHE_LINE) struct hd_lock lock;
	/* us: the time at which everything in the current critical section happens. Set by hd_core_clock, and by the
	 * virtual engine. */
	_Alignas(HD_CACHE_LINE) double now;
	/* What each task changes is on few cache lines, which every worker needs in turn: the one from `now` to
	 * dispatch.n_batch, the first of `count`, and the first of `inlet`. */
	double last_end;  /* us: when the last task ended */
	uint64_t entries; /* how often the core was entered */
	struct hd_errands errands;
	struct hd_dispatch dispatch;
	double entered; /* us: when the lock was taken; only with the setting time_core */
	struct hd_counts count;
	struct hd_inlet inlet;
	struct hd_waits waits;
	struct heddle_sched sched;
	struct hd_perf *perf; /* owned: the performance models */
	struct hd_task_pool pool;
	struct hd_memory *memories; /* owned; per node */
	struct hd_block *unwanted;  /* blocks that are to be given back to the system, owned */
	struct hd_cell *dead;       /* objects that are to be destroyed, owned */
	struct hd_wanted wanted;    /* blocks that are to be taken from the system */
	struct hd_log *short_logs;  /* lists of recorded events that will need memory soon: record/log.h */
	/* Threads that destroy objects now, the newest first; how many have ever begun to. */
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
	struct hd_journal *journal;   /* owned; NULL unless a trace file is asked for, of kernels that run */
	struct hd_prologue prologue;
	struct hd_outcome outcome;
	/* Events that are set and whose waiters sleep; each waiter is to be woken by a system call. The array is owned;
	 * an event need not exist any more, since only its address is used. */
	struct hd_wakeup **roused;
	unsigned max_roused; /* how many fit into the array */
	/* The threads of workers and of copies must end. Changed under the lock. Relaxed, pairs with nothing: a thread
	 * that reads it without the lock only ends. */
	_Atomic int stopping;
};

/* The node where the data of a picked task must be. For controls that is main memory, but for steps of layouts. */
static inline unsigned hd_task_node(const heddle_runtime *rt, const heddle_task *t)
{
	return t->codelet ? rt->workers[t->worker].node : t->kind == HD_TASK_UNPARTITION ? t->to_node : 0;
}
/* How many workers are neither lost nor retired. */
static inline size_t hd_n_driven(const heddle_runtime *rt)
{
	return rt->n_workers - rt->dispatch.n_out;
}
/* The number of tasks in the graph: inserted and not ended. */
static inline uint64_t hd_live(const heddle_runtime *rt)
{
	return rt->count.inserted - rt->count.ended;
}

/* Gives back one reference to a task. The last one gives the task's memory back to the pool. */
static inline void hd_task_unref(heddle_runtime *rt, heddle_task *t)
{
	if (--t->refs)
		return;
	if (HD_LIKELY(!t->extra))
		hd_pool_give(&rt->pool, t);
	else
		hd_task_retire(rt, t);
}

#endif
