/* Tasks, codelets and the dependencies between tasks: the door of src/graph.
 *
 * Dependencies are inferred from *access chains*: each datum keeps a first-in first-out queue of the accesses that
 * cannot be granted yet, and the number and mode of those that are. Compatible neighbours (readers, commuters,
 * reducers) are granted together. So a dependency costs no memory of its own, granting and releasing are O(1), and a
 * datum with thousands of readers costs no more per access than one with two. Only explicit dependencies (heddle_after)
 * have edges.
 *
 * Everything here is guarded by the core lock unless it says otherwise.
 */
#ifndef HD_CORE_TASK_H
#define HD_CORE_TASK_H

#include <stdatomic.h>
#include <heddle/driver.h>
#include <heddle/policy.h>
#include <heddle/task.h>
#include "base/base.h"
#include "perf/perf.h"

struct hd_transfer;

/* One datum of one task. Which list `next` links it into depends on its state: the datum's queue while it waits to be
 * granted, then the waiters of a transfer or of a commute token; never two at once. An alias is in no list: there it is
 * the access that stands for both. */
struct hd_access {
	heddle_data *data; /* borrows until the task ends: the handle is freed by a later task of its own chain */
	struct hd_access *next;
	heddle_data *private_copy; /* SCRATCH, REDUX: the copy of the worker that runs the task, once picked */
	uint32_t index;            /* in task->accesses */
	uint32_t n_preds : 21;     /* accesses it waited for when it was linked (saturates) */
	uint32_t mode : 5;         /* enum heddle_mode */
	uint32_t flags : 6;        /* HD_ACCESS_ALIAS ... */
};
enum {
	HD_ACCESS_ALIAS = 1,     /* the same datum is an earlier access of the task, which stands for both */
	HD_ACCESS_PINNED = 2,    /* it holds a pin on the replica of the task's node */
	HD_ACCESS_TOKEN = 4,     /* it holds the datum's commute token */
	HD_ACCESS_UNCHAINED = 8, /* covered by another task's access: not in the chain (reductions) */
	HD_ACCESS_LATE = 16,     /* its place is only known when the task's other data are there (partitions) */
	/* its data are there and it may write any moment: it is one of the datum's n_writers */
	HD_ACCESS_WRITES = 32,
	HD_ACCESS_FLAGS = 63 /* all of them */
};

static inline int hd_mode_reads(unsigned mode) /* the old value is needed */
{
	return (mode & HEDDLE_R) || mode == HEDDLE_COMMUTE;
}
static inline int hd_mode_writes(unsigned mode) /* replaces the value that others see */
{
	return (mode & HEDDLE_W) || mode == HEDDLE_COMMUTE;
}

/* "R", "W", "RW", "SCRATCH", "REDUX", "COMMUTE"; NULL and 0 for what is none. */
const char *hd_mode_name(uint32_t mode);
uint32_t hd_mode_of(const char *name);

enum hd_task_kind {
	HD_TASK_CODELET,     /* runs a kernel on a worker */
	HD_TASK_SYNC,        /* ends as soon as it is ready */
	HD_TASK_ACQUIRE,     /* its datum is staged in main memory, then it stays until heddle_release */
	HD_TASK_UNREGISTER,  /* its datum is brought home when it has one, then freed */
	HD_TASK_PREFETCH,    /* a transfer is asked for, then it ends */
	HD_TASK_PARTITION,   /* the parent is staged in main memory, then the children are good there */
	HD_TASK_UNPARTITION, /* the children are staged in main memory, then the parent is good there */
	HD_TASK_REDUCE       /* waits for the reduction tasks of a datum; see scratch_redux.c */
};

/* What few tasks have, so that the others need not look; that the machine has one memory only; that every memory can
 * hold its data. */
enum { HD_TASK_COMMUTES = 1, HD_TASK_PRIVATE = 2, HD_TASK_ONE_NODE = 4, HD_TASK_FITS = 8 };

