/* Tasks of LU factorisations on CUDA devices. cuSOLVER makes the factorisations, of one matrix: if the tiles of a panel
 * do not lie together, they are copied to one matrix and back. */
#include <dense/codelets/lu.h>
#include <dense/cuda/blas.h>
#include <dense/cuda/movements.h>
#include <stdlib.h>

/* Judges the number of find_zero: the least of 2 i for a zero and 2 i + 1 for NaN. */
static struct hd_dense_verdict judge_lu(const void *values, uint64_t found, size_t extra)
{
	(void)extra;
	return hd_dense_judge_lu(values, found == UINT64_MAX ? 0 : (int)(found / 2) + 1, found % 2 == 1);
}

static struct hd_dense_verdict judge_pivots(const void *values, uint64_t found, size_t rows)
{
	return found == UINT64_MAX ? (struct hd_dense_verdict){.code = 0} : hd_dense_judge_pivots(values, rows);
}

/* Rounds up, so that an element of any type may follow. */
static size_t rounded(size_t bytes)
{
	return (bytes + 255) / 256 * 256;
}

/* Writes the places of the first n data, which lie below each other, to the device's memory. */
static int place(heddle_context *c, size_t n, struct hd_dense_cuda_tile *to)
{
	const struct heddle_cuda_grid grid = {.threads = {HD_CUDA_TILES}};
	struct hd_dense_cuda_tiles some = {.count = 0};
	int status = 0;
	for (size_t i = 0; status == 0 && i < n; i++) {
		some.tiles[some.count++] = (struct hd_dense_cuda_tile){heddle_ptr(c, i), (long long)heddle_ld(c, i)};
		if (some.count < HD_CUDA_TILES && i + 1 < n)
			continue;
		status = hd_dense_cuda_launch(c, "hd_place", &grid, (void *[]){&some, &to});
		some.first += some.count;
		some.count = 0;
	}
	return status;
}

#define HD_TEMPLATE <dense/cuda/lu_template.h>
#include <dense/kernels/precisions.h>

enum { SOLVER = HD_CUDA_SOLVER | HD_CUDA_OWN };
const struct hd_dense_cuda_codelet hd_dense_cuda_lu[] = {
    {HD_DENSE_GETRF_NOPIV, SOLVER, HD_DENSE_FOUR(getrf_nopiv_cuda)},
    {HD_DENSE_GETRF_PANEL, SOLVER, HD_DENSE_FOUR(getrf_panel_cuda)},
    {HD_DENSE_LASWP, HD_CUDA_OWN, HD_DENSE_FOUR(laswp_cuda)},
    {.needs = 0},
};
