/* One precision of test_dense_inverse.c. */

static const char P(letter)[] = {'U', 'L'};

/* A positive definite matrix; the triangle that is not used is NaN. Its condition is about `condition`: rows and
 * columns are scaled by powers of it. */
static struct P(view) P(definite)(CBLAS_UPLO uplo, int n, double condition)
{
	struct P(view) g = P(random_view)(n, n, 7), gh = P(transposed)(g, CblasConjTrans), a = P(new_view)(n, n);
	P(plain_product)(1, g, gh, 0, a);
	for (int j = 0; j < n; j++) {
		*P(at)(a, j, j) = REAL(*P(at)(a, j, j)) + (real)n;
		for (int i = 0; i < n; i++)
			*P(at)(a, i, j) *= (real)pow(condition, -0.5 * (i + j) / (2.0 * n));
	}
	P(spoil)(a, uplo, CblasNonUnit);
	P(free_view)(g), P(free_view)(gh);
	return a;
}

/* The whole of a Hermitian matrix of which one triangle is there. */
static struct P(view) P(whole)(struct P(view) a, CBLAS_UPLO uplo)
{
	struct P(view) full = P(triangle)(a, uplo, CblasNonUnit);
	for (int j = 0; j < a.n; j++)
		for (int i = 0; i < a.n; i++)
			if (!P(in_triangle)(uplo, CblasNonUnit, i, j))
				*P(at)(full, i, j) = CONJ(*P(at)(a, j, i));
	return full;
}

/* ||A X - B|| / (n ||A|| ||X|| eps) */
static double P(residual)(struct P(view) a, struct P(view) x, struct P(view) b)
{
	struct P(view) r = P(copy)(b);
	P(plain_product)(1, a, x, -1, r);
	double norm = P(norm)(r), scale = (double)a.n * P(norm)(a) * P(norm)(x) * (double)EPSILON / 2;
	P(free_view)(r);
	return norm / scale;
}

static void P(expect_small)(double residual, const char *routine, int n)
{
	if (!(residual < 30))
		fail_msg("%c%s of order %d: residual %g", LETTER, routine, n, residual);
}

/* --- Solvers ------------------------------------------------------------------------------------------------------ */

static void P(check_solver)(CBLAS_UPLO uplo, int n, int width, double condition, int layout)
{
	struct P(view) a = P(definite)(uplo, n, condition), full = P(whole)(a, uplo), b = P(random_view)(n, width, 2);
	struct P(view) factor = P(copy)(a), x = P(copy)(b), again = P(copy)(b);
	struct heddle_dense_array of_factor = P(array)(factor), of_x = P(array)(x), of_again = P(array)(again);
	size_t info = 99;
	struct heddle_dense_options options = in_layout(layout);
	options.info = &info;
	OK(heddle_dense_posv(dense, uplo_of(uplo), &of_factor, &of_x, &options));
	assert_int_equal(info, 0);
	P(expect_small)(P(residual)(full, x, b), "posv", n);
	OK(heddle_dense_potrs(dense, uplo_of(uplo), &of_factor, &of_again, &options));
	P(expect_small)(P(residual)(full, again, b), "potrs", n);
	/* the factor is LAPACK's */
	assert_int_equal(LAPACK(potrf)(LAPACK_COL_MAJOR, P(letter)[uplo == CblasLower], n, a.a, a.ld), 0);
	P(check_same_triangle)(factor, a, uplo, P(norm)(full));
	P(free_view)(a), P(free_view)(full), P(free_view)(b), P(free_view)(factor), P(free_view)(x);
	P(free_view)(again);
}

static void P(posv_and_potrs_solve)(void **state)
{
	(void)state;
	for (int e = 0; e < 2 * N_EXTENTS; e++)
		for (int w = 0; w < N_EXTENTS; w++)
			P(check_solver)
	(e % 2 ? CblasLower : CblasUpper, extents[e / 2], extents[w], 1, w % 2);
	for (int v = 0; v < 4; v++) /* graded */
		P(check_solver)(v % 2 ? CblasLower : CblasUpper, 3 * TILE + 7, 5, 1e5, v / 2);
}

/* --- Triangles ---------------------------------------------------------------------------------------------------- */

