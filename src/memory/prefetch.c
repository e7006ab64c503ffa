/* Prefetches: transfers that a policy or the program asks for before a task needs the datum. A prefetch is a hint: it
 * is dropped if there is no room. While memory->in_order is set (src/adapt sets it when prefetches were useless),
 * prefetches to that node go in order: one without room waits for room, and later ones wait behind it. A prefetch that
 * needs a block waits until the block has been allocated, without the core lock. A prefetch of a datum that is being
 * written waits for the writer. */
#include <stdlib.h>
#include "state/data.h"
#include "state/memory.h"
#include "state/runtime.h"
#include "allocation.h"
#include "transfers.h"
#include "uses.h"
#include "windows.h"

/* --- Prefetches that wait for room -------------------------------------------------------------------------------- */

/* Delays the prefetch to `r`, which finds no room, waits for a block, or must not overtake a delayed prefetch. */
static void delay(struct hd_replica *r)
{
	heddle_data *d = hd_replica_data(r);
	struct hd_memory *m = &d->rt->memories[r->node];
	struct hd_delayed *delayed = hd_data_delayed(d, r->node);
	if (delayed->replica)
		return;
	*delayed = (struct hd_delayed){.before = m->last_delayed, .replica = r};
	*(delayed->before ? &delayed->before->next : &m->first_delayed) = delayed;
	m->last_delayed = delayed;
}

/* Removes the delayed prefetch to the replica, if there is one. */
static void undelay(const struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	struct hd_memory *m = &d->rt->memories[r->node];
	struct hd_delayed *delayed = hd_data_delayed(d, r->node);
	if (!delayed->replica)
		return;
	*(delayed->before ? &delayed->before->next : &m->first_delayed) = delayed->next;
	*(delayed->next ? &delayed->next->before : &m->last_delayed) = delayed->before;
	delayed->replica = NULL;
}

void hd_prefetch_undelay(const struct hd_memory *m)
{
	while (m->first_delayed)
		undelay(m->first_delayed->replica);
}

/* --- Prefetches that wait for blocks ------------------------------------------------------------------------------ */

static void append_hints(struct hd_memory *m, struct hd_hint *first, struct hd_hint *last)
{
	*(m->hints ? &m->last_hint->next : &m->hints) = first;
	m->last_hint = last;
}

/* Keeps the prefetch as a hint until its block has been allocated. When out of memory, the prefetch is dropped. */
static void remember_hint(struct hd_replica *r)
{
	heddle_data *d = hd_replica_data(r);
	struct hd_hint *h = r->hinted ? NULL : malloc(sizeof *h);
	if (!h)
		return;
	*h = (struct hd_hint){.data = d};
	append_hints(&d->rt->memories[r->node], h, h);
	r->hinted = 1;
}

void hd_prefetch_forget(struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	HD_HELD(&d->rt->lock);
	if (HD_UNLIKELY(d->rt->next_use))
		undelay(r);
	if (HD_LIKELY(!r->hinted))
		return;
	struct hd_memory *m = &d->rt->memories[r->node];
	struct hd_hint *before = NULL, *h = m->hints;
	for (; h->data != d; h = h->next)
		before = h;
	*(before ? &before->next : &m->hints) = h->next;
	if (m->last_hint == h)
		m->last_hint = before;
	r->hinted = 0;
	free(h);
}

void hd_prefetch_hinted(heddle_runtime *rt, struct hd_memory *m)
{
	HD_HELD(&rt->lock);
	unsigned node = (unsigned)(m - rt->memories);
	struct hd_hint *h = m->hints, *last = m->last_hint;
	m->hints = NULL;
	/* The other hints go on waiting when no more blocks can be asked for. */
	for (struct hd_hint *next; h && !m->fetching && rt->wanted.n < HD_MAX_WANTED; h = next) {
		heddle_data *d = h->data;
		next = h->next;
		free(h);
		d->replicas[node].hinted = 0;
		/* otherwise the datum is about to end, and its replicas outside main memory are useless */
		if (hd_data_closed(d) == HD_OPEN)
			hd_prefetch(d, node);
	}
	if (h)
		append_hints(m, h, last);
}

/* --- Prefetches that begin ---------------------------------------------------------------------------------------- */

/* Whether the replica is invalid and can be made valid. */
static int lacks_value(const struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	return !r->valid && !r->incoming && d->n_valid && !d->rt->memories[r->node].lost;
}

