/* heddle run APPLICATION: runs an application on this machine. */
#include "shared/application_run.h"
#include "shared/auto_clusters.h"
#include "shared/experiment.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "driver/driver.h"

enum { KEY_REPEAT = 0x3000, KEY_NO_CHECK, KEY_NO_TRACE, KEY_DATA };

struct options {
	struct experiment experiment;
	struct tool_machine machine;
	int no_check, no_trace;
	int untiled;                     /* 1: no tile was given to a dense routine */
	struct heddle_dense_tuned tuned; /* the tuned tile for the routine on this machine; tile 0: none */
	char *clusters;                  /* owns; the cluster set that was chosen; NULL: none was */
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "How to run it:", 5},
    {"repeat", KEY_REPEAT, "R", 0, "Run R times and give the median time (default 1)", 0},
    {"data", KEY_DATA, "PLACE", 0,
     "Where the data are when the clock starts: in the memories of the tasks that filled them (filled, the default), "
     "or in main memory alone (ram), as in `heddle sim`",
     0},
    {"no-check", KEY_NO_CHECK, NULL, 0, "Do not compute the residual", 0},
    {"no-trace", KEY_NO_TRACE, NULL, 0, "Do not record a trace; bounds are not shown then", 0},
    {0},
};

/* Whether a value of --data is "ram". A wrong value ends the program. */
static int is_ram(const struct argp_state *state, const char *place)
{
	if (strcmp(place, "ram") && strcmp(place, "filled"))
		tool_option_error(state, "--data is filled or ram, not \"%s\"", place);
	return strcmp(place, "ram") == 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->experiment;
		state->child_inputs[1] = &o->machine;
		return 0;
	case KEY_REPEAT: o->experiment.what.repeat = (int)tool_int(state, "--repeat", arg, 1, 1000000); return 0;
	case KEY_DATA: o->experiment.what.data_in_ram = is_ram(state, arg); return 0;
	case KEY_NO_CHECK: o->no_check = 1; return 0;
	case KEY_NO_TRACE: o->no_trace = 1; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* Adds the applications to the end of the help. */
static char *add_applications(int key, const char *text, void *input)
{
	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	char *list = work_applications_text(), *all = tool_format("%s\n\n%s", text, list);
	free(list);
	return all;
}

static const struct argp_child children[] = {{&experiment_argp, 0, NULL, 0}, {&tool_machine_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "APPLICATION[:NAME=VALUE,...]",
    .doc = "Runs an application on this machine and checks the result: a routine of dense linear algebra, on random "
           "data, or one of a plug-in.\v"
           "Residuals of routines are in the Frobenius norm, and eps is the unit roundoff: a sound result gives less "
           "than 30. Bounds use the mean times of this run; they appear once every class of workers has run "
           "every kernel.",
    .help_filter = add_applications,
};

/* Chooses the cluster set by virtual runs on the measured platform of this machine. */
static int choose_clusters(struct options *o, struct heddle_config *config)
{
	struct heddle_platform *this;
	struct table table, *tables[] = {&table};
	int status = heddle_platform_load("this", &this);
	if (status == HEDDLE_E_UNKNOWN)
		return tool_usage_error(
		    "--clusters auto needs the kernel times of this machine: `heddle platform calibrate` "
		    "measures them; adaptive needs none");
	if (status)
		return tool_library_error("--clusters auto");
	struct heddle_config plain = *config;
	plain.virtual_time.noise = 0.05; /* about the variation of times on real machines */
	status = work_check_platform(this, &o->experiment.what);
	if (!status)
		status = clusters_choose(&plain, this, &o->experiment.what, &table, &o->clusters);
	heddle_platform_free(this);
	if (status)
		return status;
	if (o->experiment.format == TABLE_TEXT) {
		table_print(stdout, TABLE_TEXT, tables, 1);
		putchar('\n');
	}
	table_free(&table);
	config->clusters = o->clusters;
	return TOOL_OK;
}

/* Completes the options of the application. A dense routine without a tile gets the tuned tile of this machine. */
static int settle(struct options *o, const struct heddle_config *config)
{
	struct work *work = &o->experiment.what;
	struct heddle_platform *here;
	o->untiled = work_is_dense(work) && !work->problem.options.tile;
	if (o->untiled && !clusters_are_chosen(config->clusters) && !heddle_platform_configured(config, &here)) {
		if (heddle_dense_tuned_find(config->model_dir, here, &work->problem, &o->tuned))
			work->problem.options.tile = o->tuned.tile;
		heddle_platform_free(here);
	}
	return work_settle(work);
}

/* Prints where the tile comes from, unless the user has given it. */
static void print_tile(const struct options *o)
{
	const struct work *work = &o->experiment.what;
	if (!o->untiled || o->experiment.format != TABLE_TEXT)
		return;
	if (o->tuned.tile)
		printf("\nTile %zu, found by heddle tune on %s.\n", o->tuned.tile, o->tuned.day);
	else
		printf("\nTile %zu, the built-in default; `heddle tune --here %s --n %zu --precision %c` finds this "
		       "machine's.\n",
		       work->problem.options.tile, work->app->name, work_largest_extent(&work->problem),
		       work_letter(work));
}

static int configure(struct options *o, struct heddle_config *config)
{
	struct experiment *e = &o->experiment;
	int status = experiment_config(e, config);
	if (status)
		return status;
	tool_machine_apply(&o->machine, config);
	e->what.check = !o->no_check;
	e->what.keep_trace = !o->no_trace;
	e->what.explain = e->explain;
	if (e->what.graph)
		return tool_usage_error("%s is a graph, whose tasks have no kernels: `heddle sim %s --platform ...` "
		                        "runs it in virtual time",
		                        e->application, e->application);
	if (o->no_trace && (e->trace || e->gantt || e->dag || e->explain || e->what.record))
		return tool_usage_error("--no-trace goes with neither --trace, --gantt, --dag, --record nor --explain");
	if (config->n_cpu == 0 && config->n_cuda == 0 && config->n_opencl == 0 && config->n_emulated == 0 &&
	    !hd_driver_registered_at(0))
		return tool_usage_error(
		    "no worker is left: give --ncpu, --cuda, --opencl or --emulated a positive number");
	if (tool_check_policy(config->sched, 1))
		return TOOL_USAGE;
	if (config->platform && config->platform[0])
		tool_warn("`heddle run` uses this machine: the setting platform (HEDDLE_PLATFORM), %s, is ignored; "
		          "`heddle sim %s --platform %s` simulates that machine",
		          config->platform, e->application, config->platform);
	status = settle(o, config);
	if (!status && clusters_are_chosen(config->clusters))
		status = choose_clusters(o, config);
	return status ? status : application_check_memory(&e->what);
}

/* The columns of the table: those for the options of the application are in the middle. Returns their number. */
enum { COLUMNS = 80 };
static size_t fill_columns(const struct work *what, struct table_column *columns)
{
	static const struct table_column first[] = {
	    {"graph", "application", NULL, TABLE_AS_TEXT},
	    {"policy", NULL, NULL, TABLE_AS_TEXT},
	};
	static const struct table_column last[] = {
	    {"tasks", NULL, NULL, 0},
	    {"makespan_ms", "makespan", "ms", 3},
	    {"min_makespan_ms", "fastest", "ms", 3},
	    {"max_makespan_ms", "slowest", "ms", 3},
	    {"rate_gflops", "rate", "Gflop/s", 2},
	    {"residual", NULL, NULL, TABLE_ANY},
	    {"area_bound_ms", "area bound", "ms", 3},
	    {"path_bound_ms", "critical path bound", "ms", 3},
	    {"of_bound_percent", "bound / makespan", "%", 1},
	    {"idle_percent", "workers idle", "%", 1},
	    {"transfers", NULL, NULL, 0},
	    {"moved_mib", "moved", "MiB", 1},
	    {"evictions", NULL, NULL, 0},
	};
	size_t n = sizeof first / sizeof *first;
	memcpy(columns, first, sizeof first);
	n += work_columns(what, columns + n, COLUMNS - n - sizeof last / sizeof *last);
	memcpy(columns + n, last, sizeof last);
	return n + sizeof last / sizeof *last;
}

static void print_outcome(const struct experiment *e, const struct outcome *r)
{
	struct table facts, details[SUMMARY_TABLES], *tables[1 + SUMMARY_TABLES] = {&facts};
	struct table_column columns[COLUMNS];
	size_t n = fill_columns(&e->what, columns);
	table_init(&facts, "run", NULL, columns, n);
	facts.single = 1;
	table_text(&facts, "%s", e->application);
	table_text(&facts, "%s", r->policy);
	work_add_cells(&e->what, &facts);
	table_number(&facts, r->tasks);
	table_number(&facts, r->seconds * 1e3);
	table_number(&facts, e->what.repeat > 1 ? r->min_seconds * 1e3 : NAN);
	table_number(&facts, e->what.repeat > 1 ? r->max_seconds * 1e3 : NAN);
	table_number(&facts, r->gflops);
	table_number(&facts, r->residual);
	table_number(&facts, r->bounds.area * 1e-3);
	table_number(&facts, r->bounds.critical_path * 1e-3);
	table_number(&facts, r->bounds.mixed * 1e-4 / r->last_seconds);
	table_number(&facts, 100 * r->idle);
	table_number(&facts, r->transfers);
	table_number(&facts, r->bytes_moved / 0x1p20);
	table_number(&facts, r->evictions);
	summary_init(details);
	if (e->explain)
		summary_add_outcome(details, r);
	for (size_t i = 0; i < SUMMARY_TABLES; i++)
		tables[1 + i] = &details[i];
	table_print(stdout, e->format, tables, e->explain ? 1 + SUMMARY_TABLES : 1);
	table_free(&facts);
	for (size_t i = 0; i < SUMMARY_TABLES; i++)
		table_free(&details[i]);
}

int tool_run(int argc, char **argv)
{
	struct options o = {0};
	struct heddle_config config;
	struct outcome outcome;
	struct experiment *e = &o.experiment;
	experiment_init(e);
	e->leave_unsettled = 1;
	int status = tool_parse(&argp, argc, argv, &o);
	if (!status)
		status = configure(&o, &config);
	if (!status)
		status = application_run(&config, &e->what, &outcome);
	free(o.clusters);
	experiment_free(e);
	if (status)
		return status;
	print_outcome(e, &outcome);
	print_tile(&o);
	if (outcome.trace)
		status = experiment_write(e, outcome.trace, &outcome.bounds);
	if (!status)
		status = outcome.stopped;
	const struct heddle_application *app = work_application(&e->what);
	if (!status && e->what.check && app->check && app->sound > 0 && !(outcome.residual < app->sound))
		status = tool_failure("the residual is %g: the result is wrong", outcome.residual);
	outcome_free(&outcome);
	return status;
}
