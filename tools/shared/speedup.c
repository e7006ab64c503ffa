/* Times for classes of workers that a graph knows nothing of: see speedup.h. */
#include "speedup.h"
#include "tool.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	char *class_, *type_; /* own; type_: NULL for all */
	double factor;
};

static void entry_free(struct entry *e)
{
	free(e->class_);
	free(e->type_);
}

static int parse(struct entry *e, const char *text, size_t length)
{
	size_t equals = strcspn(text, "=,"), colon = strcspn(text, ":=,");
	char *end = NULL;
	e->factor = equals < length ? strtod(text + equals + 1, &end) : 0;
	if (!end || end != text + length || !(e->factor > 0) || !isfinite(e->factor) || colon == 0)
		return tool_usage_error(
		    "--speedup has \"%.*s\": it must be CLASS=F or CLASS:TYPE=F, with F above 0, as in "
		    "k40m=10,k40m:gemm=30",
		    (int)length, text);
	e->class_ = tool_format("%.*s", (int)colon, text);
	e->type_ = colon < equals ? tool_format("%.*s", (int)(equals - colon - 1), text + colon + 1) : NULL;
	return TOOL_OK;
}

/* The class of the platform with that name; its number of classes: none has it. */
static unsigned class_of(const struct heddle_platform *p, const char *class_)
{
	unsigned id = 0;
	while (id < p->n_classes && strcmp(p->classes[id].name, class_) != 0)
		id++;
	return id;
}

static int check_class(const struct entry *e, const struct machines *machines)
{
	const char **names = NULL;
	size_t n = 0;
	int known = 0, status = TOOL_OK;
	for (size_t i = 0; i < machines->n; i++) {
		const struct heddle_platform *p = machines->list[i];
		known |= class_of(p, e->class_) < p->n_classes;
		names = tool_realloc(names, (n + p->n_classes + 1) * sizeof *names);
		for (size_t k = 0; k < p->n_classes; k++)
			names[n++] = p->classes[k].name;
	}
	if (!known)
		status = tool_unknown("class of workers", e->class_, names, n);
	free(names);
	return status;
}

static int check_type(const struct entry *e, const struct heddle_graph *g)
{
	const char **names = tool_alloc((g->n_types + 1) * sizeof *names);
	int known = !e->type_, status = TOOL_OK;
	for (size_t i = 0; i < g->n_types; i++) {
		names[i] = g->types[i].name;
		known |= e->type_ && strcmp(names[i], e->type_) == 0;
	}
	if (!known)
		status = tool_unknown("type of tasks in the graph", e->type_, names, g->n_types);
	free(names);
	return status;
}

/* The column of a class, which is appended if there is none. */
static size_t column_of(struct heddle_graph *g, const char *class_)
{
	size_t n = g->n_classes;
	for (size_t i = 0; i < n; i++)
		if (strcmp(g->classes[i], class_) == 0)
			return i;
	double *times = tool_alloc(g->n_tasks * (n + 1) * sizeof *times);
	for (size_t i = 0; i < g->n_tasks; i++) {
		memcpy(times + i * (n + 1), g->times + i * n, n * sizeof *times);
		times[i * (n + 1) + n] = NAN;
	}
	free(g->times);
	g->times = times;
	g->classes = tool_realloc(g->classes, (n + 1) * sizeof *g->classes);
	g->classes[n] = tool_format("%s", class_);
	g->n_classes++;
	return n;
}

/* The column of the cores; without one, the first. */
static size_t base_column(const struct heddle_graph *g)
{
	for (size_t i = 0; i < g->n_classes; i++)
		if (strcmp(g->classes[i], "cpu") == 0)
			return i;
	return 0;
}

/* Says what was assumed: to the person, and in the tables. */
static void note(struct work *work, const struct entry *e, const char *base)
{
	char *all = tool_format("%s%s%s%s%s: %s / %g", work->assumed, work->assumed[0] ? "; " : "", e->class_,
	                        e->type_ ? " " : "", e->type_ ? e->type_ : "", base, e->factor);
	size_t size = sizeof work->assumed;
	if (snprintf(work->assumed, size, "%s", all) >= (int)size)
		memcpy(work->assumed + size - sizeof " ...", " ...", sizeof " ...");
	free(all);
	tool_warn("times of %s on %s are assumed: those on %s / %g", e->type_ ? e->type_ : "tasks without one",
	          e->class_, base, e->factor);
}

/* Whether a task has got a time that it did not have. */
static int apply(const struct entry *e, struct heddle_graph *g, const struct heddle_platform *p, unsigned id)
{
	size_t to = column_of(g, e->class_), from = base_column(g), n = g->n_classes;
	int changed = 0;
	for (size_t i = 0; i < g->n_tasks; i++) {
		double *times = g->times + i * n, assumed = times[from] / e->factor;
		int wanted = e->type_ ? strcmp(g->types[g->tasks[i].type].name, e->type_) == 0
		                      : isnan(heddle_graph_time(g, i, p, id));
		if (!wanted || isnan(assumed) || to == from)
			continue;
		times[to] = assumed;
		changed = 1;
	}
	return changed;
}

int work_speed_up(struct work *work, const struct machines *machines, const char *list)
{
	struct heddle_graph *g = work->graph;
	int status = TOOL_OK;
	if (!work_has_times(work))
		return tool_usage_error("--speedup is for graphs that have times for some class of workers, and %s %s",
		                        work->name, g ? "has none" : "is no graph");
	for (const char *at = list; *at && !status; at += strspn(at, ",")) {
		struct entry e = {.factor = 0};
		size_t length = strcspn(at, ",");
		status = parse(&e, at, length);
		if (!status)
			status = check_class(&e, machines);
		if (!status)
			status = check_type(&e, g);
		int changed = 0;
		for (size_t i = 0; i < machines->n && !status; i++) {
			const struct heddle_platform *p = machines->list[i];
			unsigned id = class_of(p, e.class_);
			changed |= id < p->n_classes && apply(&e, g, p, id);
		}
		if (changed)
			note(work, &e, g->classes[base_column(g)]);
		entry_free(&e);
		at += length;
	}
	return status;
}
