/* Tasks, their accesses to data, codelets, and the dependencies between tasks.
 *
 * Dependencies are inferred from *access chains*. The chain of a datum is the number and the mode of its granted
 * accesses, and a first-in first-out queue of the accesses that must still wait. Neighbours in the queue that are
 * compatible (readers, commuters, reducers) are granted together. So a dependency takes no memory, granting and
 * releasing an access are O(1), and one access to a datum with thousands of readers costs no more than one to a datum
 * with two. Only explicit dependencies (heddle_after) have edges: struct hd_edge.
 *
 * The core lock guards everything here, unless a comment says otherwise.
 */
#ifndef HD_CORE_TASK_H
#define HD_CORE_TASK_H

#include <heddle/data.h>
#include <heddle/event.h>
#include <heddle/group.h>
#include <heddle/runtime.h>
#include <stdatomic.h>
#include <heddle/driver.h>
#include <heddle/policy.h>
#include <heddle/task.h>
#include "base/base.h"
#include "codelet.h"

struct hd_edge;

struct hd_transfer;

/* One datum of one task. `next` links the access into one list at a time: the queue of its datum until it is granted,
 * later the waiters of a transfer or of the datum's commute token. The `next` of an alias points to the access that
 * stands for both. */
struct hd_access {
	/* Borrowed until the task ends. The handle lives so long: only a later task of the same chain frees it. */
	heddle_data *data;
	union {
		struct hd_access *next;
		/* Before it is linked, in a task of a sub-graph: the access of the hierarchical task that covers it;
		 * NULL: none does, or it is not known. */
		struct hd_access *cover;
	};
	union {
		/* Borrowed; SCRATCH, REDUX: the copy of the worker that was picked, NULL before. */
		heddle_data *private_copy;
		heddle_data *at; /* HD_ACCESS_ABOVE: the handle in whose chain it is */
		struct hd_access
		    *before; /* of a marker in the queue of its datum: what comes in front of it; or NULL */
	};
	uint32_t index; /* in task->accesses */
	/* How many accesses are in the group that it waits for, counted when its own group began; at most HD_MAX_PREDS.
	 * 0: it did not wait when it was linked. */
	uint16_t n_preds;
	uint32_t mode : 5;   /* enum heddle_mode */
	uint32_t flags : 11; /* HD_ACCESS_ALIAS ... */
};
enum {
	HD_ACCESS_ALIAS = 1,  /* an earlier access of the task is to the same datum and stands for both */
	HD_ACCESS_PINNED = 2, /* the access holds a pin on the replica of the task's node */
	HD_ACCESS_TOKEN = 4,  /* the access holds the datum's commute token */
	/* The access is not in the chain, because another task's access covers it: the steps of a reduction. */
	HD_ACCESS_UNCHAINED = 8,
	/* hd_stage leaves it out: it needs no copy. */
	HD_ACCESS_LATE = 16,
	/* The datum is staged for a task that writes it: the access is counted in the datum's n_writers. */
	HD_ACCESS_WRITES = 32,
	/* A marker: it keeps the place of a hierarchical task in the chain of its datum, in front of which the tasks of
	 * its sub-graph are linked. Set before the task enters the graph. */
	HD_ACCESS_MARKER = 64,
	/* A marker that is granted; it is still in the queue of its datum. */
	HD_ACCESS_IN_FORCE = 128,
	/* The rest is for chains of trees: tree_chains.c. It waits in the chain of a handle above its own, or its task
	 * was cancelled there. */
	HD_ACCESS_ABOVE = 256,
	/* The access changes the datum, as far as chains are concerned. Set by the mode that the access had when it
	 * was linked: the mode may change later. */
	HD_ACCESS_CHANGES = 512,
	/* It is in the chain of its own datum only: of the control that changes a layout. */
	HD_ACCESS_LOCAL = 1024,
	HD_ACCESS_FLAGS = 2047 /* all flags */
};

static inline int hd_mode_reads(unsigned mode) /* the task needs the old value */
{
	return (mode & HEDDLE_R) || mode == HEDDLE_COMMUTE;
}
static inline int hd_mode_writes(unsigned mode) /* the task replaces the value that later tasks see */
{
	return (mode & HEDDLE_W) || mode == HEDDLE_COMMUTE;
}

