/* A cluster of all cores against single cores: Cholesky of small matrices, where there are too few tasks for all cores.
 * clusters WORKERS [ROUTINE]
 *
 * For each order of the matrix the best order of tiles is looked for, for WORKERS single cores and for one cluster of
 * them, in turn. Rows: the rates, and the cluster's divided by the other; and the same with the tile that is best for
 * single cores at the largest matrix: for programs with one fixed tile. */
#include "dense_run.h"

enum { ROUNDS = 3, RUNS = 5, N_TILES = 6, N_ORDERS = 6 };
static const size_t orders[N_ORDERS] = {128, 256, 384, 512, 1024, 2048}, tiles[N_TILES] = {32, 64, 128, 192, 256, 512};

/* Seconds with each tile, of the order `n`: the least of some runs. 0: the tile is larger than the matrix. */
static void measure(const char *routine, size_t n, int workers, int cluster, double seconds[N_TILES])
{
	char text[24];
	struct heddle_config config;
	heddle_runtime *rt;
	heddle_dense *dense;
	good(heddle_config_init(&config));
	snprintf(text, sizeof text, "%d", workers);
	config.n_cpu = workers;
	config.clusters = cluster ? text : "none";
	config.caller_works = 1;
	config.model_dir = "none";
	good(heddle_start(&config, &rt));
	good(heddle_dense_open(rt, &dense));
	for (size_t t = 0; t < N_TILES; t++) {
		struct heddle_dense_problem problem = {.routine = routine, .n = n, .options = {.tile = tiles[t]}};
		heddle_dense_experiment *e;
		seconds[t] = 0;
		if (tiles[t] > n)
			continue;
		good(heddle_dense_experiment_open(dense, &problem, &e));
		run_once(rt, e); /* wakes the threads, and measures the kernels */
		for (int r = 0; r < RUNS; r++) {
			double s = run_once(rt, e);
			seconds[t] = seconds[t] > 0 && seconds[t] < s ? seconds[t] : s;
		}
		good(heddle_dense_experiment_close(e));
	}
	heddle_dense_close(dense);
	good(heddle_stop(rt));
}

static double best_of(const double seconds[N_TILES], size_t *tile)
{
	size_t best = 0;
	for (size_t t = 1; t < N_TILES; t++)
		if (seconds[t] > 0 && seconds[t] < seconds[best])
			best = t;
	*tile = best;
	return seconds[best];
}

/* The medians over the rounds, of single cores and of the cluster. */
static void compare(const char *routine, size_t n, int workers, double seconds[2][N_TILES])
{
	static double all[2][N_TILES][ROUNDS];
	for (int r = 0; r < ROUNDS; r++) {
		for (int cluster = 0; cluster < 2; cluster++) {
			double now[N_TILES];
			measure(routine, n, workers, cluster, now);
			for (size_t t = 0; t < N_TILES; t++)
				all[cluster][t][r] = now[t];
		}
	}
	for (int cluster = 0; cluster < 2; cluster++)
		for (size_t t = 0; t < N_TILES; t++)
			seconds[cluster][t] = bench_median(all[cluster][t], ROUNDS);
}

int main(int argc, char **argv)
{
	int workers = (int)bench_number(argc, argv, 1, 2);
	const char *routine = argc > 2 ? argv[2] : "potrf";
	static double seconds[N_ORDERS][2][N_TILES];
	char name[80];
	size_t usual, tile;
	for (size_t i = 0; i < N_ORDERS; i++)
		compare(routine, orders[i], workers, seconds[i]);
	best_of(seconds[N_ORDERS - 1][0], &usual);
	for (size_t i = 0; i < N_ORDERS; i++) {
		const struct heddle_dense_problem problem = {.routine = routine, .n = orders[i]};
		double best[2], operations = heddle_dense_flops(&problem) * 1e-9;
		for (int cluster = 0; cluster < 2; cluster++) {
			best[cluster] = best_of(seconds[i][cluster], &tile);
			snprintf(name, sizeof name, "%s_%zu_%s_tile_%zu", routine, orders[i],
			         cluster ? "cluster" : "singles", tiles[tile]);
			bench_row(name, workers, "GFlop/s", operations / best[cluster]);
		}
		snprintf(name, sizeof name, "%s_%zu_cluster_over_singles", routine, orders[i]);
		bench_row(name, workers, "ratio", best[0] / best[1]);
		if (orders[i] < tiles[usual])
			continue;
		snprintf(name, sizeof name, "%s_%zu_cluster_over_singles_tile_%zu", routine, orders[i], tiles[usual]);
		bench_row(name, workers, "ratio", seconds[i][0][usual] / seconds[i][1][usual]);
	}
	return 0;
}
