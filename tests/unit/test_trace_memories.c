/* heddle_trace_memories: hits and misses, bytes and their lower bound, copies beside kernels, worked by hand. */
#include <heddle/trace.h>
#include "virtual_machine.h"

enum { RAM, CARD, CPU = 0, GPU = 1 }; /* nodes; workers of a machine with one core */

/* What has happened in both memories since it was asked last. */
static void look(const struct machine *m, struct heddle_trace_memory memories[2])
{
	struct heddle_trace *trace = machine_trace(m);
	OK(heddle_trace_memories(m->rt, trace, memories));
	heddle_trace_free(trace);
}

static void assert_units(uint64_t bytes, uint64_t units)
{
	assert_int_equal(bytes, units * UNIT);
}

/* 0 1 2 0 1 2 with room for two: the one that was used longest ago is always the one that is needed next. What is used
 * last may leave instead: then 0 comes once, and 1 and 2 come once before and once, for one of them, after. */
static void bytes_beside_the_fewest(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2, .eviction = "lru"};
	struct heddle_trace_memory memories[2];
	struct heddle_memory_stats stats;
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	for (int i = 0; i < 6; i++)
		WORK(&m, 10, heddle_r(d[i % 3]));
	look(&m, memories);
	assert_units(memories[CARD].in, 6);
	assert_units(memories[CARD].demanded, 6);
	assert_units(memories[CARD].least, 4);
	assert_int_equal(memories[CARD].misses, 6);
	assert_int_equal(memories[CARD].hits, 0);
	assert_units(memories[RAM].out, 6);
	assert_units(memories[RAM].in + memories[RAM].least + memories[CARD].out + memories[CARD].prefetched, 0);
	assert_true(memories[CARD].copying == 6 * HOP && memories[CARD].overlapped == 0);
	OK(heddle_runtime_memory_stats(m.rt, CARD, &stats));
	assert_int_equal(stats.evictions, 4);
	assert_int_equal(stats.evictions, machine_stats(&m).evictions);
	assert_units(stats.used, 2);
	assert_units(stats.peak, 2);
	assert_int_equal(heddle_runtime_memory_stats(m.rt, 2, &stats), HEDDLE_E_INVALID);
	OK(heddle_stop(m.rt));
}

/* The second datum comes from 15 to 30. The first kernel runs from 15 to 25, then that of the third task, which finds
 * what the first has read, and the second one from 35. */
static void copies_beside_kernels(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .pipeline = 2};
	struct heddle_trace_memory memories[2];
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	WORK(&m, 10, heddle_r(d[0]));
	WORK(&m, 10, heddle_r(d[1]));
	WORK(&m, 10, heddle_r(d[0]), heddle_w(d[2]));
	look(&m, memories);
	assert_true(memories[CARD].copying == 2 * HOP && memories[CARD].overlapped == 15);
	assert_true(memories[RAM].copying == 2 * HOP && memories[RAM].overlapped == 0);
	assert_int_equal(memories[CARD].hits, 1);
	assert_int_equal(memories[CARD].misses, 2);
	assert_units(memories[CARD].in, 2);
	assert_units(memories[CARD].least, 2);
	OK(heddle_stop(m.rt));
}

static void copies_that_are_prefetched(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1};
	struct heddle_trace_memory memories[2];
	heddle_data *d[2];
	machine_start(&m);
	machine_data(&m, 2, d);
	WORK(&m, 20, heddle_r(d[0]));
	OK(heddle_prefetch(d[1], CARD));
	WORK(&m, 10, heddle_r(d[1]));
	look(&m, memories);
	assert_units(memories[CARD].prefetched, 1);
	assert_units(memories[CARD].demanded, 1);
	assert_int_equal(memories[CARD].hits, 1);
	assert_int_equal(memories[CARD].misses, 1);
	OK(heddle_stop(m.rt));
}

/* A copy must come again after the datum was written elsewhere, however much room there is; not after it was written in
 * the same memory. */
static void copies_that_are_obsolete(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	struct heddle_trace_memory memories[2];
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	WORK(&m, 10, heddle_r(d), heddle_on(GPU));
	WORK(&m, 10, heddle_rw(d), heddle_on(CPU));
	WORK(&m, 10, heddle_rw(d), heddle_on(GPU));
	WORK(&m, 10, heddle_r(d), heddle_on(GPU));
	WORK(&m, 10, heddle_r(d), heddle_on(CPU));
	look(&m, memories);
	assert_units(memories[CARD].in, 2);
	assert_units(memories[CARD].least, 2);
	assert_int_equal(memories[CARD].hits, 1);
	assert_int_equal(memories[CARD].misses, 2);
	assert_units(memories[RAM].in, 1);
	assert_units(memories[RAM].least, 1);
	assert_int_equal(memories[RAM].hits, 1);
	assert_int_equal(memories[RAM].misses, 1);
	WORK(&m, 10, heddle_r(d), heddle_on(GPU)); /* is there since before */
	look(&m, memories);
	assert_int_equal(memories[CARD].hits, 1);
	assert_units(memories[CARD].in + memories[CARD].least, 0);
	OK(heddle_stop(m.rt));
}

/* Where data differ in size, parts of them may stay. Two units leave for one, but half of them had room. */
static void bound_holds_for_data_of_different_sizes(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 3};
	struct heddle_trace_memory memories[2];
	heddle_data *d[2], *large;
	machine_start(&m);
	machine_data(&m, 2, d);
	OK(heddle_variable(m.rt, NULL, 2 * UNIT, &large));
	WORK(&m, 10, heddle_r(large));
	WORK(&m, 10, heddle_r(d[0]));
	WORK(&m, 10, heddle_r(d[1]));
	WORK(&m, 10, heddle_r(d[0]));
	WORK(&m, 10, heddle_r(large));
	look(&m, memories);
	assert_units(memories[CARD].in, 6);
	assert_units(memories[CARD].least, 5);
	OK(heddle_stop(m.rt));
}

static void wrong_runtimes_are_refused(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1}, other = {.cpus = 1};
	struct heddle_trace_memory memories[2];
	machine_start(&m);
	machine_start(&other);
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(heddle_trace_memories(other.rt, trace, memories), HEDDLE_E_STATE);
	assert_int_equal(heddle_trace_memories(m.rt, trace, NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_trace_memories(m.rt, NULL, memories), HEDDLE_E_INVALID);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
	OK(heddle_stop(other.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bytes_beside_the_fewest),
	    cmocka_unit_test(copies_beside_kernels),
	    cmocka_unit_test(copies_that_are_prefetched),
	    cmocka_unit_test(copies_that_are_obsolete),
	    cmocka_unit_test(bound_holds_for_data_of_different_sizes),
	    cmocka_unit_test(wrong_runtimes_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
