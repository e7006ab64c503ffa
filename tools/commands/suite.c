/* heddle suite LIST: policies on the cells of a list, beside the best of the list's reference policies in each cell. */
#include "suite.h"
#include "plot/draw.h"
#include "shared/experiment.h"
#include <heddle/settings.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_NOISE = 0x9200, KEY_SEED, KEY_SEEDS, KEY_ONLY, KEY_BEST, KEY_EXPLAIN, KEY_BOUNDS };

struct options {
	struct tool_view view; /* comes first, because tool_view_parse takes a pointer to this structure */
	const char *path, *scheds, *noise, *seed, *only, *best, *picture;
	long n_seeds, n_threads;
	int explain, bounds;
};

static const struct argp_option options[] = {
    {"scheds", 's', "S1,S2,...|all", 0, "The policies (default: the reference of the list)", 0},
    {"only", KEY_ONLY, "NAME,...", 0, "Only the cells of these suites and groups", 0},
    {"noise", KEY_NOISE, "SHARE", 0, "Relative standard deviation of execution times (default 0)", 0},
    {"seed", KEY_SEED, "SEED", 0, "The first seed (default 0)", 0},
    {"seeds", KEY_SEEDS, "N", 0, "Run each simulation with N consecutive seeds and show the means (default 1)", 0},
    {"best", KEY_BEST, "FILE", 0,
     "Keep the best makespan of each cell there: if FILE has them, the reference does not run again", 0},
    {"bounds", KEY_BOUNDS, NULL, 0, "Compare the makespans with the largest lower bounds, too", 0},
    {"explain", KEY_EXPLAIN, NULL, 0, "Show every cell", 0},
    {"output", 'o', "PICTURE", 0, "Draw makespan / best as a heat map: .png, .svg or .pdf", 0},
    {"jobs", 'j', "N", 0, "Simulations at once (default: one per core)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case 's': o->scheds = arg; return 0;
	case KEY_ONLY: o->only = arg; return 0;
	case KEY_NOISE: o->noise = arg; return 0;
	case KEY_SEED: o->seed = arg; return 0;
	case KEY_SEEDS: o->n_seeds = tool_int(state, "--seeds", arg, 1, 10000); return 0;
	case KEY_BEST: o->best = arg; return 0;
	case KEY_BOUNDS: o->bounds = 1; return 0;
	case KEY_EXPLAIN: o->explain = 1; return 0;
	case 'o': o->picture = arg; return 0;
	case 'j': o->n_threads = tool_int(state, "--jobs", arg, 1, 1024); return 0;
	case ARGP_KEY_ARG:
		if (o->path)
			tool_option_error(state, "unexpected argument \"%s\"", arg);
		o->path = arg;
		return 0;
	default: return tool_view_parse(key, arg, state);
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0}, {&tool_set_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "LIST",
    .doc =
        "Simulates every cell of LIST, a graph on a machine, under every policy, and compares each makespan with the "
        "shortest that a policy of the list's reference takes in that very cell: geometric means by suite and "
        "group, and the worst cell.\v"
        "bench/cells/cells.txt is such a list, and says how one is written.",
};

/* What is being done. Cell i of the list is problem i of the campaign. */
struct suite {
	const struct options *o;
	struct suite_list list;
	struct suite_best *best;            /* owns; one per cell */
	struct heddle_config *configs;      /* owns; one per cell */
	struct work *works;                 /* owns; one per cell */
	struct heddle_platform **platforms; /* owns the array; one per cell */
	char **paths;                       /* owns; one per cell: the work as work_open takes it */
	char **settings;                    /* owns; one per cell: borrowed by its configuration */
	struct campaign campaign;
	size_t first_shown; /* the policies before this one only ran as reference */
};

/* --- Opening ------------------------------------------------------------------------------------------------------ */

/* Sets the settings of a cell, whose text is cut into words, which the configuration borrows. */
static int set_all(struct heddle_config *config, char *settings)
{
	char *rest = NULL;
	int status = TOOL_OK;
	for (char *name = strtok_r(settings, " ", &rest); name && !status; name = strtok_r(NULL, " ", &rest)) {
		char *text = strchr(name, '=');
		if (!text)
			return tool_usage_error("a setting of a cell is \"%s\": it must be NAME=VALUE", name);
		*text++ = '\0';
		if (heddle_setting_set(config, name, text))
			status = tool_usage_error("%s", heddle_last_error());
	}
	return status;
}

static int open_cell(struct suite *s, size_t i, const struct heddle_config *config)
{
	const struct suite_cell *cell = &s->list.cells[i];
	struct work *work = &s->works[i];
	int is_file = *tool_extension(cell->word) && !strchr(cell->word, ':');
	s->paths[i] = tool_format("%s%s", is_file ? s->list.folder : "", cell->word);
	s->platforms[i] = suite_list_machine(&s->list, cell->machine);
	s->configs[i] = *config;
	work_init(work);
	work->quiet = 1;
	work->near_bounds = 1;
	int status = work_open(work, s->paths[i]);
	s->settings[i] = tool_format("%s", cell->settings);
	return status ? status : set_all(&s->configs[i], s->settings[i]);
}

static int configure(const struct options *o, struct heddle_config *config)
{
	int status = o->path ? tool_config_init(config, &o->view.settings)
	                     : tool_usage_error("which list of cells? For example bench/cells/cells.txt");
	if (!status && o->picture && !summary_is_picture(o->picture))
		status = tool_usage_error("--output is \"%s\": it must end in .png, .svg or .pdf", o->picture);
	if (!status && o->picture)
		status = tool_check_writable(o->picture);
	if (!status && ((o->noise && heddle_setting_set(config, "noise", o->noise)) ||
	                (o->seed && heddle_setting_set(config, "seed", o->seed))))
		status = tool_usage_error("--%s", heddle_last_error());
	if (!status)
		config->sched_options = NULL; /* the policies have different options */
	return status;
}

static int open_suite(struct suite *s, const struct heddle_config *config)
{
	int status = suite_list_read(&s->list, s->o->path, s->o->only);
	size_t n = s->list.n;
	s->best = tool_alloc((n + 1) * sizeof *s->best);
	s->configs = tool_alloc((n + 1) * sizeof *s->configs);
	s->works = tool_alloc((n + 1) * sizeof *s->works);
	s->platforms = tool_alloc((n + 1) * sizeof(struct heddle_platform *));
	s->paths = tool_alloc((n + 1) * sizeof(char *));
	s->settings = tool_alloc((n + 1) * sizeof(char *));
	if (!status && !s->list.reference)
		status = tool_usage_error("%s has no line \"reference POLICIES\"", s->o->path);
	for (size_t i = 0; i < n && !status; i++)
		status = open_cell(s, i, config);
	return status;
}

static void close_suite(struct suite *s)
{
	for (size_t i = 0; i < s->list.n; i++) {
		heddle_graph_free(s->works[i].graph);
		free(s->best[i].policy);
		free(s->paths[i]);
		free(s->settings[i]);
	}
	free(s->best);
	free(s->configs);
	free(s->works);
	free(s->platforms);
	free(s->paths);
	free(s->settings);
	suite_list_free(&s->list);
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

/* Takes the best of the reference, the first policies of the campaign, from its runs. */
static void take_best(struct suite *s, size_t n_reference)
{
	for (size_t i = 0; i < s->list.n; i++)
		for (size_t k = 0; k < n_reference; k++) {
			double ms = campaign_cell(&s->campaign, i, k).seconds * 1e3;
			if (isnan(ms) || ms >= s->best[i].ms)
				continue;
			free(s->best[i].policy);
			s->best[i] = (struct suite_best){ms, tool_format("%s", s->campaign.policies[k])};
		}
}

/* The number of policies in a list of the form of --scheds. */
static int count(const char *list, size_t *n)
{
	struct comparison c;
	int status = comparison_init(&c, list);
	*n = c.n;
	if (!status)
		comparison_free(&c);
	return status;
}

static int run(struct suite *s, const struct heddle_config *config)
{
	const struct options *o = s->o;
	size_t n_threads = o->n_threads ? (size_t)o->n_threads : tool_cores(), n_reference = 0;
	char *key =
	    tool_format("heddle suite %s: noise %g, seeds %ld from %llu, best of %s", o->only ? o->only : "",
	                config->virtual_time.noise, o->n_seeds, (unsigned long long)config->seed, s->list.reference);
	size_t unknown = suite_best_read(o->best, key, &s->list, s->best);
	int again = unknown > 0 || !o->scheds;
	char *policies = tool_format("%s%s%s", again ? s->list.reference : "", again && o->scheds ? "," : "",
	                             o->scheds ? o->scheds : "");
	struct campaign_plan plan = {.works = s->works,
	                             .platforms = s->platforms,
	                             .configs = s->configs,
	                             .n_works = s->list.n,
	                             .n_platforms = s->list.n,
	                             .n_seeds = (size_t)o->n_seeds,
	                             .policies = policies,
	                             .unbounded = !o->bounds};
	int status = again ? count(s->list.reference, &n_reference) : TOOL_OK;
	if (!status && (status = campaign_init(&s->campaign, &plan)))
		s->campaign = (struct campaign){.n_problems = 0};
	if (!status)
		status = campaign_run(&s->campaign, config, n_threads);
	s->first_shown = o->scheds ? n_reference : 0;
	if (!status && again)
		take_best(s, n_reference);
	if (!status && unknown > 0 && o->best)
		status = suite_best_write(o->best, key, &s->list, s->best);
	free(policies);
	free(key);
	return status;
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */

/* The mean of ratios, and the largest. */
struct mean {
	double n, logs, worst;
	size_t cell; /* with the largest ratio */
};

static void mean_add(struct mean *m, double ratio, size_t cell)
{
	if (isnan(ratio))
		return;
	m->n++;
	m->logs += log(ratio);
	if (m->n <= 1 || ratio > m->worst) {
		m->worst = ratio;
		m->cell = cell;
	}
}

static double mean_of(const struct mean *m)
{
	return m->n > 0 ? exp(m->logs / m->n) : NAN;
}

static double bound_ms(const struct suite *s, size_t i)
{
	double bound = comparison_bound(&s->campaign.problems[i].seeds[0]) * 1e-3;
	return s->o->bounds && bound > 0 ? bound : NAN;
}

/* The cells of a group in a suite (group NULL: of the whole suite), which one row shows. */
struct section {
	const char *suite, *group; /* borrow */
};

/* Whether cell i is the first of its suite and, if `group`, of its group in that suite. */
static int is_first(const struct suite_list *list, size_t i, int group)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(list->cells[k].suite, list->cells[i].suite) == 0 &&
		    (!group || strcmp(list->cells[k].group, list->cells[i].group) == 0))
			return 0;
	return 1;
}

/* The groups of each suite, and then the suite. The caller frees the array. */
static struct section *sections_of(const struct suite_list *list, size_t *n)
{
	struct section *sections = tool_alloc((2 * list->n + 1) * sizeof *sections);
	*n = 0;
	for (size_t i = 0; i < list->n; i++) {
		const char *suite = list->cells[i].suite;
		if (!is_first(list, i, 0))
			continue;
		for (size_t k = i; k < list->n; k++)
			if (strcmp(list->cells[k].suite, suite) == 0 && is_first(list, k, 1))
				sections[(*n)++] = (struct section){suite, list->cells[k].group};
		sections[(*n)++] = (struct section){suite, NULL};
	}
	return sections;
}

struct means {
	struct mean over_best, over_bound, best_over_bound;
};

static struct means means_of(const struct suite *s, size_t policy, struct section section)
{
	struct means m = {0};
	for (size_t i = 0; i < s->list.n; i++) {
		const struct suite_cell *cell = &s->list.cells[i];
		if (strcmp(cell->suite, section.suite) != 0 ||
		    (section.group && strcmp(cell->group, section.group) != 0))
			continue;
		double ms = campaign_cell(&s->campaign, i, policy).seconds * 1e3;
		mean_add(&m.over_best, ms / s->best[i].ms, i);
		mean_add(&m.over_bound, ms / bound_ms(s, i), i);
		mean_add(&m.best_over_bound, s->best[i].ms / bound_ms(s, i), i);
	}
	return m;
}

static void add_row(struct table *table, const struct suite *s, size_t policy, struct section section)
{
	const struct means m = means_of(s, policy, section);
	const struct mean *best = &m.over_best;
	char *worst = best->n > 0 ? suite_cell_text(&s->list.cells[best->cell]) : NULL;
	table_text(table, "%s", s->campaign.policies[policy]);
	table_text(table, "%s", section.suite);
	table_text(table, "%s", section.group ? section.group : "all");
	table_number(table, best->n);
	table_number(table, mean_of(best));
	table_number(table, best->n > 0 ? best->worst : NAN);
	table_optional(table, worst);
	table_number(table, mean_of(&m.over_bound));
	table_number(table, mean_of(&m.best_over_bound));
	free(worst);
}

static void fill_policies(struct table *table, const struct suite *s)
{
	static const struct table_column columns[] = {
	    {"policy", NULL, NULL, TABLE_AS_TEXT},
	    {"suite", NULL, NULL, TABLE_AS_TEXT},
	    {"group", NULL, NULL, TABLE_AS_TEXT},
	    {"cells", NULL, NULL, 0},
	    {"mean_over_best", "makespan / best, geometric mean", NULL, 3},
	    {"worst_over_best", "worst", NULL, 3},
	    {"worst_cell", "in", NULL, TABLE_AS_TEXT},
	    {"mean_over_bound", "makespan / bound", NULL, 3},
	    {"best_over_bound", "best / bound", NULL, 3},
	};
	size_t n;
	struct section *sections = sections_of(&s->list, &n);
	table_init(table, "policies", "Policies", columns, sizeof columns / sizeof *columns);
	for (size_t p = s->first_shown; p < s->campaign.n_policies; p++)
		for (size_t i = 0; i < n; i++)
			add_row(table, s, p, sections[i]);
	free(sections);
}

static int draw(const struct suite *s)
{
	enum { MOST = 4 }; /* larger ratios have the colour of this ratio */
	size_t n, n_policies = s->campaign.n_policies - s->first_shown;
	struct section *sections = sections_of(&s->list, &n);
	char **rows = tool_alloc((n + 1) * sizeof *rows);
	double *values = tool_alloc((n * n_policies + 1) * sizeof *values), largest = 1.1;
	for (size_t i = 0; i < n; i++) {
		rows[i] = tool_format("%s: %s", sections[i].suite, sections[i].group ? sections[i].group : "all");
		for (size_t p = 0; p < n_policies; p++) {
			const struct means m = means_of(s, s->first_shown + p, sections[i]);
			values[i * n_policies + p] = mean_of(&m.over_best);
			largest = fmax(largest, mean_of(&m.over_best)); /* fmax ignores NAN */
		}
	}
	const struct hd_heatmap map = {
	    .title = "Makespan / the shortest of the reference in the same cell, geometric means",
	    .label = "makespan / best, logarithmic",
	    .rows = (const char *const *)rows,
	    .columns = s->campaign.policies + s->first_shown,
	    .n_rows = n,
	    .n_columns = n_policies,
	    .values = values,
	    .reference = 1,
	    .low = 1,
	    .high = fmin(largest, MOST),
	    .logarithmic = 1,
	    .mark_least = 1,
	    .digits = 3,
	};
	int status = hd_heatmap_draw(&map, s->o->picture) ? tool_library_error("the heat map was not drawn") : TOOL_OK;
	for (size_t i = 0; i < n; i++)
		free(rows[i]);
	free(rows);
	free(values);
	free(sections);
	return status;
}

static void fill_cells(struct table *table, const struct suite *s)
{
	static const struct table_column columns[] = {
	    {"suite", NULL, NULL, TABLE_AS_TEXT},    {"group", NULL, NULL, TABLE_AS_TEXT},
	    {"platform", NULL, NULL, TABLE_AS_TEXT}, {"graph", NULL, NULL, TABLE_AS_TEXT},
	    {"policy", NULL, NULL, TABLE_AS_TEXT},   {"makespan_ms", "makespan", "ms", 2},
	    {"over_best", "/ best", NULL, 3},        {"best_policy", "best policy", NULL, TABLE_AS_TEXT},
	    {"bound_ms", "best bound", "ms", 2},     {"over_bound", "makespan / bound", NULL, 3},
	};
	table_init(table, "cells", "Cells", columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < s->list.n; i++)
		for (size_t p = s->first_shown; p < s->campaign.n_policies; p++) {
			const struct suite_cell *cell = &s->list.cells[i];
			double ms = campaign_cell(&s->campaign, i, p).seconds * 1e3;
			table_text(table, "%s", cell->suite);
			table_text(table, "%s", cell->group);
			table_text(table, "%s", cell->machine);
			table_text(table, "%s%s%s", cell->word, *cell->settings ? " " : "", cell->settings);
			table_text(table, "%s", s->campaign.policies[p]);
			table_number(table, ms);
			table_number(table, ms / s->best[i].ms);
			table_optional(table, s->best[i].policy);
			table_number(table, bound_ms(s, i));
			table_number(table, ms / bound_ms(s, i));
		}
}

static void print(const struct suite *s)
{
	struct table policies, cells, *all[] = {&cells, &policies};
	fill_cells(&cells, s);
	fill_policies(&policies, s);
	int whole = s->o->explain || s->o->view.format == TABLE_JSON;
	table_print(stdout, s->o->view.format, all + !whole, whole ? 2 : 1);
	table_free(&cells);
	table_free(&policies);
}

int tool_suite(int argc, char **argv)
{
	struct options o = {.n_seeds = 1};
	struct heddle_config config;
	struct suite s = {.o = &o};
	int status = work_parse_words(&argp, argc, argv, &o);
	if (!status)
		status = configure(&o, &config);
	if (status)
		return status;
	status = open_suite(&s, &config);
	if (!status)
		status = run(&s, &config);
	if (!status)
		print(&s);
	if (!status && o.picture)
		status = draw(&s);
	campaign_free(&s.campaign);
	close_suite(&s);
	return status;
}
