/* One precision of products.c. The codelets' descriptions are those of dense/codelets/products_template.h. */
#include <dense/cuda/precision.h>

static int P(gemm_cuda)(heddle_context *c)
{
	const struct hd_dense_gemm_values *v = heddle_value_ptr(c, 0);
	struct hd_ops ops = {hd_dense_cblas_trans(v->trans_a), hd_dense_cblas_trans(v->trans_b)};
	size_t n = heddle_context_n_data(c) / 2;
	struct P(view) to = P(cuda_tile)(c, 0), a = P(cuda_tile)(c, n), b = P(cuda_tile)(c, 2 * n);
	int status = 0;
	for (size_t t = 1; status == 0 && t <= n; t++) {
		struct P(view) next = P(cuda_tile)(c, t), next_a = P(cuda_tile)(c, n + t);
		if (t < n && P(follows)(to, next) && P(follows)(a, next_a)) {
			to.m += next.m;
			a.m += next_a.m;
			continue;
		}
		to = P(part)(to, 0, 0, v->trans_a ? a.n : a.m, v->trans_b ? b.m : b.n);
		status = P(cuda_gemm)(c, ops, P(cuda_scalar)(v->alpha), (const struct P(view)[]){a, b},
		                      P(cuda_scalar)(v->beta), to);
		to = next;
		a = next_a;
	}
	return status;
}

static int P(herk_cuda)(heddle_context *c)
{
	const struct hd_dense_syrk_values *v = heddle_value_ptr(c, 0);
	struct P(view) a = P(cuda_tile)(c, 1);
	int n = v->trans ? a.n : a.m;
	return P(cuda_herk)(c, hd_dense_cblas_uplo(v->uplo), v->trans ? CblasConjTrans : CblasNoTrans,
	                    (const real[]){(real)v->alpha.re, (real)v->beta.re}, a,
	                    P(part)(P(cuda_tile)(c, 0), 0, 0, n, n));
}

static int P(syrk_cuda)(heddle_context *c)
{
	const struct hd_dense_syrk_values *v = heddle_value_ptr(c, 0);
	struct P(view) to = P(cuda_tile)(c, 0), a = P(cuda_tile)(c, 1);
	element alpha = P(cuda_scalar)(v->alpha), beta = P(cuda_scalar)(v->beta);
	int failure;
	struct hd_dense_cuda_stream *s = hd_dense_cuda_blas_stream(c, &failure);
	int n = v->trans ? a.n : a.m;
	if (!s || n == 0)
		return failure;
	return hd_dense_cuda_blas_failed(c,
	                                 CUBLAS(syrk)(s->blas, hd_dense_cuda_uplo(hd_dense_cblas_uplo(v->uplo)),
	                                              v->trans ? CUBLAS_OP_T : CUBLAS_OP_N, n, v->trans ? a.m : a.n,
	                                              CONST_CU(&alpha), CONST_CU(a.a), hd_ld(a.ld), CONST_CU(&beta),
	                                              CU(to.a), to.ld),
	                                 CUBLAS_NAME(syrk));
}

/* C := alpha A B + beta C or alpha B A + beta C, by `product`, the function of cuBLAS called `name`, which takes A as a
 * symmetric or as a Hermitian matrix. */
static int P(cuda_symmetric)(heddle_context *c, __typeof__(CUBLAS(symm)) product, const char *name)
{
	const struct hd_dense_symm_values *v = heddle_value_ptr(c, 0);
	struct P(view) to = P(cuda_tile)(c, 0), a = P(cuda_tile)(c, 1), b = P(cuda_tile)(c, 2);
	element alpha = P(cuda_scalar)(v->alpha), beta = P(cuda_scalar)(v->beta);
	int failure;
	struct hd_dense_cuda_stream *s = hd_dense_cuda_blas_stream(c, &failure);
	if (!s)
		return failure;
	return hd_dense_cuda_blas_failed(c,
	                                 product(s->blas, hd_dense_cuda_side(hd_dense_cblas_side(v->side)),
	                                         hd_dense_cuda_uplo(hd_dense_cblas_uplo(v->uplo)), to.m, to.n,
	                                         CONST_CU(&alpha), CONST_CU(a.a), a.ld, CONST_CU(b.a), b.ld,
	                                         CONST_CU(&beta), CU(to.a), to.ld),
	                                 name);
}

static int P(symm_cuda)(heddle_context *c)
{
	return P(cuda_symmetric)(c, CUBLAS(symm), CUBLAS_NAME(symm));
}

static int P(hemm_cuda)(heddle_context *c)
{
	return P(cuda_symmetric)(c, CUHERMITIAN(mm), CUHERMITIAN_NAME(mm));
}

static int P(trsm_cuda)(heddle_context *c)
{
	const struct hd_dense_triangle_values *v = heddle_value_ptr(c, 0);
	struct P(view) b = P(cuda_tile)(c, 0), a = P(cuda_tile)(c, 1);
	/* as on CPUs, either tile may have more rows or columns than the system */
	int left = v->side == HEDDLE_DENSE_LEFT, order = !left ? b.n : a.n < b.m ? a.n : b.m;
	if (left)
		b.m = order;
	return P(cuda_trsm)(c, hd_dense_cblas_triangle(v), P(cuda_scalar)(v->alpha), P(part)(a, 0, 0, order, order), b);
}

static int P(trmm_cuda)(heddle_context *c)
{
	const struct hd_dense_triangle_values *v = heddle_value_ptr(c, 0);
	return P(cuda_trmm)(c, hd_dense_cblas_triangle(v), P(cuda_scalar)(v->alpha), P(cuda_tile)(c, 1),
	                    P(cuda_tile)(c, 0));
}

#include <dense/cuda/precision_end.h>