static void P(check_triangle_inverse)(CBLAS_UPLO uplo, CBLAS_DIAG diag, int n, int layout)
{
	struct P(view) a = P(small_triangle)(uplo, diag, n, 1), inverse = P(copy)(a);
	struct heddle_dense_array of_a = P(array)(inverse);
	struct heddle_dense_options options = in_layout(layout);
	OK(heddle_dense_trtri(dense, uplo_of(uplo), diag_of(diag), &of_a, &options));
	P(check_spoilt)(inverse, uplo, diag);
	struct P(view) one = P(new_view)(n, n), full = P(triangle)(a, uplo, diag), x = P(triangle)(inverse, uplo, diag);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			*P(at)(one, i, j) = i == j;
	P(expect_small)(P(residual)(full, x, one), "trtri", n);
	/* beside LAPACK's, which keeps what it does not name, too */
	struct P(view) wanted = P(copy)(full);
	assert_int_equal(LAPACK(trtri)(LAPACK_COL_MAJOR, P(letter)[uplo == CblasLower], 'N', n, wanted.a, wanted.ld),
	                 0);
	P(check_same)(x, wanted, P(norm)(wanted) * P(norm)(full) * P(norm)(wanted));
	P(free_view)(a), P(free_view)(inverse), P(free_view)(one), P(free_view)(full), P(free_view)(x);
	P(free_view)(wanted);
}

static void P(trtri_is_an_inverse)(void **state)
{
	(void)state;
	for (int e = 0; e < N_EXTENTS; e++)
		for (int v = 0; v < 8; v++)
			P(check_triangle_inverse)
	(v & 1 ? CblasLower : CblasUpper, v & 2 ? CblasUnit : CblasNonUnit, extents[e], v / 4);
}

static void P(lauum_is_that_of_lapack)(void **state)
{
	(void)state;
	for (int e = 0; e < N_EXTENTS; e++)
		for (int v = 0; v < 4; v++) {
			CBLAS_UPLO uplo = v & 1 ? CblasLower : CblasUpper;
			struct P(view) a = P(random_view)(extents[e], extents[e], 1);
			for (int i = 0; i < a.n; i++)
				*P(at)(a, i, i) = REAL(*P(at)(a, i, i));
			P(spoil)(a, uplo, CblasNonUnit);
			struct P(view) wanted = P(copy)(a), full = P(triangle)(a, uplo, CblasNonUnit);
			struct heddle_dense_array of_a = P(array)(a);
			struct heddle_dense_options options = in_layout(v / 2);
			OK(heddle_dense_lauum(dense, uplo_of(uplo), &of_a, &options));
			LAPACK(lauum_work)
			(LAPACK_COL_MAJOR, P(letter)[uplo == CblasLower], a.n, wanted.a, wanted.ld);
			P(check_same_triangle)(a, wanted, uplo, P(norm)(full) * P(norm)(full));
			P(free_view)(a), P(free_view)(wanted), P(free_view)(full);
		}
}

/* --- Inverses ----------------------------------------------------------------------------------------------------- */

static void P(check_inverse)(CBLAS_UPLO uplo, int n, double condition, int layout)
{
	struct P(view) a = P(definite)(uplo, n, condition), full = P(whole)(a, uplo), one = P(new_view)(n, n);
	struct P(view) at_once = P(copy)(a), in_steps = P(copy)(a);
	struct heddle_dense_array of_at_once = P(array)(at_once), of_in_steps = P(array)(in_steps);
	struct heddle_dense_options options = in_layout(layout);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			*P(at)(one, i, j) = i == j;
	OK(heddle_dense_poinv(dense, uplo_of(uplo), &of_at_once, &options));
	OK(heddle_dense_potrf(dense, uplo_of(uplo), &of_in_steps, &options));
	OK(heddle_dense_potri(dense, uplo_of(uplo), &of_in_steps, &options));
	P(check_spoilt)(at_once, uplo, CblasNonUnit);
	P(check_spoilt)(in_steps, uplo, CblasNonUnit);
	struct P(view) x = P(whole)(at_once, uplo), y = P(whole)(in_steps, uplo);
	P(expect_small)(P(residual)(full, x, one), "poinv", n);
	P(expect_small)(P(residual)(full, y, one), "potri", n);
	P(free_view)(a), P(free_view)(full), P(free_view)(one), P(free_view)(at_once), P(free_view)(in_steps);
	P(free_view)(x), P(free_view)(y);
}

static void P(potri_and_poinv_are_inverses)(void **state)
{
	(void)state;
	for (int e = 0; e < N_EXTENTS; e++)
		for (int v = 0; v < 4; v++)
			P(check_inverse)(v & 1 ? CblasLower : CblasUpper, extents[e], 1, v / 2);
	for (int v = 0; v < 4; v++) /* graded */
		P(check_inverse)(v & 1 ? CblasLower : CblasUpper, 3 * TILE + 7, 1e5, v / 2);
	/* nearly singular: as good as LAPACK's, relative to its norms */
	P(check_inverse)(CblasLower, 2 * TILE + 3, 0.1 / (double)EPSILON, 0);
}

