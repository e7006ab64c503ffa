/* mp-dense: figure 5 of H. Tayeb and others, "Dynamic tasks scheduling with multiple priorities on heterogeneous
 * computing systems", IPDPSW 2024: the gain or loss of multiprio over dmdas with expert priorities, for three
 * factorisations on two machines with 2 GPUs, over the order of the matrix. At each order, each policy uses the best of
 * three tiles. */
#include "repro.h"
#include <stdlib.h>
#include <string.h>

enum { MACHINES = 2, ROUTINES = 3, TILES = 3, ORDERS = 12, POLICIES = 3, GROUPS = MACHINES * ROUTINES };
enum { INTEL, AMD };
enum { POTRF, GETRF, GEQRF };
enum { MULTIPRIO, CRITICAL, DMDAS };

/* Orders are multiples of all three tiles. */
static const struct machine {
	const char *platform, *short_name;
	size_t tiles[TILES], step;
} machines[MACHINES] = {
    [INTEL] = {"intel-v100", "V100", {640, 1280, 2560}, 10240},
    [AMD] = {"amd-a100", "A100", {960, 1920, 3840}, 11520},
};
static const char *const routines[ROUTINES] = {[POTRF] = "potrf", [GETRF] = "getrf_nopiv", [GEQRF] = "geqrf"};
/* CRITICAL is not in the paper: it shows how much of a loss comes from ordering tasks by gain. */
static const struct policy {
	const char *name, *sched, *options;
} policies[POLICIES] = {
    [MULTIPRIO] = {"multiprio", "multiprio", NULL},
    [CRITICAL] = {"multiprio, criticality first", "multiprio", "first=criticality"},
    [DMDAS] = {"dmdas", "dmdas", NULL},
};

/* A graph with more tiles per side than this is left out: its tile is the smallest, and far from optimal. */
enum { TILES_PER_SIDE = 128, QUICK_TILES_PER_SIDE = 64 };
enum { LARGEST = 125000 };

/* --- Cases -------------------------------------------------------------------------------------------------------- */

/* One order of a routine on a machine: for each policy, the best of the tiles that were tried. */
struct point {
	size_t order;
	double gflops[POLICIES][TILES]; /* NAN: left out */
	double bytes[POLICIES][TILES], evictions[POLICIES][TILES];
};

struct group {
	size_t machine, routine, n;
	struct point points[ORDERS];
};

static size_t best_tile(const struct point *p, size_t policy)
{
	size_t best = TILES - 1; /* the largest tile is never left out */
	for (size_t i = 0; i < TILES; i++)
		best = p->gflops[policy][i] > p->gflops[policy][best] ? i : best;
	return best;
}

static double best(const struct point *p, size_t policy)
{
	return p->gflops[policy][best_tile(p, policy)];
}

/* The gain of multiprio over dmdas, in %. */
static double gain(const struct point *p)
{
	return 100 * (best(p, MULTIPRIO) / best(p, DMDAS) - 1);
}

