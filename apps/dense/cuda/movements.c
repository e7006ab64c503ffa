/* Tasks that fill, copy and compare tiles, on CUDA devices. */
#include <dense/codelets/qr.h>
#include <dense/cuda/blas.h>
#include <dense/cuda/movements.h>

_Static_assert((int)HD_CUDA_ALL == (int)HEDDLE_DENSE_GENERAL && (int)HD_CUDA_LOWER == (int)HEDDLE_DENSE_LOWER &&
                   (int)HD_CUDA_UPPER == (int)HEDDLE_DENSE_UPPER,
               "shapes.h must name parts as heddle/dense.h does");

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* The number of threads for m rows: whole warps, at most `most`. */
static unsigned threads_for(int m, int most)
{
	return (unsigned)smaller((m + 31) / 32 * 32, most);
}

struct heddle_cuda_grid hd_dense_cuda_rectangle(int m, int n)
{
	enum { ROWS = 64, COLUMNS = 4, MOST = 4096 };
	unsigned rows = threads_for(m, ROWS);
	return (struct heddle_cuda_grid){
	    .blocks = {((unsigned)m + rows - 1) / rows, (unsigned)smaller((n + COLUMNS - 1) / COLUMNS, MOST)},
	    .threads = {rows, COLUMNS},
	};
}

struct heddle_cuda_grid hd_dense_cuda_columns(int m, int n)
{
	return (struct heddle_cuda_grid){.blocks = {(unsigned)smaller(n, HD_CUDA_BLOCKS)},
	                                 .threads = {threads_for(m, HD_CUDA_THREADS)}};
}

struct heddle_cuda_grid hd_dense_cuda_vector(int n)
{
	unsigned threads = threads_for(n, HD_CUDA_THREADS);
	return (struct heddle_cuda_grid){.blocks = {((unsigned)n + threads - 1) / threads}, .threads = {threads}};
}

struct hd_dense_cuda_part hd_dense_cuda_part_of(const struct hd_dense_window *w, int m, int n)
{
	return (struct hd_dense_cuda_part){
	    .diagonal = (long long)w->column - (long long)w->row,
	    .m = m,
	    .n = n,
	    .which = (int)w->uplo,
	    .unit = w->diag == HEDDLE_DENSE_UNIT,
	};
}

static struct hd_dense_cuda_random random_of(const struct hd_dense_window *w)
{
	int hermitian = w->kind == HEDDLE_DENSE_SPD || w->kind == HEDDLE_DENSE_HERMITIAN;
	return (struct hd_dense_cuda_random){
	    .seed = w->seed,
	    .row = w->row,
	    .column = w->column,
	    .order = w->order,
	    .rows = (int)w->rows,
	    .columns = (int)w->columns,
	    .symmetric = hermitian || w->kind == HEDDLE_DENSE_SYMMETRIC,
	    .hermitian = hermitian,
	    .dominant = w->kind == HEDDLE_DENSE_SPD || w->kind == HEDDLE_DENSE_DOMINANT,
	};
}

/* `rows`: the number of rows by which find_not_finite has computed `found`. */
static struct hd_dense_verdict judge_finite(const void *values, uint64_t found, size_t rows)
{
	if (found == UINT64_MAX)
		return (struct hd_dense_verdict){.code = 0};
	size_t place = (size_t)(found / 2);
	return hd_dense_judge_element(values, place % rows, place / rows, found % 2 == 0);
}

static struct hd_dense_verdict judge_rank(const void *values, uint64_t found, size_t extra)
{
	(void)extra;
	return hd_dense_judge_rank(values, found == UINT64_MAX ? 0 : (int)(found / 2) + 1);
}

#define HD_TEMPLATE <dense/cuda/movements_template.h>
#include <dense/kernels/precisions.h>

enum { OWN = HD_CUDA_OWN };
const struct hd_dense_cuda_codelet hd_dense_cuda_movements[] = {
    {HD_DENSE_SCALE, OWN, HD_DENSE_FOUR(scale_cuda)},
    {HD_DENSE_ADD, OWN, HD_DENSE_FOUR(add_cuda)},
    {HD_DENSE_COPY, OWN, HD_DENSE_FOUR(copy_cuda)},
    {HD_DENSE_FINITE, OWN, HD_DENSE_FOUR(finite_cuda)},
    {HD_DENSE_RANDOM_TILE, OWN, HD_DENSE_FOUR(random_cuda)},
    {HD_DENSE_NORM, OWN, HD_DENSE_FOUR(norm_cuda)},
    {HD_DENSE_RESIDUAL_BEGIN, OWN, HD_DENSE_FOUR(residual_begin_cuda)},
    {HD_DENSE_RESIDUAL_END, OWN | HD_CUDA_BLAS, HD_DENSE_FOUR(residual_end_cuda)},
    {HD_DENSE_RANK, OWN, HD_DENSE_FOUR(rank_cuda)},
    {HD_DENSE_SET, OWN, HD_DENSE_FOUR(set_cuda)},
    {HD_DENSE_TRANSPOSE, OWN, HD_DENSE_FOUR(transpose_cuda)},
    {HD_DENSE_LU_PARTS, OWN, HD_DENSE_FOUR(lu_parts_cuda)},
    {.needs = 0},
};
