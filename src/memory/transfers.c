/* Transfers: copies of data between memories.
 *
 * A transfer makes one replica valid by copying another replica. While the transfer moves, it pins both replicas, so
 * that neither is evicted. There is at most one transfer per datum and target node: all tasks that need the datum on
 * this node wait for the same transfer. Without a direct link between two nodes, a datum goes through main memory by
 * two transfers, the second of which waits for the first.
 *
 * Transfers queue in lanes: each node has a lane for incoming transfers and one for those that go out to main memory.
 * The engine takes awaited transfers before prefetches, and equally urgent transfers in the order in which they came. A
 * prefetch that has not begun to move becomes a demand when a task waits for it. It is dropped when the datum is about
 * to be written or to end, when its source is evicted, or when a task needs the room that it has reserved. Until it
 * moves, it pins its target, but not its source. A prefetch of a datum that is being written is only a mark on the
 * replica (`wanted`) until the writer has ended.
 */
#include "transfers.h"
#include <math.h>
#include <stdlib.h>
#include "machine/hops.h"
#include "record/record.h"
#include "state/engine.h"
#include "state/memory.h"
#include "state/runtime.h"
#include "state/tree.h"
#include "allocation.h"
#include "coherency.h"
#include "fetch_times.h"
#include "handle_end.h"
#include "lost_memory.h"
#include "windows.h"

static struct hd_transfer *find_transfer(heddle_data *d, unsigned to)
{
	struct hd_transfer *tr = d->replicas[to].incoming ? d->transfers : NULL;
	while (tr && (tr->to != to || tr->ended))
		tr = tr->next;
	return tr;
}

/* --- Lanes -------------------------------------------------------------------------------------------------------- */

struct hd_lane *hd_lane_of(const struct hd_transfer *tr)
{
	struct hd_memory *memories = tr->data->rt->memories;
	return tr->to ? &memories[tr->to].in : &memories[tr->from].out;
}

static unsigned list_of(const struct hd_transfer *tr)
{
	return tr->behind ? HD_BEHIND : tr->urgency;
}

static double transfer_time(const struct hd_transfer *tr)
{
	return hd_hop_time(tr->hop, (double)tr->data->bytes);
}

static double free_at(const struct hd_lane *lane, double now)
{
	return (lane->until > now ? lane->until : now) + lane->queued;
}

static void lane_push(struct hd_transfer *tr)
{
	struct hd_lane *lane = hd_lane_of(tr);
	unsigned list = list_of(tr);
	tr->lane_prev = lane->last[list];
	while (HD_UNLIKELY(list == HD_HINTED && tr->lane_prev && tr->lane_prev->rank < tr->rank))
		tr->lane_prev = tr->lane_prev->lane_prev;
	struct hd_transfer **from = tr->lane_prev ? &tr->lane_prev->lane_next : &lane->first[list];
	tr->lane_next = *from;
	*from = tr;
	if (tr->lane_next)
		tr->lane_next->lane_prev = tr;
	else
		lane->last[list] = tr;
	lane->queued += transfer_time(tr);
	tr->due = free_at(lane, tr->data->rt->now);
}

static void lane_remove(struct hd_transfer *tr)
{
	struct hd_lane *lane = hd_lane_of(tr);
	unsigned list = list_of(tr);
	if (tr->lane_next)
		tr->lane_next->lane_prev = tr->lane_prev;
	else
		lane->last[list] = tr->lane_prev;
	if (tr->lane_prev)
		tr->lane_prev->lane_next = tr->lane_next;
	else
		lane->first[list] = tr->lane_next;
	/* 0 without the rounding errors of the sum */
	lane->queued = lane->first[HD_AWAITED] || lane->first[HD_HINTED] || lane->first[HD_BEHIND]
	                   ? lane->queued - transfer_time(tr)
	                   : 0;
}

struct hd_transfer *hd_lane_take(struct hd_lane *lane, enum hd_urgency least)
{
	struct hd_transfer *tr = NULL;
	for (unsigned i = 0; i <= least && !tr; i++)
		tr = lane->first[i];
	if (!tr)
		return NULL;
	HD_HELD(&tr->data->rt->lock);
	lane_remove(tr);
	if (hd_transfer_is_hint(tr))
		hd_replica_pin(&tr->data->replicas[tr->from]);
	tr->moving = 1;
	double now = tr->data->rt->now;
	tr->due = lane->until = (lane->until > now ? lane->until : now) + transfer_time(tr);
	return tr;
}

