/* Products of symmetric and Hermitian matrices: syrk, herk, symm, hemm. Only one triangle of such a matrix is used; its
 * diagonal tiles have tasks of special codelets, and all other tiles are factors of gemm, transposed for the other
 * triangle. */
#include <dense/internal.h>

/* --- syrk, herk: C := alpha A A^T + beta C, or alpha A^T A + beta C ----------------------------------------------- */

struct update {
	const struct hd_dense_args *x;
	int hermitian;
};

/* C(i, j) := alpha op(A)(i, k) op(A)(j, k)^T + beta C(i, j). */
static void update_tile(struct hd_dense_flow *flow, const struct update *u, size_t i, size_t j, size_t k)
{
	const struct hd_dense_args *x = u->x;
	const heddle_dense_matrix *a = x->m[0], *c = x->m[1];
	enum heddle_dense_trans other = u->hermitian ? HEDDLE_DENSE_CONJ_TRANS : HEDDLE_DENSE_TRANS;
	heddle_dense_scalar beta = k == 0 ? x->beta : heddle_dense_real(1);
	enum heddle_mode mode = hd_dense_is(beta, 0) ? hd_dense_overwrites(c, x->uplo, i, j) : HEDDLE_RW;
	heddle_data *left = x->trans_a ? hd_dense_tile(a, k, i) : hd_dense_tile(a, i, k);
	heddle_data *right = x->trans_a ? hd_dense_tile(a, k, j) : hd_dense_tile(a, j, k);
	if (i == j) {
		struct hd_dense_syrk_values v = {x->uplo, x->trans_a, x->alpha, beta};
		hd_dense_insert(flow, u->hermitian ? HD_DENSE_HERK : HD_DENSE_SYRK,
		                heddle_access(mode, hd_dense_tile(c, i, i)), heddle_r(left), heddle_value(v));
	} else {
		struct hd_dense_gemm_values v = {x->trans_a ? other : HEDDLE_DENSE_NO_TRANS,
		                                 x->trans_a ? HEDDLE_DENSE_NO_TRANS : other, x->alpha, beta, 0};
		hd_dense_insert(flow, HD_DENSE_GEMM, heddle_access(mode, hd_dense_tile(c, i, j)), heddle_r(left),
		                heddle_r(right), heddle_value(v));
	}
}

static void rank_k_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x, int hermitian)
{
	const heddle_dense_matrix *a = x->m[0], *c = x->m[1];
	struct update u = {x, hermitian};
	size_t kt = x->trans_a ? a->mt : a->nt;
	int lower = x->uplo == HEDDLE_DENSE_LOWER;
	if (kt == 0 || hd_dense_is(x->alpha, 0)) {
		hd_dense_scale_tasks(flow, c, x->uplo, hermitian, x->beta);
		return;
	}
	for (size_t n = 0; n < c->nt; n++)
		for (size_t m = n; m < c->mt; m++)
			for (size_t k = 0; k < kt; k++)
				update_tile(flow, &u, lower ? m : n, lower ? n : m, k);
}

static void syrk_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	rank_k_tasks(flow, x, 0);
}

static void herk_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	rank_k_tasks(flow, x, 1);
}

/* Checks the transposition: in complex precisions syrk does not allow A^H, and herk does not allow A^T. */
static int check_rank_k(const char *name, const struct hd_dense_args *x, enum heddle_dense_trans forbidden)
{
	const struct heddle_dense_shape *a = &x->m[0]->shape;
	size_t n = x->trans_a ? a->columns : a->rows;
	if (hd_dense_is_complex(a->precision) && x->trans_a == forbidden)
		return heddle_error(HEDDLE_E_INVALID, "%s of complex matrices: the transposition must be %s", name,
		                    forbidden == HEDDLE_DENSE_TRANS ? "HEDDLE_DENSE_NO_TRANS or _CONJ_TRANS"
		                                                    : "HEDDLE_DENSE_NO_TRANS or _TRANS");
	int status = hd_dense_check_full(name, x->m[0]);
	if (status >= 0)
		status = hd_dense_check_triangle(name, x->m[1], x->uplo);
	if (status >= 0 && x->m[1]->shape.rows != n)
		status = heddle_error(HEDDLE_E_INVALID, "%s: op(A) has %zu rows and C has %zu", name, n,
		                      x->m[1]->shape.rows);
	return status;
}

static int check_syrk(const struct hd_dense_args *x)
{
	return check_rank_k("syrk", x, HEDDLE_DENSE_CONJ_TRANS);
}

static int check_herk(const struct hd_dense_args *x)
{
	return check_rank_k("herk", x, HEDDLE_DENSE_TRANS);
}

const struct hd_dense_operation hd_dense_syrk_operation = {"syrk", "AC", check_syrk, syrk_tasks};
const struct hd_dense_operation hd_dense_herk_operation = {"herk", "AC", check_herk, herk_tasks};

