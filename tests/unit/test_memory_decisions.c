/* What the memory of an accelerator holds when it is full: which copy leaves, what is written back, who waits. */
#include "internals.h"
#include "virtual_machine.h"

static uint64_t used(const struct machine *m)
{
	return m->rt->memories[1].used / UNIT;
}

static size_t count_transfers(const struct heddle_trace *trace, enum hd_reason reason)
{
	size_t n = 0;
	for (size_t i = 0; i < trace->n_transfers; i++)
		n += trace->transfers[i].reason == reason;
	return n;
}

/* --- Which copy leaves -------------------------------------------------------------------------------------------- */

/* Room for two; 1 was read before 0 was read again. */
static void copy_that_was_used_longest_ago_leaves(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2};
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	WORK(&m, 10, heddle_r(d[0]));
	WORK(&m, 10, heddle_r(d[1]));
	WORK(&m, 10, heddle_r(d[0]));
	WORK(&m, 10, heddle_r(d[2]));
	OK(heddle_wait_all(m.rt));
	assert_true(heddle_data_valid_on(d[0], 1));
	assert_false(heddle_data_valid_on(d[1], 1));
	assert_true(heddle_data_valid_on(d[2], 1));
	assert_int_equal(machine_stats(&m).transfers, 3);
	WORK(&m, 10, heddle_r(d[0])); /* is still there */
	WORK(&m, 10, heddle_r(d[1])); /* has to come again, and now 2 leaves */
	OK(heddle_wait_all(m.rt));
	assert_int_equal(machine_stats(&m).transfers, 4);
	assert_int_equal(machine_stats(&m).evictions, 2);
	assert_false(heddle_data_valid_on(d[2], 1));
	OK(heddle_stop(m.rt));
}

/* 0 is older, but its value is nowhere else: to drop 1 costs nothing. */
static void copy_with_another_elsewhere_leaves_before_the_only_one(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2};
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	WORK(&m, 10, heddle_w(d[0]));
	WORK(&m, 10, heddle_r(d[1]));
	WORK(&m, 10, heddle_w(d[2]));
	OK(heddle_wait_all(m.rt));
	assert_true(heddle_data_valid_on(d[0], 1));
	assert_false(heddle_data_valid_on(d[1], 1));
	assert_int_equal(machine_stats(&m).evictions, 1);
	assert_int_equal(machine_stats(&m).transfers, 1);
	OK(heddle_stop(m.rt));
}

/* Of several copies whose value is nowhere else, the oldest. */
static void only_copy_that_was_used_longest_ago_is_written_back(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2};
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	WORK(&m, 10, heddle_w(d[0]));
	WORK(&m, 10, heddle_w(d[1]));
	OK(heddle_wait_all(m.rt));
	WORK(&m, 10, heddle_r(d[0]));
	OK(heddle_wait_all(m.rt));
	WORK(&m, 10, heddle_w(d[2]));
	OK(heddle_wait_all(m.rt));
	assert_true(heddle_data_valid_on(d[0], 1) && !heddle_data_valid_on(d[0], 0));
	assert_true(heddle_data_valid_on(d[1], 0) && !heddle_data_valid_on(d[1], 1));
	assert_int_equal(used(&m), 2);
	OK(heddle_stop(m.rt));
}

/* --- How much is written back ------------------------------------------------------------------------------------- */

/* All three are written and nowhere else. The fourth needs the room of one, and that is enough, though it is not there
 * until the copy has been made. The fourth task waits for it: 30 + HOP us. */
static void no_more_is_written_back_than_the_room_needed(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 3};
	heddle_data *d[4];
	machine_start(&m);
	machine_data(&m, 4, d);
	for (int i = 0; i < 4; i++)
		WORK(&m, 10, heddle_w(d[i]));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(count_transfers(trace, HD_WRITE_BACK), 1);
	assert_int_equal(trace->n_transfers, 1);
	assert_int_equal(trace->transfers[0].data, 0);
	assert_true(task_of(trace, 3)->start == 30 + HOP);
	assert_int_equal(machine_stats(&m).evictions, 1);
	assert_int_equal(m.rt->memories[1].leaving, 0);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* Two tasks find the memory full at the same time: a copy that leaves for one of them is not counted for the other. */