/* Sets the orders: all orders up to LARGEST; with `quick`, every third order. */
static void set_orders(struct group *g, int quick)
{
	const size_t every = quick ? 3 : 1;
	g->n = 0;
	for (size_t i = 1; i * machines[g->machine].step <= LARGEST && g->n < ORDERS; i += every)
		g->points[g->n++].order = i * machines[g->machine].step;
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

enum { RUNS = GROUPS * ORDERS * TILES * POLICIES };

/* The case to which a run belongs. */
struct source {
	struct point *point;
	size_t policy, tile;
};

struct all {
	struct group groups[GROUPS];
	struct heddle_platform *platforms[MACHINES];
	struct repro_run runs[RUNS];
	struct source sources[RUNS];
	size_t n_runs;
};

static void add_run(struct all *a, const struct group *g, struct source source, uint64_t seed)
{
	a->sources[a->n_runs] = source;
	a->runs[a->n_runs++] = (struct repro_run){
	    .problem = {.routine = routines[g->routine],
	                .n = source.point->order,
	                .options = {.tile = machines[g->machine].tiles[source.tile],
	                            .priority = HEDDLE_DENSE_PRIORITY_STARPU}},
	    .platform = a->platforms[g->machine],
	    .sched = policies[source.policy].sched,
	    .sched_options = policies[source.policy].options,
	    .seed = seed,
	};
}

/* Plans the runs with most tasks first, so that no thread begins a long run when the other threads have finished. */
static void plan(struct all *a, const struct repro_report *report)
{
	size_t most = report->quick ? QUICK_TILES_PER_SIDE : TILES_PER_SIDE;
	for (size_t side = most; side > 0; side--)
		for (size_t i = 0; i < GROUPS * ORDERS * TILES; i++) {
			struct group *g = &a->groups[i / (ORDERS * TILES)];
			size_t point = i / TILES % ORDERS, tile = i % TILES;
			if (point < g->n && g->points[point].order / machines[g->machine].tiles[tile] == side)
				for (size_t policy = 0; policy < POLICIES; policy++)
					add_run(a, g, (struct source){&g->points[point], policy, tile}, report->seed);
		}
}

static void open_groups(struct all *a, int quick)
{
	for (size_t i = 0; i < GROUPS; i++) {
		struct group *g = &a->groups[i];
		*g = (struct group){.machine = i / ROUTINES, .routine = i % ROUTINES};
		set_orders(g, quick);
		for (size_t k = 0; k < g->n * POLICIES * TILES; k++)
			g->points[k / (POLICIES * TILES)].gflops[k / TILES % POLICIES][k % TILES] = NAN;
	}
}

static int simulate(struct all *a, const struct repro_report *report)
{
	int status = TOOL_OK;
	open_groups(a, report->quick);
	for (size_t i = 0; i < MACHINES && !status; i++)
		status = tool_load_platform(machines[i].platform, &a->platforms[i]);
	if (status)
		return status;
	plan(a, report);
	status = repro_simulate(a->runs, a->n_runs);
	for (size_t i = 0; i < a->n_runs && !status; i++) {
		const struct source *source = &a->sources[i];
		source->point->gflops[source->policy][source->tile] = a->runs[i].outcome.gflops;
		source->point->bytes[source->policy][source->tile] = a->runs[i].outcome.bytes_moved;
		source->point->evictions[source->policy][source->tile] = a->runs[i].outcome.evictions;
	}
	return status;
}

/* --- The report --------------------------------------------------------------------------------------------------- */

/* Points of one group or of several, with orders above `from` up to `to`. */
struct selection {
	const struct group *groups;
	size_t n, from, to;
};

/* The geometric mean of a policy's speed over dmdas's. */
static double mean_ratio(struct selection s, size_t policy)
{
	double logs = 0, count = 0;
	for (size_t i = 0; i < s.n; i++)
		for (size_t k = 0; k < s.groups[i].n; k++) {
			const struct point *p = &s.groups[i].points[k];
			if (p->order <= s.from || p->order > s.to)
				continue;
			logs += log(best(p, policy) / best(p, DMDAS));
			count++;
		}
	return exp(logs / count);
}

/* The sum of `what` over points for dmdas with its best tile, divided by the sum for multiprio. */
static double dmdas_over_multiprio(struct selection s, double (*what)(const struct point *p, size_t policy))
{
	double of_dmdas = 0, of_multiprio = 0;
	for (size_t i = 0; i < s.n; i++)
		for (size_t k = 0; k < s.groups[i].n; k++) {
			const struct point *p = &s.groups[i].points[k];
			if (p->order <= s.from || p->order > s.to)
				continue;
			of_dmdas += what(p, DMDAS);
			of_multiprio += what(p, MULTIPRIO);
		}
	return of_dmdas / of_multiprio;
}

static double bytes_of(const struct point *p, size_t policy)
{
	return p->bytes[policy][best_tile(p, policy)];
}

static double evictions_of(const struct point *p, size_t policy)
{
	return p->evictions[policy][best_tile(p, policy)];
}

static struct selection of_group(const struct all *a, size_t machine, size_t routine, size_t from, size_t to)
{
	return (struct selection){&a->groups[machine * ROUTINES + routine], 1, from, to};
}

static void add_rows(struct repro_report *report, const struct all *a)
{
	const struct selection all = {a->groups, GROUPS, 0, SIZE_MAX};
	const struct selection large_lu = of_group(a, INTEL, GETRF, 100000, SIZE_MAX),
	                       large_qr = of_group(a, AMD, GEQRF, 60000, 90000);
	repro_row(report, "multiprio / dmdas, geometric mean of all points", "", 1, mean_ratio(all, MULTIPRIO),
	          repro_at_least(0.97));
	repro_row(report, "getrf_nopiv on intel-v100 beyond 100k: gain", "%", 14,
	          100 * (mean_ratio(large_lu, MULTIPRIO) - 1), repro_at_least(2));
	repro_row(report, "geqrf on amd-a100, 60k to 90k: gain", "%", 4, 100 * (mean_ratio(large_qr, MULTIPRIO) - 1),
	          repro_at_least(0));
	for (size_t i = 0; i < GROUPS; i++) {
		size_t machine = i / ROUTINES, routine = i % ROUTINES;
		char *quantity = tool_format("%s on %s: geometric mean", routines[routine], machines[machine].platform);
		repro_row(report, quantity, "", NAN, mean_ratio(of_group(a, machine, routine, 0, SIZE_MAX), MULTIPRIO),
		          repro_shown());
		free(quantity);
	}
	const struct group *lu = &a->groups[INTEL * ROUTINES + GETRF];
	char *largest = tool_format("getrf_nopiv on intel-v100, order %zu: gain", lu->points[lu->n - 1].order);
	repro_row(report, largest, "%", NAN, gain(&lu->points[lu->n - 1]), repro_shown());
	free(largest);
	repro_row(report, "getrf_nopiv on intel-v100 beyond 100k: bytes of dmdas / multiprio", "", NAN,
	          dmdas_over_multiprio(large_lu, bytes_of), repro_shown());
	repro_row(report, "getrf_nopiv on intel-v100 beyond 100k: evictions of dmdas / multiprio", "", NAN,
	          dmdas_over_multiprio(large_lu, evictions_of), repro_shown());
	repro_row(report, "multiprio with first=criticality / dmdas, geometric mean of all points", "", NAN,
	          mean_ratio(all, CRITICAL), repro_shown());
}

static void add_notes(struct repro_report *report)
{
	repro_note(
	    report,
	    "Times of kernels and links are modelled on both machines. Double precision; the paper does not name "
	    "its own. GPUs hold 14.2 and 35.6 GiB of data (16 and 40 GB less what the driver takes).");
	repro_note(
	    report,
	    "dmdas has the priorities of StarPU's and Chameleon's routines, and for geqrf, which has none there, "
	    "bottom levels; multiprio does not look at them. geqrf: flat tree, inner blocking of 32.");
	repro_note(
	    report,
	    "Matrices of more than %d x %d tiles are left out, so that at the largest orders the smallest tile is "
	    "missing; the data say which. Orders go to %d.",
	    report->quick ? QUICK_TILES_PER_SIDE : TILES_PER_SIDE,
	    report->quick ? QUICK_TILES_PER_SIDE : TILES_PER_SIDE, LARGEST / 1000 * 1000);
}

static void add_data(struct table *table, const struct group *g, const struct point *p)
{
	for (size_t i = 0; i < POLICIES * TILES; i++) {
		size_t policy = i / TILES, tile = i % TILES;
		table_text(table, "%s", machines[g->machine].platform);
		table_text(table, "%s", routines[g->routine]);
		table_number(table, (double)p->order);
		table_text(table, "%s", policies[policy].name);
		table_number(table, (double)machines[g->machine].tiles[tile]);
		table_number(table, p->gflops[policy][tile]);
		table_number(table, isnan(p->gflops[policy][tile]) ? NAN : p->bytes[policy][tile] * 1e-9);
		table_number(table, isnan(p->gflops[policy][tile]) ? NAN : p->evictions[policy][tile]);
		table_text(table, "%s", best_tile(p, policy) == tile ? "yes" : "no");
	}
}

static int write_data(struct repro_report *report, const struct all *a)
{
	static const struct table_column columns[] = {
	    {"platform", NULL, NULL, TABLE_AS_TEXT},
	    {"routine", NULL, NULL, TABLE_AS_TEXT},
	    {"order", NULL, NULL, 0},
	    {"policy", NULL, NULL, TABLE_AS_TEXT},
	    {"tile", NULL, NULL, 0},
	    {"gflops", NULL, NULL, 1},
	    {"moved_gb", NULL, NULL, 2},
	    {"evictions", NULL, NULL, 0},
	    {"best", NULL, NULL, TABLE_AS_TEXT},
	};
	struct table table;
	table_init(&table, "points", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < GROUPS; i++)
		for (size_t k = 0; k < a->groups[i].n; k++)
			add_data(&table, &a->groups[i], &a->groups[i].points[k]);
	int status = repro_data(report, "points", &table);
	table_free(&table);
	return status;
}

/* Draws the gains of all groups; then, per machine, the speeds behind them. */
static int draw_gains(struct repro_report *report, const struct all *a)
{
	struct heddle_chart_series series[GROUPS];
	double x[GROUPS][ORDERS], y[GROUPS][ORDERS];
	for (size_t i = 0; i < GROUPS; i++) {
		const struct group *g = &a->groups[i];
		for (size_t k = 0; k < g->n; k++) {
			x[i][k] = (double)g->points[k].order;
			y[i][k] = gain(&g->points[k]);
		}
		series[i] = (struct heddle_chart_series){
		    tool_format("%s, %s", routines[g->routine], machines[g->machine].short_name), x[i], y[i], g->n, 1};
	}
	const struct heddle_chart chart = {
	    .title = "multiprio over dmdas with priorities, best tiles (simulated)",
	    .x_label = "order of the matrix",
	    .y_label = "gain (%)",
	    .series = series,
	    .n_series = GROUPS,
	};
	int status = repro_chart(report, &chart);
	for (size_t i = 0; i < GROUPS; i++)
		free((void *)(uintptr_t)series[i].name);
	return status;
}

static int draw_speeds(struct repro_report *report, const struct all *a, size_t machine)
{
	static const size_t drawn[] = {MULTIPRIO, DMDAS};
	enum { DRAWN = 2, SERIES = ROUTINES * DRAWN };
	struct heddle_chart_series series[SERIES];
	double x[ROUTINES][ORDERS], y[SERIES][ORDERS];
	for (size_t i = 0; i < SERIES; i++) {
		size_t routine = i / DRAWN, policy = drawn[i % DRAWN];
		const struct group *g = &a->groups[machine * ROUTINES + routine];
		for (size_t k = 0; k < g->n; k++) {
			x[routine][k] = (double)g->points[k].order;
			y[i][k] = best(&g->points[k], policy) * 1e-3;
		}
		series[i] = (struct heddle_chart_series){
		    tool_format("%s, %s", routines[routine], policies[policy].name), x[routine], y[i], g->n, 1};
	}
	char *title = tool_format("%s, best tiles (simulated)", machines[machine].platform);
	const struct heddle_chart chart = {
	    .title = title,
	    .x_label = "order of the matrix",
	    .y_label = "Tflop/s",
	    .series = series,
	    .n_series = SERIES,
	};
	int status = repro_chart_besides(report, machines[machine].platform, &chart);
	for (size_t i = 0; i < SERIES; i++)
		free((void *)(uintptr_t)series[i].name);
	free(title);
	return status;
}

int repro_mp_dense(struct repro_report *report)
{
	struct all *a = tool_alloc(sizeof *a);
	int status = simulate(a, report);
	if (!status) {
		repro_where(
		    report,
		    "virtual time (simulated), platforms %s and %s, 2 GPUs each, double precision, without noise",
		    machines[INTEL].platform, machines[AMD].platform);
		add_rows(report, a);
		add_notes(report);
		status = write_data(report, a);
	}
	if (!status)
		status = draw_gains(report, a);
	for (size_t i = 0; i < MACHINES && !status; i++)
		status = draw_speeds(report, a, i);
	repro_runs_free(a->runs, a->n_runs);
	for (size_t i = 0; i < MACHINES; i++)
		heddle_platform_free(a->platforms[i]);
	free(a);
	return status;
}
