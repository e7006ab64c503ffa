/* Times for classes of workers for which a graph has no times: see speedup.h. */
#include "speedup.h"
#include "taskgraph/graph.h"
#include "tool.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	const char *option;   /* "--times" or "--speedup"; borrows */
	char *class_, *type_; /* own; type_: NULL for all */
	double us, factor;    /* us: 0 if a factor is given */
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
	double value = equals < length ? hd_real(text + equals + 1, &end) : 0;
	int right = end && end == text + length && value > 0 && isfinite(value) && colon > 0;
	if (e->us > 0 && (!right || colon + 1 >= equals))
		return tool_usage_error("--times has \"%.*s\": it must be CLASS:TYPE=US, with US above 0, as in "
		                        "k40m:gemm=350",
		                        (int)length, text);
	if (!right)
		return tool_usage_error(
		    "--speedup has \"%.*s\": it must be CLASS=F or CLASS:TYPE=F, with F above 0, as in "
		    "k40m=10,k40m:gemm=30",
		    (int)length, text);
	e->us = e->us > 0 ? value : 0;
	e->factor = value;
	e->class_ = tool_format("%.*s", (int)colon, text);
	e->type_ = colon < equals ? tool_format("%.*s", (int)(equals - colon - 1), text + colon + 1) : NULL;
	return TOOL_OK;
}

/* The class of the platform with that name; the number of classes: there is none. */
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

/* The column of a class in the graph; if there is none, appends a column with the times of the class's kind. */
static size_t column_of(struct heddle_graph *g, const struct heddle_class *class_)
{
	size_t n = g->n_classes, kind = hd_graph_column(g, class_);
	if (kind < n && strcmp(g->classes[kind], class_->name) == 0)
		return kind;
	double *times = tool_alloc(g->n_tasks * (n + 1) * sizeof *times);
	for (size_t i = 0; i < g->n_tasks; i++) {
		memcpy(times + i * (n + 1), g->times + i * n, n * sizeof *times);
		times[i * (n + 1) + n] = kind < n ? g->times[i * n + kind] : NAN;
	}
	free(g->times);
	g->times = times;
	g->classes = tool_realloc(g->classes, (n + 1) * sizeof *g->classes);
	g->classes[n] = tool_format("%s", class_->name);
	g->n_classes++;
	return n;
}

/* The column of the class "cpu"; if there is none, the first column. */
static size_t base_column(const struct heddle_graph *g)
{
	for (size_t i = 0; i < g->n_classes; i++)
		if (strcmp(g->classes[i], "cpu") == 0)
			return i;
	return 0;
}

/* Reports the assumption: on standard error, and in the tables. */
static void note(struct work *work, const struct entry *e, const char *base)
{
	char *what = e->us > 0 ? tool_format("%g us", e->us) : tool_format("%s / %g", base, e->factor);
	char *all = tool_format("%s%s%s%s%s: %s", work->assumed, work->assumed[0] ? "; " : "", e->class_,
	                        e->type_ ? " " : "", e->type_ ? e->type_ : "", what);
	size_t size = sizeof work->assumed;
	if (snprintf(work->assumed, size, "%s", all) >= (int)size)
		memcpy(work->assumed + size - sizeof " ...", " ...", sizeof " ...");
	tool_warn("times of %s on %s are assumed: %s%s", e->type_ ? e->type_ : "tasks without one", e->class_,
	          e->us > 0 ? "" : "those on ", what);
	free(all);
	free(what);
}

/* Whether a task has got a time that it did not have. */
static int apply(const struct entry *e, struct heddle_graph *g, const struct heddle_platform *p, unsigned id)
{
	size_t to = column_of(g, &p->classes[id]), from = base_column(g), n = g->n_classes;
	int changed = 0, hidden = 0;
	for (size_t i = 0; i < g->n_tasks; i++) {
		double *times = g->times + i * n, assumed = e->us > 0 ? e->us : times[from] / e->factor;
		int wanted = e->type_ ? strcmp(g->types[g->tasks[i].type].name, e->type_) == 0
		                      : isnan(heddle_graph_time(g, i, p, id));
		if (!wanted || isnan(assumed) || (to == from && !(e->us > 0)))
			continue;
		times[to] = assumed;
		changed = 1;
		hidden |= heddle_graph_time(g, i, p, id) != assumed;
	}
	if (hidden)
		tool_warn("%s of %s on %s is not used: platform %s has times of its own for it", e->option, e->type_,
		          e->class_, p->name);
	return changed && !hidden;
}

static int assume(struct work *work, const struct machines *machines, struct entry *e)
{
	struct heddle_graph *g = work->graph;
	int changed = 0, status = check_class(e, machines);
	if (!status)
		status = check_type(e, g);
	for (size_t i = 0; i < machines->n && !status; i++) {
		const struct heddle_platform *p = machines->list[i];
		unsigned id = class_of(p, e->class_);
		changed |= id < p->n_classes && apply(e, g, p, id);
	}
	if (changed)
		note(work, e, g->classes[base_column(g)]);
	return status;
}

/* us: 1 for a list of times, 0 for a list of factors. */
static int assume_all(struct work *work, const struct machines *machines, const char *list, double us)
{
	const char *option = us > 0 ? "--times" : "--speedup";
	int status = TOOL_OK;
	if (!work_has_times(work))
		return tool_usage_error("%s is for graphs that have times for some class of workers, and %s %s", option,
		                        work->name, work->graph ? "has none" : "is no graph");
	for (const char *at = list; *at && !status; at += strspn(at, ",")) {
		struct entry e = {.option = option, .us = us};
		size_t length = strcspn(at, ",");
		status = parse(&e, at, length);
		if (!status)
			status = assume(work, machines, &e);
		entry_free(&e);
		at += length;
	}
	return status;
}

int work_assume_times(struct work *work, const struct machines *machines, const struct assumed_times *assumed)
{
	int status = assumed->times ? assume_all(work, machines, assumed->times, 1) : TOOL_OK;
	return status || !assumed->speedup ? status : assume_all(work, machines, assumed->speedup, 0);
}

/* --- Options ------------------------------------------------------------------------------------------------------ */

enum { KEY_TIMES = 0xb100, KEY_SPEEDUP };

static const struct argp_option options[] = {
    {"speedup", KEY_SPEEDUP, "CLASS=F,CLASS:TYPE=F", 0,
     "For graphs with times: on CLASS, tasks without a time there take 1/F of their time on cores; CLASS:TYPE: tasks "
     "of TYPE, even if they have a time there; may be repeated",
     4},
    {"times", KEY_TIMES, "CLASS:TYPE=US,...", 0,
     "For graphs with times: on CLASS, tasks of TYPE take US microseconds; before --speedup; may be repeated", 4},
    {0},
};

enum list { TIMES, SPEEDUP, N_LISTS };

/* An option that is given twice adds to its list. A list that is made here stays until the command ends. */
static const char *longer(enum list which, const char *list, const char *more)
{
	static char *made[N_LISTS]; /* owns */
	if (!list)
		return more;
	char *text = tool_format("%s,%s", list, more);
	free(made[which]);
	return made[which] = text;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct assumed_times *assumed = state->input;
	switch (key) {
	case ARGP_KEY_INIT: *assumed = (struct assumed_times){NULL, NULL}; return 0;
	case KEY_TIMES: assumed->times = longer(TIMES, assumed->times, arg); return 0;
	case KEY_SPEEDUP: assumed->speedup = longer(SPEEDUP, assumed->speedup, arg); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

const struct argp assumed_argp = {.options = options, .parser = parse_option};
