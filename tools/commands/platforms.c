/* heddle platforms [NAME]: the machines that can be simulated. `heddle platforms show` is in rates.c, `heddle platform
 * calibrate` in calibrate.c. */
#include "shared/tool.h"
#include "base/base.h"
#include <stdlib.h>
#include <string.h>

struct options {
	const char *name; /* NULL: list all platforms */
	const char *clusters;
	enum table_format format;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->format;
		state->child_inputs[1] = &o->clusters;
		return 0;
	case ARGP_KEY_ARG:
		if (o->name)
			tool_option_error(state, "one platform at a time: \"%s\" is too much", arg);
		o->name = arg;
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0}, {&tool_clusters_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .parser = parse,
    .children = children,
    .args_doc = "[NAME|FILE]\nshow NAME|FILE [OPTION...]\ncalibrate [OPTION...]",
    .doc = "Lists the machines that `heddle sim --platform` finds by name; with a NAME or a file, describes "
           "that one. `heddle platforms show` has the rates of its kernels. `heddle platform calibrate` measures this "
           "machine and adds it.\v"
           "A machine NAME is described by the first file NAME.yaml that is found in the directories of "
           "HEDDLE_PLATFORM_PATH, in the user's data directory, or among the installed platforms.",
};

/* Describes the classes of workers: "12 cpu + 3 k40m". */
static char *class_list(const struct heddle_platform *p)
{
	char *list = tool_format("%s", "");
	for (size_t c = 0; c < p->n_classes; c++) {
		size_t n = 0;
		for (size_t w = 0; w < p->n_workers; w++)
			n += p->workers[w].class_id == c;
		char *longer = tool_format("%s%s%zu %s", list, c ? " + " : "", n, p->classes[c].name);
		free(list);
		list = longer;
	}
	return list;
}

static int list_all(enum table_format format)
{
	static const struct table_column columns[] = {
	    {"name", "platform", NULL, TABLE_AS_TEXT},
	    {"classes", "workers", NULL, TABLE_AS_TEXT},
	    {"nodes", "memories", NULL, 0},
	    {"kernels", "kernel times", NULL, 0},
	    {"description", NULL, NULL, TABLE_AS_TEXT},
	};
	struct table table, *tables[] = {&table};
	char **names;
	int status = TOOL_OK;
	if (heddle_platform_names(&names))
		return tool_library_error("cannot list the platforms");
	table_init(&table, "platforms", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; names[i]; i++) {
		struct heddle_platform *p;
		if (heddle_platform_load(names[i], &p)) {
			status = tool_failure("platform %s is damaged: %s", names[i], heddle_last_error());
			continue;
		}
		char *classes = class_list(p);
		table_text(&table, "%s", names[i]);
		table_text(&table, "%s", classes);
		table_number(&table, (double)p->n_nodes);
		table_number(&table, (double)p->n_kernels);
		table_text(&table, "%s", p->description ? p->description : "");
		free(classes);
		heddle_platform_free(p);
	}
	table_print(stdout, format, tables, 1);
	if (format == TABLE_TEXT && !table_rows(&table))
		puts("No platform is installed; `heddle platform calibrate` describes this machine.");
	table_free(&table);
	heddle_platform_names_free(names);
	return status;
}

static const char *const actions[] = {"show", "calibrate"};
enum { N_ACTIONS = sizeof actions / sizeof *actions };

/* Runs `heddle platforms ACTION`: argv[0] is the action. */
static int run_action(size_t action, int argc, char **argv)
{
	static int (*const commands[N_ACTIONS])(int, char **) = {tool_rates, tool_calibrate};
	char *name = tool_format("heddle %s %s", action == 0 ? "platforms" : "platform", actions[action]);
	char *old = argv[0];
	argv[0] = name;
	int status = commands[action](argc, argv);
	argv[0] = old;
	free(name);
	return status;
}

int tool_platforms(int argc, char **argv)
{
	struct options o = {.name = NULL};
	for (size_t i = 0; i < N_ACTIONS; i++)
		if (argc > 1 && strcmp(argv[1], actions[i]) == 0)
			return run_action(i, argc - 1, argv + 1);
	int status = tool_parse(&argp, argc, argv, &o);
	if (status)
		return status;
	if (!o.name && o.clusters)
		return tool_usage_error("--clusters needs the name of a platform");
	if (!o.name)
		return list_all(o.format);
	struct heddle_platform *platform;
	status = heddle_platform_load(o.name, &platform);
	if (!status) {
		heddle_platform_free(platform);
		status = tool_open_platform(o.name, o.clusters, &platform);
		if (status)
			return status;
	}
	if (status == HEDDLE_E_UNKNOWN && hd_nearest(o.name, actions, N_ACTIONS))
		return tool_unknown("platform", o.name, actions, N_ACTIONS);
	if (status)
		return tool_load_platform(o.name, &platform); /* prints the message */
	tool_describe(platform, NULL, o.format);
	heddle_platform_free(platform);
	return TOOL_OK;
}
