/* What the tests of platforms share: a small platform, a directory of its own for each test, equality bit for bit. */
#ifndef PLATFORM_FIXTURE_H
#define PLATFORM_FIXTURE_H

#include <hwloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <heddle/platform.h>
#include <heddle/status.h>
#include "machine/machine.h"

/* In test_platform.c alone: it counts what the library asks of hwloc. */
int __real_hwloc_topology_load(hwloc_topology_t hwloc);
int __wrap_hwloc_topology_load(hwloc_topology_t hwloc);

static const char *const shipped[] = {"amd-a100",   "gpu1-cpu6",      "haswell-k40m",
                                      "intel-v100", "westmere-c2050", "westmere-c2050-dada"};
enum { N_SHIPPED = sizeof shipped / sizeof shipped[0] };

#define HEAD "version: 1\nname: tiny\n"
#define NODES "nodes:\n- {name: ram}\n- {name: gpu, capacity_mib: 64}\n"
#define CLASSES "classes:\n- {name: cpu, kind: cpu}\n- {name: fast, kind: cuda, pipeline: 2}\n"
#define WORKERS \
	"workers:\n- {name: cpu, count: 3, class: cpu, node: ram, core: 4}\n- {name: gpu, class: fast, node: gpu}\n"
#define BUSES "buses:\n- {name: host, bandwidth_mbs: 9000}\n"
#define DOWN "- {from: ram, to: gpu, bandwidth_mbs: 6000.5, latency_us: 10, buses: [host]}\n"
#define UP "- {from: gpu, to: ram, bandwidth_mbs: 5000}\n"
#define LINKS "links:\n" DOWN UP
#define TABLE "- codelet: gemm\n  class: cpu\n  table:\n  - {bytes: 100, us: 10}\n  - {bytes: 400, us: 80}\n"
#define RATE "- {codelet: gemm, class: fast, gflops: 1000, half_flops: 2e6, latency_us: 5}\n"
#define KERNELS "kernels:\n" TABLE RATE
#define TINY HEAD NODES CLASSES WORKERS BUSES LINKS KERNELS

static inline struct heddle_platform *parsed(const char *yaml)
{
	struct heddle_platform *p = NULL;
	if (heddle_platform_parse("test.yaml", yaml, strlen(yaml), &p))
		fail_msg("%s", heddle_last_error());
	return p;
}

static inline struct heddle_platform *loaded(const char *name)
{
	struct heddle_platform *p = NULL;
	if (heddle_platform_load(name, &p))
		fail_msg("%s", heddle_last_error());
	return p;
}

/* --- A directory of its own for each test, found first by heddle_platform_load ------------------------------------ */

static inline int make_directory(void **state)
{
	char template[] = "/tmp/heddle-platform-XXXXXX";
	char *directory = mkdtemp(template) ? strdup(template) : NULL;
	*state = directory;
	return directory && setenv("HEDDLE_PLATFORM_PATH", directory, 1) == 0 ? 0 : -1;
}

static inline int remove_directory(void **state)
{
	char command[256];
	snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
	free(*state);
	unsetenv("HEDDLE_PLATFORM_PATH");
	return system(command);
}

static inline const char *file_in(const char *directory, const char *name)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

static inline void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* --- Equality, bit for bit ---------------------------------------------------------------------------------------- */

#define SAME_BITS(a, b) assert_memory_equal(&(a), &(b), sizeof(a))

static inline void assert_same_machine(const struct heddle_platform *a, const struct heddle_platform *b)
{
	assert_int_equal(a->n_nodes, b->n_nodes);
	for (size_t i = 0; i < a->n_nodes; i++) {
		assert_string_equal(a->nodes[i].name, b->nodes[i].name);
		SAME_BITS(a->nodes[i].capacity, b->nodes[i].capacity);
	}
	assert_int_equal(a->n_classes, b->n_classes);
	for (size_t i = 0; i < a->n_classes; i++) {
		assert_string_equal(a->classes[i].name, b->classes[i].name);
		assert_string_equal(a->classes[i].kind, b->classes[i].kind);
		assert_int_equal(a->classes[i].cores, b->classes[i].cores);
		assert_int_equal(a->classes[i].pipeline, b->classes[i].pipeline);
		SAME_BITS(a->classes[i].slowdown, b->classes[i].slowdown);
		assert_int_equal(a->classes[i].streams, b->classes[i].streams);
		assert_int_equal(a->classes[i].sharing == NULL, b->classes[i].sharing == NULL);
		for (unsigned k = 0; a->classes[i].sharing && k < a->classes[i].streams; k++)
			SAME_BITS(a->classes[i].sharing[k], b->classes[i].sharing[k]);
	}
	assert_int_equal(a->n_workers, b->n_workers);
	for (size_t i = 0; i < a->n_workers; i++) {
		assert_string_equal(a->workers[i].name, b->workers[i].name);
		assert_int_equal(a->workers[i].class_id, b->workers[i].class_id);
		assert_int_equal(a->workers[i].node, b->workers[i].node);
		assert_int_equal(a->workers[i].core, b->workers[i].core);
		assert_int_equal(a->workers[i].retired, b->workers[i].retired);
	}
}

