/* The runtime: its structure, its workers and its lock. The door of src/core.
 *
 * One lock, the core lock, guards the graph, the data, the policy and the workers. So the core is sequential code, and
 * the virtual engine runs the same code with one thread. Threads meet at the lock rarely because they do things in
 * batches: a thread that submits fills an inbox of its own without the lock, and the inbox is emptied in one go
 * (submit.c).
 */
#ifndef HD_CORE_RUNTIME_H
#define HD_CORE_RUNTIME_H

#include <stdatomic.h>
#include <heddle/driver.h>
#include <heddle/policy.h>
#include <heddle/runtime.h>
#include "base/lock.h"
#include "data/data.h"
#include "engine/engine.h"
#include "task.h"
#include "machine/hops.h"
#include "machine/machine.h"

struct hd_recorder;
struct hd_virtual;
struct hd_threads;

enum { HD_MAX_BURST = 64 };

/* What the thread that runs a worker's tasks is doing. */
enum hd_worker_state {
	HD_AWAY,     /* there is none: worker 0 of caller_works, while nobody waits. It gets no tasks */
	HD_LEAVING,  /* a waiter that goes runs what the worker still holds. It gets no more */
	HD_AWAKE,    /* it runs a task, or looks for one */
	HD_SPINNING, /* it waits for its event for a microsecond, then looks for work by itself */
	HD_DROWSY,   /* it has found nothing for long, and sleeps if it finds nothing now */
	HD_SLEEPING  /* it sleeps on its event */
};

struct hd_worker {
	/* Const after start. */
	heddle_runtime *rt;
	unsigned id, class_id, node;
	unsigned pipeline; /* tasks that it may hold at once */
	const struct heddle_driver *driver;
	void *device;
	double burst_us; /* it may hold more tasks than `pipeline` while all are expected to take less than this */

	/* Guarded by the core lock. */
	double held_us;     /* what the tasks it holds were expected to take when they were picked */
	unsigned in_flight; /* tasks picked for it and not ended */
	uint8_t hungry;     /* in the hungry list: it can hold another task, and the policy had none for it */
	uint8_t state;      /* enum hd_worker_state, set by hd_worker_enter */
	struct hd_worker *hungry_next, *hungry_prev;
	struct hd_task_queue staged;     /* tasks whose data have arrived, to be run in this order */
	heddle_task *running;            /* NULL: none */
	double run_start, run_predicted; /* us: when the running task began, and how long it should take */
	double backlog;                  /* us predicted for tasks picked and not begun */
	double busy;                     /* us spent in kernels */
	double waited_for_data;          /* us without a kernel though a task was picked */
	double waits_since;              /* us: when it last began or ended a task, or picked one while it held none */
	unsigned idle_rounds;            /* how often it has spun since it last had something to do */
	/* begun, and run one after the other without the lock: engine/threads/bursts.c */
	heddle_task *burst[HD_MAX_BURST];
	unsigned burst_size;

	/* How many tasks of the burst have been claimed, from the front. The worker claims the next one by adding 1;
	 * whoever rescues the rest claims all at once. atomic; pairs: nothing, for each claim is one operation on this
	 * word, and what the tasks are was written under the lock, which both sides have held since. */
	_Atomic unsigned claimed;
	/* Set by any thread, waited for by the worker's own. On a line of its own: setting it must not slow down the
	 * worker's use of the other fields. */
	_Alignas(HD_CACHE_LINE) struct hd_event wake;
};

/* Why a task did not enter the graph: a datum of it is closed. HD_OPEN: it did. */
struct hd_refusal {
	enum hd_closed why;
	char name[80]; /* of the datum, which may be gone when its thread tells the program */
};

/* The tasks that one thread has submitted and that are not in the graph yet. Only its thread puts tasks in; whoever
 * holds the core lock takes them out. */
