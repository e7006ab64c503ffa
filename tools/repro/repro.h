/* `heddle repro` repeats published experiments. Declarations for experiments and their reports.
 *
 * An experiment is a function that fills a report: the machine, rows (quantity, unit, the paper's figure, our figure,
 * the range in which our figure agrees), notes, data, a picture. It prints only error messages: the command prints the
 * report. A row may also show a figure without a verdict.
 *
 * To add an experiment: write a file in this folder, add a line to REPRO_EXPERIMENTS, describe it in docs/repro.md. */
#ifndef REPRO_REPRO_H
#define REPRO_REPRO_H

#include <math.h>
#include <heddle/chart.h>
#include "shared/tool.h"
#include "shared/workload.h"
#include "plot/draw.h"

/* --- What agrees -------------------------------------------------------------------------------------------------- */

/* The interval in which our figure agrees with the paper's, ends included. With repro_shown(), the figure is only shown
 * and there is no verdict. */
struct repro_range {
	double low, high;
};
static inline struct repro_range repro_within(double figure, double tolerance)
{
	return (struct repro_range){figure - tolerance, figure + tolerance};
}
static inline struct repro_range repro_at_most(double figure)
{
	return (struct repro_range){-INFINITY, figure};
}
static inline struct repro_range repro_at_least(double figure)
{
	return (struct repro_range){figure, INFINITY};
}
static inline struct repro_range repro_shown(void)
{
	return (struct repro_range){-INFINITY, INFINITY};
}

enum repro_verdict { REPRO_SHOWN, REPRO_PASS, REPRO_SHORT };

/* --- Reports (report.c) ------------------------------------------------------------------------------------------- */

struct repro_row {
	char *quantity;
	const char *unit; /* borrowed; "" for none */
	double paper;     /* the paper's figure; NAN: the paper gives none */
	double ours;      /* our figure; NAN: none, which falls short of any range but repro_shown() */
	struct repro_range accepted;
};

struct repro_report {
	/* The request. */
	const char *id, *directory;
	int quick; /* 1: a smaller experiment, of at most a minute on two cores */
	uint64_t seed;
	/* The results. */
	char *where;
	struct repro_row *rows;
	size_t n_rows;
	char **notes, **files; /* files: the data and the picture, in the order written */
	size_t n_notes, n_files;
	double seconds; /* of real time that the experiment took */
};

