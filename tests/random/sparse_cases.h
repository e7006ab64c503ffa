/* Random sparse matrices, and what is known of them without the library: the same matrix in full, LAPACK's results. */
#ifndef RANDOM_SPARSE_CASES_H
#define RANDOM_SPARSE_CASES_H

#include <complex.h>
#include <math.h>
#include <lapacke.h>
#include <heddle/sparse.h>
#include "support.h"

/* --- Full matrices ------------------------------------------------------------------------------------------------ */

/* In complex double precision, column-major, without gaps. */
struct full {
	size_t m, n;
	double complex *a; /* owns */
};

/* At least one element; the test ends without memory. */
static inline void *new_array(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);
	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(3);
	}
	return p;
}

static inline struct full new_full(size_t m, size_t n)
{
	return (struct full){m, n, new_array(m * n, sizeof(double complex))};
}

static inline double complex *at(const struct full *f, size_t i, size_t j)
{
	return &f->a[i + j * f->m];
}

static inline struct full copy_of(const struct full *f)
{
	struct full to = new_full(f->m, f->n);
	memcpy(to.a, f->a, f->m * f->n * sizeof *f->a);
	return to;
}

static inline struct full adjoint_of(const struct full *f)
{
	struct full to = new_full(f->n, f->m);
	for (size_t j = 0; j < f->n; j++)
		for (size_t i = 0; i < f->m; i++)
			*at(&to, j, i) = conj(*at(f, i, j));
	return to;
}

/* A X - B, or, without B, A X. */
static inline struct full product(const struct full *a, const struct full *x, const struct full *b)
{
	struct full y = b ? copy_of(b) : new_full(a->m, x->n);
	for (size_t j = 0; j < x->n; j++) {
		for (size_t i = 0; i < y.m; i++)
			*at(&y, i, j) *= -1;
		for (size_t k = 0; k < a->n; k++)
			for (size_t i = 0; i < a->m; i++)
				*at(&y, i, j) += *at(a, i, k) * *at(x, k, j);
	}
	return y;
}

/* The Frobenius norm. */
static inline double norm_of(const struct full *f)
{
	double sum = 0;
	for (size_t e = 0; e < f->m * f->n; e++)
		sum += creal(f->a[e]) * creal(f->a[e]) + cimag(f->a[e]) * cimag(f->a[e]);
	return sqrt(sum);
}

static inline double distance(const struct full *x, const struct full *y)
{
	struct full difference = copy_of(x);
	for (size_t e = 0; e < x->m * x->n; e++)
		difference.a[e] -= y->a[e];
	double norm = norm_of(&difference);
	free(difference.a);
	return norm;
}

/* --- Elements of four precisions ---------------------------------------------------------------------------------- */

static inline int is_single(enum heddle_dense_precision p)
{
	return p == HEDDLE_DENSE_SINGLE || p == HEDDLE_DENSE_COMPLEX_SINGLE;
}

static inline int is_complex(enum heddle_dense_precision p)
{
	return p == HEDDLE_DENSE_COMPLEX_DOUBLE || p == HEDDLE_DENSE_COMPLEX_SINGLE;
}

static inline size_t size_of(enum heddle_dense_precision p)
{
	return (is_single(p) ? sizeof(float) : sizeof(double)) * (is_complex(p) ? 2 : 1);
}

static inline double complex get(enum heddle_dense_precision p, const void *values, size_t e)
{
	switch (p) {
	case HEDDLE_DENSE_DOUBLE: return ((const double *)values)[e];
	case HEDDLE_DENSE_SINGLE: return ((const float *)values)[e];
	case HEDDLE_DENSE_COMPLEX_DOUBLE: return ((const double complex *)values)[e];
	default: return ((const float complex *)values)[e];
	}
}

static inline void put(enum heddle_dense_precision p, void *values, size_t e, double complex x)
{
	switch (p) {
	case HEDDLE_DENSE_DOUBLE: ((double *)values)[e] = creal(x); break;
	case HEDDLE_DENSE_SINGLE: ((float *)values)[e] = (float)creal(x); break;
	case HEDDLE_DENSE_COMPLEX_DOUBLE: ((double complex *)values)[e] = x; break;
	default: ((float complex *)values)[e] = (float complex)x;
	}
}

/* A normal number of the precision. */
static inline double complex some(struct hd_rng *rng, enum heddle_dense_precision p)
{
	double re = hd_rng_normal(rng), im = is_complex(p) ? hd_rng_normal(rng) : 0;
	return is_single(p) ? (float)re + (float)im * I : re + im * I;
}