static void two_tasks_that_wait_for_room_write_back_two_copies(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .workers_per_gpu = 2, .units = 4};
	heddle_data *d[6];
	machine_start(&m);
	machine_data(&m, 6, d);
	for (int i = 0; i < 4; i++)
		WORK(&m, 10, heddle_w(d[i]), heddle_on(0));
	OK(heddle_wait_all(m.rt));
	WORK(&m, 10, heddle_w(d[4]), heddle_on(0));
	WORK(&m, 10, heddle_w(d[5]), heddle_on(1));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(count_transfers(trace, HD_WRITE_BACK), 2);
	assert_int_equal(machine_stats(&m).evictions, 2);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* --- Who waits ---------------------------------------------------------------------------------------------------- */

/* Three workers share a memory of four units. Workers 0 and 2 run small tasks whose ends alternate, so that one of them
 * always takes room. The large task of worker 1 needs all the room; it is picked at 20, when its worker has ended
 * another task. The small tasks that are picked after it must wait behind it: it begins when those that run at 20 have
 * ended. */
static void large_task_is_not_overtaken_by_small_ones(void **state)
{
	(void)state;
	enum { SMALL = 8, BIG = 3 };
	struct machine m = {.gpus = 1, .workers_per_gpu = 3, .units = 4};
	heddle_data *small[SMALL + 1], *big[4];
	machine_start(&m);
	machine_data(&m, SMALL + 1, small);
	machine_data(&m, 4, big);
	WORK(&m, 100, heddle_w(small[0]), heddle_on(0));
	WORK(&m, 150, heddle_w(small[1]), heddle_on(2));
	WORK(&m, 20, heddle_w(small[SMALL]), heddle_on(1));
	WORK(&m, 10, heddle_w(big[0]), heddle_w(big[1]), heddle_w(big[2]), heddle_w(big[3]), heddle_on(1));
	for (int i = 2; i < SMALL; i++)
		WORK(&m, 100, heddle_w(small[i]), heddle_on(i % 2 ? 2 : 0));
	struct heddle_trace *trace = machine_trace(&m);
	/* At 100 the first small task has ended and its copy can leave; that of the second at 150. */
	assert_true(task_of(trace, BIG)->start == 150 + HOP);
	for (uint64_t i = BIG + 1; i < trace->n_tasks; i++)
		assert_true(task_of(trace, i)->start > task_of(trace, BIG)->start);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* --- What takes no room any more ---------------------------------------------------------------------------------- */

static void obsolete_copy_gives_its_room_back(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 2};
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	WORK(&m, 10, heddle_r(d[0]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[1]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(used(&m), 2);
	WORK(&m, 10, heddle_rw(d[1]), heddle_on(0)); /* the copy on the GPU is worth nothing now */
	OK(heddle_wait_all(m.rt));
	assert_int_equal(used(&m), 1);
	WORK(&m, 10, heddle_r(d[2]), heddle_on(1)); /* takes its room: nothing has to leave */
	OK(heddle_wait_all(m.rt));
	assert_int_equal(machine_stats(&m).evictions, 0);
	assert_int_equal(m.rt->memories[1].peak, 2 * UNIT);
	OK(heddle_stop(m.rt));
}

static void handle_that_ends_gives_its_room_back(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2};
	heddle_data *d[2];
	machine_start(&m);
	machine_data(&m, 2, d);
	WORK(&m, 10, heddle_r(d[0]), heddle_r(d[1]));
	OK(heddle_wait_all(m.rt));
	OK(heddle_unregister(d[0]));
	assert_int_equal(used(&m), 1);
	OK(heddle_unregister(d[1]));
	assert_int_equal(used(&m), 0);
	OK(heddle_stop(m.rt));
}

/* A prefetch may not make others leave: it is dropped. */
static void prefetch_takes_only_room_that_is_free(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2};
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	WORK(&m, 10, heddle_r(d[0]));
	OK(heddle_wait_all(m.rt));
	OK(heddle_prefetch(d[1], 1));
	OK(heddle_wait_all(m.rt));
	OK(heddle_prefetch(d[2], 1));
	OK(heddle_wait_all(m.rt));
	WORK(&m, 10, heddle_r(d[0])); /* lets time pass: a copy that was begun has ended */
	OK(heddle_wait_all(m.rt));
	assert_true(heddle_data_valid_on(d[0], 1) && !heddle_data_valid_on(d[2], 1));
	assert_int_equal(used(&m), 2);
	assert_int_equal(machine_stats(&m).prefetches, 1);
	assert_int_equal(machine_stats(&m).evictions, 0);
	OK(heddle_stop(m.rt));
}

