/* Data: handles, copies per memory node, transfers, eviction: the door of src/data.
 *
 * The protocol is MSI: a replica is invalid, or valid; the datum is "modified" when exactly one replica is valid and it
 * is not the program's buffer. Everything is guarded by the core lock unless it says otherwise; the copies themselves
 * are made by the engine without it, on replicas that are pinned for the purpose.
 */
#ifndef HD_DATA_H
#define HD_DATA_H

#include <heddle/data.h>
#include "core/task.h"

/* Copies that could be evicted, from the least to the most recently used. Clean: another valid copy exists, or the copy
 * is invalid. Dirty: the only valid one, to be written back first. */
enum hd_lru_list { HD_UNLISTED, HD_CLEAN, HD_DIRTY, HD_LISTS };

/* A copy of a datum on one node. */
struct hd_replica {
	void *ptr;     /* NULL: not allocated. Virtual time: any non-NULL value */
	uint32_t pins; /* tasks staged or running and transfers that use it */
	uint16_t node;
	uint8_t valid;
	uint8_t incoming;                 /* a transfer will make it valid */
	struct hd_replica *newer, *older; /* LRU list of the node while unpinned */
	uint8_t listed;                   /* enum hd_lru_list: the list it is in */
	uint8_t user_buffer;              /* the program's: never freed nor evicted */
};

/* What few data need. */
struct hd_data_extra {
	char *name;                     /* owns */
	const struct heddle_type *type; /* heddle_object; borrows until unregistered */
	heddle_codelet *redux_init, *redux_combine;
	struct hd_private *privates; /* owns: private copies for SCRATCH and REDUX */
	/* owns: will close the reduction that the chain ends with; NULL: it does not */
	heddle_task *reduce;
	struct hd_hold *holds;  /* borrows: who has asked for it with heddle_acquire, the newest first */
	heddle_data **children; /* owns the array; the handles too */
	size_t n_children;
	struct heddle_part *parts; /* owns: all parts when there are several */
	size_t n_parts;
	const char *type_name;
	/* owns: poisoned, which task failed and why; NULL: not known. Stale once it is good again */
	char *cause;
};

enum {
	HD_DATA_OBJECT = 1 /* not made of arrays */,
	HD_DATA_REDUCIBLE = 2 /* has its reduction kernels */,
	HD_DATA_PARTS = 4 /* has several: kernels run without the lock, and `extra` may be made meanwhile */
};

/* Why new tasks may not name a datum. */
enum hd_closed { HD_OPEN, HD_PARTITIONED /* its children stand for it */, HD_UNREGISTERED };

/* Laid out by use: a task touches what lies from `rt` to the first replica, about two cache lines, and hardly ever the
 * rest. */
struct heddle_data {
	struct heddle_part part;                      /* part 0 */
	struct hd_transfer *transfers;                /* in flight or queued, of this datum */
	struct hd_access *commuters, *commuters_tail; /* ready but for the token */
	heddle_data *parent;                          /* partitioned: borrows */
	heddle_data *next, **prev_next;               /* runtime's list */

	/* Const after registration. */
	heddle_runtime *rt;
	uint64_t shape;              /* hash of the extents of all parts */
	uint64_t bytes;              /* of a dense copy */
	struct hd_data_extra *extra; /* owns */
	uint32_t id;                 /* registration number */
	/* What submitting threads look at without the lock; a word of their own, for compilers read neighbours
	 * together. */
	/* enum hd_closed; changed under the lock. atomic: a submitting thread reads it for an early answer only, and
	 * whoever puts the task into the graph decides, under the lock. pairs: nothing */
	_Atomic uint8_t closed;
	uint8_t read_only; /* a child that shares elements with another, or a piece of one */
	uint8_t traits;    /* HD_DATA_OBJECT ... */

	/* The access chain (core/chains.c). */
	struct hd_access *queue, *queue_tail; /* not granted yet */
	uint32_t granted;                     /* accesses granted and not given back */
	uint32_t tail_count, prev_count; /* sizes of the last group of the chain and of the one before, ever linked */
	uint8_t granted_mode, tail_mode;
	uint8_t token;                /* commute: held */
	uint8_t poisoned;             /* the task that should have written it failed */
	uint8_t orphan;               /* a private copy that is nobody's any more: freed after its last transfer */
	uint16_t n_transfers;         /* in flight; at most one per node */
	uint16_t n_writers;           /* tasks that write it and are staged or run: no transfer of it may begin */
	uint16_t n_valid;             /* replicas that are valid: see hd_replica_set_valid */
	uint16_t n_away;              /* replicas that have memory and are not in main memory */
	struct hd_replica replicas[]; /* per node */
};

