/* Data: handles, their replicas on memory nodes, and the flags of both. The core lock guards everything here unless a
 * comment says otherwise.
 *
 * Coherency is MSI: each replica is valid or invalid. A datum is "modified" if exactly one replica is valid and that
 * replica is not the program's buffer. The engine copies bytes without the core lock; the replicas that it copies
 * between are pinned meanwhile.
 */
#ifndef HD_STATE_DATA_H
#define HD_STATE_DATA_H

#include <heddle/data.h>
#include <heddle/runtime.h>
#include "task.h"

struct hd_use;
struct hd_block;
struct hd_hold;
struct hd_layout;
struct hd_private;
struct hd_writers;

/* A replica: the copy of a datum on one memory node. HD_UNNEEDED is a value of its `place`. */
#define HD_UNNEEDED UINT32_MAX
struct hd_replica {
	void *ptr; /* NULL: not allocated. In virtual time, any address but NULL stands for allocated memory */
	/* owns: the block of memory that `ptr` points into. NULL if `ptr` is the program's buffer or an object, and in
	 * virtual time */
	struct hd_block *block;
	uint32_t pins; /* how many staged or running tasks, and transfers, use the replica now */
	/* 0: the replica cannot be evicted. 1: it is in the list `idle` of its memory. From 2 on: it is also a
	 * candidate for eviction, entry place - 2. HD_UNNEEDED: it is in the list `unneeded` of its memory */
	uint32_t place;
	union {
		struct hd_replica *older; /* the neighbours in the list of idle replicas, by last use */
		uint64_t idle_since; /* while the memory is not tight: hd_memory.n_idled when the replica became idle */
	};
	struct hd_replica *newer;
	uint16_t node;
	uint8_t valid;
	uint8_t incoming;    /* 1: a transfer in flight or queued will make it valid */
	uint8_t wanted;      /* 1: a prefetch to this replica waits until no task writes the datum */
	uint8_t user_buffer; /* 1: the program's buffer, which is never freed or evicted */
	/* 1: a prefetch to this replica waits for a block of memory, in the list `hints` of its memory */
	uint8_t hinted;
	/* 1: the replica of a child lies inside the replica of the parent on the same node: windows.h */
	uint8_t window;
};

/* Fields that few data need, kept apart so that struct heddle_data is small. */
struct hd_data_extra {
	char *name;                     /* owns */
	void *user;                     /* the program's pointer: heddle_data_set_user */
	const struct heddle_type *type; /* borrows until the datum is unregistered: an object's type; otherwise NULL */
	heddle_codelet *redux_init, *redux_combine;
	struct hd_private *privates; /* owns: list of the private copies for SCRATCH and REDUX */
	/* owns: while the last accesses of the chain are REDUX, the REDUCE task that will close the reduction;
	 * otherwise NULL */
	heddle_task *reduce;
	/* borrows: the calls of heddle_acquire that hold the datum or wait for it, newest first */
	struct hd_hold *holds;
	struct hd_layout *layout; /* owns; NULL: the datum has never had a plan */
	/* borrows: the plan of heddle_partition while the datum is partitioned; otherwise NULL */
	heddle_plan *partition;
	struct heddle_part *parts; /* owns: all parts if the datum has several; otherwise NULL */
	size_t n_parts;
	/* number of accesses in the graph that are in no chain: heddle_unordered */
	uint32_t n_unordered;
	uint8_t unordered; /* 1: a task has been submitted, and perhaps is not in the graph yet, with such an access */
	/* borrows: the UNREGISTER task, whose turn has come, and which waits for these accesses; NULL: none */
	heddle_task *unregister;
	size_t seal; /* in checking mode, 1 + the index of the datum's seal (src/misuse/seals.c); 0: no seal */
	/* owns: in checking mode, which tasks have written the datum (src/misuse/writers.c); or NULL */
	struct hd_writers *writers;
	/* owns: if the datum is poisoned, which task failed and why; NULL: the cause is unknown. Undefined if the datum
	 * is not poisoned */
	char *cause;
};

/* A private copy of a datum for SCRATCH or REDUX accesses. It belongs to one slot of one worker. */
struct hd_private {
	struct hd_private *next;
	heddle_data *copy; /* owns */
	uint32_t worker, slot;
	uint8_t redux;       /* 1: for REDUX, 0: for SCRATCH */
	uint8_t initialised; /* 1: the copy is for REDUX, and the init kernel has run on it */
};

