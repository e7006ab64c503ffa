/* da-alpha, da-chol, da-lu, da-qr: figures 1 to 4 of R. Bleuse and others, "Scheduling data flow program in XKaapi: a
 * new affinity based algorithm for heterogeneous architectures", Euro-Par 2014: speed and bytes moved of HEFT and DADA
 * on 1 to 8 GPUs, for three factorisations.
 *
 * A sweep runs a factorisation under several variants of these policies on 1, 2, ... 8 GPUs, several times each with
 * noisy times. All experiments consist of sweeps. */
#include "repro.h"
#include <stdlib.h>
#include <string.h>

enum { GPUS = 8, TILE = 512, INNER = 128, ORDER = 8192, LARGE = 16384 };
enum { SEEDS = 30, QUICK_SEEDS = 5, LARGE_SEEDS = 3 };
#define NOISE 0.05

/* The first machine is that of the paper and has verdicts: its GPUs exchange data through main memory. The second
 * machine is the same with direct copies between GPUs. */
static const char *const machines[] = {"westmere-c2050-dada", "westmere-c2050"};

struct variant {
	const char *name, *sched, *options;
};

/* --- Sweeps ------------------------------------------------------------------------------------------------------- */

struct point {
	struct repro_mean seconds, gflops, bytes;
};

struct sweep {
	/* The request; all borrowed. */
	const char *routine, *machine;
	size_t n, n_seeds;
	const struct variant *variants;
	size_t n_variants;
	/* `first`: the first of the variants from which rows are made. The texts of rows begin with `name`; NULL: the
	 * rows are those of the paper, with verdicts. */
	size_t first;
	const char *family;
	/* The results, by variant and number of GPUs; owned. */
	struct point (*points)[GPUS + 1];
};

static void plan(const struct sweep *s, struct heddle_platform *const *platforms, uint64_t seed, struct repro_run *runs)
{
	for (size_t i = 0; i < s->n_variants * GPUS * s->n_seeds; i++) {
		const struct variant *variant = &s->variants[i / s->n_seeds / GPUS];
		runs[i] = (struct repro_run){
		    .problem = {.routine = s->routine,
		                .n = s->n,
		                .options = {.tile = TILE, .inner = INNER, .priority = HEDDLE_DENSE_PRIORITY_NONE}},
		    .platform = platforms[i / s->n_seeds % GPUS],
		    .sched = variant->sched,
		    .sched_options = variant->options,
		    .seed = seed * s->n_seeds + i % s->n_seeds,
		    .noise = NOISE,
		};
	}
}

static struct point point_of(const struct repro_run *runs, size_t n)
{
	double *values = tool_alloc(3 * n * sizeof *values);
	for (size_t i = 0; i < n; i++) {
		values[i] = runs[i].outcome.seconds;
		values[n + i] = runs[i].outcome.gflops;
		values[2 * n + i] = runs[i].outcome.bytes_moved;
	}
	struct point p = {repro_mean_of(values, n), repro_mean_of(values + n, n), repro_mean_of(values + 2 * n, n)};
	free(values);
	return p;
}

static int sweep_on(struct sweep *s, struct heddle_platform *const *platforms, uint64_t seed)
{
	size_t n = s->n_variants * GPUS * s->n_seeds;
	struct repro_run *runs = tool_alloc(n * sizeof *runs);
	plan(s, platforms, seed, runs);
	int status = repro_simulate(runs, n);
	for (size_t i = 0; i < s->n_variants * GPUS && !status; i++)
		s->points[i / GPUS][i % GPUS + 1] = point_of(&runs[i * s->n_seeds], s->n_seeds);
	repro_runs_free(runs, n);
	free(runs);
	return status;
}

/* Fills s->points, which the caller frees with sweep_free, also after a failure. */
static int sweep_do(struct sweep *s, uint64_t seed)
{
	struct heddle_platform *platforms[GPUS] = {NULL};
	int status = TOOL_OK;
	s->points = tool_alloc(s->n_variants * sizeof *s->points);
	for (size_t gpus = 1; gpus <= GPUS && !status; gpus++)
		status = repro_machine(s->machine, gpus, 0, &platforms[gpus - 1]);
	if (!status)
		status = sweep_on(s, platforms, seed);
	for (size_t i = 0; i < GPUS; i++)
		heddle_platform_free(platforms[i]);
	return status;
}

static void sweep_free(struct sweep *s)
{
	free(s->points);
}

