/* cuBLAS on views, like dense/kernels/blas3.h for CPUs. Each puts one operation on the stream of the kernel, and
 * returns 0 or the kernel's failure. */
#ifndef HD_DENSE_CUDA_BLAS_H
#define HD_DENSE_CUDA_BLAS_H

#include <dense/codelets/cblas_flags.h>
#include <dense/cuda/cuda.h>
#include <dense/kernels/blas3.h>
#include <dense/kernels/halves.h>

static inline cublasOperation_t hd_dense_cuda_trans(CBLAS_TRANSPOSE trans)
{
	return trans == CblasNoTrans ? CUBLAS_OP_N : trans == CblasTrans ? CUBLAS_OP_T : CUBLAS_OP_C;
}

static inline cublasFillMode_t hd_dense_cuda_uplo(CBLAS_UPLO uplo)
{
	return uplo == CblasUpper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

static inline cublasSideMode_t hd_dense_cuda_side(CBLAS_SIDE side)
{
	return side == CblasRight ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
}

static inline cublasDiagType_t hd_dense_cuda_diag(CBLAS_DIAG diag)
{
	return diag == CblasUnit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}

#define HD_TEMPLATE <dense/cuda/blas_template.h>
#include <dense/kernels/precisions.h>

#endif
