/* The list of registered applications, and their options. */
#include <ctype.h>
#include <errno.h>
#include <heddle/application.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

/* As with policies, the list belongs to the process: runtimes come and go. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct heddle_application **registered; /* guarded by registry_lock; owns the array only */
static size_t n_registered;                          /* guarded by registry_lock */

/* Whether two names are equal, if '-' and '_' count as the same character. */
static int is_same(const char *name, const char *other)
{
	for (; *name && *other; name++, other++)
		if (*name != *other && !((*name == '_' && *other == '-') || (*name == '-' && *other == '_')))
			return 0;
	return *name == *other;
}

/* The registered application with this name; NULL: none. The caller holds registry_lock. */
static const struct heddle_application *find(const char *name)
{
	for (size_t i = 0; i < n_registered; i++)
		if (is_same(registered[i]->name, name))
			return registered[i];
	return NULL;
}

/* --- Registration ------------------------------------------------------------------------------------------------- */

static size_t field_size(const struct heddle_parameter *p)
{
	switch (p->kind) {
	case HEDDLE_PARAMETER_SIZE: return sizeof(size_t);
	case HEDDLE_PARAMETER_REAL: return sizeof(double);
	case HEDDLE_PARAMETER_WORD: return sizeof(int);
	case HEDDLE_PARAMETER_TEXT: return p->max >= 1 && p->max <= HEDDLE_PARAMETERS_MAX ? (size_t)p->max : 0;
	}
	return 0;
}

static int check_parameter(const struct heddle_application *app, const struct heddle_parameter *p)
{
	size_t size = field_size(p);
	if (!size)
		return hd_error(
		    HEDDLE_E_INVALID,
		    "application '%s': the kind of option %s is none, or it is a text and max is not how many "
		    "characters its array has",
		    app->name, p->name);
	if (p->kind == HEDDLE_PARAMETER_WORD && (!p->words || !p->words->word))
		return hd_error(HEDDLE_E_INVALID, "application '%s': option %s has no words", app->name, p->name);
	if (app->size < size || p->offset > app->size - size)
		return hd_error(
		    HEDDLE_E_INVALID,
		    "application '%s': option %s lies outside the structure of options: check its offset and "
		    "the field size",
		    app->name, p->name);
	union {
		unsigned char bytes[HEDDLE_PARAMETERS_MAX];
		max_align_t aligned;
	} try;
	int status = heddle_application_set(app, &try, p->name, p->value ? p->value : "");
	int left_out = p->kind == HEDDLE_PARAMETER_SIZE && p->value && strcmp(p->value, "0") == 0;
	return status && !left_out ? hd_error_context(HEDDLE_E_INVALID, "application '%s', default", app->name) : 0;
}

