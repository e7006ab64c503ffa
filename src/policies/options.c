/* Parses a policy's options, "name=value,name=value", and checks them against its table. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "policies.h"

const struct hd_preset hd_presets[] = {
    {"autoheteroprio", "paper", "heuristic=URTxD_L5,gate=bucket"},
    {0},
};

/* A part of the user's text, without blanks at its ends. */
struct span {
	const char *start;
	size_t length;
};

static struct span trim(const char *start, const char *end)
{
	while (start < end && isspace((unsigned char)*start))
		start++;
	while (end > start && isspace((unsigned char)end[-1]))
		end--;
	return (struct span){start, (size_t)(end - start)};
}

static int is(struct span s, const char *word, size_t length)
{
	return s.length == length && memcmp(s.start, word, length) == 0;
}

static size_t n_options(const struct heddle_policy *policy)
{
	size_t n = 0;
	while (policy->options && policy->options[n].name)
		n++;
	return n;
}

static int is_choice(const struct heddle_option *o)
{
	return o->unit && strchr(o->unit, '|');
}

static int is_boolean(const struct heddle_option *o)
{
	return o->unit && (strcmp(o->unit, "no|yes") == 0 || strcmp(o->unit, "yes|no") == 0);
}

/* Replaces all words that mean yes or no by "yes" or "no", for an option with these words; does not change other
 * values. */
static struct span canonical(const struct heddle_option *o, struct span value)
{
	int yes = is_boolean(o) ? hd_bool_parse(value.start, value.length) : -1;
	return yes < 0 ? value : yes ? (struct span){"yes", 3} : (struct span){"no", 2};
}

/* The words that the option accepts, for messages. */
static const char *words_of(const struct heddle_option *o)
{
	return is_boolean(o) ? HD_BOOL_WORDS : o->unit;
}

/* The index of the word among "a|b|c"; -1: it is none of these words. */
static int choice_index(const char *words, struct span value)
{
	int index = 0;
	for (;;) {
		size_t length = strcspn(words, "|");
		if (is(value, words, length))
			return index;
		if (!words[length])
			return -1;
		words += length + 1;
		index++;
	}
}

/* The value as a number; NAN: it is no number. */
static double number(struct span value)
{
	char copy[64], *end;
	if (value.length == 0 || value.length >= sizeof copy)
		return NAN;
	memcpy(copy, value.start, value.length);
	copy[value.length] = '\0';
	double x = hd_real(copy, &end);
	return *end || !isfinite(x) ? NAN : x;
}

static int check_value(const struct heddle_policy *p, const struct heddle_option *o, struct span value)
{
	int length = (int)value.length;
	if (is_choice(o)) {
		if (choice_index(o->unit, value) >= 0)
			return HEDDLE_OK;
		return hd_error(HEDDLE_E_INVALID,
		                "option '%s' of policy '%s' cannot be '%.*s': it is one of %s (default %s)", o->name,
		                p->name, length, value.start, words_of(o), o->value);
	}
	if (!(o->min < o->max))
		return HEDDLE_OK;
	double x = number(value);
	if (x >= o->min && x <= o->max)
		return HEDDLE_OK;
	const char *unit = o->unit ? o->unit : "";
	return hd_error(HEDDLE_E_INVALID,
	                "option '%s' of policy '%s' cannot be '%.*s': it is a number from %g to %g%s%s "
	                "(default %s)",
	                o->name, p->name, length, value.start, o->min, o->max, *unit ? ", in " : "", unit, o->value);
}

/* Returns HEDDLE_E_UNKNOWN with a message that lists the options. */
static int unknown_option(const struct heddle_policy *p, struct span name)
{
	if (!n_options(p))
		return hd_error(HEDDLE_E_UNKNOWN, "policy '%s' has no options, so none called '%.*s'", p->name,
		                (int)name.length, name.start);
	char *list = hd_format("%s", "");
	for (const struct heddle_option *o = p->options; o->name && list; o++) {
		const char *comma = *list ? ", " : "";
		char *longer = is_choice(o)      ? hd_format("%s%s%s (%s)", list, comma, o->name, o->unit)
		               : o->min < o->max ? hd_format("%s%s%s (%g to %g)", list, comma, o->name, o->min, o->max)
		                                 : hd_format("%s%s%s (text)", list, comma, o->name);
		free(list);
		list = longer;
	}
	if (!list)
		return hd_no_memory("a message");
	int status = hd_error(HEDDLE_E_UNKNOWN, "policy '%s' has no option '%.*s'; its options are %s", p->name,
	                      (int)name.length, name.start, list);
	free(list);
	return status;
}

