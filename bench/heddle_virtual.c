/* How fast virtual time runs: tasks simulated per second, in a single precision Cholesky factorisation with the order
 * of tiles that the platform has kernel times for. heddle_virtual PLATFORM TILES; HEDDLE_SCHED chooses the policy. */
#include <heddle/dense.h>
#include "good.h"

enum { MAX_REPEATS = 99, TILE = 960 };
static const double seconds_wanted = 0.5;

int main(int argc, char **argv)
{
	bench_need(argc == 3, "arguments: PLATFORM TILES");
	size_t tiles = bench_number(argc, argv, 2, 40), n = 0;
	struct heddle_dense_problem problem = {
	    .precision = HEDDLE_DENSE_SINGLE, .n = tiles * TILE, .options = {.tile = TILE}};
	struct heddle_dense_report report;
	struct heddle_config config;
	struct heddle_stats stats;
	double rates[MAX_REPEATS], begin = bench_seconds(), tasks = (double)(tiles * (tiles + 1) * (tiles + 2) / 6);
	int workers = 0;
	good(heddle_config_init(&config));
	config.platform = argv[1];
	do {
		heddle_runtime *rt;
		heddle_dense *dense;
		good(heddle_start(&config, &rt));
		good(heddle_dense_open(rt, &dense));
		double start = bench_seconds();
		good(heddle_dense_graph(dense, &problem, &report));
		rates[n++] = tasks / (bench_seconds() - start);
		workers = (int)heddle_runtime_platform(rt)->n_workers;
		good(heddle_runtime_stats(rt, &stats));
		heddle_dense_close(dense);
		good(heddle_stop(rt));
	} while (n < MAX_REPEATS && bench_seconds() - begin < seconds_wanted);

	char name[96];
	snprintf(name, sizeof name, "%s_%s_%zu", argv[1], config.sched, tiles);
	bench_row(name, workers, "tasks/s", bench_median(rates, n));
	/* the program submits before time passes, so as many tasks exist at once as the window allows */
	double live = config.window > 0 && config.window < tasks ? config.window : tasks;
	bench_row(name, workers, "bytes/task", (double)stats.task_bytes / live);
	bench_row(name, workers, "simulated GFlop/s", report.gflops);
	return 0;
}
