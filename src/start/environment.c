/* Finds misspelt settings among the environment variables. */
#define _GNU_SOURCE
#include "start/environment.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <heddle/policy.h>
#include <heddle/settings.h>
#include "base/base.h"

static const char prefix[] = "HEDDLE_";

/* Variables that the library reads and that are no settings: they say where files are. */
static const char *const others[] = {"HEDDLE_CONFIG", "HEDDLE_PLATFORM_PATH"};
enum { N_OTHERS = sizeof others / sizeof *others };

/* The names of all variables that the library reads. */
struct variables {
	const char **names; /* owned array; does not own the names */
	size_t n;
	char (*options)[HD_VARIABLE]; /* owned; the names that belong to options of policies */
};

static size_t count_options(const struct heddle_policy *const *policies)
{
	size_t n = 0;
	for (; *policies; policies++)
		for (const struct heddle_option *o = (*policies)->options; o && o->name; o++)
			n++;
	return n;
}

/* Adds the variables HEDDLE_<POLICY>_<OPTION> of the options of all policies. */
static void add_options(struct variables *v, const struct heddle_policy *const *policies)
{
	size_t n = 0;
	for (; *policies; policies++)
		for (const struct heddle_option *o = (*policies)->options; o && o->name; o++) {
			hd_variable_name(v->options[n], (*policies)->name, o->name);
			v->names[v->n++] = v->options[n++];
		}
}

static int find_known(struct variables *v)
{
	size_t n_settings;
	const struct heddle_setting *settings = heddle_settings(&n_settings);
	const struct heddle_policy **policies = heddle_policies();
	if (!policies)
		return HEDDLE_E_MEMORY;
	size_t n_options = count_options(policies);
	v->names = malloc((n_settings + N_OTHERS + n_options) * sizeof *v->names);
	v->options = malloc((n_options + 1) * sizeof *v->options);
	int status = v->names && v->options ? 0 : hd_no_memory("the names of settings");
	for (size_t i = 0; i < n_settings && !status; i++)
		v->names[v->n++] = settings[i].variable;
	for (size_t i = 0; i < N_OTHERS && !status; i++)
		v->names[v->n++] = others[i];
	if (!status)
		add_options(v, policies);
	free(policies);
	return status;
}

static int is_known(const struct variables *v, const char *name)
{
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->names[i], name) == 0)
			return 1;
	return 0;
}

static int tell(const struct variables *v, const char *assignment, hd_unknown_fn f, void *arg)
{
	char *name = strndup(assignment, strcspn(assignment, "="));
	if (!name)
		return hd_no_memory("the name of a variable");
	int status = is_known(v, name) ? 0 : f(name, hd_nearest(name, v->names, v->n), arg);
	free(name);
	return status;
}

int hd_environment_unknown(hd_unknown_fn f, void *arg)
{
	struct variables known = {0};
	int status = find_known(&known);
	for (char **e = environ; *e && !status; e++)
		if (strncmp(*e, prefix, sizeof prefix - 1) == 0)
			status = tell(&known, *e, f, arg);
	free(known.names);
	free(known.options);
	return status;
}

/* Refuses a variable that is spelt like `near` but for one typing error, or for two if it is longer than SHORT. */
static int refuse_misspelt(const char *name, const char *near, void *arg)
{
	enum { SHORT = 5 };
	(void)arg;
	size_t most = strlen(name) - (sizeof prefix - 1) <= SHORT ? 1 : 2;
	if (!near || hd_slips(name, near) > most)
		return 0;
	return hd_error(
	    HEDDLE_E_UNKNOWN,
	    "there is no setting %s; did you mean %s? Rename or unset it: `heddle config` lists all settings", name,
	    near);
}

int hd_environment_check(void)
{
	return hd_getenv_is_trusted() ? hd_environment_unknown(refuse_misspelt, NULL) : 0;
}