/* HD_OUTSIDE: not in the graph; free, or being made by a thread that does not hold the lock, so that nobody else looks
 * at it. */
enum hd_task_state {
	HD_OUTSIDE,
	HD_WAITING,
	HD_READY,
	HD_PICKED,
	HD_STAGED,
	HD_RUNNING,
	HD_RELEASED /* only its callback is left */,
	HD_ENDED
};

/* What few tasks need; allocated with the first such thing. */
struct hd_task_extra {
	heddle_callback callback;
	void *callback_arg;
	char *name;            /* owns */
	struct hd_edge *after; /* explicit successors, the newest first, owns */
	/* explicit predecessors until it enters the graph; owns the array, the program the tasks */
	heddle_task **before;
	size_t n_before;
	unsigned n_preds;   /* of those, the ones it waited for when it entered */
	unsigned picked_by; /* 1 + the worker that the policy gave it to, where another has run it; 0: the same */
	char *message;      /* owns: what heddle_fail said */
	/* owns: cancelled, which task failed and why; NULL: not known, for lack of memory perhaps */
	char *cause;
};

struct hd_edge {
	struct hd_edge *next;
	heddle_task *to; /* counted */
};

struct heddle_task {
	/* The policy's while it has the task, the core's otherwise (free list, worker queues). */
	struct heddle_task_links link;
	heddle_codelet *codelet;     /* NULL unless HD_TASK_CODELET */
	struct hd_perf_entry *perf;  /* the model entry of its sizes; NULL without codelet */
	uint64_t order;              /* submission number, given when it enters the graph */
	uint64_t footprint;          /* const after submission */
	struct hd_task_extra *extra; /* owns; NULL for most, and while its memory is free */
	double ready, picked;        /* us; ready is also the predicted end while it waits in a worker (see engine) */
	/* what it still waits for: ungranted accesses, explicit dependencies, then transfers */
	uint32_t pending;
	uint32_t refs; /* 1 for the graph, 1 per reference of the program, 1 per edge to it */
	int32_t priority;
	int32_t status; /* 0 or why it failed */
	uint32_t n_accesses, n_values;
	union {
		uint32_t worker;  /* CODELET: who runs it, once picked */
		uint32_t to_node; /* PREFETCH: where a copy is wanted */
	};
	uint32_t only_worker; /* 1 + the only worker allowed; 0: any */
	union {
		uint16_t choice;   /* CODELET: 1 + the implementation; 0: the only one */
		uint16_t given_up; /* ACQUIRE: whoever asked does not wait for it any more */
		uint16_t spawned;  /* REDUCE: its steps are in the graph */
	};
	uint8_t size_class; /* for the pool; HD_SIZE_CLASSES: too large for it */
	uint8_t kind;
	/* pairs: release in bury of task_life.c, acquire in heddle_task_done, which reads without the lock: otherwise a
	 * program could see "ended" and not what the task wrote */
	_Atomic uint8_t state;
	uint8_t cancelled;           /* a task it depends on failed */
	uint8_t waited;              /* somebody waits for this very task */
	uint8_t special;             /* HD_TASK_COMMUTES ... */
	struct hd_access accesses[]; /* n_accesses, then the values: see hd_task_value */
};

/* Tasks in the order in which they came, linked by link.next: what the core has of them between two stages of their
 * lives. */
struct hd_task_queue {
	heddle_task *first, *last; /* last: undefined while first is NULL */
};
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
/* The queue is not empty. */
static inline heddle_task *hd_queue_pop(struct hd_task_queue *q)
{
	heddle_task *t = q->first;
	q->first = t->link.next;
	return t;
}

/* Another thread made the task: its cache lines are fetched while there is something else to do. */
static inline void hd_task_fetch(const heddle_task *t)
{
	__builtin_prefetch(t, 1);
	__builtin_prefetch((const char *)t + HD_CACHE_LINE, 1);
	__builtin_prefetch((const char *)t + 2 * HD_CACHE_LINE, 1);
	__builtin_prefetch((const char *)t + 3 * HD_CACHE_LINE, 1);
}

