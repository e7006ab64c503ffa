/* gemm, syrk, herk, symm, hemm, trsm and trmm beside those of BLAS, with all flags, in four precisions and both
 * layouts, and with extents about that of tiles; what they say about their arguments. */
#include "dense_calls.h"

#define HD_TEMPLATE <unit/dense_products_tests.h>
#include <dense/kernels/precisions.h>

/* --- What is said ------------------------------------------------------------------------------------------------- */

enum { N = 3 * TILE };

static struct heddle_dense_array array_of(double *a)
{
	return (struct heddle_dense_array){.rows = N, .columns = N, .data = a, .ld = N};
}

static void expect(int status, int wanted, const char *message)
{
	assert_int_equal(status, wanted);
	if (!strstr(heddle_last_error(), message))
		fail_msg("\"%s\" lacks \"%s\"", heddle_last_error(), message);
}

static void nan_is_said_with_its_place_unless_the_input_is_trusted(void **state)
{
	static double a[N * N], b[N * N], c[N * N];
	struct heddle_dense_array of_a = array_of(a), of_b = array_of(b), of_c = array_of(c);
	heddle_dense_scalar one = heddle_dense_real(1);
	(void)state;
	for (int layout = 0; layout < 2; layout++) {
		struct heddle_dense_options options = in_layout(layout);
		for (size_t i = 0; i < (size_t)N * N; i++)
			a[i] = b[i] = c[i] = i % (N + 1) ? 0.1 : 1;
		b[20 + 3 * N] = NAN;
		expect(heddle_dense_gemm(dense, 0, 0, one, &of_a, &of_b, one, &of_c, &options), HEDDLE_E_KERNEL,
		       "matrix B has NaN in row 21, column 4");
		expect(heddle_dense_trmm(dense, 0, HEDDLE_DENSE_LOWER, 0, 0, one, &of_a, &of_b, &options),
		       HEDDLE_E_KERNEL, "matrix B has NaN in row 21, column 4");
		expect(heddle_dense_trsm(dense, 0, HEDDLE_DENSE_LOWER, 0, 0, one, &of_b, &of_a, &options),
		       HEDDLE_E_KERNEL, "matrix A has NaN in row 21, column 4");
		for (size_t i = 0; i < (size_t)N * N; i++) /* which an error leaves undefined */
			a[i] = c[i] = i % (N + 1) ? 0.1 : 1;
		/* not in the triangle that is read */
		OK(heddle_dense_symm(dense, 0, HEDDLE_DENSE_UPPER, one, &of_b, &of_a, one, &of_c, &options));
		c[N - 1] = INFINITY;
		expect(heddle_dense_syrk(dense, HEDDLE_DENSE_LOWER, 0, one, &of_a, one, &of_c, &options),
		       HEDDLE_E_KERNEL, "matrix C has an infinite value in row 48, column 1");
		OK(heddle_dense_syrk(dense, HEDDLE_DENSE_LOWER, 0, one, &of_a, heddle_dense_real(0), &of_c, &options));
		options.trust = 1;
		OK(heddle_dense_gemm(dense, 0, 0, one, &of_a, &of_b, one, &of_c, &options));
		assert_true(isnan(c[4 + 3 * N]) && !isnan(c[4 + 4 * N]));
		/* the diagonal of a unit triangle is not read */
		options.trust = 0;
		b[20 + 3 * N] = 0.1;
		b[20 + 20 * N] = NAN;
		OK(heddle_dense_trsm(dense, 0, HEDDLE_DENSE_LOWER, 0, HEDDLE_DENSE_UNIT, one, &of_b, &of_a, &options));
	}
}

static void one_array_may_be_two_factors_but_not_a_result(void **state)
{
	static double a[N * N], c[N * N], wanted[N * N];
	struct heddle_dense_array of_a = array_of(a), of_c = array_of(c), flat = of_a;
	heddle_dense_scalar one = heddle_dense_real(1), zero = heddle_dense_real(0);
	(void)state;
	for (size_t i = 0; i < (size_t)N * N; i++)
		a[i] = (double)(i * i % 17) / 17;
	for (int layout = 0; layout < 2; layout++) {
		struct heddle_dense_options options = in_layout(layout);
		cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, N, N, N, 1, a, N, a, N, 0, wanted, N);
		OK(heddle_dense_gemm(dense, 0, HEDDLE_DENSE_TRANS, one, &of_a, &of_a, zero, &of_c, &options));
		for (size_t i = 0; i < (size_t)N * N; i++)
			assert_true(fabs(c[i] - wanted[i]) < 1e-12);
		/* the same memory, but not the same matrix */
		flat.columns = 5;
		struct heddle_dense_array small = {.rows = N, .columns = 5, .data = c, .ld = N};
		cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, N, 5, N, 1, a, N, a, N, 0, wanted, N);
		OK(heddle_dense_gemm(dense, 0, 0, one, &of_a, &flat, zero, &small, &options));
		for (size_t i = 0; i < (size_t)N * 5; i++)
			assert_true(fabs(c[i] - wanted[i]) < 1e-12);
		expect(heddle_dense_gemm(dense, 0, 0, one, &of_a, &of_c, one, &of_a, &options), HEDDLE_E_INVALID,
		       "gemm: matrices A and C are the same array, and one of them is written");
	}
}

