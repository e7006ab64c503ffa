/* Random machines for virtual time. */
#ifndef RANDOM_PLATFORMS_H
#define RANDOM_PLATFORMS_H

#include <heddle/platform.h>
#include "support.h"

/* A kernel for machines in virtual time. */
static inline int never(heddle_context *c)
{
	return heddle_fail(c, 1, "a kernel was called in virtual time");
}

static inline double between(struct hd_rng *rng, double low, double high)
{
	return low + (high - low) * hd_rng_uniform(rng);
}

/* An empty array of `n` elements; the test ends without memory. */
static inline void *array(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);
	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(3);
	}
	return p;
}

static inline void add_links(struct heddle_platform *p, struct hd_rng *rng)
{
	p->links = array(2 * p->n_nodes, sizeof *p->links);
	p->buses = array(1, sizeof *p->buses);
	p->buses[0] = (struct heddle_bus){strdup("pcie"), between(rng, 1000, 12000)};
	p->n_buses = p->n_nodes > 1;
	if (!p->n_buses)
		free(p->buses[0].name);
	int shared = chance(rng, 0.5);
	for (unsigned node = 1; node < p->n_nodes; node++) {
		for (unsigned way = 0; way < 2; way++) {
			struct heddle_link *link = &p->links[p->n_links++];
			*link = (struct heddle_link){way ? node : 0,      way ? 0 : node, between(rng, 500, 8000),
			                             between(rng, 0, 20), NULL,           0};
			link->buses = array(1, sizeof *link->buses);
			link->n_buses = shared ? 1 : 0;
		}
	}
}

static inline void add_kernels(struct heddle_platform *p, struct hd_rng *rng, unsigned n_codelets)
{
	p->kernels = array(p->n_classes * n_codelets, sizeof *p->kernels);
	for (unsigned c = 0; c < p->n_classes; c++) {
		for (unsigned k = 0; k < n_codelets; k++) {
			struct heddle_kernel_time *kernel = &p->kernels[p->n_kernels++];
			*kernel = (struct heddle_kernel_time){.codelet = hd_format("kernel%u", k), .class_id = c};
			kernel->table = array(2, sizeof *kernel->table);
			kernel->n_table = 2;
			kernel->table[0] = (struct heddle_kernel_point){1000, between(rng, 1, 50)};
			kernel->table[1] = (struct heddle_kernel_point){200000, between(rng, 60, 500)};
		}
	}
}

/* Streams of accelerators: four, two or one, and how they share the accelerator. */
static inline void add_streams(struct heddle_class *c, struct hd_rng *rng)
{
	static const unsigned streams[] = {4, 2, 1, 1};
	c->streams = streams[below(rng, 4)];
	if (c->streams == 1 || chance(rng, 0.3))
		return;
	c->sharing = array(c->streams, sizeof *c->sharing);
	c->sharing[0] = 1;
	for (unsigned n = 1; n < c->streams; n++)
		c->sharing[n] = c->sharing[n - 1] * between(rng, 0.4, 1);
}

/* Half of the accelerators have memory for `room` bytes only. Codelets are called kernel0, kernel1 ... */
static inline struct heddle_platform *make_platform(struct hd_rng *rng, unsigned n_codelets, uint64_t room)
{
	struct heddle_platform *p = array(1, sizeof *p);
	unsigned n_cpu = 1 + below(rng, 6), n_gpu = below(rng, 4);
	p->name = strdup("random");
	p->description = strdup("made by a random number generator");
	p->source = strdup("this test");
	p->n_nodes = 1 + n_gpu;
	p->nodes = array(p->n_nodes, sizeof *p->nodes);
	p->n_classes = n_gpu ? 2 : 1;
	p->classes = array(p->n_classes, sizeof *p->classes);
	p->classes[0] = (struct heddle_class){
	    .name = strdup("cpu"), .kind = strdup("cpu"), .cores = 1, .pipeline = 1, .streams = 1, .slowdown = 1};
	if (n_gpu) {
		p->classes[1] = (struct heddle_class){.name = strdup("gpu"),
		                                      .kind = strdup("cuda"),
		                                      .cores = 1,
		                                      .pipeline = 1 + below(rng, 3),
		                                      .slowdown = 1};
		add_streams(&p->classes[1], rng);
	}
	p->nodes[0] = (struct heddle_node){strdup("ram"), 0};
	p->n_workers = n_cpu + n_gpu;
	p->workers = array(p->n_workers, sizeof *p->workers);
	for (unsigned w = 0; w < p->n_workers; w++) {
		unsigned gpu = w < n_cpu ? 0 : w - n_cpu + 1;
		p->workers[w] = (struct heddle_worker){
		    .name = hd_format("w%u", w), .class_id = gpu ? 1 : 0, .node = gpu, .core = -1};
		if (gpu)
			p->nodes[gpu] = (struct heddle_node){hd_format("gpu%u", gpu), chance(rng, 0.5) ? room : 0};
	}
	add_links(p, rng);
	add_kernels(p, rng, n_codelets);
	return p;
}

#endif