/* The name of a mode ("R", "W", "RW", "SCRATCH", "REDUX", "COMMUTE") or NULL, and the mode of a name or 0. */
const char *hd_mode_name(uint32_t mode);
uint32_t hd_mode_of(const char *name);

enum hd_task_kind {
	HD_TASK_CODELET,     /* runs a kernel on a worker */
	HD_TASK_SYNC,        /* without a codelet: ends as soon as it is ready */
	HD_TASK_ACQUIRE,     /* its datum is staged in main memory; the task ends at heddle_release */
	HD_TASK_UNREGISTER,  /* copies its datum back to the program's buffer, if it has one, then frees the handle */
	HD_TASK_PREFETCH,    /* starts a transfer of its datum to a node, and ends at once */
	HD_TASK_PARTITION,   /* lets tasks use the children of a plan: graph/layout.c */
	HD_TASK_UNPARTITION, /* gathers or forgets the children of a plan: graph/layout.c */
	HD_TASK_REDUCE,      /* waits for the tasks that reduce a datum and combines their results: scratch_redux.c */
	HD_TASK_UNPLAN       /* ends a plan, when its children are not used any more */
};

/* Flags of a task, in `special`: most tasks skip the work that a rare property needs after one test. */
enum {
	HD_TASK_COMMUTES = 1, /* it has COMMUTE accesses: it must take commute tokens before it is ready */
	HD_TASK_PRIVATE = 2,  /* it has SCRATCH or REDUX accesses: it needs the private copies of its worker */
	HD_TASK_ONE_NODE = 4, /* the machine has one memory only: there is nothing to copy or to pin */
	HD_TASK_FITS = 8,     /* every memory can hold its data: capacities need no further check */
	HD_TASK_USES = 16,    /* it has not got its data yet, and its memory ends with a struct hd_use per access */
	HD_TASK_LISTED = 32,  /* these are in the lists of its data */
	HD_TASK_BEGUN = 64,   /* it may have changed its data; not set with HD_TASK_ONE_NODE */
	HD_TASK_DEEP = 128,   /* some of its data are deep: tree_chains.c */
	/* It is hierarchical and has not been told to run its kernel: its accesses are markers. Not set with
	 * HD_TASK_ONE_NODE: expand.c. */
	HD_TASK_EXPANDS = 256,
	HD_TASK_INSIDE = 512, /* it is in a sub-graph: hd_task_inside */
	/* All its data belong to those of that hierarchical task: so it comes in front of all that others have
	 * submitted behind that one, and neither begins nor ends a reduction. */
	HD_TASK_COVERED = 1024,
	HD_TASK_UNSETTLED = 2048, /* some of its data are not settled: heddle_data.settled */
	HD_TASK_ALIASES = 4096    /* some of its accesses are aliases */
};

enum hd_task_state {
	/* Not in the graph: its memory is free, or a thread without the core lock is making it. Nobody else may look
	 * at it. */
	HD_OUTSIDE,
	HD_WAITING,  /* some access is not granted, or some explicit predecessor has not ended */
	HD_READY,    /* in the batch for the policy, or with the policy */
	HD_PICKED,   /* a worker has been chosen; its data are being brought there */
	HD_STAGED,   /* its data have arrived: it is in the queue of its worker, or the program holds its datum */
	HD_RUNNING,  /* its worker has begun it */
	HD_DETACHED, /* its kernel has returned, and the task waits for its events: event.c */
	HD_EXPANDED, /* its sub-graph has been submitted, and tasks of that have not ended: expand.c */
	HD_RELEASED, /* its accesses are given back; only its callback is left */
	HD_ENDED     /* its callback has returned, too */
};

/* When a kernel ran, us, and how much of that time was its own: less than all of it if others ran beside it, as
 * engine/shared_clock.h says. Models learn the latter; in virtual time nothing does. */
struct hd_span {
	double start, end, own;
};

/* A first-in first-out queue of tasks, linked by link.next. The core keeps tasks in such queues while no policy has
 * them. */
struct hd_task_queue {
	heddle_task *first, *last; /* `last` is undefined while `first` is NULL */
};

/* The fields that few tasks need. Allocated when the first of them is set. Of a hierarchical task it ends with
 * rt->adapt.task_bytes more. */