static int check_application(const struct heddle_application *app)
{
	if (!app || !app->name || !*app->name)
		return hd_error(HEDDLE_E_INVALID,
		                "an application without a name cannot be registered: set its field name");
	for (const char *c = app->name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
			return hd_error(HEDDLE_E_INVALID,
			                "application '%s': a name has only letters, digits, '_' and '-'", app->name);
	if (app->abi != HEDDLE_APPLICATION_ABI)
		return hd_error(HEDDLE_E_INVALID,
		                "application '%s' was made for interface %u, this library has %d: set .abi = "
		                "HEDDLE_APPLICATION_ABI and compile it again",
		                app->name, app->abi, HEDDLE_APPLICATION_ABI);
	if (!app->open || !app->submit || !app->close)
		return hd_error(HEDDLE_E_INVALID,
		                "application '%s' has no function %s: open, submit and close are required", app->name,
		                !app->open     ? "open"
		                : !app->submit ? "submit"
		                               : "close");
	if (app->size > HEDDLE_PARAMETERS_MAX)
		return hd_error(HEDDLE_E_INVALID, "application '%s': its options take %zu bytes, %d is the most",
		                app->name, app->size, HEDDLE_PARAMETERS_MAX);
	int status = 0;
	for (const struct heddle_parameter *p = app->parameters; p && p->name && !status; p++)
		status = check_parameter(app, p);
	return status;
}

/* Adds an application to the list, or refuses one whose name is taken. The caller holds registry_lock. */
static int add(const struct heddle_application *app)
{
	const struct heddle_application *same = find(app->name);
	if (same == app)
		return 0;
	if (same)
		return hd_error(HEDDLE_E_INVALID,
		                "there is already an application called '%s': give yours another name", app->name);
	const struct heddle_application **grown = realloc(registered, (n_registered + 1) * sizeof *grown);
	if (!grown)
		return hd_no_memory("the list of applications");
	registered = grown;
	registered[n_registered++] = app;
	return 0;
}

int heddle_application_register(const struct heddle_application *application)
{
	int status = check_application(application);
	if (status < 0)
		return status;
	pthread_mutex_lock(&registry_lock);
	status = add(application);
	pthread_mutex_unlock(&registry_lock);
	return status;
}

/* --- Queries ------------------------------------------------------------------------------------------------------ */

const struct heddle_application **heddle_applications(void)
{
	pthread_mutex_lock(&registry_lock);
	const struct heddle_application **all = malloc((n_registered + 1) * sizeof *all);
	if (all) {
		if (n_registered)
			memcpy(all, registered, n_registered * sizeof *all);
		all[n_registered] = NULL;
	}
	pthread_mutex_unlock(&registry_lock);
	if (!all)
		hd_no_memory("the list of applications");
	return all;
}

static void explain_unknown(const char *name)
{
	const struct heddle_application **all = heddle_applications();
	char *list = hd_format("%s", "");
	for (size_t i = 0; all && all[i] && list; i++) {
		char *longer = hd_format("%s%s%s", list, i ? ", " : "", all[i]->name);
		free(list);
		list = longer;
	}
	if (all && list)
		hd_error(HEDDLE_E_UNKNOWN, "there is no application '%s'; there are %s", name, *list ? list : "none");
	else
		hd_no_memory("the list of applications");
	free(list);
	free(all);
}

const struct heddle_application *heddle_application_find(const char *name)
{
	if (!name) {
		hd_error(HEDDLE_E_INVALID, "heddle_application_find was given no name");
		return NULL;
	}
	pthread_mutex_lock(&registry_lock);
	const struct heddle_application *found = find(name);
	pthread_mutex_unlock(&registry_lock);
	if (!found)
		explain_unknown(name);
	return found;
}

/* --- Options ------------------------------------------------------------------------------------------------------ */

static int set_number(const struct heddle_parameter *p, void *field, const char *text)
{
	char *end;
	errno = 0;
	double value = hd_real(text, &end);
	int whole = p->kind == HEDDLE_PARAMETER_SIZE;
	if (end == text || *end || errno || !(value >= p->min && value <= p->max) || (whole && value != floor(value)))
		return hd_error(HEDDLE_E_FORMAT, "%s is \"%s\": it must be a %s from %.15g to %.15g", p->name, text,
		                whole ? "whole number" : "number", p->min, p->max);
	if (whole)
		*(size_t *)field = (size_t)value;
	else
		*(double *)field = value;
	return 0;
}

static int set_word(const struct heddle_parameter *p, int *field, const char *text)
{
	char words[300] = "";
	size_t length = 0;
	for (const struct heddle_word *w = p->words; w->word; w++) {
		if (strcmp(w->word, text) == 0) {
			*field = w->value;
			return 0;
		}
		if (length < sizeof words)
			length += (size_t)snprintf(words + length, sizeof words - length, "%s%s",
			                           w == p->words ? ""
			                           : w[1].word   ? ", "
			                                         : " or ",
			                           w->word);
	}
	return hd_error(HEDDLE_E_FORMAT, "%s is \"%s\": it must be %s", p->name, text, words);
}

static int set_text(const struct heddle_parameter *p, char *field, const char *text)
{
	if (strlen(text) >= (size_t)p->max)
		return hd_error(HEDDLE_E_FORMAT, "%s is \"%s\": it must have less than %.0f characters", p->name, text,
		                p->max);
	strcpy(field, text);
	return 0;
}

static int set_parameter(const struct heddle_parameter *parameter, void *p, const char *text)
{
	void *field = (char *)p + parameter->offset;
	switch (parameter->kind) {
	case HEDDLE_PARAMETER_WORD: return set_word(parameter, field, text);
	case HEDDLE_PARAMETER_TEXT: return set_text(parameter, field, text);
	default: return set_number(parameter, field, text);
	}
}

void heddle_application_defaults(const struct heddle_application *application, void *p)
{
	if (!application || !p)
		return;
	memset(p, 0, application->size);
	for (const struct heddle_parameter *i = application->parameters; i && i->name; i++)
		set_parameter(i, p, i->value ? i->value : "");
}

/* The error for an unknown option: suggests the most similar option, or lists all. */
static int unknown_parameter(const struct heddle_application *app, const char *name)
{
	enum { MOST = 64 };
	const char *names[MOST] = {NULL};
	size_t n = 0;
	for (const struct heddle_parameter *i = app->parameters; i && i->name && n < MOST; i++)
		names[n++] = i->name;
	const char *near = hd_nearest(name, names, n);
	if (near)
		return hd_error(HEDDLE_E_UNKNOWN, "%s has no option \"%s\"; did you mean \"%s\"?", app->name, name,
		                near);
	char *list = hd_format("%s", n ? "" : "none");
	for (size_t i = 0; i < n && list; i++) {
		char *longer = hd_format("%s%s%s", list, i ? ", " : "", names[i]);
		free(list);
		list = longer;
	}
	int status = list
	                 ? hd_error(HEDDLE_E_UNKNOWN, "%s has no option \"%s\"; its options: %s", app->name, name, list)
	                 : hd_no_memory("the names of options");
	free(list);
	return status;
}

int heddle_application_set(const struct heddle_application *application, void *p, const char *name, const char *text)
{
	if (!application || !p || !name || !text)
		return hd_error(HEDDLE_E_INVALID,
		                "heddle_application_set needs an application, its parameters, a name and a text");
	for (const struct heddle_parameter *i = application->parameters; i && i->name; i++)
		if (strcmp(i->name, name) == 0)
			return set_parameter(i, p, text);
	return unknown_parameter(application, name);
}

void heddle_application_value(const struct heddle_parameter *parameter, const void *p, char *buffer, size_t size)
{
	if (!parameter || !p || !buffer)
		return;
	const void *field = (const char *)p + parameter->offset;
	const struct heddle_word *word = parameter->words;
	switch (parameter->kind) {
	case HEDDLE_PARAMETER_SIZE: snprintf(buffer, size, "%zu", *(const size_t *)field); break;
	case HEDDLE_PARAMETER_REAL: hd_print_into(buffer, size, "%g", *(const double *)field); break;
	case HEDDLE_PARAMETER_TEXT: snprintf(buffer, size, "%s", (const char *)field); break;
	case HEDDLE_PARAMETER_WORD:
		while (word->word && word->value != *(const int *)field)
			word++;
		snprintf(buffer, size, "%s", word->word ? word->word : "");
		break;
	}
}
