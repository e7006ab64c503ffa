/* heddle_graph_record: makes a graph of the tasks that were submitted to a traced runtime.
 *
 * Tasks keep their accesses. If data have children, these accesses are to pieces (pieces.h); otherwise each handle is a
 * datum of the graph. Controls (the program's acquires, tasks without codelet, changes of layouts) are no tasks of the
 * graph; if a control made one task wait for another, and the accesses do not imply this dependency, the graph gets an
 * explicit edge. To find these edges, the submissions are replayed. A replay takes as long as all other steps together,
 * so it is done only if there can be such edges: on pieces, if a control comes before a task or a task names other
 * tasks; and on the handles that the program has named, if data have children, because only handles show where a datum
 * changes from one layout to another. */
#include "graph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "state/runtime.h"
#include "pieces.h"
#include "trace/recorder.h"
#include "state/core_lock.h"
#include "flow/errands.h"
#include "state/process.h"
#include "base/grow.h"

/* Per codelet: the last task of which runs_otherwise() has found that it takes the same time in a simulation of the
 * graph. A task with the same model entry and the same bytes needs no check. Bytes are compared, too, because a task
 * that names a datum twice has only one access to it in the graph. */
struct same_time {
	const struct hd_perf_entry *entry; /* the model entry of this task; NULL: there is no such task yet */
	double bytes;
};

struct recording {
	const heddle_runtime *rt;
	struct hd_build build;
	struct hd_replay *replay;  /* owns; replays accesses to pieces; NULL: the accesses imply all edges */
	struct hd_replay *layouts; /* owns; replays accesses to handles; NULL: handles have no children */
	int has_pieces;            /* 1: handles have children; 0: each handle is one piece with the handle's number */
	struct hd_pieces pieces;   /* set if has_pieces */
	size_t n_pieces;
	struct hd_handle_use *use; /* owns; per handle; set if has_pieces */
	uint32_t *types;           /* owns; per codelet: 1 + the number of its type; 0: it is not in the graph yet */
	uint32_t *data;            /* owns; per piece: 1 + the number of its datum; 0: it is not in the graph yet */
	uint64_t *ids;             /* owns; per task of the graph: its id at submission, in ascending order */
	size_t max_ids;
	/* the present task's accesses to pieces */
	struct heddle_graph_access *accesses; /* owns */
	size_t n_accesses, max_accesses;
	size_t *place;             /* owns; per piece: 1 + its index in `accesses`, 0: the task does not use it */
	int differs;               /* 1: a simulation of the graph may differ from the program's schedule */
	struct hd_graph_end *ends; /* owns */
	size_t n_ends, max_ends;
	struct same_time *same; /* owns; per codelet */
};

static uint32_t datum_of(struct recording *r, uint32_t number)
{
	if (HD_LIKELY(r->data[number]))
		return r->data[number] - 1;
	const struct hd_recorder *recorder = r->rt->recorder;
	struct hd_piece piece = r->has_pieces ? r->pieces.pieces[number]
	                                      : (struct hd_piece){hd_recorder_data_bytes(recorder, number), number};
	uint32_t datum = hd_build_datum(&r->build, piece.bytes);
	const char *name = piece.handle == HD_NO_HANDLE ? NULL : hd_recorder_data_name(recorder, piece.handle);
	if (name)
		hd_build_data_name(&r->build, datum, name, strlen(name));
	r->data[number] = 1 + datum;
	return datum;
}

static uint32_t type_of(struct recording *r, const heddle_codelet *c)
{
	if (HD_LIKELY(r->types[c->id]))
		return r->types[c->id] - 1;
	uint32_t type = hd_build_type(&r->build, c->desc.name, strlen(c->desc.name));
	if (!r->build.failed && c->desc.color)
		r->build.colors[type] = c->desc.color & 0xffffff;
	r->types[c->id] = 1 + type;
	return type;
}

static int note_id(struct recording *r, uint64_t id)
{
	size_t n = r->build.n_tasks;
	if (HD_GROW(r->ids, n, r->max_ids, 256))
		return -1;
	r->ids[n] = id;
	return 0;
}

/* Adds the times that were measured, or that the program has given. Times that come from the platform are left out,
 * because each simulation of the graph has a platform of its own. */
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

/* Whether a task may run on other workers, or take another time, if the graph is simulated. Most tasks have the same
 * model entry and bytes as the codelet's last checked task, and need no check. */
