/* Prefetches: transfers that a policy or the program asks for before a task needs the datum. A prefetch is a hint: it
 * is dropped if there is no room. A prefetch that needs a block waits until the block has been allocated, without the
 * core lock. A prefetch of a datum that is being written waits for the writer. */
#include <stdlib.h>
#include "state/data.h"
#include "state/memory.h"
#include "state/runtime.h"
#include "allocation.h"
#include "transfers.h"
#include "uses.h"
#include "windows.h"

/* --- Prefetches that wait for blocks ------------------------------------------------------------------------------ */

static void append_hints(struct hd_memory *m, struct hd_hint *first, struct hd_hint *last)
{
	*(m->hints ? &m->last_hint->next : &m->hints) = first;
	m->last_hint = last;
}

/* Keeps the prefetch as a hint until its block has been allocated. Drops the prefetch if there is no memory for the
 * hint. */
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
	/* Stops when no more blocks can be asked for; the other hints go on waiting. */
	for (struct hd_hint *next; h && !m->fetching && rt->wanted.n < HD_MAX_WANTED; h = next) {
		heddle_data *d = h->data;
		next = h->next;
		free(h);
		d->replicas[node].hinted = 0;
		/* a closed datum is about to end, so it needs no replica outside main memory */
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

/* Whether the replica may have been allocated for a task that waits for other blocks. Then a prefetch must not use it:
 * if the prefetch freed the replica for lack of a block in main memory, the task and the prefetch would be retried in
 * turn, without end. */
static int is_of_waiting_task(const struct hd_replica *r)
{
	return r->ptr && hd_replica_data(r)->rt->memories[r->node].waiting.first;
}

/* Begins the transfer to the replica; or keeps the prefetch as a hint until its block is allocated; or drops the
 * prefetch, if there is no room or the room belongs to a waiting task. */
static void begin(struct hd_replica *r)
{
	heddle_data *d = hd_replica_data(r);
	int status = r->hinted ? HD_LATER : is_of_waiting_task(r) ? HEDDLE_PENDING : hd_memory_try(r, 0);
	if (!status) {
		struct hd_transfer *tr;
		status = r->valid ? 0 : hd_fetch(d, r->node, HD_PREFETCH, &tr);
		d->rt->outcome.stats.prefetches += !status;
		hd_replica_unpin(r);
		/* No transfer to `r` has begun: hd_fetch has failed, or it first brings the parent, of which the datum
		 * is a part, to main memory. */
		if (!r->incoming)
			hd_free_if_void(r);
	}
	if (status == HD_LATER)
		remember_hint(r);
}

void hd_prefetch(heddle_data *d, unsigned node)
{
	HD_HELD(&d->rt->lock);
	struct hd_replica *r = &d->replicas[node];
	if (HD_UNLIKELY(d->rt->memories[node].lost))
		return;
	if (d->n_writers) { /* a task is writing the datum, so the prefetch waits for the new value */
		d->n_wanted = (uint16_t)(d->n_wanted + !r->wanted);
		r->wanted = 1;
		return;
	}
	if (lacks_value(r))
		begin(r);
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
