/* The time of OpenBLAS's own potrf, which has threads. openblas_dcholesky WORKERS N */
#include "grid.h"

static double factor(struct grid *g)
{
	grid_fill(g);
	double start = bench_seconds();
	bench_need(POTRF(LAPACK_COL_MAJOR, 'L', (int)g->n, g->memory, (int)g->ld) == 0, "not positive definite");
	return bench_seconds() - start;
}

int main(int argc, char **argv)
{
	int workers = (int)bench_number(argc, argv, 1, 2);
	size_t n = bench_number(argc, argv, 2, 4096);
	struct grid g;
	openblas_set_num_threads(workers);
	grid_make(&g, n, n, 0);
	factor(&g);
	double seconds = factor(&g);
	grid_check(&g);
	char name[64];
	snprintf(name, sizeof name, LETTER "potrf_%zu", n);
	bench_row(name, workers, "GFlop/s", potrf_flops(n) / seconds * 1e-9);
	free(g.memory);
	return 0;
}
