/* Data of unusual shapes: without bytes, of more than four dimensions, sparse in blocks. */
#include "internals.h"
#include "program.h"

static int count_run(heddle_context *c)
{
	++*(*(atomic_int *const *)heddle_value_ptr(c, 0));
	return heddle_ptr(c, 0) == NULL;
}

static void data_without_bytes_order_tasks(void **state)
{
	(void)state;
	for (int check = 0; check < 2; check++) {
		struct heddle_config config = small_config();
		config.n_emulated = 1;
		config.check = check;
		heddle_runtime *rt = start_with(&config);
		heddle_codelet *c = heddle_codelet_new(rt, .name = "count", .cpu = count_run, .emulated = count_run);
		heddle_codelet *far = heddle_codelet_new(rt, .name = "far", .emulated = count_run);
		atomic_int n = 0, *at = &n;
		heddle_data *d, *e, *v;
		assert_ok(heddle_variable(rt, NULL, 0, &d));
		assert_ok(heddle_variable(rt, NULL, 0, &e));
		assert_ok(heddle_vector(rt, NULL, 0, sizeof(double), &v));
		for (int i = 0; i < 20; i++) {
			assert_ok(heddle_submit(rt, heddle_call(i % 2 ? far : c), heddle_value(at), heddle_rw(d),
			                        heddle_r(v)));
			assert_ok(heddle_submit(rt, heddle_call(i % 3 ? far : c), heddle_value(at), heddle_r(d),
			                        heddle_w(e)));
			assert_ok(heddle_selfcheck(rt));
		}
		assert_ok(heddle_copy(e, d));
		assert_ok(heddle_acquire(d, HEDDLE_RW));
		assert_ok(heddle_release(d));
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(n, 40);
		assert_ok(heddle_unregister(d));
		assert_ok(heddle_unregister(e));
		assert_ok(heddle_unregister(v));
		assert_int_equal(heddle_vector(rt, &n, 3, 0, &v), HEDDLE_E_INVALID);
		assert_ok(heddle_stop(rt));
	}
}

static int add_one_to_all(heddle_context *c)
{
	struct heddle_part p;
	if (heddle_context_part(c, 0, 0, &p))
		return 1;
	double *a = p.base;
	for (size_t l = 0; l < (p.n_dims > 3 ? p.n[3] : 1); l++)
		for (size_t k = 0; k < p.n[2]; k++)
			for (size_t j = 0; j < p.n[1]; j++)
				for (size_t i = 0; i < p.n[0]; i++)
					a[i + j * p.stride[1] + k * p.stride[2] +
					  (p.n_dims > 3 ? l * p.stride[3] : 0)] += 1;
	return 0;
}

static void arrays_of_six_dimensions_are_merged(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "add", .emulated = add_one_to_all);
	/* lines of 2 of 3 elements; the rest is dense */
	enum { ALL = 3 * 2 * 3 * 2 * 2 * 3 };
	double a[ALL];
	const size_t n[6] = {2, 2, 3, 2, 2, 3}, stride[6] = {1, 3, 6, 18, 36, 72}, gaps[6] = {1, 3, 7, 22, 45, 100};
	heddle_data *d, *small;
	for (int i = 0; i < ALL; i++)
		a[i] = i;
	struct heddle_array array = {.base = a, .elem_size = sizeof *a, .n_dims = 6, .n = n, .stride = stride};
	assert_ok(heddle_ndim(rt, &array, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	assert_ok(heddle_unregister(d));
	for (int i = 0; i < ALL; i++)
		assert_true(a[i] == i + (i % 3 < 2)); /* what lies between the lines is untouched */
	array.stride = gaps;
	assert_int_equal(heddle_ndim(rt, &array, &d), HEDDLE_E_UNSUPPORTED);
	array.n = NULL;
	assert_int_equal(heddle_ndim(rt, &array, &d), HEDDLE_E_INVALID);
	array = (struct heddle_array){a, sizeof *a, 2, n, gaps + 1};
	assert_int_equal(heddle_ndim(rt, &array, &d), HEDDLE_E_INVALID);
	array = (struct heddle_array){a, sizeof *a, 3, n, gaps};
	assert_ok(heddle_ndim(rt, &array, &small));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(small)));
	assert_ok(heddle_unregister(small));
	const size_t huge[5] = {(size_t)1 << 40, (size_t)1 << 40, 2, 2, 2};
	array = (struct heddle_array){NULL, 8, 5, huge, NULL};
	assert_int_equal(heddle_ndim(rt, &array, &d), HEDDLE_E_INVALID);
	array = (struct heddle_array){.elem_size = 8}; /* a scalar */
	assert_ok(heddle_ndim(rt, &array, &d));
	assert_ok(heddle_stop(rt));
}

static int scale_blocks(heddle_context *c)
{
	struct heddle_part values, column, row;
	if (heddle_context_part(c, 0, 0, &values) || heddle_context_part(c, 0, 1, &column) ||
	    heddle_context_part(c, 0, 2, &row))
		return 1;
	const uint32_t *start = row.base;
	for (size_t k = 0; k < start[row.n[0] - 1]; k++)
		for (size_t i = 0; i < values.n[0] * values.n[1]; i++)
			((double *)values.base)[k * values.stride[2] + i] *= ((uint32_t *)column.base)[k];
	return 0;
}

static void sparse_matrices_of_blocks_move_as_one_datum(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "scale", .emulated = scale_blocks);
	double v[3 * 4];
	uint32_t column[3] = {1, 2, 3}, row[3] = {0, 1, 3};
	heddle_data *d;
	for (int i = 0; i < 12; i++)
		v[i] = 1;
	const struct heddle_blocks blocks = {.n_rows = 2,
	                                     .nnz = 3,
	                                     .r = 2,
	                                     .c = 2,
	                                     .elem_size = sizeof *v,
	                                     .values = v,
	                                     .column = column,
	                                     .row_start = row};
	assert_ok(heddle_bcsr(rt, &blocks, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	assert_ok(heddle_unregister(d));
	for (int i = 0; i < 12; i++)
		assert_true(v[i] == 1 + i / 4);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(data_without_bytes_order_tasks),
	    cmocka_unit_test(arrays_of_six_dimensions_are_merged),
	    cmocka_unit_test(sparse_matrices_of_blocks_move_as_one_datum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
