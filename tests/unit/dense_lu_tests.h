/* One precision of test_dense_lu.c. */

#define PRECISION                                                                                       \
	(sizeof(real) == sizeof(double) ? (COMPLEX ? HEDDLE_DENSE_COMPLEX_DOUBLE : HEDDLE_DENSE_DOUBLE) \
	                                : (COMPLEX ? HEDDLE_DENSE_COMPLEX_SINGLE : HEDDLE_DENSE_SINGLE))

static struct heddle_dense_array P(array)(struct P(view) v)
{
	return (struct heddle_dense_array){
	    .precision = PRECISION, .rows = (size_t)v.m, .columns = (size_t)v.n, .data = v.a, .ld = (size_t)v.ld};
}

/* --- Matrices ----------------------------------------------------------------------------------------------------- */

/* L U of small numbers, so that all results are exact. L's elements below the diagonal are less than 1, so that no rows
 * are interchanged, except by `reversed`. U has a zero on its diagonal in column `zero`, if it has this column. */
static struct P(view) P(exact_view)(int m, int n, int zero, int reversed)
{
	struct P(view) a = P(new_view)(m, n);
	for (int j = 0; j < n; j++) {
		for (int i = 0; i < m; i++) {
			real sum = 0;
			for (int k = 0; k <= i && k <= j; k++) {
				real l = i == k ? 1 : (i + 2 * k) % 7 == 0 ? (real)0.5 : 0;
				real u = (real)(k == j ? (k == zero ? 0 : 2) : (k + 3 * j) % 5 == 0);
				sum += l * u;
			}
			*P(at)(a, reversed ? m - 1 - i : i, j) = sum;
		}
	}
	return a;
}

/* m x n of the kind `kind`, some of which are for NaN-free square and other shapes alike. */
static struct P(view) P(matrix_of)(int kind, int m, int n)
{
	if (kind == ZERO_PIVOT)
		return P(exact_view)(m, n, n / 2, 1);
	struct P(view) a = P(random_view)(m, n, (uint64_t)(m * 1000 + n));
	for (int j = 0; j < n; j++) {
		for (int i = 0; i < m; i++) {
			if (kind == GRADED)
				*P(at)(a, i, j) *= (real)ldexp(1, -(i + j) / 4);
			if (kind == FROM_BELOW)
				*P(at)(a, i, j) *= (real)ldexp(1, i / 4);
			if (kind == ZERO_COLUMN && j == n / 2)
				*P(at)(a, i, j) = 0;
			if (kind == DOMINANT && i == j)
				*P(at)(a, i, j) += (real)(m + n);
		}
	}
	return a;
}

/* --- Factorisations ----------------------------------------------------------------------------------------------- */

/* ||A - P L U|| / (n ||A|| eps). `pivots` may be NULL. */
static double P(factor_residual)(struct P(view) a, struct P(view) factors, const int *pivots)
{
	int steps = a.m < a.n ? a.m : a.n;
	struct P(view) l = P(new_view)(a.m, steps), u = P(new_view)(steps, a.n), d = P(new_view)(a.m, a.n);
	for (int j = 0; j < steps; j++)
		for (int i = 0; i < a.m; i++)
			*P(at)(l, i, j) = i > j ? *P(at)(factors, i, j) : i == j ? 1 : 0;
	for (int j = 0; j < a.n; j++)
		for (int i = 0; i < steps; i++)
			*P(at)(u, i, j) = i <= j ? *P(at)(factors, i, j) : 0;
	P(plain_product)(1, l, u, 0, d);
	if (pivots)
		LAPACK(laswp_work)(LAPACK_COL_MAJOR, d.n, d.a, d.ld, 1, steps, pivots, -1);
	for (int j = 0; j < a.n; j++)
		for (int i = 0; i < a.m; i++)
			*P(at)(d, i, j) -= *P(at)(a, i, j);
	double norm = P(norm)(a), result = P(norm)(d) / (norm > 0 ? (double)a.n * norm * (double)EPSILON / 2 : 1);
	P(free_view)(l), P(free_view)(u), P(free_view)(d);
	return result;
}

