/* Submits a graph to a runtime in virtual time. Codelets have the model HEDDLE_MODEL_GIVEN: each task has its times as
 * a value, and tasks with equal times, work and sizes have one model entry.
 *
 * A graph is often simulated many times. So most tasks are written directly in the form of the runtime, without the
 * items by which a program describes a task, and without checks, because the graph has been checked. */
#include "graph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "flow/submit.h"
#include "state/call_context.h"
#include "state/data.h"
#include "state/engine.h"
#include "state/runtime.h"
#include "state/task_make.h"

/* The first value of a task is an array: its work in flops, then its time on each class in us. The second value is the
 * hash of this array. */
enum { FLOPS, TIMES };

/* The values of a task. Most tasks have the same values as the last task of their type, and share them. */
struct values {
	double bytes;     /* sum of the sizes of the task's data */
	int some;         /* 1: a class that has workers can run the task */
	uint64_t words[]; /* in the form of the task: the two offsets, the array, the hash */
};

struct submission {
	const struct heddle_graph *graph;
	heddle_runtime *rt;
	const struct hd_graph_end *end; /* the next datum to be unregistered between tasks */
	size_t n_ends;                  /* number of data still to be unregistered */
	/* owned arrays; their elements are borrowed */
	heddle_codelet **codelets;
	heddle_data **data;
	heddle_task **held; /* per task: its handle, while later tasks wait for it by explicit edges; otherwise NULL */
	uint32_t *last;     /* per task: the last task that waits for it by an explicit edge; 0: none */
	const struct heddle_kernel_time **kernels; /* per type and class, as hd_graph_kernels returns them */
	struct heddle_item *items;                 /* the items of the task that is being submitted */
	struct hd_arena arena;                     /* owns all values */
	struct values **values;                    /* per task */
	struct values **latest;                    /* per type: the values of its last prepared task; NULL: none */
	size_t n_reals, n_data;
	int direct; /* 1: tasks without names and explicit edges are made without items */
};

/* --- Codelets ----------------------------------------------------------------------------------------------------- */

static int never_run(heddle_context *c)
{
	return heddle_fail(c, 1, "a task of a graph has no kernel");
}

static double given_time(const struct heddle_size *size, unsigned class_id)
{
	return ((const double *)size->values[0])[TIMES + class_id];
}

static double given_flops(const struct heddle_size *size)
{
	return ((const double *)size->values[0])[FLOPS];
}

/* The second value is the hash of the first, because the number of times is not known here. */
static uint64_t given_footprint(const struct heddle_size *size)
{
	return *(const uint64_t *)size->values[1];
}

static double no_time(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 0;
}

static int make_codelets(struct submission *s)
{
	const struct heddle_graph *g = s->graph;
	for (size_t i = 0; i < g->n_types; i++) {
		struct heddle_codelet_desc desc = {.name = g->types[i].name,
		                                   .cpu = never_run,
		                                   .model = HEDDLE_MODEL_GIVEN,
		                                   .time = given_time,
		                                   .flops = given_flops,
		                                   .footprint = given_footprint,
		                                   .color = g->types[i].color};
		int status = heddle_codelet_create(s->rt, &desc, &s->codelets[i]);
		if (status)
			return status;
	}
	return 0;
}

/* --- Data --------------------------------------------------------------------------------------------------------- */

/* Makes a datum reducible. `steps`: the codelets init and combine, which the first call creates. */
static int make_reducible(struct submission *s, heddle_data *d, heddle_codelet *steps[2])
{
	static const char *const names[2] = {"reduction_begin", "reduction_add"};
	for (int i = 0; i < 2 && !steps[i]; i++) {
		struct heddle_codelet_desc desc = {
		    .name = names[i], .cpu = never_run, .model = HEDDLE_MODEL_GIVEN, .time = no_time};
		int status = heddle_codelet_create(s->rt, &desc, &steps[i]);
		if (status)
			return status;
	}
	return heddle_data_set_reduction(d, steps[0], steps[1]);
}