/* Sets the machine on which the experiment ran: "virtual time (simulated), platform intel-v100", "this machine". */
void repro_where(struct repro_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a row. `quantity` is copied. */
void repro_row(struct repro_report *report, const char *quantity, const char *unit, double paper, double ours,
               struct repro_range accepted);
/* Adds a note: information that a reader needs to trust a figure, or the reason why our figure differs from the
 * paper's. */
void repro_note(struct repro_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The functions that write files return TOOL_OK, or print a message and return TOOL_FAILURE.
 *
 * Writes DIRECTORY/ID-NAME.csv, the measurements that figures were made from. */
int repro_data(struct repro_report *report, const char *name, const struct table *data);
/* The next functions draw DIRECTORY/ID.png; a report has one picture. It shows lines, or bars, or one bar per row with
 * the paper's figure marked. */
int repro_chart(struct repro_report *report, const struct heddle_chart *chart);
int repro_bars(struct repro_report *report, const struct hd_bars *bars);
int repro_bars_of_rows(struct repro_report *report, const char *title);
/* Draws an additional chart, as DIRECTORY/ID-NAME.png. */
int repro_chart_besides(struct repro_report *report, const char *name, const struct heddle_chart *chart);
/* Draws an additional picture of a schedule, as DIRECTORY/ID-NAME.png, with its practical critical path outlined. */
int repro_gantt(struct repro_report *report, const char *name, const struct heddle_trace *trace);

enum repro_verdict repro_verdict_of_row(const struct repro_row *row);
/* REPRO_SHORT if any row falls short; otherwise REPRO_PASS if any row passes; otherwise REPRO_SHOWN. */
enum repro_verdict repro_verdict(const struct repro_report *report);
const char *repro_verdict_word(enum repro_verdict verdict);
void repro_report_free(struct repro_report *report);

/* --- Statistics (statistics.c) ------------------------------------------------------------------------------------ */

/* Repeated measurements: values[b * n + i] is the i-th value of block b. */
struct repro_blocks {
	const double *values; /* borrows */
	size_t n_blocks, n;
};

/* The slope of a line through all values against i, found by least squares. Each block has a separate intercept; the
 * slope is common to all blocks. The 95 % confidence interval follows from the residuals (Student's t). Needs two
 * values per block, and three in all. */
struct repro_slope {
	double slope, low, high; /* per step of i */
};
struct repro_slope repro_slope_of(const struct repro_blocks *blocks);
/* Page's test (1963) for ordered alternatives: compares the ranks within each block with i; ties share their mean rank.
 * If there is no trend, the result is about normal with mean 0 and deviation 1; it is negative when values decrease.
 * Needs two values per block. */
double repro_page_z(const struct repro_blocks *blocks);
/* Spearman's rank correlation of two lists of n >= 2 values; ties share their mean rank. NAN: a list is constant. */
double repro_spearman(const double *a, const double *b, size_t n);
/* The mean of n values, and half the width of its 95 % confidence interval (Student's t; NAN for less than two). */
struct repro_mean {
	double mean, half;
};
struct repro_mean repro_mean_of(const double *values, size_t n);
/* The rank of values[i] among n values: 1 + the number of smaller values. */
size_t repro_rank(const double *values, size_t n, size_t i);

/* --- Simulations (runs.c) ----------------------------------------------------------------------------------------- */

/* A simulation: its parameters and its outcome. */
struct repro_run {
	struct heddle_dense_problem problem;
	const struct heddle_platform *platform; /* borrowed */
	const char *sched, *sched_options;      /* a policy and its options, borrowed; NULL: no options */
	const char *expand;                     /* the setting, borrowed; NULL: its default */
	uint64_t seed;
	double noise;   /* relative standard deviation of execution times */
	int keep_trace; /* leave the trace in the outcome */
	struct outcome outcome;
};

/* Runs all simulations, on as many threads as this machine has cores. Returns TOOL_OK; or prints messages and returns
 * TOOL_FAILURE. In both cases the caller calls repro_runs_free, which frees the outcomes but not the array. */
int repro_simulate(struct repro_run *runs, size_t n);
void repro_runs_free(struct repro_run *runs, size_t n);

/* A simulation of an application that is written in one word, with its options. */
struct repro_word_run {
	char *word;                             /* owns: "sparse-qr:matrix=TF16,tile=256" */
	const struct heddle_platform *platform; /* borrowed */
	const char *sched;                      /* borrowed */
	char *sched_options;                    /* owns; NULL: none */
	uint64_t seed;
	double noise;
	int keep_trace; /* leave the trace in the outcome */
	struct outcome outcome;
};
/* As repro_simulate and repro_runs_free. */
int repro_simulate_words(struct repro_word_run *runs, size_t n);
void repro_word_runs_free(struct repro_word_run *runs, size_t n);

/* Loads the platform `name`, whose accelerators then run up to `streams` kernels at once, which share them by turns.
 * TOOL_OK, or a message and a status. The caller frees *out with heddle_platform_free. */
int repro_machine_with_streams(const char *name, unsigned streams, struct heddle_platform **out);

/* Loads the platform `name` and keeps `n_accelerators` of its accelerators, at most as many as it has, evenly spread
 * over their list, so that they share few switches. The cores that drive the other accelerators become CPU workers.
 * Then only the first `n_cpus` CPU workers are kept (0: all). TOOL_OK, or a message and a status. The caller frees *out
 * with heddle_platform_free. */
int repro_machine(const char *name, size_t n_accelerators, size_t n_cpus, struct heddle_platform **out);

/* clusters.c: gives the kernels of Cholesky in double precision the times of table 1 of Cojean et al. 2016, on a
 * machine derived from haswell-k40m. */
void repro_paper_kernels(struct heddle_platform *platform);

/* --- Experiments -------------------------------------------------------------------------------------------------- */

/* The experiments, one line each: function, id, publication, description, result of the paper. */
#define REPRO_EXPERIMENTS(EXPERIMENT)                                                                                 \
	EXPERIMENT(repro_mp_gain, "mp-gain", "Tayeb et al. 2024, table II",                                           \
	           "multiprio's gain of three tasks on two classes of workers", "1 .631 .236 and 0 .368 .763")        \
	EXPERIMENT(repro_mp_nod, "mp-nod", "Tayeb et al. 2024, fig. 3", "multiprio's criticality of two ready tasks", \
	           "2.5 and 1")                                                                                       \
	EXPERIMENT(repro_ah_tables, "ah-tables", "Flint and Bramas 2020, tables 4 to 7",                              \
	           "28 heuristics on 32 random graphs, beside control priorities",                                    \
	           "best of all 1.019, URTxD_L5 1.073, URT 1.419")                                                    \
	EXPERIMENT(repro_ah_warm, "ah-warm", "Flint and Bramas 2020, fig. 8",                                         \
	           "16 runs in a row, each with what the runs before it learnt", "no trend: the first run is enough") \
	EXPERIMENT(repro_mp_evict, "mp-evict", "Tayeb et al. 2024, fig. 4",                                           \
	           "Cholesky of 20 x 20 tiles on a GPU and 6 CPUs, with and without multiprio's eviction",            \
	           "GPU idle 29 % without, 1 % with eviction")                                                        \
	EXPERIMENT(repro_mp_dense, "mp-dense", "Tayeb et al. 2024, fig. 5",                                           \
	           "potrf, getrf, geqrf on 2 GPUs, multiprio and dmdas with priorities, best tile of three",          \
	           "about par; getrf up to +14 %, geqrf +4 % on A100")                                                \
	EXPERIMENT(repro_mp_fmm, "mp-fmm", "Tayeb et al. 2024, fig. 6",                                               \
	           "a fast multipole method, 10^6 particles, height 6, 1 to 4 streams per GPU",                       \
	           "multiprio's makespan is the shortest")                                                            \
	EXPERIMENT(repro_da_alpha, "da-alpha", "Bleuse et al. 2014, fig. 1",                                          \
	           "Cholesky on 1 to 8 GPUs, DADA with alpha from 0 to 1", "alpha above 0 to scale past 2 GPUs")      \
	EXPERIMENT(repro_da_chol, "da-chol", "Bleuse et al. 2014, fig. 2",                                            \
	           "Cholesky on 1 to 8 GPUs: speed and bytes moved of HEFT and DADA",                                 \
	           "alike in speed, DADA moves less")                                                                 \
	EXPERIMENT(repro_da_lu, "da-lu", "Bleuse et al. 2014, fig. 3", "the same for LU without pivoting",            \
	           "on 8 GPUs 3.5 times fewer bytes than HEFT for 1.13 times the time")                               \
	EXPERIMENT(repro_da_qr, "da-qr", "Bleuse et al. 2014, fig. 4", "the same for QR", "HEFT ahead of all DADA")   \
	EXPERIMENT(repro_cl_table, "cl-table", "Cojean et al. 2016, table 1",                                         \
	           "speed of Cholesky's kernels on a core, on a GPU and on 10 cores",                                 \
	           "GPU / core 1.7 to 32, 10 cores / core 5.6 to 8.6")                                                \
	EXPERIMENT(repro_cl_bounds, "cl-bounds", "Cojean et al. 2016, fig. 4",                                        \
	           "Cholesky on 20 cores and a GPU, with clusters of 10 and without, beside bounds",                  \
	           "+65 % at 11k, up to +100 % below 10k")                                                            \
	EXPERIMENT(repro_cl_scale, "cl-scale", "Cojean et al. 2016, figs. 5 and 6",                                   \
	           "the same on 1 to 4 GPUs, and with potrf and trsm on CPUs alone", "4.6 Tflop/s, +5 % constrained") \
	EXPERIMENT(repro_ht_submit, "ht-submit", "Faverge et al. 2022, fig. 8",                                       \
	           "cost of submission, flat and hierarchical tasks", "3.5 times at worst, amortised at 2880/960")    \
	EXPERIMENT(repro_ht_gemm, "ht-gemm", "Faverge et al. 2022, fig. 9",                                           \
	           "gemm, the diagonal refined, 1 and 2 V100", "ahead of flat 2880 from mid sizes on")                \
	EXPERIMENT(repro_ht_chol, "ht-chol", "Faverge et al. 2022, fig. 10", "potrf, posv, poinv, the same way",      \
	           "ahead of flat 2880 from mid sizes on")                                                            \
	REPRO_SPARSE(EXPERIMENT)

/* The experiments with the sparse factorisation. */
#ifdef HEDDLE_HAVE_SPARSE
#define REPRO_SPARSE(EXPERIMENT)                                                                             \
	EXPERIMENT(repro_mp_sparse, "mp-sparse", "Tayeb et al. 2024, figs. 7 and 8",                         \
	           "sparse QR, METIS, 4 streams per GPU", "multiprio / dmdas: +31 % on V100, +12 % on A100") \
	EXPERIMENT(repro_ah_scheds, "ah-scheds", "Flint and Bramas 2020, figs. 9 and 10",                    \
	           "sparse QR under 7 policies", "heteroprio ~ AHP < eager ~ lws ~ dm < dmda(s)")            \
	EXPERIMENT(repro_ah_inter, "ah-inter", "Flint and Bramas 2020, fig. 11", "heuristics on sparse QR",  \
	           "within +-2 %")
#else
#define REPRO_SPARSE(EXPERIMENT)
#endif

/* Each function fills a report and returns TOOL_OK, or prints a message and returns TOOL_FAILURE. */
#define REPRO_DECLARE(function, id, paper, what, result) int function(struct repro_report *report);
REPRO_EXPERIMENTS(REPRO_DECLARE)
#undef REPRO_DECLARE

#endif
