/* Products of tiles and triangular solves on CUDA devices: cuBLAS. */
#include <dense/cuda/cuda.h>
#include <dense/cuda/blas.h>

#define HD_TEMPLATE <dense/cuda/products_template.h>
#include <dense/kernels/precisions.h>

const struct hd_dense_cuda_codelet hd_dense_cuda_products[] = {
    {HD_DENSE_GEMM, HD_CUDA_BLAS, HD_DENSE_FOUR(gemm_cuda)}, {HD_DENSE_SYRK, HD_CUDA_BLAS, HD_DENSE_FOUR(syrk_cuda)},
    {HD_DENSE_HERK, HD_CUDA_BLAS, HD_DENSE_FOUR(herk_cuda)}, {HD_DENSE_SYMM, HD_CUDA_BLAS, HD_DENSE_FOUR(symm_cuda)},
    {HD_DENSE_HEMM, HD_CUDA_BLAS, HD_DENSE_FOUR(hemm_cuda)}, {HD_DENSE_TRSM, HD_CUDA_BLAS, HD_DENSE_FOUR(trsm_cuda)},
    {HD_DENSE_TRMM, HD_CUDA_BLAS, HD_DENSE_FOUR(trmm_cuda)}, {.needs = 0},
};
