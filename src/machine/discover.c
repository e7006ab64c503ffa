/* Makes platforms of the machine that the program runs on: its cores, and accelerators, real and emulated. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "machine/machine.h"

/* Makes room in an array of n elements for one more. Returns the address of the new element, zeroed; NULL: out of
 * memory. The caller adds 1 to n when the element is complete. */
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

static int add_class(struct heddle_platform *p, const char *name, const struct heddle_class *like)
{
	struct heddle_class *c = extend(&p->classes, p->n_classes, sizeof *c);
	if (!c)
		return hd_no_memory("a class of workers");
	*c = *like;
	c->name = strdup(name);
	c->kind = strdup(like->kind);
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

int hd_platform_add_link(struct heddle_platform *p, unsigned from, unsigned to, double bandwidth, double latency)
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

static int fill(struct heddle_platform *p, const struct hd_topology *topology, const unsigned char *taken, size_t n_cpu)
{
	int status = describe(p, hd_topology_cores(topology));
	if (!status)
		status = add_node(p, strdup("ram"), 0);
	if (!status)
		status = add_class(
		    p, "cpu",
		    &(struct heddle_class){.kind = "cpu", .cores = 1, .pipeline = 1, .slowdown = 1, .streams = 1});
	for (size_t core = 0, i = 0; i < n_cpu && !status; core++)
		if (!taken || !taken[core])
			status = add_worker(p, hd_format("cpu%zu", i++), &(struct heddle_worker){.core = (int)core});
	return status ? status : hd_topology_levels(topology, p);
}

int hd_platform_of_cores(const struct hd_topology *topology, const unsigned char *taken, int n_cpu,
                         struct heddle_platform **out)
{
	size_t cores = hd_topology_cores(topology), left = cores;
	for (size_t i = 0; taken && i < cores; i++)
		left -= taken[i] != 0;
	if (n_cpu > 0 && (size_t)n_cpu > left)
		return hd_error(
		    HEDDLE_E_INVALID,
		    "%d CPU workers are asked for, but only %zu core%s may be used here: ask for fewer, or for "
		    "-1, one per core (n_cpu, HEDDLE_NCPU, --ncpu)",
		    n_cpu, left, left == 1 ? "" : "s");
	struct heddle_platform *p = calloc(1, sizeof *p);
	if (!p)
		return hd_no_memory("a platform");
	int status = fill(p, topology, taken, n_cpu < 0 ? left : (size_t)n_cpu);
	if (status)
		heddle_platform_free(p);
	else
		*out = p;
	return status;
}

int heddle_platform_discover(int n_cpu, struct heddle_platform **out)
{
	if (!out)
		return hd_error(HEDDLE_E_INVALID, "heddle_platform_discover: out is NULL");
	struct hd_topology *topology;
	int status = hd_topology_open(0, &topology);
	if (status)
		return status;
	status = hd_platform_of_cores(topology, NULL, n_cpu, out);
	hd_topology_close(topology);
	return status;
}

/* --- Accelerators ------------------------------------------------------------------------------------------------- */

/* Undoes an addition that failed: removes the elements that were added since `before` was copied from the platform. */
static void cut_back(struct heddle_platform *p, const struct heddle_platform *before)
{
	while (p->n_workers > before->n_workers)
		free(p->workers[--p->n_workers].name);
	p->n_links = before->n_links; /* the links added own nothing */
	while (p->n_classes > before->n_classes) {
		free(p->classes[--p->n_classes].name);
		free(p->classes[p->n_classes].kind);
	}
	while (p->n_nodes > before->n_nodes)
		free(p->nodes[--p->n_nodes].name);
}

/* Finds the class with this name; if there is none, adds one that is a copy of `like`. */
static int find_class(struct heddle_platform *p, const char *name, const struct heddle_class *like, unsigned *id)
{
	for (*id = 0; *id < p->n_classes; ++*id)
		if (strcmp(p->classes[*id].name, name) == 0)
			return 0;
	return add_class(p, name, like);
}

int hd_platform_add(struct heddle_platform *p, const struct hd_accelerator *a)
{
	struct heddle_platform before = *p;
	struct heddle_worker worker = {.node = (unsigned)p->n_nodes, .core = a->core, .device = a->number};
	char *kind = (char *)(uintptr_t)a->kind; /* the class only copies the text */
	int status = add_node(p, hd_format("%s%u", a->kind, a->number), a->capacity);
	if (!status)
		status = find_class(
		    p, a->class_name,
		    &(struct heddle_class){
		        .kind = kind, .cores = 1, .pipeline = 2, .slowdown = a->slowdown, .streams = a->streams},
		    &worker.class_id);
	if (!status)
		status = hd_platform_add_link(p, 0, worker.node, a->bandwidth, a->latency);
	if (!status)
		status = hd_platform_add_link(p, worker.node, 0, a->bandwidth, a->latency);
	if (!status)
		status = add_worker(p, hd_format("%s%u", a->kind, a->number), &worker);
	if (status)
		cut_back(p, &before);
	return status;
}

char *hd_device_class(const char *kind, const char *name)
{
	char *text = hd_format("%s-%s", kind, name), *to = text;
	for (const char *from = text; text && *from; from++)
		if (isalnum((unsigned char)*from))
			*to++ = (char)hd_lower(*from);
		else if (to > text && to[-1] != '-')
			*to++ = '-';
	while (to > text && to[-1] == '-')
		to--;
	if (text)
		*to = '\0';
	return text;
}

/* The number for the name of the next emulated accelerator: larger than the numbers of all other emulated accelerators,
 * because names must differ. */
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
	struct hd_accelerator emulated = {
	    .class_name = "emulated",
	    .kind = "emulated",
	    .number = free_number(platform),
	    .capacity = capacity,
	    .bandwidth = bandwidth > 0 ? bandwidth : HEDDLE_MEMORY_BANDWIDTH,
	    .latency = latency,
	    .slowdown = slowdown,
	    .streams = 1,
	    .core = -1,
	};
	int status = hd_platform_add(platform, &emulated);
	if (!status)
		platform->next_emulated = emulated.number + 1;
	return status;
}
