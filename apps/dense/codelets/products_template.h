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

/* How many of the n tiles (data `first`, first + step, ...) lie together in memory, below each other or beside each
 * other; *whole becomes the rectangle of these tiles. */
static size_t P(together)(const heddle_context *c, size_t first, size_t n, size_t step, int beside,
                          struct P(view) * whole)
{
	size_t t = 1;
	*whole = P(tile)(c, first);
	for (; t < n; t++) {
		struct P(view) next = P(tile)(c, first + t * step);
		if (!(beside ? P(is_beside)(*whole, next) : P(follows)(*whole, next)))
			break;
		whole->m += beside ? 0 : next.m;
		whole->n += beside ? next.n : 0;
	}
	return t;
}

/* C := alpha op(A) op(B) + beta C. A task may have a block of tiles of C, the tiles of op(A) in its rows, and the tiles
 * of op(B) in its columns. Tiles that lie together in all three matrices become one product, which takes less time than
 * several products. The data are the tiles of C by columns, then those of A, then those of B. The factors determine the
 * extents of a product, because the tile in which a residual is summed may be larger. */
static int P(gemm_task)(heddle_context *c)
{
	const struct hd_dense_gemm_values *v = heddle_value_ptr(c, 0);
	struct hd_party p = hd_dense_party(c);
	struct P(product) x = {{hd_dense_cblas_trans(v->trans_a), hd_dense_cblas_trans(v->trans_b)},
	                       P(scalar)(v->alpha),
	                       P(scalar)(v->beta),
	                       .a = {0}};
	size_t columns = v->across ? v->across : 1, rows = (heddle_context_n_data(c) - columns) / (columns + 1);
	size_t first_a = rows * columns, first_b = first_a + rows, across, down;
	for (size_t j = 0; j < columns; j += across) {
		across = P(together)(c, first_b + j, columns - j, 1, !v->trans_b, &x.b);
		struct P(view) all_b = x.b, ignored;
		for (size_t i = 0; i < rows && across > 1; i++)
			if (P(together)(c, i + j * rows, across, rows, 1, &ignored) < across)
				across = 1;
		if (across == 1)
			all_b = P(tile)(c, first_b + j);
		for (size_t i = 0; i < rows; i += down) {
			down = P(together)(c, first_a + i, rows - i, 1, v->trans_a, &x.a);
			down = P(together)(c, i + j * rows, down, 1, 0, &x.c);
			P(together)(c, first_a + i, down, 1, v->trans_a, &x.a);
			x.b = all_b;
			x.c.m = v->trans_a ? x.a.n : x.a.m;
			x.c.n = v->trans_b ? x.b.m : x.b.n;
			P(gemm_share)(&p, &x);
		}
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

/* C := alpha A A^T + beta C, or alpha A^T A + beta C. */
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

/* C := alpha A B + beta C, or alpha B A + beta C, where A is Hermitian. */
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
	/* in least squares, the tile of B may have more rows than the system; in LU, the tile of A more columns or
	 * rows */
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
	size_t columns = v->across ? v->across : 1, first_b = size->n_data - columns;
	size_t rows = first_b / (columns + 1), first_a = first_b - rows;
	double m = 0, n = 0, k = hd_dense_extent(size, first_a, v->trans_a ? 0 : 1);
	for (size_t t = first_a; t < first_b; t++)
		m += hd_dense_extent(size, t, v->trans_a ? 1 : 0);
	for (size_t t = first_b; t < size->n_data; t++)
		n += hd_dense_extent(size, t, v->trans_b ? 0 : 1);
	return hd_dense_gemm_flops(COMPLEX, m, n, k);
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