/* Values lie behind the accesses: an array of n_values uint32_t offsets from its own start, then the bytes. */
static inline char *hd_task_values(const heddle_task *t)
{
	return (char *)(uintptr_t)&t->accesses[t->n_accesses];
}
static inline const void *hd_task_value(const heddle_task *t, size_t i)
{
	const char *values = hd_task_values(t);
	return values + ((const uint32_t *)(const void *)values)[i];
}
static inline heddle_task *hd_access_task(const struct hd_access *a)
{
	const struct hd_access *first = a - a->index;
	return (heddle_task *)(uintptr_t)((const char *)first - offsetof(heddle_task, accesses));
}

/* One of several implementations for the same kind of class; each has a model of its own, CODELET.NAME. */
struct hd_implementation {
	char *kind, *model_name; /* own */
	heddle_kernel kernel;
	struct hd_perf_model *model;
};

enum { HD_MAX_PREDS = (1 << 21) - 1, HD_MAX_CHOICES = UINT16_MAX };

struct heddle_codelet {
	heddle_runtime *rt;
	heddle_codelet *next;            /* in the runtime's list */
	struct heddle_codelet_desc desc; /* owns what it points to */
	struct hd_perf_model *model;
	uint32_t id; /* in traces */
	uint64_t footprint_seed;
	uint64_t last_footprint; /* one-entry cache of hd_perf_entry */
	struct hd_perf_entry *last_entry;
	double typical_us;      /* what its tasks took lately, roughly; HUGE_VAL until one has run */
	uint8_t *class_ok;      /* per class: has workers, and an implementation, or a time where times are given */
	heddle_kernel *kernels; /* per class: the implementation */
	struct hd_implementation *choices; /* owns; none unless some kind has several implementations */
	size_t n_choices;                  /* at most HD_MAX_CHOICES */
	uint64_t max_bytes;                /* data of a task must not be larger; 0: no limit */
	size_t n_able;                     /* workers of those classes */
	char *kinds;                       /* owns: of workers that it has kernels for, "cpu, cuda" */
};

/* Tasks without a codelet never meet a policy, so their link is free for it. */
static inline heddle_runtime *hd_task_runtime(const heddle_task *t)
{
	return t->codelet ? t->codelet->rt : t->link.u.ptr;
}

static inline void hd_set_state(heddle_task *t, enum hd_task_state state)
{
	/* relaxed: under the core lock; only ENDED is read without it and is stored with release. pairs: nothing */
	atomic_store_explicit(&t->state, (uint8_t)state, memory_order_relaxed);
}

/* pool.c: memory of tasks. Tasks are taken by submitting threads from a private list and given back under the core
 * lock. */
struct hd_size_class {
	heddle_task *open; /* free tasks through link.next, fewer than HD_BUNDLE */
	size_t n_open;
	heddle_task *bundles; /* lists of HD_BUNDLE, linked by their first tasks' link.prev */
};
struct hd_task_pool {
	struct hd_size_class *classes;
	struct hd_arena arena;
	struct slab *slabs; /* in the arena, but owns those of large tasks */
	uint64_t bytes;     /* of all slabs */
};
enum { HD_SIZE_STEP = 64, HD_SIZE_CLASSES = 16, HD_BUNDLE = 64 };
int hd_pool_open(struct hd_task_pool *pool);
void hd_pool_close(struct hd_task_pool *pool);
/* A list of free tasks of a size class, at most HD_BUNDLE; or one. NULL when out of memory. */
heddle_task *hd_pool_take_bundle(struct hd_task_pool *pool, unsigned size_class);
heddle_task *hd_pool_take(struct hd_task_pool *pool, unsigned size_class);
/* One task larger than the classes. */
heddle_task *hd_pool_take_large(struct hd_task_pool *pool, size_t size);
void hd_pool_give(struct hd_task_pool *pool, heddle_task *t);
/* Every task, also those that are not in the graph, or not any more: for messages about what hangs. */
void hd_pool_each(const struct hd_task_pool *pool, void (*f)(const heddle_task *, void *), void *arg);

