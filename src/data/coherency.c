/* Coherency: which replicas are valid, and the transfers that make replicas valid.
 *
 * Staging a task on a node means: reserve and pin a replica for each of its data, begin the transfers that make them
 * valid, and wait for these. A task that writes a datum also waits until no transfer of the datum is under way, and
 * until the task has ended no transfer of the datum begins (n_writers), because it would copy a value that is half
 * written. A transfer pins both its replicas, so neither is evicted meanwhile. Without a direct link a datum goes
 * through main memory, by two transfers of which the second waits for the first.
 */
#include <stdlib.h>
#include "data.h"
#include "core/runtime.h"

static heddle_data *datum_of(const struct hd_access *a)
{
	return a->private_copy ? a->private_copy : a->data;
}

static int needs_value(const struct hd_access *a)
{
	if (!a->private_copy)
		return hd_mode_reads(a->mode);
	if (a->mode == HEDDLE_SCRATCH)
		return 0;
	for (size_t i = 0; i < a->private_copy->rt->n_nodes; i++)
		if (a->private_copy->replicas[i].valid)
			return 1;
	return 0; /* a private copy of a reduction that its init kernel will write */
}

static int writes(const struct hd_access *a)
{
	return a->private_copy != NULL || hd_mode_writes(a->mode);
}

/* --- Transfers ---------------------------------------------------------------------------------------------------- */

static double hop_time(const struct hd_hop *hop, uint64_t bytes)
{
	return hop->latency + (double)bytes * hop->us_per_byte;
}

static double route_time(const heddle_runtime *rt, unsigned from, unsigned to, uint64_t bytes)
{
	const struct hd_hop *hop = hd_hop(&rt->hops, from, to);
	if (hop)
		return hop_time(hop, bytes);
	return hop_time(hd_hop(&rt->hops, from, 0), bytes) + hop_time(hd_hop(&rt->hops, 0, to), bytes);
}

/* The node from which the datum can be brought to `to` fastest, and the time, us. -1: no node has a valid copy;
 * *best_time is 0 then. */
static int cheapest_source(const heddle_data *d, unsigned to, double *best_time)
{
	const heddle_runtime *rt = d->rt;
	int best = -1;
	*best_time = 0;
	for (unsigned from = 0; from < rt->n_nodes; from++) {
		if (!d->replicas[from].valid || from == to)
			continue;
		double time = route_time(rt, from, to, d->bytes);
		if (best < 0 || time < *best_time) {
			best = (int)from;
			*best_time = time;
		}
	}
	return best;
}

double hd_fetch_time(const heddle_data *d, unsigned node)
{
	if (d->replicas[node].valid || d->replicas[node].incoming)
		return 0;
	double time;
	cheapest_source(d, node, &time);
	return time;
}

static struct hd_transfer *find_transfer(heddle_data *d, unsigned to)
{
	struct hd_transfer *tr = d->transfers;
	while (tr && tr->to != to)
		tr = tr->next;
	return tr;
}

static void start(struct hd_transfer *tr)
{
	heddle_runtime *rt = tr->data->rt;
	tr->started = 1;
	tr->behind = NULL;
	hd_replica_pin(&tr->data->replicas[tr->from]);
	rt->engine->transfer(rt, tr);
}

/* Makes a transfer between two nodes that have a link, into a replica that is allocated. It starts at once, or after
 * the transfer `behind` if that is not NULL. The target is pinned until the transfer ends. */
static struct hd_transfer *begin_hop(heddle_data *d, unsigned from, unsigned to, enum hd_reason reason,
                                     struct hd_transfer *behind)
{
	struct hd_transfer *tr = malloc(sizeof *tr);
	if (!tr) {
		hd_no_memory("a transfer");
		return NULL;
	}
	*tr = (struct hd_transfer){.data = d,
	                           .next = d->transfers,
	                           .behind = behind,
	                           .from = (uint16_t)from,
	                           .to = (uint16_t)to,
	                           .reason = (uint8_t)reason};
	d->transfers = tr;
	d->n_transfers++;
	d->rt->count.transfers++;
	hd_replica_pin(&d->replicas[to]);
	d->replicas[to].incoming = 1;
	if (!behind)
		start(tr);
	return tr;
}