enum { HD_INBOX_SIZE = 64 };
struct hd_inbox {
	heddle_runtime *rt;                 /* const */
	struct hd_inbox *next;              /* lock core */
	uint64_t thread;                    /* const: the thread's token */
	heddle_task *free[HD_SIZE_CLASSES]; /* only its thread */
	/* only its thread: submissions until it looks at the window again; at most the slots */
	uint32_t budget;
	/* pairs: store by the producer with load by the drainer: else it could read a slot not yet written; both
	 * sequentially consistent, see heddle_runtime.lease */
	_Alignas(HD_CACHE_LINE) _Atomic uint32_t tail;
	uint32_t head;             /* lock core */
	struct hd_refusal refusal; /* lock core: of the task that its thread is submitting */
	/* lock core: rt->inlet.n_closings when its thread last got the lease: all tasks in the slots were checked after
	 * that */
	uint64_t n_closings;
	heddle_task *slots[HD_INBOX_SIZE];
};

/* A thread blocked in a wait. */
struct hd_waiter {
	struct hd_waiter *next;
	int (*done)(heddle_runtime *rt, void *arg); /* under the lock */
	void *arg;
	uint64_t thread;        /* its token */
	struct hd_event *event; /* what its thread sleeps on */
	int woken;
};

/* A thread of the program that has asked for a datum with heddle_acquire, from then until heddle_release. These records
 * are all that is known of who holds what. */
struct hd_hold {
	struct hd_hold *next, *prev;  /* of the runtime */
	struct hd_hold *next_of_data; /* of the same datum */
	heddle_task *task;            /* the ACQUIRE task; borrows, it ends with the record */
	uint64_t thread;              /* token of the thread that asked */
	int taken;                    /* heddle_acquire has returned: the program has the datum */
};

/* What a policy instance gets; see heddle/policy.h. */
struct heddle_sched {
	heddle_runtime *rt;
	const struct heddle_policy *policy;
	void *state;
	char **options; /* owns: values in the policy's order */
	struct hd_rng rng;
	int checked; /* a policy of the program: its picks are looked at */
	void (*on_report)(void *arg, const char *name, double value, const char *unit);
	void *report_arg;
	int counts_alone; /* on_report is not told the other figures */
};

/* How tasks come in: submit.c. */
struct hd_inlet {
	struct hd_inbox *inboxes; /* owns; of all threads that have submitted */
	/* The inbox of the thread that had the lease last: no other can hold tasks whose submission has returned. */
	struct hd_inbox *filled;
	uint64_t n_closings; /* how often a datum was closed or opened: see hd_data_close */
	uint64_t throttle;   /* number of unfinished tasks that a throttled submitter waits for */
	uint64_t next_order; /* submission number of the next task */
	double mean_us;      /* running mean of kernel times, on which the window depends; large until some have run */
};

/* What is between the graph and the workers: task_life.c, control.c and dispatch.c. */
struct hd_dispatch {
	heddle_task **batch; /* owns; ready tasks that the policy has not been told of */
	size_t n_batch, max_batch;
	int releaser;                  /* the worker whose task made the batch ready; -1: none */
	struct hd_task_queue controls; /* ready tasks that need no worker */
	struct hd_task_queue called;   /* tasks that have ended but for their callback */
	heddle_task *open_reductions;  /* REDUCE tasks that are not in the graph yet (link.next, link.prev) */
	struct hd_worker *hungry;      /* workers that can hold another task; the last to come is first */
	int retry;                     /* some memory has room again for tasks that wait for it */
};

/* How many there are now, unless said otherwise. */
struct hd_counts {
	uint64_t inserted, ended;            /* tasks that have ever entered and left the graph, controls included */
	size_t ready;                        /* tasks that the policy holds */
	uint64_t running, transfers, staged; /* tasks in kernels; copies under way; tasks that a worker can run */
	uint64_t held;                       /* ACQUIRE tasks in force: data that the program has */
	/* workers that sleep or are about to; that run several tasks without the lock */
	unsigned asleep, bursts;
	unsigned calling; /* callbacks being run */
	/* threads that wait for one task or datum, and may act as soon as it is there */
	unsigned reacting;
};

/* Threads of the program: wait.c and acquire.c. */
struct hd_waits {
	struct hd_waiter *waiters; /* those that wait */
	struct hd_hold *holds;     /* owns; what they have acquired, or have asked for; the newest first */
	int news;                  /* some waiter may have what it waits for */
};

/* The handles of data: data/handle.c. */
struct hd_handles {
	heddle_data *list;      /* all of them, the newest first */
	heddle_data *next_left; /* the next one that heddle_stop looks at; hd_data_destroy moves it on */
	heddle_data *free;      /* memory to be used again (next) */
	struct hd_arena arena;  /* their memory */
	uint32_t n_made;        /* ever: the number of the next one */
};

