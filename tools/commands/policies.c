/* heddle policies [NAME]: lists the scheduling policies, or the tunables of one. */
#include "shared/tool.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
	enum table_format format;
	const char *name; /* NULL: list all policies */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->format; return 0;
	case ARGP_KEY_ARG:
		if (o->name)
			tool_option_error(state, "one policy at a time: \"%s\" is too much", arg);
		o->name = arg;
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .parser = parse,
    .children = children,
    .args_doc = "[NAME]",
    .doc = "Lists the scheduling policies with the publication each follows; with a NAME, shows that policy and its "
           "tunables.\v"
           "A tunable is set with --sched-options NAME=VALUE,... of `heddle run` and `heddle sim`, or "
           "HEDDLE_SCHED_OPTIONS.",
};

static void print_all(enum table_format format)
{
	static const struct table_column columns[] = {
	    {"name", "policy", NULL, TABLE_AS_TEXT},
	    {"decides", NULL, NULL, TABLE_AS_TEXT},
	    {"tunables", NULL, NULL, 0},
	    {"summary", NULL, NULL, TABLE_AS_TEXT},
	    {"source", NULL, NULL, TABLE_AS_TEXT},
	};
	struct table table, *tables[] = {&table};
	table_init(&table, "policies", NULL, columns, sizeof columns / sizeof *columns);
	const struct heddle_policy **policies = heddle_policies();
	for (size_t i = 0; policies && policies[i]; i++) {
		const struct heddle_policy *p = policies[i];
		size_t n = 0;
		while (p->options && p->options[n].name)
			n++;
		table_text(&table, "%s", p->name);
		table_text(&table, "%s", p->pushes ? "when ready" : "when asked");
		table_number(&table, (double)n);
		table_text(&table, "%s", p->summary ? p->summary : "");
		table_text(&table, "%s", p->source ? p->source : "");
	}
	free(policies);
	table_print(stdout, format, tables, 1);
	table_free(&table);
}

/* Whether an option accepts too many words for the table, so that they are listed below the table. */
static int is_long_list(const struct heddle_option *o)
{
	enum { ROOM = 48 };
	return o->unit && strchr(o->unit, '|') && strlen(o->unit) > ROOM;
}

/* Prints "Values of NAME", then the words, as many on a line as fit. */
static void print_list(const struct heddle_option *o)
{
	enum { WIDTH = 100 };
	size_t at = 0;
	printf("\nValues of %s\n", o->name);
	for (const char *word = o->unit; *word;) {
		size_t length = strcspn(word, "|");
		const char *gap = !at ? "" : at + 2 + length > WIDTH ? "\n" : "  ";
		at = (*gap == '\n' ? 0 : at + strlen(gap)) + length;
		printf("%s%.*s", gap, (int)length, word);
		word += length + (word[length] == '|');
	}
	putchar('\n');
}

static void print_one(const struct heddle_policy *p, enum table_format format)
{
	static const struct table_column facts[] = {
	    {"name", "policy", NULL, TABLE_AS_TEXT},
	    {"summary", NULL, NULL, TABLE_AS_TEXT},
	    {"source", NULL, NULL, TABLE_AS_TEXT},
	    {"decides", NULL, NULL, TABLE_AS_TEXT},
	};
	static const struct table_column columns[] = {
	    {"name", "tunable", NULL, TABLE_AS_TEXT},
	    {"default", NULL, NULL, TABLE_AS_TEXT},
	    {"unit", "unit, or words", NULL, TABLE_AS_TEXT},
	    {"min", NULL, NULL, TABLE_AS_TEXT},
	    {"max", NULL, NULL, TABLE_AS_TEXT},
	    {"help", "meaning", NULL, TABLE_AS_TEXT},
	};
	struct table about, options, *tables[] = {&about, &options};
	table_init(&about, "policy", NULL, facts, sizeof facts / sizeof *facts);
	about.single = 1;
	table_text(&about, "%s", p->name);
	table_text(&about, "%s", p->summary ? p->summary : "");
	table_text(&about, "%s", p->source ? p->source : "");
	table_text(&about, "%s", p->pushes ? "when a task becomes ready" : "when a worker asks");
	table_init(&options, "tunables", "Tunables", columns, sizeof columns / sizeof *columns);
	for (const struct heddle_option *o = p->options; o && o->name; o++) {
		int limited = o->max > o->min; /* if both are 0, the values are words, or any number is valid */
		table_text(&options, "%s", o->name);
		table_text(&options, "%s", o->value ? o->value : "");
		table_text(&options, "%s",
		           format == TABLE_TEXT && is_long_list(o) ? "a word listed below"
		           : o->unit                               ? o->unit
		                                                   : "");
		table_number(&options, limited ? o->min : NAN);
		table_number(&options, limited ? o->max : NAN);
		table_text(&options, "%s", o->help ? o->help : "");
	}
	table_print(stdout, format, tables, 2);
	if (format == TABLE_TEXT && !table_rows(&options))
		puts("\nThis policy has no tunables.");
	for (const struct heddle_option *o = p->options; format == TABLE_TEXT && o && o->name; o++)
		if (is_long_list(o))
			print_list(o);
	table_free(&about);
	table_free(&options);
}

int tool_policies(int argc, char **argv)
{
	struct options o = {.format = TABLE_TEXT};
	int status = tool_parse(&argp, argc, argv, &o);
	if (!status && o.name)
		status = tool_check_policy(o.name, 0);
	if (status)
		return status;
	if (o.name)
		print_one(heddle_policy_find(o.name), o.format);
	else
		print_all(o.format);
	return TOOL_OK;
}
