/* The rate of OpenBLAS's own routines, which have threads. openblas_dense PRECISION ROUTINE WORKERS N, as heddle_dense:
 * PRECISION is d or s; ROUTINE is gemm, potrf, posv, poinv (potrf, then potri), getrf, gesv or geqrf. */
#include <cblas.h>
#include <lapacke.h>
#include "dense_peer.h"

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

static int run_double(struct data *d, const char *routine)
{
	RUN(double, cblas_d, LAPACKE_d);
}

static int run_single(struct data *d, const char *routine)
{
	RUN(float, cblas_s, LAPACKE_s);
}

static int run(struct data *d, const char *routine)
{
	openblas_set_num_threads(d->workers);
	return d->is_single ? run_single(d, routine) : run_double(d, routine);
}

int main(int argc, char **argv)
{
	return peer_main(argc, argv, &(struct peer){.run = run});
}