/* Whether there may ever be room for the replica, as far as is known. If there never will be, its prefetch must not
 * wait, because others would wait behind it. */
static int may_have_room(const struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	return d->bytes <= d->rt->memories[r->node].capacity && !hd_windows_hinder(d, r->node);
}

/* Whether the replica may have been allocated for a task that waits for other blocks. Then a prefetch leaves it alone.
 * If the prefetch freed it for lack of a block in main memory, the task and the prefetch would be retried in turn, for
 * ever. */
static int is_of_waiting_task(const struct hd_replica *r)
{
	return r->ptr && hd_replica_data(r)->rt->memories[r->node].waiting.first;
}

/* Begins the transfer to the replica. HD_LATER: it is kept as a hint until its block is allocated; HEDDLE_PENDING:
 * there is no room, or only room that is a waiting task's. */
static int begin(struct hd_replica *r)
{
	heddle_data *d = hd_replica_data(r);
	int status = r->hinted ? HD_LATER : is_of_waiting_task(r) ? HEDDLE_PENDING : hd_memory_try(r, 0);
	if (!status) {
		struct hd_transfer *tr;
		status = r->valid ? 0 : hd_fetch(d, r->node, HD_PREFETCH, &tr);
		d->rt->outcome.stats.prefetches += !status;
		if (HD_UNLIKELY(d->rt->adapt.prefetched != NULL) && r->incoming)
			d->rt->adapt.prefetched(r);
		hd_replica_unpin(r);
		/* It has failed; or the datum is a part of its parent, which comes to main memory first. */
		if (!r->incoming)
			hd_free_if_void(r);
	}
	if (status == HD_LATER)
		remember_hint(r);
	return status;
}

/* Removes delayed prefetches to the node up to the first useful one, and returns its replica; NULL: none. */
static struct hd_replica *first_waiting(const struct hd_memory *m)
{
	while (HD_UNLIKELY(m->first_delayed != NULL)) {
		struct hd_replica *r = m->first_delayed->replica;
		const heddle_data *d = hd_replica_data(r);
		if (lacks_value(r) && !d->n_writers && hd_data_closed(d) == HD_OPEN && may_have_room(r) &&
		    hd_next_use(d, r->node) != HD_NEVER)
			return r;
		undelay(r);
	}
	return NULL;
}

void hd_prefetch_waiting(heddle_runtime *rt, unsigned node)
{
	HD_HELD(&rt->lock);
	const struct hd_memory *m = &rt->memories[node];
	struct hd_replica *r;
	while (!m->waiting.first && (r = first_waiting(m))) {
		/* A prefetch that waits for a block stays first; otherwise the next one would ask for another block in
		 * the same room. If prefetches do not go in order any more, those that find no room are dropped. */
		if (begin(r) > 0 && m->in_order)
			return;
		undelay(r);
	}
}

void hd_prefetch(heddle_data *d, unsigned node)
{
	HD_HELD(&d->rt->lock);
	struct hd_replica *r = &d->replicas[node];
	if (HD_UNLIKELY(d->rt->memories[node].lost))
		return;
	if (d->n_writers) { /* a task is writing the value: the prefetch waits for the new value */
		d->n_wanted = (uint16_t)(d->n_wanted + !r->wanted);
		r->wanted = 1;
		return;
	}
	if (!lacks_value(r))
		return;
	const struct hd_memory *m = &d->rt->memories[node];
	const struct hd_replica *first = first_waiting(m);
	int in_order = m->in_order;
	if (first == r) /* this prefetch is the first delayed one: its block has been allocated */
		hd_prefetch_waiting(d->rt, node);
	else if (((in_order && first) || begin(r) > 0) && in_order && may_have_room(r))
		delay(r);
}

/* Whether the task of the access makes every replica outside main memory useless. */
static int ends_copies(const struct hd_access *a)
{
	unsigned kind = hd_access_task(a)->kind;
	return kind == HD_TASK_UNREGISTER || kind == HD_TASK_UNPLAN;
}

void hd_prefetch_wanted(heddle_data *d, int good)
{
	HD_HELD(&d->rt->lock);
	good = good && !(d->queue && ends_copies(d->queue));
	for (unsigned node = 0; d->n_wanted && node < d->rt->n_nodes; node++) {
		if (!d->replicas[node].wanted)
			continue;
		d->replicas[node].wanted = 0;
		d->n_wanted--;
		if (good)
			hd_prefetch(d, node);
	}
}
