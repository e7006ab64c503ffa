/* The fast multipole method beside the rates of what it is made of, measured in the same run: pairs of particles summed
 * directly, and products of matrices of its sizes. No peer is in Debian.
 *
 * fmm PARTICLES DIGITS WORKERS [LEAVES]
 *
 * Prints particles per second and core, the rates, the share of what these rates allow (pairs and translations at those
 * rates would take that share of the processor time), and the share of the time in the core of the runtime. Times
 * are of one evaluation of a plan that is there, with gradient; the plan's own time is a row of its own. The particles
 * are uniform in a cube; the last row has the time of as many in Plummer's model by that of the cube. */
#include "bench.h"
#include "good.h"
#include <cblas.h>
#include <fmm/experiments/points.h>
#include <fmm/tasks/tasks.h>
#include <math.h>

enum { RUNS = 5 };

/* Processor seconds of all threads: other programs of a busy machine do not count. */
static double processor_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Pairs per second of one core, of leaves of 64 particles with 27 neighbours. */
static double pairs_rate(void)
{
	enum { N = 64, ROUNDS = 400 };
	static double x[4][N], sum[4][N];
	struct hd_fmm_d_sources sources[HD_FMM_NEAR];
	const struct hd_fmm_d_targets targets = {N, {x[0], x[1], x[2]}, {sum[0], sum[1], sum[2], sum[3]}};
	hd_fmm_d_pairs pairs = hd_fmm_d_pairs_for(hd_fmm_best_vectors());
	for (int i = 0; i < 4 * N; i++)
		x[i / N][i % N] = fmod(0.6180339887 * i, 1) - 0.5;
	for (int k = 0; k < HD_FMM_NEAR; k++)
		sources[k] =
		    (struct hd_fmm_d_sources){N, {x[0], x[1], x[2]}, x[3], {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1}};
	pairs(&targets, sources, HD_FMM_NEAR);
	double begin = processor_seconds();
	for (int round = 0; round < ROUNDS; round++)
		pairs(&targets, sources, HD_FMM_NEAR);
	return (double)ROUNDS * HD_FMM_NEAR * N * N / (processor_seconds() - begin);
}

/* Columns per second of one core, of dgemm with matrices of this many terms. */
static double columns_rate(size_t terms)
{
	enum { COLUMNS = 128 };
	int m = (int)terms, stride = (int)((terms + 7) / 8 * 8), rounds = (int)(4e9 / (2.0 * m * m * COLUMNS)) + 1;
	size_t bytes = (size_t)stride * (terms + 2 * COLUMNS) * sizeof(double);
	double *a = aligned_alloc(64, bytes), *b = a ? a + (size_t)stride * terms : NULL;
	bench_need(a != NULL, "no memory");
	for (size_t i = 0; i < bytes / sizeof(double); i++)
		a[i] = 1e-3 * (double)(i % 17);
	double begin = 0;
	for (int round = -1; round < rounds; round++) {
		if (round == 0)
			begin = processor_seconds();
		cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, COLUMNS, m, 1, a, stride, b, stride, 0,
		            b + stride * COLUMNS, stride);
	}
	double seconds = processor_seconds() - begin;
	free(a);
	return (double)rounds * COLUMNS / seconds;
}

/* Of an evaluation: medians of wall and processor seconds, and the share of the wall time that the core has taken. */
struct cost {
	double wall, processor, core;
};

static struct cost evaluate(heddle_runtime *rt, heddle_fmm_plan *plan, const double *charges, double *results)
{
	double wall[RUNS], processor[RUNS], sum = 0;
	size_t n = heddle_fmm_plan_statistics(plan).sources;
	struct heddle_stats before, after;
	good(heddle_fmm_evaluate(plan, charges, results, results + n)); /* wakes the threads, and has the pages */
	good(heddle_runtime_stats(rt, &before));
	for (int i = 0; i < RUNS; i++) {
		double begin = bench_seconds(), begin_processor = processor_seconds();
		good(heddle_fmm_evaluate(plan, charges, results, results + n));
		processor[i] = processor_seconds() - begin_processor;
		sum += wall[i] = bench_seconds() - begin;
	}
	good(heddle_runtime_stats(rt, &after));
	return (struct cost){bench_median(wall, RUNS), bench_median(processor, RUNS),
	                     1e-6 * (after.core_time - before.core_time) / sum};
}

