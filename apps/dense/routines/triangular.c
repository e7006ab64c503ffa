/* Triangular solves and products: trsm, trmm.
 *
 * Let T be op(A). A *line* of B is a row of tiles if T is on the left, and a column of tiles if T is on the right: each
 * line belongs to one diagonal tile of T. A tile of T beside the diagonal multiplies one line of B into another line.
 * If the results go to later lines, a solve begins with the first line and a product with the last line; otherwise vice
 * versa. So one loop suffices for all sides, triangles and transpositions; its order is that of PLASMA's and
 * Chameleon's routines. */
#include <dense/internal.h>

struct triangle {
	const struct hd_dense_args *x;
	size_t n_lines, width; /* tiles along T, and of each line of B */
	int left, behind;      /* left: T is on the left; behind: results go to later lines */
};

static struct triangle triangle_of(const struct hd_dense_args *x)
{
	const heddle_dense_matrix *b = x->m[1];
	int left = x->side == HEDDLE_DENSE_LEFT;
	int lower = (x->uplo == HEDDLE_DENSE_LOWER) == (x->trans_a == HEDDLE_DENSE_NO_TRANS);
	return (struct triangle){
	    .x = x,
	    .n_lines = left ? b->mt : b->nt,
	    .width = left ? b->nt : b->mt,
	    .left = left,
	    .behind = left == lower,
	};
}

/* Tile k of line `line` of B. */
static heddle_data *tile_of(const struct triangle *t, size_t line, size_t k)
{
	return t->left ? hd_dense_tile(t->x->m[1], line, k) : hd_dense_tile(t->x->m[1], k, line);
}

/* trsm or trmm, with the diagonal tile of T. */
static void diagonal(struct hd_dense_flow *flow, const struct triangle *t, enum hd_dense_op op, size_t line,
                     heddle_dense_scalar alpha)
{
	const struct hd_dense_args *x = t->x;
	struct hd_dense_triangle_values v = {x->side, x->uplo, x->trans_a, x->diag, alpha};
	for (size_t k = 0; k < t->width; k++)
		hd_dense_insert(flow, op, heddle_rw(tile_of(t, line, k)), heddle_r(hd_dense_tile(x->m[0], line, line)),
		                heddle_value(v));
}

/* Line `to` := alpha T(to, from) line `from` + beta line `to`. */
static void pass(struct hd_dense_flow *flow, const struct triangle *t, size_t from, size_t to,
                 const heddle_dense_scalar scalars[2])
{
	const struct hd_dense_args *x = t->x;
	/* T(to, from) if T is at the left, T(from, to) if at the right */
	int swapped = t->left == (x->trans_a != HEDDLE_DENSE_NO_TRANS);
	heddle_data *off = swapped ? hd_dense_tile(x->m[0], from, to) : hd_dense_tile(x->m[0], to, from);
	struct hd_dense_gemm_values v = {t->left ? x->trans_a : HEDDLE_DENSE_NO_TRANS,
	                                 t->left ? HEDDLE_DENSE_NO_TRANS : x->trans_a, scalars[0], scalars[1], 0};
	for (size_t k = 0; k < t->width; k++) {
		heddle_data *given = tile_of(t, from, k);
		hd_dense_insert(flow, HD_DENSE_GEMM, heddle_rw(tile_of(t, to, k)), heddle_r(t->left ? off : given),
		                heddle_r(t->left ? given : off), heddle_value(v));
	}
}

void hd_dense_trsm_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	struct triangle t = triangle_of(x);
	if (hd_dense_is(x->alpha, 0)) {
		hd_dense_scale_tasks(flow, x->m[1], HEDDLE_DENSE_GENERAL, 0, x->alpha);
		return;
	}
	for (size_t step = 0; step < t.n_lines; step++) {
		size_t line = t.behind ? step : t.n_lines - 1 - step;
		heddle_dense_scalar alpha = step == 0 ? x->alpha : heddle_dense_real(1);
		diagonal(flow, &t, HD_DENSE_TRSM, line, alpha);
		for (size_t n = step + 1; n < t.n_lines; n++)
			pass(flow, &t, line, t.behind ? n : t.n_lines - 1 - n,
			     (heddle_dense_scalar[]){heddle_dense_real(-1), alpha});
	}
}

