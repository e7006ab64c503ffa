/* heddle compare: simulates graphs x platforms x policies, and compares the makespans with the bounds. */
#include "shared/campaign.h"
#include "shared/experiment.h"
#include "shared/speedup.h"
#include "plot/draw.h"
#include <heddle/settings.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_NOISE = 0x9000, KEY_SEED, KEY_SEEDS, KEY_SORT };

/* Names from one or several lists. It owns the array and the names. */
struct names {
	char **list;
	size_t n;
};

struct options {
	struct tool_view view; /* comes first, because tool_view_parse takes a pointer to this structure */
	struct names graphs, platforms;
	const char *scheds, *noise, *seed, *picture, *clusters;
	struct assumed_times assumed;
	long n_seeds, n_threads;
	int sort; /* list the shortest makespan of each problem first */
};

static const struct argp_option options[] = {
    {"graphs", 'g', "G1,G2,...", 0,
     "What to schedule: cholesky:n=19200,tile=960,precision=s, files in .json, .dot or .stg, random:n=1000,...; may be "
     "repeated",
     0},
    {"platforms", 'p', "P1,P2,...", 0, "The machines; `heddle platforms` lists them", 0},
    {"scheds", 's', "S1,S2,...|all", 0, "The policies (default all)", 0},
    {"noise", KEY_NOISE, "SHARE", 0, "Relative standard deviation of execution times (default 0)", 0},
    {"seed", KEY_SEED, "SEED", 0, "The first seed (default 0)", 0},
    {"seeds", KEY_SEEDS, "N", 0, "Run each simulation with N consecutive seeds and show the means (default 1)", 0},
    {"sort", KEY_SORT, NULL, 0, "List the results of each graph on each machine by their makespans", 0},
    {"jobs", 'j', "N", 0, "Simulations at once (default: one per core)", 0},
    {"output", 'o', "PICTURE", 0, "Draw makespan / bound as a heat map: .png, .svg or .pdf", 0},
    {0},
};

/* --- Lists -------------------------------------------------------------------------------------------------------- */

static void add_name(struct names *names, const char *text, size_t length)
{
	names->list = tool_realloc(names->list, (names->n + 1) * sizeof *names->list);
	names->list[names->n++] = tool_format("%.*s", (int)length, text);
}

/* The length of the first graph in a list. A comma before NAME=VALUE does not end the graph:
 * "cholesky:n=960,tile=96,other.json" is two graphs. */
static size_t length_of_word(const char *text)
{
	size_t length = strcspn(text, ",");
	int has_parameters = memchr(text, ':', length) != NULL;
	while (has_parameters && text[length]) {
		const char *next = text + length + 1;
		size_t stop = strcspn(next, "=,:/.");
		if (next[stop] != '=')
			break;
		length += 1 + strcspn(next, ",");
	}
	return length;
}

static void add_list(struct names *names, const char *text)
{
	for (; *text; text += *text == ',') {
		size_t length = length_of_word(text);
		if (length > 0)
			add_name(names, text, length);
		text += length;
	}
}

static void names_free(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i]);
	free(names->list);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[2] = &o->clusters;
		state->child_inputs[3] = &o->assumed;
		return tool_view_parse(key, arg, state);
	case 'g': add_list(&o->graphs, arg); return 0;
	case 'p': add_list(&o->platforms, arg); return 0;
	case 's': o->scheds = arg; return 0;
	case KEY_NOISE: o->noise = arg; return 0;
	case KEY_SEED: o->seed = arg; return 0;
	case KEY_SEEDS: o->n_seeds = tool_int(state, "--seeds", arg, 1, 10000); return 0;
	case KEY_SORT: o->sort = 1; return 0;
	case 'j': o->n_threads = tool_int(state, "--jobs", arg, 1, 1024); return 0;
	case 'o': o->picture = arg; return 0;
	case ARGP_KEY_ARG: add_name(&o->graphs, arg, strlen(arg)); return 0;
	default: return tool_view_parse(key, arg, state);
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0},
                                             {&tool_set_argp, 0, NULL, 0},
                                             {&tool_auto_clusters_argp, 0, NULL, 0},
                                             {&assumed_argp, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[GRAPH...]",
    .doc = "Simulates every graph on every platform under every policy and compares the makespans with the largest "
           "lower bound "
           "(`heddle bound`). Also shows the bytes moved between memories, the idle share of the workers, and the time "
           "that the policy took per task.\v"
           "The time of a policy is real time on this machine, the least of its runs. It is only measured with "
           "--jobs 1, because simulations that run side by side disturb each other. "
           "A GRAPH given as an argument is the same as one given with --graphs.",
};

