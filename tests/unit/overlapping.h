/* A machine of four cores on which workers overlap: 0 to 3 have a core each, 4 and 5 two, 6 all four. The single cores
 * are driven at the start. Kernels note whose cores they use, so that two workers that run on the same core are seen.
 * */
#ifndef TEST_OVERLAPPING_H
#define TEST_OVERLAPPING_H

#include <heddle/clusters.h>
#include "program.h"

enum { N_CORES = 4, PAIR = 4, OTHER_PAIR = 5, ALL = 6, N_OVERLAPPING = 7 };

static const char overlapping[] = "version: 1\n"
                                  "name: overlapping\n"
                                  "nodes: [{name: ram}]\n"
                                  "classes:\n"
                                  "- {name: cpu, kind: cpu, cores: 1}\n"
                                  "- {name: cpu*2, kind: cpu, cores: 2}\n"
                                  "- {name: cpu*4, kind: cpu, cores: 4}\n"
                                  "workers:\n"
                                  "- {name: single, count: 4, class: cpu, node: ram, core: 0}\n"
                                  "- {name: pair0, retired: 1, class: cpu*2, node: ram, core: 0}\n"
                                  "- {name: pair1, retired: 1, class: cpu*2, node: ram, core: 2}\n"
                                  "- {name: all, retired: 1, class: cpu*4, node: ram, core: 0}\n"
                                  "levels: [{name: socket, cores: [0-3]}]\n";

static const unsigned singles[] = {0, 1, 2, 3}, pairs[] = {PAIR, OTHER_PAIR}, all_cores[] = {ALL},
                      mixed[] = {2, PAIR, 3};

/* The first core of a worker, and how many it has. */
static inline unsigned first_core(unsigned worker)
{
	return worker < PAIR ? worker : worker == OTHER_PAIR ? 2 : 0;
}

static inline unsigned n_cores(unsigned worker)
{
	return worker < PAIR ? 1 : worker == ALL ? 4 : 2;
}

/* Starts a runtime on that machine; with an emulated accelerator, worker 7, if `with_device`. */
static inline heddle_runtime *start_overlapping(const struct heddle_config *config, int virtual_time, int with_device)
{
	struct heddle_platform *platform;
	heddle_runtime *rt;
	assert_ok(heddle_platform_parse("test", overlapping, strlen(overlapping), &platform));
	if (with_device)
		assert_ok(heddle_platform_add_emulated(platform, 0, 0, 0, 1));
	assert_ok(heddle_start_on(config, platform, virtual_time, &rt));
	heddle_platform_free(platform);
	return rt;
}

static inline void drive(heddle_runtime *rt, const unsigned *workers, size_t n)
{
	assert_ok(heddle_workers_drive(rt, workers, n));
	assert_ok(heddle_selfcheck(rt));
}

static inline void add_placed(void *arg, const char *name, double value, const char *unit)
{
	(void)unit;
	if (strcmp(name, "tasks placed") == 0)
		*(double *)arg += value;
}

/* How many tasks the instance of the policy has placed so far, counting a task twice that came back. */
static inline double n_placed(heddle_runtime *rt)
{
	double n = 0;
	assert_ok(heddle_policy_counts(rt, add_placed, &n));
	return n;
}

/* Which cores kernels use now, and how often one was used twice. */
static atomic_int cores_in_use[N_CORES], n_clashes;

static inline void use_cores(unsigned worker)
{
	for (unsigned i = 0; worker < N_OVERLAPPING && i < n_cores(worker); i++)
		n_clashes += cores_in_use[first_core(worker) + i]++ != 0;
}

static inline void leave_cores(unsigned worker)
{
	for (unsigned i = 0; worker < N_OVERLAPPING && i < n_cores(worker); i++)
		cores_in_use[first_core(worker) + i]--;
}

/* us on each class. */
static inline double shared_evenly(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return 40.0 / (1 << class_id);
}

#endif