static int runs_otherwise(struct recording *r, uint32_t task, const struct hd_recorded *recorded)
{
	const struct heddle_platform *p = r->rt->platform;
	const heddle_codelet *c = recorded->codelet;
	if (!recorded->perf || c->desc.can_run || c->desc.event_time || c->true_time)
		return 1;
	double bytes = 0;
	for (size_t i = r->build.n_accesses; i-- > 0 && r->build.accesses[i].task == task;)
		bytes += (double)r->build.data[r->build.accesses[i].data];
	if (r->same[c->id].entry == recorded->perf && r->same[c->id].bytes == bytes)
		return 0;
	r->same[c->id] = (struct same_time){recorded->perf, bytes};
	for (unsigned k = 0; k < p->n_classes; k++) {
		double given = hd_perf_time(recorded->perf, k), us = c->class_ok[k] ? given : NAN;
		double later = heddle_platform_time(p, c->desc.name, k, bytes, recorded->perf->flops);
		if (isnan(later) && c->desc.model == HEDDLE_MODEL_GIVEN)
			later = given;
		if (!(us == later || (isnan(us) && isnan(later))))
			return 1;
	}
	return 0;
}

static int note_use(const struct hd_recorded *recorded, void *arg)
{
	struct recording *r = arg;
	/* 0: a control; add_task() makes no task of the graph for it */
	int is_task = !recorded->step && !recorded->layout;
	for (size_t i = 0; i < recorded->task.n_accesses; i++) {
		struct hd_handle_use *use = &r->use[recorded->task.accesses[i].data];
		use->is_named = 1;
		use->n_accesses += (uint32_t)is_task;
	}
	return 0;
}

/* The mode of a task's access to a piece that the task names through two handles, with the modes a and b. */
static uint32_t both(uint32_t a, uint32_t b)
{
	if (a == b || b == HEDDLE_SCRATCH)
		return a;
	return a == HEDDLE_SCRATCH ? b : HEDDLE_RW;
}

static int add_access(struct recording *r, uint32_t piece, uint32_t mode)
{
	if (r->place[piece]) {
		uint32_t *before = &r->accesses[r->place[piece] - 1].mode;
		*before = both(*before, mode);
		return 0;
	}
	if (HD_GROW(r->accesses, r->n_accesses, r->max_accesses, 64))
		return hd_no_memory("a task graph");
	r->accesses[r->n_accesses] = (struct heddle_graph_access){piece, mode};
	r->place[piece] = ++r->n_accesses;
	return 0;
}

/* Turns a task's accesses to handles into accesses to pieces. */
static int find_accesses(struct recording *r, const struct hd_replay_task *t)
{
	int status = 0;
	for (size_t i = 0; i < r->n_accesses; i++)
		r->place[r->accesses[i].data] = 0;
	r->n_accesses = 0;
	for (size_t i = 0; i < t->n_accesses; i++) {
		uint32_t handle = t->accesses[i].data;
		for (size_t k = r->pieces.first[handle]; k < r->pieces.end[handle] && !status; k++)
			status = add_access(r, r->pieces.list[k], t->accesses[i].mode);
	}
	return status;
}

/* Records that the program has unregistered a datum, which no later task can use. */
static int add_end(struct recording *r, const struct hd_recorded *recorded)
{
	uint32_t number = recorded->task.accesses[0].data;
	if (r->has_pieces || !r->data[number]) {
		r->differs = 1;
		return 0;
	}
	if (HD_GROW(r->ends, r->n_ends, r->max_ends, 64))
		return hd_no_memory("a task graph");
	r->ends[r->n_ends++] = (struct hd_graph_end){(uint32_t)r->build.n_tasks, r->data[number] - 1};
	return 0;
}

static int add_task(const struct hd_recorded *recorded, void *arg)
{
	struct recording *r = arg;
	struct hd_replay_task t = recorded->task;
	int status = r->layouts && !recorded->step ? hd_replay_task(r->layouts, &recorded->task) : 0;
	if (!status && recorded->ends)
		return add_end(r, recorded);
	r->differs |= recorded->step || recorded->layout || recorded->task.control;
	if (status || recorded->step || recorded->layout)
		return status;
	if (r->has_pieces) {
		status = find_accesses(r, &t);
		t.accesses = r->accesses;
		t.n_accesses = r->n_accesses;
	}
	if (!status && r->replay)
		status = hd_replay_task(r->replay, &t);
	if (status || t.control)
		return status;
	if (note_id(r, t.id))
		return hd_no_memory("a task graph");
	uint32_t task = hd_build_task(&r->build, type_of(r, recorded->codelet));
	if (recorded->name)
		hd_build_task_name(&r->build, task, recorded->name, strlen(recorded->name));
	for (size_t i = 0; i < t.n_accesses; i++)
		hd_build_access(&r->build, task, datum_of(r, t.accesses[i].data), t.accesses[i].mode);
	if (r->build.failed)
		return hd_no_memory("a task graph");
	r->build.tasks[task].priority = recorded->priority;
	if (recorded->perf) {
		r->build.tasks[task].flops = recorded->perf->flops;
		note_times(r, task, recorded);
	}
	r->differs |= runs_otherwise(r, task, recorded);
	return 0;
}

