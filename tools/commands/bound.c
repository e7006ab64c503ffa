/* heddle bound APPLICATION|GRAPH: lower bounds of the makespan. */
#include "shared/auto_clusters.h"
#include "shared/speedup.h"
#include "shared/tool.h"
#include "shared/workload.h"
#include "taskgraph/graph.h"
#include "bounds/bounds.h"
#include <math.h>
#include <stdlib.h>

enum { KEY_ROUNDS = 0x8000, ROUNDS = 1000 };

struct options {
	struct tool_view view;
	struct work work;
	const char *what, *platform, *clusters;
	struct assumed_times assumed;
	unsigned rounds;
};

static const struct argp_option options[] = {
    {"platform", 'p', "NAME|FILE", 0, "The machine; `heddle platforms` lists them", 0},
    {"rounds", KEY_ROUNDS, "N", 0,
     "Solve at most N linear programs for the iterative bound; 0 leaves it out (default 1000)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->view.format;
		state->child_inputs[1] = &o->view.settings;
		state->child_inputs[2] = &o->work;
		state->child_inputs[3] = &o->clusters;
		state->child_inputs[4] = &o->assumed;
		return 0;
	case 'p': o->platform = arg; return 0;
	case KEY_ROUNDS: o->rounds = (unsigned)tool_int(state, "--rounds", arg, 0, 1000000000); return 0;
	case ARGP_KEY_ARG:
		if (o->what)
			tool_option_error(state, "unexpected argument \"%s\"", arg);
		o->what = arg;
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0}, {&tool_set_argp, 0, NULL, 0},
                                             {&work_argp, 0, NULL, 0},        {&tool_any_clusters_argp, 0, NULL, 0},
                                             {&assumed_argp, 0, NULL, 0},     {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "ROUTINE[:NAME=VALUE,...]|FILE|random:NAME=VALUE,...",
    .doc =
        "Shows lower bounds of the makespan: no schedule is shorter. They are area (no dependencies, ideal sharing of "
        "the work), critical path (no limit to the number of workers), iterative (both at once), communication "
        "(the critical path with transfers, all data in main memory at first), window (some tasks, with what must come "
        "before and after them), and best, the largest of them. For graphs of at most 12 tasks it also shows the "
        "optimum, the makespan of the shortest schedule if transfers take no time, unless workers run several kernels "
        "at once. "
        "With several cluster sets, and with --clusters adaptive or auto, the bounds hold for all these cluster sets.",
};

struct result {
	size_t n_tasks;
	struct heddle_near_bounds bounds;
	double seconds;
	double optimum; /* us; NAN: it cannot be found (hd_optimum) */
	char *untimed;  /* owns; the result of work_untimed; NULL: none */
};

static void show_round(unsigned done, unsigned most, void *arg)
{
	const double *begin = arg;
	char *text = tool_progress_text(done, most, "rounds", tool_wall_clock() - *begin);
	tool_progress("iterative bound: %s", text);
	free(text);
}

static int find(const struct options *o, const struct heddle_graph *graph, const struct heddle_platform *platform,
                struct result *r)
{
	double begin = tool_wall_clock();
	*r = (struct result){.n_tasks = graph->n_tasks, .optimum = NAN};
	tool_progress("bounds of %zu tasks", graph->n_tasks);
	const struct hd_bounds_watch watch = {.round = show_round, .arg = &begin};
	int status = hd_graph_near_bounds_watched(graph, platform, o->rounds, &watch, &r->bounds);
	r->seconds = tool_wall_clock() - begin;
	if (!status)
		status = hd_graph_optimum(graph, platform, &r->optimum);
	if (status == HEDDLE_E_UNSUPPORTED)
		status = 0; /* the optimum stays unknown */
	tool_progress_end();
	return status ? tool_library_error("no bounds") : TOOL_OK;
}

static void print(const struct options *o, const struct heddle_platform *platform, const struct result *r)
{
	static const struct table_column columns[] = {
	    {"graph", NULL, NULL, TABLE_AS_TEXT},
	    {"platform", NULL, NULL, TABLE_AS_TEXT},
	    {"tasks", NULL, NULL, 0},
	    {"area_bound_ms", "area bound", "ms", 3},
	    {"path_bound_ms", "critical path bound", "ms", 3},
	    {"iterative_bound_ms", "iterative bound", "ms", 3},
	    {"communication_bound_ms", "communication bound", "ms", 3},
	    {"window_bound_ms", "window bound", "ms", 3},
	    {"bound_ms", "best bound", "ms", 3},
	    {"largest_bound", "which is", NULL, TABLE_AS_TEXT},
	    {"optimum_ms", "optimum", "ms", 3},
	    {"bound_gflops", "rate at best bound", "Gflop/s", 1},
	    {"too_large_tasks", "tasks too large for a class", NULL, 0},
	    {"rounds", NULL, NULL, 0},
	    {"converged", NULL, NULL, TABLE_AS_TEXT},
	    {"untimed_classes", "classes without times", NULL, TABLE_AS_TEXT},
	    {"assumed_times", "assumed times", NULL, TABLE_AS_TEXT},
	    {"took_s", "found in", "s", 3},
	};
	struct table table, *tables[] = {&table};
	const struct heddle_near_bounds *near = &r->bounds;
	const struct heddle_bounds *b = &near->plain;
	double flops = work_flops(&o->work);
	table_init(&table, "bounds", NULL, columns, sizeof columns / sizeof *columns);
	table.single = 1;
	table_text(&table, "%s", o->work.name);
	table_text(&table, "%s", platform->name);
	table_number(&table, (double)r->n_tasks);
	table_number(&table, b->area * 1e-3);
	table_number(&table, b->critical_path * 1e-3);
	table_number(&table, b->iterative * 1e-3);
	table_number(&table, near->communication * 1e-3);
	table_number(&table, near->window * 1e-3);
	table_number(&table, near->best * 1e-3);
	table_text(&table, "%s", near->largest);
	table_number(&table, r->optimum * 1e-3);
	table_number(&table, flops > 0 && near->best > 0 ? flops / near->best * 1e-3 : NAN);
	table_number(&table, near->too_large ? (double)near->too_large : NAN);
	table_number(&table, b->rounds);
	table_text(&table, o->rounds == 0 ? "-" : b->converged ? "yes" : "no");
	table_optional(&table, r->untimed);
	table_optional(&table, o->work.assumed[0] ? o->work.assumed : NULL);
	table_number(&table, r->seconds);
	table_print(stdout, o->view.format, tables, 1);
	table_free(&table);
}

static int bound(const struct options *o, const struct heddle_config *config, const struct heddle_platform *platform)
{
	struct heddle_graph *graph;
	struct result result;
	int status = work_check_platform(platform, &o->work);
	if (!status)
		status = work_open_graph(config, platform, &o->work, &graph);
	if (status)
		return status;
	status = find(o, graph, platform, &result);
	result.untimed = work_untimed(platform, &o->work);
	if (!status && result.untimed)
		work_warn_untimed(platform, &o->work, result.untimed);
	if (!status)
		print(o, platform, &result);
	free(result.untimed);
	work_close_graph(&o->work, graph);
	return status;
}

static int open_work(struct options *o)
{
	if (!o->what)
		return tool_usage_error("bounds of what? Give a routine, as in `heddle bound cholesky --n 19200 --tile "
		                        "960`, or a graph: a file in .json, .dot or .stg, or random:n=1000");
	return work_open(&o->work, o->what);
}

int tool_bound(int argc, char **argv)
{
	struct options o = {.rounds = ROUNDS};
	struct heddle_config config;
	struct heddle_platform *platform = NULL;
	work_init(&o.work);
	int status = tool_parse(&argp, argc, argv, &o);
	if (!status)
		status = open_work(&o);
	if (!status)
		status = tool_config_init(&config, &o.view.settings);
	if (!status && o.clusters)
		config.clusters = o.clusters;
	const char *name = status ? NULL : o.platform ? o.platform : config.platform;
	int all = !status && clusters_are_chosen(config.clusters);
	if (!status)
		status = name && *name ? tool_open_platform(name, all ? NULL : config.clusters, &platform)
		                       : tool_no_platform();
	if (!status && all)
		status = clusters_declare_all(platform);
	if (!status)
		status = work_assume_times(&o.work, &(struct machines){&platform, 1}, &o.assumed);
	if (!status)
		status = bound(&o, &config, platform);
	heddle_platform_free(platform);
	heddle_graph_free(o.work.graph);
	return status;
}
