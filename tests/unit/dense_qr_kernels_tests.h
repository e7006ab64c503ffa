/* One precision of test_dense_qr_kernels.c. */

/* What a factorisation left, and how its Q is applied: by gemqrt, tsmqr or ttmqr. */
struct P(factors) {
	enum { P(GE), P(TS), P(TT) } kind;
	struct P(view) v, t;
	element *work; /* NaN beyond its end */
	size_t n_work;
};

static void P(make_work)(struct P(factors) * f, int m, int ib)
{
	f->n_work = hd_qr_work(m, ib);
	f->work = malloc((f->n_work + 1) * sizeof *f->work);
	assert_non_null(f->work);
	for (size_t i = 0; i <= f->n_work; i++)
		f->work[i] = (real)NAN;
}

static void P(free_factors)(struct P(factors) * f)
{
	assert_true(isnan(REAL(f->work[f->n_work])));
	free(f->work);
	P(free_view)(f->v), P(free_view)(f->t);
}

/* Q is of the order of the rows of V, and of its columns more if there is something on top of it. */
static int P(order)(const struct P(factors) * f)
{
	return f->v.m + (f->kind == P(GE) ? 0 : f->v.n);
}

/* C := the product. What is on top of V is the first part of C. */
static void P(apply)(const struct P(factors) * f, struct hd_apply how, struct P(view) c)
{
	int k = f->v.n, m = f->v.m, left = how.side == CblasLeft;
	struct P(view) c1 = left ? P(part)(c, 0, 0, k, c.n) : P(part)(c, 0, 0, c.m, k), c2 = c;
	if (f->kind == P(GE)) {
		P(gemqrt)(how, f->v, f->t, c, f->work);
		return;
	}
	c2 = left ? P(part)(c, k, 0, m, c.n) : P(part)(c, 0, k, c.m, m);
	if (f->kind == P(TS))
		P(tsmqr)(how, f->v, f->t, c1, c2, f->work);
	else
		P(ttmqr)(how, f->v, f->t, c1, c2, f->work);
}

static struct P(view) P(identity)(int n)
{
	struct P(view) one = P(new_view)(n, n);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			*P(at)(one, i, j) = i == j ? 1 : 0;
	return one;
}

/* op(Q) C or C op(Q) are the products with Q, which is `q`, in full. */
static void P(check_applied)(const struct P(factors) * f, struct P(view) q, int width)
{
	for (int i = 0; i < 4; i++) {
		struct hd_apply how = {i & 1 ? CblasLeft : CblasRight, i & 2 ? CblasNoTrans : CblasConjTrans, 0};
		int left = how.side == CblasLeft;
		struct P(view) c = left ? P(random_view)(q.n, width, 5) : P(random_view)(width, q.n, 5);
		struct P(view) op = P(transposed)(q, how.trans), wanted = P(new_view)(c.m, c.n);
		P(plain_product)(1, left ? op : c, left ? c : op, 0, wanted);
		P(apply)(f, how, c);
		P(check_same)(c, wanted, P(norm)(c) * sqrt(q.n));
		P(free_view)(c), P(free_view)(op), P(free_view)(wanted);
	}
}

/* Q is unitary, Q R is `a`, and Q is applied well from both sides. */
static void P(check_q)(const struct P(factors) * f, struct P(view) r, struct P(view) a)
{
	int n = P(order)(f);
	struct P(view) q = P(identity)(n), one = P(identity)(n), product = P(new_view)(n, n);
	P(apply)(f, HD_APPLY(Left, NoTrans), q);
	struct P(view) qh = P(transposed)(q, CblasConjTrans);
	P(plain_product)(1, qh, q, 0, product);
	P(check_same)(product, one, n);
	struct P(view) qr = P(new_view)(a.m, a.n);
	P(plain_product)(1, q, r, 0, qr);
	P(check_same)(qr, a, (1 + P(norm)(a)) * sqrt(n));
	for (int w = 0; w < N_WIDTHS; w++)
		P(check_applied)(f, q, widths[w]);
	P(free_view)(q), P(free_view)(one), P(free_view)(product), P(free_view)(qh), P(free_view)(qr);
}

/* A random matrix; `stair`: with zeros below a staircase. */
static struct P(view) P(some_matrix)(int m, int n, uint64_t seed, int stair)
{
	struct P(view) a = P(random_view)(m, n, seed);
	for (int j = 0; stair && j < n; j++)
		for (int i = 2 * j + 5; i < m; i++)
			*P(at)(a, i, j) = 0;
	return a;
}

static void P(check_geqrt)(const int *shape, int stair)
{
	int m = shape[0], n = shape[1], ib = shape[2], k = m < n ? m : n;
	struct P(view) a = P(some_matrix)(m, n, 1, stair), r = P(copy)(a);
	struct P(factors) f = {.kind = P(GE), .t = P(new_view)(ib, k)};
	P(make_work)(&f, m, ib);
	P(geqrt)(r, f.t, f.work);
	f.v = P(copy)(P(part)(r, 0, 0, m, k));
	P(spoil)(f.v, CblasLower, CblasUnit); /* R, which the products must not read */
	for (int j = 0; j < n; j++)
		for (int i = j + 1; i < m; i++)
			*P(at)(r, i, j) = 0;
	P(check_q)(&f, r, a);
	P(free_view)(a), P(free_view)(r);
	P(free_factors)(&f);
}

static void P(q_r_is_the_matrix)(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++)
		P(check_geqrt)(shapes[i], i % 2);
}

