/* Tasks that fill, copy and compare tiles: random matrices, changes of layout, norms, and steps of residuals. */
#include <dense/codelets/verdicts.h>
#include <dense/internal.h>
#include <dense/kernels/view.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Uniform in [-1/2, 1/2): `low` is hd_dense_hash(seed, j + 1), `high` is i; of symmetric matrices for i >= j. */
static double random_number(uint64_t bits)
{
	return (double)(bits >> 11) * 0x1.0p-53 - 0.5;
}

static double hd_dense_random_part(uint64_t low, uint64_t high)
{
	return random_number(hd_dense_hash(low, high + 1));
}

static heddle_dense_scalar hd_dense_random_pair(uint64_t low, uint64_t high)
{
	uint64_t bits = hd_dense_hash(low, high + 1);
	return (heddle_dense_scalar){random_number(bits), random_number(hd_dense_hash(bits, 1))};
}

static int hd_dense_is_symmetric(enum heddle_dense_random kind)
{
	return kind == HEDDLE_DENSE_SPD || kind == HEDDLE_DENSE_HERMITIAN || kind == HEDDLE_DENSE_SYMMETRIC;
}

static int hd_dense_is_hermitian(enum heddle_dense_random kind)
{
	return kind == HEDDLE_DENSE_SPD || kind == HEDDLE_DENSE_HERMITIAN;
}

heddle_dense_scalar heddle_dense_random_element(enum heddle_dense_random kind, uint64_t seed, size_t n, size_t i,
                                                size_t j)
{
	int mirrored = hd_dense_is_symmetric(kind) && i < j;
	uint64_t low = hd_dense_hash(seed, (mirrored ? i : j) + 1);
	heddle_dense_scalar x = hd_dense_random_pair(low, mirrored ? j : i);
	if (mirrored && hd_dense_is_hermitian(kind))
		x.im = -x.im;
	if (i != j)
		return x;
	if (hd_dense_is_hermitian(kind))
		x.im = 0;
	if (kind == HEDDLE_DENSE_SPD || kind == HEDDLE_DENSE_DOMINANT)
		x.re += (double)n;
	return x;
}

/* The rows [*first, *end) of column j, among the first `rows` of the window, that belong to its part of the matrix. */
static void hd_dense_rows_of(const struct hd_dense_window *w, int rows, int j, int *first, int *end)
{
	ptrdiff_t diagonal = (ptrdiff_t)w->column + j - (ptrdiff_t)w->row;
	int without = w->diag == HEDDLE_DENSE_UNIT;
	ptrdiff_t from = w->uplo == HEDDLE_DENSE_LOWER ? diagonal + without : 0;
	ptrdiff_t to = w->uplo == HEDDLE_DENSE_UPPER ? diagonal + 1 - without : rows;
	*first = from < 0 ? 0 : from > rows ? rows : (int)from;
	*end = to < 0 ? 0 : to > rows ? rows : (int)to;
}

#define HD_TEMPLATE <dense/codelets/movements_template.h>
#include <dense/kernels/precisions.h>

const struct hd_dense_codelet hd_dense_movements[] = {
    {HD_DENSE_SCALE, "scale", "scale", HD_DENSE_FOUR(scale_task), .color = 0xa0a0b0},
    {HD_DENSE_ADD, "add", "add", HD_DENSE_FOUR(add_task), .color = 0xa0b0a0},
    {HD_DENSE_COPY, "copy", "copy", HD_DENSE_FOUR(copy_task), .color = 0xb0b0b0},
    {HD_DENSE_FINITE, "finite", "finite", HD_DENSE_FOUR(finite_task), .color = 0xc0c0c0},
    {HD_DENSE_RANDOM_TILE, "random", "random", HD_DENSE_FOUR(random_task), .color = 0x909090},
    {HD_DENSE_NORM, "norm", "norm", HD_DENSE_FOUR(norm_task), .color = 0x808080},
    {HD_DENSE_RESIDUAL_BEGIN, "residual_begin", "residual_begin", HD_DENSE_FOUR(residual_begin_task),
     .color = 0x707070},
    {HD_DENSE_RESIDUAL_END, "residual_end", "residual_end", HD_DENSE_FOUR(residual_end_task), .color = 0x505050},
    {.name = NULL},
};
