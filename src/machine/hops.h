/* The links of a platform, found by the nodes that they join. Few pairs of nodes are joined: memory grows with the
 * links, not with the square of the nodes. Every node has a link from and to node 0 (heddle_platform_check sees to
 * it). */
#ifndef HD_MACHINE_HOPS_H
#define HD_MACHINE_HOPS_H

#include <stddef.h>
#include <heddle/platform.h>

struct hd_hop {
	const struct heddle_link *link; /* borrows */
	double latency, us_per_byte;    /* what is predicted from it */
};

struct hd_hops {
	struct hd_hop *all; /* owns; sorted by from, then to */
	size_t n;
	size_t *first; /* owns; per node: its first one in `all`; and where the last node's end */
};

/* The platform stays, and its links stay where they are, until hd_hops_close, whatever this returns.
 * HEDDLE_E_MEMORY. */
int hd_hops_open(struct hd_hops *hops, const struct heddle_platform *platform);
/* The figures of the links have changed. */
void hd_hops_predict(struct hd_hops *hops);
void hd_hops_close(struct hd_hops *hops);

/* The link between two nodes, neither of which is node 0; NULL: there is none. */
const struct hd_hop *hd_hop_between(const struct hd_hops *hops, unsigned from, unsigned to);

/* The link from one node to another; NULL: there is none, the way leads through node 0. */
static inline const struct hd_hop *hd_hop(const struct hd_hops *hops, unsigned from, unsigned to)
{
	if (from == 0)
		return &hops->all[to - 1]; /* it has one to every other */
	return to == 0 ? &hops->all[hops->first[from]] : hd_hop_between(hops, from, to);
}

#endif
