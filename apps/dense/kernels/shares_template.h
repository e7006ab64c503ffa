/* One precision of shares.h. */

void P(gemm_share)(const struct hd_party *p, const struct P(product) * x)
{
	int columns = x->c.n >= x->c.m;
	struct P(view) a = x->a, b = x->b, c = P(share)(p, x->c, columns);
	if (columns)
		b = P(share)(p, b, x->ops.b == CblasNoTrans);
	else
		a = P(share)(p, a, x->ops.a != CblasNoTrans);
	P(gemm)(x->ops, x->alpha, a, b, x->beta, c);
}

/* The n rows of A (NoTrans), or its n columns, from `first` on: the factor for n rows or columns of C. */
static struct P(view) P(factor_of)(const struct P(square) * x, int first, int n)
{
	return x->trans == CblasNoTrans ? P(part)(x->a, first, 0, n, x->a.n) : P(part)(x->a, 0, first, x->a.m, n);
}

/* Computes a square on the diagonal of C. */
static void P(diagonal_square)(const struct P(square) * x, struct P(view) a, struct P(view) c)
{
#if COMPLEX
	if (!x->conjugated) {
		int k = x->trans == CblasNoTrans ? a.n : a.m;
		BLAS(syrk)
		(CblasColMajor, x->uplo, x->trans, c.n, k, SCALAR(x->alpha), a.a, hd_ld(a.ld), SCALAR(x->beta), c.a,
		 hd_ld(c.ld));
		return;
	}
#endif
	P(herk)(x->uplo, x->trans, REAL(x->alpha), a, REAL(x->beta), c);
}

void P(square_share)(const struct hd_party *p, const struct P(square) * x)
{
	struct hd_range r = hd_share_of_triangle(p, x->c.n);
	if (r.n <= 0)
		return;
	CBLAS_TRANSPOSE turned = x->conjugated ? CblasConjTrans : CblasTrans;
	struct hd_ops ops = {x->trans == CblasNoTrans ? CblasNoTrans : turned,
	                     x->trans == CblasNoTrans ? turned : CblasNoTrans};
	struct P(view) mine = P(factor_of)(x, r.first, r.n), before = P(factor_of)(x, 0, r.first);
	if (r.first && x->uplo == CblasLower)
		P(gemm)(ops, x->alpha, mine, before, x->beta, P(part)(x->c, r.first, 0, r.n, r.first));
	else if (r.first)
		P(gemm)(ops, x->alpha, before, mine, x->beta, P(part)(x->c, 0, r.first, r.first, r.n));
	P(diagonal_square)(x, mine, P(part)(x->c, r.first, r.first, r.n, r.n));
}

void P(trsm_share)(const struct hd_party *p, struct hd_triangle how, element alpha, struct P(view) a, struct P(view) b)
{
	P(trsm)(how, alpha, a, P(share)(p, b, how.side == CblasLeft));
}

void P(trmm_share)(const struct hd_party *p, struct hd_triangle how, element alpha, struct P(view) a, struct P(view) b)
{
	P(trmm)(how, alpha, a, P(share)(p, b, how.side == CblasLeft));
}
