/* What the recursive kernels share. */
#ifndef HD_DENSE_HALVES_H
#define HD_DENSE_HALVES_H

static inline int hd_smaller(int a, int b)
{
	return a < b ? a : b;
}

/* The first part of n > 1 rows or columns that are cut in two: a multiple of what a register or a cache line holds, so
 * that the products on the parts have few borders. */
static inline int hd_half(int n)
{
	enum { UNIT = 8 };
	int half = n / 2;
	return half < UNIT ? half : (half + UNIT - 1) / UNIT * UNIT;
}

/* A leading dimension that the BLAS and LAPACK accept, also of a matrix without rows. */
static inline int hd_ld(int ld)
{
	return ld > 1 ? ld : 1;
}

#endif
