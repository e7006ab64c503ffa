/* heddle_copy: its place in the order, strides and parts, what is refused. */
#include "forgotten.h"

static void a_copy_takes_its_place_in_the_order(void **state)
{
	(void)state;
	for (int n = 0; n < 4; n++) {
		struct codelets c;
		heddle_runtime *rt = begin(&c, n & 1, n >> 1);
		long from = 1, to = 0;
		heddle_data *f, *t;
		assert_ok(heddle_variable(rt, &from, sizeof from, &f));
		assert_ok(heddle_variable(rt, &to, sizeof to, &t));
		assert_ok(heddle_submit(rt, heddle_call(n & 1 ? c.add_far : c.add), heddle_rw(f)));
		assert_ok(heddle_copy(t, f));
		assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(f)));
		assert_ok(heddle_submit(rt, heddle_call(n & 1 ? c.add_far : c.add), heddle_rw(t)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_unregister(f));
		assert_ok(heddle_unregister(t));
		assert_int_equal(from, 3);
		assert_int_equal(to, 3);
		assert_ok(heddle_stop(rt));
	}
}

static void a_copy_keeps_strides_and_parts(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 0, 1);
	double a[12], b[6], v[3] = {1, 2, 3}, w[3] = {0};
	uint32_t col[3] = {0, 1, 0}, row[3] = {0, 2, 3}, col2[3], row2[3];
	for (int i = 0; i < 12; i++)
		a[i] = i;
	heddle_data *m, *n, *s, *t;
	assert_ok(heddle_matrix(rt, a, 2, 3, 4, sizeof *a, &m));
	assert_ok(heddle_matrix(rt, b, 2, 3, 2, sizeof *b, &n));
	assert_ok(heddle_csr(rt, 2, 3, v, col, row, sizeof *v, &s));
	assert_ok(heddle_csr(rt, 2, 3, w, col2, row2, sizeof *w, &t));
	assert_ok(heddle_copy(n, m));
	assert_ok(heddle_copy(t, s));
	assert_ok(heddle_wait_all(rt));
	for (int i = 0; i < 6; i++)
		assert_true(b[i] == i % 2 + 4 * (i / 2));
	assert_memory_equal(w, v, sizeof v);
	assert_memory_equal(col2, col, sizeof col);
	assert_memory_equal(row2, row, sizeof row);
	assert_int_equal(heddle_copy(m, s), HEDDLE_E_INVALID);
	assert_int_equal(heddle_copy(m, m), HEDDLE_E_INVALID);
	assert_int_equal(heddle_copy(m, NULL), HEDDLE_E_INVALID);
	assert_ok(heddle_stop(rt));
}

static void a_copy_of_nothing_is_cancelled(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 0, 0);
	long from = 1, to = 0;
	heddle_data *f, *t;
	assert_ok(heddle_variable(rt, &from, sizeof from, &f));
	assert_ok(heddle_variable(rt, &to, sizeof to, &t));
	assert_ok(heddle_forget(f));
	assert_ok(heddle_copy(t, f));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED);
	assert_says("copy (external task");
	assert_int_equal(heddle_unregister(t), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_copy_takes_its_place_in_the_order),
	    cmocka_unit_test(a_copy_keeps_strides_and_parts),
	    cmocka_unit_test(a_copy_of_nothing_is_cancelled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
