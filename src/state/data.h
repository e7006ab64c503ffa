/* Data: handles, replicas on memory nodes, transfers, eviction. The interface of src/data for the rest of the library.
 *
 * The protocol is MSI: a replica is valid or invalid; the datum is "modified" if exactly one replica is valid and that
 * is not the program's buffer. The core lock guards everything here unless a comment says otherwise. The engine copies
 * bytes without the lock, between replicas that are pinned meanwhile.
 */
#ifndef HD_DATA_H
#define HD_DATA_H

#include <heddle/data.h>
#include "task.h"
#include "data/early.h"
#include "memory/eviction_rule.h"
#include "memory/transfers.h"
#include "data/trial.h"
#include "memory/uses.h"
#include "memory/windows.h"

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
	struct heddle_part part;          /* const after registration: part 0 */
	struct hd_replica replicas[];     /* per node; behind them, if some memory has a limit, struct hd_use_list */
};
_Static_assert(offsetof(heddle_data, commuters_tail) == (size_t)2 * HD_CACHE_LINE,
               "each task changes the second line only");

/* The tasks that will use a datum, in the order of submission: uses.c. Behind it lies a struct hd_memo per node. */
struct hd_use_list {
	struct hd_use *first, **end; /* end: where the next one is linked; undefined while there is none */
	uint32_t n_listed;           /* how many of the memos are listed */
};

/* What is remembered of a copy, also when it has been evicted: trial.c; and of a prefetch to it: early.c. */
struct hd_memo {
	struct hd_memo *newer, *older; /* in the list of its node, if it is listed */
	struct hd_memo *next, *before; /* in the list of prefetches that wait for room, if it waits */
	struct hd_replica *replica;    /* set when it is listed or waits */
	uint8_t listed;
	uint8_t kept;  /* 1: a task has used this value here, and the copy has not left since */
	uint8_t waits; /* 1: a prefetch to the copy waits for room */
	uint8_t early; /* 1: a prefetch has made the copy or is about to, and no task has used it since */
};

/* A piece of a node's memory. */
struct hd_block {
	struct hd_block *next; /* in a list of free blocks */
	void *ptr;
	size_t size;         /* bytes */
	uint16_t node, left; /* `left` is 1 if the memory is left to the program (heddle_context_keep) */
};

/* What a replica of an object points to, if Heddle has made it. */
struct hd_cell {
	void *object; /* owned, by its type; the first, since kernels and copies know a cell as void ** */
	/* once nobody uses it: */
	struct hd_cell *next;
	const struct heddle_type *type; /* borrowed: those who wait for the end of the handle wait for this cell's */
};

/* A thread destroys objects, without the lock. The record is on its stack, in a list of the runtime. */
struct hd_destroying {
	struct hd_destroying *next;
	uint64_t number; /* how many had begun to destroy some before it */
};

/* A copy that may leave its memory. */
struct hd_leaving {
	uint64_t rank; /* the greater leaves first; among equals the one with the lesser age */
	uint64_t age;  /* when it was last used, by the clock of its memory */
	struct hd_replica *replica;
};

/* A memory node. Main memory has no lanes of its own: a transfer that goes there is in the `out` of where it comes
 * from. */
