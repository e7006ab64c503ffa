/* ht-gemm and ht-chol: figures 9 and 10 of M. Faverge and others, "Programming heterogeneous architectures using
 * hierarchical tasks", Inria RR-9466, 2022: dense routines on tiles of 2880, where the tiles near the diagonal are cut
 * into smaller tiles; compared with flat tiles of 2880 and of 960, on one and two V100, over the order of the matrix.
 * The paper leaves open when a task should be expanded; Heddle's rule is the setting expand=adaptive. */
#include "repro.h"
#include <stdlib.h>
#include <string.h>

enum { LARGE = 2880, SMALL = 960 };
enum { VARIANTS = 5, FLAT_LARGE = 0, FLAT_SMALL, DIAGONAL, DIAGONAL_TWICE, ADAPTIVE, FIXED = ADAPTIVE };
enum { MOST_ROUTINES = 3, MACHINES = 2, ORDERS = 8, GROUPS = MOST_ROUTINES * MACHINES };

static const struct variant {
	const char *name;
	size_t tile;
	const char *cut, *refine;
	const char *expand;
} variants[VARIANTS] = {
    [FLAT_LARGE] = {"2880", LARGE, "", "", NULL},
    [FLAT_SMALL] = {"960", SMALL, "", "", NULL},
    [DIAGONAL] = {"2880/960", LARGE, "960", "diagonal", "always"},
    [DIAGONAL_TWICE] = {"2880/960/320", LARGE, "960/320", "diagonal", "always"},
    [ADAPTIVE] = {"adaptive", LARGE, "960/320", "all", "adaptive"},
};

/* --- Runs --------------------------------------------------------------------------------------------------------- */

struct experiment {
	const char *routines[MOST_ROUTINES];
	size_t n_routines;
	size_t largest; /* order */
};

struct point {
	size_t order;
	double gflops[VARIANTS];
};
struct group {
	const char *routine;
	size_t n_gpus, n;
	struct point points[ORDERS];
};
struct all {
	struct group groups[GROUPS];
	size_t n_groups;
	struct heddle_platform *platforms[MACHINES];
	struct repro_run runs[GROUPS * ORDERS * VARIANTS];
};

static size_t order_of(size_t i, int quick)
{
	return (quick ? 4 * i + 3 : 2 * i + 2) * LARGE + (i > 4 && !quick ? (i - 4) * 2 * LARGE : 0);
}

static void open_groups(struct all *a, const struct experiment *e, int quick)
{
	a->n_groups = e->n_routines * MACHINES;
	for (size_t i = 0; i < a->n_groups; i++) {
		struct group *g = &a->groups[i];
		*g = (struct group){.routine = e->routines[i / MACHINES], .n_gpus = 1 + i % MACHINES};
		for (size_t k = 0; k < ORDERS && order_of(k, quick) <= e->largest; k++)
			g->points[g->n++].order = order_of(k, quick);
	}
}

static struct repro_run run_of(const struct all *a, const struct group *g, size_t order, const struct variant *v)
{
	struct repro_run run = {
	    .problem = {.routine = g->routine,
	                .n = order,
	                .n_right = 1,
	                .options = {.tile = v->tile, .priority = HEDDLE_DENSE_PRIORITY_STARPU}},
	    .platform = a->platforms[g->n_gpus - 1],
	    .sched = "dmdas",
	    .expand = v->expand,
	};
	strcpy(run.problem.cut, v->cut);
	strcpy(run.problem.refine, v->refine);
	return run;
}

/* Simulates the runs with most tasks first, so that no thread begins a long run when the other threads have
 * finished. */
static int simulate(struct all *a, uint64_t seed)
{
	size_t n = 0, back[GROUPS * ORDERS * VARIANTS][3];
	for (size_t k = ORDERS; k-- > 0;)
		for (size_t i = 0; i < a->n_groups; i++)
			for (size_t v = 0; v < VARIANTS && k < a->groups[i].n; v++) {
				a->runs[n] = run_of(a, &a->groups[i], a->groups[i].points[k].order, &variants[v]);
				a->runs[n].seed = seed;
				memcpy(back[n++], (size_t[]){i, k, v}, sizeof *back);
			}
	int status = repro_simulate(a->runs, n);
	for (size_t r = 0; r < n && !status; r++)
		a->groups[back[r][0]].points[back[r][1]].gflops[back[r][2]] = a->runs[r].outcome.gflops;
	repro_runs_free(a->runs, n);
	return status;
}

