/* Measures the links of this machine at the first start of a runtime, and sets latency and bandwidth of these links in
 * the runtime's platform.
 *
 * The figures are kept in the file links.platform beside the models, a platform file of which only nodes and links are
 * used. A link's figures are taken from there if the file has a link between nodes of the same names; otherwise the
 * link is measured, and the file is written again. */
#include <stdlib.h>
#include <string.h>
#include "start.h"
#include "flow/errands.h"
#include "machine/hops.h"
#include "perf/perf.h"
#include "state/core_lock.h"
#include "state/engine.h"
#include "state/process.h"

/* SMALL and LARGE: bytes of a copy. ROUNDS: repetitions of each copy. TRIES: a measurement is repeated, so many times
 * at most, if its small copies are not faster than its large ones, because another program had the processor. */
enum { SMALL = 64, LARGE = 1 << 22, ROUNDS = 5, TRIES = 10 };

struct probe {
	heddle_runtime *rt;
	struct heddle_copy copy;
};

/* Returns the time in us of the fastest of ROUNDS copies; -1: a copy failed. */
static double copy_once(struct probe *p, size_t bytes)
{
	p->copy.from.n[0] = p->copy.to.n[0] = bytes;
	double best = 0;
	for (int i = 0; i < ROUNDS; i++) {
		double start = hd_clock_us();
		if (p->rt->engine->copy(p->rt, &p->copy))
			return -1;
		double us = hd_clock_us() - start;
		if (i == 0 || us < best)
			best = us;
	}
	return best;
}

/* Sets a link's latency, the time of a small copy, and bandwidth, from how much longer a large copy takes. */
static int measure_link(heddle_runtime *rt, struct heddle_link *l)
{
	struct probe p = {.rt = rt};
	void *from = NULL, *to = NULL;
	hd_no_memory("measuring a link"); /* the message, unless the driver sets another one */
	int status = rt->engine->alloc(rt, l->from, LARGE, &from);
	if (!status)
		status = rt->engine->alloc(rt, l->to, LARGE, &to);
	if (!status) {
		if (l->from == 0)
			memset(from, 1, LARGE);
		p.copy = (struct heddle_copy){.from_node = l->from, .to_node = l->to};
		p.copy.from = p.copy.to = (struct heddle_part){.elem_size = 1, .n_dims = 1, .stride = {1}};
		p.copy.from.base = from;
		p.copy.to.base = to;
		double small = 0, large = 0;
		for (int i = 0; i < TRIES && large <= small && large >= 0; i++) {
			small = copy_once(&p, SMALL);
			large = small < 0 ? -1 : copy_once(&p, LARGE);
		}
		if (large > small) {
			l->latency = small;
			l->bandwidth = (LARGE - SMALL) / (large - small);
		}
	}
	if (from)
		rt->engine->free(rt, l->from, from, LARGE);
	if (to)
		rt->engine->free(rt, l->to, to, LARGE);
	return status;
}

