/* Data: handles, their replicas on memory nodes, and what each is. The core lock guards all of it unless a comment says
 * otherwise.
 *
 * The protocol is MSI: a replica is valid or invalid; the datum is "modified" if exactly one replica is valid and that
 * is not the program's buffer. The core lock guards everything here unless a comment says otherwise. The engine copies
 * bytes without the lock, between replicas that are pinned meanwhile.
 */
#ifndef HD_DATA_H
#define HD_DATA_H

#include <heddle/runtime.h>
#include <heddle/data.h>
#include "task.h"
#include "machine/hops.h"

struct hd_use;

struct hd_block;
struct hd_hold;
struct hd_layout;
struct hd_private;

struct hd_writers;

/* A replica: the copy of a datum on one node. */
struct hd_replica {
	void *ptr; /* NULL: not allocated. In virtual time any value but NULL */
	/* owns: where `ptr` lies; NULL if that is the program's buffer or an object, and in virtual time */
	struct hd_block *block;
	uint32_t pins; /* how many tasks (staged or running) and transfers use it */
	/* 0: the copy may not leave. Otherwise it is in the list of idle copies of its memory and, if that memory is
	 * tight, its place in the heap is this number less 1 */
	uint32_t place;
	struct hd_replica *older, *newer; /* in that list */
	uint16_t node;
	uint8_t valid;
	uint8_t incoming;    /* 1: a transfer under way will make it valid */
	uint8_t wanted;      /* 1: a prefetch to it waits until nobody writes the datum */
	uint8_t user_buffer; /* 1: the program's buffer, which is never freed or evicted */
	uint8_t hinted;      /* 1: a prefetch to it waits for a block of memory: it is in the list of its node */
	uint8_t window;      /* 1: of a child: it lies in the copy of the parent on the same node: windows.h */
};

/* The fields that few data need, kept out of struct heddle_data to make that smaller. */
struct hd_data_extra {
	char *name;                     /* owns */
	void *user;                     /* the program's: heddle_data_set_user */
	const struct heddle_type *type; /* heddle_object; borrows until unregistered */
	heddle_codelet *redux_init, *redux_combine;
	struct hd_private *privates; /* owns: list of the private copies for SCRATCH and REDUX */
	/* owns: if the access chain ends with a reduction, the REDUCE task that will close it; otherwise NULL */
	heddle_task *reduce;
	struct hd_hold *holds; /* borrows: the calls of heddle_acquire that hold or wait for the datum, newest first */
	struct hd_layout *layout; /* owns; NULL: the datum has never had a plan */
	heddle_plan *partition;   /* borrows: the plan of heddle_partition, while the datum is partitioned; else NULL */
	struct heddle_part *parts; /* owns: all parts if there are several; otherwise NULL */
	size_t n_parts;
	size_t seal; /* 1 + the index of its seal, in checking mode (src/misuse/seals.c); 0: it has none */
	struct hd_writers *writers; /* owns: who has written it, in checking mode (src/misuse/writers.c); or NULL */
	const char *type_name;
	/* owns: if the datum is poisoned, which task failed and why; NULL: not known. Not to be used otherwise */
	char *cause;
};

/* A private copy of a datum, for SCRATCH or REDUX, of one slot of a worker. */
struct hd_private {
	struct hd_private *next;
	heddle_data *copy; /* owns */
	uint32_t worker, slot;
	uint8_t redux;       /* 1: for REDUX, 0: for SCRATCH */
	uint8_t initialised; /* 1: for REDUX, the init kernel has run on it */
};

/* Traits, which kernels may read without the lock; `extra` may not be read so, because it may be made meanwhile. */
enum {
	HD_DATA_OBJECT = 1 /* made by heddle_object */,
	HD_DATA_REDUCIBLE = 2 /* has reduction kernels */,
	HD_DATA_PARTS = 4 /* has several parts */,
	HD_DATA_USER = 8 /* heddle_data_set_user was called: `extra` is there and may be read for that pointer */
};

/* Why a datum has no value. HD_UNWANTED stays for ever: no copy of it is valid any more, whatever tasks still write. */
enum {
	HD_NOT_COMPUTED = 1, /* its task failed */
	HD_UNWANTED = 2      /* the program has given it up, and with it the buffer */
};

/* Why new tasks may not name a datum. */
enum hd_closed { HD_OPEN, HD_PARTITIONED /* use its children */, HD_UNREGISTERED };
/* What a submission must heed of a datum: nothing of most data, so that one look is enough. */
enum {
	HD_CLOSED_BITS = 3,   /* enum hd_closed */
	HD_DEEP_BIT = 4,      /* heddle_data.deep */
	HD_CHOOSY_BIT = 8,    /* it is read_only or an object: some modes are refused */
	HD_UNSETTLED_BIT = 64 /* it is not settled */
};

/* A datum. Threads that submit read the first line, which hardly ever changes. The second is all that each task of a
 * machine with one memory changes or asks for under the lock. A datum with one replica takes four lines in all. */
