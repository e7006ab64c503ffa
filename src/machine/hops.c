#include "machine/hops.h"
#include <stdlib.h>
#include "base/base.h"

static int by_ends(const void *pa, const void *pb)
{
	const struct heddle_link *a = ((const struct hd_hop *)pa)->link, *b = ((const struct hd_hop *)pb)->link;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

int hd_hops_open(const struct heddle_platform *platform, struct hd_hops **out)
{
	struct hd_hops *hops = calloc(1, sizeof *hops);
	if (hops) {
		hops->all = calloc(platform->n_links + 1, sizeof *hops->all);
		hops->first = calloc(platform->n_nodes + 1, sizeof *hops->first);
		hops->into = calloc(platform->n_nodes, sizeof *hops->into);
	}
	if (!hops || !hops->all || !hops->first || !hops->into) {
		hd_hops_close(hops);
		return hd_no_memory("links");
	}
	hops->n = platform->n_links;
	hops->platform = platform;
	for (size_t i = 0; i < hops->n; i++) {
		hops->all[i].link = &platform->links[i];
		hops->first[platform->links[i].from + 1]++;
		hops->into[platform->links[i].to] |= (uint64_t)1 << platform->links[i].from % HD_NODE_BITS;
	}
	for (size_t node = 0; node < platform->n_nodes; node++)
		hops->first[node + 1] += hops->first[node];
	qsort(hops->all, hops->n, sizeof *hops->all, by_ends);
	hd_hops_predict(hops);
	*out = hops;
	return 0;
}

void hd_hops_predict(struct hd_hops *hops)
{
	for (size_t i = 0; i < hops->n; i++) {
		hops->all[i].latency = hops->all[i].link->latency;
		hops->all[i].us_per_byte = 1 / heddle_link_rate(hops->platform, hops->all[i].link);
	}
}

void hd_hops_close(struct hd_hops *hops)
{
	if (!hops)
		return;
	free(hops->all);
	free(hops->first);
	free(hops->into);
	free(hops);
}

struct hd_hop *hd_hop_between(const struct hd_hops *hops, unsigned from, unsigned to)
{
	size_t low = hops->first[from] + 1 /* the link to node 0 comes first */, high = hops->first[from + 1];
	/* the link's place if there are links to all other nodes */
	size_t guess = hops->first[from] + to - (to > from);
	if (guess < high && hops->all[guess].link->to == to)
		return hops->all[guess].closed ? NULL : &hops->all[guess];
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (hops->all[middle].link->to == to)
			return hops->all[middle].closed ? NULL : &hops->all[middle];
		if (hops->all[middle].link->to < to)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
