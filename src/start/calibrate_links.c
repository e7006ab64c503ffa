/* Measures the links of a machine more thoroughly than the start of a runtime can: with larger copies, and with many
 * links in use at once. `heddle platform calibrate` calls it. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "start.h"
#include "machine/hops.h"
#include "machine/machine.h"
#include "state/engine.h"
#include "state/runtime.h"

/* bytes of copies: for latency, the first large one, the largest; repetitions of each copy */
enum { SMALL = 64, FIRST = 1 << 16, LARGEST = 1 << 25, ROUNDS = 5 };
static const double LASTS = 5e3;    /* us that a large copy should take */
static const double TOGETHER = 4e4; /* us for which links are used together, three copies at least */

/* What is needed for copies over one link. */
struct probe {
	heddle_runtime *rt;
	unsigned from_node, to_node;
	void *from, *to; /* owned */
	size_t bytes;
	double latency; /* us, measured while the other links are idle */
	/* The fields below are used only while several links are measured at the same time. */
	pthread_t thread;
	double rate; /* MB/s reached, not counting the latency of each copy */
	int status;
	struct hd_sentence words; /* the message of an error, for the thread that waits for this one */
};

static int copy(const struct probe *p, size_t bytes)
{
	struct heddle_part part = {.elem_size = 1, .n_dims = 1, .stride = {1}, .n = {bytes}};
	struct heddle_copy c = {.from_node = p->from_node, .to_node = p->to_node, .from = part, .to = part};
	c.from.base = p->from;
	c.to.base = p->to;
	return p->rt->engine->copy(p->rt, &c);
}

/* Makes ROUNDS copies of `bytes`, and sets *us to the time of the fastest. */
static int copy_often(const struct probe *p, size_t bytes, double *us)
{
	int status = 0;
	for (int i = 0; i < ROUNDS && !status; i++) {
		double start = hd_clock_us();
		status = copy(p, bytes);
		double took = hd_clock_us() - start;
		if (i == 0 || took < *us)
			*us = took;
	}
	return status;
}

static void close_probe(struct probe *p)
{
	const struct hd_engine *engine = p->rt->engine;
	if (p->from)
		engine->free(p->rt, p->from_node, p->from, p->bytes);
	if (p->to)
		engine->free(p->rt, p->to_node, p->to, p->bytes);
	p->from = p->to = NULL;
}

/* Allocates memory at both ends of the link for copies of `bytes`; for copies of fewer bytes if memory is short. */
static int open_probe(struct probe *p, size_t bytes)
{
	const struct hd_engine *engine = p->rt->engine;
	for (p->bytes = bytes; p->bytes >= FIRST; p->bytes /= 2) {
		int failed = engine->alloc(p->rt, p->from_node, p->bytes, &p->from) ||
		             engine->alloc(p->rt, p->to_node, p->bytes, &p->to);
		if (!failed) {
			if (p->from_node == 0)
				memset(p->from, 1, p->bytes);
			if (p->to_node == 0)
				memset(p->to, 1, p->bytes);
			return 0;
		}
		close_probe(p);
	}
	return hd_no_memory("measuring a link");
}

/* Measures a link, others being idle: latency is the time of a small copy, bandwidth follows from a larger one. */
static int measure(struct probe *p, struct heddle_link *l)
{
	double small, large;
	p->from_node = l->from;
	p->to_node = l->to;
	int status = open_probe(p, FIRST);
	if (!status)
		status = copy_often(p, SMALL, &small);
	if (!status)
		status = copy_often(p, FIRST, &large);
	if (status)
		return status;
	double bytes = large > small ? LASTS * FIRST / (large - small) : LARGEST;
	if (bytes > 2 * FIRST) {
		close_probe(p);
		status = open_probe(p, bytes < LARGEST ? (size_t)bytes : LARGEST);
		if (!status)
			status = copy_often(p, p->bytes, &large);
	}
	if (!status && large > small) {
		l->latency = p->latency = small;
		l->bandwidth = (double)(p->bytes - SMALL) / (large - small);
	}
	return status;
}

/* --- Several links at once ---------------------------------------------------------------------------------------- */

static void *use_link(void *arg)
{
	struct probe *p = arg;
	size_t n = 0;
	double start = hd_clock_us(), us = 0;
	for (; !p->status && (us < TOGETHER || n < 3); us = hd_clock_us() - start, n++)
		p->status = copy(p, p->bytes);
	us -= (double)n * p->latency;
	p->rate = us > 0 ? (double)n * (double)p->bytes / us : INFINITY;
	if (p->status)
		hd_error_keep(&p->words);
	return NULL;
}

/* Uses n links at the same time; *out is the sum of their rates in MB/s. The threads start one after the other, but
 * quickly compared with TOGETHER. */
static int use_once(struct probe *probes, const size_t *links, size_t n, double *out)
{
	size_t started = 0;
	for (; started < n; started++) {
		struct probe *p = &probes[links[started]];
		p->status = 0;
		if (pthread_create(&p->thread, NULL, use_link, p))
			break;
	}
	int status = started == n ? 0 : hd_error(HEDDLE_E_MEMORY, "cannot start a thread that measures a link");
	*out = 0;
	for (size_t i = 0; i < started; i++) {
		struct probe *p = &probes[links[i]];
		pthread_join(p->thread, NULL);
		*out += p->rate;
		if (p->status && !status) {
			status = p->status;
			hd_error_give_back(&p->words);
		}
	}
	return status;
}

/* Measures the sum of the rates of n links in use at once, several times; the highest one counts, because other
 * programs can only slow the copies down. */
static int use_links(const size_t *links, size_t n, double *out, void *arg)
{
	int status = 0;
	*out = 0;
	for (int i = 0; i < ROUNDS && !status; i++) {
		double reached;
		status = use_once(arg, links, n, &reached);
		*out = !status && reached > *out ? reached : *out;
	}
	return status;
}

/* --- All links ---------------------------------------------------------------------------------------------------- */

/* Removes from `p` the links that the devices cannot use. */
static void drop_closed(const heddle_runtime *rt, struct heddle_platform *p)
{
	size_t left = 0;
	for (size_t i = 0; i < p->n_links; i++) {
		if (hd_hop(rt->hops, p->links[i].from, p->links[i].to))
			p->links[left++] = p->links[i];
		else
			free(p->links[i].buses);
	}
	p->n_links = left;
}

int hd_calibrate_links(heddle_runtime *rt, struct heddle_platform *platform)
{
	drop_closed(rt, platform);
	struct probe *probes = calloc(platform->n_links + 1, sizeof *probes);
	int status = probes ? 0 : hd_no_memory("measuring links");
	for (size_t i = 0; i < platform->n_links && probes; i++)
		probes[i].rt = rt;
	for (size_t i = 0; i < platform->n_links && !status; i++)
		status = measure(&probes[i], &platform->links[i]);
	if (!status)
		status = hd_buses_find(platform, use_links, probes);
	for (size_t i = 0; i < platform->n_links && probes; i++)
		close_probe(&probes[i]);
	free(probes);
	return status;
}