static void arguments_that_do_not_fit_are_refused(void **state)
{
	static double a[N * N], b[N * N], c[N * N];
	struct heddle_dense_array of_a = array_of(a), of_b = array_of(b), of_c = array_of(c), wide = of_b;
	heddle_dense_scalar one = heddle_dense_real(1);
	(void)state;
	wide.rows = 3;
	expect(heddle_dense_symm(dense, 0, HEDDLE_DENSE_LOWER, one, &of_a, &wide, one, &of_c, NULL), HEDDLE_E_INVALID,
	       "symm from the left: A is of order 48, B is 3 x 48 and C is 48 x 48");
	expect(heddle_dense_trsm(dense, 0, HEDDLE_DENSE_LOWER, 0, 0, one, &of_a, &wide, NULL), HEDDLE_E_INVALID,
	       "trsm from the left: A is of order 48 and B is 3 x 48");
	expect(heddle_dense_syrk(dense, HEDDLE_DENSE_LOWER, 0, one, &wide, one, &of_c, NULL), HEDDLE_E_INVALID,
	       "syrk: op(A) has 3 rows and C has 48");
	expect(heddle_dense_trsm(dense, 0, HEDDLE_DENSE_GENERAL, 0, 0, one, &of_a, &of_b, NULL), HEDDLE_E_INVALID,
	       "trsm: uplo is 0: it must be HEDDLE_DENSE_LOWER or _UPPER");
	expect(heddle_dense_gemm(dense, 5, 0, one, &of_a, &of_b, one, &of_c, NULL), HEDDLE_E_INVALID,
	       "gemm: transpositions 5 and 0");
	of_a.precision = of_c.precision = HEDDLE_DENSE_COMPLEX_SINGLE;
	expect(heddle_dense_syrk(dense, HEDDLE_DENSE_LOWER, HEDDLE_DENSE_CONJ_TRANS, one, &of_a, one, &of_c, NULL),
	       HEDDLE_E_INVALID, "syrk of complex matrices: the transposition must be HEDDLE_DENSE_NO_TRANS or _TRANS");
	expect(heddle_dense_herk(dense, HEDDLE_DENSE_LOWER, HEDDLE_DENSE_TRANS, 1, &of_a, 1, &of_c, NULL),
	       HEDDLE_E_INVALID,
	       "herk of complex matrices: the transposition must be HEDDLE_DENSE_NO_TRANS or _CONJ_TRANS");
	heddle_dense_matrix *triangle;
	struct heddle_dense_shape shape = {.rows = N, .columns = N, .tile = TILE, .uplo = HEDDLE_DENSE_LOWER};
	OK(heddle_dense_matrix_create(dense, &shape, NULL, 0, &triangle));
	expect(heddle_dense_gemm_submit(0, 0, one, triangle, triangle, one, triangle, NULL), HEDDLE_E_INVALID,
	       "gemm needs all tiles of a matrix of which only the lower triangle exists");
	expect(heddle_dense_trmm_submit(0, HEDDLE_DENSE_UPPER, 0, 0, one, triangle, triangle, NULL), HEDDLE_E_INVALID,
	       "trmm of the upper triangle: the matrix has only the tiles of the other");
	OK(heddle_dense_matrix_destroy(triangle));
}