/* Puts a transfer that may move now into its lane, and tells the engine. */
static void enter_lane(struct hd_transfer *tr)
{
	heddle_runtime *rt = tr->data->rt;
	if (hd_transfer_pins_source(tr))
		hd_replica_pin(&tr->data->replicas[tr->from]);
	lane_push(tr);
	rt->engine->transfer(rt, tr);
}

/* Raises the urgency of a transfer, and of the transfer behind which it waits, to at least `urgency`. */
static void hurry(struct hd_transfer *tr, enum hd_urgency urgency)
{
	for (; tr && !tr->moving && tr->urgency > urgency; tr = tr->behind) {
		int pinned = hd_transfer_pins_source(tr);
		lane_remove(tr);
		tr->urgency = (uint8_t)urgency;
		if (urgency == HD_AWAITED && tr->reason == HD_PREFETCH)
			tr->reason = HD_DEMAND;
		if (hd_transfer_pins_source(tr) && !pinned)
			hd_replica_pin(&tr->data->replicas[tr->from]);
		lane_push(tr);
		if (!tr->behind) /* tells the engine, which may have put the transfer off while it was less urgent */
			tr->data->rt->engine->transfer(tr->data->rt, tr);
	}
}

void hd_transfer_await(struct hd_transfer *tr, struct hd_access *a)
{
	HD_HELD(&tr->data->rt->lock);
	hurry(tr, HD_AWAITED);
	a->next = NULL;
	if (tr->waiters)
		tr->last_waiter->next = a;
	else
		tr->waiters = a;
	tr->last_waiter = a;
	hd_access_task(a)->pending++;
}

/* --- The beginning of a transfer ---------------------------------------------------------------------------------- */

static struct hd_transfer *take_memory(heddle_runtime *rt)
{
	struct hd_transfer *tr = rt->spare;
	if (HD_LIKELY(tr != NULL))
		rt->spare = tr->next;
	else if (!(tr = malloc(sizeof *tr)))
		hd_no_memory("a transfer");
	return tr;
}

static void give_memory(heddle_runtime *rt, struct hd_transfer *tr)
{
	tr->next = rt->spare;
	rt->spare = tr;
}

void hd_transfers_close(heddle_runtime *rt)
{
	for (struct hd_transfer *tr; (tr = rt->spare);) {
		rt->spare = tr->next;
		free(tr);
	}
}

/* Makes a transfer over a link, into an allocated replica. It can move at once or, if `behind` is not NULL, after the
 * transfer `behind`. It pins its target until it ends. NULL: out of memory. */
static struct hd_transfer *begin_hop(heddle_data *d, struct hd_hop *hop, enum hd_reason reason, enum hd_urgency urgency,
                                     struct hd_transfer *behind)
{
	struct hd_transfer *tr = take_memory(d->rt);
	if (!tr)
		return NULL;
	unsigned from = hop->link->from, to = hop->link->to;
	*tr = (struct hd_transfer){.data = d,
	                           .hop = hop,
	                           .next = d->transfers,
	                           .behind = behind,
	                           .from = (uint16_t)from,
	                           .to = (uint16_t)to,
	                           .reason = (uint8_t)reason,
	                           .urgency = (uint8_t)urgency,
	                           .stale = d->n_writers != 0};
	if (tr->next)
		tr->next->before = tr;
	d->transfers = tr;
	d->n_transfers++;
	d->rt->count.transfers++;
	hd_replica_pin(&d->replicas[to]);
	d->replicas[to].incoming = 1;
	if (behind) {
		hurry(behind, urgency);
		lane_push(tr);
	} else {
		enter_lane(tr);
	}
	return tr;
}

/* Makes two transfers through main memory; *out is the second transfer. */
static int fetch_by_two_hops(heddle_data *d, unsigned from, unsigned to, enum hd_reason reason,
                             struct hd_transfer **out)
{
	enum hd_urgency urgency = reason == HD_DEMAND ? HD_AWAITED : HD_HINTED;
	struct hd_replica *middle = &d->replicas[0];
	if (!middle->ptr) {
		int status = hd_memory_try(middle, reason == HD_DEMAND);
		if (status)
			return status;
		hd_replica_unpin(middle);
	}
	const struct hd_hops *hops = d->rt->hops;
	struct hd_transfer *first = find_transfer(d, 0);
	if (!first)
		first = begin_hop(d, hd_hop(hops, from, 0), reason, urgency, NULL);
	*out = first ? begin_hop(d, hd_hop(hops, 0, to), reason, urgency, first) : NULL;
	return *out ? 0 : HEDDLE_E_MEMORY;
}