static int make_data(struct submission *s)
{
	const struct heddle_graph *g = s->graph;
	heddle_codelet *steps[2] = {NULL, NULL};
	int status = 0;
	for (; s->n_data < g->n_data && !status; s->n_data++) {
		status = heddle_vector(s->rt, NULL, g->data[s->n_data].bytes, 1, &s->data[s->n_data]);
		if (status)
			return status;
		const char *name = heddle_name_of(&g->data_names, s->n_data);
		if (name)
			status = heddle_data_set_name(s->data[s->n_data], name);
	}
	uint8_t *reduced = calloc(g->n_data + 1, 1);
	if (!reduced)
		return hd_no_memory("a task graph");
	for (size_t i = 0; i < g->n_accesses && !status; i++) {
		uint32_t d = g->accesses[i].data;
		if (g->accesses[i].mode != HEDDLE_REDUX || reduced[d])
			continue;
		reduced[d] = 1;
		status = make_reducible(s, s->data[d], steps);
	}
	free(reduced);
	return status;
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

static size_t values_bytes(const struct submission *s)
{
	return (2 + s->n_reals) * sizeof(uint64_t);
}

static double *reals_of(struct values *v)
{
	return (double *)(void *)(v->words + 1);
}

static uint64_t *hash_of(const struct submission *s, struct values *v)
{
	return v->words + 1 + s->n_reals;
}

static int too_long(const struct submission *s, size_t task, unsigned class_id)
{
	const struct heddle_graph *g = s->graph;
	return hd_error(
	    HEDDLE_E_INVALID,
	    "task %zu (%s) of graph %s would take %g us on class %s of platform %s, with %g flops: times must be "
	    "below %g us",
	    task, g->types[g->tasks[task].type].name, g->name, reals_of(s->values[task])[TIMES + class_id],
	    s->rt->platform->classes[class_id].name, s->rt->platform->name, g->tasks[task].flops, HD_MOST_US);
}

static struct values *make_values(struct submission *s, size_t task, double bytes)
{
	const struct heddle_graph_task *t = &s->graph->tasks[task];
	const struct heddle_platform *p = s->rt->platform;
	const struct heddle_kernel_time **kernels = s->kernels + t->type * p->n_classes;
	struct values *v = hd_arena_take(&s->arena, sizeof *v + values_bytes(s), _Alignof(struct values));
	if (!v)
		return NULL;
	*v = (struct values){.bytes = bytes};
	uint32_t offsets[2] = {sizeof(uint64_t), (uint32_t)((1 + s->n_reals) * sizeof(uint64_t))};
	memcpy(v->words, offsets, sizeof offsets);
	double *reals = reals_of(v);
	reals[FLOPS] = t->flops;
	for (unsigned c = 0; c < p->n_classes; c++)
		reals[TIMES + c] = hd_graph_time(s->graph, task, p, c, kernels[c]);
	for (size_t w = 0; w < p->n_workers && !v->some; w++)
		v->some = !isnan(reals[TIMES + p->workers[w].class_id]);
	*hash_of(s, v) = hd_hash_reals(reals, s->n_reals);
	return v;
}

/* Finds or makes the values of a task, and adds the modes of its accesses to the set *modes. NULL: out of memory. */
static struct values *find_values(struct submission *s, size_t task, unsigned *modes)
{
	const struct heddle_graph *g = s->graph;
	const struct heddle_graph_task *t = &g->tasks[task];
	const struct heddle_graph_access *a = hd_graph_accesses(g, task);
	struct values **latest = &s->latest[t->type];
	double bytes = 0;
	for (size_t k = 0; k < t->n_accesses; k++) {
		bytes += (double)g->data[a[k].data].bytes;
		*modes |= a[k].mode;
	}
	int shared = *latest && !g->times && (*latest)->bytes == bytes && reals_of(*latest)[FLOPS] == t->flops;
	return shared ? *latest : (*latest = make_values(s, task, bytes));
}

/* Finds the values of all tasks, and whether the tasks must be submitted with items: because of a mode other than R, W,
 * RW and SCRATCH, or because of data for which some memory has no room. */
static int prepare_tasks(struct submission *s)
{
	const struct heddle_graph *g = s->graph;
	const heddle_runtime *rt = s->rt;
	unsigned modes = 0;
	for (size_t i = 0; i < g->n_tasks; i++) {
		const struct values *before = s->latest[g->tasks[i].type];
		struct values *v = s->values[i] = find_values(s, i, &modes);
		if (!v)
			return hd_no_memory("a task graph");
		if (v == before)
			continue;
		s->direct &= !rt->limited || v->bytes <= (double)rt->least_capacity;
		for (unsigned c = 0; c < rt->n_classes; c++)
			if (reals_of(v)[TIMES + c] >= HD_MOST_US)
				return too_long(s, i, c);
		if (!v->some)
			return hd_graph_no_time(HEDDLE_E_NO_WORKER, g, i, rt->platform);
	}
	s->direct &= modes <= (HEDDLE_RW | HEDDLE_SCRATCH);
	return 0;
}

/* Unregisters the data that the program unregisters before task i. */
static int end_data(struct submission *s, size_t i)
{
	int status = 0;
	for (; !status && s->n_ends && s->end->task == i; s->end++, s->n_ends--) {
		status = heddle_unregister_async(s->data[s->end->data]);
		s->data[s->end->data] = NULL;
	}
	return status;
}

/* Submits a task that has neither a name nor explicit edges. */
static int submit_directly(struct submission *s, size_t i)
{
	const struct heddle_graph_task *t = &s->graph->tasks[i];
	const struct heddle_graph_access *a = hd_graph_accesses(s->graph, i);
	struct values *v = s->values[i];
	heddle_task *made = hd_submission_begin(s->rt, s->codelets[t->type], t->n_accesses, values_bytes(s));
	if (!made)
		return HEDDLE_E_MEMORY;
	unsigned modes = 0;
	for (size_t k = 0; k < t->n_accesses; k++) {
		hd_task_set_access(made, k, s->data[a[k].data], a[k].mode);
		modes |= a[k].mode;
	}
	made->n_values = 2;
	memcpy(hd_task_values(made), v->words, values_bytes(s));
	made->footprint = hd_hash(made->footprint, *hash_of(s, v));
	made->priority = t->priority;
	made->special |= s->rt->limited ? HD_TASK_FITS : 0;
	if (modes & HEDDLE_SCRATCH) {
		made->special |= HD_TASK_PRIVATE;
		made->special &= (uint16_t)~HD_TASK_ONE_NODE;
	}
	return hd_submission_end(s->rt, made);
}

/* Submits task i. *edge: the index of the first explicit edge that is not submitted yet; on return, the index behind
 * the edges of task i. */
static int submit_task(struct submission *s, size_t i, size_t *edge)
{
	const struct heddle_graph *g = s->graph;
	const struct heddle_graph_task *t = &g->tasks[i];
	size_t first = *edge, n = 0;
	struct heddle_item *items = s->items;
	const char *name = heddle_name_of(&g->task_names, i);
	if (s->direct && !name && !s->last[i] && (first == g->n_edges || g->edges[first].to != i))
		return submit_directly(s, i);
	items[n++] = heddle_call(s->codelets[t->type]);
	for (size_t k = 0; k < t->n_accesses; k++)
		items[n++] = heddle_access((enum heddle_mode)g->accesses[t->first_access + k].mode,
		                           s->data[g->accesses[t->first_access + k].data]);
	items[n++] = heddle_bytes(reals_of(s->values[i]), s->n_reals * sizeof(double));
	items[n++] = heddle_bytes(hash_of(s, s->values[i]), sizeof(uint64_t));
	if (name)
		items[n++] = heddle_named(name);
	if (t->priority)
		items[n++] = heddle_priority(t->priority);
	if (s->last[i])
		items[n++] = heddle_out(&s->held[i]);
	for (; *edge < g->n_edges && g->edges[*edge].to == i; ++*edge)
		items[n++] = heddle_after(s->held[g->edges[*edge].from]);
	int status = heddle_submit_items(s->rt, n, items);
	for (size_t e = first; e < *edge; e++) {
		uint32_t from = g->edges[e].from;
		if (s->last[from] != i)
			continue;
		heddle_task_release(s->held[from]);
		s->held[from] = NULL;
	}
	return status;
}

static int submit_tasks(struct submission *s)
{
	const struct heddle_graph *g = s->graph;
	size_t edge = 0;
	int status = 0;
	for (size_t i = 0; i < g->n_tasks && !status; i++) {
		status = end_data(s, i);
		if (!status)
			status = submit_task(s, i, &edge);
	}
	if (!status)
		status = end_data(s, g->n_tasks);
	int waited;
	do /* goes on after an interruption, because the tasks that were submitted cannot be submitted again */
		waited = heddle_wait_all(s->rt);
	while (waited == HEDDLE_E_INTERRUPTED);
	for (size_t i = 0; i < g->n_tasks; i++) /* releases the handles that are left after an error */
		if (s->held[i])
			heddle_task_release(s->held[i]);
	return status ? status : waited;
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

static size_t most_items(const struct heddle_graph *g)
{
	size_t most = 0, e = 0;
	for (size_t i = 0; i < g->n_tasks; i++) {
		size_t n = g->tasks[i].n_accesses;
		for (; e < g->n_edges && g->edges[e].to == i; e++)
			n++;
		most = n > most ? n : most;
	}
	return most + 6;
}

static int open_submission(struct submission *s)
{
	const struct heddle_graph *g = s->graph;
	const heddle_runtime *rt = s->rt;
	s->n_reals = TIMES + rt->n_classes;
	s->direct = !rt->misuse && !rt->tells_tsan && !hd_inside();
	s->codelets = calloc(g->n_types + 1, sizeof(heddle_codelet *));
	s->data = calloc(g->n_data + 1, sizeof(heddle_data *));
	s->held = calloc(g->n_tasks + 1, sizeof(heddle_task *));
	s->last = calloc(g->n_tasks + 1, sizeof *s->last);
	s->items = malloc(most_items(g) * sizeof *s->items);
	s->values = malloc((g->n_tasks + 1) * sizeof *s->values);
	s->latest = calloc(g->n_types + 1, sizeof *s->latest);
	s->kernels = hd_graph_kernels(g, rt->platform);
	if (!s->kernels || !s->codelets || !s->data || !s->held || !s->last || !s->items || !s->values || !s->latest)
		return hd_no_memory("a task graph");
	for (size_t e = 0; e < g->n_edges; e++)
		s->last[g->edges[e].from] = g->edges[e].to;
	return 0;
}

static void close_submission(struct submission *s)
{
	for (size_t i = 0; i < s->n_data; i++)
		if (s->data[i])
			heddle_unregister_async(s->data[i]);
	free(s->codelets);
	free(s->data);
	free(s->held);
	free(s->last);
	free(s->items);
	free(s->values);
	free(s->latest);
	hd_arena_close(&s->arena);
	free(s->kernels);
}

static int submit(struct submission *s)
{
	if (!s->rt)
		return hd_error(HEDDLE_E_INVALID, "heddle_graph_submit needs a graph and a runtime");
	if (s->rt->engine->runs_kernels)
		return hd_error(
		    HEDDLE_E_STATE,
		    "the tasks of a graph have no kernels: it can only be submitted to a runtime in virtual "
		    "time (heddle_start_on)");
	int status = open_submission(s);
	if (!status)
		status = prepare_tasks(s);
	if (!status)
		status = make_codelets(s);
	if (!status)
		status = make_data(s);
	if (!status)
		status = submit_tasks(s);
	close_submission(s);
	return status;
}

int heddle_graph_submit(const struct heddle_graph *graph, heddle_runtime *rt)
{
	int status = rt ? heddle_graph_check(graph) : 0;
	return status ? status : submit(&(struct submission){.graph = graph, .rt = rt});
}

int hd_program_submit(const struct hd_program *program, heddle_runtime *rt)
{
	return submit(
	    &(struct submission){.graph = program->graph, .rt = rt, .end = program->ends, .n_ends = program->n_ends});
}