int heddle_dense_syrk_submit(enum heddle_dense_uplo uplo, enum heddle_dense_trans trans, heddle_dense_scalar alpha,
                             heddle_dense_matrix *a, heddle_dense_scalar beta, heddle_dense_matrix *c,
                             const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.m = {a, c}, .uplo = uplo, .trans_a = trans, .alpha = alpha, .beta = beta};
	return hd_dense_submit(&hd_dense_syrk_operation, &x, options);
}

int heddle_dense_herk_submit(enum heddle_dense_uplo uplo, enum heddle_dense_trans trans, double alpha,
                             heddle_dense_matrix *a, double beta, heddle_dense_matrix *c,
                             const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.m = {a, c},
	                          .uplo = uplo,
	                          .trans_a = trans,
	                          .alpha = heddle_dense_real(alpha),
	                          .beta = heddle_dense_real(beta)};
	return hd_dense_submit(&hd_dense_herk_operation, &x, options);
}

/* The scalars of x are set. */
static int call_rank_k(heddle_dense *dense, const struct hd_dense_operation *operation, struct hd_dense_args *x,
                       const struct heddle_dense_array *const *arrays, const struct heddle_dense_options *options)
{
	struct hd_dense_operand operands[] = {
	    {.name = "A", .array = arrays[0], .mode = HEDDLE_R, .factor = &x->alpha},
	    {.name = "C", .array = arrays[1], .uplo = x->uplo, .mode = HEDDLE_RW, .factor = &x->beta},
	};
	return hd_dense_call(dense, operation, x, operands, options);
}

int heddle_dense_syrk(heddle_dense *dense, enum heddle_dense_uplo uplo, enum heddle_dense_trans trans,
                      heddle_dense_scalar alpha, const struct heddle_dense_array *a, heddle_dense_scalar beta,
                      const struct heddle_dense_array *c, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.uplo = uplo, .trans_a = trans, .alpha = alpha, .beta = beta};
	return call_rank_k(dense, &hd_dense_syrk_operation, &x, (const struct heddle_dense_array *[]){a, c}, options);
}

int heddle_dense_herk(heddle_dense *dense, enum heddle_dense_uplo uplo, enum heddle_dense_trans trans, double alpha,
                      const struct heddle_dense_array *a, double beta, const struct heddle_dense_array *c,
                      const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {
	    .uplo = uplo, .trans_a = trans, .alpha = heddle_dense_real(alpha), .beta = heddle_dense_real(beta)};
	return call_rank_k(dense, &hd_dense_herk_operation, &x, (const struct heddle_dense_array *[]){a, c}, options);
}

/* --- symm, hemm: C := alpha A B + beta C, or alpha B A + beta C --------------------------------------------------- */

/* C(i, j) := alpha A(i, k) B(k, j) + beta C(i, j), or alpha B(i, k) A(k, j) + beta C(i, j). */
static void multiply_tile(struct hd_dense_flow *flow, const struct update *u, size_t i, size_t j, size_t k)
{
	const struct hd_dense_args *x = u->x;
	const heddle_dense_matrix *a = x->m[0], *b = x->m[1], *c = x->m[2];
	int left = x->side == HEDDLE_DENSE_LEFT;
	size_t p = left ? i : k, q = left ? k : j; /* the tile of A */
	heddle_dense_scalar beta = k == 0 ? x->beta : heddle_dense_real(1);
	struct heddle_item to = heddle_access(hd_dense_is(beta, 0) ? HEDDLE_W : HEDDLE_RW, hd_dense_tile(c, i, j));
	heddle_data *of_b = left ? hd_dense_tile(b, k, j) : hd_dense_tile(b, i, k);
	if (p == q) {
		struct hd_dense_symm_values v = {x->side, x->uplo, x->alpha, beta};
		hd_dense_insert(flow, u->hermitian ? HD_DENSE_HEMM : HD_DENSE_SYMM, to,
		                heddle_r(hd_dense_tile(a, p, p)), heddle_r(of_b), heddle_value(v));
		return;
	}
	int stored = x->uplo == HEDDLE_DENSE_LOWER ? p > q : p < q;
	enum heddle_dense_trans trans = stored         ? HEDDLE_DENSE_NO_TRANS
	                                : u->hermitian ? HEDDLE_DENSE_CONJ_TRANS
	                                               : HEDDLE_DENSE_TRANS;
	heddle_data *of_a = stored ? hd_dense_tile(a, p, q) : hd_dense_tile(a, q, p);
	struct hd_dense_gemm_values v = {left ? trans : HEDDLE_DENSE_NO_TRANS, left ? HEDDLE_DENSE_NO_TRANS : trans,
	                                 x->alpha, beta, 0};
	hd_dense_insert(flow, HD_DENSE_GEMM, to, heddle_r(left ? of_a : of_b), heddle_r(left ? of_b : of_a),
	                heddle_value(v));
}

