/* `heddle repro`: published experiments repeated. What experiments and their reports share.
 *
 * An experiment is a function that fills a report: on what it ran, rows (quantity, unit, the paper's figure, ours, the
 * range in which ours agrees), notes, data, a picture. It prints only error messages: the command prints the report. A
 * row may also show a figure of which nothing is concluded.
 *
 * To add an experiment: write a file in this folder, add a line to REPRO_EXPERIMENTS, describe it in docs/repro.md. */
#ifndef REPRO_REPRO_H
#define REPRO_REPRO_H

#include <math.h>
#include <heddle/chart.h>
#include "shared/tool.h"
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
	double ours;      /* NAN: no figure, which falls short of any range but repro_shown() */
	struct repro_range accepted;
};

struct repro_report {
	/* What the experiment is asked for. */
	const char *id, *directory;
	int quick; /* do a smaller experiment, of at most a minute on two cores */
	uint64_t seed;
	/* What it found. */
	char *where;
	struct repro_row *rows;
	size_t n_rows;
	char **notes, **files; /* files: the data and the picture, in the order written */
	size_t n_notes, n_files;
	double seconds; /* of real time that the experiment took */
};

/* Says on what the experiment ran: "virtual time (simulated), platform intel-v100", "this machine". */
void repro_where(struct repro_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a row. `quantity` is copied. */
void repro_row(struct repro_report *report, const char *quantity, const char *unit, double paper, double ours,
               struct repro_range accepted);
/* Adds a note: what a reader must know to believe a figure, or why ours differs from the paper's. */
void repro_note(struct repro_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The functions that write files return TOOL_OK, or print a message and return TOOL_FAILURE.
 *
 * Writes DIRECTORY/ID-NAME.csv, the measurements that figures were made from. */
int repro_data(struct repro_report *report, const char *name, const struct table *data);
/* These draw DIRECTORY/ID.png; a report has one picture. It shows lines, or bars, or one bar per row with the paper's
 * figure marked. */
int repro_chart(struct repro_report *report, const struct heddle_chart *chart);
int repro_bars(struct repro_report *report, const struct hd_bars *bars);
int repro_bars_of_rows(struct repro_report *report, const char *title);

enum repro_verdict repro_verdict_of_row(const struct repro_row *row);
/* REPRO_SHORT when any row falls short; else REPRO_PASS when any row passes; else REPRO_SHOWN. */
enum repro_verdict repro_verdict(const struct repro_report *report);
const char *repro_verdict_word(enum repro_verdict verdict);
void repro_report_free(struct repro_report *report);

/* --- Statistics (statistics.c) ------------------------------------------------------------------------------------ */

/* Repeated measurements: values[b * n + i] is the i-th value of block b. */
struct repro_blocks {
	const double *values; /* borrows */
	size_t n_blocks, n;
};

/* The slope of a line through all values against i, found by least squares. Each block has a height of its own; the
 * slope is the same for all. The 95 % confidence interval is from the residuals (Student's t). Needs two values per
 * block, and three in all. */
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
/* The rank of values[i] among n values: 1 + the number of smaller ones. */
size_t repro_rank(const double *values, size_t n, size_t i);

/* --- Experiments -------------------------------------------------------------------------------------------------- */

/* The experiments, one line each: function, id, where it was published, what is done, what the paper found. */
#define REPRO_EXPERIMENTS(EXPERIMENT)                                                                                 \
	EXPERIMENT(repro_mp_gain, "mp-gain", "Tayeb et al. 2024, table II",                                           \
	           "multiprio's gain of three tasks on two classes of workers", "1 .631 .236 and 0 .368 .763")        \
	EXPERIMENT(repro_mp_nod, "mp-nod", "Tayeb et al. 2024, fig. 3", "multiprio's criticality of two ready tasks", \
	           "2.5 and 1")                                                                                       \
	EXPERIMENT(repro_ah_tables, "ah-tables", "Flint and Bramas 2020, tables 4 to 7",                              \
	           "28 heuristics on 32 random graphs, beside control priorities",                                    \
	           "best of all 1.019, URTxD_L5 1.073, URT 1.419")                                                    \
	EXPERIMENT(repro_ah_warm, "ah-warm", "Flint and Bramas 2020, fig. 8",                                         \
	           "16 runs in a row, each with what the runs before it learnt", "no trend: the first run is enough")

/* Each fills a report and returns TOOL_OK, or prints a message and returns TOOL_FAILURE. */
#define REPRO_DECLARE(function, id, paper, what, result) int function(struct repro_report *report);
REPRO_EXPERIMENTS(REPRO_DECLARE)
#undef REPRO_DECLARE

#endif