/* Makes two transfers, through main memory; *out is the second. */
static int fetch_by_two_hops(heddle_data *d, unsigned from, unsigned to, enum hd_reason reason,
                             struct hd_transfer **out)
{
	struct hd_replica *middle = &d->replicas[0];
	if (!middle->ptr) {
		int status = hd_memory_try(middle);
		if (status)
			return status;
		hd_replica_unpin(middle);
	}
	struct hd_transfer *first = find_transfer(d, 0);
	if (!first)
		first = begin_hop(d, from, 0, reason, NULL);
	*out = first ? begin_hop(d, 0, to, reason, first) : NULL;
	return *out ? 0 : HEDDLE_E_MEMORY;
}

/* Finds the transfer that will make the replica on `to`, which is allocated, valid; makes one if there is none.
 * HEDDLE_E_STATE: there is no valid copy of the datum; HEDDLE_E_MEMORY. */
static int fetch(heddle_data *d, unsigned to, enum hd_reason reason, struct hd_transfer **out)
{
	*out = find_transfer(d, to);
	if (*out)
		return 0;
	double time;
	int from = cheapest_source(d, to, &time);
	if (from < 0) {
		char name[80];
		hd_data_name(d, name, sizeof name);
		return d->poisoned && d->extra && d->extra->cause
		           ? hd_error(HEDDLE_E_STATE, "%s has lost its value: %s", name, d->extra->cause)
		           : hd_error(HEDDLE_E_STATE, "%s is read but nothing has ever written it", name);
	}
	if (!hd_hop(&d->rt->hops, (unsigned)from, to))
		return fetch_by_two_hops(d, (unsigned)from, to, reason, out);
	*out = begin_hop(d, (unsigned)from, to, reason, NULL);
	return *out ? 0 : HEDDLE_E_MEMORY;
}

/* Marks a task as failed because it cannot get its data. Keeps the message of heddle_last_error now, because the task
 * may end later, in another thread. */
static void fail(heddle_task *t, int status)
{
	if (!t->status)
		hd_task_message(t, heddle_last_error());
	t->status = status;
}

static void unlink_transfer(struct hd_transfer *tr)
{
	struct hd_transfer **p = &tr->data->transfers;
	while (*p != tr)
		p = &(*p)->next;
	*p = tr->next;
	tr->data->n_transfers--;
	tr->data->rt->count.transfers--;
}

/* Updates the replicas after a transfer: if it has not failed the target becomes valid; if it was for an eviction the
 * source is freed. */
static void settle_replicas(struct hd_transfer *tr)
{
	heddle_data *d = tr->data;
	struct hd_replica *from = &d->replicas[tr->from], *to = &d->replicas[tr->to];
	to->incoming = 0;
	if (!tr->status)
		hd_replica_set_valid(to, 1);
	if (tr->started)
		hd_replica_unpin(from);
	hd_replica_unpin(to);
	if (!tr->evict)
		return;
	d->rt->memories[from->node].leaving -= d->bytes;
	if (from->pins)
		return;
	if (!to->valid && from->valid) /* the value is lost: trying again for ever would not make room */
		hd_data_spoil(d, hd_format("its only copy could not leave %s: %s",
		                           d->rt->platform->nodes[from->node].name, heddle_last_error()));
	hd_memory_free(from);
}

static void wait_for(struct hd_transfer *tr, struct hd_access *a)
{
	a->next = tr->waiters;
	tr->waiters = a;
	hd_access_task(a)->pending++;
}

/* Begins the transfer that access `a` still needs on `node`. 0: none is needed; HEDDLE_PENDING: the access waits for a
 * transfer; or an error. */