/* --- Tables ------------------------------------------------------------------------------------------------------- */

/* The number of tasks, which is the same in all runs of a problem. */
static double tasks_of(const struct campaign *c, const struct problem *p)
{
	for (size_t k = 0; k < c->n_seeds; k++)
		for (size_t i = 0; i < c->n_policies; i++)
			if (!p->seeds[k].status[i])
				return p->seeds[k].outcomes[i].tasks;
	return NAN;
}

static void fill_problems(struct table *table, const struct campaign *c)
{
	static const struct table_column columns[] = {
	    {"graph", NULL, NULL, TABLE_AS_TEXT},
	    {"platform", NULL, NULL, TABLE_AS_TEXT},
	    {"workers", NULL, NULL, 0},
	    {"tasks", NULL, NULL, 0},
	    {"area_bound_ms", "area bound", "ms", 2},
	    {"path_bound_ms", "critical path bound", "ms", 2},
	    {"iterative_bound_ms", "iterative bound", "ms", 2},
	    {"bound_ms", "best bound", "ms", 2},
	    {"untimed_classes", "classes without times", NULL, TABLE_AS_TEXT},
	};
	table_init(table, "problems", "Graphs and bounds", columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < c->n_problems; i++) {
		const struct problem *p = &c->problems[i];
		const struct heddle_bounds *b = &p->seeds[0].bounds;
		table_text(table, "%s", p->work->name);
		table_text(table, "%s", p->platform->name);
		table_number(table, p->chosen ? NAN : (double)p->platform->n_workers);
		table_number(table, tasks_of(c, p));
		table_number(table, b->area * 1e-3);
		table_number(table, b->critical_path * 1e-3);
		table_number(table, b->iterative * 1e-3);
		table_number(table, b->mixed * 1e-3);
		table_optional(table, p->seeds[0].untimed);
	}
}

/* Whether no policy took less time for the problem. */
static int is_best(const struct campaign *c, size_t problem, double seconds)
{
	for (size_t k = 0; k < c->n_policies; k++)
		if (campaign_cell(c, problem, k).seconds < seconds)
			return 0;
	return 1;
}

static void fill_results(struct table *table, const struct campaign *c, int sort)
{
	static const struct table_column columns[] = {
	    {"graph", NULL, NULL, TABLE_AS_TEXT},
	    {"platform", NULL, NULL, TABLE_AS_TEXT},
	    {"policy", NULL, NULL, TABLE_AS_TEXT},
	    {"runs", NULL, NULL, 0},
	    {"makespan_ms", "makespan", "ms", 2},
	    {"is_best", "best", NULL, TABLE_AS_TEXT},
	    {"deviation_ms", "deviation", "ms", 2},
	    {"over_bound", "makespan / bound", NULL, 3},
	    {"moved_mib", "moved", "MiB", 0},
	    {"idle_percent", "idle", "%", 1},
	    {"policy_us_per_task", "policy", "us/task", 3},
	    {"clusters", NULL, NULL, TABLE_AS_TEXT},
	};
	table_init(table, "results", "Results", columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < c->n_problems * c->n_policies; i++) {
		struct cell cell = campaign_cell(c, i / c->n_policies, i % c->n_policies);
		table_text(table, "%s", c->problems[i / c->n_policies].work->name);
		table_text(table, "%s", c->problems[i / c->n_policies].platform->name);
		table_text(table, "%s", c->policies[i % c->n_policies]);
		table_number(table, (double)cell.n);
		table_number(table, cell.seconds * 1e3);
		table_optional(table, cell.n && is_best(c, i / c->n_policies, cell.seconds) ? "yes" : NULL);
		table_number(table, cell.deviation * 1e3);
		table_number(table, cell.ratio);
		table_number(table, cell.bytes_moved / 0x1p20);
		table_number(table, cell.idle * 100);
		table_number(table, cell.sched_time);
		const struct chosen *chosen = c->problems[i / c->n_policies].chosen;
		table_optional(table, chosen ? chosen[i % c->n_policies].clusters : NULL);
		if (sort && i % c->n_policies == c->n_policies - 1)
			table_sort(table, i + 1 - c->n_policies, 4);
	}
}

