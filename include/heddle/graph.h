/* Task graphs as values: recorded from a run, read from a file, or generated; then simulated, bounded, or written.
 *
 * A graph describes the submitted tasks, independently of a machine: the tasks in submission order, each of a named
 * type; the data that each task reads and writes; explicit dependencies; and execution times where they are known.
 * `heddle run --record` writes a graph, `heddle sim FILE` schedules one. docs/graphs.md describes the files.
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

/* A type of tasks: all tasks of a type run the same codelet. */
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
	/* 0: unknown. A platform's kernel times are computed from the flops and the bytes of the task's data */
	double flops;
	size_t first_access, n_accesses; /* its place in the graph's `accesses` */
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
	char **classes; /* the columns of `times`: names or kinds of classes ("k40m", "cpu", "cuda") */
	size_t n_classes;
	double *times; /* [task * n_classes + class], us; NAN: cannot run there, or unknown. NULL: none is known */
	/* the names that the program gave with heddle_named and heddle_data_set_name; `id` is an index in `tasks` or in
	 * `data` */
	struct heddle_names task_names, data_names;
};

/* Frees a graph and everything in it; NULL is fine. */
void heddle_graph_free(struct heddle_graph *graph);

/* Checks a graph. HEDDLE_E_INVALID says what is wrong: an index out of range, an edge from a later task to an earlier
 * one, a negative time, ... */
int heddle_graph_check(const struct heddle_graph *graph);

/* Reads a graph; the extension of `path` says the format: .json (docs/graphs.md), .dot or .gv (Graphviz), .stg
 * (Standard Task Graph Set). The caller owns *out. HEDDLE_E_IO, HEDDLE_E_FORMAT (file, line where known, what is
 * wrong), HEDDLE_E_INVALID: the extension is none of these. */
int heddle_graph_load(const char *path, struct heddle_graph **out);

/* Writes a graph, as the extension of `path` says: .json, which heddle_graph_load reads back to the same value, or
 * .dot, for people and other programs. The file is replaced atomically. HEDDLE_E_IO, HEDDLE_E_INVALID. */
int heddle_graph_save(const struct heddle_graph *graph, const char *path);

/* The graph of the tasks that a traced runtime has recorded: all those submitted since the start, or since the last
 * heddle_trace_take. Call heddle_wait_all first. If no task was submitted since the last heddle_trace_take, the graph
 * has the tasks that it took, so that the two functions may be called in either order. Tasks that failed are in the
 * graph; the tasks that the runtime made itself for reductions are not. If tasks have named children of a datum (of
 * partitions or plans), the datum becomes several data in the graph: elements that belong to exactly the same children
 * form one datum. A task that has named a child accesses the data that make up the child, so that the bytes are those
 * of the elements. Dependencies that come from heddle_acquire, from tasks without a codelet, or from a change of a
 * datum's layout become explicit edges. Execution times are the means that the models have measured per class, or the
 * times that codelets of HEDDLE_MODEL_GIVEN give; in virtual time only the latter. The caller owns *out.
 * HEDDLE_E_STATE: the runtime does not trace. */
int heddle_graph_record(heddle_runtime *rt, struct heddle_graph **out);

/* The execution time of a task on a class of a platform, us; NAN: it cannot run there. It is taken from the platform's
 * kernel times for the task's type; without those, from the graph's own times for the class's name; without those, from
 * the graph's own times for the class's kind. */
double heddle_graph_time(const struct heddle_graph *graph, size_t task, const struct heddle_platform *platform,
                         unsigned class_id);

/* All dependencies, both those that the accesses imply and the explicit ones: *out is an array of *n edges, sorted by
 * `to`, then `from`, without duplicates, which the caller frees with free(). */
int heddle_graph_edges(const struct heddle_graph *graph, struct heddle_graph_edge **out, size_t *n);

/* Submits all tasks to a runtime in virtual time, in order, and waits for them. All data are in main memory at the
 * beginning. Each type becomes a codelet of its name. The transfers of reductions (HEDDLE_REDUX) take time; their
 * combining kernels take none. HEDDLE_E_NO_WORKER names the first type for which no worker of the runtime's platform
 * has a time; HEDDLE_E_STATE: the runtime does not run in virtual time. In both cases no task was submitted. Blocks. */
int heddle_graph_submit(const struct heddle_graph *graph, heddle_runtime *rt);

/* Lower bounds of the makespan of any schedule of the graph on a platform, as if transfers took no time; but no class
 * runs a task whose data exceed the memory of its workers. struct heddle_bounds and heddle_trace_bounds
 * (heddle/trace.h) say which bounds, and what `rounds` is. HEDDLE_E_INVALID names
 * the first task that no class with workers has a time for. HEDDLE_E_UNSUPPORTED: libheddle-report.so is missing. */
int heddle_graph_bounds(const struct heddle_graph *graph, const struct heddle_platform *platform, unsigned rounds,
                        struct heddle_bounds *out);

/* Lower bounds, in us, that also count transfers: as heddle_graph_submit says, all data are in main memory at the
 * beginning, and a task can run only where the memory has room for its data. docs/bounds.md has their derivations, and
 * how long they take. */
struct heddle_near_bounds {
	struct heddle_bounds plain; /* those of heddle_graph_bounds */
	double communication;       /* the longest path, with the transfers between classes of workers */
	/* the largest sum of: how early some tasks can start, the area bound of these tasks, and how long the schedule
	 * must go on after them */
	double window;
	double best;         /* the largest of all bounds */
	const char *largest; /* the name of the largest: "area", "critical path", "iterative", "communication" ... */
	size_t too_large;    /* tasks whose data exceed the memory of some class that has a time for them */
};
/* Computes all these bounds. `rounds`: of the iterative bound, and again of that of the best window. Errors as of
 * heddle_graph_bounds. */
int heddle_graph_near_bounds(const struct heddle_graph *graph, const struct heddle_platform *platform, unsigned rounds,
                             struct heddle_near_bounds *out);

#ifdef __cplusplus
}
#endif
#endif