static double speed(const struct sweep *s, size_t variant, size_t gpus)
{
	return s->points[s->first + variant][gpus].gflops.mean;
}

static double bytes(const struct sweep *s, size_t variant, size_t gpus)
{
	return s->points[s->first + variant][gpus].bytes.mean;
}

/* The speed of the fastest of the variants from `first` to `last`, divided by that of the slowest. */
static double spread(const struct sweep *s, size_t first, size_t last, size_t gpus)
{
	double most = 0, least = INFINITY;
	for (size_t i = first; i <= last; i++) {
		most = fmax(most, speed(s, i, gpus));
		least = fmin(least, speed(s, i, gpus));
	}
	return most / least;
}

/* --- Rows and files ----------------------------------------------------------------------------------------------- */

/* Rows of the paper's machine, matrix and policies keep their range; other rows are only shown. */
static void add_row(struct repro_report *report, const struct sweep *s, struct repro_row row)
{
	int is_papers = s->machine == machines[0] && s->n == ORDER;
	char *place = is_papers ? tool_format("%s", "") : tool_format("%s, order %zu: ", s->machine, s->n);
	char *quantity =
	    tool_format("%s%s%s%s", place, s->family ? s->family : "", s->family ? ": " : "", row.quantity);
	int is_judged = is_papers && !s->family;
	repro_row(report, quantity, row.unit, is_judged ? row.paper : NAN, row.ours,
	          is_judged ? row.accepted : repro_shown());
	free(quantity);
	free(place);
}

static void begin_data(struct table *table)
{
	static const struct table_column columns[] = {
	    {"platform", NULL, NULL, TABLE_AS_TEXT},
	    {"order", NULL, NULL, 0},
	    {"policy", NULL, NULL, TABLE_AS_TEXT},
	    {"options", NULL, NULL, TABLE_AS_TEXT},
	    {"gpus", NULL, NULL, 0},
	    {"runs", NULL, NULL, 0},
	    {"gflops", NULL, NULL, 1},
	    {"gflops_half_interval", NULL, NULL, 1},
	    {"seconds", NULL, NULL, 4},
	    {"moved_gb", NULL, NULL, 3},
	    {"moved_gb_half_interval", NULL, NULL, 3},
	};
	table_init(table, "points", NULL, columns, sizeof columns / sizeof *columns);
}

static void add_data(struct table *table, const struct sweep *s)
{
	for (size_t i = 0; i < s->n_variants * GPUS; i++) {
		const struct variant *variant = &s->variants[i / GPUS];
		const struct point *p = &s->points[i / GPUS][i % GPUS + 1];
		table_text(table, "%s", s->machine);
		table_number(table, (double)s->n);
		table_text(table, "%s", variant->name);
		table_text(table, "%s", variant->options ? variant->options : "");
		table_number(table, (double)(i % GPUS + 1));
		table_number(table, (double)s->n_seeds);
		table_number(table, p->gflops.mean);
		table_number(table, p->gflops.half);
		table_number(table, p->seconds.mean);
		table_number(table, p->bytes.mean * 1e-9);
		table_number(table, p->bytes.half * 1e-9);
	}
}

enum quantity { SPEED, BYTES };

/* Draws one panel of a figure: some variants over the number of GPUs. If the name is NULL, the panel is the picture of
 * the report. */
struct panel {
	const char *name, *title;
	enum quantity quantity;
	size_t first, n; /* variants */
};

static int draw(struct repro_report *report, const struct sweep *s, const struct panel *panel)
{
	struct heddle_chart_series *series = tool_alloc(panel->n * sizeof *series);
	double *values = tool_alloc((panel->n + 1) * GPUS * sizeof *values), *gpus = values + panel->n * GPUS;
	for (size_t i = 0; i < panel->n; i++) {
		double *y = values + i * GPUS;
		for (size_t g = 1; g <= GPUS; g++) {
			gpus[g - 1] = (double)g;
			y[g - 1] = panel->quantity == SPEED ? speed(s, panel->first + i, g)
			                                    : bytes(s, panel->first + i, g) * 1e-9;
		}
		series[i] = (struct heddle_chart_series){s->variants[panel->first + i].name, gpus, y, GPUS, 1};
	}
	const struct heddle_chart chart = {
	    .title = panel->title,
	    .x_label = "GPUs; the other cores of 12 compute too",
	    .y_label = panel->quantity == SPEED ? "Gflop/s" : "GB moved",
	    .series = series,
	    .n_series = panel->n,
	};
	int status = panel->name ? repro_chart_besides(report, panel->name, &chart) : repro_chart(report, &chart);
	free(values);
	free(series);
	return status;
}

