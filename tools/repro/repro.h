/* `heddle repro`: a published result next to ours. What experiments and their reports share.
 *
 * An experiment is a function that fills a report: where it ran, rows of (quantity, unit, the paper's figure, ours,
 * what would count as agreement), notes, data, a picture. It prints nothing but error messages: the command prints
 * reports, and writes their files. A number is set beside the paper's even when nothing is concluded from it.
 *
 * To add one: a function here, a file of its own in this folder, a row of the table in tools/commands/repro.c, a row in
 * docs/repro.md. */
#ifndef REPRO_REPRO_H
#define REPRO_REPRO_H

#include <math.h>
#include <heddle/chart.h>
#include "shared/tool.h"
#include "plot/draw.h"

/* --- What agrees -------------------------------------------------------------------------------------------------- */

/* The interval that our figure must lie in, ends included; all of it when nothing is concluded from the figure. */
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
	double paper;     /* NAN: it gives none */
	double ours;      /* NAN: there is none, which falls short of any range but repro_shown() */
	struct repro_range accepted;
};

struct repro_report {
	/* What the experiment is asked for. */
	const char *id, *directory;
	int quick; /* a smaller experiment, in a minute on two cores */
	uint64_t seed;
	/* What it found. */
	char *where;
	struct repro_row *rows;
	size_t n_rows;
	char **notes, **files; /* files: the data and the picture, in the order written */
	size_t n_notes, n_files;
	double seconds; /* that it took */
};

/* On what it ran, in words: "virtual time (simulated), platform intel-v100", "this machine". */
void repro_where(struct repro_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One figure. `quantity` is copied. */
void repro_row(struct repro_report *report, const char *quantity, const char *unit, double paper, double ours,
               struct repro_range accepted);
/* What a reader must know to believe a figure, or why it differs. */
void repro_note(struct repro_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* DIRECTORY/ID-NAME.csv: the measurements that figures were made from. These return TOOL_OK, or TOOL_FAILURE with a
 * message. */
int repro_data(struct repro_report *report, const char *name, const struct table *data);
/* DIRECTORY/ID.png; one per report. Lines; bars; or a bar per row, beside the paper's figures, when nothing better
 * shows it. */
int repro_chart(struct repro_report *report, const struct heddle_chart *chart);
int repro_bars(struct repro_report *report, const struct hd_bars *bars);
int repro_bars_of_rows(struct repro_report *report, const char *title);

enum repro_verdict repro_verdict_of_row(const struct repro_row *row);
/* Short when any row is; pass when one does and none is short. */
enum repro_verdict repro_verdict(const struct repro_report *report);
const char *repro_verdict_word(enum repro_verdict verdict);
void repro_report_free(struct repro_report *report);

/* --- Statistics (statistics.c) ------------------------------------------------------------------------------------ */

/* values[b * n + i]: what block b showed the i-th time. */
struct repro_blocks {
	const double *values; /* borrows */
	size_t n_blocks, n;
};

/* The slope of a line through all values against i, blocks being free to lie at different heights: least squares, with
 * a 95 % confidence interval from the residuals (Student's t). Needs two values per block, and three in all. */
struct repro_slope {
	double slope, low, high; /* per step of i */
};
struct repro_slope repro_slope_of(const struct repro_blocks *blocks);
/* Page's test (1963) for ordered alternatives: ranks within blocks, against i; ties share their mean rank. About
 * normal with deviation 1 when order does not matter; negative when values decrease. Needs two values per block. */
double repro_page_z(const struct repro_blocks *blocks);
/* Spearman's rank correlation of two lists of n >= 2 values; ties share their mean rank. NAN when a list is constant.
 */
double repro_spearman(const double *a, const double *b, size_t n);
/* 1 + how many of the n values are smaller than values[i]. */
size_t repro_rank(const double *values, size_t n, size_t i);

/* --- Experiments -------------------------------------------------------------------------------------------------- */

/* One line each: its function, id, the paper, what is done, what came out. */
#define REPRO_EXPERIMENTS(EXPERIMENT)                                                                                 \
	EXPERIMENT(repro_mp_gain, "mp-gain", "Tayeb et al. 2024, table II",                                           \
	           "multiprio's gain of three tasks on two classes of workers", "1 .631 .236 and 0 .368 .763")        \
	EXPERIMENT(repro_mp_nod, "mp-nod", "Tayeb et al. 2024, fig. 3", "multiprio's criticality of two ready tasks", \
	           "2.5 and 1")                                                                                       \
	EXPERIMENT(repro_ah_tables, "ah-tables", "Flint and Bramas 2020, tables 4 to 7",                              \
	           "28 heuristics on 32 random graphs, beside control priorities",                                    \
	           "best of all 1.019, URTxD_L5 1.073, URT 1.419")                                                    \
	EXPERIMENT(repro_ah_warm, "ah-warm", "Flint and Bramas 2020, fig. 8",                                         \
	           "16 runs in a row, each with what those before it learnt", "no trend: the first run is enough")

/* TOOL_OK with a whole report, or a message and TOOL_FAILURE. */
#define REPRO_DECLARE(function, id, paper, what, result) int function(struct repro_report *report);
REPRO_EXPERIMENTS(REPRO_DECLARE)
#undef REPRO_DECLARE

#endif
