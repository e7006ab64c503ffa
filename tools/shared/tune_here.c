/* The search for the tile of this machine: see tune_here.h. */
#include "tune_here.h"
#include <heddle/model.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "application_run.h"
#include "tool.h"

/* --- The search --------------------------------------------------------------------------------------------------- */

static const size_t orders[] = {64, 96, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024, 1280, 1536, 2048};
enum { N_ORDERS = sizeof orders / sizeof *orders, FINALISTS = 3, FINALS = 2 };

struct trial {
	size_t tile;
	double seconds; /* the least so far */
};

static int by_seconds(const void *a, const void *b)
{
	const struct trial *x = a, *y = b;
	return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Runs the tile, and notes the time if it is the least. */
static void try_tile(struct trial *t, tile_time_fn time, void *arg)
{
	double seconds = time(t->tile, arg);
	if (seconds < t->seconds)
		t->seconds = seconds;
}

size_t tile_search(size_t n, size_t most, tile_time_fn time, void *arg, double *seconds)
{
	static const double TOO_SLOW = 1.5; /* times the best: what comes behind such a tile is slower still */
	struct trial trials[N_ORDERS + 1];
	size_t n_trials = 0;
	double best = INFINITY;
	for (size_t i = 0; i < N_ORDERS; i++) {
		/* at most a quarter of the matrix: fewer tiles leave workers idle. A small matrix is one tile. */
		int fits = orders[i] <= most && (orders[i] <= n / 4 || (i == 0 && orders[i] <= n));
		struct trial *t = &trials[n_trials];
		if (!fits && n_trials)
			break;
		*t = (struct trial){fits ? orders[i] : n < most ? n : most, INFINITY};
		try_tile(t, time, arg);
		if (t->seconds > TOO_SLOW * best) /* perhaps something disturbed it */
			try_tile(t, time, arg);
		n_trials++;
		best = fmin(best, t->seconds);
		if (!fits || (isfinite(t->seconds) && t->seconds > TOO_SLOW * best))
			break;
	}
	qsort(trials, n_trials, sizeof *trials, by_seconds);
	for (int final = 0; final < FINALS && isfinite(best); final++)
		for (size_t i = 0; i < n_trials && i < FINALISTS; i++)
			try_tile(&trials[i], time, arg);
	qsort(trials, n_trials < FINALISTS ? n_trials : FINALISTS, sizeof *trials, by_seconds);
	*seconds = trials[0].seconds;
	return isfinite(trials[0].seconds) ? trials[0].tile : 0;
}

/* --- On this machine ---------------------------------------------------------------------------------------------- */

struct measuring {
	heddle_runtime *rt;
	const struct work *what;
};

static double run_with(size_t tile, void *arg)
{
	const struct measuring *m = arg;
	struct work work = *m->what;
	struct outcome outcome;
	work.problem.options.tile = tile;
	tool_progress("%s: tile %zu", work.app->name, tile);
	if (work_settle(&work) || application_run_on(m->rt, &work, &outcome))
		return NAN;
	double seconds = outcome.seconds;
	outcome_free(&outcome);
	return seconds;
}

static size_t largest_tile(const struct heddle_platform *p)
{
	size_t most = 1024;
	for (size_t c = 0; c < p->n_classes; c++)
		if (strcmp(p->classes[c].kind, "cpu") != 0)
			most = 2048;
	return most;
}

static void today(char day[16])
{
	time_t now = time(NULL);
	struct tm parts;
	strftime(day, 16, "%Y-%m-%d", localtime_r(&now, &parts));
}

/* Finds and keeps the tile of one routine, and adds it to the table. */
static int tune_one(heddle_runtime *rt, const char *dir, const struct work *what, struct table *table)
{
	struct measuring m = {rt, what};
	const struct heddle_platform *here = heddle_runtime_platform(rt);
	struct heddle_dense_tuned found = {.n = work_largest_extent(&what->problem)};
	double seconds;
	today(found.day);
	found.tile = tile_search(found.n, largest_tile(here), run_with, &m, &seconds);
	tool_progress_end();
	if (!found.tile)
		return tool_failure("%s: no tile gave a result", what->name);
	found.gflops = work_flops(what) / seconds * 1e-9;
	heddle_models_save(rt); /* makes the directory; heddle_stop says what goes wrong with models */
	if (heddle_dense_tuned_keep(dir, here, &what->problem, &found))
		return tool_library_error("the tile is not kept");
	table_text(table, "%s", what->app->name);
	table_number(table, (double)found.n);
	table_text(table, "%c", work_letter(what));
	table_number(table, (double)found.tile);
	table_number(table, seconds * 1e3);
	table_number(table, found.gflops);
	return TOOL_OK;
}

int tune_here(const struct heddle_config *config, struct work *works, size_t n, enum table_format format)
{
	static const struct table_column columns[] = {
	    {"graph", "application", NULL, TABLE_AS_TEXT}, {"n", NULL, NULL, 0},
	    {"precision", NULL, NULL, TABLE_AS_TEXT},      {"tile", NULL, NULL, 0},
	    {"makespan_ms", "makespan", "ms", 2},          {"rate_gflops", "rate", "Gflop/s", 2},
	};
	struct table table, *tables[] = {&table};
	struct heddle_config c = *config;
	heddle_runtime *rt;
	c.platform = NULL;
	if (c.model_dir && strcmp(c.model_dir, "none") == 0)
		return tool_usage_error("tiles are kept beside the models, which the setting model_dir (%s) keeps "
		                        "nowhere",
		                        c.model_dir);
	if (heddle_start(&c, &rt))
		return tool_library_error("cannot start the runtime");
	table_init(&table, "tiles", "Tiles of this machine", columns, sizeof columns / sizeof *columns);
	int status = TOOL_OK;
	for (size_t i = 0; i < n && !status; i++)
		status = tune_one(rt, c.model_dir, &works[i], &table);
	if (heddle_stop(rt) && !status)
		status = tool_library_error("when the runtime stopped");
	if (!status)
		table_print(stdout, format, tables, 1);
	if (!status && format == TABLE_TEXT)
		printf("\n`heddle run` and the calls of libheddle-dense use them here when no tile is given, for "
		       "matrices up to "
		       "twice as large or as small.\n");
	table_free(&table);
	return status;
}