struct heddle_data {
	_Alignas(HD_CACHE_LINE) heddle_runtime *rt; /* const after registration */
	uint64_t shape;                             /* const after registration: hash of the extents of all parts */
	/* The next three fields are read by submitting threads without the lock. They have a word of their own, because
	 * compilers may read neighbouring bytes together. */
	/* HD_CLOSED_BITS ...; changed under the lock. Accessed relaxed, pairs with nothing: a submitting thread reads
	 * the first two only for an early error and a guess; when the task enters the graph they are checked again
	 * under the lock. The others are const after registration. */
	_Alignas(4) _Atomic uint8_t caveats;
	uint8_t read_only; /* const: 1: a child that shares elements with another child, or a part of such a child */
	uint8_t traits;    /* HD_DATA_OBJECT ... */
	/* const after registration: 1: its value is in a buffer of the program, and the machine has no other memory */
	uint8_t settled;
	uint32_t id;                    /* const after registration: registration number */
	uint64_t bytes;                 /* const after registration: size of a dense copy */
	heddle_plan *plan;              /* const; borrows: of a child, the plan that it belongs to; otherwise NULL */
	heddle_data *next, **prev_next; /* in the runtime's list of data */
	struct hd_data_extra *extra;    /* owns */

	/* The access chain (graph/chains.c). */
	_Alignas(HD_CACHE_LINE) struct hd_access *queue; /* accesses not granted yet ... */
	struct hd_access *queue_tail;                    /* ... and the last of them */
	uint32_t granted;                                /* accesses granted and not given back */
	/* how many accesses have joined the last group of the chain, and the one before, while something waits there;
	 * deep: how many wait */
	union {
		uint32_t tail_count, n_waiting;
	};
	uint32_t prev_count;
	uint8_t granted_mode, tail_mode;
	uint8_t token;    /* 1: a task with mode COMMUTE holds it */
	uint8_t poisoned; /* not 0: there is no value: HD_NOT_COMPUTED, HD_UNWANTED */

	uint8_t at_home;    /* 1: the replica in main memory has memory and is valid */
	uint8_t is_private; /* 1: a private copy of another datum (scratch_redux.c) */
	uint8_t orphan;     /* 1: a private copy that is not used any more; freed after its last transfer */
	uint8_t deep;       /* 1: accesses from above and markers may enter its chain: graph/tree_chains.c */
	/* how many tasks that write it are staged or running; no transfer of it may begin while there are some */
	uint16_t n_writers;
	uint16_t n_valid;              /* how many replicas are valid; changed by hd_replica_set_valid */
	uint16_t n_away;               /* how many replicas outside main memory are allocated */
	uint16_t n_transfers;          /* in flight; at most one per node */
	uint16_t n_wanted;             /* how many replicas are `wanted`; 0 unless there are writers */
	struct hd_transfer *transfers; /* of this datum, in flight or queued */
	struct hd_access *commuters;   /* accesses in mode COMMUTE that wait only for the token ... */

	/* The third line begins here. */
	struct hd_access *commuters_tail; /* ... and the last of them */
	/* bit i: a replica on a node i, i + 64, ... is valid; changed by hd_replica_set_valid */
	uint64_t holders;
	struct heddle_part part;      /* const after registration: part 0 */
	struct hd_replica replicas[]; /* per node; behind them, if some memory has a limit, struct hd_use_list */
};
_Static_assert(offsetof(heddle_data, commuters_tail) == (size_t)2 * HD_CACHE_LINE,
               "each task changes the second line only");

/* The tasks that will use a datum, in the order of submission: memory/uses.c. Behind it lies a struct hd_delayed per
 * node. */
struct hd_use_list {
	struct hd_use *first, **end; /* end: where the next one is linked; undefined while there is none */
};

/* A prefetch that waits for room, because prefetches to its node go in order: memory/prefetch.c. */
struct hd_delayed {
	struct hd_delayed *next, *before; /* in the list of its node */
	struct hd_replica *replica;       /* NULL: none waits */
};

/* handle.c */
/* Makes a temporary of the same shape. It is in no list; its owner destroys it. The lock is held. */
int hd_data_clone_shape(const heddle_data *d, heddle_data **out);
/* Bytes of a handle, without what rt->adapt.datum_bytes adds. */
size_t hd_data_handle_bytes(const heddle_runtime *rt);
/* Makes a handle, of a child of `plan` unless that is NULL. It is in no list. Takes the lock. HEDDLE_E_INVALID,
 * HEDDLE_E_MEMORY. */
int hd_handle_make(heddle_runtime *rt, const struct heddle_part *parts, size_t n, heddle_plan *plan, heddle_data **out);
/* Gives a new handle a number and puts it into the runtime's list. HEDDLE_E_MEMORY: it does not fit, and is freed. The
 * lock is held. */