/* What the program is told. */
struct hd_outcome {
	int first_error;     /* of the tasks that ended since the last wait for all; 0: none */
	char *first_message; /* owns */
	struct heddle_stats stats;
	double first_ready, last_end; /* us: of the makespan; first_ready is below 0 until there is a task */
};

struct heddle_runtime {
	/* Const after start. */
	struct heddle_config config;      /* its strings are owned */
	struct heddle_platform *platform; /* owns */
	struct hd_topology *topology;     /* owns; NULL unless kernels are run */
	const struct hd_engine *engine;
	struct hd_hops hops;       /* the links between memories */
	struct hd_worker *workers; /* owns */
	unsigned *node_worker;     /* owns; per node: a worker whose driver manages its memory */
	size_t n_workers, n_nodes, n_classes;
	int limited;             /* some memory has a capacity */
	uint64_t least_capacity; /* bytes: the least of those capacities */
	uint64_t uid;            /* tells runtimes apart in thread-local caches */
	uint64_t process;        /* hd_process() where it was started */
	double start_us;         /* on the real clock */
	double clock_cost;       /* us that reading the clock adds to what is measured; 0 unless policies are timed */
	union {
		struct hd_threads *threads;
		struct hd_virtual *virtual_;
	} engine_state; /* owns; the engine's */

	/* The token of the thread that may submit without the lock; 0: no thread may. atomic; pairs: whoever revokes
	 * the lease stores 0 here and then loads the tail of the inbox; a submission stores the tail and then loads
	 * this. All four are sequentially consistent, so one of the two sees what the other has stored, and no task
	 * stays unseen in an inbox. */
	_Alignas(HD_CACHE_LINE) _Atomic uint64_t lease;

	/* The core lock, on a line of its own, and what it guards. */
	_Alignas(HD_CACHE_LINE) struct hd_lock lock;
	/* us: the time of the current critical section. Only hd_core_clock sets it */
	_Alignas(HD_CACHE_LINE) double now;
	struct hd_dispatch dispatch;
	struct hd_counts count;
	struct hd_inlet inlet;
	struct hd_waits waits;
	struct heddle_sched sched;
	struct hd_perf *perf; /* owns */
	struct hd_task_pool pool;
	struct hd_memory *memories; /* owns; per node */
	struct hd_handles handles;
	heddle_codelet *codelets; /* owns */
	uint32_t n_codelets;
	uint64_t n_walks;             /* calls of heddle_task_successors */
	struct hd_recorder *recorder; /* owns; NULL when not tracing */
	struct hd_outcome outcome;
	int stopping; /* workers are to end */
};

/* The worker can be given tasks. */
static inline int hd_worker_is_driven(const struct hd_worker *w)
{
	return w->state >= HD_AWAKE;
}
/* The worker sleeps or is about to: it would not see a task that is submitted without the lock. */
static inline int hd_worker_is_asleep(const struct hd_worker *w)
{
	return w->state >= HD_DROWSY;
}
/* The worker looks for work by itself every microsecond: it is not handed single tasks, which would cost more than that
 * it takes what has become ready meanwhile. */
static inline int hd_worker_spins(const struct hd_worker *w)
{
	return w->state == HD_SPINNING;
}
/* Where the data of a picked task must be: controls run in main memory. */
static inline unsigned hd_task_node(const heddle_runtime *rt, const heddle_task *t)
{
	return t->codelet ? rt->workers[t->worker].node : 0;
}
static inline uint64_t hd_live(const heddle_runtime *rt)
{
	return rt->count.inserted - rt->count.ended;
}

/* The time is `now`, unless another thread has seen a later one: threads read the clock before they take the lock. */
static inline void hd_core_clock(heddle_runtime *rt, double now)
{
	if (HD_LIKELY(now > rt->now))
		rt->now = now;
}

/* task_life.c: what happens to tasks; all under the lock. */
/* The task enters the graph. */
void hd_core_insert(heddle_runtime *rt, heddle_task *t);
/* The kernel has ended (or the task was never to run). */
void hd_core_end(heddle_runtime *rt, heddle_task *t, int status);
/* Runs the callbacks of tasks that have ended, without the lock. */
void hd_core_run_callbacks(heddle_runtime *rt);