static void multiply_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x, int hermitian)
{
	const heddle_dense_matrix *a = x->m[0], *c = x->m[2];
	struct update u = {x, hermitian};
	if (hd_dense_is(x->alpha, 0)) {
		hd_dense_scale_tasks(flow, c, HEDDLE_DENSE_GENERAL, 0, x->beta);
		return;
	}
	for (size_t j = 0; j < c->nt; j++)
		for (size_t i = 0; i < c->mt; i++)
			for (size_t k = 0; k < a->nt; k++)
				multiply_tile(flow, &u, i, j, k);
}

static void symm_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	multiply_tasks(flow, x, 0);
}

static void hemm_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	multiply_tasks(flow, x, 1);
}

static int check_multiply(const char *name, const struct hd_dense_args *x)
{
	const struct heddle_dense_shape *a = &x->m[0]->shape, *b = &x->m[1]->shape, *c = &x->m[2]->shape;
	int status = hd_dense_check_triangle(name, x->m[0], x->uplo);
	for (int i = 1; status >= 0 && i < 3; i++)
		status = hd_dense_check_full(name, x->m[i]);
	if (status < 0)
		return status;
	if (b->rows == c->rows && b->columns == c->columns &&
	    a->rows == (x->side == HEDDLE_DENSE_LEFT ? c->rows : c->columns))
		return 0;
	return heddle_error(HEDDLE_E_INVALID, "%s from the %s: A is of order %zu, B is %zu x %zu and C is %zu x %zu",
	                    name, x->side == HEDDLE_DENSE_LEFT ? "left" : "right", a->rows, b->rows, b->columns,
	                    c->rows, c->columns);
}

static int check_symm(const struct hd_dense_args *x)
{
	return check_multiply("symm", x);
}

static int check_hemm(const struct hd_dense_args *x)
{
	return check_multiply("hemm", x);
}

const struct hd_dense_operation hd_dense_symm_operation = {"symm", "ABC", check_symm, symm_tasks};
const struct hd_dense_operation hd_dense_hemm_operation = {"hemm", "ABC", check_hemm, hemm_tasks};

int heddle_dense_symm_submit(enum heddle_dense_side side, enum heddle_dense_uplo uplo, heddle_dense_scalar alpha,
                             heddle_dense_matrix *a, heddle_dense_matrix *b, heddle_dense_scalar beta,
                             heddle_dense_matrix *c, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.m = {a, b, c}, .side = side, .uplo = uplo, .alpha = alpha, .beta = beta};
	return hd_dense_submit(&hd_dense_symm_operation, &x, options);
}

int heddle_dense_hemm_submit(enum heddle_dense_side side, enum heddle_dense_uplo uplo, heddle_dense_scalar alpha,
                             heddle_dense_matrix *a, heddle_dense_matrix *b, heddle_dense_scalar beta,
                             heddle_dense_matrix *c, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.m = {a, b, c}, .side = side, .uplo = uplo, .alpha = alpha, .beta = beta};
	return hd_dense_submit(&hd_dense_hemm_operation, &x, options);
}

static int call_multiply(heddle_dense *dense, const struct hd_dense_operation *operation, struct hd_dense_args *x,
                         const struct heddle_dense_array *const *arrays, const struct heddle_dense_options *options)
{
	struct hd_dense_operand operands[] = {
	    {.name = "A", .array = arrays[0], .uplo = x->uplo, .mode = HEDDLE_R, .factor = &x->alpha},
	    {.name = "B", .array = arrays[1], .mode = HEDDLE_R, .factor = &x->alpha},
	    {.name = "C", .array = arrays[2], .mode = HEDDLE_RW, .factor = &x->beta},
	};
	return hd_dense_call(dense, operation, x, operands, options);
}

int heddle_dense_symm(heddle_dense *dense, enum heddle_dense_side side, enum heddle_dense_uplo uplo,
                      heddle_dense_scalar alpha, const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                      heddle_dense_scalar beta, const struct heddle_dense_array *c,
                      const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.side = side, .uplo = uplo, .alpha = alpha, .beta = beta};
	return call_multiply(dense, &hd_dense_symm_operation, &x, (const struct heddle_dense_array *[]){a, b, c},
	                     options);
}

int heddle_dense_hemm(heddle_dense *dense, enum heddle_dense_side side, enum heddle_dense_uplo uplo,
                      heddle_dense_scalar alpha, const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                      heddle_dense_scalar beta, const struct heddle_dense_array *c,
                      const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.side = side, .uplo = uplo, .alpha = alpha, .beta = beta};
	return call_multiply(dense, &hd_dense_hemm_operation, &x, (const struct heddle_dense_array *[]){a, b, c},
	                     options);
}
