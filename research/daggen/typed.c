/* The false execution (typed.h).
 *
 * The paper only has the idea; these are our choices. The type of a task is drawn among those that the worker's class
 * is fastest with, with the proportions as weights. For each pair of types, the entry of the matrix `predecessors` is
 * added to a balance with every task; a task gets as many predecessors as the whole part of the balance, which is then
 * subtracted. So averages match the matrix, and no task has more predecessors than the entry rounded up. The
 * predecessors of a type are distinct and equally likely among its last `reach` finished tasks. If too few have
 * finished, the missing ones are not made up for later, because table 4 of the paper has a graph (10) whose tasks have
 * at most 1 predecessor and 0.995 on average. */
#include <heddle/daggen/typed.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

struct execution {
	const struct heddle_daggen_typed_params *params; /* borrows */
	struct heddle_daggen_typed_graph *out;           /* borrows */
	struct hd_rng rng;
	unsigned n_workers;
	uint32_t *finished; /* owns; finished[type * n_tasks + i]: the tasks of a type, in the order of their ends */
	size_t *n_finished; /* owns; per type */
	double *owed;       /* owns; the balances, as the matrix `predecessors` */
	int64_t *runs;      /* owns; per worker: its task, -1: none yet */
	double *until;      /* owns; per worker, us: when it becomes available */
	unsigned *heap;     /* owns; the workers: none becomes available before its parent, [(i - 1) / 2] */
	double weight[HEDDLE_DAGGEN_CLASSES]; /* sums of the proportions of the types that a class is fastest with */
	size_t max_edges;
};

static int no_memory(void)
{
	return heddle_error(HEDDLE_E_MEMORY, "no memory for a graph of typed tasks");
}

/* --- Checking the parameters -------------------------------------------------------------------------------------- */

static int is_fastest(const struct heddle_daggen_type *type, int class_id)
{
	return type->cost[class_id] <= type->cost[!class_id];
}

static int check_types(const struct heddle_daggen_typed_params *p)
{
	for (size_t i = 0; i < p->n_types; i++) {
		const struct heddle_daggen_type *t = &p->types[i];
		for (int c = 0; c < HEDDLE_DAGGEN_CLASSES; c++)
			if (!(t->cost[c] > 0) || !isfinite(t->cost[c]))
				return heddle_error(HEDDLE_E_INVALID,
				                    "type %zu costs %g us on %s: it must be more than 0", i, t->cost[c],
				                    c ? "GPUs" : "CPUs");
		if (!(t->proportion >= 0) || !isfinite(t->proportion))
			return heddle_error(HEDDLE_E_INVALID, "the proportion of type %zu is %g: it cannot be negative",
			                    i, t->proportion);
		for (size_t j = 0; j < p->n_types; j++)
			if (!(p->predecessors[i * p->n_types + j] >= 0) || p->predecessors[i * p->n_types + j] > 1e6)
				return heddle_error(
				    HEDDLE_E_INVALID,
				    "type %zu has %g predecessors of type %zu: 0 to 1000000 are possible", i,
				    p->predecessors[i * p->n_types + j], j);
	}
	return 0;
}

static double weight_of(const struct heddle_daggen_typed_params *p, int class_id)
{
	double weight = 0;
	for (size_t i = 0; i < p->n_types; i++)
		weight += is_fastest(&p->types[i], class_id) ? p->types[i].proportion : 0;
	return weight;
}

static int check(const struct heddle_daggen_typed_params *p)
{
	if (p->n_tasks == 0 || p->n_tasks > UINT32_MAX / 2)
		return heddle_error(HEDDLE_E_INVALID, "%zu tasks: a graph has 1 to %u", p->n_tasks, UINT32_MAX / 2);
	if (p->workers[0] > 100000 || p->workers[1] > 100000 || p->workers[0] + p->workers[1] == 0)
		return heddle_error(HEDDLE_E_INVALID,
		                    "%u CPUs and %u GPUs: there must be one worker, and at most 100000 of a class",
		                    p->workers[0], p->workers[1]);
	int status = check_types(p);
	for (int c = 0; c < HEDDLE_DAGGEN_CLASSES && !status; c++) {
		if (p->workers[c] && !(weight_of(p, c) > 0))
			status = heddle_error(
			    HEDDLE_E_INVALID,
			    "no type is for %s, which would have nothing to do: one must be fastest there, "
			    "with a proportion above 0",
			    c ? "GPUs" : "CPUs");
	}
	return status;
}

