/* What a factorisation costs: operations, elements of R and of the reflectors, memory. */
#include "analysis.h"

/* Column j is eliminated by a reflector on the rows from j down to the staircase, which is applied to the columns
 * behind it: 3 operations a row to make it, 4 for each element that it changes, as SuiteSparseQR counts. */
static void count_flops(struct hd_sparse_front *front)
{
	front->flops = 0;
	for (size_t j = 0; j < front->n_columns; j++) {
		double rows = (double)front->stair[j] - (double)j;
		if (rows > 0)
			front->flops += rows * (3 + 4 * (double)(front->n_columns - j - 1));
	}
}

/* Narrow panels and the packing of factors take time by elements, not by operations: docs/sparse.md has the measured
 * figures. */
double hd_sparse_front_work(const struct hd_sparse_front *front)
{
	enum { PER_ELEMENT = 270 };
	return front->flops + PER_ELEMENT * (double)front->n_rows * (double)front->n_columns;
}

/* mt x nt tiles: 12 mt + 18 nt - 26 thirds of the cube of the order of a tile (Bouwmeester, Jacquelin, Langou, Robert,
 * 2011; but for the constant, which suits a single tile). */
double hd_sparse_front_path(const struct hd_sparse_front *front, size_t tile)
{
	double order = (double)tile, m = (double)front->n_rows, n = (double)front->n_columns;
	double rows = m < order ? m : order, columns = n < order ? n : order;
	return rows * columns * columns / 3 *
	       (12 * (double)((front->n_rows + tile - 1) / tile) + 18 * (double)((front->n_columns + tile - 1) / tile) -
	        26);
}

size_t hd_sparse_r_elements(const struct hd_sparse_front *front)
{
	size_t n = front->n_pivots < front->n_rows ? front->n_pivots : front->n_rows;
	return n * front->n_columns - n * (n - (n > 0)) / 2;
}

size_t hd_sparse_h_elements(const struct hd_sparse_front *front)
{
	size_t n = 0;
	for (size_t j = 0; j < front->n_columns; j++)
		n += front->stair[j] > (int64_t)j ? (size_t)front->stair[j] - j - 1 : 0;
	return n;
}

size_t hd_sparse_contribution_elements(const struct hd_sparse_front *front)
{
	size_t n = front->n_contributed;
	return n * (front->n_columns - front->n_pivots) - n * (n - (n > 0)) / 2;
}

/* The memory of a sequential factorisation by postorder. A front lies beside the contributions that wait; its
 * children's are added to it and freed; then its own is copied out of it. With factors, which stay, nothing is copied:
 * what a front has after its factorisation are its factors and its contribution. */
static size_t peak(const struct heddle_sparse_analysis *a, size_t first, size_t last, int with_factors)
{
	size_t kept = 0, most = 0;
	for (size_t f = first; f <= last; f++) {
		const struct hd_sparse_front *front = &a->fronts[f];
		size_t size = front->n_rows * front->n_columns;
		most = kept + size > most ? kept + size : most;
		for (size_t c = front->first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling)
			kept -= hd_sparse_contribution_elements(&a->fronts[c]);
		kept += hd_sparse_contribution_elements(front);
		if (with_factors)
			kept += hd_sparse_r_elements(front) + hd_sparse_h_elements(front);
		else
			most = kept + size > most ? kept + size : most;
	}
	return most;
}

size_t hd_sparse_work_elements(const struct heddle_sparse_analysis *analysis, size_t first, size_t last)
{
	return peak(analysis, first, last, 0);
}

void hd_sparse_costs(struct heddle_sparse_analysis *a)
{
	struct heddle_sparse_statistics *s = &a->statistics;
	double most = -1;
	for (size_t f = 0; f < a->n_fronts; f++) {
		struct hd_sparse_front *front = &a->fronts[f];
		count_flops(front);
		s->flops += front->flops;
		s->r_elements += hd_sparse_r_elements(front);
		s->h_elements += hd_sparse_h_elements(front);
		if (front->flops > most) {
			most = front->flops;
			s->largest_rows = front->n_rows;
			s->largest_columns = front->n_columns;
		}
	}
	s->fronts = a->n_fronts;
	if (a->n_fronts)
		s->peak_elements = peak(a, 0, a->n_fronts - 1, 1);
}
