/* What the program leaves to heddle_stop: data that are still registered, held or partitioned. */
#include "program.h"

/* The program's data are older than the temporaries, some of them acquired: were each looked for from the newest on,
 * this would take minutes. */
static void stop_takes_time_in_proportion_to_the_data_left(void **state)
{
	(void)state;
	enum { N_LEFT = 100000 };
	heddle_runtime *rt = start();
	long *x = calloc(N_LEFT, sizeof *x);
	assert_non_null(x);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	for (int i = 0; i < N_LEFT; i++) {
		heddle_data *d;
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d));
		if (i % 1000 == 0)
			assert_ok(heddle_acquire(d, HEDDLE_R));
		if (i % 100 == 0)
			assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
	}
	for (int i = 0; i < N_LEFT; i++)
		assert_ok(heddle_variable(rt, NULL, sizeof(long), &(heddle_data *){NULL}));
	assert_ok(heddle_stop(rt));
	for (int i = 0; i < N_LEFT; i++)
		assert_int_equal(x[i], i % 100 == 0);
	free(x);
}

static void stop_puts_pieces_of_pieces_together(void **state)
{
	(void)state;
	enum { N = 64 };
	heddle_runtime *rt = start();
	long x[N] = {0};
	heddle_data *whole;
	assert_ok(heddle_vector(rt, x, N, sizeof x[0], &whole));
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	heddle_data *d = whole;
	for (int n = N; n > 1; n /= 2) { /* the second half of the second half, and so on */
		assert_ok(heddle_partition(d, &halves, NULL));
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(heddle_child(d, 0))));
		d = heddle_child(d, 1);
	}
	assert_ok(heddle_stop(rt));
	long sum = 0;
	for (int i = 0; i < N; i++)
		sum += x[i];
	assert_int_equal(sum, 6);
	assert_int_equal(x[0] + x[32] + x[48] + x[56] + x[60] + x[62], 6);
}

/* That the models cannot be stored is an error, too, but not the first one. */
static void stop_says_what_has_failed_first(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.model_dir = "/dev/null/models";
	heddle_runtime *rt = start_with(&config);
	long x = 1;
	int code = 42;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	heddle_codelet *fails = heddle_codelet_new(rt, .name = "fails", .cpu = fail_with);
	assert_ok(heddle_submit(rt, heddle_call(fails), heddle_rw(d), heddle_value((int){0})));
	assert_ok(heddle_submit(rt, heddle_call(fails), heddle_rw(d), heddle_value(code)));
	assert_int_equal(heddle_stop(rt), HEDDLE_E_KERNEL);
	assert_says("row 42 is bad");
	assert_int_equal(heddle_last_code(), 42);
}

/* HEDDLE_E_STATE says that nothing has been stopped, and so it is not the status of a task. */
static void stop_that_has_stopped_says_so(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_data *d;
	assert_ok(heddle_vector(rt, NULL, 10, sizeof(long), &d));
	assert_ok(heddle_submit(rt, heddle_call(heddle_codelet_new(rt, .name = "read", .cpu = nothing)), heddle_r(d)));
	assert_int_equal(heddle_stop(rt), HEDDLE_E_CANCELLED);
	assert_says("nothing has ever written it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(stop_takes_time_in_proportion_to_the_data_left),
	    cmocka_unit_test(stop_puts_pieces_of_pieces_together),
	    cmocka_unit_test(stop_says_what_has_failed_first),
	    cmocka_unit_test(stop_that_has_stopped_says_so),
	};
	return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
