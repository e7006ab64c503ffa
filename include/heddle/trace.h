/* Traces: what happened when tasks ran. Recording, files, charts, and lower bounds to compare with.
 *
 * With the setting `trace`, the runtime records what each worker and each link does. heddle_trace_take makes a struct
 * heddle_trace of the events, which can be saved, loaded, drawn, exported and bounded.
 *
 * heddle_trace_gantt, heddle_trace_dag and heddle_trace_bounds are in libheddle-report.so, which libheddle.so loads
 * when one of them is first called. HEDDLE_E_UNSUPPORTED: the library cannot be loaded; the sentence says what to
 * install.
 */
#ifndef HEDDLE_TRACE_H
#define HEDDLE_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <heddle/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names that the program has given to tasks or data. `id` is a task's id or a datum's registration number. Lists are
 * sorted by `id`, and contain only tasks or data that have a name. */
struct heddle_name {
	uint64_t id;
	char *name;
};
struct heddle_names {
	struct heddle_name *list;
	size_t n;
};
/* The name of `id`; NULL: it has none. */
const char *heddle_name_of(const struct heddle_names *names, uint64_t id);

/* One task as it ran. Times in us since the start of the runtime. */
struct heddle_trace_task {
	uint64_t id;      /* submission number */
	uint32_t codelet; /* index in codelets */
	uint32_t worker;
	/* the moments when its dependencies were satisfied, the policy gave it to the worker, its kernel began, and its
	 * kernel ended */
	double ready, picked, start, end;
	int32_t priority;
	int32_t status; /* 0, or the enum heddle_status of its failure */
	double bytes, flops;
	uint64_t footprint;
	/* when the task ended, if it ended after its kernel, by an event (heddle_detach): tasks that depend on it could
	 * not begin before; otherwise 0 */
	double ended;
	uint64_t inside; /* 1 + the id of the hierarchical task in whose sub-graph the task is; 0: none */
};

/* A hierarchical task that was expanded: it ran no kernel, but submitted a sub-graph. Its name is among task_names. */
struct heddle_trace_expansion {
	uint64_t id;       /* submission number */
	uint64_t inside;   /* 1 + the id of the hierarchical task in whose sub-graph this one is; 0: none */
	uint64_t n_tasks;  /* how many tasks it has submitted, without the tasks of their own sub-graphs */
	uint32_t codelet;  /* index in codelets */
	uint32_t worker;   /* the worker that called the function of the sub-graph */
	uint32_t subgraph; /* which sub-graph of the codelet */
	double start, end; /* us: when the function was called, and when it had returned */
};

/* One copy between nodes. */
struct heddle_trace_transfer {
	uint32_t from, to;
	double start, end;
	uint64_t bytes, data; /* bytes copied; registration number of the datum */
	/* 0: a task needed the datum; 1: a prefetch, for which no task waited when it began; 2: write-back to main
	 * memory */
	uint32_t reason;
};

/* A dependency: `to` waited for `from`. */
struct heddle_trace_edge {
	uint64_t from, to;
};

/* A change of the layout of a datum with plans (heddle/data.h). */
enum heddle_layout_step {
	HEDDLE_LAYOUT_READ,   /* tasks can read the children of a plan */
	HEDDLE_LAYOUT_WRITE,  /* tasks can write the children of a plan; the datum itself cannot be used */
	HEDDLE_LAYOUT_GATHER, /* tasks can read the datum again, and can still read the children */
	/* only the datum can be used; `plan` is -1 if the step ends the use of the children of all plans */
	HEDDLE_LAYOUT_JOIN
};
struct heddle_trace_layout {
	double at;     /* us */
	uint32_t data; /* number of the datum */
	/* index of the plan among the datum's plans, in the order of their creation; -1: see HEDDLE_LAYOUT_JOIN */
	int32_t plan;
	enum heddle_layout_step step;
	/* 1 + the id of the task that waited for the change; 0: the program waited, which acquires or unregisters the
	 * datum or closes its plan */
	uint64_t before;
};

/* From this time on a worker was driven (heddle/clusters.h), or was not, because it was retired or lost. */
struct heddle_trace_drive {
	double at; /* us; if the change was before the beginning of the trace: the beginning */
	uint32_t worker;
	uint32_t driven; /* 1 or 0 */
};

