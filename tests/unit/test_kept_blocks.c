/* Memory that a kernel has kept (heddle_context_keep): it is the program's, and no other datum gets it. */
#include "program.h"

/* What the kernel `keep` has kept, of a whole datum and of a piece. */
static double *kept[2];

static int set(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) = 1;
	return 0;
}

static int keep(heddle_context *c)
{
	double *x = heddle_ptr(c, 0);
	x[0] = 5;
	heddle_context_keep(c, 0);
	heddle_context_keep(c, 1); /* there is none */
	kept[kept[0] != NULL] = x;
	return 0;
}

static void memory_kept_by_a_kernel_is_left_to_the_program(void **state)
{
	(void)state;
	for (int piece = 0; piece < 2; piece++) {
		heddle_runtime *rt = start();
		heddle_codelet *fill = heddle_codelet_new(rt, .name = "set", .cpu = set);
		heddle_codelet *keeps = heddle_codelet_new(rt, .name = "keep", .cpu = keep);
		struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
		heddle_data *d, *other;
		assert_ok(heddle_vector(rt, NULL, 2, sizeof(double), &d));
		assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(d), heddle_on(0)));
		if (piece)
			assert_ok(heddle_partition(d, &halves, NULL));
		heddle_data *used = piece ? heddle_child(d, 1) : d;
		assert_ok(heddle_submit(rt, heddle_call(keeps), heddle_rw(used), heddle_on(0)));
		assert_ok(heddle_wait_all(rt));
		if (piece)
			assert_ok(heddle_unpartition(d));
		assert_ok(heddle_unregister(d));
		assert_ok(heddle_vector(rt, NULL, 2, sizeof(double), &other));
		assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(other), heddle_on(0)));
		assert_ok(heddle_acquire(other, HEDDLE_R));
		assert_true((double *)heddle_data_ptr(other) + piece != kept[piece]);
		assert_ok(heddle_release(other));
		assert_ok(heddle_selfcheck(rt));
		assert_ok(heddle_stop(rt));
		assert_true(kept[piece] && *kept[piece] == 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(memory_kept_by_a_kernel_is_left_to_the_program)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