static void say_where(struct repro_report *report, const char *routine)
{
	repro_where(report,
	            "virtual time (simulated), platform %s with 1 to 8 GPUs: %s of order %d in tiles of %d, double "
	            "precision, means of %d runs",
	            machines[0], routine, ORDER, TILE, report->quick ? QUICK_SEEDS : SEEDS);
}

static void note_setting(struct repro_report *report)
{
	repro_note(
	    report,
	    "Execution times vary by %g %%; every run has a seed of its own. The paper's runs were on the machine "
	    "itself. Up to 4 GPUs, no two share a switch, as in the paper; each GPU takes one of the 12 cores.",
	    100 * NOISE);
	repro_note(report,
	           "Figures without a platform are of %s, whose GPUs exchange data by way of main memory, each copy "
	           "counted twice. The paper does not say whether its runtime copied between GPUs directly; %s does.",
	           machines[0], machines[1]);
	repro_note(report, "DADA has backlog=none, as the paper's: loads of a batch begin at 0.");
}

/* Makes a sweep of each machine, order and list of variants of the experiment; the first sweep is the paper's. Without
 * `quick`, a larger matrix follows. The caller frees the sweeps with sweeps_free. */
enum { SWEEPS = 3 };
static int sweeps_do(const struct repro_report *report, const struct sweep *what, struct sweep sweeps[SWEEPS],
                     size_t *n)
{
	int status = TOOL_OK;
	*n = 0;
	for (size_t i = 0; i < (report->quick ? SWEEPS - 1 : SWEEPS) && !status; i++) {
		struct sweep *s = &sweeps[(*n)++];
		*s = *what;
		s->machine = machines[i == 1];
		s->n = i == 2 ? LARGE : ORDER;
		s->n_seeds = report->quick ? QUICK_SEEDS : i == 2 ? LARGE_SEEDS : SEEDS;
		status = sweep_do(s, report->seed);
	}
	return status;
}

static int sweeps_write(struct repro_report *report, const struct sweep *sweeps, size_t n)
{
	struct table table;
	begin_data(&table);
	for (size_t i = 0; i < n; i++)
		add_data(&table, &sweeps[i]);
	int status = repro_data(report, "points", &table);
	table_free(&table);
	return status;
}

static void sweeps_free(struct sweep *sweeps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sweep_free(&sweeps[i]);
}

/* --- da-alpha ----------------------------------------------------------------------------------------------------- */

enum { ALPHAS = 5 };
static const double alphas[ALPHAS] = {0, 0.25, 0.5, 0.75, 1};
static const struct variant alpha_variants[2 * ALPHAS] = {
    {"DADA(0)", "dada", "backlog=none,alpha=0"},
    {"DADA(0.25)", "dada", "backlog=none,alpha=0.25"},
    {"DADA(0.5)", "dada", "backlog=none,alpha=0.5"},
    {"DADA(0.75)", "dada", "backlog=none,alpha=0.75"},
    {"DADA(1)", "dada", "backlog=none,alpha=1"},
    {"DADA(0)+CP", "dada", "backlog=none,alpha=0,cp=yes"},
    {"DADA(0.25)+CP", "dada", "backlog=none,alpha=0.25,cp=yes"},
    {"DADA(0.5)+CP", "dada", "backlog=none,alpha=0.5,cp=yes"},
    {"DADA(0.75)+CP", "dada", "backlog=none,alpha=0.75,cp=yes"},
    {"DADA(1)+CP", "dada", "backlog=none,alpha=1,cp=yes"},
};

/* Spearman's correlation of alpha and the speed on 8 GPUs, among variants that begin at `first`. */
static double order_of_alphas(const struct sweep *s, size_t first)
{
	double speeds[ALPHAS];
	for (size_t i = 0; i < ALPHAS; i++)
		speeds[i] = speed(s, first + i, GPUS);
	return repro_spearman(alphas, speeds, ALPHAS);
}

