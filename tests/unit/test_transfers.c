/* The order in which transfers move, and in which those who wait for them go on, in virtual time, where it is exact. */
#include "internals.h"
#include "probe.h"
#include "virtual_machine.h"

/* Asks for copies of n data on a GPU. Of those that use the same way the first begins to move, the others queue. */
static void prefetch(const struct machine *m, heddle_data *const *data, size_t n, unsigned node)
{
	for (size_t i = 0; i < n; i++)
		OK(heddle_prefetch(data[i], node));
	OK(heddle_selfcheck(m->rt));
}

/* Checks that the transfers to `node` were those of the data that `which` names, 'a' being data[0], in that order. */
static void expect_moved(const struct heddle_trace *trace, unsigned node, heddle_data *const *data, const char *which)
{
	char moved[32];
	size_t n = 0;
	for (size_t i = 0; i < trace->n_transfers && n + 1 < sizeof moved; i++)
		if (trace->transfers[i].to == node)
			moved[n++] = (char)('a' + (trace->transfers[i].data - data[0]->id));
	moved[n] = 0;
	assert_string_equal(moved, which);
}

/* machine_trace after a task of 1000 us, in which transfers end for which no task waits. Worker 0 must be a CPU. */
static struct heddle_trace *late_trace(const struct machine *m)
{
	WORK(m, 1000, heddle_on(0));
	return machine_trace(m);
}

static void end(const struct machine *m, struct heddle_trace *trace)
{
	OK(heddle_selfcheck(m->rt));
	heddle_trace_free(trace);
	OK(heddle_stop(m->rt));
}

/* --- Who waits for a transfer ------------------------------------------------------------------------------------- */

/* Three tasks of one worker wait for the same copy. */
static void tasks_that_wait_for_a_copy_go_on_in_their_order(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .pipeline = 3};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	for (int i = 0; i < 3; i++)
		WORK(&m, 10, heddle_r(d));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(trace->n_transfers, 1);
	for (unsigned i = 0; i < 3; i++)
		assert_true(task_of(trace, i)->start == HOP + 10 * i);
	end(&m, trace);
}

/* --- Which comes first -------------------------------------------------------------------------------------------- */

static void demanded_copies_overtake_prefetches(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .pipeline = 2};
	heddle_data *d[6];
	machine_start(&m);
	machine_data(&m, 6, d);
	prefetch(&m, d, 4, 1);
	WORK(&m, 10, heddle_r(d[5]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[4]), heddle_on(1));
	struct heddle_trace *trace = late_trace(&m);
	expect_moved(trace, 1, d, "afebcd");
	assert_true(task_of(trace, 4)->start == 2 * HOP);
	assert_true(task_of(trace, 5)->start == 3 * HOP);
	end(&m, trace);
}

static void prefetch_becomes_a_demand_when_a_task_waits_for_it(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .pipeline = 2};
	heddle_data *d[5];
	machine_start(&m);
	machine_data(&m, 5, d);
	prefetch(&m, d, 4, 1);
	WORK(&m, 10, heddle_r(d[4]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[3]), heddle_on(1));
	struct heddle_trace *trace = late_trace(&m);
	expect_moved(trace, 1, d, "aedbc");
	assert_int_equal(trace->transfers[0].reason, HD_PREFETCH);
	assert_int_equal(trace->transfers[2].reason, HD_DEMAND);
	assert_int_equal(trace->transfers[3].reason, HD_PREFETCH);
	assert_true(task_of(trace, 5)->start == 3 * HOP);
	end(&m, trace);
}

/* The value is on GPU 1, and goes through main memory to GPU 2. Both hops are queued behind another datum's. */
static void both_hops_of_a_prefetch_become_demands(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 2};
	heddle_data *d[4];
	machine_start(&m);
	machine_data(&m, 4, d);
	for (int i = 0; i < 4; i++)
		WORK(&m, 10, heddle_w(d[i]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	prefetch(&m, d, 4, 2);
	WORK(&m, 10, heddle_r(d[3]), heddle_on(2));
	struct heddle_trace *trace = late_trace(&m);
	expect_moved(trace, 0, d, "adbc");
	expect_moved(trace, 2, d, "adbc");
	assert_true(task_of(trace, 8)->start == 40 + 3 * HOP);
	end(&m, trace);
}

/* A task waits in main memory for what a prefetch brings there on its way to GPU 2. */
static void first_hop_of_a_prefetch_becomes_a_demand_alone(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 2};
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	for (int i = 0; i < 3; i++)
		WORK(&m, 10, heddle_w(d[i]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	prefetch(&m, d, 3, 2);
	WORK(&m, 10, heddle_r(d[2]), heddle_on(0));
	struct heddle_trace *trace = late_trace(&m);
	expect_moved(trace, 0, d, "acb");
	expect_moved(trace, 2, d, "acb");
	assert_int_equal(trace->transfers[1].reason + trace->transfers[2].reason, HD_DEMAND + HD_PREFETCH);
	assert_true(task_of(trace, 6)->start == 30 + 2 * HOP);
	end(&m, trace);
}

/* --- Prefetches that are dropped ---------------------------------------------------------------------------------- */

/* The writer neither waits for the copy nor lets it move. */
static void prefetch_of_a_rewritten_datum_is_dropped(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 2};
	heddle_data *d[2];
	machine_start(&m);
	machine_data(&m, 2, d);
	prefetch(&m, d, 2, 1);
	WORK(&m, 10, heddle_rw(d[1]), heddle_on(0));
	struct heddle_trace *trace = late_trace(&m);
	expect_moved(trace, 1, d, "a");
	assert_true(task_of(trace, 2)->start == 0);
	assert_int_equal(m.rt->memories[1].used, UNIT);
	end(&m, trace);
}

/* The datum ends at once. */
static void prefetch_of_an_unregistered_datum_is_dropped(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 2};
	heddle_data *d[2];
	machine_start(&m);
	machine_data(&m, 2, d);
	prefetch(&m, d, 2, 1);
	OK(heddle_unregister(d[1]));
	assert_true(heddle_now(m.rt) == 0);
	assert_int_equal(m.rt->memories[1].used, UNIT);
	OK(heddle_wait_all(m.rt));
	OK(heddle_stop(m.rt));
}