static void P(check_getrf)(heddle_dense *dense, int kind, int m, int n, enum heddle_dense_layout layout)
{
	struct P(view) a = P(matrix_of)(kind, m, n), ours = P(copy)(a), lapacks = P(copy)(a);
	int pivots[BIG], expected[BIG], steps = m < n ? m : n;
	size_t info = 99;
	struct heddle_dense_array array = P(array)(ours);
	OK(heddle_dense_getrf(dense, &array, pivots,
	                      &(struct heddle_dense_options){.tile = NB, .layout = layout, .info = &info}));
	int expected_info = LAPACK(getrf_work)(LAPACK_COL_MAJOR, m, n, lapacks.a, lapacks.ld, expected);
	if (info != (size_t)expected_info)
		fail_msg("%c %d x %d, kind %d: info is %zu instead of %d", LETTER, m, n, kind, info, expected_info);
	for (int i = 0; i < steps; i++)
		if (pivots[i] != expected[i])
			fail_msg("%c %d x %d, kind %d: pivot %d is %d instead of %d", LETTER, m, n, kind, i, pivots[i],
			         expected[i]);
	double residual = P(factor_residual)(a, ours, pivots);
	if (!(residual < 30))
		fail_msg("%c %d x %d, kind %d: residual %g", LETTER, m, n, kind, residual);
	P(free_view)(a), P(free_view)(ours), P(free_view)(lapacks);
}

static void P(getrf_of_any_matrix_is_lapacks)(void **state)
{
	struct fixture *f = *state;
	for (int kind = 0; kind < N_KINDS; kind++)
		for (int s = 0; s < N_SIZES * N_SIZES; s++)
			P(check_getrf)
	(f->dense, kind, sizes[s / N_SIZES], sizes[s % N_SIZES], (unsigned)(kind + s) % 2);
}

static void P(getrf_nopiv_of_any_shape_has_a_small_residual)(void **state)
{
	struct fixture *f = *state;
	for (int s = 0; s < N_SIZES * N_SIZES; s++) {
		struct P(view) a = P(matrix_of)(DOMINANT, sizes[s / N_SIZES], sizes[s % N_SIZES]), ours = P(copy)(a);
		struct heddle_dense_array array = P(array)(ours);
		struct heddle_dense_options options = {.tile = NB, .layout = (unsigned)s % 2};
		OK(heddle_dense_getrf_nopiv(f->dense, &array, &options));
		double residual = P(factor_residual)(a, ours, NULL);
		if (!(residual < 30))
			fail_msg("%c %d x %d: residual %g", LETTER, a.m, a.n, residual);
		P(free_view)(a), P(free_view)(ours);
	}
}

/* --- Solutions ---------------------------------------------------------------------------------------------------- */

/* ||op(A) X - B|| / (n ||A|| ||X|| eps) */
static double P(solution_residual)(struct P(view) a, CBLAS_TRANSPOSE trans, struct P(view) x, struct P(view) b)
{
	struct P(view) op = P(transposed)(a, trans), d = P(copy)(b);
	P(plain_product)(1, op, x, -1, d);
	double scale = a.n * P(norm)(a) * P(norm)(x) * (double)EPSILON / 2, result = P(norm)(d);
	P(free_view)(op), P(free_view)(d);
	return scale > 0 ? result / scale : result;
}

/* Solves with n equations in each way that there is: 0 is gesv, 1 is gesv_nopiv, the others are getrs after a
 * factorisation with (2, 3, 4) or without (5) pivots, for the transposed matrix (3), or the conjugated one too (4). */
static void P(check_solver)(heddle_dense *dense, int way, int n, int n_right)
{
	int pivoted = way != 1 && way != 5, pivots[BIG];
	enum heddle_dense_trans trans = way == 3   ? HEDDLE_DENSE_TRANS
	                                : way == 4 ? HEDDLE_DENSE_CONJ_TRANS
	                                           : HEDDLE_DENSE_NO_TRANS;
	CBLAS_TRANSPOSE op = way == 3 ? CblasTrans : way == 4 ? CblasConjTrans : CblasNoTrans;
	struct P(view) a = P(matrix_of)(pivoted ? FROM_BELOW : DOMINANT, n, n), factors = P(copy)(a);
	struct P(view) b = P(random_view)(n, n_right, 5), x = P(copy)(b);
	struct heddle_dense_array of_a = P(array)(factors), of_b = P(array)(x);
	struct heddle_dense_options options = {.tile = NB, .layout = (unsigned)(n + way) % 2};
	if (way == 0)
		OK(heddle_dense_gesv(dense, &of_a, n % 3 ? pivots : NULL, &of_b, &options));
	else if (way == 1)
		OK(heddle_dense_gesv_nopiv(dense, &of_a, &of_b, &options));
	else if (pivoted)
		OK(heddle_dense_getrf(dense, &of_a, pivots, &options));
	else
		OK(heddle_dense_getrf_nopiv(dense, &of_a, &options));
	if (way > 1)
		OK(heddle_dense_getrs(dense, trans, &of_a, pivoted ? pivots : NULL, &of_b, &options));
	double residual = P(solution_residual)(a, op, x, b);
	if (!(residual < 30))
		fail_msg("%c %d equations, way %d: residual %g", LETTER, n, way, residual);
	if (way != 0 || n % 3)
		assert_true(P(factor_residual)(a, factors, pivoted ? pivots : NULL) < 30);
	P(free_view)(a), P(free_view)(factors), P(free_view)(b), P(free_view)(x);
}