struct hd_task_extra {
	heddle_callback callback;
	void *callback_arg;
	char *name;            /* owned; NULL: the codelet's name is used */
	heddle_group *group;   /* which counts the task until it is buried; NULL: none */
	struct hd_edge *after; /* owned: explicit successors, the newest first */
	/* Explicit predecessors, until the task enters the graph. The array is owned, the tasks are the program's. */
	heddle_task **before;
	size_t n_before;
	unsigned n_preds; /* how many of `before` had not ended when the task entered the graph */
	/* 1 + the worker that the policy gave the task to, if another worker has taken it over; 0: nobody has. */
	unsigned picked_by;
	/* 1 + the slot of its worker on which it must run, because its private copies belong to that; 0: any slot. */
	unsigned slot;
	/* For a task that ends by events. */
	uint8_t detached;            /* its kernel has asked for events */
	unsigned n_events;           /* how many of them are not fulfilled: they are in the list `events` */
	struct heddle_event *events; /* borrowed from the runtime */
	double started, returned;    /* us: when its kernel began and returned; set when it has returned */
	int code;                    /* what its kernel returned, or its event was given, as it failed; 0: neither */
	char *message;               /* owned: why it failed, in the words of heddle_fail or of the library */
	int released;                /* in checking mode: the program has given its reference back */
	/* Owned: for a cancelled task, which task failed and why. NULL: not known, or out of memory. */
	char *cause;
	/* For a hierarchical task: expand.c. */
	struct hd_task_queue submitted; /* what its sub-graph has submitted and is not in the graph yet */
	uint64_t n_inside;              /* tasks of its sub-graph that have not ended, and 1 until it is submitted */
	/* How many tasks its sub-graph has submitted: the thread that submits it counts them without the lock. */
	uint64_t n_submitted;
	uint64_t n_entered;   /* how many of these have entered the graph, or are about to */
	uint32_t depth;       /* how many hierarchical tasks it is in */
	uint32_t subgraph;    /* 1 + the index of its sub-graph; 0: not decided yet */
	int outcome;          /* in virtual time: how its submission went, until that has taken its time */
	uint8_t is_submitted; /* its sub-graph has been submitted, or has failed */
	int inner_status;     /* why a task of the sub-graph has failed; 0: none has */
};

/* An explicit dependency (heddle_after). The task that comes first owns it, in `extra->after`. */
struct hd_edge {
	struct hd_edge *next;
	heddle_task *to; /* the task that waits; the edge is counted in its `refs` */
};

/* HD_DEEPEST is more than a stack has room for kernels that wait. */
enum {
	HD_WORKER_BITS = 20,
	HD_DEPTH_BITS = 12,
	HD_DEEPEST = (1 << HD_DEPTH_BITS) - 1,
	HD_MOST_WORKERS = (1 << HD_WORKER_BITS) - 1
};

struct heddle_task {
	/* The policy uses the links while it has the task. Otherwise the core does: see hd_task_queue, task_pool.c, and
	 * `link.u.key`, the predicted time in us (0: unknown) from pick to begin. */
	struct heddle_task_links link;
	heddle_codelet *codelet; /* NULL unless HD_TASK_CODELET */
	/* The model's entry for its sizes; NULL without codelet. Counted in the entry's `users` from the time when the
	 * task enters the graph until hd_core_end. */
	struct hd_perf_entry *perf;
	uint64_t order; /* submission number, given when it enters the graph; before, hd_gate.n_closings: see submit */
	uint64_t footprint;          /* hash of codelet and sizes, to find `perf`; const after submission */
	struct hd_task_extra *extra; /* owned; NULL for most tasks, and while the task's memory is free */
	double ready, picked;        /* us: when it became ready, and when a worker was chosen */
	/* What it still waits for: ungranted accesses and explicit predecessors; once picked, transfers. */
	uint32_t pending;
	uint32_t refs; /* 1 for the graph, 1 if the program has a reference, 1 per edge to it */
	int32_t priority;
	int32_t status; /* 0, or HEDDLE_E_*: why it failed */
	uint32_t n_accesses, n_values;
	union {
		uint32_t worker;  /* CODELET: the worker that runs it, once picked */
		uint32_t to_node; /* PREFETCH, UNPARTITION: the node that is to get copies */
	};
	uint32_t only_worker : HD_WORKER_BITS; /* 1 + the only worker that may run it (heddle_on); 0: any may */
	uint32_t depth : HD_DEPTH_BITS;        /* in how many kernels it is nested, at most HD_DEEPEST: aside.c */
	union {
		uint16_t choice; /* CODELET: 1 + the index in codelet->choices; 0: the codelet has no choices */
		/* ACQUIRE: nobody waits for it any more. It was granted before, or it would have been withdrawn. */
		uint16_t given_up;
		uint16_t spawned; /* REDUCE: the tasks that combine the copies have been put into the graph */
	};
	uint8_t kind; /* enum hd_task_kind */
	/* enum hd_task_state. pairs: bury in task_life.c stores HD_ENDED with release; heddle_task_done loads with
	 * acquire, without the lock. So a program that sees "ended" also sees what the task wrote. */
	_Atomic uint8_t state;
	uint8_t size_class;          /* of its memory in the pool; HD_SIZE_CLASSES: larger than all classes */
	uint8_t cancelled : 4;       /* it will not run: a task that it depends on failed, or it cannot run anywhere */
	uint8_t waited : 3;          /* a thread waits for this task in particular */
	uint8_t aside : 1;           /* it is ready, and the policy has given it away: aside.c */
	uint16_t special;            /* HD_TASK_COMMUTES ... */
	struct hd_access accesses[]; /* n_accesses; behind them lie the values: see hd_task_value */
};