enum { HD_SHELVES = 32 };
struct hd_memory {
	uint64_t capacity, used, peak; /* bytes; capacity 0 = no limit */
	uint64_t evictions;            /* how many copies have had to leave, since the start */
	uint64_t leaving;              /* bytes that will be free when transfers under way have ended */
	/* Owned: lists of free blocks, by a hash of their sizes; and the bytes of all of them: blocks.c. */
	struct hd_block *shelves[HD_SHELVES];
	uint64_t kept;
	uint64_t asked; /* bytes of the blocks that were asked for and have not come */
	/* Only if there is a limit: the idle copies, which nothing pins, by their last use. */
	struct hd_replica *oldest, *newest;
	/* Bytes in use from which on the memory is tight. Only then is it computed which copy leaves first, because
	 * nobody asks for that before. */
	uint64_t mark;
	/* Owned; empty unless the memory is tight: a heap of the idle copies. It has room for all copies of the node
	 * then, since a copy that is unpinned must find a place. */
	struct hd_leaving *heap;
	size_t n_heap, max_heap;
	size_t n_copies; /* allocated on the node, without the program's buffers */
	uint64_t clock;  /* counts the copies that entered the heap */
	struct hd_trial trial;
	struct hd_early early;
	struct hd_task_queue waiting; /* picked tasks that found no room */
	/* owned: prefetches to this node, in the order in which they were asked for; the last is undefined if there
	 * is none */
	struct hd_hint *hints, *last_hint;
	struct hd_lane in, out;
	/* 1: something was freed or unpinned since a task began to wait */
	uint8_t retry;
	uint8_t tight;    /* 1: it is nearly full, or has had to let copies leave: eviction.c */
	uint8_t fetching; /* 1: a thread allocates blocks for it without the lock */
	uint8_t lost;     /* 1: its device is lost; the copies that are there leave it: lost_memory.c */
	/* owned: the names of the data that have lost their values, separated by commas; NULL: none, or out of
	 * memory */
	char *lost_names;
	unsigned n_lost_names; /* how many these are */
	size_t refused;        /* bytes of the smallest of these that could not be had; 0: all could */
};

/* bring_home.c */
/* Leaves of each datum with a value the one copy in main memory, whose copies elsewhere end: as if the program had
 * written it. Data that can only be read stay where they are. 0, or what heddle_acquire returns. No thread may
 * unregister data meanwhile. Blocks; the lock is not held. */
int hd_data_bring_home(heddle_runtime *rt);

/* handle.c */
/* Makes a handle, of a child of `plan` unless that is NULL, and puts it into the runtime's list. Takes the lock. */
int hd_data_create(heddle_runtime *rt, const struct heddle_part *parts, size_t n, heddle_plan *plan, heddle_data **out);
/* Makes a temporary of the same shape. It is in no list; its owner destroys it. The lock is held. */
int hd_data_clone_shape(const heddle_data *d, heddle_data **out);
/* Makes a handle that is in no list yet; hd_handle_list, with the lock held, puts it into the runtime's list and gives it
 * a number. HEDDLE_E_INVALID, HEDDLE_E_MEMORY. */
int hd_handle_make(heddle_runtime *rt, const struct heddle_part *parts, size_t n, heddle_plan *plan, heddle_data **out);
int hd_handle_list(heddle_data *d);
/* For the list alone. The lock is held. */
void hd_handle_enlist(heddle_data *d);
void hd_handle_unlist(heddle_data *d);
/* memory/handle_end.c: frees a handle with its replicas. No task may use it any more, and it has neither plans nor
 * private copies nor an open reduction. The lock is held. */
void hd_data_free(heddle_data *d);
/* flow/register.c: the same for any datum: frees its plans, its private copies and its reduction as well. */
void hd_data_destroy(heddle_data *d);
/* Frees what is left of a handle that hd_data_destroy has handed to the checking mode. */
void hd_data_reuse(heddle_data *d);
void hd_data_abandon(heddle_data *d);                /* the same after the transfers under way */
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
/* The same if the datum is closed; 0: new tasks may name it. The lock is held. */
int hd_data_check_open(const heddle_data *d, const char *what);
/* The same, but takes the lock. */
int hd_data_check_open_unlocked(const heddle_data *d, const char *what);
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
/* No copy of a datum that was given up becomes valid. */
static inline void hd_replica_set_valid(struct hd_replica *r, int valid)
{
	heddle_data *d = hd_replica_data(r);
	if (HD_UNLIKELY(d->poisoned & HD_UNWANTED))
		valid = 0;
	d->n_valid = (uint16_t)(d->n_valid + valid - r->valid);
	r->valid = (uint8_t)valid;
	if (r->node == 0)
		d->at_home = valid && r->ptr;
}
/* uses.c: the tasks that will use the datum; only if some memory has a limit. */
struct hd_use_list *hd_data_uses(const heddle_data *d);
/* What is remembered of the copy on a node; only if some memory has a limit. */
static inline struct hd_memo *hd_data_memo(const heddle_data *d, size_t node)
{
	return (struct hd_memo *)(void *)(hd_data_uses(d) + 1) + node;
}
/* The parts of a datum in one replica. They are dense except in the program's buffer. */
size_t hd_data_dense_size(const heddle_data *d); /* bytes of a replica, parts padded to cache lines */
size_t hd_data_n_parts(const heddle_data *d);
void hd_data_part_at(const heddle_data *d, const struct hd_replica *r, size_t i, struct heddle_part *out);

