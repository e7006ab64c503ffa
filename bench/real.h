/* The type `real`. Each Cholesky program is compiled twice: with BENCH_SINGLE it is float, without it double. */
#ifndef BENCH_REAL_H
#define BENCH_REAL_H

#include <float.h>
#include <cblas.h>
#include <lapacke.h>

#ifdef BENCH_SINGLE
typedef float real;
#define BLAS(x) cblas_s##x
#define POTRF LAPACKE_spotrf_work
#define LETTER "s"
#define REAL_EPSILON FLT_EPSILON
#else
typedef double real;
#define BLAS(x) cblas_d##x
#define POTRF LAPACKE_dpotrf_work
#define LETTER "d"
#define REAL_EPSILON DBL_EPSILON
#endif

/* Operations of a Cholesky factorisation (LAPACK Working Note 41, appendix C). */
static inline double potrf_flops(size_t order)
{
	double n = (double)order;
	return n * n * n / 3 + n * n / 2 + n / 6;
}

#endif