/* The first accelerator writes a datum that the second reads directly, so that both have it and main memory does not.
 * The copy of the second leaves, and nothing is lost. That of the first is then the only one, which must be written
 * back when it has to leave as well. */
static void copy_whose_other_copy_has_left_is_written_back(void **state)
{
	(void)state;
	struct machine m = {
	    .gpus = 2, .units = 1, .links = "- {from: memory1, to: memory2, bandwidth_mbs: 1000, latency_us: 5}\n"};
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	WORK(&m, 10, heddle_w(d[0]), heddle_on(0));
	WORK(&m, 10, heddle_r(d[0]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	assert_false(heddle_data_valid_on(d[0], 0));
	assert_true(heddle_data_valid_on(d[0], 1) && heddle_data_valid_on(d[0], 2));
	WORK(&m, 10, heddle_w(d[1]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	assert_true(heddle_data_valid_on(d[0], 1) && !heddle_data_valid_on(d[0], 2));
	WORK(&m, 10, heddle_w(d[2]), heddle_on(0));
	OK(heddle_wait_all(m.rt));
	assert_true(heddle_data_valid_on(d[0], 0) && !heddle_data_valid_on(d[0], 1));
	assert_int_equal(machine_stats(&m).transfers, 2);
	OK(heddle_stop(m.rt));
}

/* Datum 0 was written by the first accelerator. The second has taken the task that writes it anew, and is busy with
 * another until 110. At 50 the first needs the room: what will be obsolete is not written back for it. */
static void copy_about_to_be_obsolete_is_not_written_back(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 2, .pipeline = 2, .units = 1};
	heddle_data *d[2];
	machine_start(&m);
	machine_data(&m, 2, d);
	WORK(&m, 10, heddle_w(d[0]), heddle_on(1));
	WORK(&m, 110, heddle_on(2));
	WORK(&m, 10, heddle_w(d[0]), heddle_on(2));
	WORK(&m, 50, heddle_w(d[1]), heddle_on(0));
	WORK(&m, 10, heddle_w(d[1]), heddle_on(1));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(trace->n_transfers, 0);
	assert_true(task_of(trace, 4)->start == 50);
	assert_true(heddle_data_valid_on(d[0], 2) && heddle_data_valid_on(d[1], 1));
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(copy_that_was_used_longest_ago_leaves),
	    cmocka_unit_test(copy_with_another_elsewhere_leaves_before_the_only_one),
	    cmocka_unit_test(only_copy_that_was_used_longest_ago_is_written_back),
	    cmocka_unit_test(no_more_is_written_back_than_the_room_needed),
	    cmocka_unit_test(copy_whose_other_copy_has_left_is_written_back),
	    cmocka_unit_test(copy_about_to_be_obsolete_is_not_written_back),
	    cmocka_unit_test(two_tasks_that_wait_for_room_write_back_two_copies),
	    cmocka_unit_test(large_task_is_not_overtaken_by_small_ones),
	    cmocka_unit_test(obsolete_copy_gives_its_room_back),
	    cmocka_unit_test(handle_that_ends_gives_its_room_back),
	    cmocka_unit_test(prefetch_takes_only_room_that_is_free),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
