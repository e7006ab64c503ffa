/* Loops on vectors that no library has, for the steps of kernels on few columns, in four precisions. */
#ifndef HD_DENSE_VECTORS_H
#define HD_DENSE_VECTORS_H

#include <dense/kernels/view.h>

enum {
	HD_SOLVE_MOST = 32,    /* the largest triangle of `solve` */
	HD_SOLVE_BYTES = 256,  /* bytes of each column that `solve` processes together: fewer bytes take as long */
	HD_CHOLESKY_MOST = 16, /* the largest matrix of `cholesky` */
};

#define HD_TEMPLATE <dense/kernels/vectors.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* x := x - A u. x has m elements, u has n. */
void P(reduce)(struct P(view) a, const element *u, element *x);

/* w := A^H x. */
void P(dots)(struct P(view) a, const element *x, element *w);

/* x := f x */
void P(scale)(int m, element *x, element f);

/* The sum of the squares of the absolute values. The sum may overflow, or be 0 although some number is not. */
real P(sum_of_squares)(int m, const element *x);

int P(is_zero)(int m, const element *x);

/* The index of the element with the largest ABS1 among m > 0 elements; the first such index. NaN counts as the
 * largest. */
int P(find_pivot)(int m, const element *x);

/* X := X T^-1. X is m x n, with columns `ld` elements apart; `ld` may be negative. T is n x n and upper triangular,
 * with columns n elements apart; on its diagonal are the inverses of T's diagonal elements. n is at most
 * HD_SOLVE_MOST. */
void P(solve)(int m, int n, element *x, ptrdiff_t ld, const element *t);

/* The lower triangle A := L, with A = L L^H. A is n x n, in an array of HD_CHOLESKY_MOST rows and columns without NaN.
 * The part above the diagonal is overwritten with undefined values. Returns 0, or the order of the first leading minor
 * that is not positive. */
int P(cholesky)(int n, element *a);

#endif
