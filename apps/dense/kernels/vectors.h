/* What the kernels do on few columns at a time: products of a tall matrix with a vector, in four precisions. */
#ifndef HD_DENSE_VECTORS_H
#define HD_DENSE_VECTORS_H

#include <dense/kernels/view.h>

#define HD_TEMPLATE <dense/kernels/vectors.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* x := x - A u. x has m elements, u has n. */
void P(reduce)(struct P(view) a, const element *u, element *x);

/* w := A^H x. */
void P(dots)(struct P(view) a, const element *x, element *w);

/* The sum of the squares of the absolute values. It may overflow, or be 0 of numbers that are not. */
real P(sum_of_squares)(int m, const element *x);

int P(is_zero)(int m, const element *x);

#endif
