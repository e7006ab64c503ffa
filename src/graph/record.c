/* heddle_graph_record: makes a graph of what was submitted to a traced runtime.
 *
 * Tasks keep their accesses. Controls (partitions, the program's acquires, tasks without codelet) are not tasks of the
 * graph; where they made a task wait for another and the accesses do not imply it, the graph gets an explicit edge.
 */
#include "graph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/runtime.h"
#include "trace/recorder.h"

struct recording {
	const heddle_runtime *rt;
	struct hd_build build;
	struct hd_replay *replay;
	uint32_t *data; /* owns; per registration number: 1 + the number in the graph, 0: not in the graph yet */
	uint64_t *ids;  /* owns; per task of the graph: its id at submission, ascending */
	size_t max_ids;
};

static uint32_t datum_of(struct recording *r, uint32_t id)
{
	if (!r->data[id]) {
		uint32_t datum = hd_build_datum(&r->build, hd_recorder_data_bytes(r->rt->recorder, id));
		const char *name = hd_recorder_data_name(r->rt->recorder, id);
		if (name)
			hd_build_data_name(&r->build, datum, name, strlen(name));
		r->data[id] = 1 + datum;
	}
	return r->data[id] - 1;
}

static uint32_t type_of(struct recording *r, const heddle_codelet *c)
{
	uint32_t type = hd_build_type(&r->build, c->desc.name, strlen(c->desc.name));
	if (!r->build.failed && c->desc.color)
		r->build.colors[type] = c->desc.color & 0xffffff;
	return type;
}

static int note_id(struct recording *r, uint64_t id)
{
	size_t n = r->build.n_tasks;
	if (n == r->max_ids) {
		size_t max = n ? 2 * n : 256;
		uint64_t *larger = realloc(r->ids, max * sizeof *larger);
		if (!larger)
			return -1;
		r->ids = larger;
		r->max_ids = max;
	}
	r->ids[n] = id;
	return 0;
}

/* Notes the times that were measured or that the program has given. Times that come from the platform file are left
 * out, because whoever uses the graph has a platform. */
static void note_times(struct recording *r, uint32_t task, const struct hd_recorded *recorded)
{
	const struct heddle_platform *p = r->rt->platform;
	int given = recorded->codelet->desc.model == HEDDLE_MODEL_GIVEN;
	if (r->rt->engine->times_are_given && !given)
		return;
	for (size_t c = 0; c < p->n_classes; c++) {
		const struct hd_perf_cell *cell = &recorded->perf->cells[c];
		double us = given ? cell->estimate : cell->samples ? cell->mean : NAN;
		if (!isnan(us))
			hd_build_time(&r->build, task,
			              hd_build_class(&r->build, p->classes[c].name, strlen(p->classes[c].name)), us);
	}
}

static int add_task(const struct hd_recorded *recorded, void *arg)
{
	struct recording *r = arg;
	const struct hd_replay_task *t = &recorded->task;
	int status = recorded->step ? 0 : hd_replay_task(r->replay, t);
	if (status || t->control || recorded->step)
		return status;
	if (note_id(r, t->id))
		return hd_no_memory("a task graph");
	uint32_t task = hd_build_task(&r->build, type_of(r, recorded->codelet));
	if (recorded->name)
		hd_build_task_name(&r->build, task, recorded->name, strlen(recorded->name));
	for (size_t i = 0; i < t->n_accesses; i++)
		hd_build_access(&r->build, task, datum_of(r, t->accesses[i].data), t->accesses[i].mode);
	if (r->build.failed)
		return hd_no_memory("a task graph");
	r->build.tasks[task].priority = recorded->priority;
	if (recorded->perf) {
		r->build.tasks[task].flops = recorded->perf->flops;
		note_times(r, task, recorded);
	}
	return 0;
}

static size_t task_of(const struct recording *r, uint64_t id)
{
	size_t i = hd_search(r->ids, r->build.n_tasks, sizeof *r->ids, id);
	return i < r->build.n_tasks && r->ids[i] == id ? i : SIZE_MAX;
}

/* Adds an edge to the task at hand. This task is not in the graph yet, so its number is the next one. Edges from tasks
 * of an earlier recording are left out. */
static void add_edge(uint64_t from, uint64_t to, void *arg)
{
	struct recording *r = arg;
	size_t task = task_of(r, from);
	(void)to;
	if (task != SIZE_MAX)
		hd_build_edge(&r->build, (uint32_t)task, (uint32_t)r->build.n_tasks, 0);
}

static int by_to_then_from(const struct heddle_graph_edge *a, const struct heddle_graph_edge *b)
{
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

/* The list of edges has all dependencies; removes those that the accesses imply. */
static int drop_implied(struct heddle_graph *g)
{
	struct heddle_graph_edge *implied;
	size_t n_implied, k = 0, kept = 0, n = g->n_edges;
	g->n_edges = 0;
	int status = heddle_graph_edges(g, &implied, &n_implied);
	if (status)
		return status;
	for (size_t i = 0; i < n; i++) {
		while (k < n_implied && by_to_then_from(&implied[k], &g->edges[i]) < 0)
			k++;
		if (k == n_implied || by_to_then_from(&implied[k], &g->edges[i]) != 0)
			g->edges[kept++] = g->edges[i];
	}
	g->n_edges = kept;
	free(implied);
	return 0;
}

static int record(struct recording *r, struct heddle_graph **out)
{
	struct heddle_graph *g = NULL;
	r->data = calloc((size_t)r->rt->handles.n_made + 1, sizeof *r->data);
	r->replay = hd_recorder_replay(r->rt->recorder, add_edge, r);
	int status = r->data && r->replay ? 0 : hd_no_memory("a task graph");
	hd_build_name(&r->build, "recorded");
	if (!status)
		status = hd_recorder_each(r->rt->recorder, add_task, r);
	hd_replay_close(r->replay);
	free(r->data);
	free(r->ids);
	if (status)
		hd_build_free(&r->build);
	else
		status = hd_build_end(&r->build, &g);
	if (!status)
		status = drop_implied(g);
	if (status)
		heddle_graph_free(g);
	else
		*out = g;
	return status;
}

int heddle_graph_record(heddle_runtime *rt, struct heddle_graph **out)
{
	if (!rt || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_graph_record needs a runtime and a place for the graph");
	if (!rt->recorder)
		return hd_error(HEDDLE_E_STATE,
		                "this runtime does not trace; set HEDDLE_TRACE=1 or config.trace before it starts");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	struct recording recording = {.rt = rt};
	hd_core_enter(rt);
	int status = record(&recording, out);
	hd_core_leave(rt);
	return status;
}