/* The depth of the tasks that the kernel of `t` submits. */
static inline uint16_t hd_deeper(const heddle_task *t)
{
	return (uint16_t)(t->depth < HD_DEEPEST ? t->depth + 1 : HD_DEEPEST);
}

static inline void hd_queue_push(struct hd_task_queue *q, heddle_task *t)
{
	t->link.next = NULL;
	if (q->first)
		q->last->link.next = t;
	else
		q->first = t;
	q->last = t;
}
static inline void hd_queue_push_first(struct hd_task_queue *q, heddle_task *t)
{
	t->link.next = q->first;
	if (!q->first)
		q->last = t;
	q->first = t;
}
/* The queue must not be empty. */
static inline heddle_task *hd_queue_pop(struct hd_task_queue *q)
{
	heddle_task *t = q->first;
	q->first = t->link.next;
	return t;
}

/* Starts to fetch the cache lines of a task that another thread has written and that will be needed soon. */
static inline void hd_task_fetch(const heddle_task *t)
{
	__builtin_prefetch(t, 1);
	__builtin_prefetch((const char *)t + HD_CACHE_LINE, 1);
	__builtin_prefetch((const char *)t + 2 * HD_CACHE_LINE, 1);
	__builtin_prefetch((const char *)t + 3 * HD_CACHE_LINE, 1);
}

/* Behind the accesses of a task of a sub-graph lies the hierarchical task that it is in: so it needs no `extra`. */
struct hd_inside_of {
	heddle_task *task; /* borrowed: it ends later */
};
static inline struct hd_inside_of *hd_task_inside_of(const heddle_task *t)
{
	return (struct hd_inside_of *)(uintptr_t)&t->accesses[t->n_accesses];
}
/* The hierarchical task in whose sub-graph it is; NULL: none. */
static inline heddle_task *hd_task_inside(const heddle_task *t)
{
	return HD_UNLIKELY(t->special & HD_TASK_INSIDE) ? hd_task_inside_of(t)->task : NULL;
}

/* The values of a task lie behind that: first n_values offsets (uint32_t, in bytes from the first offset), then the
 * bytes of the values. */
static inline char *hd_task_values(const heddle_task *t)
{
	char *behind = (char *)(uintptr_t)&t->accesses[t->n_accesses];
	return HD_UNLIKELY(t->special & HD_TASK_INSIDE) ? behind + sizeof(struct hd_inside_of) : behind;
}
static inline const void *hd_task_value(const heddle_task *t, size_t i)
{
	const char *values = hd_task_values(t);
	return values + ((const uint32_t *)(const void *)values)[i];
}
static inline size_t hd_rounded(size_t size) /* values begin at multiples of 8 bytes */
{
	return hd_round_up(size, 8);
}
/* Some values must begin at multiples of more bytes, HD_VALUE_ALIGN at most. The size of an object is a multiple of its
 * alignment, so only a value whose size is a multiple of HD_VALUE_ALIGN may be such a value. For each of these,
 * hd_value_gap bytes more are reserved, some of which stay free in front of it. */
