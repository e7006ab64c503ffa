/* Prefetches to a full memory: what they may drop, and when they are dropped themselves. In virtual time, like
 * test_eviction.c. */
#include "internals.h"
#include "full_memory.h"

/* Starts with copies of 0 and 1 on the accelerator; the trace begins afterwards. */
static void start_with_copies(struct machine *m, heddle_data **d)
{
	start_full(m, 3, d);
	WORK(m, 10, heddle_r(d[0]), heddle_r(d[1]));
	heddle_trace_free(machine_trace(m));
}

/* The accelerator has 0 and 1, works with 1 until 100, and is to read 2 then. Nobody needs 0 any more. */
static void prefetch_drops_what_nobody_needs(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2, .sched = "dmda"};
	heddle_data *d[3];
	start_with_copies(&m, d);
	WORK(&m, 100, heddle_r(d[1]));
	WORK(&m, 10, heddle_r(d[2]));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(trace->n_tasks, 2);
	assert_true(trace->tasks[1].start == trace->tasks[0].end); /* 2 was there already */
	heddle_trace_free(trace);
	assert_int_equal(machine_stats(&m).prefetches, 3);
	end(&m, 3, 1);
}

/* The accelerator has 0 and 1, works with 1 until 100, and is to read 2 then and 0 after that: 2 is not prefetched, but
 * brought when its task has been picked. */
static void prefetch_drops_nothing_that_is_needed(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2, .sched = "dmda"};
	heddle_data *d[3];
	start_with_copies(&m, d);
	WORK(&m, 100, heddle_r(d[1]));
	WORK(&m, 10, heddle_r(d[2]));
	WORK(&m, 10, heddle_r(d[0]));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(trace->n_tasks, 3);
	assert_true(trace->tasks[1].start == trace->tasks[0].end + HOP); /* 1 leaves */
	assert_true(trace->tasks[2].start == trace->tasks[1].end);       /* 0 was there all the time */
	heddle_trace_free(trace);
	assert_int_equal(machine_stats(&m).prefetches, 2);
	end(&m, 3, 1);
}

/* What a prefetch has brought stays until its task has used it, although it was never used before. */
static void prefetched_copy_stays_until_its_task(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 3, .sched = "dmda"};
	heddle_data *d[4];
	start_full(&m, 4, d);
	WORK(&m, 100, heddle_r(d[0]), heddle_r(d[3]));
	WORK(&m, 10, heddle_r(d[1]), heddle_w(d[2])); /* when it is picked, 0 or 3 leaves for 2, not 1 */
	end(&m, 3, 1);
}

/* 3 is prefetched while both 1 and 2 are needed. When the third task begins, 1 no longer is. Returns how long the last
 * task must wait for 3 after that. */
static double wait_for_prefetch(const struct machine *m, heddle_data *const *d)
{
	WORK(m, 100, heddle_r(d[2]));
	WORK(m, 10, heddle_r(d[1]));
	WORK(m, 100, heddle_r(d[2]));
	WORK(m, 10, heddle_r(d[3]));
	OK(heddle_selfcheck(m->rt));
	struct heddle_trace *trace = machine_trace(m);
	assert_int_equal(trace->n_tasks, 4);
	double us = trace->tasks[3].start - trace->tasks[2].end;
	heddle_trace_free(trace);
	return us;
}

static void prefetch_without_room_is_dropped(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2, .sched = "dmda"};
	heddle_data *d[4];
	start_full(&m, 4, d);
	WORK(&m, 10, heddle_r(d[1]));
	WORK(&m, 10, heddle_r(d[2]));
	heddle_trace_free(machine_trace(&m));
	assert_true(wait_for_prefetch(&m, d) == HOP);
	end(&m, 3, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(prefetch_drops_what_nobody_needs),
	    cmocka_unit_test(prefetch_drops_nothing_that_is_needed),
	    cmocka_unit_test(prefetched_copy_stays_until_its_task),
	    cmocka_unit_test(prefetch_without_room_is_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
