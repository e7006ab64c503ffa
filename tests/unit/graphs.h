/* Graphs made by hand or by chance: what the tests of src/graph share. */
#ifndef TEST_GRAPHS_H
#define TEST_GRAPHS_H

#include <math.h>
#include <stdio.h>
#include "../chance.h"
#include "taskgraph/graph.h"
#include "program.h"

static const uint32_t all_modes[] = {HEDDLE_R, HEDDLE_W, HEDDLE_RW, HEDDLE_SCRATCH, HEDDLE_REDUX, HEDDLE_COMMUTE};

static inline struct hd_rng rng_of(uint64_t seed)
{
	struct hd_rng rng;
	hd_rng_seed(&rng, seed);
	return rng;
}

/* Up to `n_data` different data with any mode. */
static inline void add_random_accesses(struct hd_build *b, struct hd_rng *rng, uint32_t task, uint32_t n_data)
{
	uint32_t n = below(rng, 4);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t datum = below(rng, n_data), i = 0;
		while (i < b->n_accesses && !(b->accesses[i].task == task && b->accesses[i].data == datum))
			i++;
		if (i == b->n_accesses)
			hd_build_access(b, task, datum, all_modes[below(rng, 6)]);
	}
}

/* Every field has some value that is not its first. */
static inline struct heddle_graph *random_graph(uint64_t seed, uint32_t n_tasks, uint32_t n_data)
{
	struct hd_rng rng = rng_of(seed);
	struct hd_build b = {.failed = 0};
	struct heddle_graph *g;
	static const char *const classes[] = {"cpu", "cuda", "odd *\"\\ class"};
	hd_build_name(&b, "by chance \"\\\n\xc3\xa9");
	uint32_t one = hd_build_type(&b, "one", 3);
	b.colors[one] = 0x1f77b4;
	hd_build_type(&b, "two \"\\ words", 12);
	for (uint32_t d = 0; d < n_data; d++)
		hd_build_datum(&b, below(&rng, 3) ? hd_rng_next(&rng) >> 40 : 0);
	for (uint32_t t = 0; t < n_tasks; t++) {
		hd_build_task(&b, below(&rng, 2));
		b.tasks[t].priority = (int32_t)below(&rng, 5) - 2;
		b.tasks[t].flops = below(&rng, 2) ? hd_rng_uniform(&rng) * 1e12 : 0;
		add_random_accesses(&b, &rng, t, n_data);
		for (uint32_t c = 0; c < 3; c++)
			if (c == 0 || below(&rng, 2))
				hd_build_time(&b, t, hd_build_class(&b, classes[c], strlen(classes[c])),
				              hd_rng_uniform(&rng) * 1e3);
		if (t && below(&rng, 3) == 0)
			hd_build_edge(&b, below(&rng, t), t, 0);
	}
	assert_ok(hd_build_end(&b, &g));
	return g;
}

/* reach[from * n + to]: 1 if `to` waits for `from`, perhaps through others. The caller frees it. */
static inline uint8_t *closure(const struct heddle_graph_edge *edges, size_t n_edges, size_t n)
{
	uint8_t *reach = calloc(n * n + 1, 1);
	for (size_t e = 0; e < n_edges; e++) { /* by `to`: what leads to `from` is known */
		reach[edges[e].from * n + edges[e].to] = 1;
		for (size_t i = 0; i < edges[e].from; i++)
			reach[i * n + edges[e].to] |= reach[i * n + edges[e].from];
	}
	return reach;
}

static inline heddle_runtime *start_virtual(const char *platform, const char *policy, int trace)
{
	struct heddle_platform *p;
	struct heddle_config config;
	heddle_runtime *rt;
	assert_ok(heddle_config_init(&config));
	config.sched = policy;
	config.trace = trace;
	assert_ok(heddle_platform_load(platform, &p));
	assert_ok(heddle_start_on(&config, p, 1, &rt));
	heddle_platform_free(p);
	return rt;
}

#endif
