/* One precision of cholesky.h. */

enum {
	/* The largest matrices that are not divided. */
	P(POTRF_LEAF) = HD_CHOLESKY_MOST,
	P(TRTRI_LEAF) = 16,
	P(LAUUM_LEAF) = 16,
	/* the largest matrices that member 0 of a party factorises alone */
	P(POTRF_ALONE) = 64,
	P(TRTRI_ALONE) = 64,
	P(LAUUM_ALONE) = 64,
};

/* potrf by P(cholesky), in a copy of the lower triangle, or of the conjugate transpose of the upper triangle. */
static int P(potrf_leaf)(CBLAS_UPLO uplo, struct P(view) a)
{
	enum { MOST = P(POTRF_LEAF) };
	element square[MOST * MOST];
	int n = a.n, lower = uplo == CblasLower;
	for (int j = 0; j < MOST; j++)
		for (int i = 0; i < MOST; i++)
			square[i + j * MOST] =
			    i < n && j <= i ? lower ? *P(at)(a, i, j) : CONJ(*P(at)(a, j, i)) : i == j;
	int minor = P(cholesky)(n, square);
	for (int j = 0; j < n; j++)
		for (int i = j; i < n; i++)
			if (lower)
				*P(at)(a, i, j) = square[i + j * MOST];
			else
				*P(at)(a, j, i) = CONJ(square[i + j * MOST]);
	return minor;
}

int P(potrf)(CBLAS_UPLO uplo, struct P(view) a)
{
	int n = a.n, half = hd_half(n), rest = n - half;
	if (n == 0)
		return 0;
	if (n <= P(POTRF_LEAF))
		return P(potrf_leaf)(uplo, a);
	struct P(view) a1 = P(part)(a, 0, 0, half, half), a2 = P(part)(a, half, half, rest, rest);
	int minor = P(potrf)(uplo, a1);
	if (minor != 0)
		return minor;
	if (uplo == CblasLower) {
		struct P(view) off = P(part)(a, half, 0, rest, half);
		P(trsm)(HD_TRIANGLE(Right, Lower, ConjTrans, NonUnit), 1, a1, off);
		P(herk)(CblasLower, CblasNoTrans, -1, off, 1, a2);
	} else {
		struct P(view) off = P(part)(a, 0, half, half, rest);
		P(trsm)(HD_TRIANGLE(Left, Upper, ConjTrans, NonUnit), 1, a1, off);
		P(herk)(CblasUpper, CblasConjTrans, -1, off, 1, a2);
	}
	minor = P(potrf)(uplo, a2);
	return minor == 0 ? 0 : half + minor;
}

int P(potrf_party)(const struct hd_party *p, CBLAS_UPLO uplo, struct P(view) a)
{
	int n = a.n, half = hd_half(n), rest = n - half, lower = uplo == CblasLower;
	if (p->ranks == 1 || n <= P(POTRF_ALONE)) {
		int minor = p->rank == 0 ? P(potrf)(uplo, a) : 0;
		return minor != 0 ? minor : hd_meet(p) ? -1 : 0;
	}
	struct P(view) a1 = P(part)(a, 0, 0, half, half), a2 = P(part)(a, half, half, rest, rest);
	struct P(view) off = lower ? P(part)(a, half, 0, rest, half) : P(part)(a, 0, half, half, rest);
	int minor = P(potrf_party)(p, uplo, a1);
	if (minor != 0)
		return minor;
	P(trsm_share)
	(p, lower ? HD_TRIANGLE(Right, Lower, ConjTrans, NonUnit) : HD_TRIANGLE(Left, Upper, ConjTrans, NonUnit), 1, a1,
	 off);
	if (hd_meet(p))
		return -1;
	struct P(square) product = {uplo, lower ? CblasNoTrans : CblasConjTrans, 1, -1, 1, off, a2};
	P(square_share)(p, &product);
	if (hd_meet(p))
		return -1;
	minor = P(potrf_party)(p, uplo, a2);
	return minor <= 0 ? minor : half + minor;
}

/* Inverts A as the solution of X A = 1. */
static void P(invert_leaf)(CBLAS_UPLO uplo, CBLAS_DIAG diag, struct P(view) a)
{
	element square[P(TRTRI_LEAF) * P(TRTRI_LEAF)] = {0};
	struct P(view) inverse = P(view)(square, a.n, a.n, a.n);
	int lower = uplo == CblasLower;
	for (int i = 0; i < a.n; i++)
		*P(at)(inverse, i, i) = 1;
	P(trsm)((struct hd_triangle){CblasRight, uplo, CblasNoTrans, diag}, 1, a, inverse);
	for (int j = 0; j < a.n; j++)
		for (int i = lower ? j : 0; i < (lower ? a.n : j + 1); i++)
			if (i != j || diag == CblasNonUnit)
				*P(at)(a, i, j) = *P(at)(inverse, i, j);
}

