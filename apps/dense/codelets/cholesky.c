/* Tasks that factorise one tile of a positive definite matrix: potrf. */
#include <dense/internal.h>
#include <dense/kernels/view.h>

#define HD_TEMPLATE <dense/codelets/cholesky_template.h>
#include <dense/kernels/precisions.h>

const struct hd_dense_codelet hd_dense_cholesky[] = {
    {HD_DENSE_POTRF, "potrf", "potrf", HD_DENSE_FOUR(potrf_task), HD_DENSE_FOUR(potrf_flops), NULL, 1, 0xd03b3b},
    {.name = NULL},
};
