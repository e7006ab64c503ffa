/* One precision of test_dense_kernels.c. */

static const CBLAS_TRANSPOSE P(transpositions)[] = {CblasNoTrans, CblasTrans, CblasConjTrans};

/* A triangle whose inverse is small enough. */
static struct P(view) P(good_triangle)(int n, uint64_t seed)
{
	struct P(view) a = P(random_view)(n, n, seed);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			*P(at)(a, i, j) = *P(at)(a, i, j) / (real)(n + 1) + (i == j ? 1 : 0);
	return a;
}

static void P(check_product)(struct hd_ops ops, int m, int n, int k)
{
	element alpha = (real)-0.7, beta = (real)0.3;
	struct P(view) a = ops.a == CblasNoTrans ? P(random_view)(m, k, 1) : P(random_view)(k, m, 1);
	struct P(view) b = ops.b == CblasNoTrans ? P(random_view)(k, n, 2) : P(random_view)(n, k, 2);
	struct P(view) c = P(random_view)(m, n, 3), wanted = P(copy)(c);
	struct P(view) full_a = P(transposed)(a, ops.a), full_b = P(transposed)(b, ops.b);
	double scale = P(norm)(a) * P(norm)(b) + P(norm)(c);
	P(plain_product)(alpha, full_a, full_b, beta, wanted);
	P(gemm)(ops, alpha, a, b, beta, c);
	P(check_same)(c, wanted, scale);
	/* with beta = 0, NaN in C does not matter */
	for (int i = 0; i < (m > 0 ? n : 0); i++)
		*P(at)(c, m - 1, i) = (real)NAN;
	P(plain_product)(alpha, full_a, full_b, 0, wanted);
	P(gemm)(ops, alpha, a, b, 0, c);
	P(check_same)(c, wanted, scale);
	P(free_view)(a), P(free_view)(b), P(free_view)(c), P(free_view)(wanted), P(free_view)(full_a);
	P(free_view)(full_b);
}

static void P(products_are_those_of_loops)(void **state)
{
	static const int shapes[][3] = {{0, 3, 3},     {3, 0, 3},     {3, 3, 0},    {1, 1, 1},     {7, 5, 9},
	                                {64, 65, 63},  {200, 9, 8},   {8, 9, 200},  {9, 200, 130}, {130, 70, 7},
	                                {210, 8, 200}, {33, 31, 400}, {9, 8, 3000}, {400, 40, 96}, {130, 210, 130}};
	(void)state;
	for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
		for (int t = 0; t < 9; t++)
			P(check_product)
	((struct hd_ops){P(transpositions)[t / 3], P(transpositions)[t % 3]}, shapes[s][0], shapes[s][1], shapes[s][2]);
}

static void P(check_herk)(CBLAS_UPLO uplo, int plain, int n, int k)
{
	struct P(view) a = plain ? P(random_view)(n, k, 1) : P(random_view)(k, n, 1), c = P(random_view)(n, n, 2);
	struct P(view) left = P(transposed)(a, plain ? CblasNoTrans : CblasConjTrans);
	struct P(view) right = P(transposed)(a, plain ? CblasConjTrans : CblasNoTrans);
	for (int i = 0; i < n; i++)
		*P(at)(c, i, i) = REAL(*P(at)(c, i, i));
	P(spoil)(c, uplo, CblasNonUnit);
	struct P(view) wanted = P(triangle)(c, uplo, CblasNonUnit);
	P(plain_product)((real)-0.5, left, right, 2, wanted);
	P(herk)(uplo, plain ? CblasNoTrans : CblasConjTrans, (real)-0.5, a, 2, c);
	P(check_spoilt)(c, uplo, CblasNonUnit);
	struct P(view) got = P(triangle)(c, uplo, CblasNonUnit), half = P(triangle)(wanted, uplo, CblasNonUnit);
	P(check_same)(got, half, 1 + P(norm)(a) * P(norm)(a) + P(norm)(wanted));
	P(free_view)(a), P(free_view)(c), P(free_view)(left), P(free_view)(right), P(free_view)(wanted);
	P(free_view)(got), P(free_view)(half);
}

