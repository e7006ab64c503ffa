/* Least squares and solutions of least norm, by the QR factorisation of W, the taller of A and A^H.
 *
 * W = Q R. min ||B - W X||: B := Q^H B, then R X = B. The solution of least norm of W^H X = B: R^H Y = B, X = Q [Y; 0].
 * The last tile on R's diagonal may be narrower than the tiles of B beside it, whose last rows do not belong to the
 * triangular system: the solver takes the number of unknowns from R.
 */
#include <dense/routines/qr.h>

enum { A, B, TRANSPOSED }; /* x->m; TRANSPOSED is A^H, and exists only if it is taller than A */

static const heddle_dense_matrix *tall(const struct hd_dense_args *x)
{
	return x->m[TRANSPOSED] ? x->m[TRANSPOSED] : x->m[A];
}

static void transpose(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	const heddle_dense_matrix *w = x->m[TRANSPOSED], *a = x->m[A];
	for (size_t j = 0; j < w->nt; j++)
		for (size_t i = 0; i < w->mt; i++)
			hd_dense_insert(flow, HD_DENSE_TRANSPOSE, heddle_w(hd_dense_tile(w, i, j)),
			                heddle_r(hd_dense_tile(a, j, i)));
}

/* Looks for zeros on R's diagonal. A task that finds a zero fails. It declares to write the tile, so that the solver is
 * cancelled then. */
static void check_rank(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	for (size_t k = 0; k < x->qr->kt; k++) {
		struct hd_dense_rank_values v = {k * tall(x)->shape.tile, flow->options.info};
		hd_dense_insert(flow, HD_DENSE_RANK, heddle_rw(hd_dense_tile(tall(x), k, k)), heddle_value(v));
	}
}

/* B := op(R)^-1 B in the first rows of tiles of B, column j. */
static void solve_column(struct hd_dense_flow *flow, const struct hd_dense_args *x, enum heddle_dense_trans trans,
                         size_t j)
{
	const heddle_dense_matrix *w = tall(x), *b = x->m[B];
	struct hd_dense_triangle_values trsm = {
	    .side = HEDDLE_DENSE_LEFT, .uplo = HEDDLE_DENSE_UPPER, .trans = trans, .alpha = heddle_dense_real(1)};
	struct hd_dense_gemm_values gemm = {trans, HEDDLE_DENSE_NO_TRANS, heddle_dense_real(-1), heddle_dense_real(1),
	                                    0};
	size_t n = x->qr->kt;
	for (size_t step = 0; step < n; step++) {
		size_t k = trans ? step : n - 1 - step;
		hd_dense_insert(flow, HD_DENSE_TRSM, heddle_rw(hd_dense_tile(b, k, j)),
		                heddle_r(hd_dense_tile(w, k, k)), heddle_value(trsm));
		for (size_t i = trans ? k + 1 : 0; i < (trans ? n : k); i++)
			hd_dense_insert(flow, HD_DENSE_GEMM, heddle_rw(hd_dense_tile(b, i, j)),
			                heddle_r(trans ? hd_dense_tile(w, k, i) : hd_dense_tile(w, i, k)),
			                heddle_r(hd_dense_tile(b, k, j)), heddle_value(gemm));
	}
}

static void solve(struct hd_dense_flow *flow, const struct hd_dense_args *x, enum heddle_dense_trans trans)
{
	for (size_t j = 0; j < x->m[B]->nt; j++)
		solve_column(flow, x, trans, j);
}

/* Rows n to m - 1 of B become zero, where W is m x n. */
static void clear_rest(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	const heddle_dense_matrix *b = x->m[B];
	size_t n = tall(x)->shape.columns, tile = b->shape.tile;
	for (size_t i = n / tile; i < tall(x)->mt; i++) {
		struct hd_dense_set_values v = {.first = n > i * tile ? n - i * tile : 0};
		for (size_t j = 0; j < b->nt; j++)
			hd_dense_insert(flow, HD_DENSE_SET,
			                heddle_access(v.first > 0 ? HEDDLE_RW : HEDDLE_W, hd_dense_tile(b, i, j)),
			                heddle_value(v));
	}
}

