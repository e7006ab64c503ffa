/* Tasks of QR factorisations: the six kernels (Buttari, Langou, Kurzak, Dongarra, 2009; Bouwmeester, Jacquelin, Langou,
 * Robert, 2011), and small kernels for least squares and residuals.
 *
 * A task has its data in this order: the tiles of the matrix that it writes, V, T, the workspace; geqrt's copy of V is
 * the last. The number of rows of T is the inner blocking. Operations are counted as if reflections were applied one by
 * one; the inner blocking adds a share of about ib / (2 nb). Costs for priorities are those of the papers. */
#include <dense/codelets/party.h>
#include <dense/codelets/qr.h>
#include <dense/codelets/verdicts.h>
#include <dense/internal.h>
#include <dense/kernels/qr.h>
#include <dense/kernels/shares.h>
#include <stdlib.h>

static inline int hd_dense_smaller(int a, int b)
{
	return a < b ? a : b;
}

static inline int hd_dense_first_of(const heddle_context *c)
{
	const struct hd_dense_qr_values *v = heddle_value_ptr(c, 0);
	return v->first;
}

static inline struct hd_apply hd_dense_apply_of(const heddle_context *c)
{
	const struct hd_dense_qr_values *v = heddle_value_ptr(c, 0);
	return (struct hd_apply){v->side == HEDDLE_DENSE_LEFT ? CblasLeft : CblasRight,
	                         v->trans == HEDDLE_DENSE_NO_TRANS ? CblasNoTrans : CblasConjTrans, v->first};
}

/* The row in which the diagonal of the strip of V begins. The larger this row is, the fewer rows geqrt and gemqrt work
 * on, and the more rows ttqrt and ttmqr. It makes no difference for tsqrt and tsmqr. */
static uint64_t strip_footprint(const struct heddle_size *size)
{
	const struct hd_dense_qr_values *v = size->values[0];
	return (uint64_t)v->first;
}

/* Frees the workspace of a member other than 0; NULL: there was no memory for it. Returns the value that the kernel
 * must return. */
static int hd_dense_drop_work(heddle_context *c, void *work)
{
	if (!work)
		return heddle_fail(c, -1, "out of memory for a workspace of rank %u", heddle_context_rank(c));
	if (heddle_context_rank(c))
		free(work);
	return 0;
}

#define HD_TEMPLATE <dense/codelets/qr_template.h>
#include <dense/kernels/precisions.h>

const struct hd_dense_codelet hd_dense_qr_codelets[] = {
    {HD_DENSE_GEQRT, "geqrt", "geqrt", HD_DENSE_FOUR(geqrt_task), HD_DENSE_FOUR(geqrt_flops), strip_footprint, 4,
     0xd03b3b, HEDDLE_SPMD},
    {HD_DENSE_GEMQRT, "gemqrt", "gemqrt", HD_DENSE_FOUR(gemqrt_task), HD_DENSE_FOUR(gemqrt_flops), strip_footprint, 6,
     0x59a14f, HEDDLE_SPMD},
    {HD_DENSE_TSQRT, "tsqrt", "tsqrt", HD_DENSE_FOUR(tsqrt_task), HD_DENSE_FOUR(tsqrt_flops), NULL, 6, 0xf0a030,
     HEDDLE_SPMD},
    {HD_DENSE_TSMQR, "tsmqr", "tsmqr", HD_DENSE_FOUR(tsmqr_task), HD_DENSE_FOUR(tsmqr_flops), NULL, 12, 0x4a90c2,
     HEDDLE_SPMD},
    {HD_DENSE_TTQRT, "ttqrt", "ttqrt", HD_DENSE_FOUR(ttqrt_task), HD_DENSE_FOUR(ttqrt_flops), strip_footprint, 2,
     0xe8c547, HEDDLE_SPMD},
    {HD_DENSE_TTMQR, "ttmqr", "ttmqr", HD_DENSE_FOUR(ttmqr_task), HD_DENSE_FOUR(ttmqr_flops), strip_footprint, 6,
     0x8e5bb5, HEDDLE_SPMD},
    {HD_DENSE_RANK, "rank", "rank", HD_DENSE_FOUR(rank_task), .color = 0xb07060},
    {HD_DENSE_SET, "set", "set", HD_DENSE_FOUR(set_task), .color = 0xa0a0a0},
    {HD_DENSE_TRANSPOSE, "transpose", "transpose", HD_DENSE_FOUR(transpose_task), .color = 0xa8a8a8},
    {.name = NULL},
};