static void P(herk_is_a_product)(void **state)
{
	(void)state;
	for (int s = 0; s < N_SIZES; s++)
		for (int w = 0; w < N_WIDTHS; w++)
			for (int t = 0; t < 4; t++)
				P(check_herk)(t % 2 ? CblasLower : CblasUpper, t / 2, sizes[s], widths[w]);
}

/* B := op(A)^-1 B or op(A) B; op(A) times what was put in on one side is what came out on the other. */
static void P(check_triangular)(struct hd_triangle how, int n, int width, int solve)
{
	int left = how.side == CblasLeft;
	element alpha = (real)1.5;
	struct P(view) a = P(good_triangle)(n, 1);
	struct P(view) b = left ? P(random_view)(n, width, 2) : P(random_view)(width, n, 2), before = P(copy)(b);
	P(spoil)(a, how.uplo, how.diag);
	if (solve)
		P(trsm)(how, alpha, a, b);
	else
		P(trmm)(how, alpha, a, b);
	P(check_spoilt)(a, how.uplo, how.diag);
	struct P(view) full = P(triangle)(a, how.uplo, how.diag), op = P(transposed)(full, how.trans);
	struct P(view) product = P(new_view)(b.m, b.n), factor = solve ? b : before;
	P(plain_product)(solve ? 1 : alpha, left ? op : factor, left ? factor : op, 0, product);
	for (int j = 0; solve && j < b.n; j++)
		for (int i = 0; i < b.m; i++)
			*P(at)(before, i, j) *= alpha;
	P(check_same)(product, solve ? before : b, 1 + P(norm)(full) * P(norm)(factor));
	P(free_view)(a), P(free_view)(b), P(free_view)(before), P(free_view)(full), P(free_view)(op);
	P(free_view)(product);
}

static void P(check_all_triangles)(int solve)
{
	for (int s = 0; s < N_SIZES; s++)
		for (int w = 0; w < N_WIDTHS; w++)
			for (int t = 0; t < 24; t++) {
				struct hd_triangle how = {t & 1 ? CblasLeft : CblasRight,
				                          t & 2 ? CblasLower : CblasUpper, P(transpositions)[t / 8],
				                          t & 4 ? CblasUnit : CblasNonUnit};
				P(check_triangular)(how, sizes[s], widths[w], solve);
			}
}

static void P(a_solution_times_the_triangle_is_the_right_hand_side)(void **state)
{
	(void)state;
	P(check_all_triangles)(1);
}

static void P(trmm_is_a_product)(void **state)
{
	(void)state;
	P(check_all_triangles)(0);
}

/* --- Cholesky ----------------------------------------------------------------------------------------------------- */

static void P(check_factors)(CBLAS_UPLO uplo, int n)
{
	/* A := G G^H + n 1 */
	struct P(view) g = P(random_view)(n, n, 1), gh = P(transposed)(g, CblasConjTrans), a = P(new_view)(n, n);
	P(plain_product)(1, g, gh, 0, a);
	for (int i = 0; i < n; i++)
		*P(at)(a, i, i) = REAL(*P(at)(a, i, i)) + (real)n;
	struct P(view) factor = P(copy)(a);
	P(spoil)(factor, uplo, CblasNonUnit);
	assert_int_equal(P(potrf)(uplo, factor), 0);
	P(check_spoilt)(factor, uplo, CblasNonUnit);
	struct P(view) l = P(triangle)(factor, uplo, CblasNonUnit), lh = P(transposed)(l, CblasConjTrans);
	struct P(view) product = P(new_view)(n, n);
	P(plain_product)(1, uplo == CblasLower ? l : lh, uplo == CblasLower ? lh : l, 0, product);
	P(check_same)(product, a, P(norm)(a));
	P(free_view)(g), P(free_view)(gh), P(free_view)(a), P(free_view)(factor), P(free_view)(l), P(free_view)(lh);
	P(free_view)(product);
}

static void P(factors_multiply_to_the_matrix)(void **state)
{
	(void)state;
	for (int s = 0; s < N_SIZES; s++) {
		P(check_factors)(CblasLower, sizes[s]);
		P(check_factors)(CblasUpper, sizes[s]);
	}
}

