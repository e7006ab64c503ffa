/* Tasks, their accesses to data, and the dependencies between tasks.
 *
 * Dependencies are inferred from *access chains*. The chain of a datum consists of the number and the mode of its
 * granted accesses, and of a first-in first-out queue of the accesses that must still wait. Neighbours in the queue
 * that are compatible (readers, commuters, reducers) are granted together. So a dependency takes no memory, granting
 * and releasing an access are O(1), and an access to a datum with thousands of readers costs no more than an access to
 * a datum with two readers. Only explicit dependencies (heddle_after) have edges: struct hd_edge.
 *
 * The core lock guards everything here, unless a comment says otherwise.
 */
#ifndef HD_STATE_TASK_H
#define HD_STATE_TASK_H

#include <stdatomic.h>
#include <heddle/data.h>
#include <heddle/driver.h>
#include <heddle/event.h>
#include <heddle/group.h>
#include <heddle/policy.h>
#include <heddle/runtime.h>
#include <heddle/task.h>
#include "base/base.h"
#include "codelet.h"

struct hd_edge;
struct hd_transfer;

/* One access: one datum of one task. `next` links the access into one list at a time: the queue of its datum until it
 * is granted, later the waiters of a transfer or of the datum's commute token. The `next` of an alias points to the
 * task's other access to the datum, which stands for both. */
struct hd_access {
	/* Borrowed until the task ends: only a later task of the same chain frees the handle. */
	heddle_data *data;
	union {
		struct hd_access *next;
		/* In a task of a sub-graph, before this access is linked: the access of the hierarchical task that
		 * covers this access; NULL: there is none, or it is not known. */
		struct hd_access *cover;
	};
	union {
		/* Borrowed; SCRATCH, REDUX: the private copy of the slot; NULL until a worker is picked. */
		heddle_data *private_copy;
		heddle_data *at; /* HD_ACCESS_ABOVE: the handle in whose chain the access is */
		struct hd_access
		    *before; /* of a marker in the queue of its datum: the access in front of it, or NULL */
	};
	uint32_t index; /* its index in task->accesses */
	/* Number of accesses for which the access waits: those of the group before its own group, counted when its own
	 * group began; at most HD_MAX_PREDS. 0: the access did not wait when it was linked. */
	uint16_t n_preds;
	uint32_t mode : 5;   /* enum heddle_mode */
	uint32_t flags : 11; /* flags: HD_ACCESS_ALIAS ... */
};
enum {
	HD_ACCESS_ALIAS = 1,  /* an earlier access of the task to the same datum stands for both */
	HD_ACCESS_PINNED = 2, /* the access holds a pin on the replica of the task's node */
	HD_ACCESS_TOKEN = 4,  /* the access holds the datum's commute token */
	/* The access is in no chain: it was withdrawn, or it belongs to a step of a reduction or layout, and another
	 * access covers it. */
	HD_ACCESS_UNCHAINED = 8,
	/* The access needs no replica: hd_stage skips it. Or its task has what a stale transfer has brought. */
	HD_ACCESS_LATE = 16,
	/* The datum is staged for a task that writes it: the access is counted in the datum's n_writers. */
	HD_ACCESS_WRITES = 32,
	/* The access is a marker: it keeps the place of a hierarchical task in the chain of the datum. The tasks of the
	 * sub-graph are linked in front of it. Set before the task enters the graph. */
	HD_ACCESS_MARKER = 64,
	/* The marker is granted; it stays in the queue of its datum. */
	HD_ACCESS_IN_FORCE = 128,
	/* The remaining flags are for trees of data: tree_chains.c. ABOVE: the access waits in the chain of a handle
	 * above its own datum, or stopped there because its task was cancelled. */
	HD_ACCESS_ABOVE = 256,
	/* For the chain, the access changes the datum. The flag is set from the mode when the access is linked, and
	 * stays if the mode is changed later. */
	HD_ACCESS_CHANGES = 512,
	/* The access is in the chain of its own datum only, not in those above: an access of the control task that
	 * changes a layout. */
	HD_ACCESS_LOCAL = 1024,
	/* The access is in no chain because the program wants it so (heddle_unordered). It is counted in the datum's
	 * n_unordered from the entry of its task into the graph. */
	HD_ACCESS_UNORDERED = HD_ACCESS_UNCHAINED | HD_ACCESS_LOCAL,
	HD_ACCESS_FLAGS = 2047 /* all flags */
};

