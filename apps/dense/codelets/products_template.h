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
 * in may be larger. */
static int P(gemm_task)(heddle_context *c)
{
	const struct hd_dense_gemm_values *v = heddle_value_ptr(c, 0);
	struct P(view) to = P(tile)(c, 0), a = P(tile)(c, 1), b = P(tile)(c, 2);
	BLAS(gemm)
	(CblasColMajor, hd_dense_cblas_trans(v->trans_a), hd_dense_cblas_trans(v->trans_b), v->trans_a ? a.n : a.m,
	 v->trans_b ? b.m : b.n, v->trans_a ? a.m : a.n, SCALAR(P(scalar)(v->alpha)), a.a, a.ld, b.a, b.ld,
	 SCALAR(P(scalar)(v->beta)), to.a, to.ld);
	return 0;
}

static int P(syrk_task)(heddle_context *c)
{
	const struct hd_dense_syrk_values *v = heddle_value_ptr(c, 0);
	struct P(view) to = P(tile)(c, 0), a = P(tile)(c, 1);
	enum CBLAS_TRANSPOSE trans = v->trans ? CblasConjTrans : CblasNoTrans;
#if COMPLEX
	BLAS(herk)
#else
	BLAS(syrk)
#endif
	(CblasColMajor, hd_dense_cblas_uplo(v->uplo), trans, v->trans ? a.n : a.m, v->trans ? a.m : a.n, (real)v->alpha,
	 a.a, a.ld, (real)v->beta, to.a, to.ld);
	return 0;
}

/* B := alpha B L^-H by halves: X1 = B1 L11^-H, X2 = (B2 - X1 L21^H) L22^-H. So nearly all the work is in products,
 * which OpenBLAS computes much faster than its own solver works. */
static void P(solve)(struct P(view) l, struct P(view) b)
{
	enum { LEAF = 64 };
	if (b.n <= LEAF) {
		BLAS(trsm)
		(CblasColMajor, CblasRight, CblasLower, CblasConjTrans, CblasNonUnit, b.m, b.n, SCALAR((element)1), l.a,
		 l.ld, b.a, b.ld);
		return;
	}
	int half = (b.n / 2 + LEAF - 1) / LEAF * LEAF, rest = b.n - half;
	struct P(view) left = P(part)(b, 0, 0, b.m, half), right = P(part)(b, 0, half, b.m, rest);
	P(solve)(l, left);
	BLAS(gemm)
	(CblasColMajor, CblasNoTrans, CblasConjTrans, b.m, rest, half, SCALAR((element)-1), left.a, left.ld,
	 P(at)(l, half, 0), l.ld, SCALAR((element)1), right.a, right.ld);
	P(solve)(P(part)(l, half, half, rest, rest), right);
}

/* B := alpha op(A)^-1 B, or alpha B op(A)^-1. */
static int P(trsm_task)(heddle_context *c)
{
	const struct hd_dense_triangle_values *v = heddle_value_ptr(c, 0);
	struct P(view) b = P(tile)(c, 0), a = P(tile)(c, 1);
	if (v->side == HEDDLE_DENSE_RIGHT && v->uplo == HEDDLE_DENSE_LOWER && v->trans == HEDDLE_DENSE_CONJ_TRANS &&
	    v->diag == HEDDLE_DENSE_NON_UNIT && v->alpha.re == 1 && v->alpha.im == 0)
		P(solve)(a, b);
	else
		BLAS(trsm)
	(CblasColMajor, hd_dense_cblas_side(v->side), hd_dense_cblas_uplo(v->uplo), hd_dense_cblas_trans(v->trans),
	 hd_dense_cblas_diag(v->diag), b.m, b.n, SCALAR(P(scalar)(v->alpha)), a.a, a.ld, b.a, b.ld);
	return 0;
}

static double P(gemm_flops)(const struct heddle_size *size)
{
	const struct hd_dense_gemm_values *v = size->values[0];
	double m = hd_dense_extent(size, 1, v->trans_a ? 1 : 0), k = hd_dense_extent(size, 1, v->trans_a ? 0 : 1);
	double n = hd_dense_extent(size, 2, v->trans_b ? 0 : 1);
	return (COMPLEX ? 8 : 2) * m * n * k;
}

static double P(syrk_flops)(const struct heddle_size *size)
{
	const struct hd_dense_syrk_values *v = size->values[0];
	double n = hd_dense_extent(size, 1, v->trans ? 1 : 0), k = hd_dense_extent(size, 1, v->trans ? 0 : 1);
	return (COMPLEX ? 4 : 1) * k * n * (n + 1);
}

static double P(trsm_flops)(const struct heddle_size *size)
{
	const struct hd_dense_triangle_values *v = size->values[0];
	double m = hd_dense_extent(size, 0, 0), n = hd_dense_extent(size, 0, 1);
	return (COMPLEX ? 4 : 1) * (v->side == HEDDLE_DENSE_LEFT ? n * m * m : m * n * n);
}