/* --- One task ----------------------------------------------------------------------------------------------------- */

static size_t draw_type(struct execution *e, int class_id)
{
	const struct heddle_daggen_typed_params *p = e->params;
	size_t last = 0;
	double at = hd_rng_uniform(&e->rng) * e->weight[class_id];
	for (size_t i = 0; i < p->n_types; i++) {
		if (!is_fastest(&p->types[i], class_id) || !(p->types[i].proportion > 0))
			continue;
		last = i;
		at -= p->types[i].proportion;
		if (at < 0)
			break;
	}
	return last;
}

static int add_edge(struct execution *e, uint32_t from, uint32_t to)
{
	struct heddle_graph *g = e->out->graph;
	if (g->n_edges == e->max_edges) {
		size_t most = 2 * e->max_edges;
		struct heddle_graph_edge *more = realloc(g->edges, most * sizeof *more);
		if (!more)
			return no_memory();
		g->edges = more;
		e->max_edges = most;
	}
	size_t i = g->n_edges++; /* edges to the same task are kept in the order of `from` */
	for (; i && g->edges[i - 1].to == to && g->edges[i - 1].from > from; i--)
		g->edges[i] = g->edges[i - 1];
	g->edges[i] = (struct heddle_graph_edge){from, to};
	return 0;
}

static int is_predecessor(const struct heddle_graph *g, uint32_t from, uint32_t to)
{
	for (size_t i = g->n_edges; i-- > 0 && g->edges[i].to == to;)
		if (g->edges[i].from == from)
			return 1;
	return 0;
}

/* Draws `n` distinct tasks among the last finished ones of a type, by Floyd's algorithm, as predecessors. */
static int draw_predecessors(struct execution *e, uint32_t task, size_t type, size_t n)
{
	size_t candidates = e->n_finished[type], reach = e->params->types[type].reach;
	if (reach && candidates > reach)
		candidates = reach;
	if (n > candidates)
		n = candidates;
	const uint32_t *last = e->finished + type * e->params->n_tasks + e->n_finished[type] - candidates;
	for (size_t i = candidates - n; i < candidates; i++) {
		uint32_t from = last[hd_rng_next(&e->rng) % (i + 1)];
		if (is_predecessor(e->out->graph, from, task))
			from = last[i];
		if (add_edge(e, from, task))
			return HEDDLE_E_MEMORY;
	}
	return 0;
}

