/* Whether prefetches are of use in a memory that has a limit and evicts by next use. A policy prefetches for a task as
 * soon as it knows where that will run. If that is much later, what the prefetch has brought may be evicted before, and
 * all was in vain; worse, it took room from what is needed sooner, and other prefetches like it will, too.
 *
 * So each memory has a credit. A copy that a prefetch has brought and a task uses adds its bytes to that, one that is
 * evicted before takes WASTE times as many. When the credit is spent, prefetches to the node go in order for a while:
 * one that finds no room waits, and later ones wait behind it, instead of taking the room that appears next for what
 * may be needed much later. It stays in front until its transfer has begun, also while a block is allocated for it.
 * They are tried again when a task has got its data on the node. One for which there may never be room is dropped, and
 * one that is of no use any more keeps no other waiting. When prefetches have been of use for GRACE times the memory's
 * bytes, they are free again: each takes room if there is some, or is dropped.
 *
 * This is feedback-directed prefetching (Srinath et al., HPCA 2007), with a queue instead of a distance. Order is not
 * asked for everywhere, because urgent tasks that become ready late do not wait well behind others: then Cholesky of 30
 * tiles under dmdas takes 9 % longer on four accelerators, each with memory for 1/4 of the data. bench/eviction.c
 * measures it.
 */
#include "trust.h"
#include "state/memory.h"
#include "state/data.h"

enum {
	WASTE = 8,
	GRACE = 2,
	MOST_CREDIT = 2,  /* at most 1 / MOST_CREDIT of the memory's bytes */
	LEAST_CREDIT = 10 /* at least this many times the memory's bytes below 0 */
};

static struct hd_memory *memory_of(const struct hd_replica *r)
{
	return &hd_replica_data(r)->rt->memories[r->node];
}

static void add_credit(struct hd_memory *m, int64_t bytes)
{
	int64_t capacity = (int64_t)m->capacity, most = capacity / MOST_CREDIT, least = -LEAST_CREDIT * capacity;
	int64_t *credit = &m->trust->credit;
	int in_order = *credit < 0;
	*credit += bytes;
	if (in_order != (*credit < 0))
		*credit = in_order ? most : -GRACE * capacity;
	*credit = *credit > most ? most : *credit < least ? least : *credit;
	m->in_order = *credit < 0;
}

void hd_credit_prefetched(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	if (memory_of(r)->tight && !r->window) /* a window takes no memory */
		hd_memo(r)->early = 1;
}

void hd_credit_used(const struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	struct hd_memo *memo = hd_memo(r);
	if (memo->early)
		add_credit(memory_of(r), (int64_t)hd_replica_data(r)->bytes);
	memo->early = 0;
}

void hd_credit_evicted(const struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	HD_HELD(&d->rt->lock);
	struct hd_memo *memo = hd_memo(r);
	if (memo->early && r->valid && !d->n_writers) /* else its value has changed, which nobody could know */
		add_credit(memory_of(r), -WASTE * (int64_t)d->bytes);
	memo->early = 0;
}
