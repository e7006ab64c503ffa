/* Task graphs as values: recorded from a run, read from a file, or generated; then simulated, bounded, or written.
 *
 * A graph says what was submitted, apart from any machine: tasks in submission order, of named types, the data that
 * each reads and writes, explicit dependencies beside those, and execution times where they are known. `heddle run
 * --record` writes one, `heddle sim FILE` schedules one. docs/graphs.md describes the files.
 */
#ifndef HEDDLE_GRAPH_H
#define HEDDLE_GRAPH_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/data.h>
#include <heddle/platform.h>
#include <heddle/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tasks that run the same code: a codelet. */
struct heddle_graph_type {
	char *name;
	uint32_t color; /* 0xRRGGBB; 0: chosen from the name */
};

struct heddle_graph_datum {
	uint64_t bytes;
};

struct heddle_graph_access {
	uint32_t data; /* index in data */
	uint32_t mode; /* enum heddle_mode */
};

struct heddle_graph_task {
	uint32_t type; /* index in types */
	int32_t priority;
	double flops; /* 0: unknown. With the bytes of its data what a platform's kernel times are computed from */
	size_t first_access, n_accesses; /* in accesses */
};

/* A dependency that no access implies: `to` waits for `from`, both indices in tasks, from < to. */
struct heddle_graph_edge {
	uint32_t from, to;
};

struct heddle_graph {
	char *name;
	struct heddle_graph_type *types;
	size_t n_types;
	struct heddle_graph_datum *data;
	size_t n_data;
	struct heddle_graph_task *tasks; /* in submission order */
	size_t n_tasks;
	struct heddle_graph_access *accesses;
	size_t n_accesses;
	struct heddle_graph_edge *edges; /* by `to`, then `from` */
	size_t n_edges;
	char **classes; /* what `times` has columns for: names or kinds of classes ("k40m", "cpu", "cuda") */
	size_t n_classes;
	double *times; /* [task * n_classes + class], us; NAN: cannot run there, or unknown. NULL: none is known */
	/* given by a program (heddle_named, heddle_data_set_name): `id` is an index in tasks, in data */
	struct heddle_names task_names, data_names;
};

/* Frees a graph and everything in it; NULL is fine. */
void heddle_graph_free(struct heddle_graph *graph);

/* HEDDLE_E_INVALID, and what is wrong: an index out of range, an edge that is not forward, a time that is negative,
 * ... */
int heddle_graph_check(const struct heddle_graph *graph);

/* Reads a graph; the format is the path's extension: .json (docs/graphs.md), .dot or .gv (Graphviz), .stg (Standard
 * Task Graph Set). The caller owns *out. HEDDLE_E_IO, HEDDLE_E_FORMAT (file, line where known, what is wrong),
 * HEDDLE_E_INVALID: the extension is none of these. */
int heddle_graph_load(const char *path, struct heddle_graph **out);

/* Writes .json, which heddle_graph_load reads back to the same value, or .dot, to look at and for other programs;
 * atomically. */
int heddle_graph_save(const struct heddle_graph *graph, const char *path);

/* The graph that a traced runtime saw: all tasks submitted since the start. heddle_trace_take ends a recording, which
 * is still there afterwards, until a task of the next one is submitted: so it does not matter which of the two is
 * called first. Tasks that failed are in the graph, the steps of reductions are not. What else held tasks back
 * (partitions, heddle_acquire, tasks without codelet) becomes explicit edges. Times are the means that the models have
 * measured per class, or what codelets of HEDDLE_MODEL_GIVEN said; in virtual time the latter only. Wait for all first.
 * The caller owns *out. HEDDLE_E_STATE when the runtime does not trace. */
int heddle_graph_record(heddle_runtime *rt, struct heddle_graph **out);

/* The execution time of a task on a class of a platform, us; NAN: it cannot run there. What the platform's kernel times
 * say about its type goes first; then the graph's own times, for the class's name, then for its kind. */
double heddle_graph_time(const struct heddle_graph *graph, size_t task, const struct heddle_platform *platform,
                         unsigned class_id);

/* All dependencies, those that the accesses imply included: *out is an array of *n edges, by `to`, then `from`, each
 * once, that the caller frees. */
int heddle_graph_edges(const struct heddle_graph *graph, struct heddle_graph_edge **out, size_t *n);

/* Submits all tasks to a runtime in virtual time, in order, and waits for them. Data begin in main memory. The types
 * become codelets of their names. Of reductions (HEDDLE_REDUX) the transfers cost time, the additions none.
 * HEDDLE_E_NO_WORKER names the first type that no worker of the runtime's platform has a time for; HEDDLE_E_STATE: the
 * runtime's time is real. In both cases nothing was submitted. Blocks. */
int heddle_graph_submit(const struct heddle_graph *graph, heddle_runtime *rt);

/* Lower bounds of the makespan of any schedule of the graph on a platform, transfers taken as free; heddle/trace.h says
 * which, and what `rounds` is. HEDDLE_E_INVALID names the first task that no class with workers has a time for. */
int heddle_graph_bounds(const struct heddle_graph *graph, const struct heddle_platform *platform, unsigned rounds,
                        struct heddle_bounds *out);

#ifdef __cplusplus
}
#endif
#endif
