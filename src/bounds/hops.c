/* Computes how long data take at least from a worker of one class to a worker of another. The classes are known, not
 * the workers; so the fastest link counts, and on a way of several links the fastest that leaves the first class and
 * the fastest that enters the last one. */
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "bounds/near.h"

/* Marks the memory of each class's workers; has[n_classes]: main memory. */
static void mark_nodes(const struct heddle_platform *p, char *has)
{
	for (size_t i = 0; i < p->n_workers; i++)
		has[p->workers[i].class_id * p->n_nodes + p->workers[i].node] = 1;
	has[p->n_classes * p->n_nodes] = 1;
}

static void lower(struct hd_way *way, const struct hd_way *by)
{
	way->latency = fmin(way->latency, by->latency);
	way->per_byte = fmin(way->per_byte, by->per_byte);
}

struct ends {
	struct hd_way *out, *in; /* own; per class and main memory: the fastest link from there, and to there */
};

static void take_link(struct hd_ways *ways, const struct heddle_platform *p, const struct heddle_link *link,
                      const char *has, struct ends *ends)
{
	size_t n = ways->n_classes;
	const struct hd_way way = {link->latency, 1 / heddle_link_rate(p, link)};
	for (size_t c = 0; c <= n; c++) {
		if (has[c * p->n_nodes + link->to])
			lower(&ends->in[c], &way);
		if (!has[c * p->n_nodes + link->from])
			continue;
		lower(&ends->out[c], &way);
		for (size_t to = 0; to < n; to++)
			if (has[to * p->n_nodes + link->to])
				lower(&ways->direct[c * n + to], &way);
	}
}

static int share_memory(const struct heddle_platform *p, const char *has, size_t a, size_t b)
{
	for (size_t node = 0; node < p->n_nodes; node++)
		if (has[a * p->n_nodes + node] && has[b * p->n_nodes + node])
			return 1;
	return 0;
}

static void fill(struct hd_ways *ways, const struct heddle_platform *p, const char *has, struct ends *ends)
{
	size_t n = ways->n_classes;
	for (size_t i = 0; i < (n + 1) * n; i++)
		ways->direct[i] = ways->by_two[i] = (struct hd_way){INFINITY, INFINITY};
	for (size_t c = 0; c <= n; c++)
		ends->out[c] = ends->in[c] = (struct hd_way){INFINITY, INFINITY};
	for (size_t i = 0; i < p->n_links; i++)
		take_link(ways, p, &p->links[i], has, ends);
	for (size_t i = 0; i < (n + 1) * n; i++) {
		const struct hd_way *out = &ends->out[i / n], *in = &ends->in[i % n];
		ways->by_two[i] = (struct hd_way){out->latency + in->latency, out->per_byte + in->per_byte};
		if (share_memory(p, has, i / n, i % n) ||
		    (isinf(ways->direct[i].latency) && isinf(ways->by_two[i].latency)))
			ways->direct[i] = (struct hd_way){0, 0};
	}
}

int hd_ways_init(struct hd_ways *ways, const struct heddle_platform *platform)
{
	size_t n = platform->n_classes;
	*ways = (struct hd_ways){.n_classes = n,
	                         .direct = malloc(((n + 1) * n + 1) * sizeof *ways->direct),
	                         .by_two = malloc(((n + 1) * n + 1) * sizeof *ways->by_two)};
	char *has = calloc((n + 1) * platform->n_nodes + 1, 1);
	struct ends ends = {malloc((n + 1) * sizeof *ends.out), malloc((n + 1) * sizeof *ends.in)};
	int status = ways->direct && ways->by_two && has && ends.out && ends.in ? 0 : hd_no_memory("bounds");
	if (!status) {
		mark_nodes(platform, has);
		fill(ways, platform, has, &ends);
	}
	free(has);
	free(ends.out);
	free(ends.in);
	return status;
}

void hd_ways_free(struct hd_ways *ways)
{
	free(ways->direct);
	free(ways->by_two);
}