enum hd_reason { HD_DEMAND, HD_PREFETCH, HD_WRITE_BACK };

/* One copy on its way. */
struct hd_transfer {
	heddle_data *data;
	struct hd_transfer *next;       /* of the same datum */
	struct hd_transfer *queue_next; /* in the queue of its copy engine */
	struct hd_access *waiters;      /* tasks that are staged when it has ended */
	struct hd_transfer *behind;     /* second hop: starts when `behind` has ended */
	uint16_t from, to;
	uint8_t reason, evict; /* evict: free the source when it has ended */
	uint8_t started;
	int status;
	double start, end; /* us */
};

/* A memory node. */
struct hd_memory {
	uint64_t capacity, used, peak; /* bytes; capacity 0 = no limit */
	uint64_t leaving;              /* bytes of replicas being written back in order to be freed */
	struct hd_replica *oldest[HD_LISTS], *newest[HD_LISTS]; /* by enum hd_lru_list; HD_UNLISTED is unused */
	struct hd_task_queue waiting;                           /* picked tasks that found no room */
	uint8_t retry;                                          /* something was freed or unpinned meanwhile */
};

/* handle.c */
/* takes the lock */
int hd_data_create(heddle_runtime *rt, const struct heddle_part *parts, size_t n_parts, heddle_data **out);
/* A temporary of the same shape, in no list: its owner destroys it. The lock is held. */
int hd_data_clone_shape(const heddle_data *d, heddle_data **out);
void hd_data_destroy(heddle_data *d); /* frees every replica; no task may use it any more. The lock is held */
void hd_data_abandon(heddle_data *d); /* the same, but for transfers under way, which end first */
struct hd_data_extra *hd_data_extra(heddle_data *d);
/* Its value is lost: tasks that need it are cancelled for `cause`, which is taken over and may be NULL. */
void hd_data_spoil(heddle_data *d, char *cause);
/* What messages call it; in `buffer`. The lock is held: the program may be giving it another name. */
const char *hd_data_name(const heddle_data *d, char *buffer, size_t size);
const char *hd_data_name_unlocked(const heddle_data *d, char *buffer, size_t size); /* takes the lock for it */
static inline enum hd_closed hd_data_closed(const heddle_data *d)
{
	/* relaxed: see the field; pairs: nothing */
	return atomic_load_explicit(&d->closed, memory_order_relaxed);
}
/* The lock is held. Who closes a datum has drained the inboxes before. */
void hd_data_close(heddle_data *d, enum hd_closed why);
/* HEDDLE_E_STATE, with the remedy. `what` is the function that was called, `name` the datum's. */
int hd_data_closed_error(const char *name, enum hd_closed why, const char *what);
/* The same if it is closed now; 0: new tasks may name it. The lock is held. */
int hd_data_check_open(const heddle_data *d, const char *what);
/* The same, takes the lock. */
int hd_data_check_open_unlocked(const heddle_data *d, const char *what);
/* The same for a caller without the lock: an early answer, which may be another one a moment later. */
static inline int hd_data_seems_closed(const heddle_data *d, const char *what)
{
	return HD_LIKELY(hd_data_closed(d) == HD_OPEN) ? 0 : hd_data_check_open_unlocked(d, what);
}
static inline heddle_data *hd_replica_data(const struct hd_replica *r)
{
	const struct hd_replica *first = r - r->node;
	return (heddle_data *)(uintptr_t)((const char *)first - offsetof(heddle_data, replicas));
}
static inline void hd_replica_set_valid(struct hd_replica *r, int valid)
{
	heddle_data *d = hd_replica_data(r);
	d->n_valid = (uint16_t)(d->n_valid + valid - r->valid);
	r->valid = (uint8_t)valid;
}
/* The parts of a datum as they lie in one replica (dense except in the program's buffer). */
size_t hd_data_dense_size(const heddle_data *d); /* bytes of a replica, parts padded to cache lines */
size_t hd_data_n_parts(const heddle_data *d);
void hd_data_part_at(const heddle_data *d, const struct hd_replica *r, size_t i, struct heddle_part *out);

