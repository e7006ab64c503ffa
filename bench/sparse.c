/* Sparse QR: libheddle-sparse beside SuiteSparseQR, whose fronts are LAPACK's on threads of BLAS. Both order by METIS,
 * both keep Q, and neither looks for the rank.
 *
 * sparse heddle MATRIX WORKERS [TILE]
 * sparse spqr MATRIX THREADS
 *
 * MATRIX is a file, or a name that heddle_sparse_generate knows. Rows are seconds of wall time and of processor time of
 * a factorisation, processor time of the analysis (of SuiteSparseQR: CHOLMOD's for the Cholesky factorisation of
 * A^H A), and, of Heddle alone, the rate. */
#include <string.h>
#include <sys/resource.h>
#include <heddle/sparse.h>
#include "good.h"
#ifdef BENCH_SPQR
#include <SuiteSparseQR_C.h>
#include <cblas.h>
#endif

enum { MOST_RUNS = 99 };
static const double seconds_wanted = 1;

/* User and system time of all threads. */
static double processor_seconds(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Medians of what a factorisation takes. */
struct cost {
	double wall, processor;
};

static struct cost measure(void (*factorise)(void *arg), void *arg)
{
	double wall[MOST_RUNS], processor[MOST_RUNS], sum = 0;
	size_t n = 0;
	factorise(arg); /* wakes the threads, and has the pages of the memory */
	for (; n == 0 || (sum < seconds_wanted && n < MOST_RUNS); n++) {
		double begin = bench_seconds(), begin_processor = processor_seconds();
		factorise(arg);
		processor[n] = processor_seconds() - begin_processor;
		sum += wall[n] = bench_seconds() - begin;
	}
	return (struct cost){bench_median(wall, n), bench_median(processor, n)};
}

static void print(const char *matrix, int workers, struct cost c, double analysis)
{
	bench_row(matrix, workers, "s", c.wall);
	bench_row(matrix, workers, "processor s", c.processor);
	bench_row(matrix, workers, "analysis processor s", analysis);
}

/* --- Heddle ------------------------------------------------------------------------------------------------------- */

struct ours {
	heddle_sparse_qr *qr;
	const void *values;
};

static void factorise_ours(void *arg)
{
	struct ours *o = arg;
	good(heddle_sparse_factorise(o->qr, o->values));
}

static void heddle(const char *name, const struct heddle_sparse_matrix *a, int workers, size_t tile)
{
	const struct heddle_sparse_analysis_options how = {.ordering = HEDDLE_SPARSE_METIS, .workers = workers};
	const struct heddle_sparse_options options = {.tile = tile, .tolerance = -1};
	struct heddle_config config;
	heddle_runtime *rt;
	heddle_sparse *sparse;
	heddle_sparse_analysis *analysis;
	struct ours o = {.values = a->values};
	double begin = processor_seconds();
	good(heddle_sparse_analyse(a, &how, &analysis));
	double seconds = processor_seconds() - begin;
	good(heddle_config_init(&config));
	config.n_cpu = workers;
	config.caller_works = 1;
	config.model_dir = "none";
	good(heddle_start(&config, &rt));
	good(heddle_sparse_open(rt, &sparse));
	good(heddle_sparse_qr_create(sparse, analysis, a->precision, &options, &o.qr));
	struct cost c = measure(factorise_ours, &o);
	print(name, workers, c, seconds);
	double flops = heddle_sparse_analysis_statistics(analysis).flops;
	bench_row(name, workers, "GFlop/s", flops / c.wall * 1e-9);
	bench_row(name, workers, "GFlop per processor s", flops / c.processor * 1e-9);
	good(heddle_sparse_qr_destroy(o.qr));
	heddle_sparse_close(sparse);
	good(heddle_stop(rt));
	heddle_sparse_analysis_free(analysis);
}

/* --- SuiteSparseQR ------------------------------------------------------------------------------------------------ */

#ifdef BENCH_SPQR

struct theirs {
	cholmod_common common;
	cholmod_sparse *f; /* A, or its transpose if that has more rows */
	SuiteSparseQR_C_factorization *qr;
};

static void factorise_theirs(void *arg)
{
	struct theirs *t = arg;
	bench_need(SuiteSparseQR_C_numeric(SPQR_NO_TOL, t->f, t->qr, &t->common), "SuiteSparseQR has failed");
}

static double analyse(cholmod_sparse *f, cholmod_common *common)
{
	cholmod_sparse *adjoint = cholmod_l_transpose(f, 0, common);
	common->nmethods = 1;
	common->method[0].ordering = CHOLMOD_METIS;
	common->postorder = 1;
	double begin = processor_seconds();
	cholmod_factor *factor = cholmod_l_analyze(adjoint, common);
	double seconds = processor_seconds() - begin;
	bench_need(factor != NULL, "CHOLMOD has failed");
	cholmod_l_free_factor(&factor, common);
	cholmod_l_free_sparse(&adjoint, common);
	return seconds;
}

static void spqr(const char *name, const struct heddle_sparse_matrix *a, int threads)
{
	cholmod_sparse view = {.nrow = a->rows,
	                       .ncol = a->columns,
	                       .nzmax = (size_t)a->column_start[a->columns],
	                       .p = a->column_start,
	                       .i = a->row,
	                       .x = a->values,
	                       .itype = CHOLMOD_LONG,
	                       .xtype = CHOLMOD_REAL,
	                       .packed = 1};
	struct theirs t;
	cholmod_l_start(&t.common);
	openblas_set_num_threads(threads);
	t.f = a->rows < a->columns ? cholmod_l_transpose(&view, 1, &t.common) : cholmod_l_copy_sparse(&view, &t.common);
	bench_need(t.f && cholmod_l_sort(t.f, &t.common), "CHOLMOD has failed");
	double seconds = analyse(t.f, &t.common);
	t.qr = SuiteSparseQR_C_symbolic(SPQR_ORDERING_METIS, 0, t.f, &t.common);
	bench_need(t.qr != NULL, "SuiteSparseQR has failed");
	print(name, threads, measure(factorise_theirs, &t), seconds);
	SuiteSparseQR_C_free(&t.qr, &t.common);
	cholmod_l_free_sparse(&t.f, &t.common);
	cholmod_l_finish(&t.common);
}

#else

static void spqr(const char *name, const struct heddle_sparse_matrix *a, int threads)
{
	(void)name;
	(void)a;
	(void)threads;
	bench_need(0, "built without SuiteSparseQR (Debian: libsuitesparse-dev)");
}

#endif

int main(int argc, char **argv)
{
	bench_need(argc >= 4, "arguments: heddle|spqr MATRIX WORKERS [TILE]");
	struct heddle_sparse_matrix a;
	int workers = (int)bench_number(argc, argv, 3, 2);
	good(strstr(argv[2], ".mtx") ? heddle_sparse_read(argv[2], &a) : heddle_sparse_generate(argv[2], &a));
	bench_need(a.precision == HEDDLE_DENSE_DOUBLE, "the matrix is not real");
	if (strcmp(argv[1], "spqr") == 0)
		spqr(argv[2], &a, workers);
	else
		heddle(argv[2], &a, workers, bench_number(argc, argv, 4, 256));
	heddle_sparse_matrix_free(&a);
	return 0;
}