static void P(every_solver_has_a_small_residual)(void **state)
{
	struct fixture *f = *state;
	for (int way = 0; way < 6; way++)
		for (int s = 0; s < N_SIZES; s++)
			for (int r = 0; r < N_SIZES; r += 2)
				P(check_solver)(f->dense, way, sizes[s], sizes[(s + r) % N_SIZES]);
}

static void P(big_matrices_are_right)(void **state)
{
	struct fixture *f = *state;
	for (unsigned layout = 0; layout < 2; layout++) {
		P(check_getrf)(f->dense, RANDOM, BIG, BIG, layout);
		P(check_getrf)(f->dense, GRADED, BIG, BIG - 3 * NB, layout);
		P(check_getrf)(f->dense, FROM_BELOW, BIG - 3 * NB, BIG, layout);
	}
	for (int way = 0; way < 3; way++)
		P(check_solver)(f->dense, way, BIG - (way & 1), 5 * NB);
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static void P(singular_matrix_is_not_solved_and_the_pivot_is_named)(void **state)
{
	struct fixture *f = *state;
	static const int zeros[] = {0, 1, 15, 16, 30, 54};
	for (size_t z = 0; z < sizeof zeros / sizeof *zeros; z++) {
		for (int with_pivots = 0; with_pivots < 2; with_pivots++) {
			struct P(view) a = P(exact_view)(LARGEST, LARGEST, zeros[z], with_pivots);
			struct P(view) b = P(random_view)(LARGEST, 3, 5);
			struct heddle_dense_array of_a = P(array)(a), of_b = P(array)(b);
			size_t info = 0;
			struct heddle_dense_options options = {.tile = NB, .layout = z % 2, .info = &info};
			char expected[64];
			snprintf(expected, sizeof expected, "matrix is singular: U(%d, %d) is exactly zero",
			         zeros[z] + 1, zeros[z] + 1);
			assert_int_equal(with_pivots ? heddle_dense_gesv(f->dense, &of_a, NULL, &of_b, &options)
			                             : heddle_dense_gesv_nopiv(f->dense, &of_a, &of_b, &options),
			                 HEDDLE_E_KERNEL);
			if (!strstr(heddle_last_error(), expected))
				fail_msg("\"%s\" lacks \"%s\"", heddle_last_error(), expected);
			assert_int_equal(info, zeros[z] + 1);
			P(free_view)(a), P(free_view)(b);
		}
	}
}

static void P(expect_no_number)(heddle_dense *dense, int trust, int in_b, const char *expected)
{
	struct P(view) a = P(random_view)(LARGEST, LARGEST, 1), b = P(random_view)(LARGEST, NB + 1, 2);
	*P(at)(in_b ? b : a, 40, NB) = (real)(in_b ? INFINITY : NAN);
	struct heddle_dense_array of_a = P(array)(a), of_b = P(array)(b);
	struct heddle_dense_options options = {.tile = NB, .trust = trust};
	assert_int_equal(heddle_dense_gesv(dense, &of_a, NULL, &of_b, &options), HEDDLE_E_KERNEL);
	if (!strstr(heddle_last_error(), expected))
		fail_msg("\"%s\" lacks \"%s\"", heddle_last_error(), expected);
	free(a.a), free(b.a);
}

static void P(what_is_no_number_is_said)(void **state)
{
	struct fixture *f = *state;
	P(expect_no_number)(f->dense, 0, 0, "matrix A has NaN in row 41, column 17");
	P(expect_no_number)(f->dense, 0, 1, "matrix B has an infinite value in row 41, column 17");
	P(expect_no_number)(f->dense, 1, 0, "matrix has no factors: U(17, 17) is not a number");
}

#undef PRECISION
