/* Private copies of scratch buffers and reductions: how many there are, what their kernels take, when they go. */
#include "internals.h"
#include "virtual_machine.h"

enum { INIT = 3, COMBINE = 7 };

static double init_time(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return INIT;
}

static double combine_time(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return COMBINE;
}

/* A machine, and on it a datum of one unit that can be reduced. */
static heddle_data *start_reducible(struct machine *m)
{
	heddle_data *d;
	machine_start(m);
	machine_data(m, 1, &d);
	heddle_codelet *init = heddle_codelet_new(m->rt, .name = "init", .cpu = machine_kernel, .cuda = machine_kernel,
	                                          .model = HEDDLE_MODEL_GIVEN, .time = init_time);
	heddle_codelet *combine =
	    heddle_codelet_new(m->rt, .name = "combine", .cpu = machine_kernel, .cuda = machine_kernel,
	                       .model = HEDDLE_MODEL_GIVEN, .time = combine_time);
	OK(heddle_data_set_reduction(d, init, combine));
	return d;
}

static size_t count_tasks(const struct heddle_trace *trace, const char *codelet)
{
	size_t n = 0;
	for (size_t i = 0; i < trace->n_tasks; i++)
		n += strcmp(trace->codelets[trace->tasks[i].codelet].name, codelet) == 0;
	return n;
}

static uint64_t used(const struct machine *m, unsigned node)
{
	return m->rt->memories[node].used / UNIT;
}

/* Each worker makes its copy neutral once, and adds to it twice; then the copies are combined one after the other. */
static void reduction_takes_one_init_and_one_combination_per_worker(void **state)
{
	(void)state;
	struct machine m = {.cpus = 2};
	heddle_data *d = start_reducible(&m);
	for (unsigned i = 0; i < 4; i++)
		WORK(&m, 10, heddle_redux(d), heddle_on(i % 2));
	WORK(&m, 10, heddle_r(d));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(count_tasks(trace, "combine"), 2);
	assert_true(heddle_trace_makespan(trace) == INIT + 10 + 10 + 2 * COMBINE + 10);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* A second reduction begins anew: its copies are made neutral again. */
static void every_reduction_begins_with_neutral_copies(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1};
	heddle_data *d = start_reducible(&m);
	for (int i = 0; i < 2; i++) {
		WORK(&m, 10, heddle_redux(d));
		WORK(&m, 10, heddle_r(d));
	}
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(count_tasks(trace, "combine"), 2);
	assert_true(heddle_trace_makespan(trace) == 2 * (INIT + 10 + COMBINE + 10));
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* The copy of a reduction takes room where its worker is until it has been combined; that of a scratch buffer stays for
 * the next task that wants one. */
static void copies_of_a_reduction_go_and_scratch_buffers_stay(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d = start_reducible(&m);
	WORK(&m, 10, heddle_redux(d), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(used(&m, 1), 1);
	WORK(&m, 10, heddle_scratch(d), heddle_on(1)); /* goes with the readers: the reduction ends */
	OK(heddle_wait_all(m.rt));
	WORK(&m, 10, heddle_rw(d), heddle_on(0));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(used(&m, 1), 1); /* the scratch buffer */
	for (int i = 0; i < 3; i++) {
		WORK(&m, 10, heddle_scratch(d), heddle_on(1));
		WORK(&m, 10, heddle_redux(d), heddle_on(1));
	}
	WORK(&m, 10, heddle_rw(d), heddle_on(0));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(used(&m, 1), 1);
	OK(heddle_unregister(d));
	assert_int_equal(used(&m, 1), 0);
	OK(heddle_stop(m.rt));
}

/* What a scratch buffer held is worth nothing once its task has ended: it makes room, and nothing is written back. */
static void scratch_buffer_is_dropped_to_make_room(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 2};
	heddle_data *d[3];
	machine_start(&m);
	machine_data(&m, 3, d);
	WORK(&m, 10, heddle_scratch(d[0]), heddle_w(d[1]));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(used(&m, 1), 2);
	WORK(&m, 10, heddle_w(d[2]));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(machine_stats(&m).transfers, 0);
	assert_true(heddle_data_valid_on(d[1], 1) && heddle_data_valid_on(d[2], 1));
	OK(heddle_stop(m.rt));
}

/* Two workers of one memory have a scratch buffer each, for they run at the same time. */
static void scratch_buffers_are_per_worker(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .workers_per_gpu = 2};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	for (unsigned i = 0; i < 6; i++)
		WORK(&m, 10, heddle_scratch(d), heddle_on(i % 2));
	struct heddle_trace *trace = machine_trace(&m);
	assert_true(heddle_trace_makespan(trace) == 30);
	assert_int_equal(used(&m, 1), 2);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reduction_takes_one_init_and_one_combination_per_worker),
	    cmocka_unit_test(every_reduction_begins_with_neutral_copies),
	    cmocka_unit_test(copies_of_a_reduction_go_and_scratch_buffers_stay),
	    cmocka_unit_test(scratch_buffer_is_dropped_to_make_room),
	    cmocka_unit_test(scratch_buffers_are_per_worker),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
