/* Tasks on the diagonal tiles of triangular and of positive definite matrices, on CUDA devices: potrf is cuSOLVER's,
 * trtri and lauum are products and solutions on a copy of the triangle. These take up to three times the operations,
 * but few launches; and there are few tiles on the diagonal. */
#include <dense/cuda/blas.h>
#include <dense/cuda/movements.h>

/* Judges the number of find_zero: the order of the minor, counted from 1. */
static struct hd_dense_verdict judge_potrf(const void *values, uint64_t found, size_t extra)
{
	(void)extra;
	return hd_dense_judge_potrf(values, found == UINT64_MAX ? 0 : (int)(found / 2) + 1);
}

static struct hd_dense_verdict judge_trtri(const void *values, uint64_t found, size_t extra)
{
	(void)extra;
	return hd_dense_judge_trtri(values, found == UINT64_MAX ? 0 : (int)(found / 2) + 1);
}

#define HD_TEMPLATE <dense/cuda/cholesky_template.h>
#include <dense/kernels/precisions.h>

const struct hd_dense_cuda_codelet hd_dense_cuda_cholesky[] = {
    {HD_DENSE_POTRF, HD_CUDA_SOLVER | HD_CUDA_OWN, HD_DENSE_FOUR(potrf_cuda)},
    {HD_DENSE_TRTRI, HD_CUDA_BLAS | HD_CUDA_OWN, HD_DENSE_FOUR(trtri_cuda)},
    {HD_DENSE_LAUUM, HD_CUDA_BLAS | HD_CUDA_OWN, HD_DENSE_FOUR(lauum_cuda)},
    {.needs = 0},
};
