/* The rate of a routine of libheddle-dense. HEDDLE_SCHED chooses the policy.
 * heddle_dense PRECISION ROUTINE WORKERS N TILE LAYOUT [check], where PRECISION is d, s, z or c, and LAYOUT in_place or
 * tiled. The layout tiled does not count the copies to tiles. */
#include "dense_run.h"

enum { RIGHT = 64, MOST_RUNS = 99 };
static const double seconds_wanted = 0.5;

int main(int argc, char **argv)
{
	static const char letters[] = "dszc";
	bench_need(argc >= 7 && argv[1][0] && strchr(letters, argv[1][0]),
	           "arguments: d|s|z|c ROUTINE WORKERS N TILE in_place|tiled [check]");
	struct heddle_dense_problem problem = {
	    .routine = argv[2],
	    .precision = (enum heddle_dense_precision)(strchr(letters, argv[1][0]) - letters),
	    .n = bench_number(argc, argv, 4, 1),
	    .n_right = RIGHT,
	    .options = {.tile = bench_number(argc, argv, 5, 1),
	                .layout = strcmp(argv[6], "tiled") == 0 ? HEDDLE_DENSE_TILED : HEDDLE_DENSE_IN_PLACE},
	};
	struct heddle_config config;
	heddle_runtime *rt;
	heddle_dense *dense;
	heddle_dense_experiment *e;
	good(heddle_config_init(&config));
	config.n_cpu = (int)bench_number(argc, argv, 3, 2);
	config.caller_works = 1;
	config.model_dir = "none";
	good(heddle_start(&config, &rt));
	good(heddle_dense_open(rt, &dense));
	good(heddle_dense_experiment_open(dense, &problem, &e));
	double seconds[MOST_RUNS], sum = 0, residual = 0;
	size_t n = 0;
	run_once(rt, e); /* wakes the threads, and measures the kernels */
	while (n == 0 || (sum < seconds_wanted && n < MOST_RUNS))
		sum += seconds[n++] = run_once(rt, e);
	if (argc > 7)
		good(heddle_dense_experiment_residual(e, &residual));
	bench_need(residual < 30, "the result is wrong");
	char name[64];
	snprintf(name, sizeof name, "%c%s_%zu", argv[1][0], argv[2], problem.n);
	bench_row(name, config.n_cpu, "GFlop/s", heddle_dense_flops(&problem) / bench_median(seconds, n) * 1e-9);
	good(heddle_dense_experiment_close(e));
	heddle_dense_close(dense);
	good(heddle_stop(rt));
	return 0;
}
