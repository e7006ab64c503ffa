/* Makes platforms of the machine that the program runs on: its cores, and emulated accelerators. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "machine/machine.h"

/* Makes room for one more element at the end of an array of n and returns its address, zeroed, or NULL. The caller
 * counts it when it is complete. */
static void *extend(void *array, size_t n, size_t size)
{
	void *old;
	memcpy(&old, array, sizeof old);
	char *larger = realloc(old, (n + 1) * size);
	if (!larger)
		return NULL;
	memcpy(array, &larger, sizeof larger);
	return memset(larger + n * size, 0, size);
}

static int add_node(struct heddle_platform *p, char *name, uint64_t capacity)
{
	struct heddle_node *node = name ? extend(&p->nodes, p->n_nodes, sizeof *node) : NULL;
	if (!node) {
		free(name);
		return hd_no_memory("a memory node");
	}
	*node = (struct heddle_node){.name = name, .capacity = capacity};
	p->n_nodes++;
	return 0;
}

static int add_class(struct heddle_platform *p, const char *name, unsigned pipeline, double slowdown)
{
	struct heddle_class *c = extend(&p->classes, p->n_classes, sizeof *c);
	if (!c)
		return hd_no_memory("a class of workers");
	*c = (struct heddle_class){.name = strdup(name),
	                           .kind = strdup(name),
	                           .cores = 1,
	                           .pipeline = pipeline,
	                           .slowdown = slowdown,
	                           .streams = 1};
	p->n_classes++;
	return c->name && c->kind ? 0 : hd_no_memory("a class of workers");
}

static int add_worker(struct heddle_platform *p, char *name, const struct heddle_worker *like)
{
	struct heddle_worker *w = name ? extend(&p->workers, p->n_workers, sizeof *w) : NULL;
	if (!w) {
		free(name);
		return hd_no_memory("a worker");
	}
	*w = *like;
	w->name = name;
	p->n_workers++;
	return 0;
}

static int add_link(struct heddle_platform *p, unsigned from, unsigned to, double bandwidth, double latency)
{
	struct heddle_link *link = extend(&p->links, p->n_links, sizeof *link);
	if (!link)
		return hd_no_memory("a link");
	*link = (struct heddle_link){.from = from, .to = to, .bandwidth = bandwidth, .latency = latency};
	p->n_links++;
	return 0;
}

static int describe(struct heddle_platform *p, size_t cores)
{
	char host[256] = "";
	if (gethostname(host, sizeof host - 1) || !host[0])
		snprintf(host, sizeof host, "this machine");
	p->name = strdup("this");
	p->description = hd_format("%s: %zu core%s", host, cores, cores == 1 ? "" : "s");
	p->source = strdup("found by hwloc; no kernel times");
	return p->name && p->description && p->source ? 0 : hd_no_memory("a platform");
}

static int fill(struct heddle_platform *p, size_t cores, size_t n_cpu)
{
	int status = describe(p, cores);
	if (!status)
		status = add_node(p, strdup("ram"), 0);
	if (!status)
		status = add_class(p, "cpu", 1, 1);
	for (size_t i = 0; i < n_cpu && !status; i++)
		status = add_worker(p, hd_format("cpu%zu", i), &(struct heddle_worker){.core = (int)i});
	return status;
}

int heddle_platform_discover(int n_cpu, struct heddle_platform **out)
{
	if (!out)
		return hd_error(HEDDLE_E_INVALID, "heddle_platform_discover: out is NULL");
	struct hd_topology *topology;
	int status = hd_topology_open(&topology);
	if (status)
		return status;
	size_t cores = hd_topology_cores(topology);
	hd_topology_close(topology);
	if (n_cpu > 0 && (size_t)n_cpu > cores)
		return hd_error(
		    HEDDLE_E_INVALID,
		    "%d CPU workers are asked for, but only %zu core%s may be used here: ask for fewer, or for "
		    "-1, one per core (n_cpu, HEDDLE_NCPU, --ncpu)",
		    n_cpu, cores, cores == 1 ? "" : "s");
	struct heddle_platform *p = calloc(1, sizeof *p);
	if (!p)
		return hd_no_memory("a platform");
	status = fill(p, cores, n_cpu < 0 ? cores : (size_t)n_cpu);
	if (status)
		heddle_platform_free(p);
	else
		*out = p;
	return status;
}

/* --- Emulated accelerators ---------------------------------------------------------------------------------------- */

static int add_emulated(struct heddle_platform *p, unsigned number, const struct heddle_link *like, double slowdown)
{
	unsigned class_id = 0, node = (unsigned)p->n_nodes - 1;
	while (class_id < p->n_classes && strcmp(p->classes[class_id].name, "emulated") != 0)
		class_id++;
	int status = class_id < p->n_classes ? 0 : add_class(p, "emulated", 2, slowdown);
	if (!status)
		status = add_link(p, 0, node, like->bandwidth, like->latency);
	if (!status)
		status = add_link(p, node, 0, like->bandwidth, like->latency);
	if (!status)
		status = add_worker(p, hd_format("emulated%u", number),
		                    &(struct heddle_worker){.class_id = class_id, .node = node, .core = -1});
	return status;
}

/* Undoes a change that failed half way: removes what is beyond the counts from before it. */
static void cut_back(struct heddle_platform *p, const struct heddle_platform *before)
{
	while (p->n_workers > before->n_workers)
		free(p->workers[--p->n_workers].name);
	p->n_links = before->n_links; /* the links just added own nothing */
	while (p->n_classes > before->n_classes) {
		free(p->classes[--p->n_classes].name);
		free(p->classes[p->n_classes].kind);
	}
	while (p->n_nodes > before->n_nodes)
		free(p->nodes[--p->n_nodes].name);
}

/* The number for the name of the next emulated accelerator: larger than those of all others, because names must
 * differ. */
static unsigned free_number(const struct heddle_platform *p)
{
	unsigned number = p->next_emulated;
	for (size_t i = 0; i < p->n_nodes && !p->next_emulated; i++) {
		unsigned used;
		if (sscanf(p->nodes[i].name, "emulated%u", &used) == 1 && used >= number)
			number = used + 1;
	}
	return number;
}

int heddle_platform_add_emulated(struct heddle_platform *platform, uint64_t capacity, double bandwidth, double latency,
                                 double slowdown)
{
	if (!platform || platform->n_nodes == 0)
		return hd_error(HEDDLE_E_INVALID,
		                "heddle_platform_add_emulated: the platform is NULL or has no node 0");
	if (!isfinite(bandwidth) || bandwidth < 0 || !isfinite(latency) || latency < 0)
		return hd_error(HEDDLE_E_INVALID,
		                "an emulated accelerator's link has %g MB/s and %g us; neither may be below 0",
		                bandwidth, latency);
	if (!isfinite(slowdown) || slowdown < 1)
		return hd_error(HEDDLE_E_INVALID, "an emulated accelerator's slowdown is %g; it must be 1 or more",
		                slowdown);
	struct heddle_link like = {.bandwidth = bandwidth > 0 ? bandwidth : HEDDLE_MEMORY_BANDWIDTH,
	                           .latency = latency};
	struct heddle_platform before = *platform;
	unsigned number = free_number(platform);
	int status = add_node(platform, hd_format("emulated%u", number), capacity);
	if (!status)
		status = add_emulated(platform, number, &like, slowdown);
	if (status)
		cut_back(platform, &before);
	else
		platform->next_emulated = number + 1;
	return status;
}