/* dispatch.c: from a ready task to its end on a worker; all under the lock. */
/* Tells the policy what has become ready, runs controls, gives tasks to hungry workers. Call before leaving the
 * lock. */
void hd_core_settle(heddle_runtime *rt);
/* Gives the worker what it can hold, and the others theirs. Afterwards hd_core_take has its next task; or it has none
 * now, and is in the hungry list if it can hold one. Settles. */
void hd_core_refill(struct hd_worker *w);
void hd_worker_enter(struct hd_worker *w, enum hd_worker_state state);
void hd_core_hungry(struct hd_worker *w);
/* The first staged task of a worker, or NULL. */
heddle_task *hd_core_take(struct hd_worker *w);
/* The worker begins / has ended the task: book-keeping around the kernel. Times in us. */
void hd_core_begin(struct hd_worker *w, heddle_task *t, double now);
void hd_core_finish(struct hd_worker *w, heddle_task *t, int status, double start, double now);
/* It was begun together with others and has not run: it is the worker's first staged task again. */
void hd_core_unbegin(struct hd_worker *w, heddle_task *t);
/* Those staged tasks of `from` that `to` may run as well are staged there now, in their order. */
void hd_core_hand_over(struct hd_worker *from, struct hd_worker *to);
/* us that a task picked by a worker is expected to take: what its model says, else what others of its codelet took. */
double hd_core_expected(const heddle_task *t);
/* The last transfer a task waited for has ended. */
void hd_core_staged(heddle_runtime *rt, heddle_task *t, int status);
/* Retries a task that waited for memory. */
void hd_core_restage(heddle_runtime *rt, heddle_task *t);
/* Nothing moves: no kernel, no copy, and no worker has found anything to do. */
int hd_core_still(heddle_runtime *rt);
/* Nothing can ever happen again though tasks are unfinished, unless a thread acts that this runtime has not heard
 * of. */
int hd_core_stuck(heddle_runtime *rt, const struct hd_waiter *waiter);
/* HEDDLE_E_DEADLOCK with what waits for what. */
int hd_core_deadlock(heddle_runtime *rt);
/* The watchdog's sentence, to whom the program wants it told: without the lock, which is held before and after. */
void hd_report_hang(heddle_runtime *rt);
double hd_worker_free_at(struct hd_worker *w, double now);
void hd_core_not_hungry(struct hd_worker *w);

/* control.c: a control is ready; its data are in main memory, or cannot be. */
void hd_control_run(heddle_runtime *rt, heddle_task *t);
void hd_control_staged(heddle_runtime *rt, heddle_task *t, int status);

/* submit.c */
/* Puts what has been submitted into the graph; whether there was anything. */
int hd_drain(heddle_runtime *rt);
/* Nobody may submit without the lock until further notice. */
void hd_revoke(heddle_runtime *rt);
/* A control of the program is submitted in one step, so that what is checked before is still so when it takes its place
 * in the chains. With the lock held: hd_control_begin, the checks, hd_control_make, hd_control_enter.
 *
 * Waits for room in the window, then puts everything submitted so far into the graph. The lock may be left
 * meanwhile. */
void hd_control_begin(heddle_runtime *rt);
/* A control task on some data; NULL when out of memory. */
heddle_task *hd_control_make(heddle_runtime *rt, int kind, size_t n_accesses);
/* It enters the graph. Then callbacks may run without the lock: the caller's own changes of state come before. */
void hd_control_enter(heddle_runtime *rt, heddle_task *t);
/* Under the lock: a task with a codelet, made by the core itself. */
heddle_task *hd_task_make(heddle_runtime *rt, heddle_codelet *codelet, size_t n_accesses);
void hd_task_set_access(heddle_task *t, size_t i, heddle_data *d, unsigned mode);
/* submit_items.c. What the program says of a task: counted, then copied into the task, which is cleared and large
 * enough. */