/* Values of heddle_data.traits, which kernels may read without the core lock. Kernels may not read `extra` without the
 * lock, because another thread may be allocating it. */
enum {
	HD_DATA_OBJECT = 1 /* made by heddle_object */,
	HD_DATA_REDUCIBLE = 2 /* has reduction kernels */,
	HD_DATA_PARTS = 4 /* has several parts */,
	HD_DATA_OWN_MEMORY = 16 /* an object whose type allocates its copies */,
	HD_DATA_USER = 8 /* heddle_data_set_user was called, so `extra` exists and extra->user may be read */
};

/* Why a datum is poisoned (has no value). HD_UNWANTED is final: no replica becomes valid again, whatever tasks still
 * write. */
enum {
	HD_NOT_COMPUTED = 1, /* the task that was to write it failed */
	HD_UNWANTED = 2,     /* the program has given up the datum and its buffer */
	HD_FORGOTTEN = 4     /* the program has said that nobody needs the value: heddle_forget */
};

/* Why new tasks may not name a datum. */
enum hd_closed { HD_OPEN, HD_PARTITIONED /* tasks must name the children instead */, HD_UNREGISTERED };
/* Bits of heddle_data.caveats: what a submission must check. Most data have no bit set, so one comparison of the whole
 * byte with 0 is enough.
 *
 *     bit   6          5 4   3        2      1 0
 *           UNSETTLED  -     CHOOSY   DEEP   enum hd_closed
 */
enum {
	HD_CLOSED_BITS = 3,   /* mask of the bits that hold enum hd_closed */
	HD_DEEP_BIT = 4,      /* heddle_data.deep is 1 */
	HD_CHOOSY_BIT = 8,    /* the datum is read_only or an object, so some access modes are refused */
	HD_UNSETTLED_BIT = 64 /* heddle_data.settled is 0 */
};

/* A datum, laid out by which thread touches which cache line. Submitting threads read line 1, which is hardly ever
 * written. Line 2 has all the fields that each task reads or writes under the lock on a machine with one memory. With
 * one replica a datum takes four lines. */
struct heddle_data {
	_Alignas(HD_CACHE_LINE) heddle_runtime *rt; /* const after registration */
	uint64_t shape;                             /* const after registration: hash of the extents of all parts */
	/* Submitting threads read the next three fields without the lock. The three share a word with no other field,
	 * because compilers may read the whole word at once. */
	/* flags: HD_CLOSED_BITS ... Written under the core lock. Relaxed, pairs with nothing: a submitting thread uses
	 * HD_CLOSED_BITS and HD_DEEP_BIT only for an early error and a guess; both are checked again under the lock
	 * when the task enters the graph. The other bits are const after registration. */
	_Alignas(4) _Atomic uint8_t caveats;
	/* const: 1: the datum is a child that shares elements with another child, or lies below such a child */
	uint8_t read_only;
	uint8_t traits; /* flags: HD_DATA_OBJECT ... */
	/* const after registration: 1: the value is in a buffer of the program, and the machine has one memory node */
	uint8_t settled;
	uint32_t id;    /* const after registration: registration number */
	uint64_t bytes; /* const after registration: size of a dense copy */
	/* const; borrows: if the datum is a child, the plan that made it; otherwise NULL */
	heddle_plan *plan;
	heddle_data *next, **prev_next; /* in the runtime's list of data */
	struct hd_data_extra *extra;    /* owns */

	/* The access chain (graph/chains.c). */
	/* first in the queue of the accesses that are not granted yet */
	_Alignas(HD_CACHE_LINE) struct hd_access *queue;
	struct hd_access *queue_tail; /* last access in this queue */
	uint32_t granted;             /* number of accesses that are granted and not yet released */
	/* If the datum is not deep: tail_count is the number of accesses in the last group of the chain, prev_count the
	 * number of accesses in the group before the last one; both are defined only while some access waits. If the
	 * datum is deep: n_waiting is the number of accesses that wait in `queue`. */
	union {
		uint32_t tail_count, n_waiting;
	};
	uint32_t prev_count;
	uint8_t granted_mode, tail_mode;
	uint8_t token;    /* 1: a task with a COMMUTE access holds the datum's commute token */
	uint8_t poisoned; /* 0, or why there is no value: HD_NOT_COMPUTED, HD_UNWANTED, HD_FORGOTTEN */

