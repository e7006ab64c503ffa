/* One precision of cholesky.h. */

enum {
	/* The largest matrices that LAPACK's own routines get. */
	P(POTRF_LEAF) = 32,
	P(TRTRI_LEAF) = 32,
	P(LAUUM_LEAF) = 64,
};

static char P(letter)(CBLAS_UPLO uplo)
{
	return uplo == CblasLower ? 'L' : 'U';
}

/* LAPACK does not always notice that a minor is not a number: a root of NaN goes on to the diagonal of all that
 * follow. */
static int P(potrf_leaf)(CBLAS_UPLO uplo, struct P(view) a)
{
	int minor = LAPACK(potrf_work)(LAPACK_COL_MAJOR, P(letter)(uplo), a.n, a.a, a.ld);
	for (int i = 0; i < a.n && (minor == 0 || i < minor - 1); i++)
		if (isnan(REAL(*P(at)(a, i, i))))
			return i + 1;
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

/* The parts of A^-1 on the diagonal are the inverses of A1 and A2, that beside it is -A2^-1 off A1^-1 (lower). */
static void P(invert)(CBLAS_UPLO uplo, CBLAS_DIAG diag, struct P(view) a)
{
	int n = a.n, half = hd_half(n), rest = n - half;
	if (n <= P(TRTRI_LEAF)) {
		LAPACK(trtri_work)(LAPACK_COL_MAJOR, P(letter)(uplo), diag == CblasUnit ? 'U' : 'N', n, a.a, a.ld);
		return;
	}
	int lower = uplo == CblasLower;
	struct P(view) a1 = P(part)(a, 0, 0, half, half), a2 = P(part)(a, half, half, rest, rest);
	struct P(view) off = lower ? P(part)(a, half, 0, rest, half) : P(part)(a, 0, half, half, rest);
	struct hd_triangle left = {CblasLeft, uplo, CblasNoTrans, diag}, right = {CblasRight, uplo, CblasNoTrans, diag};
	P(trsm)(right, -1, lower ? a1 : a2, off);
	P(trsm)(left, 1, lower ? a2 : a1, off);
	P(invert)(uplo, diag, a1);
	P(invert)(uplo, diag, a2);
}

int P(trtri)(CBLAS_UPLO uplo, CBLAS_DIAG diag, struct P(view) a)
{
	if (a.n == 0)
		return 0;
	for (int i = 0; diag == CblasNonUnit && i < a.n; i++)
		if (*P(at)(a, i, i) == 0)
			return i + 1;
	P(invert)(uplo, diag, a);
	return 0;
}

void P(lauum)(CBLAS_UPLO uplo, struct P(view) a)
{
	int n = a.n, half = hd_half(n), rest = n - half;
	if (n == 0)
		return;
	if (n <= P(LAUUM_LEAF)) {
		LAPACK(lauum_work)(LAPACK_COL_MAJOR, P(letter)(uplo), n, a.a, a.ld);
		return;
	}
	struct P(view) a1 = P(part)(a, 0, 0, half, half), a2 = P(part)(a, half, half, rest, rest);
	P(lauum)(uplo, a1);
	if (uplo == CblasLower) {
		struct P(view) off = P(part)(a, half, 0, rest, half);
		P(herk)(CblasLower, CblasConjTrans, 1, off, 1, a1);
		P(trmm)(HD_TRIANGLE(Left, Lower, ConjTrans, NonUnit), 1, a2, off);
	} else {
		struct P(view) off = P(part)(a, 0, half, half, rest);
		P(herk)(CblasUpper, CblasNoTrans, 1, off, 1, a1);
		P(trmm)(HD_TRIANGLE(Right, Upper, ConjTrans, NonUnit), 1, a2, off);
	}
	P(lauum)(uplo, a2);
}