/* An array of the library with a full matrix, times a power of two; a few rows more than it has. */
static inline struct heddle_dense_array array_of(struct hd_rng *rng, enum heddle_dense_precision p,
                                                 const struct full *f, double scale)
{
	struct heddle_dense_array a = {p, f->m, f->n, NULL, f->m + below(rng, 3)};
	a.ld += a.ld == 0;
	a.data = new_array(a.ld * f->n, size_of(p));
	for (size_t j = 0; j < f->n; j++)
		for (size_t i = 0; i < f->m; i++)
			put(p, a.data, i + j * a.ld, scale * *at(f, i, j));
	return a;
}

static inline struct full full_of(const struct heddle_dense_array *a, double scale)
{
	struct full f = new_full(a->rows, a->columns);
	for (size_t j = 0; j < f.n; j++)
		for (size_t i = 0; i < f.m; i++)
			*at(&f, i, j) = scale * get(a->precision, a->data, i + j * a->ld);
	return f;
}

/* --- Matrices ----------------------------------------------------------------------------------------------------- */

struct matrix {
	struct heddle_sparse_matrix sparse; /* owns; the elements times `scale`, a power of two */
	struct full full;
	double scale;
	int is_graded; /* columns have norms of many sizes */
};

static inline void free_matrix(struct matrix *a)
{
	heddle_sparse_matrix_free(&a->sparse);
	free(a->full.a);
}

/* Element i of line j: of a column, or of a row, whichever are fewer. */
static inline double complex *in_line(const struct full *f, size_t j, size_t i)
{
	return f->m < f->n ? at(f, j, i) : at(f, i, j);
}

/* Some lines become zero, or sums of one or two of those before them, so that the rank is less. */
static inline void make_dependent(struct hd_rng *rng, const struct full *f, uint32_t per_thousand)
{
	size_t lines = f->m < f->n ? f->m : f->n, length = f->m < f->n ? f->n : f->m;
	for (size_t j = 1; j < lines; j++) {
		if (below(rng, 1000) >= per_thousand)
			continue;
		size_t first = below(rng, (uint32_t)j), second = below(rng, (uint32_t)j);
		double of_first = below(rng, 4) ? 1 : 0, of_second = below(rng, 2) ? 2 * of_first : 0;
		for (size_t i = 0; i < length; i++)
			*in_line(f, j, i) = of_first * *in_line(f, first, i) + of_second * *in_line(f, second, i);
	}
}

/* Elements at random places, in blocks on the diagonal, on a band, or nearly everywhere. */
static inline void fill_full(struct hd_rng *rng, enum heddle_dense_precision p, const struct full *f)
{
	enum { SCATTERED, BLOCKS, BAND, DENSE, KINDS };
	uint32_t kind = below(rng, KINDS), per_column = 1 + below(rng, 6), blocks = 2 + below(rng, 4);
	uint32_t per_thousand = kind == DENSE ? 800 : per_column * 1000 / (uint32_t)(f->m + 1);
	size_t width = 1 + below(rng, 5), dense_row = below(rng, 64), dense_column = below(rng, 64);
	size_t empty_row = below(rng, 64), empty_column = below(rng, 4) ? SIZE_MAX : below(rng, 64);
	for (size_t j = 0; j < f->n; j++)
		for (size_t i = 0; i < f->m; i++) {
			size_t along = i * f->n / (f->m + 1), apart = along > j ? along - j : j - along;
			int is_near = kind == BAND     ? apart < width
			              : kind == BLOCKS ? i * blocks / f->m == j * blocks / f->n
			                               : 1;
			int is_there = i == j || (is_near && below(rng, 1000) < (kind == BAND ? 700 : per_thousand)) ||
			               (i == dense_row && below(rng, 2)) || (j == dense_column && below(rng, 2));
			if (is_there && i != empty_row && j != empty_column)
				*at(f, i, j) = some(rng, p) + (i == j);
		}
}

