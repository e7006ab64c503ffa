/* Parses the work that the user asks for: in one word (potrf:n=19200,tile=960, a graph's file, or random:n=1000), or as
 * options. */
#include "graph_facts.h"
#include "tool.h"
#include "workload.h"
#include "base/base.h"
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <heddle/fmm.h>
#ifdef HEDDLE_HAVE_SPARSE
#include <heddle/sparse.h>
#endif

/* --- Options of all applications ---------------------------------------------------------------------------------- */

enum { KEY_FIRST = 0xc000, KEY_NO_PRIORITIES = 0xbfff };

/* The name of an option's argument in the help: "N", or the shortest word of each value: "d|s|z|c". */
static char *argument_of(const struct heddle_parameter *p)
{
	if (p->kind == HEDDLE_PARAMETER_TEXT)
		return tool_format("TEXT");
	if (p->kind != HEDDLE_PARAMETER_WORD)
		return tool_format(p->kind == HEDDLE_PARAMETER_SIZE ? "N" : "X");
	char *words = tool_format("%s", "");
	for (const struct heddle_word *w = p->words; w->word; w++) {
		const struct heddle_word *later = w + 1;
		while (later->word && later->value != w->value)
			later++;
		if (later->word)
			continue;
		char *longer = tool_format("%s%s%s", words, *words ? "|" : "", w->word);
		free(words);
		words = longer;
	}
	return words;
}

static char *help_of(const struct heddle_parameter *p)
{
	int has_default = p->value && *p->value && strcmp(p->value, "0") != 0;
	return has_default ? tool_format("%s (default %s)", p->help, p->value) : tool_format("%s", p->help);
}

/* For work_argp; the first row is a heading. make_options fills the array once, in the first thread that calls it. */
static struct argp_option *options;
static size_t n_options;
static pthread_once_t options_made = PTHREAD_ONCE_INIT;

static void add_option(const struct argp_option *option)
{
	options = tool_realloc(options, (n_options + 2) * sizeof *options);
	options[n_options++] = *option;
	options[n_options] = (struct argp_option){.name = NULL};
}

/* Adds an option, unless its name is used already; the command has its own --seed. */
static void add_parameter(const struct heddle_parameter *p)
{
	int key = p->letter;
	if (strcmp(p->name, "seed") == 0)
		return;
	for (size_t i = 1; i < n_options; i++) {
		if (strcmp(options[i].name, p->name) == 0)
			return;
		if (options[i].key == key)
			key = 0;
	}
	if (!isalpha(key))
		key = KEY_FIRST + (int)n_options;
	add_option(&(struct argp_option){.name = p->name, .key = key, .arg = argument_of(p), .doc = help_of(p)});
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct work *work = state->input;
	size_t i = 1;
	while (i < n_options && options[i].key != key)
		i++;
	if (i == n_options || key == 0)
		return ARGP_ERR_UNKNOWN;
	if (work->n_given == sizeof work->given / sizeof *work->given)
		tool_option_error(state, "more than %zu options of an application", work->n_given);
	const char *name = key == KEY_NO_PRIORITIES ? "priorities" : options[i].name;
	for (size_t k = 0; k < work->n_given; k++)
		if (strcmp(work->given[k].name, name) == 0)
			tool_option_error(state, "--%s is given twice", name);
	work->given[work->n_given++] = key == KEY_NO_PRIORITIES ? (struct work_option){"priorities", "none"}
	                                                        : (struct work_option){options[i].name, arg};
	return 0;
}

struct argp work_argp = {.parser = parse};

static void make_options(void)
{
	heddle_dense_register(); /* an error shows later: the names are not found */
	heddle_fmm_register();
#ifdef HEDDLE_HAVE_SPARSE
	heddle_sparse_register();
#endif
	const struct heddle_application **all = tool_needed(heddle_applications());
	add_option(&(struct argp_option){.doc = "What to compute:", .group = 1});
	for (size_t i = 0; all[i]; i++)
		for (const struct heddle_parameter *p = all[i]->parameters; p && p->name; p++)
			add_parameter(p);
	add_option(&(struct argp_option){
	    .name = "no-priorities", .key = KEY_NO_PRIORITIES, .doc = "Short for --priorities none"});
	free(all);
	work_argp.options = options;
}

void work_init(struct work *work)
{
	pthread_once(&options_made, make_options);
	*work = (struct work){.repeat = 1};
}

int work_parse_words(const struct argp *argp, int argc, char **argv, void *input)
{
	pthread_once(&options_made, make_options);
	return tool_parse_words(argp, &work_argp, argc, argv, input);
}

