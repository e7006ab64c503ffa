/* heddle_forget: what becomes of the value, of its copies, and of who needs it. */
#include "forgotten.h"

static void a_forgotten_value_must_be_written_before_it_is_read(void **state)
{
	(void)state;
	for (int n = 0; n < 4; n++) { /* one memory or two; with a buffer or without */
		struct codelets c;
		heddle_runtime *rt = begin(&c, n & 1, 0);
		long x = 1;
		heddle_data *d;
		assert_ok(heddle_variable(rt, n & 2 ? NULL : &x, sizeof x, &d));
		assert_ok(heddle_data_set_name(d, "x"));
		assert_ok(heddle_submit(rt, heddle_call(c.put), heddle_w(d)));
		assert_ok(heddle_submit(rt, heddle_call(n & 1 ? c.add_far : c.add), heddle_rw(d)));
		assert_ok(heddle_forget(d));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_selfcheck(rt));
		assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(d)));
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED);
		assert_says("x was forgotten (heddle_forget)");
		assert_int_equal(heddle_acquire(d, HEDDLE_R), HEDDLE_E_CANCELLED);
		assert_says("x was forgotten (heddle_forget)");
		assert_ok(heddle_submit(rt, heddle_call(n & 1 ? c.put_far : c.put), heddle_w(d)));
		assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(d)));
		assert_ok(heddle_acquire(d, HEDDLE_R));
		assert_int_equal(*(long *)heddle_data_ptr(d), 8);
		assert_ok(heddle_release(d));
		assert_ok(heddle_selfcheck(rt));
		assert_ok(heddle_unregister(d));
		assert_ok(heddle_stop(rt));
	}
}

static void its_copies_are_freed_and_it_ends_without_a_value(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 1, 0);
	long x = 1;
	heddle_data *d;
	struct heddle_memory_stats far;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c.add_far), heddle_rw(d)));
	assert_ok(heddle_forget(d));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_memory_stats(rt, 1, &far));
	assert_int_equal(far.used, 0);
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 1); /* nothing was copied back */
	assert_ok(heddle_stop(rt));
}

static void a_reduction_into_it_begins_with_the_neutral_element(void **state)
{
	(void)state;
	for (int n = 0; n < 2; n++) {
		struct codelets c;
		heddle_runtime *rt = begin(&c, 0, n);
		long x = 100;
		heddle_data *d;
		assert_ok(heddle_variable(rt, &x, sizeof x, &d));
		assert_ok(heddle_data_set_reduction(d, c.zero, c.combine));
		assert_ok(heddle_forget(d));
		for (int i = 0; i < 5; i++)
			assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_redux(d)));
		assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(d)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_unregister(d));
		assert_int_equal(x, 6);
		assert_ok(heddle_stop(rt));
	}
}

static void pieces_of_it_must_be_written_too(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 0, 0);
	long x[2] = {1, 2};
	heddle_data *d;
	heddle_plan *plan;
	assert_ok(heddle_vector(rt, x, 2, sizeof *x, &d));
	assert_ok(heddle_plan_create(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, &plan));
	assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(heddle_plan_child(plan, 0))));
	assert_ok(heddle_forget(d));
	assert_ok(heddle_submit(rt, heddle_call(c.put), heddle_w(heddle_plan_child(plan, 0))));
	assert_ok(heddle_submit(rt, heddle_call(c.put), heddle_w(heddle_plan_child(plan, 1))));
	assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_forget(d));
	assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(heddle_plan_child(plan, 1))));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED);
	assert_ok(heddle_selfcheck(rt));
	heddle_plan_destroy(plan);
	heddle_unregister(d);
	assert_int_equal(x[0], 8);
	heddle_stop(rt);
}

static void what_cannot_be_forgotten_is_refused(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 0, 0);
	assert_int_equal(heddle_forget(NULL), HEDDLE_E_INVALID);
	heddle_stop(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_forgotten_value_must_be_written_before_it_is_read),
	    cmocka_unit_test(its_copies_are_freed_and_it_ends_without_a_value),
	    cmocka_unit_test(a_reduction_into_it_begins_with_the_neutral_element),
	    cmocka_unit_test(pieces_of_it_must_be_written_too),
	    cmocka_unit_test(what_cannot_be_forgotten_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
