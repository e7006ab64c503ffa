/* Transfers: copies of data between memories.
 *
 * A transfer makes one replica valid from another. It pins both, so neither is evicted meanwhile. There is at most one
 * per datum and target node, on which all wait who need the datum there. Without a direct link a datum goes through
 * main memory, by two transfers of which the second waits for the first.
 */
#include <stdlib.h>
#include "data.h"
#include "core/runtime.h"

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

int hd_fetch(heddle_data *d, unsigned to, enum hd_reason reason, struct hd_transfer **out)
{
	HD_HELD(&d->rt->lock);
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
	hd_stage_arrived(tr);
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
	if (hd_fetch(d, node, HD_PREFETCH, &tr) == 0)
		d->rt->outcome.stats.prefetches++;
	hd_replica_unpin(r);
}