/* --- One word ----------------------------------------------------------------------------------------------------- */

const struct heddle_application *work_application(const struct work *work)
{
	return work->app ? work->app : heddle_dense_application(work->problem.routine);
}

int work_is_dense(const struct work *work)
{
	const struct heddle_application *potrf = heddle_dense_application("potrf");
	return !work->graph && work_application(work)->open == potrf->open;
}

int work_is_ours(const struct work *work)
{
	static const char *const names[] = {"sparse-qr", "fmm"};
	int ours = work_is_dense(work);
	for (size_t i = 0; i < sizeof names / sizeof *names && !work->graph; i++)
		ours |= strcmp(work_application(work)->name, names[i]) == 0;
	return ours;
}

/* Sets an option of the application. A tile such as 2880/960 stands for two options: the tile, and how it is cut. */
static int set_option(struct work *work, const char *name, const char *text)
{
	size_t length = strcspn(text, "/");
	if (strcmp(name, "tile") != 0 || !text[length])
		return heddle_application_set(work->app, work->options, name, text);
	char *tile = tool_format("%.*s", (int)length, text);
	int status = heddle_application_set(work->app, work->options, name, tile);
	free(tile);
	return status ? status : heddle_application_set(work->app, work->options, "cut", text + length + 1);
}

/* Sets one option, written NAME=VALUE. */
static int set_in_word(struct work *work, const char *text)
{
	size_t length = strcspn(text, "=");
	char *name = tool_format("%.*s", (int)length, text);
	int status = TOOL_OK;
	if (!text[length])
		status = tool_usage_error("%s: option %s needs a value: %s=VALUE", work->name, name, name);
	else if (set_option(work, name, text + length + 1))
		status = tool_usage_error("%s: %s", work->name, heddle_last_error());
	free(name);
	return status;
}

/* Whether the first option of the list occurs again later in the list. */
static int is_repeated(const char *text)
{
	size_t length = strcspn(text, "=,") + 1;
	for (const char *at = text; (at = strchr(at, ',')); at++)
		if (strncmp(at + 1, text, length) == 0)
			return 1;
	return 0;
}

static int set_all_in_word(struct work *work, const char *list)
{
	int status = TOOL_OK;
	for (const char *at = list; *at && !status; at += strspn(at, ",")) {
		char *text = tool_format("%.*s", (int)strcspn(at, ","), at);
		status = is_repeated(at)
		             ? tool_usage_error("%s: %.*s is given twice", work->name, (int)strcspn(at, "=,"), at)
		             : set_in_word(work, text);
		free(text);
		at += strcspn(at, ",");
	}
	return status;
}

static int set_given(struct work *work)
{
	for (size_t i = 0; i < work->n_given; i++) {
		const struct work_option *o = &work->given[i];
		int status = set_option(work, o->name, o->text);
		if (status)
			return tool_usage_error("%s%s", status == HEDDLE_E_FORMAT ? "--" : "", heddle_last_error());
	}
	return TOOL_OK;
}

/* Prints that there is no application of this name. */
static int no_application(const char *name)
{
	const struct heddle_application **all = tool_needed(heddle_applications());
	const char **names = NULL;
	size_t n = 0;
	while (all[n])
		n++;
	names = tool_alloc((n + 1) * sizeof *names);
	for (size_t i = 0; i < n; i++)
		names[i] = all[i]->name;
	int status = tool_unknown("application or graph", name, names, n);
	free(names);
	free(all);
	return status;
}

/* Opens a graph. A graph has no options, except that it may run without priorities. */
static int open_graph(struct work *work, const char *text)
{
	int unordered = 0;
	for (size_t i = 0; i < work->n_given; i++) {
		if (strcmp(work->given[i].name, "priorities") != 0 || strcmp(work->given[i].text, "none") != 0)
			return tool_usage_error(
			    "--%s is for applications such as cholesky alone: it cannot change a graph",
			    work->given[i].name);
		unordered = 1;
	}
	int status = graph_open(text, &work->graph);
	for (size_t i = 0; !status && unordered && i < work->graph->n_tasks; i++)
		work->graph->tasks[i].priority = 0;
	return status;
}

int work_open_unsettled(struct work *work, const char *text)
{
	size_t length = strcspn(text, ":");
	char *name = tool_format("%.*s", (int)length, text);
	int status = TOOL_OK;
	work->name = text;
	work->app = heddle_application_find(name);
	if (!work->app) /* a name with an unknown extension counts as a graph, which is refused */
		status = graph_is_named(text) || *tool_extension(text) ? open_graph(work, text) : no_application(name);
	free(name);
	if (status || !work->app)
		return status;
	heddle_application_defaults(work->app, work->options);
	if (work_is_dense(work))
		work->problem.routine = heddle_dense_routine_find(work->app->name)->name;
	status = set_given(work);
	return status ? status : set_all_in_word(work, text[length] ? text + length + 1 : "");
}

