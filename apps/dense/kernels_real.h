/* The kernels for one precision. kernels.c includes this file twice, with `real` defined as the type, BLAS(x) and
 * LAPACK(x) as the library's names, and KERNEL(x) as ours. The submitting functions in check.c, matrix.c and potrf.c
 * have the order of each kernel's data and values. */

static int KERNEL(potrf)(heddle_context *c)
{
	real *a = heddle_ptr(c, 0);
	size_t n = heddle_extent(c, 0, 0), ld = heddle_ld(c, 0);
	/* the _work variant saves a search for NaN, which is done below, and a transposition */
	int minor = LAPACK(potrf_work)(LAPACK_COL_MAJOR, 'L', (int)n, a, (int)ld);
	for (size_t i = 0; minor == 0 && i < n; i++)
		if (isnan(a[i + i * ld]))
			minor = (int)i + 1;
	if (minor == 0)
		return 0;
	size_t order = heddle_get(c, 0, size_t) + (size_t)minor;
	return heddle_fail(c, minor, "matrix is not positive definite: the leading minor of order %zu is not positive",
	                   order);
}

/* B := B L^-T by halves: X1 = B1 L11^-T, X2 = (B2 - X1 L21^T) L22^-T. So nearly all the work is in products, which
 * OpenBLAS computes much faster than its own solver works. */
static void KERNEL(solve)(int m, int n, const real *l, int ldl, real *b, int ldb)
{
	enum { LEAF = 64 };
	if (n <= LEAF) {
		BLAS(trsm)(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1, l, ldl, b, ldb);
		return;
	}
	int half = (n / 2 + LEAF - 1) / LEAF * LEAF;
	real *right = b + (size_t)half * (size_t)ldb;
	KERNEL(solve)(m, half, l, ldl, b, ldb);
	BLAS(gemm)
	(CblasColMajor, CblasNoTrans, CblasTrans, m, n - half, half, -1, b, ldb, l + half, ldl, 1, right, ldb);
	KERNEL(solve)(m, n - half, l + half + (size_t)half * (size_t)ldl, ldl, right, ldb);
}

static int KERNEL(trsm)(heddle_context *c)
{
	KERNEL(solve)(EXTENT(0, 0), EXTENT(0, 1), heddle_ptr(c, 1), LD(1), heddle_ptr(c, 0), LD(0));
	return 0;
}

/* syrk and gemm take their extents from the factors, because the tile that the residual is added up in may be
 * larger. */
static int KERNEL(syrk)(heddle_context *c)
{
	BLAS(syrk)
	(CblasColMajor, CblasLower, CblasNoTrans, EXTENT(1, 0), EXTENT(1, 1), -1, heddle_ptr(c, 1), LD(1), 1,
	 heddle_ptr(c, 0), LD(0));
	return 0;
}

static int KERNEL(gemm)(heddle_context *c)
{
	BLAS(gemm)
	(CblasColMajor, CblasNoTrans, CblasTrans, EXTENT(1, 0), EXTENT(2, 0), EXTENT(1, 1), -1, heddle_ptr(c, 1), LD(1),
	 heddle_ptr(c, 2), LD(2), 1, heddle_ptr(c, 0), LD(0));
	return 0;
}

static int KERNEL(copy)(heddle_context *c)
{
	real *to = heddle_ptr(c, 0);
	const real *from = heddle_ptr(c, 1);
	size_t rows = heddle_extent(c, 0, 0), columns = heddle_extent(c, 0, 1);
	for (size_t j = 0; j < columns; j++)
		memcpy(to + j * heddle_ld(c, 0), from + j * heddle_ld(c, 1), rows * sizeof *to);
	return 0;
}

static void KERNEL(fill_spd)(real *a, size_t ld, const struct hd_dense_window *w)
{
	for (size_t j = 0; j < w->columns; j++) {
		real *column = a + j * ld;
		size_t gj = w->column + j;
		uint64_t low = hd_dense_hash(w->seed, gj + 1);
		for (size_t i = 0; i < w->rows; i++) {
			size_t gi = w->row + i;
			if (gi >= gj)
				column[i] = (real)hd_dense_random(low, gi);
			else
				column[i] = (real)hd_dense_random(hd_dense_hash(w->seed, gi + 1), gj);
		}
		if (gj >= w->row && gj < w->row + w->rows)
			column[gj - w->row] = (real)heddle_dense_spd_element(w->seed, w->order, gj, gj);
	}
}

static int KERNEL(spd)(heddle_context *c)
{
	KERNEL(fill_spd)(heddle_ptr(c, 0), heddle_ld(c, 0), heddle_value_ptr(c, 0));
	return 0;
}

/* The sum of squares of a tile of a symmetric matrix and of its mirror image above the diagonal. Of a tile on the
 * diagonal only the lower part is read. */
static double KERNEL(sum_squares)(const real *a, size_t ld, const struct hd_dense_window *w)
{
	int diagonal = w->row == w->column;
	double sum = 0;
	for (size_t j = 0; j < w->columns; j++) {
		const real *column = a + j * ld;
		if (diagonal)
			sum += (double)column[j] * (double)column[j];
		for (size_t i = diagonal ? j + 1 : 0; i < w->rows; i++)
			sum += 2 * (double)column[i] * (double)column[i];
	}
	return sum;
}

/* T := A(i, j); sums[0] += ||T||^2. */
static int KERNEL(residual_begin)(heddle_context *c)
{
	const struct hd_dense_window *w = heddle_value_ptr(c, 0);
	double *sums = heddle_ptr(c, 1);
	KERNEL(fill_spd)(heddle_ptr(c, 0), heddle_ld(c, 0), w);
	sums[0] += KERNEL(sum_squares)(heddle_ptr(c, 0), heddle_ld(c, 0), w);
	return 0;
}

/* T := T - L(i, j) tril(L(j, j))^T; sums[1] += ||T||^2. L(j, j) still has elements of A above its diagonal, so the
 * product is computed by a triangular multiplication, in the scratch tile `work`. */
static int KERNEL(residual_end)(heddle_context *c)
{
	const struct hd_dense_window *w = heddle_value_ptr(c, 0);
	int diagonal = w->row == w->column;
	real *t = heddle_ptr(c, 0), *work = heddle_ptr(c, 1);
	double *sums = heddle_ptr(c, 2);
	size_t factor = diagonal ? 3 : 4; /* number of L(i, j) among the data */
	const real *l = heddle_ptr(c, factor);
	size_t ldt = heddle_ld(c, 0), ldw = heddle_ld(c, 1), ldl = heddle_ld(c, factor);
	for (size_t j = 0; j < w->columns; j++)
		for (size_t i = 0; i < w->rows; i++)
			work[i + j * ldw] = diagonal && i < j ? 0 : l[i + j * ldl];
	BLAS(trmm)
	(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)w->rows, (int)w->columns, 1,
	 heddle_ptr(c, 3), LD(3), work, (int)ldw);
	for (size_t j = 0; j < w->columns; j++)
		for (size_t i = 0; i < w->rows; i++)
			t[i + j * ldt] -= work[i + j * ldw];
	sums[1] += KERNEL(sum_squares)(t, ldt, w);
	return 0;
}
