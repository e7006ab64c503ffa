/* The sequential kernels of apps/dense beside OpenBLAS's and LAPACK's own routines and beside gemm, on one thread:
 * GFlop/s, and ratios. dense_kernels [LETTER [TILE [IB]]]: all four precisions and tiles of 128 to 320 unless given.
 *
 * All contestants take turns in each round, on data that are in the caches, and the best of all rounds counts, because
 * other work on the machine can only make a kernel slower. Operation counts are those of LAPACK Working Note 41, and
 * for the kernels of QR those of the algorithm without inner blocking: what the blocking adds counts as time. A complex
 * operation counts as four. */
#include "bench.h"
#include <dense/kernels/blas3.h>
#include <dense/kernels/cholesky.h>
#include <dense/kernels/lu.h>
#include <dense/kernels/qr.h>

enum { ROUNDS = 25, TALL = 8 /* tiles that a panel of LU has */ };

static uint64_t state = 1;

/* Seconds that this thread has been computing: time in which others had the processor does not count. */
static double seconds_computed(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double random_number(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 11) * 0x1p-53 - 0.5;
}

#define HD_TEMPLATE <bench/dense_kernels_bench.h>
#include <dense/kernels/precisions.h>

int main(int argc, char **argv)
{
	static const int tiles[] = {128, 192, 256, 320};
	const char *letters = argc > 1 ? argv[1] : "dszc";
	int ib = (int)bench_number(argc, argv, 3, 32);
	openblas_set_num_threads(1);
	for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++) {
		int n = (int)bench_number(argc, argv, 2, (size_t)tiles[t]);
		if (strchr(letters, 'd'))
			hd_d_measure(n, ib);
		if (strchr(letters, 's'))
			hd_s_measure(n, ib);
		if (strchr(letters, 'z'))
			hd_z_measure(n, ib);
		if (strchr(letters, 'c'))
			hd_c_measure(n, ib);
		if (argc > 2)
			break;
	}
	return 0;
}
