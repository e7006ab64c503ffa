/* Messages about names that do not exist: they suggest the nearest name, or list all names. */
#include "tool.h"
#include "base/base.h"
#include <stdlib.h>
#include <string.h>

static char *joined(const char *const *words, size_t n)
{
	char *all = tool_format("%s", n ? "" : "none");
	for (size_t i = 0; i < n; i++) {
		char *longer = tool_format("%s%s%s", all, i ? ", " : "", words[i]);
		free(all);
		all = longer;
	}
	return all;
}

int tool_unknown(const char *kind, const char *word, const char *const *candidates, size_t n)
{
	const char *near = hd_nearest(word, candidates, n);
	if (near)
		return tool_usage_error("there is no %s \"%s\"; did you mean \"%s\"?", kind, word, near);
	char *all = joined(candidates, n);
	int status = tool_usage_error("there is no %s \"%s\"; there are: %s", kind, word, all);
	free(all);
	return status;
}

int tool_check_policy(const char *name, int with_auto)
{
	if ((with_auto && strcmp(name, "auto") == 0) || heddle_policy_find(name))
		return TOOL_OK;
	const struct heddle_policy **policies = heddle_policies();
	size_t n = 0;
	while (policies && policies[n])
		n++;
	const char **names = tool_alloc((n + 1) * sizeof *names);
	for (size_t i = 0; i < n; i++)
		names[i] = policies[i]->name;
	if (with_auto)
		names[n++] = "auto";
	int status = tool_unknown("policy", name, names, n);
	free(names);
	free(policies);
	return status;
}

int tool_load_platform(const char *name, struct heddle_platform **out)
{
	int status = heddle_platform_load(name, out);
	if (!status)
		return TOOL_OK;
	char **names = NULL;
	if (status != HEDDLE_E_UNKNOWN || heddle_platform_names(&names))
		return tool_failure("%s", heddle_last_error());
	size_t n = 0;
	while (names[n])
		n++;
	status = tool_unknown("platform", name, (const char *const *)names, n);
	heddle_platform_names_free(names);
	return status;
}

int tool_open_platform(const char *name, const char *clusters, struct heddle_platform **out)
{
	int status = tool_load_platform(name, out);
	if (status || !clusters || !*clusters || !heddle_platform_cluster(*out, clusters))
		return status;
	heddle_platform_free(*out);
	*out = NULL; /* callers free *out even after an error */
	return tool_usage_error("platform %s: %s", name, heddle_last_error());
}

int tool_no_platform(void)
{
	char **names = NULL, *all = tool_format("%s", "");
	if (heddle_platform_names(&names) == 0) {
		for (size_t i = 0; names[i]; i++) {
			char *longer = tool_format("%s%s%s", all, i ? ", " : "", names[i]);
			free(all);
			all = longer;
		}
		heddle_platform_names_free(names);
	}
	tool_usage_error(
	    "which machine? Give --platform one of: %s; or a file; `heddle platform calibrate` describes this one",
	    *all ? all : "(none is installed)");
	free(all);
	return TOOL_USAGE;
}
