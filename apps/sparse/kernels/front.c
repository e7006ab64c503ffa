/* Fronts by one thread: how factors are packed, which part of a contribution goes where; the rest in four precisions.
 * The kernels of tiled QR run on panels whose rows end with the staircase (Davis: Algorithm 915, 2011, 2.3). */
#include <sparse/kernels/front.h>
#include <dense/kernels/blas3.h>
#include <math.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

size_t hd_sparse_search(const int64_t *numbers, size_t n, size_t least)
{
	size_t first = 0;
	while (n > 0) {
		size_t half = n / 2;
		if ((size_t)numbers[first + half] < least) {
			first += half + 1;
			n -= half + 1;
		} else
			n = half;
	}
	return first;
}

struct hd_sparse_panel hd_sparse_panel(const struct hd_sparse_front *front, const struct hd_sparse_packing *packing,
                                       size_t first, size_t at)
{
	struct hd_sparse_panel p = {.first = first, .reach = 0, .r = at, .end = at};
	size_t r_rows = hd_sparse_r_rows(front), is_pivot = first < r_rows;
	p.columns = smaller(packing->inner, (is_pivot ? r_rows : front->n_columns) - first);
	if (p.columns == 0)
		return p;
	p.reach = (size_t)front->stair[first + p.columns - 1];
	p.r_rows = is_pivot ? first + p.columns : r_rows;
	size_t v_rows = packing->keep_q && p.reach > first ? p.reach - first : 0;
	p.r_ld = is_pivot ? larger(first + v_rows, p.r_rows) : p.r_rows;
	p.v = is_pivot ? p.r + first : p.r + p.r_ld * p.columns;
	p.v_ld = is_pivot ? p.r_ld : v_rows;
	p.t = p.r + p.r_ld * p.columns + (is_pivot ? 0 : v_rows * p.columns);
	p.end = p.t + (v_rows > 0 ? p.columns * p.columns : 0);
	return p;
}

struct hd_sparse_panel hd_sparse_nth_panel(const struct hd_sparse_front *front, const struct hd_sparse_packing *packing,
                                           size_t n)
{
	struct hd_sparse_panel p = hd_sparse_panel(front, packing, 0, 0);
	for (; n > 0; n--)
		p = hd_sparse_next_panel(front, packing, &p);
	return p;
}

size_t hd_sparse_packed(const struct hd_sparse_front *front, const struct hd_sparse_packing *packing)
{
	struct hd_sparse_panel p = hd_sparse_panel(front, packing, 0, 0);
	while (p.columns > 0)
		p = hd_sparse_next_panel(front, packing, &p);
	return p.end;
}

struct hd_sparse_piece hd_sparse_piece(const struct hd_sparse_front *child, size_t row, size_t column, size_t rows,
                                       size_t columns)
{
	struct hd_sparse_piece p = {.child = child};
	size_t rest = hd_sparse_rest(child);
	p.column = hd_sparse_search(child->up_column, rest, column);
	size_t end = hd_sparse_search(child->up_column, rest, column + columns);
	p.columns = end - p.column;
	p.row = hd_sparse_search(child->up_row, child->n_contributed, row);
	/* below row end - 1 all of these columns are zero */
	size_t last = smaller(hd_sparse_search(child->up_row, child->n_contributed, row + rows), end);
	p.rows = last > p.row ? last - p.row : 0;
	return p;
}

#define HD_TEMPLATE <sparse/kernels/front_template.h>
#include <dense/kernels/precisions.h>