/* The index of the node with this name; -1: none. Looks at index `likely` first. */
static int find_node(const struct heddle_platform *p, const char *name, unsigned likely)
{
	if (likely < p->n_nodes && strcmp(p->nodes[likely].name, name) == 0)
		return (int)likely;
	for (size_t i = 0; i < p->n_nodes; i++)
		if (strcmp(p->nodes[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* The figures of an earlier start; platform NULL: there are none. */
struct earlier {
	struct heddle_platform *platform; /* owned */
	struct hd_hops *hops;             /* owned */
};

/* Reads an earlier start's file. Absent or damaged, it is no error: all links are then measured, and it is written. */
static int open_earlier(struct earlier *old, const char *path)
{
	*old = (struct earlier){0};
	if (!path || heddle_platform_load(path, &old->platform))
		return 0;
	return hd_hops_open(old->platform, 1, &old->hops);
}

static void close_earlier(struct earlier *old)
{
	hd_hops_close(old->hops);
	heddle_platform_free(old->platform);
}

/* The earlier figures of the link whose nodes have the same names; NULL: there are none. */
static const struct heddle_link *known(const struct earlier *old, const struct heddle_platform *now,
                                       const struct heddle_link *l)
{
	const struct heddle_platform *p = old->platform;
	int from = p ? find_node(p, now->nodes[l->from].name, l->from) : -1;
	int to = p ? find_node(p, now->nodes[l->to].name, l->to) : -1;
	if (from < 0 || to < 0 || from == to)
		return NULL;
	const struct hd_hop *hop = hd_hop(old->hops, (unsigned)from, (unsigned)to);
	return hop ? hop->link : NULL;
}

/* Whether no setting limits the link. Only such links are measured: copies over an emulated link with a limit are made
 * to last as long as the platform says. */
static int free_running(const struct heddle_link *l)
{
	return l->bandwidth >= HEDDLE_MEMORY_BANDWIDTH && l->latency <= 0;
}

/* Whether the devices at the link's ends cannot use it. */
static int is_closed(const heddle_runtime *rt, const struct heddle_link *l)
{
	return l->from && l->to && !hd_hop_between(rt->hops, l->from, l->to);
}

/* Copies the runtime's platform without the closed links. The caller frees the copy. */
static int copy_platform(const heddle_runtime *rt, struct heddle_platform **out)
{
	int status = heddle_platform_copy(rt->platform, out);
	struct heddle_platform *p = *out;
	size_t left = 0;
	for (size_t i = 0; !status && i < p->n_links; i++)
		if (is_closed(rt, &p->links[i]))
			free(p->links[i].buses);
		else
			p->links[left++] = p->links[i];
	if (!status)
		p->n_links = left;
	return status;
}

/* Saves the figures of all links. A failure is no error: the file only makes the next start faster. */
static void save_links(const heddle_runtime *rt, const char *path)
{
	struct heddle_platform *p;
	if (hd_parents_make(path) || copy_platform(rt, &p))
		return;
	heddle_platform_save(p, path);
	heddle_platform_free(p);
}

int hd_measure_links(heddle_runtime *rt)
{
	const char *dir = rt->config.model_dir && rt->config.model_dir[0] ? rt->config.model_dir : NULL;
	if (dir && strcmp(dir, "none") == 0)
		return 0;
	char *default_dir = dir ? NULL : heddle_models_dir();
	char *path = dir || default_dir ? hd_format("%s/" HD_LINKS_FILE, dir ? dir : default_dir) : NULL;
	free(default_dir);
	struct earlier old;
	int status = open_earlier(&old, path), measured = 0;
	for (size_t i = 0; i < rt->platform->n_links && !status; i++) {
		struct heddle_link *l = &rt->platform->links[i];
		if (!free_running(l) || is_closed(rt, l))
			continue;
		const struct heddle_link *k = known(&old, rt->platform, l);
		if (k) {
			l->bandwidth = k->bandwidth;
			l->latency = k->latency;
			continue;
		}
		status = measure_link(rt, l);
		measured = 1;
	}
	if (!status && measured && path)
		save_links(rt, path);
	close_earlier(&old);
	free(path);
	return status;
}

static int rename_platform(struct heddle_platform *p, const char *name)
{
	char *copy = strdup(name), *source = strdup("measured on the machine itself by heddle platform calibrate");
	if (!copy || !source) {
		free(copy);
		free(source);
		return hd_no_memory("a platform");
	}
	free(p->name);
	free(p->source);
	p->name = copy;
	p->source = source;
	return 0;
}

int heddle_platform_measured(heddle_runtime *rt, const char *name, struct heddle_platform **out)
{
	if (!rt || !name || !out)
		return hd_error(HEDDLE_E_INVALID, "a measured platform needs a runtime, a name and a place to go");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	struct heddle_platform *p;
	int status = copy_platform(rt, &p);
	if (status)
		return status;
	status = rename_platform(p, name);
	hd_core_enter(rt);
	if (!status)
		status = hd_perf_to_platform(rt->perf, p);
	hd_core_leave(rt);
	if (status)
		heddle_platform_free(p);
	else
		*out = p;
	return status;
}
