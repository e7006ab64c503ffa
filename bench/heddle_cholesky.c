/* The time of the tiled Cholesky factorisation of apps/dense. HEDDLE_SCHED chooses the policy.
 * heddle_dcholesky WORKERS N TILE LAYOUT [check], where LAYOUT is in_place or tiled */
#include <heddle/dense.h>
#include "bench.h"
#include "real.h"

static void good(int status)
{
	if (status < 0)
		bench_need(0, heddle_last_error());
}

int main(int argc, char **argv)
{
	bench_need(argc >= 5, "arguments: WORKERS N TILE in_place|tiled [check]");
	int workers = (int)bench_number(argc, argv, 1, 2);
	struct heddle_dense_problem problem = {
	    .precision = sizeof(real) == sizeof(double) ? HEDDLE_DENSE_DOUBLE : HEDDLE_DENSE_SINGLE,
	    .n = bench_number(argc, argv, 2, 1),
	    .options = {.tile = bench_number(argc, argv, 3, 1),
	                .layout = strcmp(argv[4], "tiled") == 0 ? HEDDLE_DENSE_TILED : HEDDLE_DENSE_IN_PLACE},
	};
	struct heddle_config config;
	struct heddle_dense_report report;
	heddle_runtime *rt;
	heddle_dense *dense;
	good(heddle_config_init(&config));
	config.n_cpu = workers;
	config.caller_works = 1;
	config.model_dir = "none";
	good(heddle_start(&config, &rt));
	good(heddle_dense_open(rt, &dense));
	good(heddle_dense_run(dense, &problem, &report)); /* wakes the threads, and measures the kernels */
	problem.check = argc > 5;
	good(heddle_dense_run(dense, &problem, &report));
	bench_need(!problem.check || report.residual < 10, "the factor is wrong");
	char name[64];
	snprintf(name, sizeof name, LETTER "potrf_%zu", problem.n);
	bench_row(name, workers, "GFlop/s", report.gflops);
	heddle_dense_close(dense);
	good(heddle_stop(rt));
	return 0;
}