/* For functions of the program, before they read the datum, which is not NULL: HEDDLE_E_INVALID or HEDDLE_E_STATE, with
 * a message, if it is no handle, which is known in checking mode, or its runtime cannot be used. `what` is the
 * function. */
int hd_data_check(const heddle_data *d, const char *what);

/* allocation.c: allocation and pins. */
/* Allocates and pins the replicas of all data of the task on `node`, and evicts others if the node is full.
 * HEDDLE_PENDING: there is no room now; the task waits, and hd_memory_retry will stage it again. HEDDLE_E_MEMORY. */
int hd_memory_reserve(heddle_task *t, unsigned node);
/* Allocates and pins a replica for a transfer, if there is room or what nobody needs can make room. 0; HEDDLE_PENDING:
 * no room; HD_LATER: a block is allocated for it when the lock is left, then the tasks and prefetches that wait are
 * tried again; or HEDDLE_E_MEMORY. With `at_once` not HD_LATER: a block that is not kept is allocated under the
 * lock. */
enum { HD_LATER = 2 }; /* neither a status nor HEDDLE_PENDING */
int hd_memory_try(struct hd_replica *r, int at_once);
void hd_memory_free(struct hd_replica *r);
void hd_replica_pin(struct hd_replica *r);
void hd_replica_unpin(struct hd_replica *r);
/* Stages the tasks that wait for room again, on the nodes where something was freed or unpinned since. */
void hd_memory_retry(heddle_runtime *rt);

/* blocks.c: the allocator of each node. */
/* Blocks that tasks wait for and that are to be allocated without the lock. */
enum { HD_MAX_WANTED = 16 };
struct hd_wanted {
	unsigned n;
	uint16_t nodes[HD_MAX_WANTED];
	size_t sizes[HD_MAX_WANTED]; /* bytes */
	uint16_t lost;               /* a node whose device turned out to be lost; 0: none */
};
/* Takes a block of exactly this size: one that was kept, or a new one. NULL when the node has none left. */
struct hd_block *hd_block_take(heddle_runtime *rt, unsigned node, size_t size);
/* The same, but NULL if none is kept. */
struct hd_block *hd_block_take_kept(heddle_runtime *rt, unsigned node, size_t size);
/* Asks for a block, which is allocated when the lock is left. The tasks that wait for room on the node are tried again
 * when the block is there, and also when it could not be had: `refused` of the memory says so then. */
void hd_block_want(heddle_runtime *rt, unsigned node, size_t size);
/* Gives a block back. */
void hd_block_give(heddle_runtime *rt, struct hd_block *b);
/* Makes a memory keep no blocks: they will be given back to the system. Returns whether there were any. */
int hd_blocks_drop(heddle_runtime *rt, struct hd_memory *m);
/* The same if they take room that is needed for so many bytes more. */
void hd_blocks_make_way(heddle_runtime *rt, struct hd_memory *m, uint64_t bytes);
/* For hd_core_leave. Returns the blocks that are to be given back to the system, for hd_blocks_free, and copies what is
 * wanted. */
