/* Prefetches to a full memory: what they may drop, and when they wait or are dropped themselves. In virtual time, like
 * test_eviction.c. */
#include "internals.h"
#include "full_memory.h"
#include "prefetch_order.h"

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

static const struct hd_memory *card(const struct machine *m)
{
	return &m->rt->memories[1];
}

/* Room for two. At the end 1 and 2 are there; if `in_vain`, a prefetch of 0 has come before, which nobody has used and
 * for which 2 could not be prefetched. */
static void start_after_prefetch(struct machine *m, heddle_data **d, int in_vain)
{
	start_full(m, 4, d);
	if (in_vain)
		OK(heddle_prefetch(d[0], 1));
	OK(heddle_wait_all(m->rt));
	WORK(m, 10, heddle_r(d[1]));
	WORK(m, 10, heddle_r(d[2]));
	heddle_trace_free(machine_trace(m));
	assert_true(!is_there(d[0]) && is_there(d[1]) && is_there(d[2]));
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
	start_after_prefetch(&m, d, 0);
	assert_false(card(&m)->in_order);
	assert_true(wait_for_prefetch(&m, d) == HOP);
	end(&m, 3, 1);
}

static void prefetch_without_room_waits_where_others_were_in_vain(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2, .sched = "dmda"};
	heddle_data *d[4];
	start_after_prefetch(&m, d, 1);
	assert_true(card(&m)->in_order);
	assert_true(wait_for_prefetch(&m, d) == 0);
	end(&m, 4, 2);
}

/* After the one that was in vain, four must be used: twice what the memory has room for. */
static void prefetches_are_free_again_when_enough_were_used(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2, .sched = "dmda"};
	heddle_data *d[4];
	start_after_prefetch(&m, d, 1);
	static const int next[] = {3, 0, 1, 2};
	for (int i = 0; i < 4; i++) {
		assert_true(card(&m)->in_order);
		WORK(&m, 10, heddle_r(d[next[i]]));
		OK(heddle_wait_all(m.rt));
	}
	assert_false(card(&m)->in_order);
	end(&m, 7, 5);
}

/* 0, to which no room has been given, ends; and the task of 3 gets it before the prefetch does. */
static void waiting_prefetch_ends_with_its_datum(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2, .sched = "dmda"};
	heddle_data *d[4];
	start_after_prefetch(&m, d, 1);
	WORK(&m, 100, heddle_r(d[1]), heddle_r(d[2]));
	WORK(&m, 10, heddle_r(d[3]));
	WORK(&m, 10, heddle_r(d[1]), heddle_r(d[2]));
	OK(heddle_prefetch(d[0], 1));
	OK(heddle_selfcheck(m.rt));
	assert_ptr_equal(card(&m)->first_delayed->replica, &d[3]->replicas[1]);
	assert_ptr_equal(card(&m)->last_delayed->replica, &d[0]->replicas[1]);
	OK(heddle_unregister(d[0]));
	OK(heddle_selfcheck(m.rt));
	assert_ptr_equal(card(&m)->last_delayed->replica, &d[3]->replicas[1]);
	OK(heddle_wait_all(m.rt));
	assert_null(card(&m)->first_delayed);
	OK(heddle_selfcheck(m.rt));
	OK(heddle_stop(m.rt));
}

/* 3, which no task needs, waits for room until nobody needs 1 and 2. */
static void prefetch_that_nobody_needs_keeps_no_other_waiting(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2, .sched = "dmda"};
	heddle_data *d[4];
	start_after_prefetch(&m, d, 1);
	WORK(&m, 100, heddle_r(d[1]), heddle_r(d[2]));
	OK(heddle_prefetch(d[3], 1));
	OK(heddle_wait_all(m.rt));
	assert_ptr_equal(card(&m)->first_delayed->replica, &d[3]->replicas[1]);
	for (int i = 1; i < 3; i++)
		OK(heddle_unregister(d[i]));
	OK(heddle_prefetch(d[0], 1));
	assert_true(d[0]->replicas[1].incoming);
	assert_null(card(&m)->first_delayed);
	OK(heddle_selfcheck(m.rt));
	OK(heddle_stop(m.rt));
}

/* What is larger than the memory is prefetched first. The task that needs 0 is ready at 1000. */
static void prefetch_that_never_has_room_keeps_no_other_waiting(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 2};
	heddle_data *d[2], *large;
	start_full(&m, 2, d);
	OK(heddle_variable(m.rt, NULL, 3 * UNIT, &large));
	spend_credit(m.rt, 1);
	WORK(&m, 1000, heddle_rw(d[1]), heddle_on(0));
	WORK(&m, 10, heddle_r(d[1]), heddle_r(d[0]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[1]), heddle_r(large));
	OK(heddle_prefetch(large, 1));
	OK(heddle_prefetch(d[0], 1));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(trace->n_transfers, 2); /* 0, and 1 when it has been written */
	assert_true(trace->transfers[0].end == HOP);
	heddle_trace_free(trace);
	OK(heddle_selfcheck(m.rt));
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(prefetch_drops_what_nobody_needs),
	    cmocka_unit_test(prefetch_drops_nothing_that_is_needed),
	    cmocka_unit_test(prefetched_copy_stays_until_its_task),
	    cmocka_unit_test(prefetch_without_room_is_dropped),
	    cmocka_unit_test(prefetch_without_room_waits_where_others_were_in_vain),
	    cmocka_unit_test(prefetches_are_free_again_when_enough_were_used),
	    cmocka_unit_test(waiting_prefetch_ends_with_its_datum),
	    cmocka_unit_test(prefetch_that_nobody_needs_keeps_no_other_waiting),
	    cmocka_unit_test(prefetch_that_never_has_room_keeps_no_other_waiting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
