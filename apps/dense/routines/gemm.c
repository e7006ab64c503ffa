/* C := alpha op(A) op(B) + beta C. */
#include <dense/internal.h>

/* The first product into a tile scales it by beta, which is 1 for those after it. */
void hd_dense_gemm_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	const heddle_dense_matrix *a = x->m[0], *b = x->m[1], *c = x->m[2];
	size_t kt = x->trans_a ? a->mt : a->nt;
	for (size_t j = 0; j < c->nt; j++) {
		for (size_t i = 0; i < c->mt; i++) {
			struct hd_dense_gemm_values v = {x->trans_a, x->trans_b, x->alpha, x->beta};
			for (size_t k = 0; k < kt; k++) {
				int overwrites = v.beta.re == 0 && v.beta.im == 0;
				heddle_data *left = x->trans_a ? hd_dense_tile(a, k, i) : hd_dense_tile(a, i, k);
				heddle_data *right = x->trans_b ? hd_dense_tile(b, j, k) : hd_dense_tile(b, k, j);
				hd_dense_insert(
				    flow, HD_DENSE_GEMM,
				    heddle_access(overwrites ? HEDDLE_W : HEDDLE_RW, hd_dense_tile(c, i, j)),
				    heddle_r(left), heddle_r(right), heddle_value(v));
				v.beta = heddle_dense_real(1);
			}
		}
	}
}

static int check(const struct hd_dense_args *x)
{
	const struct heddle_dense_shape *a = &x->m[0]->shape, *b = &x->m[1]->shape, *c = &x->m[2]->shape;
	size_t m = x->trans_a ? a->columns : a->rows, k = x->trans_a ? a->rows : a->columns;
	size_t k_b = x->trans_b ? b->columns : b->rows, n = x->trans_b ? b->rows : b->columns;
	if (c->rows == m && c->columns == n && k == k_b)
		return 0;
	return heddle_error(HEDDLE_E_INVALID, "gemm: op(A) is %zu x %zu, op(B) is %zu x %zu and C is %zu x %zu", m, k,
	                    k_b, n, c->rows, c->columns);
}

static const struct hd_dense_operation gemm = {"gemm", 3, check, hd_dense_gemm_tasks};

int heddle_dense_gemm_submit(enum heddle_dense_trans trans_a, enum heddle_dense_trans trans_b,
                             heddle_dense_scalar alpha, heddle_dense_matrix *a, heddle_dense_matrix *b,
                             heddle_dense_scalar beta, heddle_dense_matrix *c,
                             const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.m = {a, b, c}, .trans_a = trans_a, .trans_b = trans_b, .alpha = alpha, .beta = beta};
	return hd_dense_submit(&gemm, &x, options);
}

int heddle_dense_gemm(heddle_dense *dense, enum heddle_dense_trans trans_a, enum heddle_dense_trans trans_b,
                      heddle_dense_scalar alpha, const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                      heddle_dense_scalar beta, const struct heddle_dense_array *c,
                      const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.trans_a = trans_a, .trans_b = trans_b, .alpha = alpha, .beta = beta};
	struct hd_dense_operand operands[] = {
	    {"A", a, HEDDLE_DENSE_GENERAL, HEDDLE_R},
	    {"B", b, HEDDLE_DENSE_GENERAL, HEDDLE_R},
	    {"C", c, HEDDLE_DENSE_GENERAL, beta.re == 0 && beta.im == 0 ? HEDDLE_W : HEDDLE_RW},
	};
	return hd_dense_call(dense, &gemm, &x, operands, options);
}