static inline int hd_is_unordered(const struct hd_access *a)
{
	return (a->flags & HD_ACCESS_UNORDERED) == HD_ACCESS_UNORDERED;
}
static inline int hd_mode_reads(unsigned mode) /* the task needs the old value */
{
	return (mode & HEDDLE_R) || mode == HEDDLE_COMMUTE;
}
static inline int hd_mode_writes(unsigned mode) /* the task replaces the value that later tasks see */
{
	return (mode & HEDDLE_W) || mode == HEDDLE_COMMUTE;
}

/* Conversion between a mode and its name ("R", "W", "RW", "SCRATCH", "REDUX", "COMMUTE"). NULL: no such mode; 0: no
 * such name. */
const char *hd_mode_name(uint32_t mode);
uint32_t hd_mode_of(const char *name);

enum hd_task_kind {
	HD_TASK_CODELET,     /* runs a kernel on a worker */
	HD_TASK_OUTSIDE,     /* heddle_outside: its work is done outside, until its event is fulfilled */
	HD_TASK_SYNC,        /* has no codelet, and ends as soon as it is ready */
	HD_TASK_ACQUIRE,     /* heddle_acquire: stages its datum in main memory, and ends at heddle_release */
	HD_TASK_UNREGISTER,  /* copies its datum back to the program's buffer, if it has one, then frees the handle */
	HD_TASK_PREFETCH,    /* starts a transfer of its datum to a node, and ends at once */
	HD_TASK_FORGET,      /* heddle_forget: drops the value of its datum */
	HD_TASK_PARTITION,   /* lets tasks use the children of a plan: graph/layout.c */
	HD_TASK_UNPARTITION, /* gathers or drops the children of a plan: graph/layout.c */
	HD_TASK_REDUCE,      /* waits for the contributions of a reduction and combines them: scratch_redux.c */
	HD_TASK_UNPLAN       /* ends a plan, when its children are not used any more */
};

/* Flags of a task, in `special`: a task without rare properties skips all work for them after one test. */
enum {
	HD_TASK_COMMUTES = 1, /* it has COMMUTE accesses, and must take commute tokens before it is ready */
	HD_TASK_PRIVATE = 2,  /* it has SCRATCH or REDUX accesses, and needs the private copies of its worker */
	HD_TASK_ONE_NODE = 4, /* the machine has one memory: nothing is copied or pinned */
	HD_TASK_FITS = 8,     /* every memory can hold its data: capacities need no further check */
	HD_TASK_USES = 16,    /* its data are not pinned yet, and its memory ends with one struct hd_use per access */
	HD_TASK_LISTED = 32,  /* its hd_use records are in the lists of its data */
	HD_TASK_BEGUN = 64,   /* its kernel may have changed its data; never set with HD_TASK_ONE_NODE */
	HD_TASK_DEEP = 128,   /* some of its data are deep: tree_chains.c */
	/* it is hierarchical, and may still be expanded: its accesses are markers. Cleared when the decision is that
	 * the task runs its kernel. Never set with HD_TASK_ONE_NODE: expand.c */
	HD_TASK_EXPANDS = 256,
	HD_TASK_INSIDE = 512, /* it belongs to a sub-graph: hd_task_inside */
	/* Each of its data is covered by the hierarchical task of its sub-graph. So the task comes before all tasks
	 * outside the sub-graph that were submitted after the hierarchical task, and it neither opens nor closes a
	 * reduction. */
	HD_TASK_COVERED = 1024,
	HD_TASK_UNSETTLED = 2048,  /* some of its data are not settled: heddle_data.settled */
	HD_TASK_ALIASES = 4096,    /* some of its accesses are aliases */
	HD_TASK_PLACED = 8192,     /* the `place` of its first hd_use record is defined */
	HD_TASK_UNORDERED = 16384, /* it has unordered accesses */
	/* the policy has `submitted`, and the task has not come to `ended`; controls may have the flag, too */
	HD_TASK_WATCHED = 32768
};

/* Number of the size classes of tasks in the pool: task_pool.h. */
enum { HD_SIZE_CLASSES = 16 };

enum hd_task_state {
	/* Not in the graph: its memory is free, or a thread without the core lock is making the task. No other thread
	 * may read it. */
	HD_OUTSIDE,
	HD_WAITING, /* some access is not granted, or some explicit predecessor has not ended */
	HD_READY,   /* in the batch for the policy, or owned by the policy */
	HD_PICKED,  /* a worker has been chosen; its data are being brought there */
	/* its data have arrived: it is in the `staged` queue of its worker, or the program holds its datum */
	HD_STAGED,
	HD_RUNNING,  /* its worker has begun it */
	HD_DETACHED, /* no kernel of it runs, and the task waits for its events: event.c */
	HD_EXPANDED, /* its sub-graph has been submitted, and tasks of the sub-graph have not ended: expand.c */
	HD_RELEASED, /* its accesses are released; only its callback is left to run */
	HD_ENDED     /* its callback has returned */
};

