/* Products and triangular solves of tiles, for one precision: see products.c. */

static inline element P(scalar)(heddle_dense_scalar x)
{
#if COMPLEX
	return (element)((real)x.re + (real)x.im * (element)I);
#else
	return (element)x.re;
#endif
}

/* Datum i of a task. */
static inline struct P(view) P(tile)(const heddle_context *c, size_t i)
{
	return P(view)(heddle_ptr(c, i), (int)heddle_extent(c, i, 0), (int)heddle_extent(c, i, 1),
	               (int)heddle_ld(c, i));
}

/* C := alpha op(A) op(B) + beta C. The extents are those of the factors, because the tile that the residual is added up
 * in may be larger. If op(A) is A, a task may have several tiles of C below each other, as many of A, and B: what lies
 * together in both matrices is one product, which takes less time than several. */
static int P(gemm_task)(heddle_context *c)
{
	const struct hd_dense_gemm_values *v = heddle_value_ptr(c, 0);
	struct hd_ops ops = {hd_dense_cblas_trans(v->trans_a), hd_dense_cblas_trans(v->trans_b)};
	struct hd_party p = hd_dense_party(c);
	size_t n = heddle_context_n_data(c) / 2;
	struct P(view) to = P(tile)(c, 0), a = P(tile)(c, n), b = P(tile)(c, 2 * n);
	for (size_t t = 1; t <= n; t++) {
		struct P(view) next = P(tile)(c, t), next_a = P(tile)(c, n + t);
		if (t < n && P(follows)(to, next) && P(follows)(a, next_a)) {
			to.m += next.m;
			a.m += next_a.m;
			continue;
		}
		to = P(part)(to, 0, 0, v->trans_a ? a.n : a.m, v->trans_b ? b.m : b.n);
		struct P(product) x = {ops, P(scalar)(v->alpha), P(scalar)(v->beta), a, b, to};
		P(gemm_share)(&p, &x);
		to = next;
		a = next_a;
	}
	return 0;
}

/* One triangle of a product of A with itself. C may be larger, as for gemm. */
static int P(square_task)(heddle_context *c, int conjugated)
{
	const struct hd_dense_syrk_values *v = heddle_value_ptr(c, 0);
	struct hd_party p = hd_dense_party(c);
	struct P(square) x = {.uplo = hd_dense_cblas_uplo(v->uplo), .conjugated = conjugated, .a = P(tile)(c, 1)};
	int n = v->trans ? x.a.n : x.a.m;
	x.trans = !v->trans ? CblasNoTrans : conjugated ? CblasConjTrans : CblasTrans;
	x.alpha = P(scalar)(v->alpha);
	x.beta = P(scalar)(v->beta);
	x.c = P(part)(P(tile)(c, 0), 0, 0, n, n);
	P(square_share)(&p, &x);
	return 0;
}

/* C := alpha A A^H + beta C, or alpha A^H A + beta C. */
static int P(herk_task)(heddle_context *c)
{
	return P(square_task)(c, 1);
}

/* The same with A^T. */
static int P(syrk_task)(heddle_context *c)
{
	return P(square_task)(c, !COMPLEX);
}

/* C := alpha A B + beta C, or alpha B A + beta C, where A is symmetric. */
static int P(symm_task)(heddle_context *c)
{
	const struct hd_dense_symm_values *v = heddle_value_ptr(c, 0);
	struct hd_party p = hd_dense_party(c);
	int left = v->side == HEDDLE_DENSE_LEFT;
	struct P(view) to = P(share)(&p, P(tile)(c, 0), left), a = P(tile)(c, 1), b = P(share)(&p, P(tile)(c, 2), left);
	if (to.m == 0 || to.n == 0)
		return 0;
	BLAS(symm)
	(CblasColMajor, hd_dense_cblas_side(v->side), hd_dense_cblas_uplo(v->uplo), to.m, to.n,
	 SCALAR(P(scalar)(v->alpha)), a.a, a.ld, b.a, b.ld, SCALAR(P(scalar)(v->beta)), to.a, to.ld);
	return 0;
}

/* The same where A is Hermitian. */
static int P(hemm_task)(heddle_context *c)
{
	const struct hd_dense_symm_values *v = heddle_value_ptr(c, 0);
	struct hd_party p = hd_dense_party(c);
	int left = v->side == HEDDLE_DENSE_LEFT;
	struct P(view) to = P(share)(&p, P(tile)(c, 0), left), a = P(tile)(c, 1), b = P(share)(&p, P(tile)(c, 2), left);
	if (to.m == 0 || to.n == 0)
		return 0;
	HERMITIAN(mm)
	(CblasColMajor, hd_dense_cblas_side(v->side), hd_dense_cblas_uplo(v->uplo), to.m, to.n,
	 SCALAR(P(scalar)(v->alpha)), a.a, a.ld, b.a, b.ld, SCALAR(P(scalar)(v->beta)), to.a, to.ld);
	return 0;
}

/* B := alpha op(A)^-1 B, or alpha B op(A)^-1. */
static int P(trsm_task)(heddle_context *c)
{
	const struct hd_dense_triangle_values *v = heddle_value_ptr(c, 0);
	struct P(view) b = P(tile)(c, 0), a = P(tile)(c, 1);
	/* of least squares, the tile of B may have more rows than the system; of LU, that of A more columns or rows */
	int left = v->side == HEDDLE_DENSE_LEFT, order = !left ? b.n : a.n < b.m ? a.n : b.m;
	if (left)
		b.m = order;
	struct hd_party p = hd_dense_party(c);
	P(trsm_share)(&p, hd_dense_cblas_triangle(v), P(scalar)(v->alpha), P(part)(a, 0, 0, order, order), b);
	return 0;
}

/* B := alpha op(A) B, or alpha B op(A). */
static int P(trmm_task)(heddle_context *c)
{
	const struct hd_dense_triangle_values *v = heddle_value_ptr(c, 0);
	struct hd_party p = hd_dense_party(c);
	P(trmm_share)(&p, hd_dense_cblas_triangle(v), P(scalar)(v->alpha), P(tile)(c, 1), P(tile)(c, 0));
	return 0;
}

static double P(gemm_flops)(const struct heddle_size *size)
{
	const struct hd_dense_gemm_values *v = size->values[0];
	size_t tiles = size->n_data / 2;
	double m = 0, k = hd_dense_extent(size, tiles, v->trans_a ? 0 : 1);
	for (size_t t = tiles; t < 2 * tiles; t++)
		m += hd_dense_extent(size, t, v->trans_a ? 1 : 0);
	return hd_dense_gemm_flops(COMPLEX, m, hd_dense_extent(size, 2 * tiles, v->trans_b ? 0 : 1), k);
}

static double P(syrk_flops)(const struct heddle_size *size)
{
	const struct hd_dense_syrk_values *v = size->values[0];
	return hd_dense_syrk_flops(COMPLEX, hd_dense_extent(size, 1, v->trans ? 1 : 0),
	                           hd_dense_extent(size, 1, v->trans ? 0 : 1));
}

static double P(symm_flops)(const struct heddle_size *size)
{
	return hd_dense_symm_flops(COMPLEX, hd_dense_extent(size, 0, 0), hd_dense_extent(size, 0, 1),
	                           hd_dense_extent(size, 1, 0));
}

static double P(triangle_flops)(const struct heddle_size *size)
{
	const struct hd_dense_triangle_values *v = size->values[0];
	return hd_dense_triangle_flops(COMPLEX, hd_dense_extent(size, 1, 0),
	                               hd_dense_extent(size, 0, v->side == HEDDLE_DENSE_LEFT ? 1 : 0));
}
