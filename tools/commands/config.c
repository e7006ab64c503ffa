/* heddle config: every setting, and the HEDDLE_* variables that are none. */
#include "shared/tool.h"
#include <heddle/settings.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern char **environ;

/* Variables that are read outside the table of settings: where to look for files. */
static const char *const other_variables[] = {"HEDDLE_CONFIG", "HEDDLE_PLATFORM_PATH"};
enum { N_OTHERS = sizeof other_variables / sizeof *other_variables };

static const struct argp argp = {
    .parser = tool_view_parse,
    .children = tool_view_children,
    .doc = "Shows every setting: the variable that sets it, its value now and where that comes from (default, "
           "file, environment, --set), its default, unit, range and meaning. HEDDLE_* variables that mean "
           "nothing are reported.\v"
           "The configuration file has lines `name = value` and # comments; it is HEDDLE_CONFIG, or "
           "heddle/config in the user's XDG configuration directory. HEDDLE_PLATFORM_PATH lists directories of "
           "platform files, separated by colons.",
};

static int was_set(const struct tool_settings *settings, const char *name)
{
	for (size_t i = 0; i < settings->n; i++)
		if (strncmp(settings->items[i], name, strlen(name)) == 0 && settings->items[i][strlen(name)] == '=')
			return 1;
	return 0;
}

static const char *origin(const struct heddle_setting *s, const char *value, const struct tool_settings *settings)
{
	if (was_set(settings, s->name))
		return "--set";
	const char *text = getenv(s->variable);
	if (text && (*text || strcmp(s->kind, "text") == 0))
		return "environment";
	return strcmp(value, s->default_text) == 0 ? "default" : "file";
}

static void add_settings(struct table *table, const struct heddle_config *config, const struct tool_settings *given)
{
	size_t n;
	const struct heddle_setting *settings = heddle_settings(&n);
	for (size_t i = 0; i < n; i++) {
		char value[1024] = "";
		heddle_setting_value(config, settings[i].name, value, sizeof value);
		table_text(table, "%s", settings[i].name);
		table_text(table, "%s", settings[i].variable);
		table_text(table, "%s", value);
		table_text(table, "%s", origin(&settings[i], value, given));
		table_text(table, "%s", settings[i].default_text);
		table_text(table, "%s", settings[i].unit);
		table_text(table, "%s", settings[i].kind);
		table_text(table, "%s", settings[i].range);
		table_text(table, "%s", settings[i].help);
	}
}

/* HEDDLE_POLICY_OPTION */
static int is_tunable(const char *variable)
{
	int found = 0;
	const struct heddle_policy **all = heddle_policies();
	for (size_t i = 0; all && all[i] && !found; i++)
		for (const struct heddle_option *o = all[i]->options; o && o->name && !found; o++) {
			char *name = tool_format("HEDDLE_%s_%s", all[i]->name, o->name);
			found = strcasecmp(name, variable) == 0;
			free(name);
		}
	free(all);
	return found;
}

/* Adds the variables of the environment that look like settings and are none. */
static void add_unknown(struct table *table)
{
	size_t n;
	const struct heddle_setting *settings = heddle_settings(&n);
	const char **known = tool_alloc((n + N_OTHERS) * sizeof *known);
	for (size_t i = 0; i < n; i++)
		known[i] = settings[i].variable;
	memcpy(known + n, other_variables, sizeof other_variables);
	n += N_OTHERS;
	for (char **e = environ; *e; e++) {
		if (strncmp(*e, "HEDDLE_", 7) != 0)
			continue;
		char *name = tool_format("%.*s", (int)strcspn(*e, "="), *e);
		size_t i = 0;
		while (i < n && strcmp(known[i], name) != 0)
			i++;
		int unknown = i == n && !is_tunable(name);
		const char *near = unknown ? tool_suggest(name, known, n) : NULL;
		if (unknown) {
			table_text(table, "%s", name);
			table_text(table, "%s", near ? near : "");
		}
		free(name);
	}
	free(known);
}

int tool_config(int argc, char **argv)
{
	static const struct table_column setting_columns[] = {
	    {"name", "setting", NULL, TABLE_AS_TEXT}, {"variable", NULL, NULL, TABLE_AS_TEXT},
	    {"value", NULL, NULL, TABLE_AS_TEXT},     {"origin", "from", NULL, TABLE_AS_TEXT},
	    {"default", NULL, NULL, TABLE_AS_TEXT},   {"unit", NULL, NULL, TABLE_AS_TEXT},
	    {"kind", NULL, NULL, TABLE_AS_TEXT},      {"range", NULL, NULL, TABLE_AS_TEXT},
	    {"help", "meaning", NULL, TABLE_AS_TEXT},
	};
	static const struct table_column unknown_columns[] = {
	    {"variable", NULL, NULL, TABLE_AS_TEXT},
	    {"suggestion", "did you mean", NULL, TABLE_AS_TEXT},
	};
	static const struct table_column file_columns[] = {{"file", "configuration file", NULL, TABLE_AS_TEXT}};
	struct tool_view o = {.format = TABLE_TEXT};
	int status = tool_parse(&argp, argc, argv, &o);
	struct heddle_config config;
	if (!status)
		status = tool_config_init(&config, &o.settings);
	if (status)
		return status;
	struct table settings, unknown, file, *tables[] = {&settings, &unknown, &file};
	table_init(&settings, "settings", NULL, setting_columns, sizeof setting_columns / sizeof *setting_columns);
	table_init(&unknown, "unknown", "Variables that are set and mean nothing", unknown_columns, 2);
	table_init(&file, "configuration", NULL, file_columns, 1);
	char path[1024] = "";
	heddle_config_file(path, sizeof path);
	add_settings(&settings, &config, &o.settings);
	add_unknown(&unknown);
	file.single = 1;
	table_text(&file, "%s", *path ? path : "none");
	table_print(stdout, o.format, tables, 3);
	for (size_t i = 0; i < 3; i++)
		table_free(tables[i]);
	return TOOL_OK;
}
