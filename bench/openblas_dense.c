/* The rate of OpenBLAS's own routines, which have threads. openblas_dense PRECISION ROUTINE WORKERS N, as heddle_dense:
 * PRECISION is d or s; ROUTINE is gemm, potrf, posv, poinv (potrf, then potri), getrf, gesv or geqrf. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include "bench.h"

enum { RIGHT = 64, MOST_RUNS = 99, LINE = 64 };
static const double seconds_wanted = 0.5;

/* What a routine works on: A, and for gemm B and C, else right-hand sides in B. */
struct data {
	size_t n, ld, size;
	void *a, *b, *c, *work, *kept; /* kept: A before the first run */
	int *pivots;
	lapack_int n_work;
};

#define RUN(T, BLAS, LAPACK)                                                                                \
	const int n = (int)d->n, ld = (int)d->ld;                                                           \
	T *a = d->a, *b = d->b, *c = d->c, *work = d->work;                                                 \
	if (strcmp(routine, "gemm") == 0) {                                                                 \
		BLAS##gemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, -1, a, ld, b, ld, 1, c, ld); \
		return 0;                                                                                   \
	}                                                                                                   \
	if (strcmp(routine, "potrf") == 0)                                                                  \
		return LAPACK##potrf_work(LAPACK_COL_MAJOR, 'L', n, a, ld);                                 \
	if (strcmp(routine, "posv") == 0)                                                                   \
		return LAPACK##posv_work(LAPACK_COL_MAJOR, 'L', n, RIGHT, a, ld, b, ld);                    \
	if (strcmp(routine, "poinv") == 0) {                                                                \
		int info = LAPACK##potrf_work(LAPACK_COL_MAJOR, 'L', n, a, ld);                             \
		return info ? info : LAPACK##potri_work(LAPACK_COL_MAJOR, 'L', n, a, ld);                   \
	}                                                                                                   \
	if (strcmp(routine, "getrf") == 0)                                                                  \
		return LAPACK##getrf_work(LAPACK_COL_MAJOR, n, n, a, ld, d->pivots);                        \
	if (strcmp(routine, "gesv") == 0)                                                                   \
		return LAPACK##gesv_work(LAPACK_COL_MAJOR, n, RIGHT, a, ld, d->pivots, b, ld);              \
	if (strcmp(routine, "geqrf") == 0)                                                                  \
		return LAPACK##geqrf_work(LAPACK_COL_MAJOR, n, n, a, ld, work, work + n, d->n_work);        \
	return -1

static int run_double(const struct data *d, const char *routine)
{
	RUN(double, cblas_d, LAPACKE_d);
}

static int run_single(const struct data *d, const char *routine)
{
	RUN(float, cblas_s, LAPACKE_s);
}

/* Random in [-1/2, 1/2), and so large a diagonal that the matrix is positive definite. */
static void fill(const struct data *d, void *a, int is_single, int dominant)
{
	uint64_t x = 88172645463325252u;
	for (size_t j = 0; j < d->n; j++) {
		for (size_t i = 0; i < d->n; i++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			double value = (double)(x >> 11) * 0x1p-53 - 0.5 + (dominant && i == j ? (double)d->n : 0);
			if (is_single)
				((float *)a)[i + j * d->ld] = (float)value;
			else
				((double *)a)[i + j * d->ld] = value;
		}
	}
}

/* LAPACK Working Note 41, appendix C, as heddle_dense_flops. */
static double operations(const char *routine, double n)
{
	double cube = n * n * n, right = RIGHT;
	if (strcmp(routine, "gemm") == 0)
		return 2 * cube;
	if (strcmp(routine, "potrf") == 0)
		return cube / 3 + n * n / 2 + n / 6;
	if (strcmp(routine, "posv") == 0)
		return cube / 3 + n * n / 2 + n / 6 + 2 * n * n * right;
	if (strcmp(routine, "poinv") == 0)
		return cube + n * n / 2 + n / 2;
	if (strcmp(routine, "getrf") == 0)
		return 2 * cube / 3 - n * n / 2 + 5 * n / 6;
	if (strcmp(routine, "gesv") == 0)
		return 2 * cube / 3 - n * n / 2 + 5 * n / 6 + n * (2 * n - 1) * right;
	return 4 * cube / 3 + 2 * n * n + 14 * n / 3; /* geqrf */
}

static void *allocate(size_t bytes)
{
	void *p = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
	bench_need(p != NULL, "no memory for the matrices");
	return p;
}

int main(int argc, char **argv)
{
	bench_need(argc >= 5, "arguments: d|s ROUTINE WORKERS N");
	int is_single = argv[1][0] == 's', workers = (int)bench_number(argc, argv, 3, 2);
	const char *routine = argv[2];
	struct data d = {.n = bench_number(argc, argv, 4, 1), .size = is_single ? sizeof(float) : sizeof(double)};
	size_t line = LINE / d.size;
	d.ld = ((d.n + line - 1) / line | 1) * line;
	size_t bytes = d.ld * d.n * d.size;
	d.n_work = (lapack_int)(64 * d.n);
	d.a = allocate(bytes), d.b = allocate(bytes + d.ld * RIGHT * d.size), d.c = allocate(bytes);
	d.kept = allocate(bytes), d.work = allocate(((size_t)d.n_work + d.n) * d.size);
	d.pivots = allocate(d.n * sizeof(int));
	openblas_set_num_threads(workers);
	fill(&d, d.kept, is_single, routine[0] == 'p');
	fill(&d, d.b, is_single, 0);
	fill(&d, d.c, is_single, 0);
	double seconds[MOST_RUNS], sum = 0;
	size_t n = 0;
	for (int warm = 0; n == 0 || (sum < seconds_wanted && n < MOST_RUNS); warm = 1) {
		memcpy(d.a, d.kept, bytes);
		double start = bench_seconds();
		int info = is_single ? run_single(&d, routine) : run_double(&d, routine);
		double took = bench_seconds() - start;
		bench_need(info == 0, "the routine failed, or is not known");
		if (warm)
			sum += seconds[n++] = took;
	}
	char name[64];
	snprintf(name, sizeof name, "%c%s_%zu", argv[1][0], routine, d.n);
	bench_row(name, workers, "GFlop/s", operations(routine, (double)d.n) / bench_median(seconds, n) * 1e-9);
	free(d.a), free(d.b), free(d.c), free(d.kept), free(d.work), free(d.pivots);
	return 0;
}
