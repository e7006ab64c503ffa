/* Copies of arrays between memories that fail: who needs the copy hears of it, with the driver's words. This file
 * defines the copy that the drivers of this machine make, so that the library's own is not linked. */
#include "program.h"
#include "internals.h"

/* For the function below, which has no other way to hear of it. */
static atomic_int n_copies;
static int failing_copy; /* the number of the copy that fails; 0: none */
static int with_words;

int hd_copy_host(const struct heddle_copy *copy)
{
	if (++n_copies == failing_copy)
		return with_words ? hd_error(HEDDLE_E_KERNEL, "the bus caught fire") : HEDDLE_E_KERNEL;
	size_t bytes = copy->from.elem_size;
	for (unsigned d = 0; d < copy->from.n_dims; d++)
		bytes *= copy->from.n[d];
	memcpy(copy->to.base, copy->from.base, bytes); /* no array here has gaps */
	return 0;
}

static heddle_runtime *start_with_accelerator(heddle_codelet **reader)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	*reader = heddle_codelet_new(rt, .name = "reader", .emulated = nothing);
	return rt;
}

/* A task on the accelerator reads two data that are in main memory. Of the copies that begin now, number `failing`
 * fails. */
static void expect_failure(heddle_runtime *rt, heddle_codelet *reader, heddle_data *const d[2], int failing, int words)
{
	heddle_task *t;
	n_copies = 0;
	failing_copy = failing;
	with_words = words;
	assert_ok(heddle_submit(rt, heddle_call(reader), heddle_r(d[0]), heddle_r(d[1]), heddle_out(&t)));
	int status = heddle_task_wait(t);
	assert_int_equal(status, failing ? HEDDLE_E_KERNEL : 0);
	if (failing)
		assert_says(words ? "the bus caught fire" : "a copy between memories failed");
	heddle_task_release(t);
	assert_int_equal(heddle_wait_all(rt), status);
}

static void task_whose_copy_fails_says_what_the_driver_said(void **state)
{
	(void)state;
	for (int failing = 0; failing <= 2; failing++) {
		heddle_codelet *reader;
		heddle_runtime *rt = start_with_accelerator(&reader);
		long x[2] = {1, 2};
		heddle_data *d[2];
		for (int i = 0; i < 2; i++)
			assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d[i]));
		expect_failure(rt, reader, d, failing, 1);
		for (int i = 0; i < 2; i++)
			assert_ok(heddle_unregister(d[i])); /* the value in main memory is good */
		assert_ok(heddle_stop(rt));
		assert_true(x[0] == 1 && x[1] == 2);
	}
}

/* The thread that copies has words of its own left from the failure before. */
static void failure_without_words_does_not_repeat_those_of_another(void **state)
{
	(void)state;
	heddle_codelet *reader;
	heddle_runtime *rt = start_with_accelerator(&reader);
	long x[2] = {1, 2};
	heddle_data *d[2];
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d[i]));
	expect_failure(rt, reader, d, 2, 1);
	expect_failure(rt, reader, d, 1, 0); /* the other datum is there */
	assert_ok(heddle_stop(rt));
}

/* One copy each, the first of which fails: a datum that is not all there is not there. */
static void datum_of_several_arrays_needs_all_of_them(void **state)
{
	(void)state;
	heddle_codelet *reader;
	heddle_runtime *rt = start_with_accelerator(&reader);
	double values[3] = {1, 2, 3};
	uint32_t columns[3] = {0, 1, 0}, row_start[3] = {0, 2, 3};
	long x = 1;
	heddle_data *d[2];
	assert_ok(heddle_csr(rt, 2, 3, values, columns, row_start, sizeof values[0], &d[0]));
	assert_ok(heddle_variable(rt, &x, sizeof x, &d[1]));
	expect_failure(rt, reader, d, 1, 1);
	expect_failure(rt, reader, d, 0, 0);
	assert_int_equal(n_copies, 3); /* the variable was there */
	assert_ok(heddle_stop(rt));
}

/* From one accelerator to the other by way of main memory. When the first half of the way fails there is nothing to
 * make the second half of, and the reader must not run. */