/* memory.c: allocation and eviction. */
/* Makes sure that every replica of the task on `node` is allocated and pinned, evicting others when the node is full.
 * 0; HEDDLE_PENDING: no room now, the task was queued and hd_memory_retry will come back to it; HEDDLE_E_MEMORY. */
int hd_memory_reserve(heddle_task *t, unsigned node);
/* Room for a copy that is only a hint: 0 when there was some without writing anything back. The replica is pinned. */
int hd_memory_try(struct hd_replica *r);
void hd_memory_free(struct hd_replica *r);
void hd_replica_pin(struct hd_replica *r);
void hd_replica_unpin(struct hd_replica *r);
/* Tries again the tasks that wait for room where something was freed or unpinned since. */
void hd_memory_retry(heddle_runtime *rt);

/* coherency.c */
/* Brings the data of a task to the node; t->pending is the number of transfers it waits for. 0: all there;
 * HEDDLE_PENDING: it will be, hd_engine's staged() is called then; or an error. */
int hd_stage(heddle_task *t, unsigned node);
/* Only waits until no transfer of the task's data is under way. 0 or HEDDLE_PENDING. */
int hd_stage_quiet(heddle_task *t);
/* The task starts: what it writes is valid only here from now on. */
void hd_stage_begin(heddle_task *t, unsigned node);
/* The task has ended: unpins. */
void hd_stage_end(heddle_task *t, unsigned node);
/* A valid copy on `node` as soon as possible; a hint. */
void hd_prefetch(heddle_data *d, unsigned node);
/* Predicted us to bring the datum to `node`; 0 when it is there. */
double hd_fetch_time(const heddle_data *d, unsigned node);
/* Called by the engine when a copy has been made (or failed). */
void hd_transfer_done(struct hd_transfer *tr);
/* Starts a write-back of `r` to main memory, to be freed afterwards. */
int hd_write_back(struct hd_replica *r);

/* scratch_redux.c: SCRATCH and REDUX. Each worker that runs such a task has a private copy of the datum, a temporary
 * handle of the same shape. */
struct hd_private {
	struct hd_private *next;
	heddle_data *copy; /* owns */
	uint32_t worker;
	uint8_t redux;       /* else scratch */
	uint8_t initialised; /* redux: the init kernel has run on it */
};
/* Gives the task, just picked by a worker, its private copies. HEDDLE_E_MEMORY. */
int hd_private_attach(heddle_task *t, unsigned worker);
/* Whether the init kernel must run on access `a` before the task's kernel; marks it done. */
int hd_private_needs_init(struct hd_access *a);
/* A REDUCE task is ready: makes the tasks that combine the private copies, in a chain that ends with `t`. All or none:
 * HEDDLE_E_MEMORY. */
int hd_reduce_spawn(heddle_task *t);
/* The first access of a reduction enters the graph. HEDDLE_E_MEMORY: it has become RW, and its task must fail. */
int hd_reduction_open(struct hd_access *a);
/* What was contributed until now is combined: REDUCE enters the graph. */
void hd_reduction_close(heddle_data *d);
/* The same for all that are open. */
void hd_reductions_close(heddle_runtime *rt);
/* The datum goes; its reduction, if it has begun, will not end. */
void hd_reduction_drop(heddle_data *d);
/* It has ended: the private copies go. */
void hd_private_drop(heddle_data *d, int redux_only);

/* filter.c */
/* The parent is in main memory: the children become windows of it. */
void hd_partition_staged(heddle_task *t);

/* overlap.c */
/* A window of the parent: where it begins and its extents, in elements. */
struct hd_window {
	size_t offset[HEDDLE_MAX_DIMS], n[HEDDLE_MAX_DIMS];
	int shared; /* has elements that another window has too */
};
/* Finds those that are. HEDDLE_E_MEMORY. */
int hd_windows_overlap(struct hd_window *windows, size_t n, unsigned n_dims);

/* acquire.c: UNREGISTER could not give the value back, and the datum goes: the task keeps its name for the sentence. */
void hd_unregister_failed(heddle_task *t);

/* copy.c: moving bytes; without the lock. */
/* Copies between two replicas of host-accessible nodes. */
int hd_copy_host(const struct heddle_copy *copy);

#endif
