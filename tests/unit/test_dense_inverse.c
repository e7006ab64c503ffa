/* potrs, posv, trtri, lauum, potri and poinv beside LAPACK's, on random, graded, nearly singular and indefinite
 * matrices, in four precisions and both layouts; what they say of matrices that have no inverse. */
#include "dense_calls.h"

#define HD_TEMPLATE <unit/dense_inverse_tests.h>
#include <dense/kernels/precisions.h>

static void nan_is_said_with_its_place(void **state)
{
	enum { N = 3 * TILE };
	static double a[N * N], b[N * 2];
	struct heddle_dense_array of_a = {.rows = N, .columns = N, .data = a, .ld = N};
	struct heddle_dense_array of_b = {.rows = N, .columns = 2, .data = b, .ld = N};
	static const char said[] = "matrix A has NaN in row 40, column 18";
	(void)state;
	for (int layout = 0; layout < 2; layout++) {
		size_t info = 99;
		struct heddle_dense_options options = in_layout(layout);
		options.info = &info;
		for (size_t i = 0; i < (size_t)N * N; i++)
			a[i] = i % (N + 1) ? 0 : 2;
		a[39 + 17 * N] = NAN;
		assert_int_equal(heddle_dense_posv(dense, HEDDLE_DENSE_LOWER, &of_a, &of_b, &options), HEDDLE_E_KERNEL);
		assert_non_null(strstr(heddle_last_error(), said));
		assert_int_equal(heddle_dense_poinv(dense, HEDDLE_DENSE_LOWER, &of_a, &options), HEDDLE_E_KERNEL);
		assert_non_null(strstr(heddle_last_error(), said));
		assert_int_equal(heddle_dense_trtri(dense, HEDDLE_DENSE_LOWER, 0, &of_a, &options), HEDDLE_E_KERNEL);
		assert_non_null(strstr(heddle_last_error(), said));
		assert_int_equal(info, 0);
		/* the other triangle is not looked at */
		OK(heddle_dense_poinv(dense, HEDDLE_DENSE_UPPER, &of_a, &options));
		/* and a factorisation that is told to trust notices by itself */
		options.trust = 1;
		assert_int_equal(heddle_dense_poinv(dense, HEDDLE_DENSE_LOWER, &of_a, &options), HEDDLE_E_KERNEL);
		assert_int_equal(info, 40);
	}
}

static void arguments_that_do_not_fit_are_refused(void **state)
{
	static double a[20];
	struct heddle_dense_array square = {.rows = 3, .columns = 3, .data = a, .ld = 3};
	struct heddle_dense_array long_b = {.rows = 4, .columns = 2, .data = a + 9, .ld = 4};
	(void)state;
	assert_int_equal(heddle_dense_posv(dense, HEDDLE_DENSE_LOWER, &square, &long_b, NULL), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "posv: A is of order 3 and B has 4 rows"));
	assert_int_equal(heddle_dense_poinv(dense, HEDDLE_DENSE_GENERAL, &square, NULL), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "poinv: uplo is 0"));
	assert_int_equal(heddle_dense_potrs(dense, HEDDLE_DENSE_LOWER, &square, &square, NULL), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "potrs: matrices A and B are the same array"));
}

#define TESTS_OF(letter)                                                                                           \
	cmocka_unit_test(hd_##letter##_posv_and_potrs_solve), cmocka_unit_test(hd_##letter##_trtri_is_an_inverse), \
	    cmocka_unit_test(hd_##letter##_lauum_is_that_of_lapack),                                               \
	    cmocka_unit_test(hd_##letter##_potri_and_poinv_are_inverses),                                          \
	    cmocka_unit_test(hd_##letter##_all_on_accelerators_with_little_memory),                                \
	    cmocka_unit_test(hd_##letter##_failures_name_the_row)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TESTS_OF_ALL,
	    cmocka_unit_test(nan_is_said_with_its_place),
	    cmocka_unit_test(arguments_that_do_not_fit_are_refused),
	};
	return cmocka_run_group_tests(tests, begin_on_cores, end);
}