/* Inverts A by halves. The blocks of A^-1 on the diagonal are the inverses of A1 and A2; the block beside the diagonal
 * is -A2^-1 off A1^-1 (lower). Returns whether a member of the party has given up. */
static int P(invert)(const struct hd_party *p, CBLAS_UPLO uplo, CBLAS_DIAG diag, struct P(view) a)
{
	int n = a.n, half = hd_half(n), rest = n - half;
	if (p->ranks == 1 && n <= P(TRTRI_LEAF)) {
		P(invert_leaf)(uplo, diag, a);
		return 0;
	}
	if (p->ranks > 1 && n <= P(TRTRI_ALONE)) {
		if (p->rank == 0)
			P(invert)(&hd_alone, uplo, diag, a);
		return hd_meet(p);
	}
	int lower = uplo == CblasLower;
	struct P(view) a1 = P(part)(a, 0, 0, half, half), a2 = P(part)(a, half, half, rest, rest);
	struct P(view) off = lower ? P(part)(a, half, 0, rest, half) : P(part)(a, 0, half, half, rest);
	struct hd_triangle left = {CblasLeft, uplo, CblasNoTrans, diag}, right = {CblasRight, uplo, CblasNoTrans, diag};
	P(trsm_share)(p, right, -1, lower ? a1 : a2, off);
	if (hd_meet(p))
		return 1;
	P(trsm_share)(p, left, 1, lower ? a2 : a1, off);
	return hd_meet(p) || P(invert)(p, uplo, diag, a1) || P(invert)(p, uplo, diag, a2);
}

int P(trtri_party)(const struct hd_party *p, CBLAS_UPLO uplo, CBLAS_DIAG diag, struct P(view) a)
{
	if (a.n == 0)
		return 0;
	for (int i = 0; p->rank == 0 && diag == CblasNonUnit && i < a.n; i++)
		if (*P(at)(a, i, i) == 0)
			return i + 1;
	return hd_meet(p) || P(invert)(p, uplo, diag, a) ? -1 : 0;
}

int P(trtri)(CBLAS_UPLO uplo, CBLAS_DIAG diag, struct P(view) a)
{
	return P(trtri_party)(&hd_alone, uplo, diag, a);
}

static void P(lauum_leaf)(CBLAS_UPLO uplo, struct P(view) a)
{
	element square[P(LAUUM_LEAF) * P(LAUUM_LEAF)], result[P(LAUUM_LEAF) * P(LAUUM_LEAF)];
	struct P(view) full = P(view)(square, a.n, a.n, a.n), product = P(view)(result, a.n, a.n, a.n);
	P(full_triangle)(uplo, CblasNonUnit, a, full);
	for (int i = 0; i < a.n; i++)
		*P(at)(full, i, i) = REAL(*P(at)(full, i, i));
	P(gemm)
	(uplo == CblasLower ? HD_OPS(ConjTrans, NoTrans) : HD_OPS(NoTrans, ConjTrans), 1, full, full, 0, product);
	P(add_triangle)(uplo, product, 0, a);
}

int P(lauum_party)(const struct hd_party *p, CBLAS_UPLO uplo, struct P(view) a)
{
	int n = a.n, half = hd_half(n), rest = n - half, lower = uplo == CblasLower;
	if (n == 0)
		return 0;
	if (p->ranks == 1 && n <= P(LAUUM_LEAF)) {
		P(lauum_leaf)(uplo, a);
		return 0;
	}
	if (p->ranks > 1 && n <= P(LAUUM_ALONE)) {
		if (p->rank == 0)
			P(lauum)(uplo, a);
		return hd_meet(p) ? -1 : 0;
	}
	struct P(view) a1 = P(part)(a, 0, 0, half, half), a2 = P(part)(a, half, half, rest, rest);
	struct P(view) off = lower ? P(part)(a, half, 0, rest, half) : P(part)(a, 0, half, half, rest);
	struct P(square) product = {uplo, lower ? CblasConjTrans : CblasNoTrans, 1, 1, 1, off, a1};
	if (P(lauum_party)(p, uplo, a1))
		return -1;
	P(square_share)(p, &product);
	if (hd_meet(p))
		return -1;
	P(trmm_share)
	(p, lower ? HD_TRIANGLE(Left, Lower, ConjTrans, NonUnit) : HD_TRIANGLE(Right, Upper, ConjTrans, NonUnit), 1, a2,
	 off);
	return hd_meet(p) ? -1 : P(lauum_party)(p, uplo, a2);
}

void P(lauum)(CBLAS_UPLO uplo, struct P(view) a)
{
	P(lauum_party)(&hd_alone, uplo, a);
}
