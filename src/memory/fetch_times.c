/* Predictions of how long it takes to bring data to nodes (fetch_times.h). A datum comes from the valid replica that is
 * nearest by them, over a link or, without one, through main memory. */
#include "fetch_times.h"
#include <math.h>
#include "machine/hops.h"
#include "state/data.h"
#include "state/memory.h"
#include "state/runtime.h"

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

/* If main memory has a valid replica, skips sources whose route goes through main memory. */
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
	/* Reads the handle before the replica: on most of many nodes the datum has none, and then the replica's cache
	 * line is not loaded. */
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

static int has_links_between_accelerators(const heddle_runtime *rt)
{
	return rt->hops->n > 2 * (rt->n_nodes - 1);
}

/* How a datum comes to the nodes that do not have it and will not get it: from main memory, or through main memory from
 * the only valid replica. */
struct way {
	double out;     /* us, until the datum is in main memory */
	uint64_t there; /* the nodes that have it or will get it, as bits; all, if there is no such way */
};

/* Accelerators have no links between them, or only main memory has the datum. */
static struct way way_to_most(const heddle_data *d)
{
	const heddle_runtime *rt = d->rt;
	unsigned from = d->replicas[0].valid || !d->holders ? 0 : (unsigned)__builtin_ctzll(d->holders);
	while (HD_UNLIKELY(!d->replicas[from].valid) && from + HD_NODE_BITS < rt->n_nodes)
		from += HD_NODE_BITS;
	int is_known = d->replicas[from].valid && (from == 0 || d->n_valid == 1) && !rt->dispatch.n_lost;
	if (HD_UNLIKELY(!is_known))
		return (struct way){0, UINT64_MAX};
	return (struct way){from ? hd_hop_time(hd_hop(rt->hops, from, 0), (double)d->bytes) : 0,
	                    d->holders | targets(d)};
}

/* The time, us, to bring the datum to a node by this way. */
static double time_by(const heddle_data *d, const struct way *way, unsigned to)
{
	return way->out + (to ? hd_hop_time(&d->rt->hops->all[to - 1], (double)d->bytes) : 0);
}

/* hd_fetch_time to a node whose bit is in way->there. A bit stands for several nodes, so this node need not have the
 * datum: then the datum comes by the way. */
static double time_by_or_none(const heddle_data *d, const struct way *way, unsigned to)
{
	return d->replicas[to].valid || d->replicas[to].incoming ? 0 : time_by(d, way, to);
}

/* Lets a datum that main memory does not have go through it from node `from`, where that has no link. */
static void add_ways_through_home(const heddle_data *d, unsigned from, double *ways)
{
	const struct hd_hops *hops = d->rt->hops;
	size_t n_nodes = d->rt->n_nodes;
	double bytes = (double)d->bytes, out = hd_hop_time(hd_hop(hops, from, 0), bytes);
	for (unsigned to = 1; to < n_nodes; to++) {
		double time = out + hd_hop_time(&hops->all[to - 1], bytes);
		if (isinf(hops->latencies[from * n_nodes + to]) && time < ways[to])
			ways[to] = time;
	}
}

/* Adds hd_fetch_time for each node. Goes by the links of each holder, not by the holders for each node. */
static void add_times_over_links(const heddle_data *d, double *us)
{
	const heddle_runtime *rt = d->rt;
	size_t n_nodes = rt->n_nodes;
	double ways[HD_NODE_BITS], bytes = (double)d->bytes;
	for (uint64_t left = d->holders; left; left &= left - 1) {
		unsigned from = (unsigned)__builtin_ctzll(left);
		const double *latencies = rt->hops->latencies + from * n_nodes,
		             *rates = rt->hops->rates + from * n_nodes;
		int first = left == d->holders;
		for (size_t to = 0; to < n_nodes; to++) {
			double time = latencies[to] + bytes * rates[to];
			ways[to] = first || time < ways[to] ? time : ways[to];
		}
		if (rt->hops->n_missing && !d->replicas[0].valid)
			add_ways_through_home(d, from, ways);
	}
	uint64_t here = d->holders | targets(d);
	for (size_t to = 0; to < n_nodes; to++, here >>= 1)
		us[to] += here & 1 ? 0 : ways[to];
}

