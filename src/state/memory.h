/* Memories: what a node holds, its free blocks and its transfers. The core lock guards them. */
#ifndef HD_STATE_MEMORY_H
#define HD_STATE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include "task.h"
#include "transfer.h"

struct hd_replica;

struct hd_delayed;
struct hd_trust;

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
	size_t n_copies;              /* allocated on the node, without the program's buffers */
	uint64_t clock;               /* counts the copies that entered the heap */
	struct hd_trust *trust;       /* owned by src/adapt; NULL: not used */
	struct hd_task_queue waiting; /* picked tasks that found no room */
	/* owned: prefetches to this node, in the order in which they were asked for; the last is undefined if there
	 * is none */
	struct hd_hint *hints, *last_hint;
	/* borrowed: prefetches to this node that wait for room, in the order in which they were asked for */
	struct hd_delayed *first_delayed, *last_delayed;
	struct hd_lane in, out;
	/* 1: something was freed or unpinned since a task began to wait */
	uint8_t retry;
	uint8_t tight;    /* 1: it is nearly full, or has had to let copies leave: eviction.c */
	uint8_t fetching; /* 1: a thread allocates blocks for it without the lock */
	uint8_t lost;     /* 1: its device is lost; the copies that are there leave it: lost_memory.c */
	/* What the heuristics say while it is tight: adapt_hooks.h. 1: copies that are needed are evicted by their last
	 * use, not by their next one; 1: prefetches to it go in order. */
	uint8_t distrusted, in_order;
	/* owned: the names of the data that have lost their values, separated by commas; NULL: none, or out of
	 * memory */
	char *lost_names;
	unsigned n_lost_names; /* how many these are */
	size_t refused;        /* bytes of the smallest of these that could not be had; 0: all could */
};

#endif
