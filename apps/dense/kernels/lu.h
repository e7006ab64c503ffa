/* The kernels of the LU factorisation, with and without pivoting: LAPACK's getrf and laswp, by recursion on the columns
 * (Toledo: Locality of reference in LU decomposition with partial pivoting, 1997), so that nearly all of the work is in
 * the products of blas3.h, even for a tall panel.
 *
 * They also work on a stack: tiles that lie below each other and are one tall matrix together. The tiles stay where
 * they are, in memory of their own or as parts of a larger matrix.
 *
 * A is m x n, tall, square or wide. L has ones on its diagonal, which are not stored. */
#ifndef HD_DENSE_LU_H
#define HD_DENSE_LU_H

#include <dense/kernels/party.h>
#include <dense/kernels/view.h>

/* Interchanges of rows: for i from 0 to count - 1, row first + i of the stack and row pivots[i] - origin. */
struct hd_swaps {
	const int *pivots; /* borrows */
	int count, first, origin;
};

#define HD_TEMPLATE <dense/kernels/lu.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* `count` >= 1 tiles, from top to bottom. All have as many columns as the first tile, and all but the last have as many
 * rows. */
struct P(stack) {
	const struct P(view) * tiles; /* borrows */
	int count;
};

/* The stack of these tiles. If each tile begins where the tile above it ends, the stack is one tall tile, which is
 * written to tiles[0]. */
struct P(stack) P(stack)(struct P(view) * tiles, int count);

/* Interchanges rows in n columns from `column` on, in the order of the pivots (`forward`) or in the opposite order. */
void P(interchange)(struct P(stack) a, int column, int n, const struct hd_swaps *swaps, int forward);

/* A := L and U, with A = P L U, of the whole stack, whose first tile has min(m, n) rows or more. In step i, from 0 to
 * min(m, n) - 1, rows i and pivots[i] - 1 were interchanged, as LAPACK counts. `pivots` is NULL for no interchanges.
 * Returns 0, or the number i >= 1 of the first pivot that is zero or not a number. Columns of L that would be divided
 * by a zero are not divided. The pivot is the element with the largest sum of the absolute values of its parts; if one
 * of the candidates is NaN, the pivot is NaN. */
int P(getrf_panel)(struct P(stack) a, int *pivots);
/* getrf_panel by all members of a party, who have met when it returns. Member 0 returns the result of getrf_panel, the
 * others return 0. */
int P(getrf_party)(const struct hd_party *p, struct P(stack) a, int *pivots);

/* getrf_panel for one matrix, with and without interchanges. */
int P(getrf)(struct P(view) a, int *pivots);
int P(getrf_nopiv)(struct P(view) a);

/* Interchanges the rows i and pivots[i] - 1 of A, for i from 0 to count - 1 (`forward`: A := P^T A) or from count - 1
 * to 0 (A := P A). */
void P(laswp)(struct P(view) a, const int *pivots, int count, int forward);

#endif