/* The forms that only submit refuse a matrix that is written and is another argument; they submit nothing. */
static void one_matrix_may_be_two_factors_but_not_a_result(void **state)
{
	static const char message[] = "are the same, and one of them is written";
	static double a[N * N], before[N * N], c[N * N];
	struct heddle_dense_shape shape = {.rows = N, .columns = N, .tile = TILE};
	heddle_dense_scalar one = heddle_dense_real(1), zero = heddle_dense_real(0);
	heddle_dense_matrix *matrix, *result;
	(void)state;
	for (size_t i = 0; i < (size_t)N * N; i++)
		a[i] = before[i] = (double)(i * i % 17);
	OK(heddle_dense_matrix_create(dense, &shape, a, N, &matrix));
	OK(heddle_dense_matrix_create(dense, &shape, c, N, &result));
	OK(heddle_dense_gemm_submit(0, 0, one, matrix, matrix, zero, result, NULL));
	expect(heddle_dense_gemm_submit(0, 0, one, matrix, result, one, matrix, NULL), HEDDLE_E_INVALID,
	       "gemm: matrices A and C are the same, and one of them is written: pass a copy");
	expect(heddle_dense_symm_submit(0, HEDDLE_DENSE_LOWER, one, result, matrix, one, matrix, NULL),
	       HEDDLE_E_INVALID, "symm: matrices B and C");
	expect(heddle_dense_syrk_submit(HEDDLE_DENSE_LOWER, 0, one, matrix, one, matrix, NULL), HEDDLE_E_INVALID,
	       message);
	expect(heddle_dense_trsm_submit(0, HEDDLE_DENSE_LOWER, 0, 0, one, matrix, matrix, NULL), HEDDLE_E_INVALID,
	       message);
	expect(heddle_dense_posv_submit(HEDDLE_DENSE_LOWER, matrix, matrix, NULL), HEDDLE_E_INVALID, message);
	expect(heddle_dense_gesv_submit(matrix, NULL, matrix, NULL), HEDDLE_E_INVALID, message);
	expect(heddle_dense_gels_submit(0, matrix, matrix, NULL), HEDDLE_E_INVALID, message);
	expect(heddle_dense_copy_submit(matrix, matrix), HEDDLE_E_INVALID, message);
	OK(heddle_dense_matrix_destroy(matrix));
	OK(heddle_dense_matrix_destroy(result));
	assert_memory_equal(a, before, sizeof a);
}

static void options_that_do_not_exist_are_refused(void **state)
{
	static double a[N * N];
	struct heddle_dense_array of_a = array_of(a);
	struct heddle_dense_options layout = {.layout = 2}, priority = {.priority = 3}, tree = {.tree = 3};
	(void)state;
	expect(heddle_dense_lauum(dense, HEDDLE_DENSE_LOWER, &of_a, &layout), HEDDLE_E_INVALID,
	       "lauum: options have layout 2");
	expect(heddle_dense_lauum(dense, HEDDLE_DENSE_LOWER, &of_a, &priority), HEDDLE_E_INVALID, "priority 3");
	expect(heddle_dense_lauum(dense, HEDDLE_DENSE_LOWER, &of_a, &tree), HEDDLE_E_INVALID, "tree 3");
}

/* A triangle of temporaries that nothing has written yet gets its first value from syrk; then potrf and potri of it
 * follow without a wait. */
static void what_is_submitted_needs_no_wait_between(void **state)
{
	struct heddle_dense_shape shape = {.rows = N, .columns = N, .tile = TILE};
	struct heddle_dense_shape half = {.rows = N, .columns = N, .tile = TILE, .uplo = HEDDLE_DENSE_UPPER};
	heddle_dense_scalar one = heddle_dense_real(1), zero = {0, 3}; /* of real matrices */
	heddle_dense_matrix *a, *c, *unit;
	static double result[N * N];
	(void)state;
	OK(heddle_dense_matrix_create(dense, &shape, NULL, 0, &a));
	OK(heddle_dense_matrix_create(dense, &half, NULL, 0, &c));
	OK(heddle_dense_matrix_create(dense, &shape, result, N, &unit));
	OK(heddle_dense_random_submit(a, HEDDLE_DENSE_DOMINANT, 1));
	OK(heddle_dense_syrk_submit(HEDDLE_DENSE_UPPER, HEDDLE_DENSE_TRANS, one, a, zero, c, NULL)); /* C := A^T A */
	OK(heddle_dense_potrf_submit(HEDDLE_DENSE_UPPER, c, NULL));
	OK(heddle_dense_potri_submit(HEDDLE_DENSE_UPPER, c, NULL));
	/* A C A^T is the unit matrix */
	heddle_dense_matrix *half_way;
	OK(heddle_dense_matrix_create(dense, &shape, NULL, 0, &half_way));
	OK(heddle_dense_symm_submit(HEDDLE_DENSE_RIGHT, HEDDLE_DENSE_UPPER, one, c, a, zero, half_way, NULL));
	OK(heddle_dense_gemm_submit(0, HEDDLE_DENSE_TRANS, one, half_way, a, zero, unit, NULL));
	OK(heddle_dense_matrix_destroy(half_way));
	OK(heddle_dense_matrix_destroy(unit));
	OK(heddle_dense_matrix_destroy(c));
	OK(heddle_dense_matrix_destroy(a));
	for (size_t i = 0; i < (size_t)N * N; i++)
		assert_true(fabs(result[i] - (i % (N + 1) == 0)) < 1e-12);
}

