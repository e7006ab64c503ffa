/* What a misspelt word was meant to be: optimal string alignment distance (Damerau 1964; a swap of neighbours counts as
 * one error, which is the usual slip of a typist). */
#include "tool.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;
	return m < c ? m : c;
}

static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), width = m + 1;
	size_t *d = tool_alloc((n + 1) * width * sizeof *d);
	for (size_t i = 0; i <= n; i++)
		d[i * width] = i;
	for (size_t j = 0; j <= m; j++)
		d[j] = j;
	for (size_t i = 1; i <= n; i++)
		for (size_t j = 1; j <= m; j++) {
			int ai = tolower((unsigned char)a[i - 1]), bj = tolower((unsigned char)b[j - 1]);
			size_t *here = &d[i * width + j];
			*here = smallest(here[-1] + 1, here[-(long)width] + 1, here[-(long)width - 1] + (ai != bj));
			if (i > 1 && j > 1 && ai == tolower((unsigned char)b[j - 2]) &&
			    bj == tolower((unsigned char)a[i - 2]) && here[-2 * (long)width - 2] + 1 < *here)
				*here = here[-2 * (long)width - 2] + 1;
		}
	size_t result = d[n * width + m];
	free(d);
	return result;
}

const char *tool_suggest(const char *word, const char *const *candidates, size_t n)
{
	const char *best = NULL;
	size_t nearest = strlen(word) / 3 + 2; /* one slip in a short word, more in a long one */
	for (size_t i = 0; i < n; i++) {
		size_t d = distance(word, candidates[i]);
		if (d < nearest && d < strlen(candidates[i])) {
			nearest = d;
			best = candidates[i];
		}
	}
	for (size_t i = 0; !best && i < n && strlen(word) >= 2; i++) /* the beginning of a longer name */
		if (strncasecmp(word, candidates[i], strlen(word)) == 0)
			best = candidates[i];
	return best;
}

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
	const char *near = tool_suggest(word, candidates, n);
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