struct hd_block *hd_blocks_unload(heddle_runtime *rt, struct hd_wanted *wanted);
/* Gives a list of blocks back to the system. Needs no lock. */
void hd_blocks_free(heddle_runtime *rt, struct hd_block *list);
/* Destroys the objects of a list. Needs no lock, and should not be called with it: the program's functions may take
 * long. */
void hd_objects_destroy(struct hd_cell *list);
/* Allocates the wanted blocks, as far as that is possible, and returns them in a list. Needs no lock. */
struct hd_block *hd_blocks_make(heddle_runtime *rt, struct hd_wanted *wanted);
/* Hands what hd_blocks_make has made to the allocators. */
void hd_blocks_deliver(heddle_runtime *rt, const struct hd_wanted *wanted, struct hd_block *made);

/* eviction.c: which copies leave a memory that has a limit. */
/* To be called before one more copy of so many bytes is allocated: makes the memory tight if it is nearly full then,
 * with room in the heap for the copy, or loose if it is far from that. HEDDLE_E_MEMORY. */
int hd_evict_reserve(heddle_runtime *rt, struct hd_memory *m, uint64_t bytes);
/* The copy may be evicted from now on, because nothing pins it; or may not. */
void hd_evict_add(struct hd_replica *r);
void hd_evict_remove(struct hd_replica *r);
/* To be called when copies of the datum may have become less useful than they were. */
void hd_evict_sooner(heddle_data *d);
/* Whether nothing is lost when the copy leaves, with the windows in it. */
int hd_is_clean(const struct hd_replica *r);
/* Whether nothing is lost when the copy leaves, if the windows in it do not count. */
int hd_is_clean_alone(const struct hd_replica *r);
/* Calls f(window, arg) for the windows in a copy, if it has any. */
void hd_windows_each(const struct hd_replica *r, void (*f)(struct hd_replica *window, void *arg), void *arg);
/* Lets a copy that nothing pins leave, with these. 0: it has left; HEDDLE_PENDING: it will; or an error. */
int hd_evict_copy(struct hd_replica *r);
/* Evicts until `need` more bytes fit. HEDDLE_PENDING: they do not yet, since copies are being written back, or all
 * others are pinned; HEDDLE_E_MEMORY. */
int hd_evict(heddle_runtime *rt, unsigned node, uint64_t need);
/* Evicts one copy, because the node has less room than its capacity says. 0: there is room now; HEDDLE_PENDING: there
 * will be when a copy has been written back, or is not pinned any more; HEDDLE_E_MEMORY: nothing is left to evict but
 * the `own` copies of the task that needs the room, or the memory has no limit, so that nothing is ever evicted. */
int hd_evict_one(heddle_runtime *rt, unsigned node, size_t own);
/* The same for a copy that is only a hint: drops what nobody needs on the node, and writes nothing back. 0 or
 * HEDDLE_PENDING. */
int hd_evict_for_hint(const struct hd_replica *wanted);

/* Whether the datum has a valid copy on a node that is not lost, other than `node`; SIZE_MAX: on any. */
int hd_is_valid_beside(const heddle_data *d, size_t node);

/* lost_memory.c: memories of devices that are lost. */
/* Frees the copies on a lost node that nobody uses. The only copy of a datum is first written back to main memory, if
 * the driver still can: otherwise the datum loses its value. To be called again when copies have been unpinned, or when
 * blocks have been allocated: hd_memory_retry does. */
void hd_memory_leave(heddle_runtime *rt, unsigned node);
/* Whether no copies are on lost nodes any more. */
int hd_memories_left(const heddle_runtime *rt);
/* To be called when the copy on a lost node could not be written back. */
void hd_replica_lose(struct hd_replica *r, const char *why);
/* Takes its private copies from a task that will run elsewhere. */
void hd_private_detach(heddle_task *t);
/* Whether the task, which may have changed its data on `node`, can be run again elsewhere: each value that it changes
 * has a valid copy on another node. If not, *stuck is the datum. */
