/* heddle models list|show|plot|purge: the performance models that are stored on this machine. */
#include "shared/experiment.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_ALL = 0x7000, KEY_DIR };

struct options {
	const char *action, *name; /* action: NULL means list; name: of a codelet, NULL means all */
	const char *output, *dir;
	int all;
	enum table_format format;
};

static const char *const actions[] = {"list", "show", "plot", "purge"};
enum { LIST, SHOW, PLOT, PURGE, N_ACTIONS };

static const struct argp_option options[] = {
    {"output", 'o', "PICTURE", 0, "plot: the picture to write, .png, .svg or .pdf", 0},
    {"all", KEY_ALL, NULL, 0, "purge: the models of all codelets", 0},
    {"dir", KEY_DIR, "DIR", 0, "Where the models are (default: the setting model_dir, or the user's data directory)",
     0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->format; return 0;
	case 'o': o->output = arg; return 0;
	case KEY_ALL: o->all = 1; return 0;
	case KEY_DIR: o->dir = arg; return 0;
	case ARGP_KEY_ARG:
		if (o->name)
			tool_option_error(state, "unexpected argument \"%s\"", arg);
		if (o->action)
			o->name = arg;
		else
			o->action = arg;
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[list]\nshow CODELET\nplot CODELET -o PICTURE\npurge CODELET|--all",
    .doc = "The performance models of this machine: mean execution times per codelet, class of workers and "
           "size, learnt from runs.\v"
           "Executions far from the others of their kind are counted as rejected and left out of the mean.",
};

struct models {
	struct heddle_model_entry *entries; /* owns; sorted by codelet, class, bytes */
	size_t n;
};

/* The entries of one codelet. They are neighbours, because entries are sorted by codelet. */
static struct models of_codelet(const struct models *all, const char *name)
{
	size_t first = 0, last;
	if (all->n == 0)
		return *all;
	while (first < all->n && strcmp(all->entries[first].codelet, name) != 0)
		first++;
	for (last = first; last < all->n && strcmp(all->entries[last].codelet, name) == 0;)
		last++;
	return (struct models){all->entries + first, last - first};
}

static int unknown_codelet(const struct models *all, const char *name)
{
	if (all->n == 0)
		return tool_usage_error("there is no model of \"%s\": none has been measured yet", name);
	const char **names = tool_alloc(all->n * sizeof *names);
	size_t n = 0;
	for (size_t i = 0; i < all->n; i++)
		if (n == 0 || strcmp(names[n - 1], all->entries[i].codelet) != 0)
			names[n++] = all->entries[i].codelet;
	int status = tool_unknown("model of", name, names, n);
	free(names);
	return status;
}

/* Fills the table of laws: a row per codelet and class for which the model has fitted one. */
static void add_laws(struct table *table, const struct models *models)
{
	static const struct table_column columns[] = {
	    {"codelet", NULL, NULL, TABLE_AS_TEXT},
	    {"class", NULL, NULL, TABLE_AS_TEXT},
	    {"law", "time of any size (us)", NULL, TABLE_AS_TEXT},
	};
	table_init(table, "laws", "Fitted over all sizes", columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < models->n; i++) {
		const struct heddle_model_entry *e = &models->entries[i];
		if (!e->law ||
		    (i && strcmp(e->codelet, e[-1].codelet) == 0 && strcmp(e->class_name, e[-1].class_name) == 0))
			continue;
		table_text(table, "%s", e->codelet);
		table_text(table, "%s", e->class_name);
		table_text(table, "%s", e->law);
	}
}

static void print_models(const struct models *models, int details, enum table_format format)
{
	static const struct table_column columns[] = {
	    {"codelet", NULL, NULL, TABLE_AS_TEXT},
	    {"class", NULL, NULL, TABLE_AS_TEXT},
	    {"size_kib", "size", "KiB", 1},
	    {"samples", NULL, NULL, 0},
	    {"rejected", NULL, NULL, 0},
	    {"mean_us", "mean", "us", 2},
	    {"deviation_percent", "deviation", "%", 1},
	    {"rate_gflops", "rate", "Gflop/s", 2},
	    {"min_us", "min", "us", 2},
	    {"max_us", "max", "us", 2},
	    {"footprint", NULL, NULL, TABLE_AS_TEXT},
	};
	struct table table, laws, *tables[] = {&table, &laws};
	size_t n_columns = sizeof columns / sizeof *columns;
	table_init(&table, "models", NULL, columns, details ? n_columns : n_columns - 3);
	for (size_t i = 0; i < models->n; i++) {
		const struct heddle_model_entry *e = &models->entries[i];
		table_text(&table, "%s", e->codelet);
		table_text(&table, "%s", e->class_name);
		table_number(&table, e->bytes / 1024);
		table_number(&table, (double)e->samples);
		table_number(&table, (double)e->rejected);
		table_number(&table, e->mean);
		table_number(&table, e->mean > 0 ? 100 * e->stddev / e->mean : NAN);
		table_number(&table, e->flops > 0 && e->mean > 0 ? e->flops / e->mean * 1e-3 : NAN);
		if (!details)
			continue;
		table_number(&table, e->min);
		table_number(&table, e->max);
		table_text(&table, "%016llx", (unsigned long long)e->footprint);
	}
	add_laws(&laws, models);
	table_print(stdout, format, tables, 2);
	table_free(&laws);
	if (format == TABLE_TEXT && models->n == 0)
		puts("No model has been measured yet; `heddle platform calibrate` or any run measures some.");
	table_free(&table);
}

static int purge(const struct options *o, const char *dir)
{
	size_t removed = 0;
	if (heddle_models_purge(dir, o->all ? NULL : o->name, &removed))
		return tool_library_error("the models were not removed");
	printf("%zu model file%s removed\n", removed, removed == 1 ? "" : "s");
	return TOOL_OK;
}

static int use(const struct options *o, int action, const char *dir)
{
	struct models all = {NULL, 0}, chosen;
	char *damage = heddle_models_load(dir, &all.entries, &all.n) ? tool_format("%s", heddle_last_error()) : NULL;
	int status = TOOL_OK;
	chosen = o->name ? of_codelet(&all, o->name) : all;
	if (action == PURGE && (damage || o->all || chosen.n)) /* damaged models can be removed, too */
		status = purge(o, dir);
	else if (damage && !chosen.n)
		status = TOOL_FAILURE;
	else if (o->name && !chosen.n)
		status = unknown_codelet(&all, o->name);
	else if (action == PLOT)
		status = tool_plot_models(chosen.entries, chosen.n, o->output);
	else
		print_models(&chosen, action == SHOW, o->format);
	heddle_models_free(all.entries, all.n);
	if (damage && action != PURGE)
		status = tool_failure("%s", damage);
	free(damage);
	return status;
}

static int check(const struct options *o, int *action)
{
	*action = 0;
	while (o->action && *action < N_ACTIONS && strcmp(o->action, actions[*action]) != 0)
		++*action;
	if (*action == N_ACTIONS)
		return tool_unknown("action of `heddle models`", o->action, actions, N_ACTIONS);
	if ((*action == SHOW || *action == PLOT) && !o->name)
		return tool_usage_error("heddle models %s needs the name of a codelet; `heddle models list` lists them",
		                        o->action);
	if (*action == PURGE && !o->name == !o->all)
		return tool_usage_error("heddle models purge needs the name of a codelet, or --all");
	if (*action != PLOT && o->output)
		return tool_usage_error("--output is for `heddle models plot`; `heddle models %s` writes no picture",
		                        actions[*action]);
	if (*action == PLOT && !o->output)
		return tool_usage_error("heddle models plot needs --output PICTURE, a .png, .svg or .pdf");
	if (*action == PLOT && !summary_is_picture(o->output))
		return tool_usage_error("--output is \"%s\": it must end in .png, .svg or .pdf", o->output);
	return *action == PLOT ? tool_check_writable(o->output) : TOOL_OK;
}

int tool_models(int argc, char **argv)
{
	struct options o = {.format = TABLE_TEXT};
	struct heddle_config config;
	struct tool_settings none = {.n = 0};
	int action;
	int status = tool_parse(&argp, argc, argv, &o);
	if (!status)
		status = check(&o, &action);
	if (!status)
		status = tool_config_init(&config, &none);
	if (status)
		return status;
	const char *dir = o.dir ? o.dir : config.model_dir;
	if (dir && strcmp(dir, "none") == 0)
		return tool_failure("no models are kept: the setting model_dir is none");
	return use(&o, action, dir && *dir ? dir : NULL);
}