static void add_alpha_rows(struct repro_report *report, const struct sweep *s)
{
	static char flat[] = "speed of DADA(0) on 8 GPUs / on 2", steep[] = "speed of DADA(1) on 8 GPUs / on 2",
	            order[] = "8 GPUs: correlation of alpha and speed (Spearman)",
	            order_cp[] = "8 GPUs: the same with communication prediction",
	            gain[] = "8 GPUs: speed of DADA(1) / DADA(0)", moved[] = "8 GPUs: bytes of DADA(1) / DADA(0)",
	            moved_cp[] = "8 GPUs: bytes of DADA(1)+CP / DADA(0)+CP";
	double flat_ours = speed(s, 0, GPUS) / speed(s, 0, 2), last = ALPHAS - 1;
	size_t one = (size_t)last;
	add_row(report, s, (struct repro_row){flat, "", 1, flat_ours, repro_at_most(1.2)});
	add_row(report, s, (struct repro_row){steep, "", NAN, speed(s, one, GPUS) / speed(s, one, 2), repro_shown()});
	add_row(report, s, (struct repro_row){order, "", 1, order_of_alphas(s, 0), repro_at_least(0.5)});
	add_row(report, s, (struct repro_row){order_cp, "", 1, order_of_alphas(s, ALPHAS), repro_at_least(0.5)});
	add_row(report, s,
	        (struct repro_row){gain, "", NAN, speed(s, one, GPUS) / speed(s, 0, GPUS), repro_at_least(1)});
	add_row(report, s,
	        (struct repro_row){moved, "", NAN, bytes(s, one, GPUS) / bytes(s, 0, GPUS), repro_at_most(0.8)});
	add_row(report, s,
	        (struct repro_row){moved_cp, "", NAN, bytes(s, ALPHAS + one, GPUS) / bytes(s, ALPHAS, GPUS),
	                           repro_at_most(1)});
}

int repro_da_alpha(struct repro_report *report)
{
	static const struct panel panels[] = {
	    {NULL, "Cholesky, DADA(alpha), backlog=none (simulated)", SPEED, 0, ALPHAS},
	    {"bytes", "Cholesky, DADA(alpha), backlog=none (simulated)", BYTES, 0, ALPHAS},
	    {"cp", "Cholesky, DADA(alpha)+CP, backlog=none (simulated)", SPEED, ALPHAS, ALPHAS},
	    {"cp-bytes", "Cholesky, DADA(alpha)+CP, backlog=none (simulated)", BYTES, ALPHAS, ALPHAS},
	};
	const struct sweep what = {.routine = "potrf", .variants = alpha_variants, .n_variants = 2 * ALPHAS};
	struct sweep sweeps[SWEEPS];
	size_t n;
	int status = sweeps_do(report, &what, sweeps, &n);
	if (!status) {
		say_where(report, "Cholesky");
		for (size_t i = 0; i < n; i++)
			add_alpha_rows(report, &sweeps[i]);
		note_setting(report);
		status = sweeps_write(report, sweeps, n);
	}
	for (size_t i = 0; i < sizeof panels / sizeof *panels && !status; i++)
		status = draw(report, &sweeps[0], &panels[i]);
	sweeps_free(sweeps, n);
	return status;
}

/* --- da-chol, da-lu, da-qr ---------------------------------------------------------------------------------------- */

enum { HEFT, DADA_0, DADA_A, DADA_CP, DADA_1_CP, COMPARED };
/* The paper's policies; then the same policies with work stealing by idle workers. */
static const struct variant compared[2 * COMPARED] = {
    [HEFT] = {"HEFT", "heft", NULL},
    [DADA_0] = {"DADA(0)", "dada", "backlog=none,alpha=0"},
    [DADA_A] = {"DADA(0.5)", "dada", "backlog=none,alpha=0.5"},
    [DADA_CP] = {"DADA(0.5)+CP", "dada", "backlog=none,alpha=0.5,cp=yes"},
    [DADA_1_CP] = {"DADA(1)+CP", "dada", "backlog=none,alpha=1,cp=yes"},
    [COMPARED + HEFT] = {"HEFT, stealing", "heft", "steal=class"},
    [COMPARED + DADA_0] = {"DADA(0), stealing", "dada", "backlog=none,alpha=0,steal=class"},
    [COMPARED + DADA_A] = {"DADA(0.5), stealing", "dada", "backlog=none,alpha=0.5,steal=class"},
    [COMPARED + DADA_CP] = {"DADA(0.5)+CP, stealing", "dada", "backlog=none,alpha=0.5,cp=yes,steal=class"},
    [COMPARED + DADA_1_CP] = {"DADA(1)+CP, stealing", "dada", "backlog=none,alpha=1,cp=yes,steal=class"},
};