struct hd_request {
	const heddle_codelet *codelet;
	size_t n_codelets, n_data, n_values, value_bytes, n_after;
	int has_extra, too_large; /* one value alone is more than the values of a task may be */
};
static inline size_t hd_rounded(size_t size) /* values begin at multiples of 8 */
{
	return hd_round_up(size, 8);
}
/* HEDDLE_E_NO_FIT: both sizes in bytes, and what would help. `who` needs that much: "gemm needs". */
int hd_no_fit(const char *who, uint64_t bytes, uint64_t room);
int hd_request_read(const heddle_runtime *rt, size_t n, const struct heddle_item *items, struct hd_request *q);
int hd_request_fill(heddle_runtime *rt, heddle_task *t, size_t n, const struct heddle_item *items,
                    const struct hd_request *q);
/* task_model.c. The model entry of its sizes; under the lock. Without one the task is cancelled and has its status. */
void hd_task_find_model(heddle_runtime *rt, heddle_task *t);
/* us that the init kernel of a datum's reduction takes on a class; 0 when that is not known. */
double hd_task_init_time(heddle_runtime *rt, heddle_data *d, unsigned class_id);
/* That of any model for the same sizes; NULL when out of memory. */
struct hd_perf_entry *hd_task_entry(const heddle_task *t, struct hd_perf_model *model);
/* Adds what the codelet's own footprint function says to the task's. HEDDLE_E_MEMORY. */
int hd_task_add_footprint(heddle_task *t);

/* acquire.c */
/* Some thread of the program has acquired the datum. */
int hd_data_is_held(const heddle_data *d);
/* heddle_stop: gives back what the program still holds, and forgets who asked for what. */
void hd_holds_release(heddle_runtime *rt);
void hd_holds_free(heddle_runtime *rt);

/* The thread's inbox is looked for again: it is in another process than before. */
void hd_inbox_forget(void);

/* process.c */
/* Tells a process from those it is a fork of. */
uint64_t hd_process(void);
/* HEDDLE_E_STATE in a child of the process that started the runtime. Every public function asks before it takes the
 * lock, which may be held for ever there. */
int hd_check_process(const heddle_runtime *rt);

/* wait.c: entered with the lock held, left with it held. */
int hd_wait_until(heddle_runtime *rt, int (*done)(heddle_runtime *, void *), void *arg);
/* The same for one task or datum: others must see what ends as soon as it ends. */
int hd_wait_reacting(heddle_runtime *rt, int (*done)(heddle_runtime *, void *), void *arg);
void hd_wake_waiters(heddle_runtime *rt);
/* Another thread of the program can still change what the waiter waits for. */
int hd_others_may_act(heddle_runtime *rt, const struct hd_waiter *waiter);

/* policy_host.c: the runtime's instance of the policy that its settings name. HEDDLE_E_UNKNOWN, or what the policy's
 * create says. */
int hd_sched_open(heddle_runtime *rt);
void hd_sched_close(heddle_runtime *rt);

/* kernel_call.c: running kernels. */
struct heddle_call_context {
	heddle_task *task;
	struct hd_worker *worker;
	char *message;          /* owns: what heddle_fail said */
	struct hd_access *only; /* an init kernel sees this access alone */
};
/* Runs the task's kernel through the worker's driver, without the lock. */
int hd_run_kernel(struct hd_worker *w, heddle_task *t);
/* Marks the thread as being inside a kernel or a callback, where waiting is not allowed; returns what was before. */
int hd_inside_enter(void);
void hd_inside_leave(int before);
int hd_inside(void);

/* check.c: whether the structure is what all code takes it to be: lists, counters, references, chains, copies, memory.
 * Under the lock, wherever that may be given up. HEDDLE_E_STATE names the first thing that is not; HEDDLE_E_MEMORY. */
int hd_check(heddle_runtime *rt);

/* The recorder of traces, in src/trace: opened and closed with the runtime. */
struct hd_recorder *hd_recorder_open(heddle_runtime *rt);
void hd_recorder_close(struct hd_recorder *r);

/* record.c: what has happened, under the lock. */
void hd_record_data(struct hd_recorder *r, const heddle_data *d); /* it has just got its number */
void hd_record_data_name(struct hd_recorder *r, const heddle_data *d, const char *name);
/* The task enters the graph, once the submission numbers of what it waits for explicitly have been told. */
void hd_record_insert(struct hd_recorder *r, const heddle_task *t);
void hd_record_explicit(struct hd_recorder *r, uint64_t before);
void hd_record_task(struct hd_recorder *r, const heddle_task *t, double start, double end);
void hd_record_transfer(struct hd_recorder *r, const struct hd_transfer *tr);

#endif