int hd_handle_list(heddle_data *d);
/* For the list alone. The lock is held. */
void hd_handle_enlist(heddle_data *d);
void hd_handle_unlist(heddle_data *d);
/* Frees what is left of a handle that hd_data_destroy has handed to the checking mode. */
void hd_data_reuse(heddle_data *d);
struct hd_data_extra *hd_data_extra(heddle_data *d); /* d->extra, made if there is none; NULL when out of memory */
/* Marks the value of a datum as lost: tasks that need it are cancelled for `cause`, a string that is taken over; NULL:
 * not known. */
void hd_data_spoil(heddle_data *d, char *cause);
/* Writes what messages call the datum to `buffer`, and returns that. The lock is held, because another thread may be
 * setting the name. */
const char *hd_data_name(const heddle_data *d, char *buffer, size_t size);
const char *hd_data_name_unlocked(const heddle_data *d, char *buffer, size_t size); /* takes the lock */
static inline unsigned hd_data_caveats(const heddle_data *d)
{
	/* relaxed, pairs with nothing: see the field */
	return atomic_load_explicit(&d->caveats, memory_order_relaxed);
}
static inline enum hd_closed hd_data_closed(const heddle_data *d)
{
	return hd_data_caveats(d) & HD_CLOSED_BITS;
}
/* Whether tasks may name the datum, and it is not deep; without the lock, so the answer may change at any moment. */
static inline int hd_data_is_plain(const heddle_data *d)
{
	return !(hd_data_caveats(d) & (HD_CLOSED_BITS | HD_DEEP_BIT));
}
/* Marks the datum as deep, also for tasks that are being submitted: they are looked at again. */
void hd_data_deepen(heddle_data *d);
void hd_data_set_caveats(heddle_data *d, enum hd_closed why); /* for who registers it */
/* Closes or opens it. The lock is held, and the caller has called hd_control_begin since it was taken, so that no
 * submitted task that names the datum is outside the graph. */
void hd_data_close(heddle_data *d, enum hd_closed why);
/* Returns HEDDLE_E_STATE with a message that names the remedy; `what` is the public function that was called, `name`
 * the name of the datum. */
int hd_data_closed_error(const char *name, enum hd_closed why, const char *what);
static inline heddle_data *hd_replica_data(const struct hd_replica *r)
{
	const struct hd_replica *first = r - r->node;
	return (heddle_data *)(uintptr_t)((const char *)first - offsetof(heddle_data, replicas));
}
/* A task has given the datum a value, or will. */
static inline void hd_data_heal(heddle_data *d)
{
	d->poisoned &= HD_UNWANTED;
}
/* Starts to fetch what changes of the data of a task when it enters the graph, and when it ends. Reads only what is
 * const once the task is submitted, so it needs no lock. */
static inline void hd_task_fetch_data(const heddle_task *t)
{
	for (const struct hd_access *a = t->accesses, *end = a + t->n_accesses; a < end; a++)
		__builtin_prefetch((const char *)a->data + HD_CACHE_LINE, 1);
}
/* Whether a task that is ready has nothing to stage: so the core need not look at its data, whose cache lines others
 * may have. A settled datum is valid in its buffer as long as tasks may use it, with two exceptions: if it is deep, its
 * value may lie with its children, and a task that a lost device has begun leaves none. If the program gives a datum
 * up, that cancels the tasks that have not begun. */
static inline int hd_is_settled(const heddle_task *t, unsigned n_lost)
{
	unsigned special = t->special & (HD_TASK_ONE_NODE | HD_TASK_UNSETTLED | HD_TASK_DEEP);
	return special == HD_TASK_ONE_NODE && !n_lost;
}
/* The replica on the node is valid no more: clears its bit in `holders`, unless another replica keeps that. */
void hd_holder_left(heddle_data *d, size_t node);
/* No copy of a datum that was given up becomes valid. */
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
/* uses.c: the tasks that will use the datum; only if some memory has a limit. */
struct hd_use_list *hd_data_uses(const heddle_data *d);
/* The prefetch to the node that waits for room; only if some memory has a limit. */
static inline struct hd_delayed *hd_data_delayed(const heddle_data *d, size_t node)
{
	return (struct hd_delayed *)(void *)(hd_data_uses(d) + 1) + node;
}
/* The parts of a datum in one replica. They are dense except in the program's buffer. */
size_t hd_data_dense_size(const heddle_data *d); /* bytes of a replica, parts padded to cache lines */
size_t hd_data_n_parts(const heddle_data *d);
void hd_data_part_at(const heddle_data *d, const struct hd_replica *r, size_t i, struct heddle_part *out);

/* For functions of the program, before they read the datum, which is not NULL: HEDDLE_E_INVALID or HEDDLE_E_STATE, with
 * a message, if it is no handle, which is known in checking mode, or its runtime cannot be used. `what` is the
 * function. */
int hd_data_check(const heddle_data *d, const char *what);

#endif