static inline void assert_same_levels(const struct heddle_platform *a, const struct heddle_platform *b)
{
	assert_int_equal(a->n_levels, b->n_levels);
	for (size_t i = 0; i < a->n_levels; i++) {
		assert_string_equal(a->levels[i].name, b->levels[i].name);
		assert_int_equal(a->levels[i].n_groups, b->levels[i].n_groups);
		for (size_t k = 0; k < a->levels[i].n_groups; k++)
			SAME_BITS(a->levels[i].groups[k], b->levels[i].groups[k]);
	}
	assert_int_equal(a->n_speedups, b->n_speedups);
	for (size_t i = 0; i < a->n_speedups; i++) {
		const struct heddle_speedup *x = &a->speedups[i], *y = &b->speedups[i];
		assert_int_equal(x->codelet == NULL, y->codelet == NULL);
		assert_string_equal(x->codelet ? x->codelet : "", y->codelet ? y->codelet : "");
		assert_int_equal(x->class_id, y->class_id);
		assert_int_equal(x->cores, y->cores);
		SAME_BITS(x->latency, y->latency);
		SAME_BITS(x->bandwidth, y->bandwidth);
		assert_int_equal(x->n_table, y->n_table);
		for (size_t k = 0; k < x->n_table; k++)
			SAME_BITS(x->table[k], y->table[k]);
	}
}

static inline void assert_same_costs(const struct heddle_platform *a, const struct heddle_platform *b)
{
	assert_int_equal(a->n_buses, b->n_buses);
	for (size_t i = 0; i < a->n_buses; i++) {
		assert_string_equal(a->buses[i].name, b->buses[i].name);
		SAME_BITS(a->buses[i].bandwidth, b->buses[i].bandwidth);
	}
	assert_int_equal(a->n_links, b->n_links);
	for (size_t i = 0; i < a->n_links; i++) {
		assert_int_equal(a->links[i].from, b->links[i].from);
		assert_int_equal(a->links[i].to, b->links[i].to);
		SAME_BITS(a->links[i].bandwidth, b->links[i].bandwidth);
		SAME_BITS(a->links[i].latency, b->links[i].latency);
		assert_int_equal(a->links[i].n_buses, b->links[i].n_buses);
		for (size_t j = 0; j < a->links[i].n_buses; j++)
			assert_int_equal(a->links[i].buses[j], b->links[i].buses[j]);
	}
	assert_int_equal(a->n_kernels, b->n_kernels);
	for (size_t i = 0; i < a->n_kernels; i++) {
		const struct heddle_kernel_time *x = &a->kernels[i], *y = &b->kernels[i];
		assert_string_equal(x->codelet, y->codelet);
		assert_int_equal(x->class_id, y->class_id);
		SAME_BITS(x->gflops, y->gflops);
		SAME_BITS(x->half, y->half);
		SAME_BITS(x->latency, y->latency);
		SAME_BITS(x->bandwidth, y->bandwidth);
		assert_int_equal(x->n_table, y->n_table);
		for (size_t j = 0; j < x->n_table; j++)
			SAME_BITS(x->table[j], y->table[j]);
	}
}

static inline void assert_same(const struct heddle_platform *a, const struct heddle_platform *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->description ? a->description : "", b->description ? b->description : "");
	assert_string_equal(a->source ? a->source : "", b->source ? b->source : "");
	assert_same_machine(a, b);
	assert_same_costs(a, b);
	assert_same_levels(a, b);
}

static inline void assert_round_trip(const struct heddle_platform *p, const char *path)
{
	if (heddle_platform_save(p, path))
		fail_msg("%s", heddle_last_error());
	struct heddle_platform *again = loaded(path);
	assert_same(p, again);
	heddle_platform_free(again);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

#endif