/* The last one is the one that is needed last. */
static void prefetch_is_dropped_when_a_task_needs_its_room(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 4};
	heddle_data *d[6];
	machine_start(&m);
	machine_data(&m, 6, d);
	prefetch(&m, d, 4, 1);
	WORK(&m, 10, heddle_r(d[3]), heddle_r(d[4]), heddle_w(d[5]), heddle_on(1));
	struct heddle_trace *trace = late_trace(&m);
	expect_moved(trace, 1, d, "ade");
	assert_true(task_of(trace, 4)->start == 3 * HOP);
	assert_int_equal(m.rt->memories[1].peak, 4 * UNIT);
	assert_int_equal(machine_stats(&m).evictions, 0);
	end(&m, trace);
}

/* The task waits until d[0], which is moving, has arrived and can be evicted. Meanwhile the prefetch of d[1], which the
 * task needs, begins to move. */
static void prefetch_of_what_a_task_needs_itself_does_not_make_room_for_it(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 3};
	heddle_data *d[4];
	machine_start(&m);
	machine_data(&m, 4, d);
	prefetch(&m, d, 2, 1);
	WORK(&m, 10, heddle_r(d[1]), heddle_w(d[2]), heddle_w(d[3]), heddle_on(1));
	struct heddle_trace *trace = late_trace(&m);
	expect_moved(trace, 1, d, "ab");
	assert_int_equal(trace->transfers[1].reason, HD_PREFETCH);
	assert_true(task_of(trace, 2)->start == 2 * HOP);
	end(&m, trace);
}