/* Fills the table of policies: means over all problems that the policy has solved. */
static void fill_policies(struct table *table, const struct campaign *c)
{
	static const struct table_column columns[] = {
	    {"policy", NULL, NULL, TABLE_AS_TEXT},  {"solved", NULL, NULL, 0},
	    {"best", "times the best", NULL, 0},    {"mean_over_bound", "makespan / bound, geometric mean", NULL, 3},
	    {"worst_over_bound", "worst", NULL, 3}, {"policy_us_per_task", "policy", "us/task", 3},
	};
	table_init(table, "policies", "Policies", columns, sizeof columns / sizeof *columns);
	for (size_t k = 0; k < c->n_policies; k++) {
		double n = 0, n_bounded = 0, logs = 0, worst = NAN, best = 0, sched_time = 0;
		for (size_t i = 0; i < c->n_problems; i++) {
			struct cell cell = campaign_cell(c, i, k);
			if (cell.n == 0)
				continue;
			n++;
			n_bounded += !isnan(cell.ratio);
			logs += isnan(cell.ratio) ? 0 : log(cell.ratio);
			worst = fmax(worst, cell.ratio);
			best += is_best(c, i, cell.seconds);
			sched_time += cell.sched_time;
		}
		table_text(table, "%s", c->policies[k]);
		table_number(table, n);
		table_number(table, best);
		table_number(table, n_bounded > 0 ? exp(logs / n_bounded) : NAN);
		table_number(table, worst);
		table_number(table, n > 0 ? sched_time / n : NAN);
	}
}

static void print(const struct campaign *c, enum table_format format, int sort)
{
	struct table problems, results, policies, *all[] = {&problems, &results, &policies}, *csv[] = {&results};
	fill_problems(&problems, c);
	fill_results(&results, c, sort);
	fill_policies(&policies, c);
	table_print(stdout, format, format == TABLE_CSV ? csv : all, format == TABLE_CSV ? 1 : 3);
	if (format == TABLE_TEXT && !c->timed)
		printf(
		    "\nThe time in the policies is only measured with --jobs 1: simulations side by side disturb each "
		    "other.\n");
	table_free(&problems);
	table_free(&results);
	table_free(&policies);
}

/* --- The picture -------------------------------------------------------------------------------------------------- */

static int draw(const struct campaign *c, const char *path)
{
	enum { MOST = 16 }; /* larger ratios have the colour of this ratio */
	char **rows = tool_alloc(c->n_problems * sizeof *rows);
	double *values = tool_alloc(c->n_problems * c->n_policies * sizeof *values), largest = 2;
	for (size_t i = 0; i < c->n_problems; i++) {
		rows[i] = tool_format("%s on %s", c->problems[i].work->name, c->problems[i].platform->name);
		for (size_t k = 0; k < c->n_policies; k++) {
			values[i * c->n_policies + k] = campaign_cell(c, i, k).ratio;
			largest = fmax(largest, values[i * c->n_policies + k]); /* fmax ignores NAN */
		}
	}
	struct hd_heatmap map = {
	    .title = "Makespan / largest lower bound; framed: the least number of each row",
	    .label = "makespan / bound, logarithmic",
	    .rows = (const char *const *)rows,
	    .columns = c->policies,
	    .n_rows = c->n_problems,
	    .n_columns = c->n_policies,
	    .values = values,
	    .reference = 1,
	    .low = 1,
	    .high = fmin(largest, MOST),
	    .logarithmic = 1,
	    .mark_least = 1,
	    .digits = 2,
	};
	int status = hd_heatmap_draw(&map, path) ? tool_library_error("the heat map was not drawn") : TOOL_OK;
	for (size_t i = 0; i < c->n_problems; i++)
		free(rows[i]);
	free(rows);
	free(values);
	return status;
}

/* --- The command -------------------------------------------------------------------------------------------------- */