/* When a kernel ran, us. `own` is the kernel's share of the device during that time: less than the whole time if other
 * kernels ran beside it (engine/shared_clock.h). Performance models learn from `own`, except in virtual time. */
struct hd_span {
	double start, end, own;
};

/* A first-in first-out queue of tasks that no policy owns, linked by link.next. */
struct hd_task_queue {
	heddle_task *first, *last; /* `last` is undefined while `first` is NULL */
};

/* Fields that few tasks need; allocated when the first of them is set. In memory, rt->adapt.task_bytes bytes for the
 * heuristics follow the `extra` of a hierarchical task. */
struct hd_task_extra {
	heddle_callback callback;
	void *callback_arg;
	char *name;            /* owned; NULL: the codelet's name is used */
	heddle_group *group;   /* the group that counts the task until the task is buried; NULL: none */
	struct hd_edge *after; /* owned: explicit successors, the newest first */
	/* Explicit predecessors, until the task enters the graph. The array is owned; the tasks are borrowed from the
	 * program. */
	heddle_task **before;
	size_t n_before;
	unsigned n_preds; /* number of tasks in `before` that had not ended when the task entered the graph */
	/* 1 + the worker to which the policy gave the task, if another worker has taken it over; 0: no worker has. */
	unsigned picked_by;
	/* 1 + the slot on which the task must run, because its private copies belong to that slot; 0: any slot. */
	unsigned slot;
	/* The next fields are for a task that ends by events. */
	uint8_t detached;            /* its kernel has asked for events */
	unsigned n_events;           /* number of events not yet fulfilled; these are in the list `events` */
	struct heddle_event *events; /* borrowed from the runtime */
	double started, returned;    /* us: when its kernel began and when it returned; both set at the return */
	/* the non-zero code that its kernel returned or with which its event was fulfilled; 0: none */
	int code;
	char *message; /* owned: why it failed: the message of heddle_fail, or of the library */
	int released;  /* in checking mode, 1: the program has released its reference */
	/* Owned: if the task is cancelled, which other task failed and why. NULL: unknown, or out of memory. */
	char *cause;
	union {
		struct { /* HD_TASK_OUTSIDE: the function that begins the work */
			void (*begin)(heddle_event *event, void *arg);
			void *begin_arg;
		};
		/* The remaining fields are for a hierarchical task: expand.c. */
		struct hd_task_queue submitted; /* tasks of its sub-graph that are submitted but not in the graph yet */
	};
	/* number of tasks of its sub-graph that have not ended, plus 1 until the sub-graph is submitted */
	uint64_t n_inside;
	/* Number of tasks that its sub-graph has submitted. The submitting thread counts them without the lock. */
	uint64_t n_submitted;
	uint64_t n_entered; /* number of tasks of its sub-graph that have entered the graph or are about to */
	uint32_t depth;     /* number of hierarchical tasks around it */
	uint32_t subgraph;  /* 1 + the index of its sub-graph; 0: not decided yet */
	/* in virtual time: the status of the submission, kept until the predicted time of the submission has passed */
	int outcome;
	uint8_t is_submitted; /* 1: its sub-graph has been submitted, or the submission has failed */
	int inner_status;     /* status of the first failed task of the sub-graph; 0: none has failed */
};

/* An explicit dependency (heddle_after). The predecessor owns it, in `extra->after`. */
struct hd_edge {
	struct hd_edge *next;
	heddle_task *to; /* the successor, which waits; the edge is counted in its `refs` */
};

/* HD_DEEPEST: no stack has room for so many nested kernels. */
enum {
	HD_WORKER_BITS = 20,
	HD_DEPTH_BITS = 12,
	HD_DEEPEST = (1 << HD_DEPTH_BITS) - 1,
	HD_MOST_WORKERS = (1 << HD_WORKER_BITS) - 1
};

