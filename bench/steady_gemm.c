/* A machine that repeats itself, made out of one that does not: cblas_dgemm in the place of OpenBLAS's, by LD_PRELOAD.
 * Each product is computed by OpenBLAS, and then the thread waits, on its core, until as much time has passed as the
 * product takes at HEDDLE_STEADY_GFLOPS (default 15) Gflop/s. If that is well below what a core does when it is
 * slowest, the phases of the machine are hidden: calibration.py --steady sees only the errors of the calibration and of
 * virtual time. */
#include <cblas.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef void gemm_fn(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, blasint, blasint, blasint, double, const double *,
                     blasint, const double *, blasint, double, double *, blasint);

static gemm_fn *openblas; /* this and the next are set before main: no thread sees them change */
static double ns_per_flop;

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

__attribute__((constructor)) static void find(void)
{
	const char *rate = getenv("HEDDLE_STEADY_GFLOPS");
	double gflops = rate ? atof(rate) : 0;
	ns_per_flop = 1 / (gflops > 0 ? gflops : 15);
	*(void **)&openblas = dlsym(RTLD_NEXT, "cblas_dgemm");
}

void cblas_dgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, blasint m, blasint n, blasint k,
                 double alpha, const double *a, blasint lda, const double *b, blasint ldb, double beta, double *c,
                 blasint ldc)
{
	double end = now_ns() + 2 * (double)m * (double)n * (double)k * ns_per_flop;
	openblas(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
	while (now_ns() < end)
		;
}
