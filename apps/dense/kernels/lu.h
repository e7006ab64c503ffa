/* The kernels of the LU factorisation, with and without pivoting: LAPACK's getrf and laswp, by recursion on the columns
 * (Toledo), so that a tall panel, too, has nearly all of its work in the products of blas3.h.
 *
 * A is m x n, tall, square or wide. L has ones on its diagonal, which are not stored. */
#ifndef HD_DENSE_LU_H
#define HD_DENSE_LU_H

#include <dense/kernels/view.h>

#define HD_TEMPLATE <dense/kernels/lu.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* A := L and U, with A = L U. Returns 0, or the number i >= 1 of the first pivot that is zero or not a number. The
 * columns of L that would be divided by a zero are not divided. */
int P(getrf_nopiv)(struct P(view) a);

/* A := L and U, with A = P L U. In step i, from 0 to min(m, n) - 1, rows i and pivots[i] - 1 were interchanged, as
 * LAPACK counts. Returns as getrf_nopiv. The pivot is the element with the largest sum of the absolute values of its
 * parts, or the first that is not a number. */
int P(getrf)(struct P(view) a, int *pivots);

/* Interchanges the rows i and pivots[i] - 1 of A, for i from 0 to count - 1 (`forward`: A := P^T A) or from count - 1
 * to 0 (A := P A). */
void P(laswp)(struct P(view) a, const int *pivots, int count, int forward);

#endif
