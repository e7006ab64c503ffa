/* Tasks on the diagonal tiles of triangular and of positive definite matrices: potrf, trtri, lauum. */
#include <dense/codelets/cblas_flags.h>
#include <dense/codelets/party.h>
#include <dense/codelets/verdicts.h>
#include <dense/flops.h>
#include <dense/internal.h>
#include <dense/kernels/cholesky.h>

#define HD_TEMPLATE <dense/codelets/cholesky_template.h>
#include <dense/kernels/precisions.h>

const struct hd_dense_codelet hd_dense_cholesky[] = {
    {HD_DENSE_POTRF, "potrf", "potrf", HD_DENSE_FOUR(potrf_task), HD_DENSE_FOUR(potrf_flops), NULL, 1, 0xd03b3b,
     HEDDLE_SPMD},
    {HD_DENSE_TRTRI, "trtri", "trtri", HD_DENSE_FOUR(trtri_task), HD_DENSE_FOUR(trtri_flops), NULL, 1, 0xb03060,
     HEDDLE_SPMD},
    {HD_DENSE_LAUUM, "lauum", "lauum", HD_DENSE_FOUR(lauum_task), HD_DENSE_FOUR(potrf_flops), NULL, 1, 0xd07050,
     HEDDLE_SPMD},
    {.name = NULL},
};
