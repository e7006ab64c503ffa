/* The rate of C -= A B^T on square tiles, the operation that most of a tiled factorisation consists of, on one thread
 * of OpenBLAS. The tiles come from a pool larger than the caches of one core. openblas_dgemm TILE */
#include "grid.h"

enum { POOL = 32, REPEATS = 7 };
static const double flops_wanted = 2e10;

static double seconds_for(real *pool, size_t b, size_t calls)
{
	double start = bench_seconds();
	for (size_t i = 0; i < calls; i++) {
		real *c = pool + i % POOL * b * b, *a = pool + (i + 11) % POOL * b * b,
		     *d = pool + (i + 23) % POOL * b * b;
		BLAS(gemm)
		(CblasColMajor, CblasNoTrans, CblasTrans, (int)b, (int)b, (int)b, -1, a, (int)b, d, (int)b, 1, c,
		 (int)b);
	}
	return bench_seconds() - start;
}

int main(int argc, char **argv)
{
	size_t b = bench_number(argc, argv, 1, 256);
	double flops = 2 * (double)(b * b * b), rates[REPEATS];
	size_t calls = (size_t)(flops_wanted / flops) + 1;
	real *pool = aligned_alloc(LINE, (POOL * b * b * sizeof *pool + LINE - 1) / LINE * LINE);
	bench_need(pool != NULL, "no memory for the tiles");
	openblas_set_num_threads(1);
	/* small values, so that products do not grow without bound */
	for (size_t i = 0; i < POOL * b * b; i++)
		pool[i] = (real)(grid_random(i + 1) * 1e-6);
	seconds_for(pool, b, POOL);
	for (size_t i = 0; i < REPEATS; i++)
		rates[i] = flops * (double)calls / seconds_for(pool, b, calls);
	char name[64];
	snprintf(name, sizeof name, LETTER "gemm_%zu", b);
	bench_row(name, 1, "GFlop/s", bench_median(rates, REPEATS) * 1e-9);
	free(pool);
	return 0;
}
