/* Matrices for tests of the dense kernels, in four precisions: made, compared, and multiplied the plain way. */
#ifndef DENSE_VIEWS_H
#define DENSE_VIEWS_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dense/kernels/view.h>
#include "base/poison.h"

/* BEYOND: rows that each matrix has in memory beyond its last one; they keep their NaN. AFTER: elements after all of
 * these, for OpenBLAS 0.3.21, whose zgemv and zdotc read a few elements beyond the matrix (its issue 4013). That
 * crashes where it is the end of the mapped memory. The library's own kernels do not call these; the tests' LAPACK
 * does. */
enum { BEYOND = 3, AFTER = 64 };

/* TESTS_OF(letter), which a test program defines as its tests in one precision, in all of them. With a sanitizer in
 * two: double and complex single. */
#ifdef HD_TWO_PRECISIONS
enum { TWO_PRECISIONS = 1 };
#define TESTS_OF_ALL TESTS_OF(d), TESTS_OF(c)
#else
enum { TWO_PRECISIONS = 0 };
#define TESTS_OF_ALL TESTS_OF(d), TESTS_OF(c), TESTS_OF(s), TESTS_OF(z)
#endif

static inline double dense_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

#define HD_TEMPLATE <unit/dense_views.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* m x n, all NaN. free() its `a`. */
static inline struct P(view) P(new_view)(int m, int n)
{
	struct P(view) v = {.m = m, .n = n, .ld = m + BEYOND};
	size_t count = (size_t)v.ld * (size_t)n;
	v.a = malloc((count + AFTER) * sizeof *v.a);
	assert_non_null(v.a);
	for (size_t i = 0; i < count; i++)
		v.a[i] = (real)NAN;
	hd_poison(v.a + count, AFTER * sizeof *v.a); /* for our own code; OpenBLAS is not checked */
	return v;
}

static inline element P(random)(uint64_t *state)
{
	element value = (real)dense_random(state);
#if COMPLEX
	value += (real)dense_random(state) * (element)I;
#endif
	return value;
}

static inline struct P(view) P(random_view)(int m, int n, uint64_t seed)
{
	struct P(view) v = P(new_view)(m, n);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++)
			*P(at)(v, i, j) = P(random)(&seed);
	return v;
}

static inline struct P(view) P(copy)(struct P(view) from)
{
	struct P(view) v = P(new_view)(from.m, from.n);
	for (int j = 0; j < from.n; j++)
		for (int i = 0; i < from.m; i++)
			*P(at)(v, i, j) = *P(at)(from, i, j);
	return v;
}

/* Rows beyond the last one are all NaN. */
static inline void P(check_beyond)(struct P(view) v)
{
	for (int j = 0; j < v.n; j++)
		for (int i = v.m; i < v.ld; i++)
			assert_true(isnan(REAL(*(v.a + i + (ptrdiff_t)j * v.ld))));
}

/* Checks what is beyond, and frees. */
static inline void P(free_view)(struct P(view) v)
{
	P(check_beyond)(v);
	free(v.a);
}

static inline int P(in_triangle)(CBLAS_UPLO uplo, CBLAS_DIAG diag, int i, int j)
{
	return i == j ? diag == CblasNonUnit : (i > j) == (uplo == CblasLower);
}

/* Makes all NaN that is not in the triangle. */
static inline void P(spoil)(struct P(view) v, CBLAS_UPLO uplo, CBLAS_DIAG diag)
{
	for (int j = 0; j < v.n; j++)
		for (int i = 0; i < v.m; i++)
			if (!P(in_triangle)(uplo, diag, i, j))
				*P(at)(v, i, j) = (real)NAN;
}

static inline void P(check_spoilt)(struct P(view) v, CBLAS_UPLO uplo, CBLAS_DIAG diag)
{
	for (int j = 0; j < v.n; j++)
		for (int i = 0; i < v.m; i++)
			if (!P(in_triangle)(uplo, diag, i, j))
				assert_true(isnan(REAL(*P(at)(v, i, j))));
}

/* The triangle alone: zeros in the other one, ones on a unit diagonal. */
static inline struct P(view) P(triangle)(struct P(view) from, CBLAS_UPLO uplo, CBLAS_DIAG diag)
{
	struct P(view) v = P(new_view)(from.m, from.n);
	for (int j = 0; j < v.n; j++)
		for (int i = 0; i < v.m; i++)
			*P(at)(v, i, j) = P(in_triangle)(uplo, diag, i, j) ? *P(at)(from, i, j) : i == j ? 1 : 0;
	return v;
}

/* op(A), in full. */
static inline struct P(view) P(transposed)(struct P(view) a, CBLAS_TRANSPOSE trans)
{
	if (trans == CblasNoTrans)
		return P(copy)(a);
	struct P(view) v = P(new_view)(a.n, a.m);
	for (int j = 0; j < v.n; j++)
		for (int i = 0; i < v.m; i++)
			*P(at)(v, i, j) = trans == CblasConjTrans ? CONJ(*P(at)(a, j, i)) : *P(at)(a, j, i);
	return v;
}

/* C := alpha A B + beta C, by loops. */
static inline void P(plain_product)(element alpha, struct P(view) a, struct P(view) b, element beta, struct P(view) c)
{
	for (int j = 0; j < c.n; j++) {
		element *sums = P(at)(c, 0, j);
		for (int i = 0; i < c.m; i++)
			sums[i] = beta == 0 ? 0 : beta * sums[i];
		for (int k = 0; k < a.n; k++) {
			const element *column = P(at)(a, 0, k), factor = alpha * *P(at)(b, k, j);
			for (int i = 0; i < c.m; i++)
				sums[i] += column[i] * factor;
		}
	}
}

static inline double P(norm)(struct P(view) a)
{
	double sum = 0;
	for (int j = 0; j < a.n; j++)
		for (int i = 0; i < a.m; i++)
			sum += (double)(ABS(*P(at)(a, i, j)) * ABS(*P(at)(a, i, j)));
	return sqrt(sum);
}

/* A and B are the same but for rounding errors of matrices as large as `scale`, in Frobenius' norm. */
static inline void P(check_same)(struct P(view) a, struct P(view) b, double scale)
{
	double sum = 0;
	assert_int_equal(a.m, b.m);
	assert_int_equal(a.n, b.n);
	for (int j = 0; j < a.n; j++)
		for (int i = 0; i < a.m; i++) {
			double d = (double)ABS(*P(at)(a, i, j) - *P(at)(b, i, j));
			sum += d * d;
		}
	if (!(sqrt(sum) <= 30 * (double)EPSILON * scale))
		fail_msg("%c %d x %d: difference %g, %g allowed", LETTER, a.m, a.n, sqrt(sum),
		         30 * (double)EPSILON * scale);
}

#endif
