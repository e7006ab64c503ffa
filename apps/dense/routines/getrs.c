/* Solutions of systems of linear equations by LU factors: getrs with existing factors, gesv with new factors. */
#include <dense/routines/lu.h>

/* B := op(T)^-1 B, T the triangle `uplo` of A. The sweep goes down if op(T) is a lower triangle, otherwise up. */
static void solve(struct hd_dense_flow *flow, const struct hd_dense_args *x, enum heddle_dense_uplo uplo)
{
	const heddle_dense_matrix *a = x->m[0], *b = x->m[1];
	int plain = x->trans_a == HEDDLE_DENSE_NO_TRANS, down = plain == (uplo == HEDDLE_DENSE_LOWER);
	struct hd_dense_triangle_values triangle = {
	    .uplo = uplo,
	    .trans = x->trans_a,
	    .diag = uplo == HEDDLE_DENSE_LOWER ? HEDDLE_DENSE_UNIT : HEDDLE_DENSE_NON_UNIT,
	    .alpha = {1, 0},
	};
	struct hd_dense_gemm_values product = {x->trans_a, HEDDLE_DENSE_NO_TRANS, {-1, 0}, {1, 0}, 0};
	for (size_t step = 0; step < a->mt; step++) {
		size_t k = down ? step : a->mt - 1 - step;
		for (size_t j = 0; j < b->nt; j++)
			hd_dense_insert(flow, HD_DENSE_TRSM, heddle_rw(hd_dense_tile(b, k, j)),
			                heddle_r(hd_dense_tile(a, k, k)), heddle_value(triangle));
		for (size_t next = step + 1; next < a->mt; next++) {
			size_t i = down ? next : a->mt - 1 - next;
			heddle_data *factor = plain ? hd_dense_tile(a, i, k) : hd_dense_tile(a, k, i);
			for (size_t j = 0; j < b->nt; j++)
				hd_dense_insert(flow, HD_DENSE_GEMM, heddle_rw(hd_dense_tile(b, i, j)),
				                heddle_r(factor), heddle_r(hd_dense_tile(b, k, j)),
				                heddle_value(product));
		}
	}
}

/* Makes all interchanges of the factorisation in the columns of B. */
static void interchange(struct hd_dense_flow *flow, const struct hd_dense_args *x, int backward)
{
	const heddle_dense_matrix *b = x->m[1];
	for (size_t j = 0; x->pivots && x->pivots->count > 0 && j < b->nt; j++)
		hd_dense_laswp_insert(flow, x, b, &(struct hd_dense_interchanges){j, 0, x->pivots->count, backward});
}

static void getrs_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	if (x->trans_a == HEDDLE_DENSE_NO_TRANS) {
		interchange(flow, x, 0);
		solve(flow, x, HEDDLE_DENSE_LOWER);
		solve(flow, x, HEDDLE_DENSE_UPPER);
	} else {
		solve(flow, x, HEDDLE_DENSE_UPPER);
		solve(flow, x, HEDDLE_DENSE_LOWER);
		interchange(flow, x, 1);
	}
}

/* The factorisation also computes B := L^-1 P B, so only the solution with U is left. */
static void gesv_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	hd_dense_getrf_tasks(flow, x);
	solve(flow, x, HEDDLE_DENSE_UPPER);
}

static int check_getrs(const struct hd_dense_args *x)
{
	return hd_dense_check_lu("getrs", x, 1);
}

static int check_gesv(const struct hd_dense_args *x)
{
	return hd_dense_check_lu("gesv", x, 1);
}

static int check_gesv_nopiv(const struct hd_dense_args *x)
{
	return hd_dense_check_lu("gesv_nopiv", x, 1);
}

static const struct hd_dense_operation getrs = {"getrs", "AB", check_getrs, getrs_tasks};
static const struct hd_dense_operation gesv = {"gesv", "AB", check_gesv, gesv_tasks};
static const struct hd_dense_operation gesv_nopiv = {"gesv_nopiv", "AB", check_gesv_nopiv, gesv_tasks};

int heddle_dense_getrs_submit(enum heddle_dense_trans trans, heddle_dense_matrix *a, heddle_dense_pivots *pivots,
                              heddle_dense_matrix *b, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.m = {a, b}, .trans_a = trans, .pivots = pivots};
	return hd_dense_submit(&getrs, &x, options);
}

int heddle_dense_getrs(heddle_dense *dense, enum heddle_dense_trans trans, const struct heddle_dense_array *a,
                       const int *ipiv, const struct heddle_dense_array *b, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.pivots = NULL};
	if (ipiv)
		x = hd_dense_pivoted((int *)ipiv); /* the tasks only read it */
	x.trans_a = trans;
	struct hd_dense_operand operands[] = {
	    {.name = "A", .array = a, .mode = HEDDLE_R},
	    {.name = "B", .array = b, .mode = HEDDLE_RW},
	};
	return hd_dense_call(dense, &getrs, &x, operands, options);
}

int heddle_dense_gesv_submit(heddle_dense_matrix *a, heddle_dense_pivots *pivots, heddle_dense_matrix *b,
                             const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.m = {a, b}, .pivots = pivots};
	int status = !pivots && a ? heddle_dense_pivots_create(a, NULL, &x.pivots) : 0;
	if (status >= 0)
		status = hd_dense_submit(&gesv, &x, options);
	return pivots ? status : hd_dense_pivots_finish(x.pivots, status);
}

static int solve_arrays(heddle_dense *dense, const struct hd_dense_operation *operation, struct hd_dense_args *x,
                        const struct heddle_dense_array *const *arrays, const struct heddle_dense_options *options)
{
	struct hd_dense_operand operands[] = {
	    {.name = "A", .array = arrays[0], .mode = HEDDLE_RW},
	    {.name = "B", .array = arrays[1], .mode = HEDDLE_RW},
	};
	return hd_dense_call(dense, operation, x, operands, options);
}

int heddle_dense_gesv(heddle_dense *dense, const struct heddle_dense_array *a, int *ipiv,
                      const struct heddle_dense_array *b, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = hd_dense_pivoted(ipiv);
	return solve_arrays(dense, &gesv, &x, (const struct heddle_dense_array *[]){a, b}, options);
}

int heddle_dense_gesv_nopiv_submit(heddle_dense_matrix *a, heddle_dense_matrix *b,
                                   const struct heddle_dense_options *options)
{
	return hd_dense_submit(&gesv_nopiv, &(struct hd_dense_args){.m = {a, b}}, options);
}

int heddle_dense_gesv_nopiv(heddle_dense *dense, const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                            const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.ipiv = NULL};
	return solve_arrays(dense, &gesv_nopiv, &x, (const struct heddle_dense_array *[]){a, b}, options);
}
