/* One precision of test_dense_lu_kernels.c. */

/* L times U, from what a factorisation leaves. */
static struct P(view) P(product_of_factors)(struct P(view) factors)
{
	int k = factors.m < factors.n ? factors.m : factors.n;
	struct P(view) l = P(new_view)(factors.m, k), u = P(new_view)(k, factors.n);
	for (int j = 0; j < k; j++)
		for (int i = 0; i < factors.m; i++)
			*P(at)(l, i, j) = i > j ? *P(at)(factors, i, j) : i == j ? 1 : 0;
	for (int j = 0; j < factors.n; j++)
		for (int i = 0; i < k; i++)
			*P(at)(u, i, j) = i <= j ? *P(at)(factors, i, j) : 0;
	struct P(view) product = P(new_view)(factors.m, factors.n);
	P(plain_product)(1, l, u, 0, product);
	P(free_view)(l), P(free_view)(u);
	return product;
}

static void P(check_lu)(int m, int n)
{
	int pivots[130], k = m < n ? m : n;
	struct P(view) a = P(random_view)(m, n, 1), factors = P(copy)(a);
	assert_int_equal(P(getrf)(factors, pivots), 0);
	for (int j = 0; j < k; j++) {
		assert_in_range(pivots[j], j + 1, m);
		for (int i = j + 1; i < m; i++)
			assert_true(ABS(*P(at)(factors, i, j)) <= (COMPLEX ? (real)1.5 : 1 + EPSILON));
	}
	struct P(view) product = P(product_of_factors)(factors);
	P(laswp)(product, pivots, k, 0);
	P(check_same)(product, a, (1 + P(norm)(a)) * (k + 1));
	P(free_view)(a), P(free_view)(factors), P(free_view)(product);
}

static void P(factors_multiply_to_the_permuted_matrix)(void **state)
{
	(void)state;
	for (int i = 0; i < N_SIZES; i++)
		for (int j = 0; j < N_SIZES; j++)
			P(check_lu)(sizes[i], sizes[j]);
	P(check_lu)(1000, 40);
}

static void P(factors_without_pivots_multiply_to_the_matrix)(void **state)
{
	(void)state;
	for (int t = 0; t < N_SIZES * N_SIZES; t++) {
		int m = sizes[t / N_SIZES], n = sizes[t % N_SIZES];
		struct P(view) a = P(random_view)(m, n, 1);
		for (int i = 0; i < m && i < n; i++)
			*P(at)(a, i, i) += (real)(m + n);
		struct P(view) factors = P(copy)(a);
		assert_int_equal(P(getrf_nopiv)(factors), 0);
		struct P(view) product = P(product_of_factors)(factors);
		P(check_same)(product, a, 1 + P(norm)(a));
		P(free_view)(a), P(free_view)(factors), P(free_view)(product);
	}
}

/* In memory of their own, the tiles give the factors and pivots that they give as parts of one matrix. */
static void P(tiles_below_each_other_are_one_matrix)(void **state)
{
	enum { M = 130, N = 40, NB = 48, COUNT = (M + NB - 1) / NB };
	(void)state;
	struct P(view) a = P(random_view)(M, N, 1), whole = P(copy)(a), apart[COUNT], parts[COUNT];
	int pivots[N], expected[N];
	for (int t = 0; t < COUNT; t++) {
		int rows = M - t * NB < NB ? M - t * NB : NB;
		parts[t] = P(part)(whole, t * NB, 0, rows, N);
		apart[t] = P(copy)(parts[t]);
	}
	struct P(stack) of_apart = P(stack)(apart, COUNT), of_parts = P(stack)(parts, COUNT);
	assert_int_equal(of_apart.count, COUNT);
	assert_int_equal(of_parts.count, 1);
	assert_int_equal(P(getrf_panel)(of_apart, pivots), 0);
	assert_int_equal(P(getrf_panel)(of_parts, expected), 0);
	assert_memory_equal(pivots, expected, sizeof pivots);
	for (int t = 0; t < COUNT; t++) {
		struct P(view) part = P(part)(whole, t * NB, 0, apart[t].m, N), copy = P(copy)(part);
		P(check_same)(apart[t], copy, P(norm)(a));
		P(free_view)(copy);
	}
	P(interchange)(of_apart, 0, N, &(struct hd_swaps){pivots, N, 0, 1}, 0);
	P(laswp)(whole, pivots, N, 0);
	for (int t = 0; t < COUNT; t++) {
		struct P(view) copy = P(copy)(P(part)(whole, t * NB, 0, apart[t].m, N));
		P(check_same)(apart[t], copy, P(norm)(a));
		P(free_view)(copy), P(free_view)(apart[t]);
	}
	P(free_view)(a), P(free_view)(whole);
}