/* The first hop of the prefetch, to main memory, has not ended. */
static void prefetch_behind_another_hop_is_dropped_when_its_room_is_needed(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 2, .units = 2};
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	for (int i = 0; i < 2; i++)
		WORK(&m, 10, heddle_w(d[i]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	prefetch(&m, d, 2, 2);
	WORK(&m, 10, heddle_w(d[2]), heddle_on(2));
	struct heddle_trace *trace = late_trace(&m);
	expect_moved(trace, 0, d, "ab");
	expect_moved(trace, 2, d, "a");
	assert_true(task_of(trace, 4)->start == 20);
	end(&m, trace);
}

/* A prefetch that has not begun does not hinder the eviction of its source: GPU 1 writes d[0] back to make room. */
static void prefetch_is_dropped_when_its_source_is_evicted(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1,
	                    .gpus = 2,
	                    .units = 2,
	                    .links = "- {from: memory1, to: memory2, bandwidth_mbs: 1000, latency_us: 100}\n"};
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	for (int i = 0; i < 2; i++)
		WORK(&m, 10, heddle_w(d[i]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	OK(heddle_prefetch(d[1], 2));
	OK(heddle_prefetch(d[0], 2));
	WORK(&m, 10, heddle_w(d[2]), heddle_on(1));
	struct heddle_trace *trace = late_trace(&m);
	expect_moved(trace, 0, d, "a");
	expect_moved(trace, 2, d, "b");
	assert_true(task_of(trace, 4)->start == 20 + HOP);
	assert_false(heddle_data_valid_on(d[0], 1));
	end(&m, trace);
}

/* --- Prefetches of what is being written -------------------------------------------------------------------------- */

/* Callbacks: prefetch a datum to GPU 1, whatever is being done with it, as a policy may. */
static void prefetch_now(void *data, int status)
{
	heddle_data *d = data;
	(void)status;
	hd_core_enter(d->rt);
	hd_prefetch(d, 1);
	hd_core_leave(d->rt);
	OK(heddle_selfcheck(d->rt));
}

/* A task on core 0 writes the datum for 100 us; after 10 and 20 us tasks on core 1 end, and a prefetch is asked for. */
static void write_for_100_us(struct machine *m, heddle_data *d)
{
	WORK(m, 100, heddle_w(d), heddle_on(0));
	for (int i = 0; i < 2; i++)
		WORK(m, 10, heddle_on(1), heddle_then(prefetch_now, d));
}

/* Once, though it was asked for twice, and not only when the reader needs it. */
static void prefetch_of_a_datum_being_written_waits_for_the_writer(void **state)
{
	(void)state;
	struct machine m = {.cpus = 2, .gpus = 1};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	write_for_100_us(&m, d);
	WORK(&m, 105, heddle_on(2));
	WORK(&m, 10, heddle_r(d), heddle_on(2));
	struct heddle_trace *trace = late_trace(&m);
	expect_moved(trace, 1, &d, "a");
	assert_int_equal(trace->transfers[0].reason, HD_PREFETCH);
	assert_true(trace->transfers[0].start == 100);
	assert_true(task_of(trace, 4)->start == 100 + HOP);
	assert_int_equal(machine_stats(&m).prefetches, 1);
	end(&m, trace);
}

static void prefetch_of_an_acquired_datum_waits_for_the_release(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	OK(heddle_acquire(d, HEDDLE_RW));
	prefetch_now(d, 0);
	assert_int_equal(machine_stats(&m).prefetches, 0);
	OK(heddle_release(d));
	assert_int_equal(machine_stats(&m).prefetches, 1);
	end(&m, late_trace(&m));
}

/* No copy of a datum that ends delays its end. */
static void prefetch_of_what_is_unregistered_next_is_forgotten(void **state)
{
	(void)state;
	struct machine m = {.cpus = 2, .gpus = 1, .units = 2};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	write_for_100_us(&m, d);
	OK(heddle_unregister(d));
	assert_true(heddle_now(m.rt) == 100);
	assert_int_equal(machine_stats(&m).prefetches, 0);
	assert_int_equal(m.rt->memories[1].used, 0);
	OK(heddle_stop(m.rt));
}

/* --- What heddle_selfcheck says of them --------------------------------------------------------------------------- */

/* Changes `field` for a moment: the check must say so, with `word` in its message. */
#define BREAKS(m, field, value, word)                                        \
	do {                                                                 \
		__typeof__(field) kept = (field);                            \
		(field) = (value);                                           \
		assert_int_equal(heddle_selfcheck((m)->rt), HEDDLE_E_STATE); \
		assert_non_null(strstr(heddle_last_error(), word));          \
		(field) = kept;                                              \
		OK(heddle_selfcheck((m)->rt));                               \
	} while (0)

static void check_follows_lanes_and_what_is_remembered(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	prefetch(&m, d, 3, 1);
	struct hd_lane *lane = &m.rt->memories[1].in;
	struct hd_transfer *tr = lane->first[HD_HINTED];
	assert_ptr_equal(tr, d[1]->transfers);
	BREAKS(&m, lane->first[HD_HINTED], tr->lane_next, "linked wrongly");
	BREAKS(&m, lane->last[HD_HINTED], tr, "tail of a lane");
	BREAKS(&m, m.rt->memories[1].out.first[HD_HINTED], tr, "does not wait there");
	BREAKS(&m, tr->lane_next, NULL, "tail of a lane");
	BREAKS(&m, tr->urgency, HD_URGENCIES, "urgency is wrong");
	BREAKS(&m, tr->urgency, HD_AWAITED, "both a prefetch and awaited");
	BREAKS(&m, tr->evict, 1, "both a prefetch and awaited");
	BREAKS(&m, tr->moving, 1, "lane");
	BREAKS(&m, tr->from, 1, "no valid copy");
	BREAKS(&m, d[1]->n_wanted, 1, "n_wanted");
	BREAKS(&m, d[1]->replicas[1].wanted, 1, "n_wanted");
	OK(heddle_wait_all(m.rt));
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tasks_that_wait_for_a_copy_go_on_in_their_order),
	    cmocka_unit_test(demanded_copies_overtake_prefetches),
	    cmocka_unit_test(prefetch_becomes_a_demand_when_a_task_waits_for_it),
	    cmocka_unit_test(both_hops_of_a_prefetch_become_demands),
	    cmocka_unit_test(first_hop_of_a_prefetch_becomes_a_demand_alone),
	    cmocka_unit_test(prefetch_of_a_rewritten_datum_is_dropped),
	    cmocka_unit_test(prefetch_of_an_unregistered_datum_is_dropped),
	    cmocka_unit_test(prefetch_is_dropped_when_a_task_needs_its_room),
	    cmocka_unit_test(prefetch_of_what_a_task_needs_itself_does_not_make_room_for_it),
	    cmocka_unit_test(prefetch_behind_another_hop_is_dropped_when_its_room_is_needed),
	    cmocka_unit_test(prefetch_is_dropped_when_its_source_is_evicted),
	    cmocka_unit_test(prefetch_of_a_datum_being_written_waits_for_the_writer),
	    cmocka_unit_test(prefetch_of_an_acquired_datum_waits_for_the_release),
	    cmocka_unit_test(prefetch_of_what_is_unregistered_next_is_forgotten),
	    cmocka_unit_test(check_follows_lanes_and_what_is_remembered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
