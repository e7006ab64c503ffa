/* One precision of blas.h. `a`, `b` and `c` of the views are addresses in the device's memory. */
#include <dense/cuda/precision.h>

/* Datum i of a task. */
static inline struct P(view) P(cuda_tile)(const heddle_context *c, size_t i)
{
	return P(view)(heddle_ptr(c, i), (int)heddle_extent(c, i, 0), (int)heddle_extent(c, i, 1),
	               (int)heddle_ld(c, i));
}

static inline element P(cuda_scalar)(heddle_dense_scalar x)
{
#if COMPLEX
	return (element)((real)x.re + (real)x.im * (element)I);
#else
	return (element)x.re;
#endif
}

/* C := alpha op(A) op(B) + beta C. */
static inline int P(cuda_gemm)(heddle_context *c, struct hd_ops ops, element alpha, const struct P(view) ab[2],
                               element beta, struct P(view) to)
{
	int failure;
	struct hd_dense_cuda_stream *s = hd_dense_cuda_blas_stream(c, &failure);
	int k = ops.a == CblasNoTrans ? ab[0].n : ab[0].m;
	if (!s || to.m == 0 || to.n == 0)
		return failure;
	return hd_dense_cuda_blas_failed(c,
	                                 CUBLAS(gemm)(s->blas, hd_dense_cuda_trans(ops.a), hd_dense_cuda_trans(ops.b),
	                                              to.m, to.n, k, CONST_CU(&alpha), CONST_CU(ab[0].a),
	                                              hd_ld(ab[0].ld), CONST_CU(ab[1].a), hd_ld(ab[1].ld),
	                                              CONST_CU(&beta), CU(to.a), to.ld),
	                                 CUBLAS_NAME(gemm));
}

/* The triangle `uplo` of C := alpha A A^H + beta C, or alpha A^H A + beta C. */
static inline int P(cuda_herk)(heddle_context *c, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, const real scalars[2],
                               struct P(view) a, struct P(view) to)
{
	int failure;
	struct hd_dense_cuda_stream *s = hd_dense_cuda_blas_stream(c, &failure);
	if (!s || to.n == 0)
		return failure;
	return hd_dense_cuda_blas_failed(c,
	                                 CUHERMITIAN(rk)(s->blas, hd_dense_cuda_uplo(uplo), hd_dense_cuda_trans(trans),
	                                                 to.n, trans == CblasNoTrans ? a.n : a.m, &scalars[0],
	                                                 CONST_CU(a.a), hd_ld(a.ld), &scalars[1], CU(to.a), to.ld),
	                                 CUHERMITIAN_NAME(rk));
}

/* B := alpha op(A)^-1 B or alpha B op(A)^-1. */
static inline int P(cuda_trsm)(heddle_context *c, struct hd_triangle how, element alpha, struct P(view) a,
                               struct P(view) b)
{
	int failure;
	struct hd_dense_cuda_stream *s = hd_dense_cuda_blas_stream(c, &failure);
	if (!s || b.m == 0 || b.n == 0)
		return failure;
	return hd_dense_cuda_blas_failed(c,
	                                 CUBLAS(trsm)(s->blas, hd_dense_cuda_side(how.side),
	                                              hd_dense_cuda_uplo(how.uplo), hd_dense_cuda_trans(how.trans),
	                                              hd_dense_cuda_diag(how.diag), b.m, b.n, CONST_CU(&alpha),
	                                              CONST_CU(a.a), a.ld, CU(b.a), b.ld),
	                                 CUBLAS_NAME(trsm));
}

/* B := alpha op(A) B or alpha B op(A). */
static inline int P(cuda_trmm)(heddle_context *c, struct hd_triangle how, element alpha, struct P(view) a,
                               struct P(view) b)
{
	int failure;
	struct hd_dense_cuda_stream *s = hd_dense_cuda_blas_stream(c, &failure);
	if (!s || b.m == 0 || b.n == 0)
		return failure;
	return hd_dense_cuda_blas_failed(c,
	                                 CUBLAS(trmm)(s->blas, hd_dense_cuda_side(how.side),
	                                              hd_dense_cuda_uplo(how.uplo), hd_dense_cuda_trans(how.trans),
	                                              hd_dense_cuda_diag(how.diag), b.m, b.n, CONST_CU(&alpha),
	                                              CONST_CU(a.a), a.ld, CONST_CU(b.a), b.ld, CU(b.a), b.ld),
	                                 CUBLAS_NAME(trmm));
}

#include <dense/cuda/precision_end.h>
