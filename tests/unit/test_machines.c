/* Machines that experiments make of platforms: fewer GPUs, whose cores compute instead; and jobs on threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "repro/repro.h"

static const char westmere[] = HEDDLE_SOURCE_DIR "/platforms/westmere-c2050.yaml";

/* Counts the CPU workers, and lists the others by name. */
static size_t n_cpus(const struct heddle_platform *p, char *others)
{
	size_t cpus = 0;
	others[0] = '\0';
	for (size_t i = 0; i < p->n_workers; i++) {
		const struct heddle_worker *w = &p->workers[i];
		int is_cpu = strcmp(p->classes[w->class_id].kind, "cpu") == 0;
		cpus += (size_t)is_cpu;
		if (is_cpu)
			assert_int_equal(w->node, 0);
		else {
			assert_string_equal(w->name, p->nodes[w->node].name);
			strcat(strcat(others, w->name), " ");
		}
	}
	return cpus;
}

static void check(size_t gpus, size_t cpus, size_t expected_cpus, const char *expected_others)
{
	struct heddle_platform *p;
	char others[256];
	assert_int_equal(repro_machine(westmere, gpus, cpus, &p), TOOL_OK);
	assert_int_equal(heddle_platform_check(p), 0);
	assert_int_equal(n_cpus(p, others), expected_cpus);
	assert_string_equal(others, expected_others);
	assert_int_equal(p->n_nodes, 1 + gpus);
	assert_int_equal(p->n_links, gpus * (gpus + 1)); /* each memory to each other */
	heddle_platform_free(p);
}

static void gpus_are_spread_over_switches_and_leave_their_cores(void **unused)
{
	(void)unused;
	check(8, 0, 4, "c2050-0 c2050-1 c2050-2 c2050-3 c2050-4 c2050-5 c2050-6 c2050-7 ");
	check(4, 0, 8, "c2050-0 c2050-2 c2050-4 c2050-6 ");
	check(3, 0, 9, "c2050-0 c2050-2 c2050-5 ");
	check(1, 0, 11, "c2050-0 ");
	check(0, 0, 12, "");
}

static void cpus_can_be_left_out(void **unused)
{
	(void)unused;
	check(2, 5, 5, "c2050-0 c2050-4 ");
}

/* The links that are kept still lead where they did. */
static void links_keep_their_figures(void **unused)
{
	(void)unused;
	struct heddle_platform *all, *cut;
	assert_int_equal(repro_machine(westmere, 8, 0, &all), TOOL_OK);
	assert_int_equal(repro_machine(westmere, 2, 0, &cut), TOOL_OK);
	const struct heddle_link *was = heddle_platform_link(all, 1, 5), *is = heddle_platform_link(cut, 1, 2);
	assert_non_null(was);
	assert_non_null(is);
	assert_true(was->bandwidth == is->bandwidth && was->n_buses == is->n_buses);
	assert_memory_equal(was->buses, is->buses, was->n_buses * sizeof *was->buses);
	heddle_platform_free(all);
	heddle_platform_free(cut);
}

/* --- Jobs --------------------------------------------------------------------------------------------------------- */

enum { JOBS = 100 };

static int square(void *arg, size_t i)
{
	((size_t *)arg)[i] = i * i;
	return i == 7 ? TOOL_FAILURE : TOOL_OK;
}

static void jobs_are_all_done_whatever_fails(void **unused)
{
	(void)unused;
	for (size_t threads = 1; threads <= 4; threads++) {
		size_t done[JOBS] = {0};
		assert_int_equal(tool_jobs(square, done, JOBS, threads), TOOL_FAILURE);
		for (size_t i = 0; i < JOBS; i++)
			assert_int_equal(done[i], i * i);
		assert_int_equal(tool_jobs(square, done, 7, threads), TOOL_OK);
	}
	assert_int_equal(tool_jobs(square, NULL, 0, 2), TOOL_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(gpus_are_spread_over_switches_and_leave_their_cores),
	    cmocka_unit_test(cpus_can_be_left_out),
	    cmocka_unit_test(links_keep_their_figures),
	    cmocka_unit_test(jobs_are_all_done_whatever_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