/* chains.c: the access chains. */
/* Puts a task behind everything submitted before; afterwards `pending` says what it waits for. */
void hd_graph_link(heddle_task *t);
/* Makes `after` wait for `before`, unless that has ended. HEDDLE_E_MEMORY. */
int hd_graph_after(heddle_task *before, heddle_task *after);
/* The task that was made to wait last for `before` does so no more. */
void hd_graph_undo_after(heddle_task *before);
/* Gives back the accesses of a task that has ended and drops explicit dependencies on it; calls ready(task, arg) for
 * each task that nothing holds back any more. */
void hd_graph_release(heddle_task *t, void (*ready)(heddle_task *, void *), void *arg);
/* Commute tokens: takes those of all its COMMUTE accesses or none. Calls got(task, arg) when it has them; otherwise it
 * queues for the one that lacked, and hd_graph_release calls `ready` for it again. The same for tasks that it stood in
 * the way of. */
void hd_graph_take_tokens(heddle_task *t, void (*got)(heddle_task *, void *), void *arg);

/* task.c */
struct hd_task_extra *hd_task_extra(heddle_task *t); /* makes it; NULL when out of memory */
/* Some worker may run it, as far as its codelet, can_run, heddle_on and the sizes of memories are concerned. */
int hd_task_has_worker(const heddle_task *t);
void hd_task_unref(heddle_runtime *rt, heddle_task *t);
/* When the runtime stops: what is left of tasks that will never end, after a deadlock, or that the program has kept. */
void hd_task_forget_all(heddle_runtime *rt);
const char *hd_task_name(const heddle_task *t);
/* "NAME (CODELET, task 7)", or "CODELET (task 7)" for a task without a name of its own: what messages call it. Returns
 * `buffer`, of HD_TITLE bytes usually. */
enum { HD_TITLE = 200 };
const char *hd_task_title(const heddle_task *t, char *buffer, size_t size);
/* of its data. Not the model's figure: tasks with aliases share its entry */
uint64_t hd_task_bytes(const heddle_task *t);
int hd_task_fits(const heddle_runtime *rt, const heddle_task *t, unsigned node); /* the node can hold its data at all */
void hd_task_message(heddle_task *t, const char *message); /* why it failed; copied; lost when out of memory */
/* A task that it depends on failed; `cause`, which may be NULL, is copied. */
void hd_task_cancel(heddle_task *t, const char *cause);
/* What those that depend on `t`, which failed or was cancelled, are to be told: the caller's, NULL when out of
 * memory. */
char *hd_task_blame(const heddle_task *t);
/* Why it failed, or was cancelled, as part of a sentence: in `buffer`, of HD_REASON bytes usually, or in the task. */
enum { HD_REASON = 500 };
const char *hd_task_reason(const heddle_task *t, char *buffer, size_t size);
void hd_codelet_free(heddle_codelet *c);
/* HEDDLE_E_NO_WORKER: for which kinds of workers it has kernels, and which kinds there are. */
int hd_codelet_no_worker(const heddle_codelet *c);
/* Decides which implementation a task uses on a class: those with too few samples in turn, then the fastest. */
void hd_codelet_choose(heddle_task *t, unsigned class_id, unsigned calibrate);
/* Tells the chosen implementation's model. */
void hd_codelet_record(heddle_task *t, unsigned class_id, double us);
static inline heddle_kernel hd_task_kernel(const heddle_task *t, unsigned class_id)
{
	return HD_UNLIKELY(t->choice) ? t->codelet->choices[t->choice - 1].kernel : t->codelet->kernels[class_id];
}

#endif
