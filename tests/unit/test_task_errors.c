/* Tasks that fail: which failure a wait reports, what models learn from it, and a reduction that cannot begin. */
#include <math.h>
#include <heddle/graph.h>
#include "program.h"

/* A datum of which the last value was never computed, as the wait before has reported. */
static heddle_data *void_datum(heddle_runtime *rt, heddle_codelet *failing, long *value)
{
	heddle_data *d;
	int code = 3;
	assert_ok(heddle_variable(rt, value, sizeof *value, &d));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_w(d), heddle_value(code), heddle_named("older")));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("older");
	return d;
}

/* The cancelled reader is a consequence of what the wait before has reported; the failure after it is news. */
static void failure_after_a_cancelled_task_is_what_the_wait_reports(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	long x = 0;
	int code = 4;
	heddle_data *d = void_datum(rt, failing, &x);
	heddle_task *reader;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_out(&reader)));
	assert_int_equal(heddle_task_wait(reader), HEDDLE_E_CANCELLED);
	heddle_task_release(reader);
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(code), heddle_named("newer")));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("newer");
	assert_says("returned 4");
	assert_int_equal(heddle_unregister(d), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(rt));
}

static void cancelled_task_alone_is_reported_as_such(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	long x = 0;
	heddle_data *d = void_datum(rt, failing, &x);
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_named("reader")));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED);
	assert_says("reader");
	assert_int_equal(heddle_unregister(d), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(rt));
}

/* What a graph that was recorded says of the time of its only task: the mean of the model's samples, NAN for none. */
static double recorded_time(int code)
{
	struct heddle_config config = small_config();
	struct heddle_graph *graph;
	config.trace = 1;
	config.n_cpu = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "perhaps", .cpu = fail_with);
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(code)));
	assert_int_equal(heddle_wait_all(rt), code ? HEDDLE_E_KERNEL : 0);
	assert_ok(heddle_graph_record(rt, &graph));
	assert_int_equal(graph->n_tasks, 1);
	double time = graph->times ? graph->times[0] : NAN;
	heddle_graph_free(graph);
	assert_ok(heddle_stop(rt));
	return time;
}

static void models_learn_nothing_from_a_kernel_that_failed(void **state)
{
	(void)state;
	assert_true(recorded_time(0) >= 0);
	assert_true(isnan(recorded_time(1)));
}

/* --- Reductions --------------------------------------------------------------------------------------------------- */

static int fail_to_begin(heddle_context *c)
{
	return heddle_fail(c, 77, "no neutral element");
}

static int add(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += *(const long *)heddle_ptr(c, 1);
	return 0;
}

static int count_run(heddle_context *c)
{
	++*(atomic_int *)pointer_value(c);
	return 0;
}

/* Without a neutral element in its private copy the contribution must not run: it is the task that fails. */
static void contribution_fails_with_the_kernel_that_should_begin_it(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *init = heddle_codelet_new(rt, .name = "init", .cpu = fail_to_begin);
	heddle_codelet *combine = heddle_codelet_new(rt, .name = "combine", .cpu = add);
	heddle_codelet *contribute = heddle_codelet_new(rt, .name = "contribute", .cpu = count_run);
	atomic_int n = 0, *counted = &n;
	long x = 5;
	heddle_data *d;
	heddle_task *t;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_data_set_reduction(d, init, combine));
	assert_ok(heddle_submit(rt, heddle_call(contribute), heddle_redux(d), heddle_value(counted), heddle_out(&t)));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_KERNEL);
	assert_says("contribute");
	assert_says("no neutral element");
	assert_says("77");
	heddle_task_release(t);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_int_equal(n, 0);
	assert_int_equal(heddle_unregister(d), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(rt));
}

/* An emulated accelerator that is slower than a core goes on pretending to run a kernel after that has ended; but a
 * kernel that fails has failed. */
static void kernel_that_fails_on_a_slow_accelerator_has_failed(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 0;
	config.n_emulated = 1;
	config.emulated_slowdown = 2;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .emulated = fail_with);
	int good = 0, bad = 5;
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(good)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(bad)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("returned 5");
	assert_ok(heddle_stop(rt));
}

/* The one place from which a wait's caller learns what the kernel meant. */
static void the_code_of_a_failure_reaches_every_kind_of_wait(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	heddle_group *group;
	heddle_task *task;
	int first = 5, second = -6;
	assert_ok(heddle_group_create(rt, &group));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(first), heddle_out(&task)));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(second), heddle_in_group(group)));
	assert_int_equal(heddle_task_wait(task), HEDDLE_E_KERNEL);
	assert_int_equal(heddle_last_code(), 5);
	heddle_task_release(task);
	assert_int_equal(heddle_group_wait(group), HEDDLE_E_KERNEL);
	assert_int_equal(heddle_last_code(), -6);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_int_equal(heddle_last_code(), 5);
	assert_int_equal(heddle_wait_all(NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_last_code(), 0);
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(second), heddle_in_group(group)));
	heddle_group_free(group);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_int_equal(heddle_last_code(), -6);
	assert_ok(heddle_stop(rt));
}

static int pass_error_on(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	return heddle_get(c, 0, int) ? heddle_submit(rt, heddle_on(1000)) : heddle_wait_all(rt);
}

/* A kernel returns what a function of the library has returned to it: the wait says what that has said. */
static void an_error_that_a_kernel_passes_on_is_told(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *passing = heddle_codelet_new(rt, .name = "passing", .cpu = pass_error_on);
	heddle_codelet *own = heddle_codelet_new(rt, .name = "own", .cpu = fail_always);
	for (int i = 0; i < 2; i++) {
		assert_ok(heddle_submit(rt, heddle_call(passing), heddle_value(i), heddle_on(0)));
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
		assert_says(i ? "passing (task 1): synchronisation: there is no worker 1000"
		              : "passing (task 0): heddle_wait_all blocks and cannot be called from a kernel");
		assert_says(i ? "(its kernel returned -1 on " : "(its kernel returned -10 on ");
	}
	assert_ok(heddle_submit(rt, heddle_call(own), heddle_on(0)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("own (task 2): its kernel returned 3 on ");
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(failure_after_a_cancelled_task_is_what_the_wait_reports),
	    cmocka_unit_test(cancelled_task_alone_is_reported_as_such),
	    cmocka_unit_test(models_learn_nothing_from_a_kernel_that_failed),
	    cmocka_unit_test(contribution_fails_with_the_kernel_that_should_begin_it),
	    cmocka_unit_test(kernel_that_fails_on_a_slow_accelerator_has_failed),
	    cmocka_unit_test(the_code_of_a_failure_reaches_every_kind_of_wait),
	    cmocka_unit_test(an_error_that_a_kernel_passes_on_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
