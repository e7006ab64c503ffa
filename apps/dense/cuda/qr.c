/* Tasks of QR factorisations on CUDA devices. Blocks of reflectors are applied by cuBLAS; panels of few columns are
 * reduced by a kernel of kernels.cu, wider panels by halves. The algorithms, and V and T, are those of
 * dense/kernels/qr_template.h; here Q is applied to all columns or rows of a tile at once. */
#include <dense/codelets/qr.h>
#include <dense/cuda/blas.h>
#include <dense/cuda/movements.h>
#include <dense/kernels/qr.h>

static int first_of(const heddle_context *c)
{
	const struct hd_dense_qr_values *v = heddle_value_ptr(c, 0);
	return v->first;
}

static struct hd_apply apply_of(const heddle_context *c)
{
	const struct hd_dense_qr_values *v = heddle_value_ptr(c, 0);
	return (struct hd_apply){v->side == HEDDLE_DENSE_LEFT ? CblasLeft : CblasRight,
	                         v->trans == HEDDLE_DENSE_NO_TRANS ? CblasNoTrans : CblasConjTrans, v->first};
}

#define HD_TEMPLATE <dense/cuda/qr_template.h>
#include <dense/kernels/precisions.h>

enum { OWN = HD_CUDA_BLAS | HD_CUDA_OWN };
const struct hd_dense_cuda_codelet hd_dense_cuda_qr[] = {
    {HD_DENSE_GEQRT, OWN, HD_DENSE_FOUR(geqrt_cuda)},
    {HD_DENSE_GEMQRT, OWN, HD_DENSE_FOUR(gemqrt_cuda)},
    {HD_DENSE_TSQRT, OWN, HD_DENSE_FOUR(tsqrt_cuda)},
    {HD_DENSE_TSMQR, OWN, HD_DENSE_FOUR(tsmqr_cuda)},
    {HD_DENSE_TTQRT, OWN, HD_DENSE_FOUR(ttqrt_cuda)},
    {HD_DENSE_TTMQR, OWN, HD_DENSE_FOUR(ttmqr_cuda)},
    {.needs = 0},
};