static int configure(const struct options *o, struct heddle_config *config)
{
	if (o->graphs.n == 0)
		return tool_usage_error(
		    "which graphs? For example --graphs cholesky:n=19200,tile=960,precision=s,random:n=1000");
	if (o->picture && !summary_is_picture(o->picture))
		return tool_usage_error("--output is \"%s\": it must end in .png, .svg or .pdf", o->picture);
	int status = o->picture ? tool_check_writable(o->picture) : TOOL_OK;
	if (!status)
		status = tool_config_init(config, &o->view.settings);
	if (!status && ((o->noise && heddle_setting_set(config, "noise", o->noise)) ||
	                (o->seed && heddle_setting_set(config, "seed", o->seed))))
		status = tool_usage_error("--%s", heddle_last_error());
	if (!status) {
		config->clusters = o->clusters ? o->clusters : config->clusters;
		config->sched_options = NULL; /* the policies have different options */
	}
	return status;
}

/* Opens the graphs and platforms of the plan. The caller calls close_plan, even after an error. */
static int open_plan(const struct options *o, const struct heddle_config *config, struct campaign_plan *plan)
{
	int status = o->platforms.n ? TOOL_OK : tool_no_platform();
	const char *clusters = clusters_are_chosen(config->clusters) ? NULL : config->clusters;
	plan->works = tool_alloc(o->graphs.n * sizeof *plan->works);
	plan->platforms = tool_alloc((o->platforms.n + 1) * sizeof *plan->platforms);
	while (plan->n_works < o->graphs.n && !status) {
		struct work *work = &plan->works[plan->n_works];
		work_init(work);
		work->quiet = 1;
		status = work_open(work, o->graphs.list[plan->n_works++]);
		if (!status)
			work_seed(work, config->seed);
	}
	while (plan->n_platforms < o->platforms.n && !status) {
		status = tool_open_platform(o->platforms.list[plan->n_platforms], clusters,
		                            &plan->platforms[plan->n_platforms]);
		plan->n_platforms += !status;
	}
	return status;
}

/* Gives the assumed times to the graphs that have times; the times of other graphs come from the platforms. */
static int assume_times(struct campaign_plan *plan, const struct assumed_times *assumed)
{
	const struct machines machines = {plan->platforms, plan->n_platforms};
	size_t n = 0;
	int status = TOOL_OK;
	for (size_t i = 0; i < plan->n_works && !status; i++)
		if (work_has_times(&plan->works[i])) {
			status = work_assume_times(&plan->works[i], &machines, assumed);
			n++;
		}
	/* which prints why nothing can be assumed */
	return n ? status : work_assume_times(&plan->works[0], &machines, assumed);
}

static void close_plan(struct campaign_plan *plan)
{
	for (size_t i = 0; i < plan->n_works; i++)
		heddle_graph_free(plan->works[i].graph);
	for (size_t i = 0; i < plan->n_platforms; i++)
		heddle_platform_free(plan->platforms[i]);
	free(plan->works);
	free(plan->platforms);
}

static int compare(const struct options *o, const struct heddle_config *config, const struct campaign_plan *plan)
{
	struct campaign c;
	size_t n_threads = o->n_threads ? (size_t)o->n_threads : tool_cores();
	int status = campaign_init(&c, plan);
	if (status)
		return status;
	c.timed = n_threads == 1;
	int chosen = clusters_are_chosen(config->clusters) ? campaign_choose(&c, config, n_threads) : TOOL_OK;
	status = campaign_run(&c, config, n_threads);
	status = chosen ? chosen : status;
	print(&c, o->view.format, o->sort);
	int drawn = o->picture ? draw(&c, o->picture) : TOOL_OK;
	campaign_free(&c);
	return status ? status : drawn;
}

int tool_compare(int argc, char **argv)
{
	struct options o = {.scheds = "all", .n_seeds = 1};
	struct heddle_config config;
	struct campaign_plan plan = {.n_works = 0};
	int status = work_parse_words(&argp, argc, argv, &o);
	if (!status)
		status = configure(&o, &config);
	if (!status) {
		plan.policies = o.scheds;
		plan.n_seeds = (size_t)o.n_seeds;
		status = open_plan(&o, &config, &plan);
		if (!status)
			status = assume_times(&plan, &o.assumed);
		if (!status)
			status = compare(&o, &config, &plan);
		close_plan(&plan);
	}
	names_free(&o.graphs);
	names_free(&o.platforms);
	return status;
}