static int appear(struct execution *e, uint32_t task, unsigned worker)
{
	const struct heddle_daggen_typed_params *p = e->params;
	int class_id = worker >= p->workers[HEDDLE_DAGGEN_CPU];
	size_t type = draw_type(e, class_id);
	double now = e->until[worker];
	for (size_t j = 0; j < p->n_types; j++) {
		double *owed = &e->owed[type * p->n_types + j];
		*owed += p->predecessors[type * p->n_types + j];
		if (*owed < 1 - 1e-9)
			continue;
		size_t whole = (size_t)(*owed + 1e-9); /* sums of entries such as 0.1 are not exact */
		*owed -= (double)whole;
		if (draw_predecessors(e, task, j, whole))
			return HEDDLE_E_MEMORY;
	}
	struct heddle_graph *g = e->out->graph;
	g->tasks[task].type = (uint32_t)type;
	for (int c = 0; c < HEDDLE_DAGGEN_CLASSES; c++)
		g->times[(size_t)task * HEDDLE_DAGGEN_CLASSES + (size_t)c] = p->types[type].cost[c];
	e->until[worker] = now + p->types[type].cost[class_id];
	e->out->schedule[task] = (struct heddle_daggen_slot){worker, now, e->until[worker]};
	e->out->makespan = fmax(e->out->makespan, e->until[worker]);
	e->runs[worker] = task;
	return 0;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

/* Of workers that become available at the same time, the first comes first. */
static int is_before(const struct execution *e, unsigned a, unsigned b)
{
	return e->until[a] < e->until[b] || (e->until[a] == e->until[b] && a < b);
}

/* The worker at the top of the heap becomes available later than before. */
static void sink_top(struct execution *e)
{
	unsigned worker = e->heap[0], i = 0;
	for (unsigned below; (below = 2 * i + 1) < e->n_workers; i = below) {
		below += below + 1 < e->n_workers && is_before(e, e->heap[below + 1], e->heap[below]);
		if (is_before(e, worker, e->heap[below]))
			break;
		e->heap[i] = e->heap[below];
	}
	e->heap[i] = worker;
}

static int run(struct execution *e)
{
	for (uint32_t task = 0; task < e->params->n_tasks; task++) {
		unsigned worker = e->heap[0];
		if (e->runs[worker] >= 0) {
			size_t type = e->out->graph->tasks[e->runs[worker]].type;
			e->finished[type * e->params->n_tasks + e->n_finished[type]++] = (uint32_t)e->runs[worker];
		}
		if (appear(e, task, worker))
			return HEDDLE_E_MEMORY;
		sink_top(e);
	}
	return 0;
}

/* An empty graph with room for the tasks. After an error heddle_daggen_typed_free frees what was allocated. */
static struct heddle_graph *new_graph(const struct heddle_daggen_typed_params *p, size_t max_edges)
{
	struct heddle_graph *g = calloc(1, sizeof *g);
	char text[32];
	if (!g)
		return NULL;
	snprintf(text, sizeof text, "typed-%llu", (unsigned long long)p->seed);
	g->name = strdup(text);
	g->types = calloc(p->n_types, sizeof *g->types);
	g->tasks = calloc(p->n_tasks, sizeof *g->tasks);
	g->edges = malloc(max_edges * sizeof *g->edges);
	g->classes = calloc(HEDDLE_DAGGEN_CLASSES, sizeof *g->classes);
	g->times = malloc(p->n_tasks * HEDDLE_DAGGEN_CLASSES * sizeof *g->times);
	g->n_tasks = p->n_tasks;
	if (g->types)
		g->n_types = p->n_types;
	for (size_t i = 0; i < g->n_types; i++) {
		snprintf(text, sizeof text, "T%zu", i);
		if (i < 26)
			snprintf(text, sizeof text, "%c", (int)('A' + i));
		g->types[i].name = strdup(text);
	}
	if (g->classes) {
		g->n_classes = HEDDLE_DAGGEN_CLASSES;
		g->classes[HEDDLE_DAGGEN_CPU] = strdup("cpu");
		g->classes[HEDDLE_DAGGEN_GPU] = strdup("cuda");
	}
	return g;
}

static int is_whole(const struct heddle_graph *g)
{
	if (!g || !g->name || !g->types || !g->tasks || !g->edges || !g->classes || !g->times || !g->classes[0] ||
	    !g->classes[1])
		return 0;
	for (size_t i = 0; i < g->n_types; i++)
		if (!g->types[i].name)
			return 0;
	return 1;
}

static int execute(struct execution *e)
{
	const struct heddle_daggen_typed_params *p = e->params;
	e->finished = malloc(p->n_types * p->n_tasks * sizeof *e->finished);
	e->n_finished = calloc(p->n_types, sizeof *e->n_finished);
	e->owed = calloc(p->n_types * p->n_types, sizeof *e->owed);
	e->runs = malloc(e->n_workers * sizeof *e->runs);
	e->until = calloc(e->n_workers, sizeof *e->until);
	e->heap = malloc(e->n_workers * sizeof *e->heap);
	if (!is_whole(e->out->graph) || !e->out->schedule || !e->finished || !e->n_finished || !e->owed || !e->runs ||
	    !e->until || !e->heap)
		return no_memory();
	for (size_t i = 0; i < p->n_types * p->n_types; i++)
		e->owed[i] = hd_rng_uniform(
		    &e->rng); /* random beginnings, so that equal entries are not rounded up for the same tasks */
	for (unsigned w = 0; w < e->n_workers; w++) {
		e->runs[w] = -1;
		e->heap[w] = w;
	}
	for (int c = 0; c < HEDDLE_DAGGEN_CLASSES; c++)
		e->weight[c] = weight_of(p, c);
	return run(e);
}

int heddle_daggen_typed(const struct heddle_daggen_typed_params *params, struct heddle_daggen_typed_graph *out)
{
	if (!params || !out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_daggen_typed needs parameters and a place for the graph");
	int status = check(params);
	if (status)
		return status;
	struct execution e = {.params = params,
	                      .out = out,
	                      .n_workers = params->workers[0] + params->workers[1],
	                      .max_edges = 4 * params->n_tasks};
	hd_rng_seed(&e.rng, params->seed);
	*out = (struct heddle_daggen_typed_graph){.graph = new_graph(params, e.max_edges)};
	out->schedule = malloc(params->n_tasks * sizeof *out->schedule);
	status = execute(&e);
	free(e.finished);
	free(e.n_finished);
	free(e.owed);
	free(e.runs);
	free(e.until);
	free(e.heap);
	if (status)
		heddle_daggen_typed_free(out);
	return status;
}

void heddle_daggen_typed_free(struct heddle_daggen_typed_graph *typed)
{
	if (!typed)
		return;
	heddle_graph_free(typed->graph);
	free(typed->schedule);
	*typed = (struct heddle_daggen_typed_graph){.graph = NULL};
}

/* --- The check ---------------------------------------------------------------------------------------------------- */

static int check_slot(const struct heddle_daggen_typed_params *p, const struct heddle_daggen_typed_graph *typed,
                      uint32_t task, double *until)
{
	const struct heddle_daggen_slot *s = &typed->schedule[task];
	const double *times = typed->graph->times + (size_t)task * HEDDLE_DAGGEN_CLASSES;
	if (s->worker >= p->workers[0] + p->workers[1])
		return heddle_error(HEDDLE_E_INVALID, "task %u is on worker %u, which does not exist", task, s->worker);
	int class_id = s->worker >= p->workers[HEDDLE_DAGGEN_CPU];
	if (times[class_id] > times[!class_id])
		return heddle_error(HEDDLE_E_INVALID, "task %u is on a %s, which is the slower one", task,
		                    class_id ? "GPU" : "CPU");
	if (s->end != s->start + times[class_id])
		return heddle_error(HEDDLE_E_INVALID, "task %u takes %g us instead of %g", task, s->end - s->start,
		                    times[class_id]);
	if (s->start != until[s->worker])
		return heddle_error(HEDDLE_E_INVALID,
		                    "worker %u is idle or has two tasks from %g to %g us, before task %u", s->worker,
		                    fmin(until[s->worker], s->start), fmax(until[s->worker], s->start), task);
	until[s->worker] = s->end;
	return 0;
}

int heddle_daggen_typed_check(const struct heddle_daggen_typed_params *params,
                              const struct heddle_daggen_typed_graph *typed)
{
	if (!params || !typed || !typed->graph)
		return heddle_error(HEDDLE_E_INVALID, "heddle_daggen_typed_check needs parameters and a graph");
	const struct heddle_graph *g = typed->graph;
	unsigned n_workers = params->workers[0] + params->workers[1];
	double *until = calloc(n_workers, sizeof *until), latest_start = 0, end = 0;
	if (!until)
		return no_memory();
	int status = 0;
	for (uint32_t i = 0; i < g->n_tasks && !status; i++) { /* tasks are numbered in the order of their starts */
		status = check_slot(params, typed, i, until);
		latest_start = fmax(latest_start, typed->schedule[i].start);
		end = fmax(end, typed->schedule[i].end);
	}
	for (size_t i = 0; i < g->n_edges && !status; i++)
		if (typed->schedule[g->edges[i].from].end > typed->schedule[g->edges[i].to].start)
			status = heddle_error(HEDDLE_E_INVALID,
			                      "task %u starts before task %u, which it depends on, has ended",
			                      g->edges[i].to, g->edges[i].from);
	for (unsigned w = 0; w < n_workers && !status; w++)
		if (until[w] < latest_start)
			status = heddle_error(HEDDLE_E_INVALID,
			                      "worker %u has nothing to do from %g us on, but a task starts at %g", w,
			                      until[w], latest_start);
	if (!status && end != typed->makespan)
		status = heddle_error(HEDDLE_E_INVALID, "the last task ends at %g us; the makespan is %g", end,
		                      typed->makespan);
	free(until);
	return status;
}