/* The sparse matrix: an element may be the sum of two, or a zero that is given; rows of a column in any order. */
static inline void scatter(struct hd_rng *rng, enum heddle_dense_precision p, struct matrix *a)
{
	const struct full *f = &a->full;
	struct heddle_sparse_matrix *s = &a->sparse;
	size_t most = 2 * f->m * f->n + 1, n = 0;
	*s = (struct heddle_sparse_matrix){p,
	                                   f->m,
	                                   f->n,
	                                   new_array(f->n + 1, sizeof(int64_t)),
	                                   new_array(most, sizeof(int64_t)),
	                                   new_array(most, size_of(p))};
	for (size_t j = 0; j < f->n; j++) {
		size_t first = n;
		for (size_t i = 0; i < f->m; i++) {
			double complex x = *at(f, i, j) * a->scale;
			uint32_t pieces = x == 0 ? below(rng, 200) == 0 : 1 + (below(rng, 10) == 0);
			for (uint32_t piece = 0; piece < pieces; piece++) {
				s->row[n] = (int64_t)i;
				put(p, s->values, n++, x / pieces);
			}
		}
		for (size_t e = first; below(rng, 3) == 0 && e + 1 < n; e++) {
			size_t other = e + below(rng, (uint32_t)(n - e));
			int64_t row = s->row[e];
			double complex x = get(p, s->values, e);
			s->row[e] = s->row[other];
			s->row[other] = row;
			put(p, s->values, e, get(p, s->values, other));
			put(p, s->values, other, x);
		}
		s->column_start[j + 1] = (int64_t)n;
	}
}

static inline struct matrix random_matrix(struct hd_rng *rng, enum heddle_dense_precision p)
{
	static const uint32_t sizes[] = {3, 12, 30, 30, 60, 100};
	static const int exponents[2][5] = {{0, 0, 0, -900, 900}, {0, 0, 0, -80, 80}};
	uint32_t size = sizes[below(rng, 6)];
	size_t m = below(rng, size), n = below(rng, 3) ? below(rng, (uint32_t)m + 1) : below(rng, size);
	struct matrix a = {.full = new_full(m, n), .is_graded = below(rng, 8) == 0};
	a.scale = ldexp(1, exponents[is_single(p)][below(rng, 5)]);
	fill_full(rng, p, &a.full);
	if (below(rng, 3) == 0)
		make_dependent(rng, &a.full, below(rng, 700));
	for (size_t j = 0; a.is_graded && j < n; j++) {
		double factor = ldexp(1, (int)below(rng, 40) - 20);
		for (size_t i = 0; i < m; i++)
			*at(&a.full, i, j) *= factor;
	}
	if (is_single(p)) /* sums of lines are rounded */
		for (size_t e = 0; e < m * n; e++)
			a.full.a[e] = (double complex)(float complex)a.full.a[e];
	scatter(rng, p, &a);
	return a;
}

/* --- LAPACK ------------------------------------------------------------------------------------------------------- */

/* |r_jj| of the QR factorisation of F, which has at least as many rows as columns: the caller frees them. */
static inline double *lapack_diagonal(const struct full *f)
{
	struct full r = copy_of(f), tau = new_full(f->n, 1);
	double *diagonal = new_array(f->n, sizeof *diagonal);
	LAPACKE_zgeqrf(LAPACK_COL_MAJOR, (lapack_int)f->m, (lapack_int)f->n, r.a, (lapack_int)f->m, tau.a);
	for (size_t j = 0; j < f->n; j++)
		diagonal[j] = cabs(*at(&r, j, j));
	free(r.a);
	free(tau.a);
	return diagonal;
}

/* The singular values of F, the largest first: the caller frees them. */
static inline double *singular_values(const struct full *f)
{
	struct full a = copy_of(f);
	double *values = new_array(f->m < f->n ? f->m : f->n, sizeof *values);
	if (f->m > 0 && f->n > 0)
		LAPACKE_zgesdd(LAPACK_COL_MAJOR, 'N', (lapack_int)f->m, (lapack_int)f->n, a.a, (lapack_int)f->m, values,
		               NULL, 1, NULL, 1);
	free(a.a);
	return values;
}

/* X of LAPACK's least squares, or of least norm, for a matrix of full rank. */
static inline struct full lapack_solution(const struct full *a, const struct full *b)
{
	size_t rows = a->m > a->n ? a->m : a->n;
	struct full copy = copy_of(a), both = new_full(rows, b->n), x = new_full(a->n, b->n);
	for (size_t j = 0; j < b->n; j++)
		memcpy(at(&both, 0, j), at(b, 0, j), b->m * sizeof *b->a);
	if (a->m > 0 && a->n > 0 && b->n > 0)
		LAPACKE_zgels(LAPACK_COL_MAJOR, 'N', (lapack_int)a->m, (lapack_int)a->n, (lapack_int)b->n, copy.a,
		              (lapack_int)a->m, both.a, (lapack_int)rows);
	for (size_t j = 0; j < b->n; j++)
		memcpy(at(&x, 0, j), at(&both, 0, j), a->n * sizeof *x.a);
	free(copy.a);
	free(both.a);
	return x;
}

#endif