/* --- Figures ------------------------------------------------------------------------------------------------------ */

static double better_flat(const struct point *p)
{
	return fmax(p->gflops[FLAT_LARGE], p->gflops[FLAT_SMALL]);
}

static double best_fixed(const struct point *p)
{
	double best = 0;
	for (size_t v = 0; v < FIXED; v++)
		best = fmax(best, p->gflops[v]);
	return best;
}

/* How much faster the refined diagonal is than the better flat tiling, as a share. */
static double gain_of(const struct point *p)
{
	return p->gflops[DIAGONAL] / better_flat(p) - 1;
}

/* The smallest order from which on the refined diagonal is at least as fast as both flat tilings: where flat large
 * tiles keep a GPU at its peak, nothing is left to gain. NAN: there is none. */
static double ahead_from(const struct group *g)
{
	const double level = 0.005;
	double order = NAN;
	for (size_t k = g->n; k-- > 0 && gain_of(&g->points[k]) > -level;)
		order = (double)g->points[k].order;
	return order;
}

static double largest_gain(const struct group *g)
{
	double most = -INFINITY;
	for (size_t k = 0; k < g->n; k++)
		most = fmax(most, gain_of(&g->points[k]));
	return most;
}

/* The ratio of adaptive to the best fixed choice: its least and largest value over all orders. */
static void adaptive_range(const struct group *g, double *least, double *largest)
{
	*least = INFINITY;
	*largest = 0;
	for (size_t k = 0; k < g->n; k++) {
		double ratio = g->points[k].gflops[ADAPTIVE] / best_fixed(&g->points[k]);
		*least = fmin(*least, ratio);
		*largest = fmax(*largest, ratio);
	}
}

static void add_row(struct repro_report *report, const struct group *g, struct repro_row row)
{
	char *quantity =
	    tool_format("%s, %zu GPU%s: %s", g->routine, g->n_gpus, g->n_gpus > 1 ? "s" : "", row.quantity);
	repro_row(report, quantity, row.unit, row.paper, row.ours, row.accepted);
	free(quantity);
}

static void add_rows(struct repro_report *report, const struct group *g)
{
	static char from[] = "2880/960 on the diagonal is ahead of flat tiles, or level (.5 %), from order",
	            gain[] = "gain of that over the better of 2880 and 960, most",
	            last_gain[] = "gain of that over the better of 2880 and 960, largest order",
	            least[] = "adaptive / best fixed choice, least", most[] = "adaptive / best fixed choice, largest";
	const struct point *last = &g->points[g->n - 1];
	double low, high;
	adaptive_range(g, &low, &high);
	add_row(report, g, (struct repro_row){from, "", NAN, ahead_from(g), repro_at_most((double)last->order)});
	add_row(report, g, (struct repro_row){gain, "%", NAN, 100 * largest_gain(g), repro_at_least(1)});
	add_row(report, g, (struct repro_row){last_gain, "%", NAN, 100 * gain_of(last), repro_shown()});
	add_row(report, g, (struct repro_row){least, "", NAN, low, repro_at_least(0.97)});
	add_row(report, g, (struct repro_row){most, "", NAN, high, repro_shown()});
}

static void add_ahead_somewhere(struct repro_report *report, const struct all *a)
{
	double most = 0;
	for (size_t i = 0; i < a->n_groups; i++) {
		double low, high;
		adaptive_range(&a->groups[i], &low, &high);
		most = fmax(most, high);
	}
	repro_row(report, "adaptive / best fixed choice, largest of all", "", NAN, most, repro_at_least(1.0001));
}

