/* Options that several subcommands share; argp parses them. */
#include "tool.h"
#include "base/base.h"
#include <ctype.h>
#include <errno.h>
#include <heddle/settings.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Misspelt long options ---------------------------------------------------------------------------------------- */

struct names {
	const char *list[128];
	int keys[128], takes_value[128];
	size_t n;
};

static void add_name(struct names *names, const char *name, int key, int takes_value)
{
	if (names->n < sizeof names->list / sizeof *names->list) {
		names->list[names->n] = name;
		names->keys[names->n] = key;
		names->takes_value[names->n++] = takes_value;
	}
}

static void collect(const struct argp *argp, struct names *names)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
		if (o->name && !(o->flags & OPTION_DOC))
			add_name(names, o->name, o->key, o->arg && !(o->flags & OPTION_ARG_OPTIONAL));
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		collect(child->argp, names);
}

/* The index of the option that `word` names, in full or by its beginning, as getopt_long accepts; -1: none. */
static int find_name(const struct names *names, const char *word, size_t length)
{
	int found = -1;
	for (size_t i = 0; i < names->n; i++)
		if (strncmp(names->list[i], word, length) == 0) {
			found = (int)i;
			if (strlen(names->list[i]) == length)
				break;
		}
	return found;
}

static void collect_all(const struct argp *argp, struct names *names)
{
	collect(argp, names);
	add_name(names, "help", '?', 0);
	add_name(names, "usage", 0, 0);
}

static int check_names(const struct argp *argp, int argc, char **argv)
{
	struct names names = {.n = 0};
	collect_all(argp, &names);
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strncmp(argv[i], "--", 2) != 0)
			continue;
		const char *word = argv[i] + 2;
		size_t length = strcspn(word, "=");
		int found = find_name(&names, word, length);
		if (found >= 0) {
			if (names.takes_value[found] && !word[length])
				i++; /* the next argument is the value of the option, even if it begins with -- */
			continue;
		}
		char *name = tool_format("%.*s", (int)length, word);
		const char *near = hd_nearest(name, names.list, names.n);
		int status =
		    near ? tool_usage_error("%s has no option --%s; did you mean --%s?", argv[0], name, near)
		         : tool_usage_error("%s has no option --%s; `%s --help` lists them", argv[0], name, argv[0]);
		free(name);
		return status;
	}
	return TOOL_OK;
}

/* --- Options that belong into a word ------------------------------------------------------------------------------ */

static int find_key(const struct names *names, int key)
{
	size_t i = 0;
	while (i < names->n && names->keys[i] != key)
		i++;
	return i < names->n ? (int)i : -1;
}

/* Looks for the option that an argument names. *found: its index among the options that belong into a word; -1: it is
 * none, or it is an option of the command. *value: where its value begins in the argument; NULL: the next argument is
 * its value. Returns whether the next argument is a value. */
static int find_in_word(const char *arg, const struct names *own, const struct names *in_word, int *found,
                        const char **value)
{
	*found = -1;
	*value = NULL;
	if (arg[0] == '-' && arg[1] == '-') {
		size_t length = strcspn(arg + 2, "=");
		int is_own = find_name(own, arg + 2, length), theirs = find_name(in_word, arg + 2, length);
		*value = arg[2 + length] ? arg + 3 + length : NULL;
		/* the beginning of an option of the command (--noise) may be the whole name of another option (--n) */
		if (theirs >= 0 && strlen(in_word->list[theirs]) == length &&
		    (is_own < 0 || strlen(own->list[is_own]) > length))
			*found = theirs;
		return is_own >= 0 && own->takes_value[is_own] && !*value;
	}
	for (const char *at = arg + 1; arg[0] == '-' && *at; at++) {
		int is_own = find_key(own, *at);
		*value = at[1] ? at + 1 : NULL;
		if (is_own < 0)
			*found = find_key(in_word, *at);
		if (is_own < 0 || own->takes_value[is_own])
			return is_own >= 0 && !*value;
	}
	return 0;
}

static int check_in_word(const struct argp *argp, const struct argp *word, int argc, char **argv)
{
	struct names own = {.n = 0}, in_word = {.n = 0};
	/* what the command is given first, which most often is the word */
	const char *first = argc > 1 && isalpha((unsigned char)argv[1][0]) ? argv[1] : "potrf";
	collect_all(argp, &own);
	collect(word, &in_word);
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		int found;
		const char *value;
		int skip = find_in_word(argv[i], &own, &in_word, &found, &value);
		if (found >= 0 && in_word.takes_value[found]) {
			value = value ? value : i + 1 < argc ? argv[i + 1] : "VALUE";
			return tool_usage_error("%s has no option %s: options of a routine are part of the word that "
			                        "names it, as in %.*s:%s=%s",
			                        argv[0], argv[i], (int)strcspn(first, ":"), first, in_word.list[found],
			                        value);
		}
		i += skip;
	}
	return TOOL_OK;
}

int tool_parse_words(const struct argp *argp, const struct argp *word, int argc, char **argv, void *input)
{
	int status = check_in_word(argp, word, argc, argv);
	return status ? status : tool_parse(argp, argc, argv, input);
}

int tool_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	argp_err_exit_status = TOOL_USAGE;
	int status = check_names(argp, argc, argv);
	if (!status && argp_parse(argp, argc, argv, 0, NULL, input))
		status = TOOL_USAGE;
	return status;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

long tool_int(const struct argp_state *state, const char *option, const char *text, long min, long max)
{
	char *end;
	errno = 0;
	long value = strtol(text, &end, 10);
	if (end == text || *end || errno || value < min || value > max)
		tool_option_error(state, "%s is \"%s\": it must be a whole number from %ld to %ld", option, text, min,
		                  max);
	return value;
}