int work_settle(struct work *work)
{
	if (!work->graph && work->app->settle && work->app->settle(work->app, work->options))
		return tool_usage_error("%s: %s", work->name, heddle_last_error());
	return TOOL_OK;
}

int work_open(struct work *work, const char *text)
{
	int status = work_open_unsettled(work, text);
	return status ? status : work_settle(work);
}

/* The option of this name, or NULL. */
static const struct heddle_parameter *find_parameter(const struct heddle_application *app, const char *name)
{
	for (const struct heddle_parameter *p = app->parameters; p && p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

void work_seed(struct work *work, uint64_t seed)
{
	const struct heddle_parameter *p = work->graph ? NULL : find_parameter(work->app, "seed");
	char now[32], text[32];
	if (!p || p->kind != HEDDLE_PARAMETER_SIZE)
		return;
	heddle_application_value(p, work->options, now, sizeof now);
	snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
	if (strcmp(now, p->value) == 0)
		heddle_application_set(work->app, work->options, p->name, text);
}

/* --- What a routine is called ------------------------------------------------------------------------------------- */

size_t work_largest_extent(const struct heddle_dense_problem *p)
{
	size_t largest = p->m > p->n ? p->m : p->n;
	return p->k > largest ? p->k : largest;
}

char work_letter(const struct work *work)
{
	return "dszc"[work->problem.precision];
}

/* --- Tables and help ---------------------------------------------------------------------------------------------- */

static int is_word(const struct heddle_parameter *p)
{
	return p->kind == HEDDLE_PARAMETER_WORD || p->kind == HEDDLE_PARAMETER_TEXT;
}

size_t work_columns(const struct work *work, struct table_column *columns, size_t room)
{
	size_t n = 0;
	const struct heddle_parameter *p = work->graph ? NULL : work_application(work)->parameters;
	for (; p && p->name; p++)
		if (p->shown && n < room)
			columns[n++] = (struct table_column){p->name, NULL, NULL,
			                                     is_word(p)                         ? TABLE_AS_TEXT
			                                     : p->kind == HEDDLE_PARAMETER_SIZE ? 0
			                                                                        : TABLE_ANY};
	return n;
}

void work_add_cells(const struct work *work, struct table *table)
{
	const struct heddle_parameter *p = work->graph ? NULL : work_application(work)->parameters;
	for (; p && p->name; p++) {
		char text[HEDDLE_PARAMETERS_MAX];
		if (!p->shown)
			continue;
		heddle_application_value(p, work->options, text, sizeof text);
		if (is_word(p))
			table_text(table, "%s", text);
		else /* an option with the value 0 that must be larger was not given */
			table_number(table, hd_real(text, NULL) < p->min ? (double)NAN : hd_real(text, NULL));
	}
}

static char *append(char *text, char *more)
{
	char *longer = tool_format("%s%s", text, more);
	free(text);
	free(more);
	return longer;
}

/* The options of an application that is not a dense routine, one per line. */
static char *parameters_text(const struct heddle_application *app)
{
	char *all = tool_format("%s", "");
	for (const struct heddle_parameter *p = app->parameters; p && p->name; p++) {
		char *help = help_of(p), *argument = argument_of(p);
		all = append(all, tool_format("      %s=%s  %s\n", p->name, argument, help));
		free(help);
		free(argument);
	}
	return all;
}

char *work_applications_text(void)
{
	const struct heddle_application **list = tool_needed(heddle_applications());
	const struct heddle_application *potrf = heddle_dense_application("potrf");
	char *all = tool_format("Routines, in double, single and both complex precisions:\n");
	for (size_t i = 0; list[i]; i++)
		if (list[i]->open == potrf->open)
			all = append(all, tool_format("  %-12s %s; residual %s\n", list[i]->name, list[i]->summary,
			                              list[i]->residual));
	int others = 0;
	for (size_t i = 0; list[i]; i++) {
		if (list[i]->open == potrf->open)
			continue;
		all = append(all, tool_format("%s  %-12s %s%s%s\n", others++ ? "" : "\nApplications of plug-ins:\n",
		                              list[i]->name, list[i]->summary ? list[i]->summary : "",
		                              list[i]->residual ? "; residual " : "",
		                              list[i]->residual ? list[i]->residual : ""));
		all = append(all, parameters_text(list[i]));
	}
	free(list);
	return all;
}
