/* Decides whether prefetches are useful, in a memory that has a limit and evicts by next use. A policy prefetches for a
 * task as soon as it knows on which node the task will run. If the task runs much later, the prefetched replica may be
 * evicted before. Then the prefetch was useless; worse, it took room from data that are needed sooner, and further such
 * prefetches will do so again.
 *
 * So each memory has a credit, in bytes. When a task uses a prefetched replica, the replica's size is added to the
 * credit; when a prefetched replica is evicted before any use, WASTE times its size is subtracted. When the credit is
 * spent (below 0), prefetches to the node go in order for a while: a prefetch that finds no room waits, and later ones
 * wait behind it, instead of taking the next free room for data that may be needed much later. A waiting prefetch stays
 * first until its transfer has begun, also while memory for it is being allocated. Waiting prefetches are tried again
 * when a task has its data on the node. A prefetch for which there may never be room is dropped, and a useless one
 * delays no other. When useful prefetches have brought GRACE times the memory's bytes, the order ends: again each
 * prefetch takes room if there is some, and is dropped if there is none.
 *
 * This is feedback-directed prefetching (Srinath et al., HPCA 2007), with a queue instead of a distance. Prefetches do
 * not always go in order, because urgent tasks that become ready late would have to wait behind others: with order
 * everywhere, Cholesky of 30 tiles under dmdas takes 9 % longer on four accelerators that each have memory for 1/4 of
 * the data. bench/eviction.c measures it. */
#include "state/data.h"
#include "state/memory.h"
#include "trust.h"

enum {
	WASTE = 8,
	GRACE = 2,
	MOST_CREDIT = 2,  /* the credit is at most 1 / MOST_CREDIT of the memory's bytes */
	LEAST_CREDIT = 10 /* the credit is at least - LEAST_CREDIT times the memory's bytes */
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
	if (memory_of(r)->tight && !r->window) /* a window lies in the memory of another replica, and takes none */
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
	if (memo->early && r->valid && !d->n_writers) /* otherwise the value was replaced, which nobody could foresee */
		add_credit(memory_of(r), -WASTE * (int64_t)d->bytes);
	memo->early = 0;
}
