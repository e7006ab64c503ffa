/* Converts the flags of tasks to those of CBLAS. */
#ifndef HD_DENSE_CBLAS_FLAGS_H
#define HD_DENSE_CBLAS_FLAGS_H

#include <cblas.h>
#include <dense/internal.h>
#include <dense/kernels/blas3.h>

static inline enum CBLAS_TRANSPOSE hd_dense_cblas_trans(enum heddle_dense_trans trans)
{
	return trans == HEDDLE_DENSE_NO_TRANS ? CblasNoTrans
	       : trans == HEDDLE_DENSE_TRANS  ? CblasTrans
	                                      : CblasConjTrans;
}

static inline enum CBLAS_UPLO hd_dense_cblas_uplo(enum heddle_dense_uplo uplo)
{
	return uplo == HEDDLE_DENSE_UPPER ? CblasUpper : CblasLower;
}

static inline enum CBLAS_SIDE hd_dense_cblas_side(enum heddle_dense_side side)
{
	return side == HEDDLE_DENSE_RIGHT ? CblasRight : CblasLeft;
}

static inline enum CBLAS_DIAG hd_dense_cblas_diag(enum heddle_dense_diag diag)
{
	return diag == HEDDLE_DENSE_UNIT ? CblasUnit : CblasNonUnit;
}

static inline struct hd_triangle hd_dense_cblas_triangle(const struct hd_dense_triangle_values *v)
{
	return (struct hd_triangle){hd_dense_cblas_side(v->side), hd_dense_cblas_uplo(v->uplo),
	                            hd_dense_cblas_trans(v->trans), hd_dense_cblas_diag(v->diag)};
}

#endif