/* Runs the sweeps of a routine and fills the report; add_rows adds the rows that the paper's text asks for. */
struct comparison_of {
	const char *routine, *title;
	void (*add_rows)(struct repro_report *report, const struct sweep *s);
};

static void add_all_rows(struct repro_report *report, const struct comparison_of *c, const struct sweep *sweeps,
                         size_t n)
{
	for (size_t i = 0; i < n; i++)
		c->add_rows(report, &sweeps[i]);
	for (size_t i = 0; i < n; i++) {
		struct sweep stealing = sweeps[i];
		stealing.first = COMPARED;
		stealing.family = "stealing";
		c->add_rows(report, &stealing);
	}
}

static int compare(struct repro_report *report, const struct comparison_of *c)
{
	const struct sweep what = {.routine = c->routine, .variants = compared, .n_variants = 2 * COMPARED};
	const struct panel panels[] = {{NULL, c->title, SPEED, 0, COMPARED},
	                               {"bytes", c->title, BYTES, 0, COMPARED},
	                               {"stealing", c->title, SPEED, COMPARED, COMPARED},
	                               {"stealing-bytes", c->title, BYTES, COMPARED, COMPARED}};
	struct sweep sweeps[SWEEPS];
	size_t n;
	int status = sweeps_do(report, &what, sweeps, &n);
	if (!status) {
		say_where(report, c->routine);
		add_all_rows(report, c, sweeps, n);
		note_setting(report);
		repro_note(report, "The paper's text does not say which alpha figures 2 to 4 have: 0.5 is judged, 1 is "
		                   "shown.");
		repro_note(report,
		           "In the paper's runtime idle workers steal from any other. Stealing: from workers of "
		           "the same class, as CPUs that steal from GPUs take tasks that last 30 times longer "
		           "there.");
		status = sweeps_write(report, sweeps, n);
	}
	for (size_t i = 0; i < sizeof panels / sizeof *panels && !status; i++)
		status = draw(report, &sweeps[0], &panels[i]);
	sweeps_free(sweeps, n);
	return status;
}

/* The least ratio, over numbers of GPUs, of HEFT's bytes to the bytes of the DADA with affinity that moves most. */
static double least_saving(const struct sweep *s, size_t from, size_t to)
{
	double least = INFINITY;
	for (size_t gpus = from; gpus <= to; gpus++)
		least = fmin(least, bytes(s, HEFT, gpus) / fmax(bytes(s, DADA_A, gpus), bytes(s, DADA_CP, gpus)));
	return least;
}

static double saving(const struct sweep *s, size_t variant)
{
	return bytes(s, HEFT, GPUS) / bytes(s, variant, GPUS);
}

/* Adds figures without a range, for information. */
static void add_shown_rows(struct repro_report *report, const struct sweep *s)
{
	static char time[] = "8 GPUs: time of DADA(1)+CP / HEFT", moved[] = "8 GPUs: bytes of HEFT / DADA(1)+CP",
	            heft[] = "8 GPUs: speed of HEFT";
	double ratio = speed(s, HEFT, GPUS) / speed(s, DADA_1_CP, GPUS);
	add_row(report, s, (struct repro_row){moved, "", NAN, saving(s, DADA_1_CP), repro_shown()});
	add_row(report, s, (struct repro_row){time, "", NAN, ratio, repro_shown()});
	add_row(report, s, (struct repro_row){heft, "Gflop/s", NAN, speed(s, HEFT, GPUS), repro_shown()});
}

static void add_cholesky_rows(struct repro_report *report, const struct sweep *s)
{
	static char alike[] = "8 GPUs: fastest / slowest of HEFT, DADA(0), DADA(0.5), DADA(0.5)+CP",
	            faster[] = "8 GPUs: speed of DADA(0.5)+CP / HEFT",
	            less[] = "2 to 6 GPUs: bytes of HEFT / larger of DADA(0.5), DADA(0.5)+CP, least",
	            less_8[] = "8 GPUs: bytes of HEFT / DADA(0.5)+CP";
	double ratio = speed(s, DADA_CP, GPUS) / speed(s, HEFT, GPUS);
	add_row(report, s, (struct repro_row){alike, "", 1, spread(s, HEFT, DADA_CP, GPUS), repro_at_most(1.25)});
	add_row(report, s, (struct repro_row){faster, "", NAN, ratio, repro_at_least(1)});
	add_row(report, s, (struct repro_row){less, "", NAN, least_saving(s, 2, 6), repro_at_least(1)});
	add_row(report, s, (struct repro_row){less_8, "", NAN, saving(s, DADA_CP), repro_at_least(1)});
	add_shown_rows(report, s);
}

