#include "machine/hops.h"
#include <math.h>
#include <stdlib.h>
#include "base/base.h"

static int by_ends(const void *pa, const void *pb)
{
	const struct heddle_link *a = ((const struct hd_hop *)pa)->link, *b = ((const struct hd_hop *)pb)->link;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* Writes a link into the tables of all pairs. */
static void tabulate(struct hd_hops *hops, const struct hd_hop *hop)
{
	if (!hops->latencies)
		return;
	size_t pair = hop->link->from * hops->platform->n_nodes + hop->link->to;
	hops->latencies[pair] = hop->closed ? (double)INFINITY : hop->latency;
	hops->rates[pair] = hop->us_per_byte;
}

void hd_hops_predict(struct hd_hops *hops)
{
	for (size_t i = 0; i < hops->n; i++) {
		hops->all[i].latency = hops->all[i].link->latency;
		hops->all[i].us_per_byte = 1 / heddle_link_rate(hops->platform, hops->all[i].link);
		tabulate(hops, &hops->all[i]);
	}
}

void hd_hop_set_closed(struct hd_hops *hops, struct hd_hop *hop, int closed)
{
	hops->n_missing += (size_t)closed - (size_t)hop->closed;
	hop->closed = closed;
	tabulate(hops, hop);
}

/* Makes the tables of all pairs, if they are small and accelerators have links between them. */
static int make_tables(struct hd_hops *hops)
{
	size_t n_nodes = hops->platform->n_nodes;
	hops->n_missing = n_nodes * (n_nodes - 1) - hops->n;
	if (n_nodes > HD_NODE_BITS || hops->n <= 2 * (n_nodes - 1))
		return 0;
	hops->latencies = calloc(n_nodes * n_nodes, sizeof *hops->latencies);
	hops->rates = calloc(n_nodes * n_nodes, sizeof *hops->rates);
	if (!hops->latencies || !hops->rates)
		return hd_no_memory("links");
	for (size_t i = 0; i < n_nodes * n_nodes; i++)
		hops->latencies[i] = INFINITY;
	return 0;
}

static int are_alike(const struct hd_hop *a, const struct hd_hop *b)
{
	return a->latency == b->latency && a->us_per_byte == b->us_per_byte;
}

/* Fills `alike` and `distinct`. */
static void find_alike(struct hd_hops *hops)
{
	hops->n_distinct = 0;
	for (unsigned node = 1; node < hops->platform->n_nodes; node++) {
		size_t i = 0;
		while (i < hops->n_distinct && !are_alike(&hops->all[hops->distinct[i] - 1], &hops->all[node - 1]))
			i++;
		if (i == hops->n_distinct)
			hops->distinct[hops->n_distinct++] = node;
		hops->alike[node] = hops->distinct[i];
	}
}

int hd_hops_open(const struct heddle_platform *platform, int may_change, struct hd_hops **out)
{
	struct hd_hops *hops = calloc(1, sizeof *hops);
	if (hops) {
		hops->all = calloc(platform->n_links + 1, sizeof *hops->all);
		hops->first = calloc(platform->n_nodes + 1, sizeof *hops->first);
		hops->into = calloc(platform->n_nodes, sizeof *hops->into);
		hops->alike = calloc(platform->n_nodes, sizeof *hops->alike);
		hops->distinct = calloc(platform->n_nodes, sizeof *hops->distinct);
	}
	if (!hops || !hops->all || !hops->first || !hops->into || !hops->alike || !hops->distinct) {
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
	for (size_t node = 0; node < platform->n_nodes; node++) {
		hops->first[node + 1] += hops->first[node];
		hops->alike[node] = (unsigned)node;
		if (node)
			hops->distinct[hops->n_distinct++] = (unsigned)node;
	}
	qsort(hops->all, hops->n, sizeof *hops->all, by_ends);
	int status = make_tables(hops);
	if (status) {
		hd_hops_close(hops);
		return status;
	}
	hd_hops_predict(hops);
	if (!may_change)
		find_alike(hops);
	*out = hops;
	return 0;
}

void hd_hops_close(struct hd_hops *hops)
{
	if (!hops)
		return;
	free(hops->all);
	free(hops->first);
	free(hops->into);
	free(hops->alike);
	free(hops->distinct);
	free(hops->latencies);
	free(hops->rates);
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