static void print(const struct heddle_fmm_statistics *s, int digits, int workers, const struct cost *cost)
{
	char name[64];
	double n = (double)s->sources, pairs = pairs_rate(), columns = columns_rate(hd_fmm_terms(s->degree));
	double least = s->pairs / pairs + s->translations / columns;
	snprintf(name, sizeof name, "%zu particles %d digits", s->sources, digits);
	bench_row(name, workers, "particles per s and core", n / cost->wall / workers);
	bench_row(name, workers, "particles per processor s", n / cost->processor);
	bench_row(name, workers, "plan s", s->seconds);
	bench_row(name, workers, "G pairs per s", 1e-9 * pairs);
	bench_row(name, workers, "us per column", 1e6 / columns);
	bench_row(name, workers, "share of the rates %", 100 * least / cost->processor);
	bench_row(name, workers, "in the core %", 100 * cost->core);
}

/* Particles with a plan. */
struct problem {
	double *xyz, *charges, *results; /* owns */
	heddle_fmm_plan *plan;
};

static void make(struct problem *p, heddle_fmm *fmm, enum hd_fmm_distribution distribution, size_t n,
                 const struct heddle_fmm_options *options)
{
	*p = (struct problem){.xyz = malloc(3 * n * sizeof *p->xyz),
	                      .charges = malloc(n * sizeof *p->charges),
	                      .results = malloc(4 * n * sizeof *p->results)};
	bench_need(p->xyz && p->charges && p->results, "no memory");
	hd_fmm_make_points(distribution, n, 1, p->xyz);
	for (size_t i = 0; i < n; i++)
		p->charges[i] = 1;
	good(heddle_fmm_plan_create(fmm, &(struct heddle_fmm_points){n, p->xyz}, NULL, options, &p->plan));
}

static void end(struct problem *p)
{
	good(heddle_fmm_plan_destroy(p->plan));
	free(p->xyz);
	free(p->charges);
	free(p->results);
}

static double processor_of(const struct problem *p)
{
	double begin = processor_seconds();
	good(heddle_fmm_evaluate(p->plan, p->charges, p->results,
	                         p->results + heddle_fmm_plan_statistics(p->plan).sources));
	return processor_seconds() - begin;
}

/* Processor time of Plummer's model by that of the cube, evaluated in turn. */
static double ratio_to(const struct problem *cube, const struct problem *plummer)
{
	double ratios[RUNS];
	processor_of(plummer); /* has the pages */
	for (int i = 0; i < RUNS; i++) {
		double of_cube = processor_of(cube);
		ratios[i] = processor_of(plummer) / of_cube;
	}
	return bench_median(ratios, RUNS);
}

static void run(size_t n, int workers, const struct heddle_fmm_options *options)
{
	struct problem cube, plummer;
	struct heddle_config config;
	heddle_runtime *rt;
	heddle_fmm *fmm;
	good(heddle_config_init(&config));
	config.n_cpu = workers;
	config.caller_works = 1;
	config.model_dir = "none";
	config.time_core = 1;
	good(heddle_start(&config, &rt));
	good(heddle_fmm_open(rt, &fmm));
	make(&cube, fmm, HD_FMM_CUBE, n, options);
	struct heddle_fmm_statistics s = heddle_fmm_plan_statistics(cube.plan);
	struct cost cost = evaluate(rt, cube.plan, cube.charges, cube.results);
	print(&s, options->digits, workers, &cost);
	make(&plummer, fmm, HD_FMM_PLUMMER, n, options);
	bench_row("Plummer's model", workers, "time by the cube's", ratio_to(&cube, &plummer));
	end(&plummer);
	end(&cube);
	heddle_fmm_close(fmm);
	good(heddle_stop(rt));
}

int main(int argc, char **argv)
{
	size_t n = (size_t)bench_number(argc, argv, 1, 1000000);
	const struct heddle_fmm_options options = {.digits = (int)bench_number(argc, argv, 2, 4),
	                                           .cells = argc > 4 ? atof(argv[4]) : 0};
	run(n, (int)bench_number(argc, argv, 3, 1), &options);
	return 0;
}