static int no_value(const heddle_data *d)
{
	char name[80];
	hd_data_name(d, name, sizeof name);
	return d->poisoned && d->extra && d->extra->cause
	           ? hd_error(HEDDLE_E_CANCELLED, "%s has lost its value: %s", name, d->extra->cause)
	           : hd_error(HEDDLE_E_STATE, "%s is read but nothing has ever written it", name);
}

int hd_fetch(heddle_data *d, unsigned to, enum hd_reason reason, struct hd_transfer **out)
{
	HD_HELD(&d->rt->lock);
	*out = find_transfer(d, to);
	if (*out)
		return 0;
	double time;
	int from = hd_cheapest_source(d, to, &time);
	if (from < 0)
		return no_value(d);
	/* Data of a lost node go through main memory, so that only the lost device takes part in the first copy: if
	 * this copy fails, it is certain which replica is lost. */
	struct hd_hop *hop = hd_hop(d->rt->hops, (unsigned)from, to);
	int two = !hop || (to && from && HD_UNLIKELY(d->rt->memories[from].lost));
	/* If the datum is read as a part of its parent, the whole parent is brought to main memory first; the access is
	 * then staged again, which copies the datum from there. */
	heddle_data *owner = HD_UNLIKELY(d->plan != NULL) && (two || to == 0) ? hd_window_owner(d) : d;
	if (owner != d)
		return hd_fetch(owner, 0, reason, out);
	if (two)
		return fetch_by_two_hops(d, (unsigned)from, to, reason, out);
	*out = begin_hop(d, hop, reason, reason == HD_DEMAND ? HD_AWAITED : HD_HINTED, NULL);
	return *out ? 0 : HEDDLE_E_MEMORY;
}

/* Brings to main memory the parent of a datum that is read as a part of it. */
static int write_back_owner(heddle_data *owner)
{
	struct hd_transfer *tr;
	int status = hd_fetch(owner, 0, HD_DEMAND, &tr);
	if (status < 0)
		return status;
	hurry(tr, HD_AWAITED);
	return HEDDLE_PENDING;
}

int hd_write_back(struct hd_replica *r, uint64_t leaves)
{
	heddle_data *d = hd_replica_data(r), *owner = hd_window_owner(d);
	if (HD_UNLIKELY(owner != d))
		return write_back_owner(owner);
	struct hd_replica *home = &d->replicas[0];
	if (!home->ptr) {
		int status = hd_memory_try(home, 0);
		if (status)
			return status == HD_LATER ? HEDDLE_PENDING : status;
		hd_replica_unpin(home);
	}
	struct hd_transfer *tr = find_transfer(d, 0);
	if (tr)
		hurry(tr, HD_AWAITED); /* an awaited transfer is not dropped, while a prefetch may be */
	else
		tr = begin_hop(d, hd_hop(d->rt->hops, r->node, 0), HD_WRITE_BACK, HD_AWAITED, NULL);
	if (!tr)
		return HEDDLE_E_MEMORY;
	/* a transfer to main memory from a lost node is under way: retry_all tries again after its end */
	if (tr->from != r->node)
		return HEDDLE_PENDING;
	if (!tr->evict) {
		tr->evict = 1;
		tr->leaves = leaves;
		d->rt->memories[r->node].leaving += leaves;
	}
	return 0;
}

/* --- The end of a transfer ---------------------------------------------------------------------------------------- */

static void unlink_transfer(struct hd_transfer *tr)
{
	if (tr->next)
		tr->next->before = tr->before;
	*(tr->before ? &tr->before->next : &tr->data->transfers) = tr->next;
	tr->data->n_transfers--;
	tr->data->rt->count.transfers--;
}

/* Called after the end of a transfer from a lost node: tries again all tasks that wait for room on any node, because
 * write-backs of replicas on other nodes may have waited for this transfer. */
static void retry_all(heddle_runtime *rt)
{
	for (size_t i = 0; i < rt->n_nodes; i++)
		rt->memories[i].retry = 1;
	rt->dispatch.retry |= HD_RETRY_MEMORY;
}

/* Marks a replica as valid, with the windows in it. A replica on another node that could not be evicted before the
 * value was in main memory can then be evicted. */
