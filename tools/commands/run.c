/* heddle run APPLICATION: runs an application on this machine. */
#include "shared/dense_run.h"
#include "shared/experiment.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_REPEAT = 0x3000, KEY_LAYOUT, KEY_NO_CHECK, KEY_NO_TRACE };

struct options {
	struct experiment experiment;
	struct tool_machine machine;
	int no_check, no_trace;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "How to run it:", 5},
    {"repeat", KEY_REPEAT, "R", 0, "Run R times and give the median time (default 1)", 0},
    {"layout", KEY_LAYOUT, "tiled|in-place", 0, "Contiguous tiles (default), or windows of a column-major matrix", 0},
    {"no-check", KEY_NO_CHECK, NULL, 0, "Do not compute the residual", 0},
    {"no-trace", KEY_NO_TRACE, NULL, 0, "Do not record a trace; bounds are not shown then", 0},
    {0},
};

static enum heddle_dense_layout layout_of(struct argp_state *state, const char *text)
{
	if (strcmp(text, "in-place") == 0)
		return HEDDLE_DENSE_IN_PLACE;
	if (strcmp(text, "tiled") != 0)
		argp_error(state, "--layout is \"%s\": it must be tiled or in-place", text);
	return HEDDLE_DENSE_TILED;
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
	case KEY_LAYOUT: o->experiment.what.problem.options.layout = layout_of(state, arg); return 0;
	case KEY_NO_CHECK: o->no_check = 1; return 0;
	case KEY_NO_TRACE: o->no_trace = 1; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* Adds the routines to the end of the help. */
static char *add_routines(int key, const char *text, void *input)
{
	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	char *routines = work_routines_text(), *all = tool_format("%s\n\n%s", text, routines);
	free(routines);
	return all;
}

static const struct argp_child children[] = {{&experiment_argp, 0, NULL, 0}, {&tool_machine_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "ROUTINE",
    .doc = "Runs a routine of dense linear algebra on this machine, on random data, and checks the result.\v"
           "Residuals are in the Frobenius norm, and eps is the unit roundoff: a sound result gives less "
           "than 30. Bounds use the mean times of this run; they appear once every class of workers has run "
           "every kernel.",
    .help_filter = add_routines,
};

static int configure(struct options *o, struct heddle_config *config)
{
	struct experiment *e = &o->experiment;
	int status = experiment_config(e, config);
	if (status)
		return status;
	tool_machine_apply(&o->machine, config);
	e->what.problem.check = !o->no_check;
	e->what.keep_trace = !o->no_trace;
	e->what.explain = e->explain;
	if (e->what.graph)
		return tool_usage_error("%s is a graph, whose tasks have no kernels: `heddle sim %s --platform ...` "
		                        "runs it in virtual time",
		                        e->application, e->application);
	if (o->no_trace && (e->trace || e->gantt || e->explain || e->what.record))
		return tool_usage_error("--no-trace goes with neither --trace, --gantt, --record nor --explain");
	if (config->n_cpu == 0 && config->n_cuda == 0 && config->n_opencl == 0 && config->n_emulated == 0)
		return tool_usage_error(
		    "no worker is left: give --ncpu, --cuda, --opencl or --emulated a positive number");
	if (tool_check_policy(config->sched, 1))
		return TOOL_USAGE;
	if (config->platform && config->platform[0])
		tool_warn("`heddle run` uses this machine: the setting platform (HEDDLE_PLATFORM), %s, is ignored; "
		          "`heddle sim %s --platform %s` simulates that machine",
		          config->platform, e->application, config->platform);
	return dense_check_memory(&e->what);
}

static const struct table_column columns[] = {
    {"graph", "application", NULL, TABLE_AS_TEXT},
    {"policy", NULL, NULL, TABLE_AS_TEXT},
    {"n", NULL, NULL, 0},
    {"m", NULL, NULL, 0},
    {"k", NULL, NULL, 0},
    {"tile", NULL, NULL, 0},
    {"precision", NULL, NULL, TABLE_AS_TEXT},
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

static void print_outcome(const struct experiment *e, const struct outcome *r)
{
	struct table facts, details[SUMMARY_TABLES], *tables[1 + SUMMARY_TABLES] = {&facts};
	table_init(&facts, "run", NULL, columns, sizeof columns / sizeof *columns);
	facts.single = 1;
	table_text(&facts, "%s", e->application);
	table_text(&facts, "%s", r->policy);
	table_number(&facts, (double)e->what.problem.n);
	table_number(&facts, e->what.problem.m ? (double)e->what.problem.m : NAN);
	table_number(&facts, e->what.problem.k ? (double)e->what.problem.k : NAN);
	table_number(&facts, (double)e->what.problem.options.tile);
	table_text(&facts, "%s", work_precision(&e->what));
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
	e->what.problem.options.layout = HEDDLE_DENSE_TILED;
	int status = tool_parse(&argp, argc, argv, &o);
	if (!status)
		status = configure(&o, &config);
	if (!status)
		status = dense_run(&config, &e->what, &outcome);
	experiment_free(e);
	if (status)
		return status;
	print_outcome(e, &outcome);
	if (outcome.trace)
		status = experiment_write(e, outcome.trace, &outcome.bounds);
	if (!status)
		status = outcome.stopped;
	if (!status && e->what.problem.check && !(outcome.residual < 30))
		status = tool_failure("the residual is %g: the result is wrong", outcome.residual);
	outcome_free(&outcome);
	return status;
}