static void copy_in_two_steps_whose_first_fails_has_failed(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 0;
	config.n_emulated = 2;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *writer = heddle_codelet_new(rt, .name = "writer", .emulated = increment);
	heddle_codelet *reader = heddle_codelet_new(rt, .name = "reader", .emulated = count_up);
	atomic_int n_read = 0, *counted = &n_read;
	long x = 1;
	heddle_data *d;
	heddle_task *t;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	failing_copy = 0;
	assert_ok(heddle_submit(rt, heddle_call(writer), heddle_rw(d), heddle_on(0)));
	assert_ok(heddle_wait_all(rt));
	n_copies = 0;
	failing_copy = 1;
	with_words = 1;
	assert_ok(
	    heddle_submit(rt, heddle_call(reader), heddle_r(d), heddle_value(counted), heddle_on(1), heddle_out(&t)));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_KERNEL);
	assert_says("the bus caught fire");
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_int_equal(n_read, 0);
	assert_int_equal(n_copies, 1);
	assert_false(heddle_data_valid_on(d, 2));
	heddle_task_release(t);
	failing_copy = 0;
	assert_ok(heddle_unregister(d)); /* the value is still where it was written */
	assert_int_equal(x, 2);
	assert_ok(heddle_stop(rt));
}

static int increment_all(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		x[i]++;
	return 0;
}

/* A part of a datum comes from the other accelerator with the whole, by way of main memory. */
static void copy_of_a_whole_that_fails_has_failed_for_its_parts(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 0;
	config.n_emulated = 2;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *writer = heddle_codelet_new(rt, .name = "writer", .emulated = increment_all);
	heddle_codelet *reader = heddle_codelet_new(rt, .name = "reader", .emulated = nothing);
	long x[2] = {1, 2};
	heddle_data *d;
	heddle_plan *plan;
	heddle_task *t;
	assert_ok(heddle_vector(rt, x, 2, sizeof x[0], &d));
	assert_ok(heddle_plan_create(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, &plan));
	failing_copy = 0;
	assert_ok(heddle_submit(rt, heddle_call(writer), heddle_rw(d), heddle_on(0)));
	assert_ok(heddle_submit(rt, heddle_call(reader), heddle_r(heddle_plan_child(plan, 0)), heddle_on(0)));
	assert_ok(heddle_wait_all(rt));
	n_copies = 0;
	failing_copy = 1;
	with_words = 1;
	assert_ok(
	    heddle_submit(rt, heddle_call(reader), heddle_r(heddle_plan_child(plan, 0)), heddle_on(1), heddle_out(&t)));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_KERNEL);
	assert_says("the bus caught fire");
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_int_equal(n_copies, 1); /* it is not tried again and again */
	heddle_task_release(t);
	failing_copy = 0;
	assert_ok(heddle_unregister(d));
	assert_true(x[0] == 2 && x[1] == 3);
	assert_ok(heddle_stop(rt));
}

/* The value is on the accelerator when the runtime stops, and cannot be brought to the program's buffer. */
static void stop_says_that_a_value_could_not_be_brought_home(void **state)
{
	(void)state;
	heddle_codelet *unused;
	heddle_runtime *rt = start_with_accelerator(&unused);
	heddle_codelet *writer = heddle_codelet_new(rt, .name = "writer", .emulated = increment);
	long x = 1;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	failing_copy = 0;
	assert_ok(heddle_submit(rt, heddle_call(writer), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
	n_copies = 0;
	failing_copy = 1;
	with_words = 1;
	assert_int_equal(heddle_stop(rt), HEDDLE_E_KERNEL);
	assert_says("the bus caught fire");
	assert_int_equal(x, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(task_whose_copy_fails_says_what_the_driver_said),
	    cmocka_unit_test(failure_without_words_does_not_repeat_those_of_another),
	    cmocka_unit_test(datum_of_several_arrays_needs_all_of_them),
	    cmocka_unit_test(copy_in_two_steps_whose_first_fails_has_failed),
	    cmocka_unit_test(copy_of_a_whole_that_fails_has_failed_for_its_parts),
	    cmocka_unit_test(stop_says_that_a_value_could_not_be_brought_home),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