int hd_can_run_again(const heddle_task *t, unsigned node, const heddle_data **stuck);
/* Ends the staging of a task on a lost node, where it will not run. `begun`: it may have changed its data, of which the
 * copies there are worth nothing then. */
void hd_stage_undo(heddle_task *t, unsigned node, int begun);

/* Ranks all copies of the node anew. */
void hd_evict_rank_all(struct hd_memory *m);

/* coherency.c */
/* Brings the data of a task to the node. 0: they are there; HEDDLE_PENDING: the task waits for room or for t->pending
 * transfers, after which the core goes on with it (hd_core_staged); or an error. */
int hd_stage(heddle_task *t, unsigned node);
/* Lets the task wait until no transfer of its data is under way, and brings nothing. 0 or HEDDLE_PENDING. */
int hd_stage_quiet(heddle_task *t);
/* To be called when the task starts, unless it has HD_TASK_ONE_NODE. */
void hd_stage_begin(heddle_task *t);
/* To be called when the task has ended, with its status set: if it has begun and not failed, what it writes is valid
 * only on `node` from now on. Unpins its data. */
void hd_stage_end(heddle_task *t, unsigned node);
/* Lets the tasks that waited for a transfer, which has ended or failed, go on. */
void hd_stage_arrived(struct hd_transfer *tr);

/* Lets the tasks of these accesses go on, whose transfers were dropped: a task may need another one, or end. */
void hd_stage_again(struct hd_access *waiters);

/* scratch_redux.c: SCRATCH and REDUX. Each slot of a worker (struct hd_slot) that runs such a task has a private copy
 * of the datum: a temporary handle of the same shape. */
struct hd_private {
	struct hd_private *next;
	heddle_data *copy; /* owns */
	uint32_t worker, slot;
	uint8_t redux;       /* 1: for REDUX, 0: for SCRATCH */
	uint8_t initialised; /* 1: for REDUX, the init kernel has run on it */
};
/* Gives a task that a worker has just picked the private copies of one of its slots. HEDDLE_E_MEMORY. */
int hd_private_attach(heddle_task *t, unsigned worker, unsigned slot);
/* Whether the init kernel must run on access `a` before the task's kernel; marks it done. */
int hd_private_needs_init(struct hd_access *a);
/* To be called when the REDUCE task `t` is ready: makes the tasks that combine the private copies, one after the other,
 * before `t`. HEDDLE_E_MEMORY: none were made. */
int hd_reduce_spawn(heddle_task *t);
/* To be called when the first access of a reduction enters the graph. HEDDLE_E_MEMORY: the access has become RW, and
 * its task must fail. */
int hd_reduction_open(struct hd_access *a);
/* Lets the open reduction of a datum, if any, be combined: its REDUCE task enters the graph. */
void hd_reduction_close(heddle_data *d);
/* The same for all that tasks on `d` would have to wait for, but of `d` itself: those of data that share elements
 * with it. */
void hd_reductions_close_for(const heddle_data *d);
/* The same for all open reductions. */
void hd_reductions_close(heddle_runtime *rt);
/* Frees the REDUCE task of an open reduction, because the datum is freed. */
void hd_reduction_drop(heddle_data *d);
/* Frees the private copies of a datum: those for REDUX, or all. */
void hd_private_drop(heddle_data *d, int redux_only);