static int stage_access(struct hd_access *a, unsigned node)
{
	heddle_data *d = datum_of(a);
	struct hd_transfer *tr = NULL;
	/* A cancelled control needs no value; it only waits for the transfers under way. */
	if (HD_UNLIKELY(needs_value(a) && !d->replicas[node].valid && !hd_access_task(a)->cancelled)) {
		int status = fetch(d, node, HD_DEMAND, &tr);
		if (status)
			return status;
	} else if (HD_UNLIKELY(d->transfers && writes(a))) {
		tr = d->transfers; /* the task must not write the datum while this transfer copies it */
	}
	if (HD_LIKELY(!tr)) {
		/* A control that only waits for transfers has no pin. It is not counted as a writer, because
		 * hd_stage_end would not count it back. */
		if (writes(a) && (a->flags & HD_ACCESS_PINNED)) {
			a->flags |= HD_ACCESS_WRITES;
			d->n_writers++;
		}
		return 0;
	}
	wait_for(tr, a);
	return HEDDLE_PENDING;
}

/* Called when a transfer that the access has waited for has ended. The access may need another one. */
static void restage_access(struct hd_access *a)
{
	heddle_task *t = hd_access_task(a);
	heddle_runtime *rt = a->data->rt;
	t->pending--;
	if (!t->status) {
		int s = stage_access(a, hd_task_node(rt, t));
		if (s < 0)
			fail(t, s);
	} else if (a->data->transfers && (t->kind == HD_TASK_UNREGISTER || t->kind == HD_TASK_UNPARTITION)) {
		/* the task frees the datum, so it must wait for all transfers even if it has failed */
		wait_for(a->data->transfers, a);
	}
	if (!t->pending)
		hd_core_staged(rt, t, t->status);
}

/* Whether the task needs the replica on `node` that a failed transfer has not made valid. It may also wait for
 * transfers to other nodes, whose failure does not concern it. */
static int lacks(const struct hd_access *a, unsigned node)
{
	return hd_task_node(a->data->rt, hd_access_task(a)) == node && needs_value(a) &&
	       !datum_of(a)->replicas[node].valid;
}

static void end_transfer(struct hd_transfer *tr)
{
	heddle_data *d = tr->data;
	heddle_runtime *rt = d->rt;
	settle_replicas(tr);
	if (!tr->status && tr->started) {
		rt->outcome.stats.transfers++;
		rt->outcome.stats.bytes_moved += d->bytes;
		if (rt->recorder)
			hd_record_transfer(rt->recorder, tr);
	}
	/* Starts the second hops that waited for this transfer; these are transfers of the same datum. */
	for (struct hd_transfer *next = d->transfers, *after; next; next = after) {
		after = next->next;
		if (next->behind != tr)
			continue;
		if (tr->status) {
			next->status = tr->status;
			end_transfer(next);
			after = d->transfers; /* the list has changed, so go through it again from the start */
		} else {
			start(next);
		}
	}
	unlink_transfer(tr); /* not earlier, because the datum may be freed when it has no transfers */
	struct hd_access *a = tr->waiters;
	while (a) {
		struct hd_access *next = a->next;
		a->next = NULL;
		if (tr->status && lacks(a, tr->to))
			fail(hd_access_task(a), tr->status);
		restage_access(a);
		a = next;
	}
	free(tr);
}

void hd_transfer_done(struct hd_transfer *tr)
{
	HD_HELD(&tr->data->rt->lock);
	heddle_data *d = tr->data;
	int orphan = d->orphan; /* read now: a datum that is no orphan may be freed when its tasks go on */
	end_transfer(tr);
	if (HD_UNLIKELY(orphan && !d->transfers))
		hd_data_destroy(d);
}

int hd_write_back(struct hd_replica *r)
{
	heddle_data *d = hd_replica_data(r);
	struct hd_replica *home = &d->replicas[0];
	if (!home->ptr) {
		int status = hd_memory_try(home);
		if (status)
			return status;
		hd_replica_unpin(home);
	}
	struct hd_transfer *tr = find_transfer(d, 0);
	if (!tr)
		tr = begin_hop(d, r->node, 0, HD_WRITE_BACK, NULL);
	if (!tr)
		return HEDDLE_E_MEMORY;
	if (!tr->evict) {
		tr->evict = 1;
		d->rt->memories[r->node].leaving += d->bytes;
	}
	return 0;
}

