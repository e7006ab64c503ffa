/* heddle config: shows every setting, and unknown HEDDLE_* variables. */
#include "shared/tool.h"
#include "start/environment.h"
#include "base/base.h"
#include <heddle/settings.h>
#include <stdlib.h>
#include <string.h>

static const struct argp argp = {
    .parser = tool_view_parse,
    .children = tool_view_children,
    .doc = "Shows every setting: the variable that sets it, its value now and where that comes from (default, "
           "file, environment, --set), its default, unit, range and meaning. HEDDLE_* variables that mean "
           "nothing are reported.\v"
           "The configuration file has lines `name = value` and # comments. Its path is the value of HEDDLE_CONFIG, or "
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
	const char *text = hd_getenv(s->variable);
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

/* Adds an unknown HEDDLE_* variable. `near`: the nearest known name, or NULL. */
static int add_unknown(const char *name, const char *near, void *arg)
{
	struct table *table = arg;
	table_text(table, "%s", name);
	table_text(table, "%s", near ? near : "");
	return 0;
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
	if (status)
		return status;
	status = heddle_config_init(&config);
	if (status && status != HEDDLE_E_UNKNOWN) /* a misspelt variable is no error here, because the table shows it */
		return tool_start_error(NULL);
	status = tool_config_set(&config, &o.settings);
	if (status)
		return status;
	struct table settings, unknown, file, *tables[] = {&settings, &unknown, &file};
	table_init(&settings, "settings", NULL, setting_columns, sizeof setting_columns / sizeof *setting_columns);
	table_init(&unknown, "unknown", "Variables that are set and mean nothing", unknown_columns, 2);
	table_init(&file, "configuration", NULL, file_columns, 1);
	char path[1024] = "";
	heddle_config_file(path, sizeof path);
	add_settings(&settings, &config, &o.settings);
	if (hd_environment_unknown(add_unknown, &unknown))
		status = tool_library_error("the environment cannot be looked at");
	file.single = 1;
	table_text(&file, "%s", *path ? path : "none");
	table_print(stdout, o.format, tables, 3);
	for (size_t i = 0; i < 3; i++)
		table_free(tables[i]);
	return status;
}
