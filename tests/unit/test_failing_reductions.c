/* Reductions whose own kernels fail: who is to blame, and when the program hears of it. */
#include "program.h"

static int set_zero(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 0;
	return 0;
}

static int add_long(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += *(const long *)heddle_ptr(c, 1);
	return 0;
}

static int fail_at_once(heddle_context *c)
{
	return heddle_fail(c, 7, "no luck");
}

struct scene {
	heddle_runtime *rt;
	heddle_data *sum;
	long value;
};

static int submit_nothing(heddle_context *c)
{
	(void)c;
	return 0;
}

/* Three contributions to a sum, with these kernels of the reduction. */
static void contribute(struct scene *s, heddle_kernel init, heddle_kernel combine)
{
	*s = (struct scene){.rt = start()};
	heddle_codelet *count = heddle_codelet_new(s->rt, .name = "count", .cpu = increment);
	assert_ok(heddle_variable(s->rt, &s->value, sizeof s->value, &s->sum));
	assert_ok(heddle_data_set_reduction(s->sum, heddle_codelet_new(s->rt, .name = "begin", .cpu = init),
	                                    heddle_codelet_new(s->rt, .name = "add_up", .cpu = combine)));
	for (int i = 0; i < 3; i++)
		assert_ok(heddle_submit(s->rt, heddle_call(count), heddle_redux(s->sum)));
}

static void failing_init_is_to_blame_and_not_the_contributor(void **state)
{
	(void)state;
	struct scene s;
	contribute(&s, fail_at_once, add_long);
	assert_int_equal(heddle_wait_all(s.rt), HEDDLE_E_KERNEL);
	assert_says("count");
	assert_says("begin, which begins the reduction, returned 7");
	assert_says("no luck");
	assert_null(strstr(heddle_last_error(), "its kernel returned"));
	assert_int_equal(heddle_unregister(s.sum), HEDDLE_E_CANCELLED);
	assert_says("begin, which begins the reduction, returned 7");
	assert_ok(heddle_stop(s.rt));
}

static void next_wait_reports_a_failing_combine(struct scene *s)
{
	assert_int_equal(heddle_wait_all(s->rt), HEDDLE_E_KERNEL);
	assert_says("add_up");
	assert_says("no luck");
	assert_ok(heddle_wait_all(s->rt)); /* once */
	assert_ok(heddle_stop(s->rt));
}

static void failing_combine_is_reported_when_a_task_reads_the_datum(void **state)
{
	(void)state;
	struct scene s;
	contribute(&s, set_zero, fail_at_once);
	heddle_codelet *read = heddle_codelet_new(s.rt, .name = "read", .cpu = nothing);
	assert_ok(heddle_submit(s.rt, heddle_call(read), heddle_r(s.sum)));
	next_wait_reports_a_failing_combine(&s);
}

static void failing_combine_is_reported_when_a_task_overwrites_the_datum(void **state)
{
	(void)state;
	struct scene s;
	contribute(&s, set_zero, fail_at_once);
	heddle_codelet *write = heddle_codelet_new(s.rt, .name = "write", .cpu = set_zero);
	assert_ok(heddle_submit(s.rt, heddle_call(write), heddle_w(s.sum)));
	next_wait_reports_a_failing_combine(&s);
}

static void failing_combine_is_reported_when_the_datum_is_acquired(void **state)
{
	(void)state;
	struct scene s;
	contribute(&s, set_zero, fail_at_once);
	assert_int_equal(heddle_acquire(s.sum, HEDDLE_R), HEDDLE_E_CANCELLED);
	assert_says("add_up");
	next_wait_reports_a_failing_combine(&s);
}

static void failing_combine_is_reported_when_the_datum_is_unregistered(void **state)
{
	(void)state;
	struct scene s;
	contribute(&s, set_zero, fail_at_once);
	assert_ok(heddle_unregister_async(s.sum));
	next_wait_reports_a_failing_combine(&s);
}

static void failing_combine_is_reported_when_the_runtime_stops(void **state)
{
	(void)state;
	struct scene s;
	contribute(&s, set_zero, fail_at_once);
	assert_int_equal(heddle_stop(s.rt), HEDDLE_E_KERNEL);
	assert_says("add_up");
}

static void failing_combine_is_reported_by_the_wait_that_follows_the_contributions(void **state)
{
	(void)state;
	struct scene s;
	contribute(&s, set_zero, fail_at_once);
	next_wait_reports_a_failing_combine(&s);
}

/* The tasks of a reduction run their kernels, whatever their codelets have besides. */
static void failing_combine_that_has_a_sub_graph_is_reported(void **state)
{
	(void)state;
	struct heddle_config config;
	struct scene s;
	assert_ok(heddle_config_init(&config));
	config.n_cpu = 2;
	config.n_cuda = config.n_opencl = 0;
	config.expand = "adaptive";
	assert_ok(heddle_start(&config, &s.rt));
	heddle_codelet *count = heddle_codelet_new(s.rt, .name = "count", .cpu = increment);
	heddle_codelet *begin = heddle_codelet_new(s.rt, .name = "begin", .cpu = set_zero);
	heddle_codelet *add =
	    heddle_codelet_new(s.rt, .name = "add_up", .cpu = fail_at_once, .subgraph = submit_nothing);
	assert_ok(heddle_variable(s.rt, &s.value, sizeof s.value, &s.sum));
	assert_ok(heddle_data_set_reduction(s.sum, begin, add));
	assert_ok(heddle_submit(s.rt, heddle_call(count), heddle_redux(s.sum)));
	next_wait_reports_a_failing_combine(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(failing_init_is_to_blame_and_not_the_contributor),
	    cmocka_unit_test(failing_combine_is_reported_when_a_task_reads_the_datum),
	    cmocka_unit_test(failing_combine_is_reported_when_a_task_overwrites_the_datum),
	    cmocka_unit_test(failing_combine_is_reported_when_the_datum_is_acquired),
	    cmocka_unit_test(failing_combine_is_reported_when_the_datum_is_unregistered),
	    cmocka_unit_test(failing_combine_is_reported_when_the_runtime_stops),
	    cmocka_unit_test(failing_combine_that_has_a_sub_graph_is_reported),
	    cmocka_unit_test(failing_combine_is_reported_by_the_wait_that_follows_the_contributions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
