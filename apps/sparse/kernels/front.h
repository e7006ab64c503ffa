/* A front by one thread: what it is assembled of, its factorisation, and products with what that leaves.
 *
 * The factors of a front are packed panel by panel: panels of at most `inner` columns, of which one ends with the last
 * row of R. R has min(n_rows, n_pivots) rows. A panel of pivots is one block, with R on and above the diagonal, and V
 * below it. Any other is R, then V, which is all that is left of it: what lies between is in the contribution. T, a
 * block of reflectors, is the last part of each. */
#ifndef HD_SPARSE_KERNELS_FRONT_H
#define HD_SPARSE_KERNELS_FRONT_H

#include <sparse/internal.h>
#include <dense/kernels/qr.h>

/* Rows of R that a front has. */
static inline size_t hd_sparse_r_rows(const struct hd_sparse_front *front)
{
	return front->n_rows < front->n_pivots ? front->n_rows : front->n_pivots;
}
/* Columns of the contribution. */
static inline size_t hd_sparse_rest(const struct hd_sparse_front *front)
{
	return front->n_columns - front->n_pivots;
}
/* The first of n ascending numbers that is not less than `least`; n: none is. */
size_t hd_sparse_search(const int64_t *numbers, size_t n, size_t least);

struct hd_sparse_packing {
	size_t inner; /* columns of a panel */
	int keep_q;   /* V and T are packed, too */
};
struct hd_sparse_panel {
	size_t first, columns; /* of the front; 0: there are no more panels */
	size_t reach;          /* V has the rows from `first` to reach - 1; it has none if this is not more */
	size_t r_rows;         /* R has the rows before this one */
	/* Where R, V and T begin in the packed factors, and their leading dimensions; T has `columns`. */
	size_t r, r_ld, v, v_ld, t;
	size_t end; /* where the next panel begins */
};
/* The panel of column `first`, which is at element `at` of the packed factors. */
struct hd_sparse_panel hd_sparse_panel(const struct hd_sparse_front *front, const struct hd_sparse_packing *packing,
                                       size_t first, size_t at);
static inline struct hd_sparse_panel hd_sparse_next_panel(const struct hd_sparse_front *front,
                                                          const struct hd_sparse_packing *packing,
                                                          const struct hd_sparse_panel *panel)
{
	return hd_sparse_panel(front, packing, panel->first + panel->columns, panel->end);
}
/* Panel number n of the front, counted from 0. */
struct hd_sparse_panel hd_sparse_nth_panel(const struct hd_sparse_front *front, const struct hd_sparse_packing *packing,
                                           size_t n);
/* The reflectors of a panel; 0: it has none. */
static inline size_t hd_sparse_reflectors(const struct hd_sparse_panel *panel)
{
	size_t rows = panel->reach > panel->first ? panel->reach - panel->first : 0;
	return rows < panel->columns ? rows : panel->columns;
}
/* Elements of the packed factors. */
size_t hd_sparse_packed(const struct hd_sparse_front *front, const struct hd_sparse_packing *packing);

/* Rows of F in a view that has part of a front, from this row and column of it on. */
struct hd_sparse_own {
	const struct heddle_sparse_analysis *analysis;
	const struct hd_sparse_front *front;
	const void *values; /* of A */
	size_t row, column;
};
/* Rows and columns of the contribution of a front. */
struct hd_sparse_piece {
	const struct hd_sparse_front *child;
	size_t row, column, rows, columns;
};
/* The piece of the contribution of `child` that lies within `rows` x `columns` of its parent from (row, column) on. No
 * rows or no columns: nothing does. */
struct hd_sparse_piece hd_sparse_piece(const struct hd_sparse_front *child, size_t row, size_t column, size_t rows,
                                       size_t columns);

/* An array of the program, or of a call, whose row place[i] has what belongs to number i. */
struct hd_sparse_array {
	void *data;
	size_t ld;
	const int64_t *place;
};

#define HD_TEMPLATE <sparse/kernels/front.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* Adds the elements of F that lie in the view. Returns -1, or the number of one that is NaN or infinite, or
 * whose sum with duplicates before it is. */
int64_t P(sparse_add_own)(const struct hd_sparse_own *own, struct P(view) to);

/* Copies the upper trapezoid of a piece to its place in `to`, which begins at (row, column) of the parent. Element
 * (0, 0) of `from` is the first of the piece. */
void P(sparse_add_piece)(const struct hd_sparse_piece *piece, struct P(view) from, struct P(view) to, size_t row,
                         size_t column);

/* Factorises the front A, and packs its factors. `work` is hd_qr_work(A's rows, inner) elements, and T's of a panel if
 * it is not packed. */
void P(sparse_factorise)(const struct hd_sparse_front *front, const struct hd_sparse_packing *packing, struct P(view) a,
                         element *packed, element *work);

/* The packed factors of a front, which are borrowed. */
struct P(factors) {
	const struct hd_sparse_front *front;
	const struct hd_sparse_packing *packing;
	const element *packed;
};
/* B := Q^H B (ConjTrans) or Q B (NoTrans), for all rows of a front. */
void P(sparse_apply)(const struct P(factors) * q, CBLAS_TRANSPOSE trans, struct P(view) b, element *work);

/* TO(i, j) := row numbers[i] of the array, column j; and the other way round. NULL: numbers[i] = first + i. */
void P(sparse_get)(const struct hd_sparse_array *from, const int64_t *numbers, size_t first, struct P(view) to);
void P(sparse_put)(struct P(view) from, const int64_t *numbers, size_t first, const struct hd_sparse_array *to);

/* The rows of F in rows of a front from `row` on, to the view, which has as many; and the other way round. */
void P(sparse_get_own)(const struct hd_sparse_front *front, const struct hd_sparse_array *from, size_t row,
                       struct P(view) to);
void P(sparse_put_own)(const struct hd_sparse_front *front, struct P(view) from, size_t row,
                       const struct hd_sparse_array *to);
/* Row up[i] - row of TO := row i of FROM; row i of TO := row up[i] - row of FROM. */
void P(sparse_raise)(const int64_t *up, struct P(view) from, size_t row, struct P(view) to);
void P(sparse_lower)(const int64_t *up, struct P(view) from, size_t row, struct P(view) to);

/* The first row of R's diagonal, an upper triangle, whose absolute value is not larger than `tolerance`, or not finite,
 * or whose reciprocal is not; -1: none. */
int P(sparse_deficient)(struct P(view) r, double tolerance);

/* C := R11^-1 (C - R12 X), where X, the unknowns of the columns after the pivots, are in `x`. Writes the unknowns of
 * the pivots to `x`, too. `work` has `inner` times C's columns. Returns -1, or the pivot that sparse_deficient has
 * found. The front has a row for each of its pivots. */
int P(sparse_back)(const struct P(factors) * r, struct P(view) c, const struct hd_sparse_array *x, double tolerance,
                   element *work);

/* Z1 := R11^-H Z1, Z2 := Z2 - R12^H Z1, for Z with a row for each column of the front. Returns as sparse_back. */
int P(sparse_forward)(const struct P(factors) * r, struct P(view) z, double tolerance);

#endif
