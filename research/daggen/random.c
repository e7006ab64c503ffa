/* Random task graphs in layers: see random.h. */
#include <heddle/daggen/random.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCAN, SORT, MULTIPLY, N_WORKS };
enum { CPU, CUDA, N_KINDS };
static const char *const works[N_WORKS] = {"scan", "sort", "multiply"}, *const kinds[N_KINDS] = {"cpu", "cuda"};

struct making {
	struct heddle_daggen_layers p;
	uint64_t random; /* state of the random numbers */
	struct heddle_graph *graph;
	uint32_t *level; /* owns; the first task of each level, then n */
	size_t n_levels;
	uint32_t *parent_of; /* owns; per task: 1 + the last task that got it as a predecessor */
	size_t max_accesses;
};

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t next_random(struct making *m)
{
	uint64_t z = m->random += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static double uniform(struct making *m, double low, double high)
{
	return low + (high - low) * (double)(next_random(m) >> 11) * 0x1p-53;
}

/* A whole number from 0 to n - 1. */
static uint32_t below(struct making *m, uint32_t n)
{
	return (uint32_t)uniform(m, 0, n);
}

/* --- Levels ------------------------------------------------------------------------------------------------------- */

static int make_levels(struct making *m)
{
	double mean = pow(m->p.n, m->p.fat), spread = 1 - m->p.regularity;
	uint32_t n = (uint32_t)m->p.n, placed = 0;
	m->level = malloc(((size_t)n + 1) * sizeof *m->level);
	if (!m->level)
		return HEDDLE_E_MEMORY;
	while (placed < n) {
		double width = floor(mean * uniform(m, 1 - spread, 1 + spread) + 0.5);
		uint32_t left = n - placed;
		m->level[m->n_levels++] = placed;
		placed += width < 1 ? 1 : width > left ? left : (uint32_t)width;
	}
	m->level[m->n_levels] = n;
	return 0;
}

static uint32_t width_of(const struct making *m, size_t level)
{
	return m->level[level + 1] - m->level[level];
}

/* --- Predecessors ------------------------------------------------------------------------------------------------- */

static int add_access(struct making *m, uint32_t task, uint32_t datum, enum heddle_mode mode)
{
	struct heddle_graph *g = m->graph;
	if (g->n_accesses == m->max_accesses) {
		size_t max = 2 * m->max_accesses + 64;
		struct heddle_graph_access *larger = realloc(g->accesses, max * sizeof *larger);
		if (!larger)
			return HEDDLE_E_MEMORY;
		g->accesses = larger;
		m->max_accesses = max;
	}
	g->accesses[g->n_accesses++] = (struct heddle_graph_access){datum, mode};
	g->tasks[task].n_accesses++;
	return 0;
}

/* A task of the level that is no predecessor of `task` yet: the first one after a random place; -1: all are. */
static int64_t choose(struct making *m, uint32_t task, size_t level)
{
	uint32_t width = width_of(m, level), begin = below(m, width);
	for (uint32_t i = 0; i < width; i++) {
		uint32_t candidate = m->level[level] + (begin + i) % width;
		if (m->parent_of[candidate] != task + 1)
			return candidate;
	}
	return -1;
}

static int add_predecessors(struct making *m, uint32_t task, size_t level)
{
	uint32_t width = width_of(m, level - 1);
	double wanted = 1 + floor(uniform(m, 0, m->p.density * width) + 0.5);
	uint32_t n = wanted < width ? (uint32_t)wanted : width;
	uint32_t reach = m->p.jump < (double)level ? (uint32_t)m->p.jump : (uint32_t)level;
	int status = 0;
	for (uint32_t i = 0; i < n && !status; i++) {
		int64_t parent = choose(m, task, level - 1 - (i ? below(m, reach) : 0));
		if (parent < 0) /* the level has no task left; the level before has at least n */
			parent = choose(m, task, level - 1);
		m->parent_of[parent] = task + 1;
		status = add_access(m, task, (uint32_t)parent, HEDDLE_R);
	}
	return status;
}

static int add_all_predecessors(struct making *m)
{
	int status = 0;
	for (size_t level = 0; level < m->n_levels && !status; level++)
		for (uint32_t task = m->level[level]; task < m->level[level + 1] && !status; task++) {
			m->graph->tasks[task].first_access = m->graph->n_accesses;
			if (level)
				status = add_predecessors(m, task, level);
			if (!status)
				status = add_access(m, task, task, HEDDLE_W);
		}
	return status;
}

/* --- Work --------------------------------------------------------------------------------------------------------- */

static void make_work(struct making *m, uint32_t task)
{
	const struct heddle_daggen_layers *p = &m->p;
	struct heddle_graph *g = m->graph;
	uint32_t work = p->work > 0 ? (uint32_t)p->work - 1 : below(m, N_WORKS);
	double d = floor(uniform(m, p->min_data, p->max_data)), a = uniform(m, p->min_factor, p->max_factor);
	double speedup = exp(uniform(m, log(p->min_speedup), log(p->max_speedup)));
	double flops = work == SCAN ? a * d : work == SORT ? a * d * log2(d < 2 ? 2 : d) : d * sqrt(d);
	double us = flops / p->gflops * 1e-3;
	g->tasks[task].type = work;
	g->tasks[task].flops = flops;
	g->data[task].bytes = (uint64_t)(8 * d);
	g->times[task * N_KINDS + CPU] = us;
	g->times[task * N_KINDS + CUDA] = us / speedup;
}

/* Scales the data so that communication and computation have the ratio `ccr`. */
static int scale_data(struct making *m)
{
	struct heddle_graph *g = m->graph;
	double bytes = 0, us = 0;
	for (size_t i = 0; i < g->n_accesses; i++)
		if (g->accesses[i].mode == HEDDLE_R)
			bytes += (double)g->data[g->accesses[i].data].bytes;
	for (size_t i = 0; i < g->n_tasks; i++)
		us += g->times[i * N_KINDS + CPU];
	if (!(m->p.ccr > 0) || bytes == 0)
		return 0;
	double factor = m->p.ccr * us * m->p.bandwidth / bytes;
	for (size_t i = 0; i < g->n_data; i++) {
		double scaled = (double)g->data[i].bytes * factor + 0.5;
		if (scaled > 0x1p60)
			return heddle_error(HEDDLE_E_INVALID,
			                    "a ccr of %g makes a datum of %g bytes: choose a smaller one", m->p.ccr,
			                    scaled);
		g->data[i].bytes = (uint64_t)scaled;
	}
	return 0;
}

/* --- The graph ---------------------------------------------------------------------------------------------------- */

static int open_graph(struct making *m)
{
	struct heddle_graph *g = m->graph = calloc(1, sizeof *g);
	size_t n = (size_t)m->p.n;
	int failed = !g;
	if (failed)
		return HEDDLE_E_MEMORY;
	g->types = calloc(N_WORKS, sizeof *g->types);
	g->classes = calloc(N_KINDS, sizeof(char *));
	g->data = calloc(n, sizeof *g->data);
	g->tasks = calloc(n, sizeof *g->tasks);
	g->times = calloc(n, N_KINDS * sizeof *g->times);
	g->name = strdup("random");
	m->parent_of = calloc(n, sizeof *m->parent_of);
	if (!g->types || !g->classes || !g->data || !g->tasks || !g->times || !g->name || !m->parent_of)
		return HEDDLE_E_MEMORY;
	for (; g->n_types < N_WORKS && !failed; g->n_types++)
		failed = !(g->types[g->n_types].name = strdup(works[g->n_types]));
	for (; g->n_classes < N_KINDS && !failed; g->n_classes++)
		failed = !(g->classes[g->n_classes] = strdup(kinds[g->n_classes]));
	g->n_data = g->n_tasks = n;
	return failed ? HEDDLE_E_MEMORY : 0;
}

static int check_parameters(const struct heddle_daggen_layers *p)
{
	size_t n;
	const struct heddle_daggen_parameter *rows = heddle_daggen_random_parameters(&n);
	for (size_t i = 0; i < n; i++) {
		double value = *(const double *)(const void *)((const char *)p + rows[i].offset);
		if (!(value >= rows[i].min && value <= rows[i].max) || (rows[i].whole && value != floor(value)))
			return heddle_error(HEDDLE_E_INVALID, "%s is %g: it is a %s from %g to %g", rows[i].name, value,
			                    rows[i].whole ? "whole number" : "number", rows[i].min, rows[i].max);
	}
	if (p->min_data > p->max_data || p->min_factor > p->max_factor || p->min_speedup > p->max_speedup)
		return heddle_error(HEDDLE_E_INVALID, "min_%s is more than its maximum",
		                    p->min_data > p->max_data       ? "data"
		                    : p->min_factor > p->max_factor ? "factor"
		                                                    : "speedup");
	return 0;
}

int heddle_daggen_random(const struct heddle_daggen_layers *parameters, struct heddle_graph **out)
{
	if (!parameters || !out)
		return heddle_error(HEDDLE_E_INVALID, "a random graph needs its parameters and a place");
	int status = check_parameters(parameters);
	if (status)
		return status;
	struct making m = {.p = *parameters, .random = (uint64_t)parameters->seed};
	status = open_graph(&m);
	if (!status)
		status = make_levels(&m);
	if (!status)
		status = add_all_predecessors(&m);
	for (uint32_t task = 0; !status && task < m.graph->n_tasks; task++)
		make_work(&m, task);
	if (!status)
		status = scale_data(&m);
	free(m.level);
	free(m.parent_of);
	if (status == HEDDLE_E_MEMORY)
		heddle_error(status, "not enough memory for a random graph of %g tasks", parameters->n);
	if (status)
		heddle_graph_free(m.graph);
	else
		*out = m.graph;
	return status;
}
