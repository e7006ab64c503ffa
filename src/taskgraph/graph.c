/* Task graphs as values: frees and checks them, and answers questions on times and dependencies. */
#include "graph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "state/task.h"
#include "machine/machine.h"
#include "trace/replay.h"
#include "trace/trace.h"
#include "base/grow.h"

void heddle_graph_free(struct heddle_graph *g)
{
	if (!g)
		return;
	for (size_t i = 0; g->types && i < g->n_types; i++)
		free(g->types[i].name);
	for (size_t i = 0; g->classes && i < g->n_classes; i++)
		free(g->classes[i]);
	free(g->name);
	free(g->types);
	free(g->data);
	free(g->tasks);
	free(g->accesses);
	free(g->edges);
	free(g->classes);
	free(g->times);
	hd_name_table_free(&g->task_names);
	hd_name_table_free(&g->data_names);
	free(g);
}

/* --- Check -------------------------------------------------------------------------------------------------------- */

static int bad(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
static int bad(const char *format, ...)
{
	char what[256];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	return hd_error(HEDDLE_E_INVALID, "task graph: %s", what);
}

static int is_utf8(const char *s)
{
	while (*s) {
		size_t n = hd_utf8_length(s);
		if (n == 0)
			return 0;
		s += n;
	}
	return 1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Checks that no name is missing, that all names are UTF-8, and that no two names are equal. Sorts the array. */
static int check_names(char **names, size_t n, const char *what)
{
	for (size_t i = 0; i < n; i++)
		if (!names[i] || !names[i][0] || !is_utf8(names[i]))
			return bad("%s %zu has %s", what, i,
			           names[i] && names[i][0] ? "a name that is not UTF-8" : "no name");
	qsort(names, n, sizeof *names, by_name);
	for (size_t i = 1; i < n; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			return bad("there are two of %s %s", what, names[i]);
	return 0;
}

static int check_all_names(const struct heddle_graph *g)
{
	char **names = malloc((g->n_types + g->n_classes + 1) * sizeof *names);
	if (!names)
		return hd_no_memory("a task graph");
	for (size_t i = 0; i < g->n_types; i++)
		names[i] = g->types[i].name;
	int status = check_names(names, g->n_types, "type");
	for (size_t i = 0; i < g->n_classes; i++)
		names[i] = g->classes[i];
	if (!status)
		status = check_names(names, g->n_classes, "class");
	free(names);
	return status;
}

/* Checks the names that the program has given to tasks or data. `n_named`: number of tasks or data in the graph. */
static int check_given_names(const struct heddle_names *names, size_t n_named, const char *what)
{
	for (size_t i = 0; i < names->n; i++) {
		const char *problem = hd_name_table_problem(names, i);
		if (!problem && names->list[i].id >= n_named)
			problem = "is for one that is not there";
		if (!problem && (!names->list[i].name[0] || !is_utf8(names->list[i].name)))
			problem = "is empty or not UTF-8";
		if (problem)
			return bad("name %zu of %s %s", i, what, problem);
	}
	return 0;
}

static int check_lists(const struct heddle_graph *g)
{
	if (!g->name || !is_utf8(g->name))
		return bad("it has %s", g->name ? "a name that is not UTF-8" : "no name");
	if ((g->n_types && !g->types) || (g->n_data && !g->data) || (g->n_tasks && !g->tasks) ||
	    (g->n_accesses && !g->accesses) || (g->n_edges && !g->edges) || (g->n_classes && !g->classes))
		return bad("one of its lists is NULL and said to have elements");
	if (g->n_tasks >= UINT32_MAX || g->n_data >= UINT32_MAX || g->n_types >= UINT32_MAX)
		return bad("more than 2^32 tasks, data or types");
	for (size_t i = 0; i < g->n_types; i++)
		if (g->types[i].color > 0xffffff)
			return bad("type %zu has a colour that is not 0xRRGGBB", i);
	for (size_t i = 0; i < g->n_data; i++)
		if (g->data[i].bytes > INT64_MAX)
			return bad("datum %zu has more than 2^63 bytes", i);
	int status = check_given_names(&g->task_names, g->n_tasks, "tasks");
	if (!status)
		status = check_given_names(&g->data_names, g->n_data, "data");
	return status ? status : check_all_names(g);
}

/* Checks task i. `seen`: per datum, 1 + the last task checked that has an access to it; 0: none. */
static int check_task(const struct heddle_graph *g, size_t i, uint32_t *seen)
{
	const struct heddle_graph_task *t = &g->tasks[i];
	if (t->type >= g->n_types)
		return bad("task %zu has type %u, there are only %zu", i, t->type, g->n_types);
	if (!(t->flops >= 0) || isinf(t->flops))
		return bad("task %zu has %g flops", i, t->flops);
	if (t->first_access > g->n_accesses || t->n_accesses > g->n_accesses - t->first_access)
		return bad("task %zu has accesses that are not in the list", i);
	for (size_t k = 0; k < t->n_accesses; k++) {
		const struct heddle_graph_access *a = &g->accesses[t->first_access + k];
		if (a->data >= g->n_data)
			return bad("task %zu accesses datum %u, there are only %zu", i, a->data, g->n_data);
		if (!hd_mode_name(a->mode))
			return bad("task %zu accesses datum %u in mode %u, which is none", i, a->data, a->mode);
		if (seen[a->data] == i + 1)
			return bad("task %zu accesses datum %u twice: say once what it does with it", i, a->data);
		seen[a->data] = (uint32_t)i + 1;
	}
	for (size_t c = 0; g->times && c < g->n_classes; c++)
		if (g->times[i * g->n_classes + c] < 0 || g->times[i * g->n_classes + c] >= HD_MOST_US)
			return bad("task %zu (%s) takes %g us on class %s: times are from 0 to below %g us", i,
			           g->types[t->type].name, g->times[i * g->n_classes + c], g->classes[c], HD_MOST_US);
	return 0;
}

static int check_edges(const struct heddle_graph *g)
{
	for (size_t i = 0; i < g->n_edges; i++) {
		const struct heddle_graph_edge *e = &g->edges[i];
		if (e->from >= e->to)
			return bad(
			    "edge %zu leads from task %u to task %u: tasks come in an order in which edges are forward",
			    i, e->from, e->to);
		if (e->to >= g->n_tasks)
			return bad("edge %zu leads to task %u, there are only %zu", i, e->to, g->n_tasks);
		if (i && (e[-1].to > e->to || (e[-1].to == e->to && e[-1].from >= e->from)))
			return bad("edge %zu is out of order: they are sorted by `to`, then `from`, each once", i);
	}
	return 0;
}

int heddle_graph_check(const struct heddle_graph *g)
{
	if (!g)
		return hd_error(HEDDLE_E_INVALID, "a task graph is needed, not NULL");
	int status = check_lists(g);
	if (status)
		return status;
	uint32_t *seen = calloc(g->n_data + 1, sizeof *seen);
	if (!seen)
		return hd_no_memory("a task graph");
	for (size_t i = 0; i < g->n_tasks && !status; i++)
		status = check_task(g, i, seen);
	free(seen);
	return status ? status : check_edges(g);
}

/* --- Times -------------------------------------------------------------------------------------------------------- */

double hd_graph_task_bytes(const struct heddle_graph *g, size_t task)
{
	const struct heddle_graph_task *t = &g->tasks[task];
	double bytes = 0;
	for (size_t i = 0; i < t->n_accesses; i++)
		bytes += (double)g->data[g->accesses[t->first_access + i].data].bytes;
	return bytes;
}

size_t hd_graph_column(const struct heddle_graph *g, const struct heddle_class *class_)
{
	size_t found = g->n_classes;
	for (size_t i = g->n_classes; i-- > 0 && g->times;) {
		if (strcmp(g->classes[i], class_->name) == 0)
			return i;
		if (strcmp(g->classes[i], class_->kind) == 0)
			found = i;
	}
	return found;
}

const struct heddle_kernel_time **hd_graph_kernels(const struct heddle_graph *g, const struct heddle_platform *platform)
{
	size_t n = platform->n_classes;
	const struct heddle_kernel_time **kernels = calloc(g->n_types * n + 1, sizeof *kernels);
	for (size_t i = 0; kernels && i < g->n_types * n; i++)
		kernels[i] = hd_platform_kernel(platform, g->types[i / n].name, (unsigned)(i % n));
	return kernels;
}

double heddle_graph_time(const struct heddle_graph *g, size_t task, const struct heddle_platform *platform,
                         unsigned class_id)
{
	if (!g || !platform)
		return NAN;
	return hd_graph_time(g, task, platform, class_id,
	                     hd_platform_kernel(platform, g->types[g->tasks[task].type].name, class_id));
}

double hd_graph_time(const struct heddle_graph *g, size_t task, const struct heddle_platform *platform,
                     unsigned class_id, const struct heddle_kernel_time *kernel)
{
	double us = kernel ? hd_kernel_time(kernel, hd_graph_task_bytes(g, task), g->tasks[task].flops) : NAN;
	const struct heddle_class *class_ = &platform->classes[class_id];
	size_t column = isnan(us) ? hd_graph_column(g, class_) : g->n_classes;
	if (column == g->n_classes)
		return us;
	us = g->times[task * g->n_classes + column];
	if (strcmp(g->classes[column], class_->name) == 0)
		return us;
	return hd_cluster_time(platform, g->types[g->tasks[task].type].name, class_id, us,
	                       hd_graph_task_bytes(g, task));
}

int hd_graph_no_time(int status, const struct heddle_graph *g, size_t task, const struct heddle_platform *platform)
{
	const char *type = g->types[g->tasks[task].type].name;
	return hd_error(
	    status,
	    "nobody says how long %s (task %zu) of graph %s takes on any worker of platform %s: give its times "
	    "in the graph (DOT: cpu=US, cuda=US, time_CLASS=US or flops=N at the node; JSON: \"times\" of the "
	    "task), or take a platform that has %s among its kernels (--platform)",
	    type, task, g->name, platform->name, type);
}

/* --- Dependencies ------------------------------------------------------------------------------------------------- */

struct collecting {
	struct heddle_graph_edge *edges;
	size_t n, max;
	int failed;
};

static void collect(uint64_t from, uint64_t to, void *arg)
{
	struct collecting *c = arg;
	if (!c->failed)
		c->failed = HD_GROW(c->edges, c->n, c->max, 64) != 0;
	if (!c->failed)
		c->edges[c->n++] = (struct heddle_graph_edge){(uint32_t)from, (uint32_t)to};
}

static int replay_tasks(const struct heddle_graph *g, struct hd_replay *replay, uint64_t *after)
{
	int status = 0;
	size_t e = 0;
	for (size_t i = 0; i < g->n_tasks && !status; i++) {
		struct hd_replay_task task = {
		    .id = i, .accesses = hd_graph_accesses(g, i), .n_accesses = g->tasks[i].n_accesses, .after = after};
		for (; e < g->n_edges && g->edges[e].to == i; e++)
			after[task.n_after++] = g->edges[e].from;
		status = hd_replay_task(replay, &task);
	}
	return status;
}

int heddle_graph_edges(const struct heddle_graph *g, struct heddle_graph_edge **out, size_t *n)
{
	if (!g || !out || !n)
		return hd_error(HEDDLE_E_INVALID,
		                "heddle_graph_edges needs a graph and places for the edges and their number");
	struct collecting c = {.edges = NULL};
	struct hd_replay *replay = hd_replay_open(g->n_data, collect, &c);
	uint64_t *after = malloc((g->n_tasks + 1) * sizeof *after);
	int status = replay && after ? replay_tasks(g, replay, after) : hd_no_memory("dependencies");
	hd_replay_close(replay);
	free(after);
	if (!status && !c.edges)
		c.failed |= !(c.edges = malloc(sizeof *c.edges));
	if (!status && c.failed)
		status = hd_no_memory("dependencies");
	if (status) {
		free(c.edges);
		return status;
	}
	*out = c.edges;
	*n = c.n;
	return 0;
}