size_t tool_ints(const struct argp_state *state, const char *option, const char *list, const long range[2], long *out,
                 size_t room)
{
	size_t n = 0;
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		char *text = tool_format("%.*s", (int)strcspn(at, ","), at);
		if (n == room)
			tool_option_error(state, "%s has more than %zu numbers", option, room);
		out[n++] = tool_int(state, option, text, range[0], range[1]);
		free(text);
	}
	return n;
}

double tool_real(const struct argp_state *state, const char *option, const char *text, double min, double max)
{
	char *end;
	errno = 0;
	double value = hd_real(text, &end);
	if (end == text || *end || errno || !isfinite(value) || value < min || value > max)
		tool_option_error(state, "%s is \"%s\": it must be a number from %g to %g", option, text, min, max);
	return value;
}

uint64_t tool_size(const struct argp_state *state, const char *option, const char *text)
{
	static const char units[] = "KMGT";
	char *end;
	errno = 0;
	double value = hd_real(text, &end);
	int good = end != text && !errno && isfinite(value) && value >= 0;
	const char *unit = *end ? strchr(units, hd_upper(*end)) : NULL;
	if (unit) {
		value *= pow(1024, (double)(unit - units + 1));
		end += end[1] == 'i' ? 2 : 1;
	}
	if (*end == 'B')
		end++;
	if (!good || *end || value > 0x1p60)
		tool_option_error(state, "%s is \"%s\": it must be a size in bytes, such as 1048576, 64M or 1.5G",
		                  option, text);
	return (uint64_t)value;
}

/* --- Options that several subcommands have ------------------------------------------------------------------------ */

enum { KEY_JSON = 0x1000, KEY_CSV, KEY_SET };

static error_t parse_format(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	enum table_format *format = state->input;
	if (key != KEY_JSON && key != KEY_CSV)
		return ARGP_ERR_UNKNOWN;
	enum table_format wanted = key == KEY_JSON ? TABLE_JSON : TABLE_CSV;
	if (*format != TABLE_TEXT && *format != wanted)
		tool_option_error(state, "--json and --csv exclude each other");
	*format = wanted;
	return 0;
}

static const struct argp_option format_options[] = {
    {"json", KEY_JSON, NULL, 0, "Print JSON", 90},
    {"csv", KEY_CSV, NULL, 0, "Print CSV", 90},
    {0},
};
const struct argp tool_format_argp = {.options = format_options, .parser = parse_format};

static error_t parse_set(int key, char *arg, struct argp_state *state)
{
	struct tool_settings *settings = state->input;
	if (key != KEY_SET)
		return ARGP_ERR_UNKNOWN;
	if (!strchr(arg, '='))
		tool_option_error(state, "--set is \"%s\": it must be NAME=VALUE, with a name from `heddle config`",
		                  arg);
	if (settings->n == sizeof settings->items / sizeof *settings->items)
		tool_option_error(state, "--set may be given at most %zu times", settings->n);
	settings->items[settings->n++] = arg;
	return 0;
}

static const struct argp_option set_options[] = {
    {"set", KEY_SET, "NAME=VALUE", 0, "Change a setting of the library (heddle config lists them); may be repeated",
     80},
    {0},
};
const struct argp tool_set_argp = {.options = set_options, .parser = parse_set};

static int unknown_setting(const char *name)
{
	size_t n;
	const struct heddle_setting *settings = heddle_settings(&n);
	const char **names = tool_alloc(n * sizeof *names);
	for (size_t i = 0; i < n; i++)
		names[i] = settings[i].name;
	int status = tool_unknown("setting", name, names, n);
	free(names);
	return status;
}

/* Drops the settings for reports: the command may start many runtimes for one answer, so they are for other
 * programs. */
static void drop_reports(struct heddle_config *config)
{
	static int said;
	int wanted =
	    config->explain || (config->trace_file && *config->trace_file) || (config->record && *config->record);
	if (wanted && !said++)
		tool_warn("the settings trace, record and explain (HEDDLE_TRACE, HEDDLE_RECORD, HEDDLE_EXPLAIN) are "
		          "for other "
		          "programs: `heddle run` and `heddle sim` have --trace, --gantt, --record and --explain");
	config->explain = 0;
	config->trace_file = config->record = config->explain_file = NULL;
}

int tool_config_init(struct heddle_config *config, const struct tool_settings *settings)
{
	if (heddle_config_init(config))
		return tool_start_error(NULL);
	int status = tool_config_set(config, settings);
	drop_reports(config);
	return status;
}

int tool_config_set(struct heddle_config *config, const struct tool_settings *settings)
{
	for (size_t i = 0; i < settings->n; i++) {
		const char *equals = strchr(settings->items[i], '=');
		char *name = tool_format("%.*s", (int)(equals - settings->items[i]), settings->items[i]);
		int status = heddle_setting_set(config, name, equals + 1);
		if (status == HEDDLE_E_UNKNOWN)
			status = unknown_setting(name);
		else if (status)
			status = tool_usage_error("--set %s", heddle_last_error());
		free(name);
		if (status)
			return status;
	}
	return TOOL_OK;
}

/* --- Subcommands that only show something ------------------------------------------------------------------------- */

error_t tool_view_parse(int key, char *arg, struct argp_state *state)
{
	struct tool_view *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->format;
		state->child_inputs[1] = &o->settings;
		return 0;
	case ARGP_KEY_ARG: tool_option_error(state, "unexpected argument \"%s\"", arg); return EINVAL;
	default: return ARGP_ERR_UNKNOWN;
	}
}

const struct argp_child tool_view_children[] = {{&tool_format_argp, 0, NULL, 0}, {&tool_set_argp, 0, NULL, 0}, {0}};