static void P(all_on_accelerators_with_little_memory)(void **state)
{
	enum { N = LARGE(7) * TILE + 3 };
	struct heddle_stats stats;
	(void)state;
	calls_end();
	calls_begin(2);
	for (int v = 0; v < 4; v++) {
		CBLAS_UPLO uplo = v & 1 ? CblasLower : CblasUpper;
		P(check_solver)(uplo, N, TILE + 5, 1, v / 2);
		P(check_inverse)(uplo, N, 1, v / 2);
		P(check_triangle_inverse)(uplo, v & 1 ? CblasUnit : CblasNonUnit, N, v / 2);
	}
	OK(heddle_runtime_stats(rt, &stats));
	assert_true(stats.transfers > 0);
	assert_true(stats.evictions > 0 || sizeof(real) == sizeof(float)); /* which may all fit */
	calls_end();
	calls_begin(0);
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

/* The diagonal is 4 but for element `bad`; beside it there are ones where they do no harm. */
static struct P(view) P(almost_diagonal)(CBLAS_UPLO uplo, int n, int bad, double value)
{
	struct P(view) a = P(new_view)(n, n);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			*P(at)(a, i, j) = i == j ? (i == bad ? (real)value : 4) : i + j == n ? (real)0.5 : 0;
	P(spoil)(a, uplo, CblasNonUnit);
	return a;
}

static void P(expect_failure)(const char *routine, int status, const size_t *info, size_t row, const char *format)
{
	char expected[160];
	snprintf(expected, sizeof expected, format, row);
	assert_int_equal(status, HEDDLE_E_KERNEL);
	if (*info != row || !strstr(heddle_last_error(), expected))
		fail_msg("%c%s: info is %zu, \"%s\" lacks \"%s\"", LETTER, routine, *info, heddle_last_error(),
		         expected);
}

static const char P(indefinite)[] = "the leading minor of order %zu is not positive";
static const char P(singular)[] = "the element in row %zu of the diagonal (counted from 1) is zero";

static void P(check_failures)(CBLAS_UPLO uplo, int bad, int layout)
{
	enum { N = 3 * TILE + 7 };
	size_t info = 99, row = (size_t)bad + 1;
	struct heddle_dense_options options = in_layout(layout);
	options.info = &info;
	struct P(view) a = P(almost_diagonal)(uplo, N, bad, -1), b = P(random_view)(N, 3, 1);
	struct heddle_dense_array of_a = P(array)(a), of_b = P(array)(b);
	P(expect_failure)
	("posv", heddle_dense_posv(dense, uplo_of(uplo), &of_a, &of_b, &options), &info, row, P(indefinite));
	P(free_view)(a);
	a = P(almost_diagonal)(uplo, N, bad, -1);
	of_a = P(array)(a);
	P(expect_failure)
	("poinv", heddle_dense_poinv(dense, uplo_of(uplo), &of_a, &options), &info, row, P(indefinite));
	P(free_view)(a);
	a = P(almost_diagonal)(uplo, N, bad, 0);
	*P(at)(a, N - 1, N - 1) = 0; /* the first one counts */
	of_a = P(array)(a);
	assert_int_equal(heddle_dense_trtri(dense, uplo_of(uplo), 0, &of_a, &options), HEDDLE_E_KERNEL);
	assert_int_equal(info, row);
	P(free_view)(a);
	a = P(almost_diagonal)(uplo, N, bad, 0);
	of_a = P(array)(a);
	P(expect_failure)
	("potri", heddle_dense_potri(dense, uplo_of(uplo), &of_a, &options), &info, row, P(singular));
	P(free_view)(a), P(free_view)(b);
}

static void P(failures_name_the_row)(void **state)
{
	static const int bad[] = {0, 3, TILE - 1, TILE, 2 * TILE + 5, 3 * TILE + 6};
	(void)state;
	for (int i = 0; i < 6; i += 1 + ON_DEVICE)
		for (int v = 0; v < 4; v++)
			P(check_failures)(v & 1 ? CblasLower : CblasUpper, bad[i], v / 2);
	P(check_solver)(CblasLower, 3 * TILE + 7, 4, 1, 0); /* the runtime is as good as before */
}
