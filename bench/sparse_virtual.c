/* Sparse QR in virtual time: seconds that a simulation takes, of which the analysis of the matrix is no part.
 *
 * sparse_virtual MATRIX TILE PLATFORM; HEDDLE_SCHED chooses the policy, HEDDLE_WINDOW how much of the graph exists.
 * Rows are the tasks, seconds, processor seconds, tasks per processor second and the most memory in MiB. */
#include <string.h>
#include <sys/resource.h>
#include <heddle/sparse.h>
#include "good.h"

static struct rusage usage(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return u;
}

static double processor_seconds(void)
{
	struct rusage u = usage();
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void simulate(const char *name, heddle_sparse_analysis *analysis, size_t tile, struct heddle_config *config)
{
	const struct heddle_sparse_options options = {.tile = tile, .priority = HEDDLE_SPARSE_PRIORITY_NONE};
	struct heddle_stats stats;
	heddle_runtime *rt;
	heddle_sparse *sparse;
	heddle_sparse_qr *qr;
	good(heddle_start(config, &rt));
	good(heddle_sparse_open(rt, &sparse));
	double begin = bench_seconds(), begin_processor = processor_seconds();
	good(heddle_sparse_qr_create(sparse, analysis, HEDDLE_DENSE_DOUBLE, &options, &qr));
	good(heddle_sparse_factorise(qr, NULL));
	double seconds = bench_seconds() - begin, processor = processor_seconds() - begin_processor;
	good(heddle_runtime_stats(rt, &stats));
	int workers = (int)heddle_runtime_platform(rt)->n_workers;
	bench_row(name, workers, "tasks", (double)stats.tasks_executed);
	bench_row(name, workers, "s", seconds);
	bench_row(name, workers, "processor s", processor);
	bench_row(name, workers, "tasks/processor s", (double)stats.tasks_executed / processor);
	bench_row(name, workers, "simulated s", stats.makespan * 1e-6);
	good(heddle_sparse_qr_destroy(qr));
	heddle_sparse_close(sparse);
	good(heddle_stop(rt));
}

int main(int argc, char **argv)
{
	bench_need(argc == 4, "arguments: MATRIX TILE PLATFORM");
	const struct heddle_sparse_analysis_options how = {.ordering = HEDDLE_SPARSE_METIS};
	struct heddle_sparse_matrix a;
	heddle_sparse_analysis *analysis;
	struct heddle_config config;
	char name[96];
	good(heddle_config_init(&config));
	config.platform = argv[3];
	good(heddle_sparse_generate(argv[1], &a));
	good(heddle_sparse_analyse(&a, &how, &analysis));
	heddle_sparse_matrix_free(&a);
	snprintf(name, sizeof name, "%s_%s_%s", argv[1], argv[3], config.sched);
	simulate(name, analysis, bench_number(argc, argv, 2, 256), &config);
	bench_row(name, 1, "MiB", (double)usage().ru_maxrss / 1024);
	heddle_sparse_analysis_free(analysis);
	return 0;
}