static int write_data(struct repro_report *report, const struct all *a)
{
	static const struct table_column columns[] = {
	    {"routine", NULL, NULL, TABLE_AS_TEXT}, {"gpus", NULL, NULL, 0},   {"order", NULL, NULL, 0},
	    {"tiles", NULL, NULL, TABLE_AS_TEXT},   {"gflops", NULL, NULL, 1},
	};
	struct table table;
	table_init(&table, "points", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < a->n_groups; i++)
		for (size_t k = 0; k < a->groups[i].n * VARIANTS; k++) {
			const struct group *g = &a->groups[i];
			const struct point *p = &g->points[k / VARIANTS];
			table_text(&table, "%s", g->routine);
			table_number(&table, (double)g->n_gpus);
			table_number(&table, (double)p->order);
			table_text(&table, "%s", variants[k % VARIANTS].name);
			table_number(&table, p->gflops[k % VARIANTS]);
		}
	int status = repro_data(report, "points", &table);
	table_free(&table);
	return status;
}

/* Draws the speeds of one group: as the report's picture if the group is the last, otherwise as an additional
 * picture. */
static int draw(struct repro_report *report, const struct group *g, int is_last)
{
	struct heddle_chart_series series[VARIANTS];
	double x[ORDERS], y[VARIANTS][ORDERS];
	for (size_t v = 0; v < VARIANTS; v++) {
		for (size_t k = 0; k < g->n; k++) {
			x[k] = (double)g->points[k].order;
			y[v][k] = g->points[k].gflops[v] * 1e-3;
		}
		series[v] = (struct heddle_chart_series){variants[v].name, x, y[v], g->n, 1};
	}
	char *title =
	    tool_format("%s on intel-v100, %zu GPU%s (simulated)", g->routine, g->n_gpus, g->n_gpus > 1 ? "s" : "");
	char *name = tool_format("%s-%zu", g->routine, g->n_gpus);
	const struct heddle_chart chart = {
	    .title = title,
	    .x_label = "order of the matrix",
	    .y_label = "Tflop/s",
	    .series = series,
	    .n_series = VARIANTS,
	};
	int status = is_last ? repro_chart(report, &chart) : repro_chart_besides(report, name, &chart);
	free(title);
	free(name);
	return status;
}

static int report_all(struct repro_report *report, const struct all *a)
{
	repro_where(report, "virtual time (simulated), platform intel-v100 with 1 and 2 GPUs, double precision, dmdas");
	for (size_t i = 0; i < a->n_groups; i++)
		add_rows(report, &a->groups[i]);
	add_ahead_somewhere(report, a);
	repro_note(report,
	           "Times of kernels follow rate curves fitted for all orders of tiles; those of the paper's machine "
	           "were measured. GPUs hold 14.2 GiB of data. The paper gives its figures as curves only.");
	repro_note(report,
	           "2880/960 and 2880/960/320: the tiles on the diagonal and beside it are cut, as in the paper, and "
	           "all tasks that may expand do. adaptive: all tiles are cut twice, and Heddle decides task by task.");
	int status = write_data(report, a);
	for (size_t i = 0; i < a->n_groups && !status; i++)
		status = draw(report, &a->groups[i], i + 1 == a->n_groups);
	return status;
}

static int run(struct repro_report *report, const struct experiment *e)
{
	struct all *a = tool_alloc(sizeof *a);
	int status = TOOL_OK;
	memset(a, 0, sizeof *a);
	open_groups(a, e, report->quick);
	for (size_t i = 0; i < MACHINES && !status; i++)
		status = repro_machine("intel-v100", i + 1, 0, &a->platforms[i]);
	if (!status)
		status = simulate(a, report->seed);
	if (!status)
		status = report_all(report, a);
	for (size_t i = 0; i < MACHINES; i++)
		heddle_platform_free(a->platforms[i]);
	free(a);
	return status;
}

int repro_ht_gemm(struct repro_report *report)
{
	const struct experiment e = {{"gemm"}, 1, report->quick ? 34560 : 51840};
	return run(report, &e);
}

int repro_ht_chol(struct repro_report *report)
{
	const struct experiment e = {{"potrf", "posv", "poinv"}, 3, report->quick ? 34560 : 63360};
	return run(report, &e);
}
