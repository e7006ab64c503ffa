/* Whether prefetches are of use; for copies on accelerators, if what is needed last is evicted: early.c. Included by
 * data.h. */
#ifndef HD_EARLY_H
#define HD_EARLY_H

#include <stdint.h>

struct hd_memo;
struct hd_memory;
struct hd_replica;

/* Of a memory that has a limit: whether prefetches are of use there, and those that wait for room: early.c. */
struct hd_early {
	struct hd_memo *first, *last; /* borrowed: in the order in which they were asked for */
	int64_t credit;               /* bytes; below 0: prefetches go in order */
};

/* A prefetch has begun to bring the copy. */
void hd_early_begun(struct hd_replica *r);
/* A task has got its data on the node, and with them this copy. */
void hd_early_used(struct hd_replica *r);
/* The copy has been evicted, or is about to be. */
void hd_early_evicted(struct hd_replica *r);
/* The copy leaves its memory, for any reason. */
void hd_early_left(const struct hd_replica *r);
/* Whether prefetches go in order on the node. */
int hd_early_in_order(const struct hd_memory *m);
/* Remembers a prefetch that finds no room, waits for a block, or comes after such a one, on a node where they go in
 * order. */
void hd_early_wait(struct hd_replica *r);
/* Forgets that prefetch, if there is one. */
void hd_early_forget(struct hd_replica *r);

#endif