static void arrived(struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	hd_replica_set_valid(r, 1);
	if (HD_LIKELY(!hd_data_layout(d)))
		return;
	hd_windows_follow(r);
	if (r->node == 0)
		retry_all(d->rt);
}

/* Updates the replicas after a transfer: if it has succeeded, the target becomes valid; if it was for an eviction, the
 * source is freed. */
static void settle_replicas(struct hd_transfer *tr)
{
	heddle_data *d = tr->data;
	struct hd_replica *from = &d->replicas[tr->from], *to = &d->replicas[tr->to];
	to->incoming = 0;
	if (HD_UNLIKELY(d->rt->memories[from->node].lost))
		retry_all(d->rt);
	if (!tr->status && !HD_UNLIKELY(tr->stale))
		arrived(to);
	else if (HD_UNLIKELY(d->rt->memories[from->node].lost) && to->node == 0)
		hd_replica_lose(from, heddle_last_error());
	if (hd_transfer_pins_source(tr))
		hd_replica_unpin(from);
	hd_replica_unpin(to);
	if (!tr->evict)
		return;
	d->rt->memories[from->node].leaving -= tr->leaves;
	if (from->pins || tr->stale ||
	    d->rt->memories[from->node].lost) /* hd_memory_leave frees the replicas of a lost node */
		return;
	/* the only valid replica could not be written back: gives the value up, because another attempt would not make
	 * room either */
	if (from->valid && d->n_valid == 1)
		hd_data_spoil(d, hd_format("its only copy could not leave %s: %s",
		                           d->rt->platform->nodes[from->node].name, heddle_last_error()));
	hd_memory_free(from);
}

static void end_transfer(struct hd_transfer *tr)
{
	heddle_data *d = tr->data;
	heddle_runtime *rt = d->rt;
	tr->ended = 1;
	settle_replicas(tr);
	if (!tr->status) {
		rt->outcome.stats.transfers++;
		rt->outcome.stats.bytes_moved += d->bytes;
		tr->hop->transfers++;
		tr->hop->bytes += d->bytes;
		if (rt->recorder)
			hd_record_transfer(rt->recorder, tr);
	}
	/* Lets the second hops move that waited for this transfer; the second hops are transfers of the same datum. */
	for (struct hd_transfer *next = tr->to == 0 ? d->transfers : NULL, *after; next; next = after) {
		after = next->next;
		if (next->behind != tr)
			continue;
		lane_remove(next);
		if (tr->status) {
			next->status = tr->status;
			end_transfer(next);
			after = d->transfers; /* restarts, because the list has changed */
		} else {
			next->behind = NULL;
			enter_lane(next);
		}
	}
	unlink_transfer(tr); /* the last step, because a datum without transfers may be freed */
	hd_stage_arrived(tr);
	give_memory(rt, tr);
}

void hd_transfer_done(struct hd_transfer *tr)
{
	HD_HELD(&tr->data->rt->lock);
	heddle_data *d = tr->data;
	int orphan = d->orphan; /* read before end_transfer, which may free the datum unless it is an orphan */
	end_transfer(tr);
	if (HD_UNLIKELY(orphan && !d->transfers))
		hd_data_free(d);
}

void hd_transfer_discard(struct hd_transfer *tr)
{
	HD_HELD(&tr->data->rt->lock);
	if (!tr->moving)
		lane_remove(tr);
	unlink_transfer(tr);
	give_memory(tr->data->rt, tr);
}

/* --- Transfers that are dropped ----------------------------------------------------------------------------------- */

static int is_unawaited(const struct hd_transfer *tr)
{
	return !tr->moving && tr->urgency != HD_AWAITED;
}

void hd_free_if_void(struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	HD_HELD(&d->rt->lock);
	/* In main memory, windows of children may lie in the replica. */
	if (r->ptr && !r->pins && !r->valid && !r->user_buffer && (r->node || !hd_data_layout(d)))
		hd_memory_free(r);
}

/* Drops a transfer that has not begun to move and for which no task waits, and the second hops behind it. The target's
 * room is freed. If the source was to be evicted and is invalid, it is freed, too. */