static void gels_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	heddle_dense_matrix *w = x->m[TRANSPOSED] ? x->m[TRANSPOSED] : x->m[A];
	struct hd_dense_args factorisation = {.m = {w}, .qr = x->qr};
	struct hd_dense_args product = {.m = {w, x->m[B]}, .qr = x->qr, .side = HEDDLE_DENSE_LEFT};
	int wide = x->m[TRANSPOSED] != NULL, least_squares = wide == (x->trans_a != HEDDLE_DENSE_NO_TRANS);
	if (wide)
		transpose(flow, x);
	hd_dense_geqrf_tasks(flow, &factorisation);
	check_rank(flow, x);
	if (least_squares) {
		product.trans_a = HEDDLE_DENSE_CONJ_TRANS;
		hd_dense_ormqr_tasks(flow, &product);
		solve(flow, x, HEDDLE_DENSE_NO_TRANS);
	} else {
		solve(flow, x, HEDDLE_DENSE_CONJ_TRANS);
		clear_rest(flow, x);
		hd_dense_ormqr_tasks(flow, &product);
	}
}

static int check(const struct hd_dense_args *x)
{
	const struct heddle_dense_shape *a = &x->m[A]->shape, *b = &x->m[B]->shape;
	size_t rows = a->rows > a->columns ? a->rows : a->columns;
	if (a->uplo != HEDDLE_DENSE_GENERAL || b->uplo != HEDDLE_DENSE_GENERAL)
		return heddle_error(HEDDLE_E_INVALID, "gels needs matrices that have all of their tiles");
	if (x->trans_a == HEDDLE_DENSE_TRANS && hd_dense_is_complex(a->precision))
		return heddle_error(HEDDLE_E_INVALID, "gels: op(A) of a complex matrix is A or A^H "
		                                      "(HEDDLE_DENSE_CONJ_TRANS), not the transpose of A");
	if (b->rows != rows)
		return heddle_error(HEDDLE_E_INVALID, "gels: A is %zu x %zu, so B must have %zu rows, it has %zu",
		                    a->rows, a->columns, rows, b->rows);
	return 0;
}

static const struct hd_dense_operation gels = {"gels", "AB", check, gels_tasks};

/* Makes A^H if it is taller than A, and the structures for the factorisation. */
static int open_tall(heddle_dense *dense, struct hd_dense_args *x, struct heddle_dense_shape shape,
                     const struct heddle_dense_options *options)
{
	if (shape.rows < shape.columns) {
		size_t rows = shape.columns;
		shape.columns = shape.rows;
		shape.rows = rows;
		int status = heddle_dense_matrix_create(dense, &shape, NULL, 0, &x->m[TRANSPOSED]);
		if (status < 0)
			return status;
	}
	int status = heddle_dense_qr_create(dense, &shape, options, &x->qr);
	if (status >= 0)
		x->qr->applied_at_once = 1;
	return status;
}

/* Frees everything that open_tall has made, after the last task. Returns `status`, with its message if it is an
 * error. */
static int close_tall(struct hd_dense_args *x, int status)
{
	status = hd_dense_finish(x->m[TRANSPOSED], status);
	if (!x->qr)
		return status;
	hd_qr_copies_close(x->qr);
	return hd_qr_finish(x->qr, status);
}

int heddle_dense_gels_submit(enum heddle_dense_trans trans, heddle_dense_matrix *a, heddle_dense_matrix *b,
                             const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.m = {a, b}, .trans_a = trans};
	if (!a)
		return heddle_error(HEDDLE_E_INVALID, "gels: matrix A is NULL");
	int status = open_tall(a->dense, &x, a->shape, options);
	if (status >= 0)
		status = hd_dense_submit(&gels, &x, options);
	return close_tall(&x, status);
}

/* The number of rows of the array B that are only written. They may hold NaN, so the check for NaN skips them. */
static size_t unread_rows(enum heddle_dense_trans trans, const struct heddle_dense_array *a,
                          const struct heddle_dense_array *b)
{
	size_t rows = trans == HEDDLE_DENSE_NO_TRANS ? a->rows : a->columns;
	return b && b->rows > rows ? b->rows - rows : 0;
}

int heddle_dense_gels(heddle_dense *dense, enum heddle_dense_trans trans, const struct heddle_dense_array *a,
                      const struct heddle_dense_array *b, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.trans_a = trans};
	struct hd_dense_operand operands[] = {
	    {.name = "A", .array = a, .mode = a && a->rows < a->columns ? HEDDLE_R : HEDDLE_RW},
	    {.name = "B", .array = b, .mode = HEDDLE_RW},
	};
	struct heddle_dense_options settled;
	struct heddle_dense_shape shape;
	int status = hd_qr_settle("gels", dense, a, options, &settled, &shape);
	if (status < 0)
		return status;
	status = open_tall(dense, &x, shape, &settled);
	if (status >= 0) {
		operands[B].unread = unread_rows(trans, a, b);
		status = hd_dense_call(dense, &gels, &x, operands, &settled);
	}
	return close_tall(&x, status);
}
