/* heddle tune ROUTINE: finds the tile, the tree of QR, the priorities and the policy that make a dense routine, or
 * another application with tiles, fast on a machine, by virtual runs. What it finds for fmm is in tune_numbers.c.
 *
 * The search goes in three steps. (1) All tiles, trees and priorities, under a few policies of different kinds. (2) All
 * policies, on the best of these. (3) The tiles about the best one, under the best policies. --exhaustive runs every
 * combination instead. */
#include "tune.h"
#include "shared/tune_here.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_EXHAUSTIVE = 0xa000, KEY_SCHEDS, KEY_HERE };

static const struct argp_option options[] = {
    {"platform", 'p', "NAME|FILE", 0, "The machine (default: this one, as `heddle platform calibrate` measured it)", 0},
    {"scheds", KEY_SCHEDS, "S1,S2,...|all", 0, "The policies to choose from (default all)", 0},
    {"here", KEY_HERE, NULL, 0,
     "Find the tile alone, by real runs on this machine, and keep it for later runs; several routines may be named", 0},
    {"exhaustive", KEY_EXHAUSTIVE, NULL, 0, "Run every combination: minutes instead of seconds", 0},
    {"jobs", 'j', "N", 0, "Simulations at once (default: one per core)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tune_options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->view.format;
		state->child_inputs[1] = &o->view.settings;
		state->child_inputs[2] = &o->work;
		state->child_inputs[3] = &o->clusters;
		return 0;
	case 'p': o->platform = arg; return 0;
	case KEY_SCHEDS:
		if (strchr(arg, ':'))
			tool_option_error(
			    state, "--scheds is \"%s\": here policies have the options that are configured", arg);
		o->scheds = arg;
		return 0;
	case KEY_EXHAUSTIVE: o->exhaustive = 1; return 0;
	case KEY_HERE: o->here = 1; return 0;
	case 'j': o->n_threads = tool_int(state, "--jobs", arg, 1, 1024); return 0;
	case ARGP_KEY_ARG:
		if (o->n_routines == TUNE_ROUTINES)
			tool_option_error(state, "more than %d routines", TUNE_ROUTINES);
		o->what = o->what ? o->what : arg;
		o->routines[o->n_routines++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->n_routines > 1 && !o->here)
			tool_option_error(state, "unexpected argument \"%s\"", o->routines[1]);
		if (o->here && (o->platform || o->exhaustive || strcmp(o->scheds, "all") != 0))
			tool_option_error(state,
			                  "--here goes with neither --platform, --scheds nor --exhaustive: it runs "
			                  "the routine on this machine, under the policy that is configured");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0},
                                             {&tool_set_argp, 0, NULL, 0},
                                             {&work_argp, 0, NULL, 0},
                                             {&tool_auto_clusters_argp, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "ROUTINE[:NAME=VALUE,...]\n--here ROUTINE[:NAME=VALUE,...]...",
    .doc =
        "Finds the tile, the policy, the priorities and, for QR, the tree and the inner blocking that are fastest for "
        "a dense routine or sparse-qr on a machine, by virtual runs, and prints the command that uses them. A value "
        "that is given as an option is fixed. For fmm it finds the leaves, the work of a task and the policy.\v"
        "With --here, real runs find the tile of this machine, which `heddle run` and programs then use.\n\n"
        "The last line can be pasted. Times are predictions: `heddle platform calibrate` measures this machine.",
};

/* --- The search --------------------------------------------------------------------------------------------------- */

static void note(struct tune_results *r, const struct campaign *c)
{
	for (size_t i = 0; i < c->n_problems; i++) {
		for (size_t k = 0; k < c->n_policies; k++) {
			struct cell cell = campaign_cell(c, i, k);
			if (cell.n == 0)
				continue;
			if (r->n == r->room) {
				r->room = r->room ? 2 * r->room : 64;
				r->list = tool_realloc(r->list, r->room * sizeof *r->list);
			}
			r->list[r->n++] =
			    (struct tune_result){*c->problems[i].work, heddle_policy_find(c->policies[k])->name,
			                         cell.seconds, work_flops(c->problems[i].work)};
		}
	}
}

static int by_time(const void *a, const void *b)
{
	const struct tune_result *x = a, *y = b;
	return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

int tune_try(struct tune_results *r, struct variants *v, const char *policies, const struct tune_options *o,
             const struct tune_place *place)
{
	struct heddle_platform *platform = place->platform;
	struct campaign c;
	struct campaign_plan plan = {.works = v->list,
	                             .platforms = &platform,
	                             .n_works = v->n,
	                             .n_platforms = 1,
	                             .n_seeds = 1,
	                             .policies = policies,
	                             .unbounded = 1};
	int status = campaign_init(&c, &plan);
	if (status)
		return status;
	status = campaign_run(&c, place->config, o->n_threads ? (size_t)o->n_threads : tool_cores());
	note(r, &c);
	campaign_free(&c);
	if (!r->n) /* and no list, which qsort must not be given */
		return status;
	qsort(r->list, r->n, sizeof *r->list, by_time);
	return TOOL_OK;
}

void tune_add_best(struct variants *v, const struct tune_results *r, size_t n)
{
	for (size_t i = 0; i < r->n && v->n < n; i++)
		variants_add(v, &r->list[i].work);
}

char *tune_best_policies(const struct tune_results *r, size_t n)
{
	char *list = tool_format("%s", r->list[0].policy);
	size_t found = 1;
	for (size_t i = 1; i < r->n && found < n; i++) {
		int known = 0;
		for (size_t k = 0; k < i; k++)
			known |= strcmp(r->list[k].policy, r->list[i].policy) == 0;
		if (known)
			continue;
		char *longer = tool_format("%s,%s", list, r->list[i].policy);
		free(list);
		list = longer;
		found++;
	}
	return list;
}

const char tune_probes[] = "dmdas,multiprio,lws";

static int search_tiles(struct tune_results *r, const struct tune_options *o, const struct tune_place *place)
{
	struct variants variants = {.n = 0}, *v = &variants;
	size_t most = variants_of_tiles(v, &o->work, place->platform);
	if (o->exhaustive || !variants_matters(&o->work, "inner")) /* QR has many variants without them */
		variants_of_priorities(v);
	int status = tune_try(r, v, o->exhaustive || strcmp(o->scheds, "all") ? o->scheds : tune_probes, o, place);
	if (!status && !o->exhaustive) {
		v->n = 0;
		tune_add_best(v, r, TUNE_KEPT);
		status = tune_try(r, v, o->scheds, o, place);
	}
	if (!status && !o->exhaustive) {
		char *policies = tune_best_policies(r, TUNE_KEPT);
		v->n = 0;
		tune_add_best(v, r, 1);
		variants_about(v, &r->list[0].work, most);
		variants_of_priorities(v);
		status = tune_try(r, v, policies, o, place);
		free(policies);
	}
	free(v->list);
	return status;
}

static int search(struct tune_results *r, const struct tune_options *o, struct heddle_platform *platform,
                  const struct heddle_config *config)
{
	const struct tune_place place = {platform, config};
	return tune_has_numbers(&o->work) ? tune_search_numbers(r, o, &place) : search_tiles(r, o, &place);
}

/* Searches on each cluster set that --clusters auto tries. *r gets the results of the best one, and `chosen`
 * the cluster set. */
static int search_cluster_sets(struct tune_results *r, struct tune_options *o, struct heddle_platform *platform,
                               const struct heddle_config *config)
{
	struct cluster_sets cluster_sets;
	struct heddle_config tried = *config;
	int status = cluster_sets_find(platform, &cluster_sets), failure = TOOL_OK;
	for (size_t i = 0; !status && i < cluster_sets.n; i++) {
		struct tune_results one = {.n = 0};
		struct heddle_platform *p = clusters_grouped(platform, cluster_sets.list[i]);
		tried.clusters = clusters_setting(cluster_sets.list[i]);
		int failed = p ? search(&one, o, p, &tried) : tool_library_error("no clusters");
		heddle_platform_free(p);
		if (failed) { /* some tasks may need clusters that others have */
			tool_warn("clusters %s are left out: %s", cluster_sets.list[i], heddle_last_error());
			failure = failed;
		}
		if (!failed && (r->n == 0 || one.list[0].seconds < r->list[0].seconds)) {
			free(r->list);
			*r = one;
			free(o->chosen);
			o->chosen = tool_format("%s", cluster_sets.list[i]);
		} else {
			free(one.list);
		}
	}
	if (cluster_sets.n)
		cluster_sets_free(&cluster_sets);
	o->clusters = o->chosen;
	return r->n || status ? status : failure;
}

/* --- Output ------------------------------------------------------------------------------------------------------- */

static void fill(struct table *table, const struct tune_results *r)
{
	static const struct table_column columns[] = {
	    {"tile", NULL, NULL, 0},
	    {"inner", NULL, NULL, 0},
	    {"tree", NULL, NULL, TABLE_AS_TEXT},
	    {"policy", NULL, NULL, TABLE_AS_TEXT},
	    {"priorities", NULL, NULL, TABLE_AS_TEXT},
	    {"makespan_ms", "makespan", "ms", 2},
	    {"rate_gflops", "rate", "Gflop/s", 1},
	};
	char text[HEDDLE_PARAMETERS_MAX];
	table_init(table, "tuned", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0, shown = 0; i < r->n && shown < TUNE_SHOWN; i++) {
		const struct tune_result *x = &r->list[i];
		/* Two steps have run it, or its priorities, which differ, are the same for this routine. */
		if (i > 0 && x->seconds == x[-1].seconds && strcmp(x->policy, x[-1].policy) == 0 &&
		    variants_number(&x->work, "tile") == variants_number(&x[-1].work, "tile"))
			continue;
		table_number(table, variants_number(&x->work, "tile"));
		table_number(table, variants_number(&x->work, "inner"));
		variants_text(&x->work, "tree", text, sizeof text);
		table_text(table, "%s", text);
		table_text(table, "%s", x->policy);
		variants_text(&x->work, "priorities", text, sizeof text);
		table_text(table, "%s", text);
		table_number(table, x->seconds * 1e3);
		table_number(table, x->flops / x->seconds * 1e-9);
		shown++;
	}
}

static const char this_machine[] = "this"; /* the platform that heddle platform calibrate writes */

/* A value as a shell must be given it, which the caller frees. */
static char *quoted(const char *value)
{
	if (*value && !value[strcspn(value, " \t\n'\"\\$&|;<>()*?[]#~`!{}")])
		return tool_format("%s", value);
	char *text = tool_alloc(4 * strlen(value) + 3), *to = stpcpy(text, "'");
	for (; *value; value++) {
		if (*value == '\'')
			to = stpcpy(to, "'\\'"); /* it stands between two words in quotes */
		*to++ = *value;
	}
	stpcpy(to, "'");
	return text;
}

/* Appends " --name value". */
static void append(char **command, const char *name, const char *value)
{
	char *word = quoted(value), *longer = tool_format("%s --%s %s", *command, name, word);
	free(word);
	free(*command);
	*command = longer;
}

/* What was searched for in an application with tiles is said also where it is the default. */
static int is_always_said(const struct work *work, const char *name)
{
	if (tune_has_numbers(work))
		return 0;
	return strcmp(name, "n") == 0 || strcmp(name, "tile") == 0 || strcmp(name, "priorities") == 0;
}

/* Those options of the routine that are not at their defaults, and some always. */
static void append_options(char **command, const struct work *work)
{
	for (const struct heddle_parameter *p = work_application(work)->parameters; p->name; p++) {
		char text[HEDDLE_PARAMETERS_MAX];
		heddle_application_value(p, work->options, text, sizeof text);
		if (work_is_dense(work) && strcmp(p->name, "precision") == 0)
			snprintf(text, sizeof text, "%c", work_letter(work));
		else if (strcmp(p->name, "seed") == 0 ||
		         (strcmp(text, p->value) == 0 && !is_always_said(work, p->name)))
			continue;
		append(command, p->name, text);
	}
}

/* The command that runs the best variant: here if the machine is this one, else in virtual time. */
static char *command_of(const struct tune_options *o, const struct tune_result *r, const char *platform)
{
	int here = strcmp(platform, this_machine) == 0;
	char *command = tool_format("heddle %s %s", here ? "run" : "sim", work_application(&r->work)->name);
	append_options(&command, &r->work);
	append(&command, "sched", r->policy);
	if (!here)
		append(&command, "platform", platform);
	if (o->clusters && *o->clusters)
		append(&command, "clusters", o->clusters);
	for (size_t i = 0; i < o->view.settings.n; i++)
		append(&command, "set", o->view.settings.items[i]);
	return command;
}

static void print(const struct tune_options *o, const struct tune_results *r, const char *platform, double seconds)
{
	struct table table, *tables[] = {&table};
	char *command = command_of(o, &r->list[0], platform);
	if (tune_has_numbers(&o->work))
		tune_fill_numbers(&table, r);
	else
		fill(&table, r);
	table_print(stdout, o->view.format, tables, 1);
	if (o->view.format == TABLE_TEXT)
		printf("\n%zu virtual runs in %.1f s. The best one:\n\n%s\n", r->n, seconds, command);
	table_free(&table);
	free(command);
}

static int load_this(const char *clusters, struct heddle_platform **out)
{
	struct heddle_platform *p;
	int status = heddle_platform_load(this_machine, &p);
	if (status == HEDDLE_E_UNKNOWN)
		return tool_usage_error(
		    "which machine? This one has not been measured: `heddle platform calibrate` does that; or give "
		    "--platform NAME, `heddle platforms` lists them");
	if (status)
		return tool_library_error("no platform");
	heddle_platform_free(p);
	return tool_open_platform(this_machine, clusters, out);
}

/* Opens what is to be tuned, whose tile stays 0 unless it was given: then it must be one that the routine can have. */
static int open_work(struct tune_options *o)
{
	if (!o->what)
		return tool_usage_error("tune what? Give a routine, as in `heddle tune potrf --n 19200 --platform "
		                        "haswell-k40m`; `heddle run --help` lists them");
	int status = work_open_unsettled(&o->work, o->what);
	if (status)
		return status;
	if (o->work.graph)
		return tool_usage_error("%s is a graph, whose tasks have one size: only routines can be tuned",
		                        o->what);
	if (tune_has_numbers(&o->work) && !o->here)
		return work_settle(&o->work);
	if (!variants_matters(&o->work, "tile"))
		return tool_usage_error("%s has no tiles, which `heddle tune` could find", o->what);
	if (!work_is_dense(&o->work))
		return o->here ? tool_usage_error("--here finds tiles of dense routines alone, %s is none", o->what)
		               : work_settle(&o->work);
	struct work settled = o->work;
	if (o->work.problem.options.tile && settled.app->settle(settled.app, settled.options))
		return tool_usage_error("%s: %s", o->what, heddle_last_error());
	return TOOL_OK;
}

/* The tiles of this machine, by real runs. */
static int search_here(struct tune_options *o, const struct heddle_config *config)
{
	struct work works[TUNE_ROUTINES];
	int status = TOOL_OK;
	for (size_t i = 0; i < o->n_routines && !status; i++) {
		struct tune_options one = *o;
		one.what = o->routines[i];
		status = open_work(&one);
		works[i] = one.work;
		if (!status && works[i].problem.options.tile)
			status = tool_usage_error("--here finds the tile: do not give one");
		if (status)
			heddle_graph_free(one.work.graph);
	}
	return status ? status : tune_here(config, works, o->n_routines, o->view.format);
}

static int search_virtually(struct tune_options *o, struct heddle_config *config, double begin)
{
	struct heddle_platform *platform = NULL;
	struct tune_results results = {.n = 0};
	const char *name = o->platform ? o->platform : config->platform;
	int choose = clusters_are_chosen(config->clusters);
	o->clusters = choose ? NULL : config->clusters;
	int status =
	    name && *name ? tool_open_platform(name, o->clusters, &platform) : load_this(o->clusters, &platform);
	name = name && *name ? name : this_machine;
	o->work.quiet = 1;
	if (!status)
		status =
		    choose ? search_cluster_sets(&results, o, platform, config) : search(&results, o, platform, config);
	if (!status)
		print(o, &results, name, tool_wall_clock() - begin);
	free(results.list);
	free(o->chosen);
	heddle_platform_free(platform);
	return status;
}

int tool_tune(int argc, char **argv)
{
	struct tune_options o = {.scheds = "all"};
	struct heddle_config config;
	double begin = tool_wall_clock();
	work_init(&o.work);
	int status = tool_parse(&argp, argc, argv, &o);
	if (!status && !(o.here && o.n_routines))
		status = open_work(&o);
	if (!status)
		status = tool_config_init(&config, &o.view.settings);
	if (!status && o.clusters)
		config.clusters = o.clusters;
	if (!status)
		status = o.here ? search_here(&o, &config) : search_virtually(&o, &config, begin);
	heddle_graph_free(o.work.graph);
	return status;
}