	uint8_t at_home;    /* 1: the replica in main memory is allocated and valid */
	uint8_t is_private; /* 1: it is a private copy of another datum (scratch_redux.c) */
	/* 1: it is a private copy that no task uses any more; it is freed after its last transfer */
	uint8_t orphan;
	uint8_t deep; /* 1: weak accesses and markers may enter its chain: graph/tree_chains.c */
	/* how many staged or running tasks write the datum; above 0, no transfer of the datum may begin */
	uint16_t n_writers;
	uint16_t n_valid; /* number of valid replicas; changed by hd_replica_set_valid */
	uint16_t n_away;  /* number of allocated replicas outside main memory */
	/* number of transfers of the datum that have not ended; at most one per target node */
	uint16_t n_transfers;
	uint16_t n_wanted;             /* number of replicas that are `wanted`; 0 unless some task writes the datum */
	struct hd_transfer *transfers; /* transfers of this datum, in flight or queued */
	struct hd_access *commuters;   /* first in the list of COMMUTE accesses that wait only for the token */

	/* The third cache line begins here. */
	struct hd_access *commuters_tail; /* last in the list `commuters` */
	/* Bit i is set if a replica on one of the nodes i, i + HD_NODE_BITS, ... is valid; changed by
	 * hd_replica_set_valid. */
	uint64_t holders;
	struct heddle_part part;      /* const after registration: part 0 */
	struct hd_replica replicas[]; /* per node; a struct hd_use_list follows them if some memory has a limit */
};
_Static_assert(offsetof(heddle_data, commuters_tail) == (size_t)2 * HD_CACHE_LINE,
               "each task changes the second line only");

/* The submitted tasks that will use a datum, in the order of submission: memory/uses.c. */
struct hd_use_list {
	/* end: the link where the next use is appended; undefined while the list is empty */
	struct hd_use *first, **end;
};

/* Makes a handle of the same shape as `d`, without a buffer. The handle is in no list; the caller owns and destroys it.
 * The lock is held. */
int hd_data_clone_shape(const heddle_data *d, heddle_data **out);
/* Bytes of a handle, not counting the rt->adapt.datum_bytes that the heuristics add. */
size_t hd_data_handle_bytes(const heddle_runtime *rt);
/* Makes the handle of a datum; with `plan`, of a child of this plan. The handle is in no list. The function acquires
 * the core lock itself. HEDDLE_E_INVALID, HEDDLE_E_MEMORY. */
int hd_handle_make(heddle_runtime *rt, const struct heddle_part *parts, size_t n, heddle_plan *plan, heddle_data **out);
/* Gives a new handle its registration number and puts it into the runtime's list. HEDDLE_E_MEMORY: the datum does not
 * fit into main memory, and the handle has been freed. The caller holds the core lock. */
int hd_handle_list(heddle_data *d);
/* Puts a handle into the runtime's list. The caller holds the core lock. */
void hd_handle_enlist(heddle_data *d);
void hd_handle_unlist(heddle_data *d);
/* Frees the `extra` of a handle, and keeps the memory of the handle for the next datum. */
void hd_data_reuse(heddle_data *d);
/* Returns d->extra, which is allocated at the first call. NULL when out of memory. */
struct hd_data_extra *hd_data_extra(heddle_data *d);
/* Poisons a datum: tasks that need its value are cancelled. `cause` is a malloc'd string of which the function becomes
 * the owner; NULL: the cause is unknown. */
void hd_data_spoil(heddle_data *d, char *cause);
/* Writes the name that messages use for the datum to `buffer`, and returns `buffer`. The caller holds the core lock,
 * because another thread may be setting the name. */
const char *hd_data_name(const heddle_data *d, char *buffer, size_t size);
/* hd_data_name for callers that do not hold the core lock */
const char *hd_data_name_unlocked(const heddle_data *d, char *buffer, size_t size);
static inline unsigned hd_data_caveats(const heddle_data *d)
{
	/* relaxed, pairs with nothing: see heddle_data.caveats */
	return atomic_load_explicit(&d->caveats, memory_order_relaxed);
}
static inline enum hd_closed hd_data_closed(const heddle_data *d)
{
	return hd_data_caveats(d) & HD_CLOSED_BITS;
}
/* Whether new tasks may name the datum and the datum is not deep. Needs no lock, so the answer may be out of date at
 * once. */
