/* One precision of blas3.h. */

enum {
	/* The largest triangles that are not divided. */
	P(TRSM_LEAF) = 16, /* at most HD_SOLVE_MOST */
	P(HERK_LEAF) = 16,
};

static void P(whole_product)(struct hd_ops ops, element alpha, struct P(view) a, struct P(view) b, element beta,
                             struct P(view) c)
{
	int k = ops.a == CblasNoTrans ? a.n : a.m;
	BLAS(gemm)
	(CblasColMajor, ops.a, ops.b, c.m, c.n, k, SCALAR(alpha), a.a, hd_ld(a.ld), b.a, hd_ld(b.ld), SCALAR(beta), c.a,
	 c.ld);
}

void P(gemm)(struct hd_ops ops, element alpha, struct P(view) a, struct P(view) b, element beta, struct P(view) c)
{
	int plain_a = ops.a == CblasNoTrans, plain_b = ops.b == CblasNoTrans, all = plain_a ? a.n : a.m;
	if (c.m == 0 || c.n == 0)
		return;
	struct piece piece = product_piece(ops, c.m, c.n, all);
	if (COMPLEX || !piece.use || is_crowded(a.ld, sizeof(element)) || is_crowded(b.ld, sizeof(element)) ||
	    is_crowded(c.ld, sizeof(element))) {
		P(whole_product)(ops, alpha, a, b, beta, c);
		return;
	}
	for (int j = 0, n; j < c.n; j += n) {
		n = hd_smaller(piece.n, c.n - j);
		for (int i = 0, m; i < c.m; i += m) {
			m = hd_smaller(piece.m, c.m - i);
			for (int l = 0, k; l < all; l += k) {
				k = hd_smaller(piece.k, all - l);
				struct P(view) ai = plain_a ? P(part)(a, i, l, m, k) : P(part)(a, l, i, k, m);
				struct P(view) bj = plain_b ? P(part)(b, l, j, k, n) : P(part)(b, j, l, n, k);
				P(whole_product)(ops, alpha, ai, bj, l == 0 ? beta : 1, P(part)(c, i, j, m, n));
			}
		}
	}
}

void P(full_triangle)(CBLAS_UPLO uplo, CBLAS_DIAG diag, struct P(view) a, struct P(view) full)
{
	int lower = uplo == CblasLower;
	for (int j = 0; j < a.n; j++) {
		for (int i = 0; i < a.n; i++)
			*P(at)(full, i, j) = (i > j) == lower && i != j ? *P(at)(a, i, j) : 0;
		*P(at)(full, j, j) = diag == CblasUnit ? 1 : *P(at)(a, j, j);
	}
}

void P(add_triangle)(CBLAS_UPLO uplo, struct P(view) full, real beta, struct P(view) c)
{
	for (int j = 0; j < c.n; j++) {
		int from = uplo == CblasLower ? j : 0, to = uplo == CblasLower ? c.n : j + 1;
		for (int i = from; i < to; i++) {
			element before = beta == 0 ? 0 : beta * *P(at)(c, i, j);
			*P(at)(c, i, j) = *P(at)(full, i, j) + before;
		}
		*P(at)(c, j, j) = REAL(*P(at)(c, j, j));
	}
}

void P(herk)(CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, real alpha, struct P(view) a, real beta, struct P(view) c)
{
	int n = c.n, plain = trans == CblasNoTrans, k = plain ? a.n : a.m;
	if (n == 0)
		return;
	struct hd_ops ops = plain ? HD_OPS(NoTrans, ConjTrans) : HD_OPS(ConjTrans, NoTrans);
	if (COMPLEX) {
		HERMITIAN(rk)(CblasColMajor, uplo, trans, n, k, alpha, a.a, hd_ld(a.ld), beta, c.a, c.ld);
		return;
	}
	if (n <= P(HERK_LEAF)) {
		element square[P(HERK_LEAF) * P(HERK_LEAF)];
		struct P(view) full = P(view)(square, n, n, n);
		P(gemm)(ops, alpha, a, a, 0, full);
		P(add_triangle)(uplo, full, beta, c);
		return;
	}
	int half = hd_half(n), rest = n - half;
	struct P(view) first = plain ? P(part)(a, 0, 0, half, k) : P(part)(a, 0, 0, k, half);
	struct P(view) second = plain ? P(part)(a, half, 0, rest, k) : P(part)(a, 0, half, k, rest);
	P(herk)(uplo, trans, alpha, first, beta, P(part)(c, 0, 0, half, half));
	P(herk)(uplo, trans, alpha, second, beta, P(part)(c, half, half, rest, rest));
	if (uplo == CblasLower)
		P(gemm)(ops, alpha, second, first, beta, P(part)(c, half, 0, rest, half));
	else
		P(gemm)(ops, alpha, first, second, beta, P(part)(c, 0, half, half, rest));
}