struct heddle_trace_codelet {
	char *name;
	uint32_t color; /* 0xRRGGBB; 0: charts derive a colour from the name */
};

struct heddle_trace {
	char *policy;
	int virtual_time;
	struct heddle_platform *platform; /* owned */
	struct heddle_trace_codelet *codelets;
	size_t n_codelets;
	struct heddle_trace_task *tasks; /* sorted by start time, then id */
	size_t n_tasks;
	struct heddle_trace_transfer *transfers; /* sorted by start time */
	size_t n_transfers;
	struct heddle_trace_expansion *expansions; /* sorted by start time, then id */
	size_t n_expansions;
	struct heddle_trace_edge *edges; /* sorted by `to`, then `from` */
	size_t n_edges;
	struct heddle_trace_layout *layouts; /* in the order in which they happened */
	size_t n_layouts;
	/* in the order in which they happened; before its first change, a worker was retired if the platform says so */
	struct heddle_trace_drive *drives;
	size_t n_drives;
	struct heddle_names task_names; /* of the tasks that were submitted with heddle_named */
	struct heddle_names data_names; /* of the data that have a name (heddle_data_set_name) */
	/* which implementation ran (CODELET.NAME), by the id of the task; only tasks whose codelet has several
	 * implementations for a kind of class are listed */
	struct heddle_names implementations;
};

/* Takes the events that were recorded since the start, or since the last call. Call heddle_wait_all first: tasks that
 * are still running may be missing. The caller frees *out with heddle_trace_free. HEDDLE_E_STATE: the runtime does not
 * trace. */
int heddle_trace_take(heddle_runtime *rt, struct heddle_trace **out);
void heddle_trace_free(struct heddle_trace *trace);

/* Writes a trace to a file (text, one record per line: docs/trace.md), and reads a file back to an equal trace. */
int heddle_trace_save(const struct heddle_trace *trace, const char *path);
int heddle_trace_load(const char *path, struct heddle_trace **out);

/* What happened in one memory while the tasks of a trace ran. A task runs in the memory of its worker. */
struct heddle_trace_memory {
	/* data that tasks in this memory read: how often the datum was in the memory when the task was given to its
	 * worker, and how often the task had to wait for the datum */
	uint64_t hits, misses;
	uint64_t in, out; /* bytes that were copied to this memory and from it */
	/* parts of `in`: bytes of copies for which a task waited when the copy began, and bytes of prefetches; the
	 * remaining bytes were written back to main memory */
	uint64_t demanded, prefetched;
	/* a lower bound of `in` for the same tasks, in the order in which they began: a full memory always drops the
	 * datum whose next use is furthest away (Belady's rule) */
	uint64_t least;
	double copying;    /* us in which something was copied to this memory or from it */
	double overlapped; /* us of `copying` in which a kernel ran in this memory */
};
/* Fills out[node] for every node of the platform, for a trace that was taken of `rt` after heddle_wait_all; call this
 * before the program submits another task. HEDDLE_E_STATE: the runtime does not trace, or has other memories than the
 * trace. */
int heddle_trace_memories(heddle_runtime *rt, const struct heddle_trace *trace, struct heddle_trace_memory *out);

enum heddle_trace_format { HEDDLE_TRACE_CSV, HEDDLE_TRACE_CHROME, HEDDLE_TRACE_PAJE };
/* Writes a trace in another format. CSV has one line per task, transfer, expansion and change of a layout; CHROME is
 * JSON for Chrome and Perfetto; PAJE is for ViTE. docs/trace.md says what is where. */
int heddle_trace_export(const struct heddle_trace *trace, enum heddle_trace_format format, const char *path);

struct heddle_gantt_options {
	double width, height; /* in points (1/72 inch); 0: derived from the contents */
	int transfers;        /* 1: draw one row per link, with its transfers */
	int critical_path;    /* 1: outline the tasks of heddle_trace_critical_path */
	const char *title;    /* NULL: the policy, the platform and the makespan */
	double lower_bound;   /* us; draws a vertical line when > 0 */
};
/* Draws a Gantt chart. On the left of each worker stands its idle share of the time in which it was driven. Expansions
 * that took long enough to be seen are thin bars. The extension of `path` says the format: .png, .svg or .pdf. */
