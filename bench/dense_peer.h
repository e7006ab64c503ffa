/* What the programs share that measure a routine of another dense library: the matrices, their contents, the time of
 * runs on fresh data, the rate. A program gives peer_main() what is its library's. */
#ifndef BENCH_DENSE_PEER_H
#define BENCH_DENSE_PEER_H

#include "bench.h"

enum { RIGHT = 64, MOST_RUNS = 99, LINE = 64 };
static const double seconds_wanted = 0.5;

/* What a routine works on: A, and for gemm B and C, else right-hand sides in B. */
struct data {
	int is_single, workers;
	size_t n, ld, size, tile;      /* tile: argument 5, or 0 */
	void *a, *b, *c, *work, *kept; /* kept: A before the first run */
	int *pivots;
	int n_work;
};

/* What a library does. */
struct peer {
	void (*begin)(struct data *d, const char *routine); /* before each run, not measured; or NULL */
	int (*run)(struct data *d, const char *routine);    /* 0; else the routine failed, or is not known */
	void (*end)(struct data *d, const char *routine);   /* after each run, not measured; or NULL */
};

/* Random in [-1/2, 1/2), and so large a diagonal that the matrix is positive definite. */
static void fill(const struct data *d, void *a, int dominant)
{
	uint64_t x = 88172645463325252u;
	for (size_t j = 0; j < d->n; j++) {
		for (size_t i = 0; i < d->n; i++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			double value = (double)(x >> 11) * 0x1p-53 - 0.5 + (dominant && i == j ? (double)d->n : 0);
			if (d->is_single)
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
	if (strncmp(routine, "getrf", 5) == 0) /* getrf_nopiv, too */
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

/* Seconds of one run on fresh data. */
static double peer_run(const struct peer *peer, struct data *d, const char *routine)
{
	memcpy(d->a, d->kept, d->ld * d->n * d->size);
	if (peer->begin)
		peer->begin(d, routine);
	double start = bench_seconds();
	int info = peer->run(d, routine);
	double took = bench_seconds() - start;
	bench_need(info == 0, "the routine failed, or is not known");
	if (peer->end)
		peer->end(d, routine);
	return took;
}

/* The whole program: PRECISION ROUTINE WORKERS N [TILE]. */
static int peer_main(int argc, char **argv, const struct peer *peer)
{
	bench_need(argc >= 5, "arguments: d|s ROUTINE WORKERS N [TILE]");
	const char *routine = argv[2];
	struct data d = {.is_single = argv[1][0] == 's', .workers = (int)bench_number(argc, argv, 3, 2)};
	d.n = bench_number(argc, argv, 4, 1);
	d.tile = argc > 5 ? bench_number(argc, argv, 5, 1) : 0;
	d.size = d.is_single ? sizeof(float) : sizeof(double);
	size_t line = LINE / d.size;
	d.ld = ((d.n + line - 1) / line | 1) * line;
	size_t bytes = d.ld * d.n * d.size;
	d.n_work = (int)(64 * d.n);
	d.a = allocate(bytes), d.b = allocate(bytes + d.ld * RIGHT * d.size), d.c = allocate(bytes);
	d.kept = allocate(bytes), d.work = allocate(((size_t)d.n_work + d.n) * d.size);
	d.pivots = allocate(d.n * sizeof(int));
	fill(&d, d.kept, routine[0] == 'p' || strcmp(routine, "getrf_nopiv") == 0);
	fill(&d, d.b, 0);
	fill(&d, d.c, 0);
	double seconds[MOST_RUNS], sum = 0;
	size_t n = 0;
	peer_run(peer, &d, routine); /* wakes the threads */
	while (n == 0 || (sum < seconds_wanted && n < MOST_RUNS))
		sum += seconds[n++] = peer_run(peer, &d, routine);
	char name[64];
	snprintf(name, sizeof name, "%c%s_%zu", argv[1][0], routine, d.n);
	bench_row(name, d.workers, "GFlop/s", operations(routine, (double)d.n) / bench_median(seconds, n) * 1e-9);
	free(d.a), free(d.b), free(d.c), free(d.kept), free(d.work), free(d.pivots);
	return 0;
}

#endif
