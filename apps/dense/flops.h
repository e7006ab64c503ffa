/* Operations of routines and of their tasks on tiles, counted as LAPACK does (LAPACK Working Note 41, appendix C): each
 * formula gives the multiplications and divisions, then the additions. */
#ifndef HD_DENSE_FLOPS_H
#define HD_DENSE_FLOPS_H

/* The number of operations on real numbers; a complex product has 6 of them and a complex sum 2. */
static inline double hd_dense_flops(int is_complex, double products, double sums)
{
	return is_complex ? 6 * products + 2 * sums : products + sums;
}

static inline double hd_dense_gemm_flops(int is_complex, double m, double n, double k)
{
	return hd_dense_flops(is_complex, m * n * k, m * n * k);
}

/* C is n x n. */
static inline double hd_dense_syrk_flops(int is_complex, double n, double k)
{
	return hd_dense_flops(is_complex, k * n * (n + 1) / 2, k * n * (n + 1) / 2);
}

/* C is m x n, A is of order `order`: m or n. */
static inline double hd_dense_symm_flops(int is_complex, double m, double n, double order)
{
	return hd_dense_flops(is_complex, m * n * order, m * n * order);
}

/* trsm and trmm: A is of order `order`, and B has `width` rows or columns beyond that. */
static inline double hd_dense_triangle_flops(int is_complex, double order, double width)
{
	return hd_dense_flops(is_complex, width * order * (order + 1) / 2, width * order * (order - 1) / 2);
}

/* potrf of order n; lauum has as many operations. */
static inline double hd_dense_potrf_flops(int is_complex, double n)
{
	return hd_dense_flops(is_complex, n * n * n / 6 + n * n / 2 + n / 3, n * n * n / 6 - n / 6);
}

static inline double hd_dense_trtri_flops(int is_complex, double n)
{
	return hd_dense_flops(is_complex, n * n * n / 6 + n * n / 2 + n / 3, n * n * n / 6 - n * n / 2 + n / 3);
}

/* A is m x n. */
static inline double hd_dense_getrf_flops(int is_complex, double m, double n)
{
	double less = m < n ? m : n, more = m < n ? n : m;
	return hd_dense_flops(is_complex, less * (less * (more - less / 3 - 1) + more) / 2 + 2 * less / 3,
	                      less * (less * (more - less / 3) - more) / 2 + less / 6);
}

/* A is n x n. */
static inline double hd_dense_getrs_flops(int is_complex, double n, double n_right)
{
	return hd_dense_flops(is_complex, n * n * n_right, n * (n - 1) * n_right);
}

#endif