static void P(laswp_backwards_undoes_laswp)(void **state)
{
	enum { M = 40, N = 9 };
	static const int pivots[] = {40, 2, 17, 5, 40, 6};
	(void)state;
	struct P(view) a = P(random_view)(M, N, 1), before = P(copy)(a);
	P(laswp)(a, pivots, 6, 1);
	/* row 0 went to 39, and from there to 4 */
	for (int j = 0; j < N; j++) {
		assert_true(*P(at)(a, 4, j) == *P(at)(before, 0, j));
		assert_true(*P(at)(a, 39, j) == *P(at)(before, 3, j));
		assert_true(*P(at)(a, 3, j) == *P(at)(before, 4, j));
		assert_true(*P(at)(a, 0, j) == *P(at)(before, 39, j));
		assert_true(*P(at)(a, 16, j) == *P(at)(before, 2, j));
		assert_true(*P(at)(a, 1, j) == *P(at)(before, 1, j));
	}
	P(laswp)(a, pivots, 6, 0);
	P(check_same)(a, before, 0);
	P(free_view)(a), P(free_view)(before);
}

/* Zero columns from i on, of a matrix that is diagonal otherwise: every result is exact. */
static void P(the_first_zero_pivot_is_named)(void **state)
{
	enum { N = 70 };
	static const int bad[] = {0, 1, 7, 8, 35, 36, 64, N - 1};
	(void)state;
	for (size_t t = 0; t < sizeof bad / sizeof *bad; t++) {
		int pivots[N];
		struct P(view) a = P(new_view)(N + 3, N);
		for (int j = 0; j < N; j++)
			for (int i = 0; i < N + 3; i++)
				*P(at)(a, i, j) = i == j && (i < bad[t] || i > bad[t] + 2) ? 2 : 0;
		struct P(view) b = P(copy)(a);
		assert_int_equal(P(getrf)(a, pivots), bad[t] + 1);
		assert_int_equal(P(getrf_nopiv)(b), bad[t] + 1);
		for (int j = 0; j < N; j++)
			for (int i = 0; i < N + 3; i++)
				assert_true(ABS(*P(at)(a, i, j)) < 3 && ABS(*P(at)(b, i, j)) < 3);
		P(free_view)(a), P(free_view)(b);
	}
}

static void P(not_a_number_is_found_wherever_it_is)(void **state)
{
	enum { M = 90, N = 20 };
	(void)state;
	for (int t = 0; t < M * N; t += 37) {
		int pivots[N];
		struct P(view) a = P(random_view)(M, N, 1);
		*P(at)(a, t % M, t / M) = (real)NAN;
		assert_int_equal(P(getrf)(a, pivots), t / M + 1);
		P(free_view)(a);
	}
}

static void P(tiny_pivots_do_not_overflow)(void **state)
{
	(void)state;
	int pivots[2];
	real tiny = sizeof(real) == sizeof(double) ? (real)(DBL_MIN / 8) : (real)(FLT_MIN / 8);
	struct P(view) a = P(new_view)(2, 2);
	*P(at)(a, 0, 0) = tiny, *P(at)(a, 1, 0) = tiny / 2, *P(at)(a, 0, 1) = 2, *P(at)(a, 1, 1) = 3;
	assert_int_equal(P(getrf)(a, pivots), 0);
	assert_true(*P(at)(a, 1, 0) == (real)0.5 && *P(at)(a, 1, 1) == 2);
	P(free_view)(a);
}

static void P(the_first_of_equal_elements_is_the_pivot)(void **state)
{
	enum { M = 50 };
	(void)state;
	for (int first = 0; first < M; first++) {
		int pivot;
		struct P(view) a = P(new_view)(M, 1);
		for (int i = 0; i < M; i++)
			*P(at)(a, i, 0) = i < first ? 1 : i % 2 ? -2 : 2;
		assert_int_equal(P(getrf)(a, &pivot), 0);
		assert_int_equal(pivot, first + 1);
		P(free_view)(a);
	}
}