struct heddle_task {
	/* The policy uses the links while it owns the task. Otherwise the core uses them: see hd_task_queue,
	 * task_pool.c; and `link.u.key` is the predicted time from pick to begin of the task, us (0: unknown). */
	struct heddle_task_links link;
	heddle_codelet *codelet; /* NULL unless `kind` is HD_TASK_CODELET */
	/* The performance model's entry for the task's footprint; NULL without codelet. From the entry into the graph
	 * until hd_core_end, the task is one of the entry's `users`. */
	struct hd_perf_entry *perf;
	/* submission number after the entry into the graph; before that, the value of hd_gate.n_closings at the
	 * submission */
	uint64_t order;
	union {
		/* hash of the codelet and of the sizes of its data, by which `perf` is found; const from the submission
		 * until the entry into the graph */
		uint64_t footprint;
		uint64_t word; /* HD_TASK_WATCHED, after the entry into the graph: the policy's heddle_task_word */
	};
	struct hd_task_extra *extra; /* owned; NULL for most tasks, and while the task's memory is free */
	double ready, picked;        /* us: when the task became ready, and when a worker was picked for it */
	/* Number of ungranted accesses and explicit predecessors for which the task waits; after a worker was picked
	 * for it, number of transfers for which it waits. */
	uint32_t pending;
	uint32_t refs; /* reference count: 1 for the graph, 1 if the program has a reference, 1 per edge to the task */
	int32_t priority;
	int32_t status; /* 0, or HEDDLE_E_*: how it failed */
	uint32_t n_accesses, n_values;
	union {
		uint32_t worker;  /* CODELET: the worker that was picked for it */
		uint32_t to_node; /* PREFETCH, UNPARTITION: the node to which the data are brought */
	};
	uint32_t only_worker : HD_WORKER_BITS; /* 1 + the only worker that may run it (heddle_on); 0: any may */
	/* number of kernels in which its submission is nested, at most HD_DEEPEST: aside.c */
	uint32_t depth : HD_DEPTH_BITS;
	union {
		uint16_t choice; /* CODELET: 1 + the index in codelet->choices; 0: the codelet has no choices */
		/* ACQUIRE: 1: no thread waits for it any more. It had been granted; otherwise it would have been
		 * withdrawn. */
		uint16_t given_up;
		uint16_t spawned; /* REDUCE: 1: the tasks that combine the private copies are in the graph */
	};
	uint8_t kind; /* enum hd_task_kind */
	/* enum hd_task_state. pairs: bury() in task_life.c stores HD_ENDED with release; heddle_task_done loads with
	 * acquire, without the lock. So a program that sees "ended" also sees what the task wrote. */
	_Atomic uint8_t state;
	/* size class of its memory in the pool; HD_SIZE_CLASSES: larger than all classes */
	uint8_t size_class;
	uint8_t cancelled : 4;       /* 1: it will not run, because a predecessor failed or no worker can run it */
	uint8_t waited : 3;          /* 1: a thread waits for this one task */
	uint8_t aside : 1;           /* 1: it was picked, and must not begin yet: aside.c */
	uint16_t special;            /* flags: HD_TASK_COMMUTES ... */
	struct hd_access accesses[]; /* n_accesses of them; the values follow in memory: see hd_task_value */
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
/* Removes the first task. The queue must not be empty. */
static inline heddle_task *hd_queue_pop(struct hd_task_queue *q)
{
	heddle_task *t = q->first;
	q->first = t->link.next;
	return t;
}

/* Prefetches into the CPU cache the lines of a task that another thread has written and this thread will need soon. */
static inline void hd_task_fetch(const heddle_task *t)
{
	__builtin_prefetch(t, 1);
	__builtin_prefetch((const char *)t + HD_CACHE_LINE, 1);
	__builtin_prefetch((const char *)t + 2 * HD_CACHE_LINE, 1);
	__builtin_prefetch((const char *)t + 3 * HD_CACHE_LINE, 1);
}

/* This record follows in memory the accesses of a task of a sub-graph, and points to the hierarchical task of the
 * sub-graph. So such a task needs no `extra` for this pointer. */
struct hd_inside_of {
	heddle_task *task; /* borrowed: it ends after its sub-graph */
};
static inline struct hd_inside_of *hd_task_inside_of(const heddle_task *t)
{
	return (struct hd_inside_of *)(uintptr_t)&t->accesses[t->n_accesses];
}
/* The hierarchical task in whose sub-graph the task is; NULL: it is in none. */
static inline heddle_task *hd_task_inside(const heddle_task *t)
{
	return HD_UNLIKELY(t->special & HD_TASK_INSIDE) ? hd_task_inside_of(t)->task : NULL;
}

/* The values of a task follow its accesses and its struct hd_inside_of (if it has one) in memory:
 *
 *     n_values offsets (uint32_t, in bytes, counted from the first offset) | the bytes of the values
 */
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
/* Some values must begin at multiples of more than 8 bytes, at most HD_VALUE_ALIGN. The size of an object is a multiple
 * of its alignment, so only a value whose size is a multiple of HD_VALUE_ALIGN can need that. For each such value,
 * hd_value_gap more bytes are reserved, some of which stay free in front of the value. */
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

/* The runtime of a task. A task without a codelet is never given to a policy, so its `link` has room for the
 * pointer. */
static inline heddle_runtime *hd_task_runtime(const heddle_task *t)
{
	return t->codelet ? t->codelet->rt : t->link.u.ptr;
}

/* Whether the task does work of the program: it runs a kernel, or its work is done outside. */
static inline unsigned hd_task_works(const heddle_task *t)
{
	return t->kind <= HD_TASK_OUTSIDE;
}

static inline void hd_set_state(heddle_task *t, enum hd_task_state state)
{
	/* Relaxed, pairs with nothing: these states are read under the core lock. Only HD_ENDED is read without it, and
	 * bury() stores HD_ENDED with release. */
	atomic_store_explicit(&t->state, (uint8_t)state, memory_order_relaxed);
}

/* Returns the task's `extra`, which is allocated at the first call, together with what the heuristics keep behind it.
 * NULL when out of memory. */
struct hd_task_extra *hd_task_extra(heddle_task *t);
/* Places the task's `extra` inside the task's own memory, at `offset`, and clears `bytes` bytes there; the memory must
 * be large enough. So a task that is known at its submission to need an `extra` costs no further allocation. */
void hd_task_place_extra(heddle_task *t, size_t offset, size_t bytes);
/* Whether some worker, driven or retired, may run the task (codelet, can_run, heddle_on, capacities of memories). */
int hd_task_has_worker(const heddle_task *t);
/* The slow path of hd_task_unref: frees a task without references that has an `extra`. */
void hd_task_retire(heddle_runtime *rt, heddle_task *t);
/* Frees the task's `extra`. */
void hd_task_forget(heddle_task *t);
/* Gives the memory of a task without references back to the pool. */
void hd_task_reuse(heddle_runtime *rt, heddle_task *t);
/* Called when the runtime stops: frees the `extra` of tasks that have not ended (after a deadlock), and of tasks to
 * which the program still has a reference. */
void hd_task_forget_all(heddle_runtime *rt);
/* The name that the program gave the task; otherwise the name of its codelet or kind. */
const char *hd_task_name(const heddle_task *t);
/* Writes the task's name for messages to `buffer`: "NAME (CODELET, task 7)", or "CODELET (task 7)" if the task has no
 * name of its own. Returns `buffer`, usually of HD_TITLE bytes. */
enum { HD_TITLE = 200 };
const char *hd_task_title(const heddle_task *t, char *buffer, size_t size);
/* Bytes of the task's data, each datum counted once. The performance model's entry may have another figure, because
 * tasks with and without aliases share an entry. */
uint64_t hd_task_bytes(const heddle_task *t);
/* Whether the capacity of the node is large enough for the task's data. */
int hd_task_fits(const heddle_runtime *rt, const heddle_task *t, unsigned node);
/* Sets the message that says why the task failed: a copy of the first message it gets; none when out of memory. */
void hd_task_message(heddle_task *t, const char *message);
/* Notes that the kernel of the task has returned `code`, or that one of its events was fulfilled with `code`. The first
 * code that is not 0 counts. */
void hd_task_returned(heddle_task *t, int code);
static inline int hd_task_code(const heddle_task *t)
{
	return t->extra ? t->extra->code : 0;
}
/* Marks the task as cancelled, because a predecessor failed. `cause`, which may be NULL, is copied. */
void hd_task_cancel(heddle_task *t, const char *cause);
/* Returns the `cause` to give to the successors of `t`, which failed or was cancelled. The caller frees it. NULL when
 * out of memory. */
char *hd_task_blame(const heddle_task *t);
/* Why the task failed or was cancelled, as part of a sentence. The text lies in `buffer`, usually of HD_REASON bytes,
 * or belongs to the task. */
enum { HD_REASON = 500 };
const char *hd_task_reason(const heddle_task *t, char *buffer, size_t size);
/* The throughput of a worker of the class with kernels on all slots: us of predicted time per us; 1 with one slot. */
double hd_class_full_rate(const heddle_runtime *rt, unsigned class_id);
static inline heddle_kernel hd_task_kernel(const heddle_task *t, unsigned class_id)
{
	return HD_UNLIKELY(t->choice) ? t->codelet->choices[t->choice - 1].kernel : t->codelet->kernels[class_id];
}

#endif