static int parse_item(const struct heddle_policy *p, struct span item, struct span *values)
{
	const char *equals = memchr(item.start, '=', item.length);
	if (!equals)
		return hd_error(HEDDLE_E_INVALID,
		                "'%.*s' is no option of policy '%s': options look like name=value,name=value",
		                (int)item.length, item.start, p->name);
	struct span name = trim(item.start, equals), value = trim(equals + 1, item.start + item.length);
	for (size_t i = 0; i < n_options(p); i++) {
		const struct heddle_option *o = &p->options[i];
		if (!is(name, o->name, strlen(o->name)))
			continue;
		if (values[i].start)
			return hd_error(HEDDLE_E_INVALID, "option '%s' of policy '%s' is given twice", o->name,
			                p->name);
		values[i] = canonical(o, value);
		return check_value(p, o, values[i]);
	}
	return unknown_option(p, name);
}

static int parse_items(const struct heddle_policy *p, const char *text, struct span *values)
{
	while (text && *text) {
		size_t length = strcspn(text, ",");
		struct span item = trim(text, text + length);
		int status = item.length ? parse_item(p, item, values) : HEDDLE_OK;
		if (status < 0)
			return status;
		text += length + (text[length] == ',');
	}
	return HEDDLE_OK;
}

static int set_value(const struct heddle_policy *p, size_t i, const char *text, struct span *values)
{
	values[i] = canonical(&p->options[i], trim(text, text + strlen(text)));
	return check_value(p, &p->options[i], values[i]);
}

static int set_from_variables(const struct heddle_policy *p, struct span *values)
{
	int status = HEDDLE_OK;
	for (size_t i = 0; i < n_options(p) && !status; i++) {
		const char *variable = values[i].start ? NULL : hd_variable(p->name, p->options[i].name);
		if (variable)
			status = set_value(p, i, variable, values);
	}
	return status;
}

/* Gives options that have no value yet the values of a preset. */
static int set_from_preset(const struct heddle_policy *p, const struct hd_preset *preset, struct span *values)
{
	size_t n = n_options(p);
	struct span *found = calloc(n, sizeof *found);
	if (!found)
		return hd_no_memory("the options of a policy");
	int status = parse_items(p, preset->values, found);
	for (size_t i = 0; i < n; i++)
		if (!values[i].start)
			values[i] = found[i];
	free(found);
	return status;
}

static int set_defaults(const struct heddle_policy *p, struct span *values)
{
	int status = HEDDLE_OK;
	for (size_t i = 0; i < n_options(p) && !status; i++) {
		const struct heddle_option *o = &p->options[i];
		if (values[i].start)
			continue;
		if (!o->value)
			return hd_error(HEDDLE_E_INVALID,
			                "option '%s' of policy '%s' has no default: set its field value", o->name,
			                p->name);
		status = set_value(p, i, o->value, values);
	}
	return status;
}

/* Finds the value of each option: in the user's text, otherwise in the environment variable, otherwise in the preset,
 * otherwise the default. */
static int find_values(const struct heddle_policy *p, const char *text, int variables, struct span *values)
{
	int status = parse_items(p, text, values), i = hd_policy_option_index(p, "preset");
	if (!status && variables)
		status = set_from_variables(p, values);
	for (const struct hd_preset *preset = hd_presets; !status && i >= 0 && preset->policy; preset++)
		if (strcmp(preset->policy, p->name) == 0 && values[i].start &&
		    is(values[i], preset->name, strlen(preset->name)))
			status = set_from_preset(p, preset, values);
	return status ? status : set_defaults(p, values);
}

/* Copies the values into one block: an array of pointers, then the texts. */
static char **copy_values(const struct span *values, size_t n)
{
	size_t size = (n + 1) * sizeof(char *);
	for (size_t i = 0; i < n; i++)
		size += values[i].length + 1;
	char **out = malloc(size);
	if (!out)
		return NULL;
	char *text = (char *)(out + n + 1);
	for (size_t i = 0; i < n; i++) {
		out[i] = text;
		memcpy(text, values[i].start, values[i].length);
		text[values[i].length] = '\0';
		text += values[i].length + 1;
	}
	out[n] = NULL;
	return out;
}

int hd_policy_options_parse(const struct heddle_policy *policy, const char *text, int variables, char ***values)
{
	size_t n = n_options(policy);
	struct span *found = calloc(n + 1, sizeof *found);
	if (!found)
		return hd_no_memory("the options of a policy");
	int status = find_values(policy, text, variables, found);
	if (status == HEDDLE_OK) {
		char **copy = copy_values(found, n);
		if (copy)
			*values = copy;
		else
			status = hd_no_memory("the options of a policy");
	}
	free(found);
	return status;
}

void hd_policy_options_free(char **values)
{
	free(values);
}

double hd_policy_option_number(const struct heddle_option *option, const char *text)
{
	struct span value = {text, strlen(text)};
	if (is_choice(option))
		return choice_index(option->unit, value);
	double x = number(value);
	return isnan(x) ? 0 : x;
}

int hd_policy_option_index(const struct heddle_policy *policy, const char *name)
{
	for (size_t i = 0; i < n_options(policy); i++)
		if (strcmp(policy->options[i].name, name) == 0)
			return (int)i;
	return -1;
}