static void drop(struct hd_transfer *tr)
{
	heddle_data *d = tr->data;
	struct hd_replica *from = &d->replicas[tr->from], *to = &d->replicas[tr->to];
	for (struct hd_transfer *next = tr->to == 0 ? d->transfers : NULL; next;) {
		int follows = next->behind == tr;
		if (follows)
			drop(next);
		next = follows ? d->transfers : next->next; /* restarts if the list has changed */
	}
	lane_remove(tr);
	if (hd_transfer_pins_source(tr))
		hd_replica_unpin(from);
	to->incoming = 0;
	hd_replica_unpin(to);
	hd_free_if_void(to);
	if (HD_UNLIKELY(tr->evict)) {
		d->rt->memories[tr->from].leaving -= tr->leaves;
		hd_free_if_void(from);
	}
	unlink_transfer(tr);
	give_memory(d->rt, tr);
}

/* Drops the transfers of the datum for which no task waits: all of them; or, with `source`, only the prefetches from
 * `source` that are not second hops. */
static void drop_some(heddle_data *d, const struct hd_replica *source)
{
	for (struct hd_transfer *tr = d->transfers; tr;) {
		int dropped = is_unawaited(tr) &&
		              (!source || (hd_transfer_is_hint(tr) && !tr->behind && tr->from == source->node));
		if (dropped)
			drop(tr);
		tr = dropped ? d->transfers : tr->next;
	}
}

void hd_drop_unawaited(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	drop_some(d, NULL);
}

void hd_drop_unmoved(heddle_data *d, struct hd_access **waiters)
{
	HD_HELD(&d->rt->lock);
	for (struct hd_transfer *tr = d->transfers; tr; tr = tr->next) {
		if (tr->moving || !tr->waiters)
			continue;
		tr->last_waiter->next = *waiters;
		*waiters = tr->waiters;
		tr->waiters = NULL;
	}
	for (struct hd_transfer *tr = d->transfers; tr;) {
		int dropped = !tr->moving;
		if (dropped)
			drop(tr);
		tr = dropped ? d->transfers : tr->next;
	}
}

void hd_drop_prefetches_from(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	drop_some(hd_replica_data(r), r);
}

void hd_transfer_rank(heddle_data *d, unsigned node, int rank)
{
	HD_HELD(&d->rt->lock);
	for (struct hd_transfer *tr = find_transfer(d, node); tr && hd_transfer_is_hint(tr); tr = tr->behind) {
		if (tr->rank >= rank)
			continue;
		lane_remove(tr);
		tr->rank = rank;
		lane_push(tr);
	}
}

int hd_drop_prefetch(heddle_data *d, unsigned node)
{
	HD_HELD(&d->rt->lock);
	struct hd_transfer *tr = find_transfer(d, node);
	if (!tr || !hd_transfer_is_hint(tr) || !is_unawaited(tr))
		return 0;
	drop(tr);
	return 1;
}

double hd_lane_free_at(const heddle_runtime *rt, unsigned node)
{
	HD_HELD(&rt->lock);
	double into = free_at(&rt->memories[node].in, rt->now), latest = into;
	for (size_t from = 1; node == 0 && from < rt->n_nodes; from++)
		latest = fmax(latest, free_at(&rt->memories[from].out, rt->now));
	return latest;
}

double hd_way_out_free_at(const heddle_data *d)
{
	const heddle_runtime *rt = d->rt;
	HD_HELD(&rt->lock);
	if (d->replicas[0].valid || !d->holders)
		return rt->now;
	return free_at(&rt->memories[__builtin_ctzll(d->holders)].out, rt->now);
}

double hd_transfer_due(const heddle_data *d, unsigned node)
{
	const struct hd_transfer *tr = find_transfer((heddle_data *)(uintptr_t)d, node);
	return tr ? tr->due : -HUGE_VAL;
}

/* The last prefetch in a list of the lane whose target is pinned by this prefetch only. NULL: there is none. */
static struct hd_transfer *last_prefetch(const struct hd_lane *lane, unsigned list)
{
	struct hd_transfer *tr = lane->last[list];
	while (tr && !(hd_transfer_is_hint(tr) && tr->data->replicas[tr->to].pins == 1))
		tr = tr->lane_prev;
	return tr;
}

int hd_drop_last_prefetch(heddle_runtime *rt, unsigned node)
{
	HD_HELD(&rt->lock);
	const struct hd_lane *lane = &rt->memories[node].in;
	struct hd_transfer *tr = last_prefetch(lane, HD_BEHIND);
	if (!tr)
		tr = last_prefetch(lane, HD_HINTED);
	if (tr)
		drop(tr);
	return tr != NULL;
}
