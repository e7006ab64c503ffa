/* heddle graph: shows statistics of a task graph, generates random graphs, converts files. */
#include "shared/graph_facts.h"
#include "shared/tool.h"
#include "shared/workload.h"
#include <heddle/daggen/random.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_RANDOM = 0x7000 };

struct options {
	char *what; /* owns; a file, or random:NAME=VALUE,... */
	const char *output, *platform;
	enum table_format format;
};

static const struct argp_option options[] = {
    {"random", KEY_RANDOM, "NAME=VALUE,...", 0, "Generate a random graph, as random:NAME=VALUE,... does", 0},
    {"output", 'o', "FILE", 0, "Write the graph: .json, or .dot", 0},
    {"platform", 'p', "NAME|FILE", 0, "Also show the times of the tasks on this machine", 0},
    {0},
};

static void set_what(struct options *o, struct argp_state *state, const char *prefix, const char *arg)
{
	if (o->what)
		tool_option_error(state, "one graph at a time: \"%s\" is a second one", arg);
	o->what = tool_format("%s%s", prefix, arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->format; return 0;
	case KEY_RANDOM: set_what(o, state, "random:", arg); return 0;
	case 'o': o->output = arg; return 0;
	case 'p': o->platform = arg; return 0;
	case ARGP_KEY_ARG: set_what(o, state, "", arg); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* Adds the parameters of random graphs to the end of the help. */
static char *add_parameters(int key, const char *text, void *input)
{
	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	size_t n;
	const struct heddle_daggen_parameter *rows = heddle_daggen_random_parameters(&n);
	char *all = tool_format("Parameters of random graphs, with their defaults:\n");
	for (size_t i = 0; i < n; i++) {
		char *longer = tool_format("%s  %-12s %-9.7g %s\n", all, rows[i].name, rows[i].value, rows[i].help);
		free(all);
		all = longer;
	}
	return all;
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[ROUTINE[:NAME=VALUE,...]|FILE|random:NAME=VALUE,...]",
    .doc = "Shows statistics of a task graph. The graph is read from .json (`heddle run --record` writes such a file), "
           ".dot or .stg, or it is random, or what a dense routine submits (`heddle run --help` lists them). With -o, "
           "writes it as JSON or DOT. `heddle sim FILE` simulates it.\v",
    .help_filter = add_parameters,
};

static const struct table_column fact_columns[] = {
    {"graph", NULL, NULL, TABLE_AS_TEXT},
    {"tasks", NULL, NULL, 0},
    {"types", NULL, NULL, 0},
    {"edges", NULL, NULL, 0},
    {"explicit_edges", "explicit edges", NULL, 0},
    {"depth", NULL, NULL, 0},
    {"width", NULL, NULL, 0},
    {"mean_degree", "edges per task", NULL, 2},
    {"data", NULL, NULL, 0},
    {"data_mib", "size of data", "MiB", 2},
    {"handed_mib", "handed from task to task", "MiB", 2},
    {"work_gflop", "work", "Gflop", 3},
    {"ccr", "communication / computation", NULL, 4},
};

static void fill_facts(struct table *table, const struct heddle_graph *g, const struct graph_facts *facts, double ccr)
{
	double flops = 0;
	for (size_t i = 0; i < g->n_tasks; i++)
		flops += g->tasks[i].flops;
	table_init(table, "graph", NULL, fact_columns, sizeof fact_columns / sizeof *fact_columns);
	table->single = 1;
	table_text(table, "%s", g->name);
	table_number(table, (double)g->n_tasks);
	table_number(table, (double)g->n_types);
	table_number(table, (double)facts->edges);
	table_number(table, (double)g->n_edges);
	table_number(table, (double)facts->depth);
	table_number(table, (double)facts->width);
	table_number(table, g->n_tasks ? (double)facts->edges / (double)g->n_tasks : NAN);
	table_number(table, (double)g->n_data);
	table_number(table, facts->bytes / 0x1p20);
	table_number(table, facts->handed / 0x1p20);
	table_number(table, flops > 0 ? flops * 1e-9 : NAN);
	table_number(table, ccr);
}

static const struct table_column type_columns[] = {
    {"type", NULL, NULL, TABLE_AS_TEXT}, {"class", NULL, NULL, TABLE_AS_TEXT}, {"tasks", NULL, NULL, 0},
    {"work_gflop", "work", "Gflop", 3},  {"mean_us", "mean time", "us", 1},    {"min_us", "least", "us", 1},
    {"max_us", "most", "us", 1},
};

struct sum {
	double n, flops, us, least, most;
};

static void add_time(struct sum *s, double us, double flops)
{
	if (isnan(us))
		return;
	s->least = s->n > 0 ? fmin(s->least, us) : us;
	s->most = fmax(s->most, us);
	s->us += us;
	s->flops += flops;
	s->n++;
}

static void add_row(struct table *table, const char *type, const char *class_, const struct sum *s)
{
	table_text(table, "%s", type);
	table_text(table, "%s", class_);
	table_number(table, s->n);
	table_number(table, s->flops > 0 ? s->flops * 1e-9 : NAN);
	table_number(table, s->us / s->n);
	table_number(table, s->least);
	table_number(table, s->most);
}

/* Fills the table of types: a row per type and class that can run it. The classes are those of the platform or, without
 * a platform, those that the graph has times for. A type without any time has one row. */
static void fill_types(struct table *table, const struct heddle_graph *g, const struct heddle_platform *platform)
{
	size_t n = platform ? platform->n_classes : g->times ? g->n_classes : 0;
	struct sum *sums = tool_alloc((g->n_types * (n + 1) + 1) * sizeof *sums);
	for (size_t i = 0; i < g->n_tasks; i++) {
		const struct heddle_graph_task *t = &g->tasks[i];
		struct sum *row = &sums[t->type * (n + 1)];
		for (size_t c = 0; c < n; c++)
			add_time(&row[c],
			         platform ? heddle_graph_time(g, i, platform, (unsigned)c) : g->times[i * n + c],
			         t->flops);
		add_time(&row[n], 0, t->flops);
	}
	table_init(table, "types", "Types", type_columns, sizeof type_columns / sizeof *type_columns);
	for (size_t type = 0; type < g->n_types; type++) {
		struct sum *row = &sums[type * (n + 1)], *none = &row[n];
		int some = 0;
		for (size_t c = 0; c < n; c++) {
			if (row[c].n > 0)
				add_row(table, g->types[type].name,
				        platform ? platform->classes[c].name : g->classes[c], &row[c]);
			some |= row[c].n > 0;
		}
		none->us = none->least = none->most = NAN;
		if (!some && none->n > 0)
			add_row(table, g->types[type].name, "-", none);
	}
	free(sums);
}

static int show(const struct options *o, const struct heddle_graph *g, const struct heddle_platform *platform)
{
	struct graph_facts facts;
	struct table facts_table, types, *tables[] = {&facts_table, &types};
	if (graph_measure(g, &facts))
		return tool_library_error("the graph cannot be measured");
	fill_facts(&facts_table, g, &facts, platform ? graph_ccr(g, &facts, platform) : NAN);
	fill_types(&types, g, platform);
	table_print(stdout, o->format, tables, 2);
	table_free(&facts_table);
	table_free(&types);
	return TOOL_OK;
}

/* Makes the graph of a routine from the tasks that it submits in virtual time, on a machine that has times for them. */
static int unroll(const struct work *work, const struct heddle_platform *platform, struct heddle_graph **out)
{
	struct heddle_config config;
	struct tool_settings none = {.n = 0};
	int status = tool_config_init(&config, &none);
	if (!status)
		status = work_check_platform(platform, work);
	return status ? status : work_open_graph(&config, platform, work, out);
}

static int open_graph(const struct options *o, const struct heddle_platform *platform, struct heddle_graph **out)
{
	struct work work;
	struct heddle_platform *any = NULL;
	work_init(&work);
	int status = work_open(&work, o->what);
	*out = work.graph;
	if (status || work.graph)
		return status;
	if (!platform)
		status = tool_load_platform("haswell-k40m", &any);
	if (!status)
		status = unroll(&work, platform ? platform : any, out);
	if (!status && !platform) { /* drops the times, because the user has named no machine */
		free((*out)->times);
		(*out)->times = NULL;
	}
	heddle_platform_free(any);
	return status;
}

static int work(const struct options *o)
{
	struct heddle_graph *g = NULL;
	struct heddle_platform *platform = NULL;
	int status = o->output ? graph_check_output(o->output, "--output") : TOOL_OK;
	if (!status && o->platform)
		status = tool_load_platform(o->platform, &platform);
	if (!status)
		status = open_graph(o, platform, &g);
	if (!status)
		status = show(o, g, platform);
	if (!status && o->output && heddle_graph_save(g, o->output))
		status = tool_library_error("the graph was not written");
	heddle_graph_free(g);
	heddle_platform_free(platform);
	return status;
}

int tool_graph(int argc, char **argv)
{
	struct options o = {.what = NULL};
	int status = work_parse_words(&argp, argc, argv, &o);
	if (!status && !o.what)
		status =
		    tool_usage_error("which graph? Give a file in .json, .dot or .stg, random:n=1000, or a routine "
		                     "such as potrf:n=9600,tile=960");
	if (!status)
		status = work(&o);
	free(o.what);
	return status;
}
