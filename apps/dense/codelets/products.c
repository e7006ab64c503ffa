/* Tasks that multiply tiles or solve with triangular ones: gemm, syrk (herk in complex precisions), trsm.
 *
 * Data in this order: what is written, then the factors. Operation counts: LAPACK Working Note 41, appendix C
 * (multiplications and additions together). */
#include <dense/codelets/cblas_flags.h>
#include <dense/internal.h>
#include <dense/kernels/view.h>

#define HD_TEMPLATE <dense/codelets/products_template.h>
#include <dense/kernels/precisions.h>

const struct hd_dense_codelet hd_dense_products[] = {
    {HD_DENSE_GEMM, "gemm", "gemm", HD_DENSE_FOUR(gemm_task), HD_DENSE_FOUR(gemm_flops), NULL, 6, 0x4a90c2},
    {HD_DENSE_SYRK, "syrk", "herk", HD_DENSE_FOUR(syrk_task), HD_DENSE_FOUR(syrk_flops), NULL, 3, 0x8e5bb5},
    {HD_DENSE_TRSM, "trsm", "trsm", HD_DENSE_FOUR(trsm_task), HD_DENSE_FOUR(trsm_flops), NULL, 3, 0xf0a030},
    {.name = NULL},
};