int heddle_trace_gantt(const struct heddle_trace *trace, const char *path, const struct heddle_gantt_options *options);

/* How heddle_trace_dag draws. */
struct heddle_dag_options {
	/* How many levels of sub-graphs are drawn. A hierarchical task on the last level is drawn as one task, without
	 * its sub-graph. 0: all levels, at most 1000; 1: only the tasks that the program has submitted itself. */
	unsigned levels;
	int layouts;       /* 1: draw changes of layouts, too (only those that a task waited for) */
	const char *title; /* NULL: the number of tasks */
};
/* Draws the task graph of a trace: tasks from top to bottom in the order of their dependencies, with a box around the
 * tasks of each sub-graph. The extension of `path` says the format: .png, .svg, .pdf, or .dot and .gv for Graphviz,
 * whose layout is better. A picture of more than 2000 tasks, boxes and changes of layouts is HEDDLE_E_INVALID; files
 * for Graphviz may have any number. `options` may be NULL: all levels with their changes of layouts. */
int heddle_trace_dag(const struct heddle_trace *trace, const char *path, const struct heddle_dag_options *options);

/* Writes the state of all workers and unfinished tasks for people who look for a hang. For each worker: the task that
 * it runs. For each task: what it does or waits for, and for each datum that it accesses (by name, or by number and
 * shape) the mode, whether the task may access the datum yet, and otherwise for which tasks it waits. For each memory
 * but the main one: how full it is, which task waits for room, and its copies with the number of tasks and transfers
 * that use them. May be called by any thread. The function takes the core lock; if the lock is not free within two
 * seconds, because something hangs, the function goes on without the lock, says so, and leaves out the memories and
 * which tasks hold which data. */
void heddle_dump(heddle_runtime *rt, FILE *out);

/* When the task ended: with its kernel, or later by an event; us. */
static inline double heddle_trace_task_end(const struct heddle_trace_task *task)
{
	return task->ended > task->end ? task->ended : task->end;
}
/* us from the moment when the first task could run (when it was submitted, or when the program released the data that
 * it had acquired) to the end of the last task. */
double heddle_trace_makespan(const struct heddle_trace *trace);
/* The practical critical path: the ids of the tasks that explain the makespan, from last to first. It begins with the
 * task that ended last; before each task comes the task for which it had to wait longest: a task on which it depends,
 * or the task whose kernel its worker ran before, whichever ended later. The caller frees *ids. */
int heddle_trace_critical_path(const struct heddle_trace *trace, uint64_t **ids, size_t *n);

/* --- Bounds ------------------------------------------------------------------------------------------------------- */

/* Lower bounds, in us, of the makespan of any schedule of a graph on a platform, as if transfers took no time
 * (docs/bounds.md). */
struct heddle_bounds {
	/* The area bound: no schedule can do the work faster than all workers together. A linear program divides the
	 * tasks of each type among the classes: minimise T where for each class the sum of share * time is at most T *
	 * workers, and the shares of each type add up to 1. A worker that runs several kernels at once counts as its
	 * best total rate (struct heddle_class). */
	double area;
	double critical_path; /* longest path, with each task on its fastest class */
	/* The linear program of the area bound with shares for each task, and the condition that no path takes longer
	 * than T when each task takes the mean of its classes' times, weighted by its shares. NAN: not asked for. */
	double iterative;
	double mixed;    /* the largest of these bounds */
	unsigned rounds; /* how many linear programs were solved for `iterative` */
	/* 1: no path is longer than `iterative` by more than a millionth; 0: `iterative` is a valid bound, but more
	 * rounds may raise it */
	int converged;
};
/* The execution time, us, of the task at index `task` of the trace on a class; NAN if the class cannot run it. */
typedef double (*heddle_time_fn)(const struct heddle_trace *trace, size_t task, unsigned class_id, void *arg);
/* Computes the bounds. A NULL `time` means the platform's kernel times. The iterative bound adds conditions for one
 * path per round and stops after `rounds` rounds; 0 leaves it out. A round looks once at all tasks and edges and solves
 * a linear program of at most tasks * classes unknowns; most graphs need some tens of rounds. */
int heddle_trace_bounds(const struct heddle_trace *trace, heddle_time_fn time, void *arg, unsigned rounds,
                        struct heddle_bounds *out);

#ifdef __cplusplus
}
#endif
#endif