enum { HD_VALUE_ALIGN = _Alignof(max_align_t) };
static inline size_t hd_value_gap(size_t size)
{
	return HD_UNLIKELY(size % HD_VALUE_ALIGN == 0) ? HD_VALUE_ALIGN - 8 : 0;
}

static inline heddle_task *hd_access_task(const struct hd_access *a)
{
	const struct hd_access *first = a - a->index;
	return (heddle_task *)(uintptr_t)((const char *)first - offsetof(heddle_task, accesses));
}

/* A task without a codelet is never given to a policy: its link has room for the runtime. */
static inline heddle_runtime *hd_task_runtime(const heddle_task *t)
{
	return t->codelet ? t->codelet->rt : t->link.u.ptr;
}

static inline void hd_set_state(heddle_task *t, enum hd_task_state state)
{
	/* Relaxed, pairs with nothing: these states are read under the core lock. HD_ENDED is the only one that is read
	 * without it; bury stores it with release. */
	atomic_store_explicit(&t->state, (uint8_t)state, memory_order_relaxed);
}

/* task.c */
/* Returns the task's `extra`, which is allocated at the first call. NULL when out of memory. */
struct hd_task_extra *hd_task_extra(heddle_task *t);
/* Makes it, of so many bytes, in the task's own memory, which is large enough, at that offset: a task that is known to
 * need one when it is submitted costs no allocation. */
void hd_task_place_extra(heddle_task *t, size_t offset, size_t bytes);
/* Whether the task's codelet, can_run, heddle_on and the capacities of memories leave a worker that may run it, driven
 * or retired. */
int hd_task_has_worker(const heddle_task *t);
/* What hd_task_unref does with a task that nobody refers to any more and that has an `extra`. */
void hd_task_retire(heddle_runtime *rt, heddle_task *t);
/* Frees the task's `extra`. */
void hd_task_forget(heddle_task *t);
/* Gives the memory of a task without references back to the pool. */
void hd_task_reuse(heddle_runtime *rt, heddle_task *t);
/* When the runtime stops: frees what is left of tasks that have not ended (after a deadlock), and of tasks to which the
 * program has kept a reference. */
void hd_task_forget_all(heddle_runtime *rt);
/* The name that the program gave the task, otherwise that of its codelet or of its kind. */
const char *hd_task_name(const heddle_task *t);
/* What messages call a task: "NAME (CODELET, task 7)", or "CODELET (task 7)" if it has no name of its own. Returns
 * `buffer`, usually of HD_TITLE bytes. */
enum { HD_TITLE = 200 };
const char *hd_task_title(const heddle_task *t, char *buffer, size_t size);
/* Bytes of its data, each datum counted once. The model's entry has another figure: tasks with and without aliases
 * share an entry. */
uint64_t hd_task_bytes(const heddle_task *t);
/* Whether the capacity of the node is large enough for the task's data. */
int hd_task_fits(const heddle_runtime *rt, const heddle_task *t, unsigned node);
/* Says why the task failed. Keeps a copy of the first message; when out of memory, none. */
void hd_task_message(heddle_task *t, const char *message);
/* The kernel of the task has returned `code`, or one of its events was fulfilled with it: the first one that is not 0
 * counts. */
void hd_task_returned(heddle_task *t, int code);
static inline int hd_task_code(const heddle_task *t)
{
	return t->extra ? t->extra->code : 0;
}
/* Marks the task as cancelled, because a task it depends on failed. `cause`, which may be NULL, is copied. */
void hd_task_cancel(heddle_task *t, const char *cause);
/* The `cause` for the tasks that depend on `t`, which failed or was cancelled. The caller frees it. NULL when out of
 * memory. */
char *hd_task_blame(const heddle_task *t);
/* Why the task failed or was cancelled, as part of a sentence. The text lies in `buffer`, usually of HD_REASON bytes,
 * or belongs to the task. */
enum { HD_REASON = 500 };
const char *hd_task_reason(const heddle_task *t, char *buffer, size_t size);
/* How many us of kernels, as predicted, a worker of a class does in 1 us while all its slots run one; 1 with a single
 * slot. */
double hd_class_full_rate(const heddle_runtime *rt, unsigned class_id);
static inline heddle_kernel hd_task_kernel(const heddle_task *t, unsigned class_id)
{
	return HD_UNLIKELY(t->choice) ? t->codelet->choices[t->choice - 1].kernel : t->codelet->kernels[class_id];
}

#endif
