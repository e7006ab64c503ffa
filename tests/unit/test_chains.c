/* Access chains: who may go on when several tasks want the same data, and what policies are told of those that
 * follow. */
#include "probe.h"
#include "virtual_machine.h"

/* --- Tokens of commuting tasks ------------------------------------------------------------------------------------ */

/* 0 holds x until 100, 1 holds y until 10. 2 wants both and waits for y first; when y is free it waits for x instead,
 * and y goes on to 3, which was behind it and wants nothing else. */
static void token_that_cannot_be_used_is_offered_to_the_next(void **state)
{
	(void)state;
	struct machine m = {.cpus = 4};
	heddle_data *d[2], **x = &d[0], **y = &d[1];
	machine_start(&m);
	machine_data(&m, 2, d);
	WORK(&m, 100, heddle_commute(*x));
	WORK(&m, 10, heddle_commute(*y));
	WORK(&m, 10, heddle_commute(*y), heddle_commute(*x));
	WORK(&m, 20, heddle_commute(*y));
	struct heddle_trace *trace = machine_trace(&m);
	assert_true(task_of(trace, 3)->start == 10);
	assert_true(task_of(trace, 2)->start == 100);
	assert_true(heddle_trace_makespan(trace) == 110);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* 1 gives two tokens back together. 2 wants both and a third one, which 0 holds until 100; so both
 * tokens go to the tasks behind 2. */
static void all_tokens_that_cannot_be_used_are_offered(void **state)
{
	(void)state;
	struct machine m = {.cpus = 4};
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	WORK(&m, 100, heddle_commute(d[0]));
	WORK(&m, 10, heddle_commute(d[1]), heddle_commute(d[2]));
	WORK(&m, 5, heddle_commute(d[1]), heddle_commute(d[2]), heddle_commute(d[0]));
	WORK(&m, 20, heddle_commute(d[2]));
	WORK(&m, 30, heddle_commute(d[1]));
	struct heddle_trace *trace = machine_trace(&m);
	assert_true(task_of(trace, 3)->start == 10);
	assert_true(task_of(trace, 4)->start == 10);
	assert_true(task_of(trace, 2)->start == 100);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* --- What policies are told of those that follow ------------------------------------------------------------------ */

enum { TOLD = 8 };
static struct {
	uint64_t about; /* the task that is asked about when it has ended; set by the test */
	int once;       /* how */
	size_t n;       /* times that a successor was told of */
	uint64_t order[TOLD];
	unsigned n_preds[TOLD];
} told;

static void note_successor(heddle_task *successor, unsigned n_preds, void *arg)
{
	(void)arg;
	assert_true(told.n < TOLD);
	told.order[told.n] = heddle_task_order(successor);
	told.n_preds[told.n++] = n_preds;
}

static void ask_for_successors(heddle_task *t, unsigned worker)
{
	(void)worker;
	if (heddle_task_order(t) == told.about)
		heddle_task_successors(t, told.once, note_successor, NULL);
}

static void start_asking(struct machine *m, uint64_t about, int once)
{
	*m = (struct machine){.cpus = 2, .sched = "probe"};
	memset(&told, 0, sizeof told);
	told.about = about;
	told.once = once;
	probe_set((struct probe){.on_done = ask_for_successors});
	machine_start(m);
}

struct late {
	struct machine *m;
	heddle_data *d, *other;
};

static void submit_writer(void *arg, int status)
{
	const struct late *late = arg;
	assert_int_equal(status, 0);
	WORK(late->m, 10, heddle_rw(late->d));
}

/* Two readers; when the first has ended, a writer comes. It waits for the other alone. */
static void predecessors_that_have_ended_are_not_counted(void **state)
{
	(void)state;
	struct machine m;
	start_asking(&m, 1, 0);
	struct late late = {.m = &m};
	machine_data(&m, 1, &late.d);
	WORK(&m, 10, heddle_r(late.d), heddle_then(submit_writer, &late));
	WORK(&m, 100, heddle_r(late.d));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(told.n, 1);
	assert_int_equal(told.order[0], 2);
	assert_int_equal(told.n_preds[0], 1);
	OK(heddle_stop(m.rt));
}

/* Two readers, and two writers that come while both readers are there: the first waits for both readers, the second for
 * the first alone. */
static void predecessors_are_those_of_the_group_before(void **state)
{
	(void)state;
	struct machine m;
	heddle_data *d;
	start_asking(&m, 1, 0);
	machine_data(&m, 1, &d);
	WORK(&m, 10, heddle_r(d));
	WORK(&m, 100, heddle_r(d));
	WORK(&m, 10, heddle_rw(d));
	WORK(&m, 10, heddle_rw(d));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(told.n, 1);
	assert_int_equal(told.order[0], 2);
	assert_int_equal(told.n_preds[0], 2);
	OK(heddle_stop(m.rt));
}

static void submit_reader_of_both(void *arg, int status)
{
	const struct late *late = arg;
	assert_int_equal(status, 0);
	WORK(late->m, 10, heddle_r(late->d), heddle_r(late->other));
}

/* 1 has ended, and 2 reads what it wrote. 3 joins it there, so that it waits for 0 alone. */
static void reader_that_joins_others_does_not_count_the_writer_before(void **state)
{
	(void)state;
	struct machine m;
	heddle_data *d[2];
	start_asking(&m, 0, 0);
	machine_data(&m, 2, d);
	struct late late = {.m = &m, .d = d[0], .other = d[1]};
	WORK(&m, 50, heddle_w(d[1]));
	WORK(&m, 10, heddle_w(d[0]), heddle_then(submit_reader_of_both, &late));
	WORK(&m, 100, heddle_r(d[0]));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(told.n, 1);
	assert_int_equal(told.order[0], 3);
	assert_int_equal(told.n_preds[0], 1);
	OK(heddle_stop(m.rt));
}

/* 1 reads both data that 0 writes, 2 only the second; 3 comes after 1, and is no direct successor. */
static void successor_through_two_data_is_told_once_if_asked(void **state)
{
	(void)state;
	for (int once = 0; once <= 1; once++) {
		struct machine m;
		heddle_data *d[2];
		start_asking(&m, 0, once);
		machine_data(&m, 2, d);
		WORK(&m, 10, heddle_w(d[0]), heddle_w(d[1]));
		WORK(&m, 10, heddle_r(d[0]), heddle_r(d[1]));
		WORK(&m, 10, heddle_r(d[1]));
		WORK(&m, 10, heddle_rw(d[0]));
		OK(heddle_wait_all(m.rt));
		static const uint64_t all[] = {1, 1, 2}, each[] = {1, 2};
		assert_int_equal(told.n, once ? 2 : 3);
		assert_memory_equal(told.order, once ? each : all, told.n * sizeof *all);
		assert_int_equal(told.n_preds[0], 2); /* once per datum here, too */
		assert_int_equal(told.n_preds[told.n - 1], 1);
		OK(heddle_stop(m.rt));
	}
}

/* 1 waits for 0 through a datum and explicitly. */
static void successor_by_datum_and_explicitly_is_told_once_if_asked(void **state)
{
	(void)state;
	for (int once = 0; once <= 1; once++) {
		struct machine m;
		heddle_data *d;
		heddle_task *t;
		start_asking(&m, 0, once);
		machine_data(&m, 1, &d);
		WORK(&m, 10, heddle_w(d), heddle_out(&t));
		WORK(&m, 10, heddle_r(d), heddle_after(t));
		OK(heddle_wait_all(m.rt));
		assert_int_equal(told.n, once ? 1 : 2);
		assert_int_equal(told.order[0], 1);
		assert_int_equal(told.n_preds[0], 2);
		heddle_task_release(t);
		OK(heddle_stop(m.rt));
	}
}

/* 1 reads the datum that nobody waits for any longer together with 0, and waits for 0 through the other: told of it. */
static void successor_is_told_though_it_shares_another_datum_already(void **state)
{
	(void)state;
	struct machine m;
	heddle_data *d[2];
	start_asking(&m, 0, 1);
	machine_data(&m, 2, d);
	WORK(&m, 10, heddle_r(d[0]), heddle_w(d[1]));
	WORK(&m, 10, heddle_r(d[0]), heddle_r(d[1]));
	WORK(&m, 10, heddle_rw(d[0])); /* somebody waits for the first datum, but not 1 */
	OK(heddle_wait_all(m.rt));
	assert_int_equal(told.n, 2);
	assert_int_equal(told.order[0], 2);
	assert_int_equal(told.order[1], 1);
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(token_that_cannot_be_used_is_offered_to_the_next),
	    cmocka_unit_test(all_tokens_that_cannot_be_used_are_offered),
	    cmocka_unit_test(predecessors_that_have_ended_are_not_counted),
	    cmocka_unit_test(predecessors_are_those_of_the_group_before),
	    cmocka_unit_test(reader_that_joins_others_does_not_count_the_writer_before),
	    cmocka_unit_test(successor_through_two_data_is_told_once_if_asked),
	    cmocka_unit_test(successor_by_datum_and_explicitly_is_told_once_if_asked),
	    cmocka_unit_test(successor_is_told_though_it_shares_another_datum_already),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
