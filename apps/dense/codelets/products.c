/* Tasks that multiply tiles, or solve with triangular tiles: gemm, syrk, herk, symm, hemm, trsm, trmm.
 *
 * The data of a task come in this order: the matrix that is written, then the factors. In real precisions herk is syrk
 * and hemm is symm. */
#include <dense/codelets/cblas_flags.h>
#include <dense/codelets/party.h>
#include <dense/flops.h>
#include <dense/internal.h>
#include <dense/kernels/shares.h>

#define HD_TEMPLATE <dense/codelets/products_template.h>
#include <dense/kernels/precisions.h>

const struct hd_dense_codelet hd_dense_products[] = {
    {HD_DENSE_GEMM, "gemm", "gemm", HD_DENSE_FOUR(gemm_task), HD_DENSE_FOUR(gemm_flops), NULL, 6, 0x4a90c2,
     HEDDLE_SPMD},
    {HD_DENSE_SYRK, "syrk", "syrk", HD_DENSE_FOUR(syrk_task), HD_DENSE_FOUR(syrk_flops), NULL, 3, 0x8e5bb5,
     HEDDLE_SPMD},
    {HD_DENSE_HERK, "syrk", "herk", HD_DENSE_FOUR(herk_task), HD_DENSE_FOUR(syrk_flops), NULL, 3, 0x8e5bb5,
     HEDDLE_SPMD},
    {HD_DENSE_SYMM, "symm", "symm", HD_DENSE_FOUR(symm_task), HD_DENSE_FOUR(symm_flops), NULL, 6, 0x3f7f9f,
     HEDDLE_SPMD},
    {HD_DENSE_HEMM, "symm", "hemm", HD_DENSE_FOUR(hemm_task), HD_DENSE_FOUR(symm_flops), NULL, 6, 0x3f7f9f,
     HEDDLE_SPMD},
    {HD_DENSE_TRSM, "trsm", "trsm", HD_DENSE_FOUR(trsm_task), HD_DENSE_FOUR(triangle_flops), NULL, 3, 0xf0a030,
     HEDDLE_SPMD},
    {HD_DENSE_TRMM, "trmm", "trmm", HD_DENSE_FOUR(trmm_task), HD_DENSE_FOUR(triangle_flops), NULL, 3, 0x60b060,
     HEDDLE_SPMD},
    {.name = NULL},
};
