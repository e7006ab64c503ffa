/* The links of a platform, sorted, so that the link between two nodes is found quickly. Few pairs of nodes have a link,
 * so a table of all pairs would be large and almost empty. Every other node has a link from and to node 0:
 * heddle_platform_check makes sure of it. */
#ifndef HD_MACHINE_HOPS_H
#define HD_MACHINE_HOPS_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/platform.h>

struct hd_hop {
	const struct heddle_link *link; /* borrows */
	double latency, us_per_byte;    /* for predictions: us; us per byte */
	/* 1: the devices cannot use the link, and data go through node 0. Set while the runtime starts, and with the
	 * core lock held when a device is lost. */
	int closed;
	uint64_t transfers, bytes; /* number of transfers, and bytes moved, since the start; guarded by the core lock */
};

struct hd_hops {
	struct hd_hop *all; /* owns; sorted by from, then to */
	size_t n;
	const struct heddle_platform *platform; /* borrows */
	size_t *first;  /* owns; per node: index in `all` of the first link from the node; and one more entry: n */
	uint64_t *into; /* owns; per node: the set of nodes that have a link to it, closed links included */
	/* owns; per node: the first node, other than 0, to which the link from node 0 is predicted as fast */
	unsigned *alike;
	unsigned *distinct; /* owns; the nodes other than 0 that `alike` names */
	size_t n_distinct;
	/* Own; NULL unless accelerators have links between them and there are at most HD_NODE_BITS nodes: `latency` and
	 * `us_per_byte` of the link from one node to another, at from * number of nodes + to. The latency is INFINITY
	 * if there is no such link, or it is closed. */
	double *latencies, *rates;
	size_t n_missing; /* number of pairs of different nodes, in this order, without an open link */
};

/* Sorts the platform's links. The platform and its array of links must not move until hd_hops_close. `may_change`: 0 if
 * latencies and bandwidths of the links will not change; otherwise each node is alike to itself only.
 * HEDDLE_E_MEMORY. */
int hd_hops_open(const struct heddle_platform *platform, int may_change, struct hd_hops **out);
/* Computes `latency` and `us_per_byte` again; call it when latencies or bandwidths of the links have changed. */
void hd_hops_predict(struct hd_hops *hops);
/* Sets `closed` of a link. The caller holds the core lock, if there are threads. */
void hd_hop_set_closed(struct hd_hops *hops, struct hd_hop *hop, int closed);
void hd_hops_close(struct hd_hops *hops); /* `hops` may be NULL */

/* us: the predicted time of a transfer over the link. */
static inline double hd_hop_time(const struct hd_hop *hop, double bytes)
{
	return hop->latency + bytes * hop->us_per_byte;
}

/* The link from one node to another, both other than node 0; NULL: there is none, or it is closed. */
struct hd_hop *hd_hop_between(const struct hd_hops *hops, unsigned from, unsigned to);

/* The link from one node to another; NULL: there is none, and data must go through node 0. */
static inline struct hd_hop *hd_hop(const struct hd_hops *hops, unsigned from, unsigned to)
{
	if (from == 0)
		return &hops->all[to - 1]; /* node 0 has a link to every other node */
	return to == 0 ? &hops->all[hops->first[from]] : hd_hop_between(hops, from, to);
}

#endif
