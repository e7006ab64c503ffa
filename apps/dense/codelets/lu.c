/* Tasks of LU factorisations: getrf_nopiv on a tile, getrf_panel on the tiles of a column, laswp, which interchanges
 * rows in the tiles of a column; lu_parts, for residuals.
 *
 * Pivots are numbers of rows of the whole matrix, counted from 1, as in LAPACK. */
#include <dense/codelets/lu.h>
#include <dense/codelets/party.h>
#include <dense/codelets/verdicts.h>
#include <dense/flops.h>
#include <dense/internal.h>
#include <dense/kernels/lu.h>
#include <stdlib.h>

/* The rows of the first `n_tiles` data of a task. */
static double rows_of(const struct heddle_size *size, size_t n_tiles)
{
	double rows = 0;
	for (size_t t = 0; t < n_tiles; t++)
		rows += hd_dense_extent(size, t, 0);
	return rows;
}

/* Whether the pivots of datum i only interchange rows of this stack, whose first row is row `row` of the matrix. */
static int pivots_are_valid(const heddle_context *c, size_t i, size_t row, int rows)
{
	const int *pivots = heddle_ptr(c, i);
	for (size_t p = 0; p < heddle_extent(c, i, 0); p++)
		if (pivots[p] <= 0 || (size_t)pivots[p] <= row || (size_t)pivots[p] > row + (size_t)rows)
			return 0;
	return 1;
}

#define HD_TEMPLATE <dense/codelets/lu_template.h>
#include <dense/kernels/precisions.h>

const struct hd_dense_codelet hd_dense_lu[] = {
    {HD_DENSE_GETRF_NOPIV, "getrf_nopiv", "getrf_nopiv", HD_DENSE_FOUR(getrf_nopiv_task),
     HD_DENSE_FOUR(getrf_nopiv_flops), NULL, 3, 0xd03b3b, HEDDLE_SPMD},
    {HD_DENSE_GETRF_PANEL, "getrf_panel", "getrf_panel", HD_DENSE_FOUR(getrf_panel_task),
     HD_DENSE_FOUR(getrf_panel_flops), NULL, 5, 0xd03b3b, HEDDLE_SPMD},
    {HD_DENSE_LASWP, "laswp", "laswp", HD_DENSE_FOUR(laswp_task), {NULL}, NULL, 1, 0x6b8e23, HEDDLE_SPMD},
    {HD_DENSE_LU_PARTS, "lu_parts", "lu_parts", HD_DENSE_FOUR(lu_parts_task), .color = 0x707070},
    {.name = NULL},
};