static size_t task_of(const struct recording *r, uint64_t id)
{
	size_t i = hd_search(r->ids, r->build.n_tasks, sizeof *r->ids, id);
	return i < r->build.n_tasks && r->ids[i] == id ? i : SIZE_MAX;
}

/* Adds an edge to the present task, which will get the next number when it is added to the graph. Edges from tasks of
 * an earlier recording are left out. */
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

/* The graph's edges so far are all dependencies: removes the edges that the accesses imply. */
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

static int find_pieces(struct recording *r)
{
	size_t n_handles = r->rt->handles.n_made;
	r->use = calloc(n_handles + 1, sizeof *r->use);
	int status = r->use ? hd_recorder_each(r->rt->recorder, note_use, r) : hd_no_memory("a task graph");
	if (!status)
		status = hd_pieces_make(&r->pieces, r->rt->recorder, r->use, n_handles);
	if (status)
		return status;
	r->n_pieces = r->pieces.n;
	r->place = calloc(r->n_pieces + 1, sizeof *r->place);
	return r->place ? 0 : hd_no_memory("a task graph");
}

/* Finds the pieces, and opens the replays that are needed. */
static int prepare(struct recording *r)
{
	const struct hd_recorder *recorder = r->rt->recorder;
	r->has_pieces = hd_recorder_n_children(recorder) > 0;
	r->n_pieces = r->rt->handles.n_made;
	int status = r->has_pieces ? find_pieces(r) : 0;
	if (status)
		return status;
	r->types = calloc(r->rt->n_codelets + 1, sizeof *r->types);
	r->data = calloc(r->n_pieces + 1, sizeof *r->data);
	if (!r->types || !r->data)
		return hd_no_memory("a task graph");
	if (hd_recorder_has_edges(recorder) && !(r->replay = hd_replay_open(r->n_pieces, add_edge, r)))
		return HEDDLE_E_MEMORY;
	if (r->has_pieces && !(r->layouts = hd_recorder_replay(recorder, add_edge, r)))
		return HEDDLE_E_MEMORY;
	return 0;
}

static int record(struct recording *r, struct heddle_graph **out)
{
	struct heddle_graph *g = NULL;
	int status = prepare(r);
	hd_build_name(&r->build, "recorded");
	if (!status)
		status = hd_recorder_each(r->rt->recorder, add_task, r);
	int has_edges = r->replay || r->layouts;
	r->differs |= has_edges;
	hd_replay_close(r->replay);
	hd_replay_close(r->layouts);
	hd_pieces_free(&r->pieces);
	free(r->use);
	free(r->types);
	free(r->data);
	free(r->place);
	free(r->accesses);
	free(r->ids);
	if (status)
		hd_build_free(&r->build);
	else
		status = hd_build_end(&r->build, &g);
	if (!status && has_edges)
		status = drop_implied(g);
	if (status)
		heddle_graph_free(g);
	else
		*out = g;
	return status;
}

int hd_program_record(heddle_runtime *rt, struct hd_program *out)
{
	if (!rt || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_graph_record needs a runtime and a place for the graph");
	if (!rt->recorder)
		return hd_error(HEDDLE_E_STATE,
		                "this runtime does not trace; set HEDDLE_TRACE=1 or config.trace before it starts");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	struct recording recording = {.rt = rt};
	struct hd_program program = {.graph = NULL};
	hd_core_enter(rt);
	recording.differs = hd_recorder_is_irregular(rt->recorder);
	recording.same = calloc(rt->n_codelets + 1, sizeof *recording.same);
	int status = recording.same ? record(&recording, &program.graph) : hd_no_memory("a task graph");
	free(recording.same);
	hd_core_leave(rt);
	program.ends = recording.ends;
	program.n_ends = recording.n_ends;
	program.repeats = !recording.differs;
	if (status)
		hd_program_free(&program);
	else
		*out = program;
	return status;
}

void hd_program_free(struct hd_program *program)
{
	heddle_graph_free(program->graph);
	free(program->ends);
	*program = (struct hd_program){.graph = NULL};
}

int heddle_graph_record(heddle_runtime *rt, struct heddle_graph **out)
{
	struct hd_program program;
	int status = hd_program_record(rt, out ? &program : NULL);
	if (status)
		return status;
	*out = program.graph;
	free(program.ends);
	return 0;
}