/* plan.c: plans, their children, and what the program does with them. */
enum hd_step {
	HD_NO_STEP,
	HD_TO_READ,  /* makes the children windows that can be read; the datum can be read, too */
	HD_TO_WRITE, /* makes the children the value; the copies of the datum are void */
	HD_GATHER,   /* makes the datum the value; the children can still be read */
	HD_JOIN,     /* the same, but the children are void */
	HD_DROP      /* makes the children void, which are not needed */
};
struct heddle_plan {
	heddle_data *data, *root; /* borrows: the datum that it splits, and the one at the top of the tree */
	/* Borrows: a plan above its datum, so far up that from each plan one comes to each plan above it in a number of
	 * steps that is logarithmic in `depth` (skew-binary jump pointers, Myers 1983). NULL: there is none above. */
	heddle_plan *far;
	uint32_t depth;    /* how many plans are above, and 1 */
	heddle_plan *next; /* of the same datum */
	heddle_data **children;
	struct hd_window *windows; /* owns both arrays, and the handles */
	size_t n_children;
	uint32_t number;   /* how many plans its datum had had before */
	heddle_task *task; /* owns a reference: the control that makes its steps, one at a time */
	uint8_t step;      /* enum hd_step: what that is doing */
	uint8_t active;    /* 1: the children have the value of the datum, or will have */
	uint8_t ending;    /* 1: nobody may use it any more */
	uint8_t home;      /* 1: what the step gathers will be needed in main memory */
	uint8_t irregular; /* 1: some elements are in several windows, or in none */
	/* 1: its children are the value, and the datum had none when they became it: what lies in no child has none, so
	 * the datum stays poisoned even if all children are written. */
	uint8_t lacks;
	const heddle_task *end; /* borrows: the control that will free it; NULL: none */
	uint32_t n_weak;        /* how many accesses are in force at the datum that go to its children */
	uint32_t checked;       /* heddle_check counts these again here */
	int failed;     /* why the last step has failed; 0: it has not, or that was told to the task it was made for */
	uint64_t asker; /* `order` of the task that the last step was made for */
};
/* To be called when the control that ends a plan may run. */
void hd_plan_end(heddle_task *t);
/* Whether a child is partitioned. */
int hd_plan_is_split(const heddle_plan *plan);
/* Lets no new task name what lies below the datum, which is closed itself. See hd_data_close. */
void hd_plans_close(heddle_data *d);
/* Undoes hd_plans_close, when the datum is open again. */
void hd_plans_open(heddle_data *d);
/* Whether the children of a plan are being dropped. */
int hd_plans_drop(const heddle_data *d);
/* Frees a datum's plans with their children. */
void hd_plans_free(heddle_data *d);
/* Whether some thread of the program has acquired something that lies below the datum. */
int hd_data_child_is_held(const heddle_data *d);

/* layout.c: which handles of a tree have the value. */
/* Of a datum that has plans. Its copies are the value, and so are the children of those plans that are `active`; or, if
 * `scattered` is not NULL, the children of that plan alone. */
struct hd_layout {
	heddle_plan *plans;     /* owns */
	heddle_plan *scattered; /* borrows */
	uint32_t n_made;        /* how many plans the datum has ever had */
	unsigned n_steps;  /* how many of the plans have a step under way: until they have ended, nothing is granted */
	uint64_t asked_by; /* for traces: 1 + the id of the task that its steps are made for; 0: the program */
	/* Of the accesses in force that go to children: how many change what they go to; how many plans they use. */
	uint32_t n_changing, n_used;
	double written_us, read_us; /* core/expand_ahead.c: when its writers, and all its tasks, will have ended */
	uint32_t n_windows[];       /* per node but main memory: how many copies of children lie in the datum's */
};
/* Whether the layout of `d` suits the access, which goes with all in force there. If not, begins to change it. */
enum hd_turn hd_layout_admit(heddle_data *d, struct hd_access *a);
/* A piece of the datum, which is scattered, is about to be changed: whether the datum can be gathered is to be found
 * out again, unless what lies in no piece has no value. */
void hd_layout_heal(heddle_data *d);
/* Where the data of a step, a control, are to be brought together. */
unsigned hd_layout_node(const heddle_task *t);
/* To be called when they are there, or cannot be: makes the step. HEDDLE_PENDING: it must be staged elsewhere. */
int hd_layout_step(heddle_task *t);

/* flow/acquire.c: to be called when UNREGISTER could not bring the value back, before the datum is freed: the task
 * keeps the name of the datum for the error message. */
void hd_unregister_failed(heddle_task *t);

#include "tree.h"

#endif
