/* Predicted times of transfers, and the node from which a datum comes fastest. */
#include "machine/hops.h"
#include "state/data.h"
#include "state/memory.h"
#include "state/runtime.h"
#include "transfers.h"

static double route_time(const struct hd_hops *hops, unsigned from, unsigned to, double bytes)
{
	const struct hd_hop *hop = hd_hop(hops, from, to);
	if (hop)
		return hd_hop_time(hop, bytes);
	return hd_hop_time(hd_hop(hops, from, 0), bytes) + hd_hop_time(hd_hop(hops, 0, to), bytes);
}

/* us, added to the time from a lost node, so that a lost node is the source only if there is no other source. */
static const double LAST_RESORT_US = 1e15;

/* The predicted time, us, of a copy of the datum from node `from` to node `to`. */
static double source_time(const heddle_data *d, const struct hd_hops *hops, unsigned from, unsigned to)
{
	double time = route_time(hops, from, to, (double)d->bytes);
	return HD_UNLIKELY(d->rt->memories[from].lost) ? time + LAST_RESORT_US : time;
}

int hd_cheapest_source(const heddle_data *d, unsigned to, double *best_time)
{
	const heddle_runtime *rt = d->rt;
	const struct hd_hops *hops = rt->hops;
	uint64_t left = d->holders & (d->replicas[0].valid ? hops->into[to] : UINT64_MAX);
	int best = -1;
	*best_time = 0;
	for (; left; left &= left - 1) {
		for (unsigned from = (unsigned)__builtin_ctzll(left); from < rt->n_nodes; from += HD_NODE_BITS) {
			if (!d->replicas[from].valid || from == to)
				continue;
			double time = source_time(d, hops, from, to);
			if (best < 0 || time < *best_time || (time == *best_time && (int)from < best)) {
				best = (int)from;
				*best_time = time;
			}
		}
	}
	return best;
}

double hd_fetch_time(const heddle_data *d, unsigned node)
{
	/* Tests bits and counters in the handle first, because only few of many nodes have a replica. */
	int is_holder = (int)(d->holders >> node % HD_NODE_BITS & 1);
	if ((is_holder || d->n_transfers) && (d->replicas[node].valid || d->replicas[node].incoming))
		return 0;
	double time;
	hd_cheapest_source(d, node, &time);
	return time;
}

static uint64_t bit_of(unsigned node)
{
	return (uint64_t)1 << node % HD_NODE_BITS;
}

/* The nodes to which a transfer of the datum is under way, as bits of one word. */
static uint64_t targets(const heddle_data *d)
{
	uint64_t bits = 0;
	for (const struct hd_transfer *tr = d->transfers; tr; tr = tr->next)
		bits |= bit_of(tr->to);
	return bits;
}

/* For most nodes the time is computed once: the datum comes from main memory, or through main memory from the only
 * valid replica. hd_fetch_time computes it for a node that may have or get a replica, or a link from a replica. */
void hd_fetch_times_add(const heddle_data *d, double *us)
{
	const heddle_runtime *rt = d->rt;
	const struct hd_hop *hops = rt->hops->all;
	unsigned from = d->replicas[0].valid || !d->holders ? 0 : (unsigned)__builtin_ctzll(d->holders);
	int is_known = d->replicas[from].valid && (from == 0 || d->n_valid == 1) && !rt->dispatch.n_lost;
	double bytes = (double)d->bytes;
	double out = HD_LIKELY(is_known) && from ? hd_hop_time(hd_hop(rt->hops, from, 0), bytes) : 0;
	/* if accelerators have links between them, a datum that an accelerator holds may come over such a link */
	int is_linked = rt->hops->n > 2 * (rt->n_nodes - 1) && d->n_valid > d->replicas[0].valid;
	uint64_t asked = HD_UNLIKELY(is_linked || !is_known) ? UINT64_MAX : d->holders | targets(d);
	us[0] += hd_fetch_time(d, 0);
	for (unsigned to = 1, n = (unsigned)rt->n_nodes; to < n; to++) {
		asked = asked >> 1 | asked << (HD_NODE_BITS - 1); /* now bit 0 stands for node `to` */
		if (HD_UNLIKELY(asked & 1))
			us[to] += hd_fetch_time(d, to);
		else
			us[to] += out + hd_hop_time(&hops[to - 1], bytes);
	}
}
