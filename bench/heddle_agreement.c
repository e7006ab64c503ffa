/* How well virtual time predicts real time: the tiled Cholesky factorisation in double precision, run on this machine,
 * and simulated with the kernel times that were measured just before.
 * heddle_agreement real N TILE FILE calibrates, writes the platform to FILE, and prints the median time of five more
 * factorisations. heddle_agreement simulated N TILE FILE prints the virtual time on that platform. HEDDLE_SCHED chooses
 * the policy. */
#include <heddle/dense.h>
#include "good.h"

enum { CALIBRATIONS = 3, REPEATS = 5 };

static double factor(heddle_dense *dense, const struct heddle_dense_problem *problem, int virtual_time)
{
	struct heddle_dense_report report;
	good(virtual_time ? heddle_dense_graph(dense, problem, &report) : heddle_dense_run(dense, problem, &report));
	return report.seconds * 1e3;
}

static double real_ms(heddle_runtime *rt, heddle_dense *dense, const struct heddle_dense_problem *problem,
                      const char *path)
{
	struct heddle_platform *platform;
	double ms[REPEATS];
	for (int i = 0; i < CALIBRATIONS; i++)
		factor(dense, problem, 0);
	good(heddle_platform_measured(rt, "bench", &platform));
	good(heddle_platform_save(platform, path));
	heddle_platform_free(platform);
	for (int i = 0; i < REPEATS; i++)
		ms[i] = factor(dense, problem, 0);
	return bench_median(ms, REPEATS);
}

int main(int argc, char **argv)
{
	bench_need(argc == 5, "arguments: real|simulated N TILE FILE");
	int simulated = strcmp(argv[1], "simulated") == 0;
	struct heddle_dense_problem problem = {
	    .n = bench_number(argc, argv, 2, 1),
	    .options = {.tile = bench_number(argc, argv, 3, 1), .layout = HEDDLE_DENSE_TILED}};
	struct heddle_config config;
	heddle_runtime *rt;
	heddle_dense *dense;
	good(heddle_config_init(&config));
	config.caller_works = 1;
	config.model_dir = "none";
	if (simulated)
		config.platform = argv[4];
	good(heddle_start(&config, &rt));
	good(heddle_dense_open(rt, &dense));
	double ms = simulated ? factor(dense, &problem, 1) : real_ms(rt, dense, &problem, argv[4]);
	char name[96];
	snprintf(name, sizeof name, "dpotrf_%zu_%zu_%s", problem.n, problem.options.tile, config.sched);
	bench_row(name, (int)heddle_runtime_platform(rt)->n_workers, "ms", ms);
	heddle_dense_close(dense);
	good(heddle_stop(rt));
	return 0;
}