int repro_da_chol(struct repro_report *report)
{
	return compare(report, &(struct comparison_of){.routine = "potrf",
	                                               .title = "Cholesky of order 8192 (simulated)",
	                                               .add_rows = add_cholesky_rows});
}

static void add_lu_rows(struct repro_report *report, const struct sweep *s)
{
	static char less[] = "8 GPUs: bytes of HEFT / DADA(0.5)+CP", time[] = "8 GPUs: time of DADA(0.5)+CP / HEFT",
	            most[] = "8 GPUs: bytes of DADA(0) / HEFT", same[] = "8 GPUs: bytes of DADA(0.5) / HEFT",
	            alike[] = "8 GPUs: fastest / slowest of HEFT, DADA(0), DADA(0.5)";
	double ratio = speed(s, HEFT, GPUS) / speed(s, DADA_CP, GPUS);
	add_row(report, s, (struct repro_row){less, "", 3.5, saving(s, DADA_CP), repro_at_least(3)});
	add_row(report, s, (struct repro_row){time, "", 1.13, ratio, repro_at_most(1.2)});
	add_row(report, s, (struct repro_row){most, "", NAN, 1 / saving(s, DADA_0), repro_at_least(1)});
	add_row(report, s, (struct repro_row){same, "", 1, 1 / saving(s, DADA_A), repro_within(1, 0.25)});
	add_row(report, s, (struct repro_row){alike, "", 1, spread(s, HEFT, DADA_A, GPUS), repro_at_most(1.25)});
	add_shown_rows(report, s);
}

int repro_da_lu(struct repro_report *report)
{
	repro_note(
	    report,
	    "LU without pivoting. The paper's, PLASMA's DGETRF, pivots in pairs of tiles (incremental pivoting), "
	    "whose graph is that of QR. da-qr shows what DADA saves there: more than here.");
	repro_note(report,
	           "Affinity to written data saves moves of tiles that are still written. Most bytes are those of "
	           "finished tiles that updates read, which each DADA fetches as often as HEFT: docs/policy-study.md.");
	return compare(report, &(struct comparison_of){.routine = "getrf_nopiv",
	                                               .title = "LU of order 8192 (simulated)",
	                                               .add_rows = add_lu_rows});
}

/* HEFT is faster than DADA(0), DADA(0.5) and DADA(0.5)+CP on 1 GPU, 2, ... up to this number. */
static size_t heft_leads_to(const struct sweep *s)
{
	size_t gpus = 0;
	while (gpus < GPUS &&
	       speed(s, HEFT, gpus + 1) >
	           fmax(speed(s, DADA_0, gpus + 1), fmax(speed(s, DADA_A, gpus + 1), speed(s, DADA_CP, gpus + 1))))
		gpus++;
	return gpus;
}

static void add_qr_rows(struct repro_report *report, const struct sweep *s)
{
	static char ahead[] = "8 GPUs: speed of HEFT / fastest of DADA(0), DADA(0.5), DADA(0.5)+CP",
	            alike[] = "8 GPUs: fastest / slowest of these DADA",
	            less[] = "8 GPUs: bytes of HEFT / larger of DADA(0.5), DADA(0.5)+CP",
	            leads[] = "number of GPUs up to which HEFT is ahead of these";
	double best = fmax(speed(s, DADA_0, GPUS), fmax(speed(s, DADA_A, GPUS), speed(s, DADA_CP, GPUS)));
	add_row(report, s, (struct repro_row){ahead, "", NAN, speed(s, HEFT, GPUS) / best, repro_at_least(1)});
	add_row(report, s, (struct repro_row){alike, "", 1, spread(s, DADA_0, DADA_CP, GPUS), repro_at_most(1.25)});
	add_row(report, s, (struct repro_row){less, "", NAN, least_saving(s, GPUS, GPUS), repro_at_least(1)});
	add_row(report, s, (struct repro_row){leads, "", GPUS, (double)heft_leads_to(s), repro_shown()});
	add_shown_rows(report, s);
}

int repro_da_qr(struct repro_report *report)
{
	return compare(report, &(struct comparison_of){.routine = "geqrf",
	                                               .title = "QR of order 8192, flat tree (simulated)",
	                                               .add_rows = add_qr_rows});
}