void hd_dense_trmm_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	struct triangle t = triangle_of(x);
	if (hd_dense_is(x->alpha, 0)) {
		hd_dense_scale_tasks(flow, x->m[1], HEDDLE_DENSE_GENERAL, 0, x->alpha);
		return;
	}
	for (size_t step = 0; step < t.n_lines; step++) {
		size_t line = t.behind ? t.n_lines - 1 - step : step;
		diagonal(flow, &t, HD_DENSE_TRMM, line, x->alpha);
		for (size_t n = step + 1; n < t.n_lines; n++)
			pass(flow, &t, t.behind ? t.n_lines - 1 - n : n, line,
			     (heddle_dense_scalar[]){x->alpha, heddle_dense_real(1)});
	}
}

static int check(const char *name, const struct hd_dense_args *x)
{
	const struct heddle_dense_shape *a = &x->m[0]->shape, *b = &x->m[1]->shape;
	int status = hd_dense_check_triangle(name, x->m[0], x->uplo);
	if (status >= 0)
		status = hd_dense_check_full(name, x->m[1]);
	if (status < 0 || a->rows == (x->side == HEDDLE_DENSE_LEFT ? b->rows : b->columns))
		return status;
	return heddle_error(HEDDLE_E_INVALID, "%s from the %s: A is of order %zu and B is %zu x %zu", name,
	                    x->side == HEDDLE_DENSE_LEFT ? "left" : "right", a->rows, b->rows, b->columns);
}

static int check_trsm(const struct hd_dense_args *x)
{
	return check("trsm", x);
}

static int check_trmm(const struct hd_dense_args *x)
{
	return check("trmm", x);
}

const struct hd_dense_operation hd_dense_trsm_operation = {"trsm", "AB", check_trsm, hd_dense_trsm_tasks};
const struct hd_dense_operation hd_dense_trmm_operation = {"trmm", "AB", check_trmm, hd_dense_trmm_tasks};

/* x->alpha and the flags of x are set. */
static int call(heddle_dense *dense, const struct hd_dense_operation *operation, struct hd_dense_args *x,
                const struct heddle_dense_array *const *arrays, const struct heddle_dense_options *options)
{
	const heddle_dense_scalar *alpha = &x->alpha;
	struct hd_dense_operand operands[] = {
	    {.name = "A", .array = arrays[0], .uplo = x->uplo, .mode = HEDDLE_R, .diag = x->diag, .factor = alpha},
	    {.name = "B", .array = arrays[1], .mode = HEDDLE_RW, .factor = alpha},
	};
	return hd_dense_call(dense, operation, x, operands, options);
}

int heddle_dense_trsm_submit(enum heddle_dense_side side, enum heddle_dense_uplo uplo, enum heddle_dense_trans trans,
                             enum heddle_dense_diag diag, heddle_dense_scalar alpha, heddle_dense_matrix *a,
                             heddle_dense_matrix *b, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {
	    .m = {a, b}, .side = side, .uplo = uplo, .trans_a = trans, .diag = diag, .alpha = alpha};
	return hd_dense_submit(&hd_dense_trsm_operation, &x, options);
}

int heddle_dense_trsm(heddle_dense *dense, enum heddle_dense_side side, enum heddle_dense_uplo uplo,
                      enum heddle_dense_trans trans, enum heddle_dense_diag diag, heddle_dense_scalar alpha,
                      const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                      const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.side = side, .uplo = uplo, .trans_a = trans, .diag = diag, .alpha = alpha};
	return call(dense, &hd_dense_trsm_operation, &x, (const struct heddle_dense_array *[]){a, b}, options);
}

int heddle_dense_trmm_submit(enum heddle_dense_side side, enum heddle_dense_uplo uplo, enum heddle_dense_trans trans,
                             enum heddle_dense_diag diag, heddle_dense_scalar alpha, heddle_dense_matrix *a,
                             heddle_dense_matrix *b, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {
	    .m = {a, b}, .side = side, .uplo = uplo, .trans_a = trans, .diag = diag, .alpha = alpha};
	return hd_dense_submit(&hd_dense_trmm_operation, &x, options);
}

int heddle_dense_trmm(heddle_dense *dense, enum heddle_dense_side side, enum heddle_dense_uplo uplo,
                      enum heddle_dense_trans trans, enum heddle_dense_diag diag, heddle_dense_scalar alpha,
                      const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                      const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.side = side, .uplo = uplo, .trans_a = trans, .diag = diag, .alpha = alpha};
	return call(dense, &hd_dense_trmm_operation, &x, (const struct heddle_dense_array *[]){a, b}, options);
}