/* One matrix on top of the other. */
static struct P(view) P(stacked)(struct P(view) top, struct P(view) low)
{
	struct P(view) all = P(new_view)(top.m + low.m, top.n);
	for (int j = 0; j < all.n; j++)
		for (int i = 0; i < all.m; i++)
			*P(at)(all, i, j) = i < top.m ? *P(at)(top, i, j) : *P(at)(low, i - top.m, j);
	return all;
}

static void P(check_pair)(const int *shape, int triangle, int stair)
{
	int m = shape[0], n = shape[1], ib = shape[2];
	struct P(view) r = P(random_view)(n, n, 1), low = P(some_matrix)(m, n, 2, stair), zeros = P(new_view)(m, n);
	struct P(factors) f = {.kind = triangle ? P(TT) : P(TS), .t = P(new_view)(ib, n), .v = P(copy)(low)};
	struct P(view) top = P(triangle)(r, CblasUpper, CblasNonUnit);
	if (triangle) {
		struct P(view) whole = low;
		low = P(new_view)(m, n);
		for (int j = 0; j < n; j++)
			for (int i = 0; i < m; i++)
				*P(at)(low, i, j) = i <= j ? *P(at)(whole, i, j) : 0;
		P(spoil)(f.v, CblasUpper, CblasNonUnit);
		P(free_view)(whole);
	}
	struct P(view) a = P(stacked)(top, low);
	P(spoil)(r, CblasUpper, CblasNonUnit);
	P(make_work)(&f, m, ib);
	if (triangle)
		P(ttqrt)(r, f.v, 0, f.t, f.work);
	else
		P(tsqrt)(r, f.v, f.t, f.work);
	P(check_spoilt)(r, CblasUpper, CblasNonUnit);
	if (triangle)
		P(check_spoilt)(f.v, CblasUpper, CblasNonUnit);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++)
			*P(at)(zeros, i, j) = 0;
	struct P(view) new_top = P(triangle)(r, CblasUpper, CblasNonUnit), all_r = P(stacked)(new_top, zeros);
	P(check_q)(&f, all_r, a);
	P(free_view)(r), P(free_view)(low), P(free_view)(zeros), P(free_view)(top), P(free_view)(a);
	P(free_view)(new_top), P(free_view)(all_r);
	P(free_factors)(&f);
}

static void P(q_r_is_a_rectangle_below)(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++)
		P(check_pair)(shapes[i], 0, i % 2);
}

static void P(q_r_is_a_triangle_below)(void **state)
{
	(void)state;
	for (int i = 0; i < N_SHAPES; i++)
		P(check_pair)(shapes[i], 1, 0);
}

/* Of numbers whose squares are no numbers of this precision, and of none. */
static void P(reflectors_of_zeros_and_of_extreme_numbers)(void **state)
{
	enum { M = 12, N = 5, IB = 2 };
	const real huge = sizeof(real) == sizeof(double) ? (real)0x1p1000 : (real)0x1p120;
	const real scales[] = {0, huge, 1 / huge};
	(void)state;
	for (int s = 0; s < 3; s++) {
		struct P(view) a = P(random_view)(M, N, 1), r = P(new_view)(M, N);
		struct P(factors) f = {.kind = P(GE), .t = P(new_view)(IB, N)};
		for (int j = 0; j < N; j++)
			for (int i = 0; i < M; i++)
				*P(at)(r, i, j) = *P(at)(a, i, j) * scales[s];
		P(make_work)(&f, M, IB);
		P(geqrt)(r, f.t, f.work);
		f.v = P(copy)(r);
		for (int j = 0; j < N; j++)
			for (int i = 0; i < M; i++)
				*P(at)(r, i, j) = i > j || s == 0 ? 0 : *P(at)(r, i, j) / scales[s];
		for (int j = 0; s == 0 && j < N; j++)
			for (int i = 0; i < M; i++)
				*P(at)(a, i, j) = 0;
		P(check_q)(&f, r, a);
		P(free_view)(a), P(free_view)(r);
		P(free_factors)(&f);
	}
}

/* Rows of zeros in V are not touched: what is no number there would spoil all. */
static void P(check_untouched)(const struct P(factors) * f, int first)
{
	enum { WIDTH = 7 };
	int n = P(order)(f), top = n - f->v.m;
	struct P(view) c = P(random_view)(n, WIDTH, 6);
	for (int j = 0; j < WIDTH; j++)
		for (int i = top + first; i < n; i++)
			*P(at)(c, i, j) = (real)NAN;
	P(apply)(f, HD_APPLY(Left, ConjTrans), c);
	for (int j = 0; j < WIDTH; j++)
		for (int i = 0; i < n; i++)
			assert_int_equal(isnan(ABS(*P(at)(c, i, j))) != 0, i >= top + first);
	P(free_view)(c);
}

static void P(staircases_need_no_work_below)(void **state)
{
	enum { M = 40, N = 12, IB = 4, FILLED = 2 * (N - 1) + 5 };
	(void)state;
	for (int is_pair = 0; is_pair < 2; is_pair++) {
		struct P(view) a = P(some_matrix)(M, N, 1, 1), r = P(random_view)(N, N, 2);
		struct P(factors) f = {.kind = is_pair ? P(TS) : P(GE), .t = P(new_view)(IB, N), .v = P(copy)(a)};
		P(make_work)(&f, M, IB);
		if (is_pair)
			P(tsqrt)(r, f.v, f.t, f.work);
		else
			P(geqrt)(f.v, f.t, f.work);
		P(check_untouched)(&f, FILLED);
		P(free_view)(a), P(free_view)(r);
		P(free_factors)(&f);
	}
}
