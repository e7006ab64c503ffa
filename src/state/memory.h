/* Memories: the replicas, free blocks and transfers of each memory node. The core lock guards them. */
#ifndef HD_STATE_MEMORY_H
#define HD_STATE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include "task.h"
#include "transfer.h"

struct hd_replica;
struct hd_trust;

/* A piece of a node's memory. */
struct hd_block {
	struct hd_block *next; /* in a list of free blocks */
	void *ptr;
	size_t size; /* bytes */
	/* left: 1 if the memory was left to the program (heddle_context_keep), so that Heddle does not free it */
	uint16_t node, left;
};

/* The memory of an object's replica, if Heddle has allocated the replica: a pointer to the object. */
struct hd_cell {
	/* owned; destroyed by type->destroy. The first field, because kernels and copies treat a cell as a void ** */
	void *object;
	struct hd_cell *next; /* `next`, `type` and `node` are used only while the object waits to be destroyed */
	unsigned node;
	/* borrowed: a wait for the end of the handle lasts until this cell's object is destroyed, too */
	const struct heddle_type *type;
};

/* A thread that is destroying objects, without the lock. The record is on its stack, in the runtime's list
 * `destroying`. */
struct hd_destroying {
	struct hd_destroying *next;
	uint64_t number; /* number of records of this kind that were made before this one */
};

/* A candidate for eviction: a replica with the rank and age that it had when the idle replicas were last ranked. */
struct hd_leaving {
	uint64_t rank;              /* the greatest rank is evicted first; among equal ranks, the least `age` */
	uint64_t age;               /* its place in the list of idle replicas; the oldest has 0 */
	struct hd_replica *replica; /* NULL: the replica was a candidate, and is not idle any more */
};

/* A list of idle replicas, by their last use. */
struct hd_idle {
	struct hd_replica *oldest, *newest;
};

/* A memory node. Main memory has no lanes of its own: a transfer to main memory is in the lane `out` of its source
 * node. */
enum { HD_SHELVES = 32 };
struct hd_memory {
	uint64_t capacity, used, peak; /* bytes; capacity 0: no limit */
	uint64_t evictions;            /* number of replicas that were evicted since the start */
	uint64_t leaving;              /* bytes that the write-backs under way will free */
	/* Owned: free blocks that are kept for reuse, in lists by a hash of their size; `kept`: bytes of all of them
	 * (blocks.c). */
	struct hd_block *shelves[HD_SHELVES];
	uint64_t kept;
	uint64_t asked; /* bytes of the blocks that were asked for and have not been allocated yet */
	/* Only while the memory is tight: the idle (unpinned) replicas. `unneeded`: clean ones that no task in the
	 * graph needed when they became idle; `idle`: the others. */
	struct hd_idle idle, unneeded;
	uint64_t n_idled; /* how often a replica became idle while the memory was not tight */
	/* The memory becomes tight when this many bytes are in use. Idle replicas and the future uses of data are
	 * listed only for a tight memory, because nothing is evicted before. */
	uint64_t mark;
	/* Owned: the candidates for eviction are the entries from first_candidate on; the last is evicted first. While
	 * the memory is tight, there is room for all replicas of the node, because evicting must not fail for lack of
	 * memory. */
	struct hd_leaving *candidates;
	size_t first_candidate, n_candidates, max_candidates;
	size_t n_copies; /* number of allocated replicas on the node, not counting the program's buffers */
	/* above 0: replicas that tasks need had to be evicted, so prefetches evict nothing until this many replicas
	 * that no task needs have been evicted */
	size_t shortage;
	struct hd_trust *trust;       /* owned by src/adapt; NULL: the heuristic is off */
	struct hd_task_queue waiting; /* picked tasks that wait for room */
	/* owned: prefetches to this node that wait for a block, in the order in which they were asked for; last_hint is
	 * undefined if there is none */
	struct hd_hint *hints, *last_hint;
	struct hd_lane in, out;
	/* 1: a replica was freed or unpinned since a task began to wait for room */
	uint8_t retry;
	uint8_t tight;    /* 1: the memory is nearly full, or replicas had to be evicted: eviction.c */
	uint8_t fetching; /* 1: a thread is allocating blocks for this memory without the lock */
	uint8_t lost;     /* 1: its device is lost, and the replicas on it are freed or written back: lost_memory.c */
	/* Set by the heuristics while the memory is tight (adapt_hooks.h): 1: needed replicas are evicted by their last
	 * use instead of their predicted next use. */
	uint8_t distrusted;
	/* owned: names of the data that lost their value with this memory, separated by commas; NULL: none, or out of
	 * memory */
	char *lost_names;
	unsigned n_lost_names; /* number of data in lost_names */
	size_t refused;        /* bytes of the smallest block whose allocation has failed; 0: none has failed */
};

#endif