static inline int hd_data_is_plain(const heddle_data *d)
{
	return !(hd_data_caveats(d) & (HD_CLOSED_BITS | HD_DEEP_BIT));
}
/* Marks the datum as deep. Tasks that are being submitted see the change, because hd_gate.n_closings is counted up. */
void hd_data_deepen(heddle_data *d);
void hd_data_set_caveats(heddle_data *d, enum hd_closed why); /* sets `caveats` from the datum's fields and `why` */
/* Closes the datum to new tasks, or opens it (HD_OPEN). The caller holds the core lock and has called hd_control_begin
 * since it acquired the lock, so that every submitted task that names the datum is in the graph already. */
void hd_data_close(heddle_data *d, enum hd_closed why);
/* Returns HEDDLE_E_STATE with a message that names the remedy; `what` is the public function that was called, `name`
 * the name of the datum. */
int hd_data_closed_error(const char *name, enum hd_closed why, const char *what);
static inline heddle_data *hd_replica_data(const struct hd_replica *r)
{
	const struct hd_replica *first = r - r->node;
	return (heddle_data *)(uintptr_t)((const char *)first - offsetof(heddle_data, replicas));
}
/* Ends the poisoning of a datum (except by HD_UNWANTED), because a task has written a value or will write one. */
static inline void hd_data_heal(heddle_data *d)
{
	d->poisoned &= HD_UNWANTED;
}
/* Prefetches into the CPU cache the lines of the task's data that change when the task enters the graph and when it
 * ends. Reads only fields that are const after the submission of the task, so it needs no lock. */
static inline void hd_task_fetch_data(const heddle_task *t)
{
	for (const struct hd_access *a = t->accesses, *end = a + t->n_accesses; a < end; a++)
		__builtin_prefetch((const char *)a->data + HD_CACHE_LINE, 1);
}
/* Whether a ready task has nothing to stage. Then the core need not read the handles of its data, whose cache lines
 * other cores may hold. A settled datum is valid in its buffer as long as tasks may use it, with two exceptions: the
 * value of a deep datum may be in its children, and a task whose device was lost while it ran leaves no value. (When
 * the program gives a datum up, the tasks that need its value and have not begun are cancelled.) */
static inline int hd_is_settled(const heddle_task *t, unsigned n_lost)
{
	unsigned special = t->special & (HD_TASK_ONE_NODE | HD_TASK_UNSETTLED | HD_TASK_DEEP);
	return special == HD_TASK_ONE_NODE && !n_lost;
}
/* Clears the bit of the node in `holders` after the replica on `node` has become invalid, unless the replica on another
 * node that shares the bit is valid. */
void hd_holder_left(heddle_data *d, size_t node);
/* Sets whether a replica is valid, and updates n_valid, `holders` and at_home. The replica of an HD_UNWANTED datum
 * stays invalid. */
static inline void hd_replica_set_valid(struct hd_replica *r, int valid)
{
	heddle_data *d = hd_replica_data(r);
	if (HD_UNLIKELY(d->poisoned & HD_UNWANTED))
		valid = 0;
	if (valid != r->valid) {
		d->n_valid = (uint16_t)(d->n_valid + valid - r->valid);
		r->valid = (uint8_t)valid;
		if (valid)
			d->holders |= (uint64_t)1 << r->node % HD_NODE_BITS;
		else
			hd_holder_left(d, r->node);
	}
	if (r->node == 0)
		d->at_home = valid && r->ptr;
}
/* The datum of which an access uses a replica. */
static inline heddle_data *hd_access_datum(const struct hd_access *a)
{
	return HD_UNLIKELY(a->private_copy != NULL) ? a->private_copy : a->data;
}
/* The list of the tasks that will use the datum (memory/uses.c); defined only if some memory has a limit. */
struct hd_use_list *hd_data_uses(const heddle_data *d);
size_t hd_data_dense_size(const heddle_data *d); /* bytes of a replica; each part is padded to cache lines */
size_t hd_data_n_parts(const heddle_data *d);
/* Part `i` of the datum in the replica `r`. Parts are dense, except in the program's buffer. */
void hd_data_part_at(const heddle_data *d, const struct hd_replica *r, size_t i, struct heddle_part *out);

/* Called at the beginning of public functions, before they read the datum, which is not NULL. Returns HEDDLE_E_INVALID
 * if the address is no handle (known in checking mode only), HEDDLE_E_STATE if its runtime cannot be used, each with a
 * message, or 0. `what` is the name of the public function. */
int hd_data_check(const heddle_data *d, const char *what);

#endif
