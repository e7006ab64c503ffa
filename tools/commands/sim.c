/* heddle sim APPLICATION|GRAPH: simulates an application or a graph on any machine, under one policy or several. */
#include "shared/auto_clusters.h"
#include "shared/comparison.h"
#include "shared/experiment.h"
#include "shared/keep.h"
#include "shared/speedup.h"
#include "base/base.h"
#include <heddle/settings.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_NOISE = 0x4000, KEY_STREAMS, KEY_KEEP, KEY_SORT, MOST_STREAMS = 64 };

struct options {
	struct experiment experiment;
	const char *platform, *noise, *keep;
	struct assumed_times assumed;
	unsigned streams;             /* streams per accelerator; 0: as the platform says */
	int sort;                     /* list the shortest makespan first */
	int has_rates;                /* `sharing` was given */
	double sharing[MOST_STREAMS]; /* sharing[i]: the rate of each of i + 1 simultaneous kernels */
	char *clusters;               /* owns; the cluster set that was chosen; NULL: none was */
	struct table cluster_sets;    /* the candidates, if a cluster set was chosen */
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "On what:", 4},
    {"platform", 'p', "NAME|FILE", 0, "The machine to simulate; `heddle platforms` lists them", 0},
    {"noise", KEY_NOISE, "SHARE", 0, "Relative standard deviation of execution times (default 0)", 0},
    {"sort", KEY_SORT, NULL, 0, "List the policies by their makespans, the shortest first", 0},
    {"keep", KEY_KEEP, "CODELET=CLASS,...", 0,
     "CODELET runs on workers of CLASS only; CLASS+CLASS: on workers of both. A cluster of 10 cores is of class cpu*10",
     0},
    {"streams", KEY_STREAMS, "S|RATES", 0,
     "Each accelerator runs S kernels at once, or as many as there are RATES: 1,0.6,0.5 are the rates of each of one, "
     "two and three kernels at once, as fractions of the rate of a kernel alone (default: as the platform says; S "
     "without RATES: the platform's rates, or 1,1/2,1/3...)",
     0},
    {0},
};

