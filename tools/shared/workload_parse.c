/* Work written in one word: cholesky:n=19200,tile=960, a graph's file, or random:n=1000 (workload.h). */
#include "graph_facts.h"
#include "tool.h"
#include "workload.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 10000000, TILE = 256 };

static int set_order(size_t *order, const char *value)
{
	char *end;
	errno = 0;
	long number = strtol(value, &end, 10);
	if (end == value || *end || errno || number < 1 || number > LARGEST)
		return 0;
	*order = (size_t)number;
	return 1;
}

/* The index of `value` in a list that ends with NULL; -1: it is not in the list. */
static int find(const char *const *names, const char *value)
{
	for (int i = 0; names[i]; i++)
		if (strcmp(names[i], value) == 0)
			return i;
	return -1;
}

static const char *const parameters[] = {"n", "tile", "precision", "priorities", NULL};

const char *work_set(struct heddle_dense_problem *problem, const char *name, const char *value)
{
	static const char *const precisions[] = {"d", "s", "double", "single", NULL};
	static const char *const priorities[] = {"path", "starpu", "none", NULL};
	static const enum heddle_dense_priority values[] = {HEDDLE_DENSE_PRIORITY_PATH, HEDDLE_DENSE_PRIORITY_STARPU,
	                                                    HEDDLE_DENSE_PRIORITY_NONE};
	int parameter = find(parameters, name), i;
	if (parameter < 2)
		return set_order(parameter ? &problem->options.tile : &problem->n, value)
		           ? NULL
		           : "a whole number from 1 to 10000000";
	if (parameter == 2) {
		if ((i = find(precisions, value)) >= 0)
			problem->precision = i % 2 ? HEDDLE_DENSE_SINGLE : HEDDLE_DENSE_DOUBLE;
		return i >= 0 ? NULL : "d (double) or s (single)";
	}
	if ((i = find(priorities, value)) >= 0)
		problem->options.priority = values[i];
	return i >= 0 ? NULL : "path, starpu or none";
}

void work_init(struct work *work)
{
	*work = (struct work){.problem = {.n = 4096}, .repeat = 1};
}

/* Sets one parameter, written NAME=VALUE. */
static int set_parameter(struct work *work, const char *text)
{
	size_t length = strcspn(text, "=");
	char *name = tool_format("%.*s", (int)length, text);
	int status = TOOL_OK;
	if (find(parameters, name) < 0)
		status =
		    tool_unknown("parameter of cholesky", name, parameters, sizeof parameters / sizeof *parameters - 1);
	else if (!text[length])
		status = tool_usage_error("%s: parameter %s needs a value: %s=VALUE", work->name, name, name);
	const char *wanted = status ? NULL : work_set(&work->problem, name, text + length + 1);
	if (wanted)
		status =
		    tool_usage_error("%s: %s is \"%s\": it must be %s", work->name, name, text + length + 1, wanted);
	free(name);
	return status;
}

int work_settle_tile(struct work *work, size_t usual)
{
	struct heddle_dense_problem *p = &work->problem;
	if (p->options.tile == 0)
		p->options.tile = usual < p->n ? usual : p->n;
	return p->options.tile <= p->n;
}

static int set_parameters(struct work *work, const char *list)
{
	int status = TOOL_OK;
	for (const char *at = list; *at && !status; at += strspn(at, ",")) {
		char *text = tool_format("%.*s", (int)strcspn(at, ","), at);
		status = set_parameter(work, text);
		free(text);
		at += strcspn(at, ",");
	}
	if (!status && !work_settle_tile(work, TILE))
		status = tool_usage_error("%s: tile is %zu: it must be at most n, %zu", work->name,
		                          work->problem.options.tile, work->problem.n);
	return status;
}

int work_open(struct work *work, const char *text)
{
	static const char *const applications[] = {"cholesky"};
	size_t length = strcspn(text, ":");
	work->name = text;
	if (graph_is_named(text))
		return graph_open(text, &work->graph);
	if (length == strlen(applications[0]) && strncmp(text, applications[0], length) == 0)
		return set_parameters(work, text[length] ? text + length + 1 : "");
	char *name = tool_format("%.*s", (int)length, text);
	int status = tool_unknown("application or graph", name, applications, 1);
	free(name);
	return status;
}