/* C is an array, whose tiles lie together, and so many that a product takes a block of them; A and B are the same, or
 * temporaries, whose tiles lie anywhere. */
static void products_of_blocks_take_tiles_from_anywhere(void **state)
{
	enum { ROWS = TILE + 3, COLUMNS = LARGE(25) * TILE - 5, DEPTH = 5 };
	static double a[ROWS * DEPTH], b[DEPTH * COLUMNS], c[ROWS * COLUMNS], wanted[ROWS * COLUMNS];
	(void)state;
	for (int v = 0; v < 16; v++) {
		int turn_a = v & 1, turn_b = v >> 1 & 1, lda = turn_a ? DEPTH : ROWS, ldb = turn_b ? COLUMNS : DEPTH;
		struct heddle_dense_shape of_a = {.rows = (size_t)lda, .columns = turn_a ? ROWS : DEPTH, .tile = TILE};
		struct heddle_dense_shape of_b = {
		    .rows = (size_t)ldb, .columns = turn_b ? DEPTH : COLUMNS, .tile = TILE};
		struct heddle_dense_shape of_c = {.rows = ROWS, .columns = COLUMNS, .tile = TILE};
		heddle_dense_matrix *given[2], *used[2], *result;
		for (int i = 0; i < ROWS * DEPTH; i++)
			a[i] = i % 11 - 5;
		for (int i = 0; i < DEPTH * COLUMNS; i++)
			b[i] = i % 13 - 6;
		for (int i = 0; i < ROWS * COLUMNS; i++)
			c[i] = wanted[i] = i % 7;
		cblas_dgemm(CblasColMajor, cblas_transpositions[turn_a], cblas_transpositions[turn_b], ROWS, COLUMNS,
		            DEPTH, 2, a, lda, b, ldb, -1, wanted, ROWS);
		OK(heddle_dense_matrix_create(dense, &of_a, a, (size_t)lda, &given[0]));
		OK(heddle_dense_matrix_create(dense, &of_b, b, (size_t)ldb, &given[1]));
		OK(heddle_dense_matrix_create(dense, &of_c, c, ROWS, &result));
		for (int i = 0; i < 2; i++) {
			used[i] = given[i];
			if (v >> (2 + i) & 1) {
				OK(heddle_dense_matrix_create(dense, i ? &of_b : &of_a, NULL, 0, &used[i]));
				OK(heddle_dense_copy_submit(used[i], given[i]));
			}
		}
		OK(heddle_dense_gemm_submit(transpositions[turn_a], transpositions[turn_b], heddle_dense_real(2),
		                            used[0], used[1], heddle_dense_real(-1), result, NULL));
		OK(heddle_dense_matrix_destroy(result));
		for (int i = 0; i < 2; i++) {
			if (used[i] != given[i])
				OK(heddle_dense_matrix_destroy(used[i]));
			OK(heddle_dense_matrix_destroy(given[i]));
		}
		assert_memory_equal(c, wanted, sizeof c); /* of whole numbers, so exact */
	}
}

#define TESTS_OF(letter)                                                                                               \
	cmocka_unit_test(hd_##letter##_gemm_is_that_of_blas), cmocka_unit_test(hd_##letter##_gemm_of_no_terms_scales), \
	    cmocka_unit_test(hd_##letter##_syrk_and_herk_are_those_of_blas),                                           \
	    cmocka_unit_test(hd_##letter##_symm_and_hemm_are_those_of_blas),                                           \
	    cmocka_unit_test(hd_##letter##_trsm_and_trmm_are_those_of_blas),                                           \
	    cmocka_unit_test(hd_##letter##_all_on_accelerators_with_little_memory)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TESTS_OF_ALL,
	    cmocka_unit_test(nan_is_said_with_its_place_unless_the_input_is_trusted),
	    cmocka_unit_test(one_array_may_be_two_factors_but_not_a_result),
	    cmocka_unit_test(one_matrix_may_be_two_factors_but_not_a_result),
	    cmocka_unit_test(options_that_do_not_exist_are_refused),
	    cmocka_unit_test(arguments_that_do_not_fit_are_refused),
	    cmocka_unit_test(products_of_blocks_take_tiles_from_anywhere),
	    cmocka_unit_test(what_is_submitted_needs_no_wait_between),
	};
	return cmocka_run_group_tests(tests, begin_on_cores, end);
}