static void parse_streams(struct options *o, struct argp_state *state, const char *arg)
{
	const char *p = arg;
	if (!strchr(arg, ',')) {
		o->streams = (unsigned)tool_int(state, "--streams", arg, 1, MOST_STREAMS);
		o->has_rates = 0;
		return;
	}
	o->has_rates = 1;
	for (o->streams = 0; p; o->streams++) {
		char *end;
		if (o->streams == MOST_STREAMS)
			tool_option_error(state, "--streams has more than %d rates", MOST_STREAMS);
		o->sharing[o->streams] = hd_real(p, &end);
		if (end == p || (*end && *end != ','))
			tool_option_error(
			    state, "--streams is \"%s\": it must be a number of kernels, or rates as in 1,0.6,0.5",
			    arg);
		p = *end ? end + 1 : NULL;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->experiment;
		state->child_inputs[1] = &o->assumed;
		return 0;
	case 'p': o->platform = arg; return 0;
	case KEY_NOISE: o->noise = arg; return 0;
	case KEY_SORT: o->sort = 1; return 0;
	case KEY_KEEP: o->keep = arg; return 0;
	case KEY_STREAMS: parse_streams(o, state, arg); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&experiment_argp, 0, NULL, 0}, {&assumed_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "ROUTINE|FILE|random:NAME=VALUE,...",
    .doc =
        "Simulates an application in virtual time on a machine that a platform describes: the same program runs "
        "under the same policies, but nothing is computed. Instead of an application, it takes a graph of tasks from "
        "a file in .json, .dot or .stg, or a random one (`heddle graph --help`). "
        "POLICY may be a list separated by commas, or all.\v"
        "Bounds hold for any schedule on that machine: area (no dependencies, ideal sharing of the work), "
        "critical path (no limit to the number of workers), and iterative (both at once; only for graphs of at most "
        "4000 tasks, `heddle bound` has it for others). With several policies, --trace, --gantt and --dag show the "
        "best one.",
};

/* Gives accelerators the number of streams of --streams. */
static int set_streams(const struct options *o, struct heddle_platform *platform)
{
	for (size_t i = 0; i < platform->n_classes && o->streams; i++) {
		struct heddle_class *c = &platform->classes[i];
		if (strcmp(c->kind, "cpu") == 0)
			continue;
		if (o->has_rates || c->streams < o->streams) {
			free(c->sharing);
			c->sharing = NULL;
		}
		if (o->has_rates) {
			c->sharing = tool_alloc(o->streams * sizeof *c->sharing);
			memcpy(c->sharing, o->sharing, o->streams * sizeof *c->sharing);
		}
		c->streams = o->streams;
	}
	return heddle_platform_check(platform) ? tool_usage_error("--streams: %s", heddle_last_error()) : TOOL_OK;
}

/* Removes the times of codelets on the classes that --keep excludes. */
static int keep(const struct options *o, int chosen, struct heddle_platform *platform)
{
	if (!o->keep)
		return TOOL_OK;
	if (work_has_times(&o->experiment.what))
		return tool_usage_error("--keep is for codelets whose times the platform has, and the tasks of %s have "
		                        "times of their own: leave out those of a class there",
		                        o->experiment.what.name);
	if (chosen)
		return tool_usage_error("--keep names classes, which depend on the cluster set: --clusters must name a "
		                        "cluster set, not auto");
	return tool_keep(platform, o->keep);
}

static int configure(struct options *o, struct heddle_config *config, struct heddle_platform **platform)
{
	int status = experiment_config(&o->experiment, config);
	if (status)
		return status;
	if (o->noise && heddle_setting_set(config, "noise", o->noise))
		return tool_usage_error("--%s", heddle_last_error());
	const char *name = o->platform ? o->platform : config->platform;
	if (!name || !*name)
		return tool_no_platform();
	int chosen = clusters_are_chosen(config->clusters);
	status = tool_open_platform(name, chosen ? NULL : config->clusters, platform);
	if (status)
		return status;
	status = set_streams(o, *platform);
	if (!status)
		status = keep(o, chosen, *platform);
	if (!status)
		status = work_assume_times(&o->experiment.what, &(struct machines){platform, 1}, &o->assumed);
	if (!status)
		status = work_check_platform(*platform, &o->experiment.what);
	if (!status && chosen)
		status = clusters_choose(config, *platform, &o->experiment.what, &o->cluster_sets, &o->clusters);
	if (!status && chosen)
		config->clusters = clusters_setting(o->clusters);
	if (status)
		heddle_platform_free(*platform);
	return status;
}

/* Reports which policy is shown if other policies have the same makespan. */
static void say_ties(const struct comparison *c)
{
	size_t best = comparison_best(c);
	char *others = NULL;
	for (size_t i = 0; i < c->n && best < c->n; i++) {
		if (i == best || c->status[i] || c->outcomes[i].seconds > c->outcomes[best].seconds * (1 + 1e-9))
			continue;
		char *more = tool_format("%s%s%s", others ? others : "", others ? ", " : "", c->policies[i]);
		free(others);
		others = more;
	}
	if (others)
		tool_warn("the picture shows %s; the makespan is the same under %s", c->policies[best], others);
	free(others);
}

static int show_best(const struct experiment *e, const struct heddle_config *config,
                     const struct heddle_platform *platform, const struct comparison *c)
{
	struct outcome outcome;
	if (!e->trace && !e->gantt && !e->dag)
		return TOOL_OK;
	int status = comparison_best_again(c, config, platform, &e->what, &outcome);
	if (status)
		return status;
	say_ties(c);
	status = experiment_write(e, outcome.trace, &c->bounds);
	outcome_free(&outcome);
	return status;
}

static void print_comparison(const struct options *o, const struct heddle_platform *platform,
                             const struct comparison *c)
{
	const struct experiment *e = &o->experiment;
	struct table problem, policies, details[SUMMARY_TABLES], cluster_sets = o->cluster_sets;
	struct table *tables[3 + SUMMARY_TABLES] = {&problem, &policies};
	size_t n = 2;
	comparison_problem(c, platform, &e->what, &problem);
	comparison_table(c, &policies);
	summary_init(details);
	for (size_t i = 0; i < c->n; i++)
		if (!c->status[i])
			summary_add_outcome(details, &c->outcomes[i]);
	for (size_t i = 0; i < SUMMARY_TABLES; i++)
		if (e->explain)
			tables[n++] = &details[i];
	if (o->clusters)
		tables[n++] = &cluster_sets;
	/* CSV is for plotting programs, so it has one table unless --explain asks for more. */
	if (e->format == TABLE_CSV && !e->explain)
		table_print(stdout, e->format, tables + 1, 1);
	else
		table_print(stdout, e->format, tables, n);
	table_free(&problem);
	table_free(&policies);
	for (size_t i = 0; i < SUMMARY_TABLES; i++)
		table_free(&details[i]);
}

static int compare(const struct options *o, const struct heddle_config *config, const struct heddle_platform *platform)
{
	const struct experiment *e = &o->experiment;
	struct comparison c;
	int status = comparison_init(&c, config->sched);
	if (status)
		return status;
	c.sorted = o->sort;
	status = comparison_run(&c, config, platform, &e->what);
	if (comparison_best(&c) < c.n) {
		print_comparison(o, platform, &c);
		int shown = show_best(e, config, platform, &c);
		int sound = config->virtual_time.noise > 0 ? TOOL_OK : comparison_check(&c);
		status = status ? status : shown ? shown : sound;
	}
	comparison_free(&c);
	return status;
}

int tool_sim(int argc, char **argv)
{
	struct options o = {.platform = NULL};
	struct heddle_config config;
	struct heddle_platform *platform;
	experiment_init(&o.experiment);
	int status = tool_parse(&argp, argc, argv, &o);
	if (!status)
		status = configure(&o, &config, &platform);
	if (!status) {
		o.experiment.what.keep_trace = o.experiment.what.explain = o.experiment.explain;
		status = compare(&o, &config, platform);
		heddle_platform_free(platform);
	}
	if (o.clusters)
		table_free(&o.cluster_sets);
	free(o.clusters);
	experiment_free(&o.experiment);
	return status;
}