static void P(potrf_names_the_first_bad_minor)(void **state)
{
	enum { N = 130 };
	static const int bad[] = {0, 1, 15, 31, 32, 63, 64, 100, N - 1};
	(void)state;
	for (int t = 0; t < 4 * (int)(sizeof bad / sizeof *bad); t++) {
		int i = bad[t / 4];
		struct P(view) a = P(new_view)(N, N);
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				*P(at)(a, k, j) = k == j ? 2 : 0;
		*P(at)(a, i, i) = t & 1 ? (real)NAN : -1;
		*P(at)(a, N - 1, N - 1) = i == N - 1 ? *P(at)(a, i, i) : -2;
		assert_int_equal(P(potrf)(t & 2 ? CblasLower : CblasUpper, a), i + 1);
		P(free_view)(a);
	}
}

static void P(check_inverse)(CBLAS_UPLO uplo, CBLAS_DIAG diag, int n)
{
	struct P(view) a = P(good_triangle)(n, 1), full = P(triangle)(a, uplo, diag), product = P(new_view)(n, n);
	struct P(view) one = P(new_view)(n, n);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			*P(at)(one, i, j) = i == j ? 1 : 0;
	P(spoil)(a, uplo, diag);
	assert_int_equal(P(trtri)(uplo, diag, a), 0);
	P(check_spoilt)(a, uplo, diag);
	struct P(view) inverse = P(triangle)(a, uplo, diag);
	P(plain_product)(1, full, inverse, 0, product);
	P(check_same)(product, one, P(norm)(full) * P(norm)(inverse));
	P(free_view)(a), P(free_view)(full), P(free_view)(product), P(free_view)(one), P(free_view)(inverse);
}

static void P(a_triangle_times_its_inverse_is_one)(void **state)
{
	(void)state;
	for (int s = 0; s < N_SIZES; s++)
		for (int t = 0; t < 4; t++)
			P(check_inverse)
	(t & 1 ? CblasLower : CblasUpper, t & 2 ? CblasUnit : CblasNonUnit, sizes[s]);
}

static void P(trtri_names_the_first_zero)(void **state)
{
	(void)state;
	for (int t = 0; t < 4; t++) {
		CBLAS_DIAG diag = t & 1 ? CblasUnit : CblasNonUnit;
		struct P(view) a = P(good_triangle)(70, 1);
		*P(at)(a, 40, 40) = *P(at)(a, 50, 50) = 0;
		struct P(view) before = P(copy)(a);
		assert_int_equal(P(trtri)(t & 2 ? CblasLower : CblasUpper, diag, a), diag == CblasUnit ? 0 : 41);
		if (diag == CblasNonUnit)
			P(check_same)(a, before, 0);
		P(free_view)(a), P(free_view)(before);
	}
}

static void P(check_lauum)(CBLAS_UPLO uplo, int n)
{
	struct P(view) a = P(random_view)(n, n, 1), product = P(new_view)(n, n);
	for (int i = 0; i < n; i++)
		*P(at)(a, i, i) = REAL(*P(at)(a, i, i));
	struct P(view) l = P(triangle)(a, uplo, CblasNonUnit), lh = P(transposed)(l, CblasConjTrans);
	P(plain_product)(1, uplo == CblasLower ? lh : l, uplo == CblasLower ? l : lh, 0, product);
	P(spoil)(a, uplo, CblasNonUnit);
	P(lauum)(uplo, a);
	P(check_spoilt)(a, uplo, CblasNonUnit);
	struct P(view) got = P(triangle)(a, uplo, CblasNonUnit), half = P(triangle)(product, uplo, CblasNonUnit);
	P(check_same)(got, half, P(norm)(l) * P(norm)(l));
	P(free_view)(a), P(free_view)(product), P(free_view)(l), P(free_view)(lh), P(free_view)(got);
	P(free_view)(half);
}

static void P(lauum_is_a_product)(void **state)
{
	(void)state;
	for (int s = 0; s < N_SIZES; s++) {
		P(check_lauum)(CblasLower, sizes[s]);
		P(check_lauum)(CblasUpper, sizes[s]);
	}
}
