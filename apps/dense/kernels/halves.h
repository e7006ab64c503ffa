/* Common functions of the recursive kernels. */
#ifndef HD_DENSE_HALVES_H
#define HD_DENSE_HALVES_H

static inline int hd_smaller(int a, int b)
{
	return a < b ? a : b;
}

/* The size of the first of two parts of n > 1 rows or columns: a multiple of the elements of a register or cache line,
 * so that the products on the parts have few remainders. */
static inline int hd_half(int n)
{
	enum { UNIT = 8 };
	int half = n / 2;
	return half < UNIT ? half : (half + UNIT - 1) / UNIT * UNIT;
}

/* A leading dimension that the BLAS and LAPACK accept even for a matrix without rows. */
static inline int hd_ld(int ld)
{
	return ld > 1 ? ld : 1;
}

#endif