void hd_fetch_times_add(const heddle_data *d, double *us)
{
	const heddle_runtime *rt = d->rt;
	unsigned n = (unsigned)rt->n_nodes;
	/* if accelerators have links between them, a datum that an accelerator holds may come over such a link */
	int is_linked = has_links_between_accelerators(rt) && d->n_valid > d->replicas[0].valid;
	if (is_linked && rt->hops->latencies && !rt->dispatch.n_lost) {
		add_times_over_links(d, us);
		return;
	}
	struct way way = is_linked ? (struct way){0, UINT64_MAX} : way_to_most(d);
	if (HD_UNLIKELY(way.there == UINT64_MAX)) {
		for (unsigned to = 0; to < n; to++)
			us[to] += hd_fetch_time(d, to);
		return;
	}
	us[0] += time_by_or_none(d, &way, 0);
	for (unsigned to = 1; to < n; to++) {
		way.there = way.there >> 1 | way.there << (HD_NODE_BITS - 1); /* now bit 0 stands for node `to` */
		us[to] += HD_UNLIKELY(way.there & 1) ? time_by_or_none(d, &way, to) : time_by(d, &way, to);
	}
}

/* --- Few nodes of many -------------------------------------------------------------------------------------------- */

int hd_fetch_times_pay(const heddle_runtime *rt)
{
	return !has_links_between_accelerators(rt) && 2 * rt->hops->n_distinct < rt->n_nodes;
}

/* The bits that stand for several nodes each, and that of main memory. */
static uint64_t shared_bits(const heddle_runtime *rt)
{
	size_t n = rt->n_nodes > HD_NODE_BITS ? rt->n_nodes - HD_NODE_BITS : 1; /* the lowest bits */
	return n < HD_NODE_BITS ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
}

/* Makes the nodes of a set nodes apart. */
static void set_apart(const heddle_runtime *rt, struct hd_fetch_times *times, uint64_t nodes)
{
	times->apart |= nodes;
	for (; nodes; nodes &= nodes - 1) {
		for (unsigned node = (unsigned)__builtin_ctzll(nodes); node < rt->n_nodes; node += HD_NODE_BITS) {
			times->us[node] = times->far[rt->hops->alike[node]];
			times->nodes[times->n++] = node;
		}
	}
}

void hd_fetch_times_open(const heddle_runtime *rt, struct hd_fetch_times *times)
{
	times->n = 0;
	times->apart = 0;
	times->shared = shared_bits(rt);
	times->far[0] = 0;
	for (size_t i = 0; i < rt->hops->n_distinct; i++)
		times->far[rt->hops->distinct[i]] = 0;
	set_apart(rt, times, bit_of(0));
}

int hd_fetch_times_join(const heddle_data *d, struct hd_fetch_times *times)
{
	const heddle_runtime *rt = d->rt;
	struct way way = way_to_most(d);
	if (HD_UNLIKELY(way.there == UINT64_MAX))
		return 0;
	uint64_t near = way.there | bit_of(0), lack = times->apart & ~near;
	set_apart(rt, times, near & ~times->apart);
	for (; lack; lack &= lack - 1)
		for (unsigned to = (unsigned)__builtin_ctzll(lack); to < rt->n_nodes; to += HD_NODE_BITS)
			times->us[to] += time_by(d, &way, to);
	/* the time is 0 for nodes that have a bit of their own in `near` */
	for (near &= times->shared; near; near &= near - 1)
		for (unsigned to = (unsigned)__builtin_ctzll(near); to < rt->n_nodes; to += HD_NODE_BITS)
			times->us[to] += time_by_or_none(d, &way, to);
	for (size_t i = 0; i < rt->hops->n_distinct; i++)
		times->far[rt->hops->distinct[i]] += time_by(d, &way, rt->hops->distinct[i]);
	return 1;
}