/* Makes the upper triangle T for P(solve) from op(A): P(solve) then solves X T = B for the columns of B, or its rows
 * (Left), in the same or (`reversed`) in the opposite order. */
static void P(upper_triangle)(struct hd_triangle how, int reversed, struct P(view) a, element *t)
{
	int n = a.n, turned = (how.side == CblasLeft) != (how.trans != CblasNoTrans);
	for (int j = 0; j < n; j++) {
		for (int i = 0; i < j; i++) {
			int row = reversed ? n - 1 - i : i, column = reversed ? n - 1 - j : j;
			element value = *(turned ? P(at)(a, column, row) : P(at)(a, row, column));
			t[i + j * n] = how.trans == CblasConjTrans ? CONJ(value) : value;
		}
		element diagonal =
		    how.diag == CblasUnit ? 1 : *P(at)(a, reversed ? n - 1 - j : j, reversed ? n - 1 - j : j);
		t[j + j * n] = 1 / (how.trans == CblasConjTrans ? CONJ(diagonal) : diagonal);
	}
}

/* Solves for the columns of B, as rows of a copy. */
static void P(solve_left)(int reversed, const element *t, struct P(view) b)
{
	enum { WIDTH = HD_SOLVE_BYTES / sizeof(element) };
	element rows[WIDTH * P(TRSM_LEAF)];
	for (int first = 0, width; first < b.n; first += width) {
		width = hd_smaller(WIDTH, b.n - first);
		for (int j = 0; j < width; j++)
			for (int i = 0; i < b.m; i++)
				rows[j + i * WIDTH] = *P(at)(b, i, first + j);
		P(solve)(width, b.m, reversed ? rows + (b.m - 1) * WIDTH : rows, reversed ? -WIDTH : WIDTH, t);
		for (int j = 0; j < width; j++)
			for (int i = 0; i < b.m; i++)
				*P(at)(b, i, first + j) = rows[j + i * WIDTH];
	}
}

static void P(trsm_leaf)(struct hd_triangle how, element alpha, struct P(view) a, struct P(view) b)
{
	element t[P(TRSM_LEAF) * P(TRSM_LEAF)];
	int lower = (how.uplo == CblasLower) == (how.trans == CblasNoTrans), left = how.side == CblasLeft;
	int reversed = left != lower;
	P(upper_triangle)(how, reversed, a, t);
	for (int j = 0; alpha != 1 && j < b.n; j++)
		P(scale)(b.m, P(at)(b, 0, j), alpha);
	if (left)
		P(solve_left)(reversed, t, b);
	else
		P(solve)(b.m, b.n, reversed ? P(at)(b, 0, b.n - 1) : b.a, reversed ? -(ptrdiff_t)b.ld : b.ld, t);
}

/* Recursive, by halves of op(A): the block beside the diagonal times the first solution updates the right-hand side of
 * the other half. */
void P(trsm)(struct hd_triangle how, element alpha, struct P(view) a, struct P(view) b)
{
	if (b.m == 0 || b.n == 0)
		return;
	if (a.n <= P(TRSM_LEAF)) {
		P(trsm_leaf)(how, alpha, a, b);
		return;
	}
	int left = how.side == CblasLeft, lower = (how.uplo == CblasLower) == (how.trans == CblasNoTrans);
	int half = hd_half(a.n), rest = a.n - half;
	int top_first = left == lower, first = top_first ? 0 : half, n_first = top_first ? half : rest;
	int last = half - first, n_last = a.n - n_first;
	struct P(view) off = how.uplo == CblasLower ? P(part)(a, half, 0, rest, half) : P(part)(a, 0, half, half, rest);
	struct P(view) from = left ? P(part)(b, first, 0, n_first, b.n) : P(part)(b, 0, first, b.m, n_first);
	struct P(view) to = left ? P(part)(b, last, 0, n_last, b.n) : P(part)(b, 0, last, b.m, n_last);
	P(trsm)(how, alpha, P(part)(a, first, first, n_first, n_first), from);
	if (left)
		P(gemm)((struct hd_ops){how.trans, CblasNoTrans}, -1, off, from, alpha, to);
	else
		P(gemm)((struct hd_ops){CblasNoTrans, how.trans}, -1, from, off, alpha, to);
	P(trsm)(how, 1, P(part)(a, last, last, n_last, n_last), to);
}

void P(trmm)(struct hd_triangle how, element alpha, struct P(view) a, struct P(view) b)
{
	if (b.m == 0 || b.n == 0)
		return;
	BLAS(trmm)
	(CblasColMajor, how.side, how.uplo, how.trans, how.diag, b.m, b.n, SCALAR(alpha), a.a, a.ld, b.a, b.ld);
}