void hd_prefetch(heddle_data *d, unsigned node)
{
	HD_HELD(&d->rt->lock);
	struct hd_replica *r = &d->replicas[node];
	double time;
	if (r->valid || r->incoming || d->n_writers || cheapest_source(d, node, &time) < 0)
		return; /* a datum that is being written is not copied, because its value is half written */
	if (hd_memory_try(r))
		return;
	struct hd_transfer *tr;
	if (fetch(d, node, HD_PREFETCH, &tr) == 0)
		d->rt->outcome.stats.prefetches++;
	hd_replica_unpin(r);
}

/* --- Staging ------------------------------------------------------------------------------------------------------ */

/* Staging on a machine with one memory node, where nothing must be moved, evicted or pinned. Returns 0 if some datum
 * has no buffer or no value yet. */
static int stage_local(heddle_task *t)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_replica *r = &t->accesses[i].data->replicas[0];
		if (HD_UNLIKELY(!r->ptr || !(r->valid || t->accesses[i].mode == HEDDLE_W)))
			return 0;
	}
	for (uint32_t i = 0; i < t->n_accesses; i++)
		/* set before the task writes; nobody looks before it has ended */
		hd_replica_set_valid(&t->accesses[i].data->replicas[0], 1);
	return 1;
}

int hd_stage(heddle_task *t, unsigned node)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	if (HD_LIKELY(t->special & HD_TASK_ONE_NODE) && HD_LIKELY(stage_local(t)))
		return 0;
	t->special &= (uint8_t)~HD_TASK_ONE_NODE;
	t->pending = 0;
	int status = hd_memory_reserve(t, node);
	if (HD_UNLIKELY(status)) {
		if (status < 0)
			fail(t, status);
		return status;
	}
	/* A transfer may end before begin_hop returns, if the engine is synchronous. The 1 keeps `pending` above 0
	 * until all are begun. */
	t->pending = 1;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		if (t->accesses[i].flags & (HD_ACCESS_ALIAS | HD_ACCESS_LATE))
			continue;
		int s = stage_access(&t->accesses[i], node);
		if (s < 0)
			fail(t, s);
	}
	if (--t->pending)
		return HEDDLE_PENDING;
	return t->status;
}

int hd_stage_quiet(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	t->pending = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (t->accesses[i].data->transfers)
			wait_for(t->accesses[i].data->transfers, &t->accesses[i]);
	return t->pending ? HEDDLE_PENDING : 0;
}

/* Whether other replicas than that on `node`, which is valid, are valid or have memory. */
static int has_copies_but(const heddle_data *d, unsigned node)
{
	return d->n_valid > 1 || d->n_away > (node != 0);
}

void hd_stage_begin(heddle_task *t, unsigned node)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	if (HD_LIKELY(t->special & HD_TASK_ONE_NODE))
		return;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		struct hd_access *a = &t->accesses[i];
		if (!writes(a) || (a->flags & HD_ACCESS_ALIAS))
			continue;
		heddle_data *d = datum_of(a);
		hd_replica_set_valid(&d->replicas[node], 1);
		for (size_t k = 0; has_copies_but(d, node) && k < d->rt->n_nodes; k++) {
			struct hd_replica *r = &d->replicas[k];
			if (k == node)
				continue;
			hd_replica_set_valid(r, 0);
			if (k != 0 && r->ptr && !r->pins && !r->user_buffer)
				hd_memory_free(r); /* an obsolete copy would only take room */
		}
	}
}

void hd_stage_end(heddle_task *t, unsigned node)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	if (HD_LIKELY(t->special & HD_TASK_ONE_NODE))
		return;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		struct hd_access *a = &t->accesses[i];
		if (!(a->flags & HD_ACCESS_PINNED))
			continue;
		a->flags &= ~HD_ACCESS_PINNED & HD_ACCESS_FLAGS;
		if (a->flags & HD_ACCESS_WRITES)
			datum_of(a)->n_writers--;
		a->flags &= ~HD_ACCESS_WRITES & HD_ACCESS_FLAGS;
		if (a->mode == HEDDLE_SCRATCH)
			hd_replica_set_valid(&datum_of(a)->replicas[node], 0); /* an eviction need not write it back */
		hd_replica_unpin(&datum_of(a)->replicas[node]);
	}
}
