/* What happened: events, charts, bounds.
 *
 * With `trace` on, every worker and copy engine records fixed-size events in buffers of its own; heddle_trace_take
 * turns them into one table. Everything that draws or converts works on that table, or on a file of it.
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

/* Names that the program has given, by the number of what they are for: a task's id, a datum's registration number.
 * Ascending, each number once; what has no name is not there. */
struct heddle_name {
	uint64_t id;
	char *name;
};
struct heddle_names {
	struct heddle_name *list;
	size_t n;
};
/* The name for a number; NULL: it has none. */
const char *heddle_name_of(const struct heddle_names *names, uint64_t id);

/* One task as it ran. Times in us since the start of the runtime. */
struct heddle_trace_task {
	uint64_t id;      /* submission number */
	uint32_t codelet; /* index in codelets */
	uint32_t worker;
	double ready, picked, start, end; /* dependencies satisfied; given to the worker; kernel begins; ends */
	int32_t priority;
	int32_t status; /* 0, or why it failed */
	double bytes, flops;
	uint64_t footprint;
};

/* One copy between nodes. */
struct heddle_trace_transfer {
	uint32_t from, to;
	double start, end;
	uint64_t bytes, data; /* data: registration number of the datum */
	uint32_t reason;      /* 0 demand, 1 prefetch, 2 write-back */
};

/* A dependency: `to` waited for `from`. */
struct heddle_trace_edge {
	uint64_t from, to;
};

struct heddle_trace_codelet {
	char *name;
	uint32_t color; /* 0xRRGGBB; 0: charts choose it from the name */
};

struct heddle_trace {
	char *policy;
	int virtual_time;
	struct heddle_platform *platform; /* owned */
	struct heddle_trace_codelet *codelets;
	size_t n_codelets;
	struct heddle_trace_task *tasks; /* by start time, ties by id */
	size_t n_tasks;
	struct heddle_trace_transfer *transfers; /* by start time */
	size_t n_transfers;
	struct heddle_trace_edge *edges; /* by `to`, then `from` */
	size_t n_edges;
	struct heddle_names task_names; /* of those of its tasks that were submitted with heddle_named */
	struct heddle_names data_names; /* of all data named with heddle_data_set_name */
	/* by task, of those whose codelet has several implementations for a kind of worker: the one that ran,
	 * CODELET.NAME as in the models */
	struct heddle_names implementations;
};

/* Everything recorded since the last call. Wait for all first: tasks that run meanwhile may be missing. The caller owns
 * *out. HEDDLE_E_STATE when the runtime does not trace. */
int heddle_trace_take(heddle_runtime *rt, struct heddle_trace **out);
void heddle_trace_free(struct heddle_trace *trace);

/* A trace file (text, one record per line, versioned; docs/trace.md) and back, to the same value. */
int heddle_trace_save(const struct heddle_trace *trace, const char *path);
int heddle_trace_load(const char *path, struct heddle_trace **out);

enum heddle_trace_format { HEDDLE_TRACE_CSV, HEDDLE_TRACE_CHROME, HEDDLE_TRACE_PAJE };
/* One line per task and per transfer; Chrome/Perfetto JSON; Paje (ViTE). */
int heddle_trace_export(const struct heddle_trace *trace, enum heddle_trace_format format, const char *path);

struct heddle_gantt_options {
	double width, height; /* points; 0: chosen from the contents */
	int transfers;        /* draw a line per link */
	int critical_path;    /* outline the practical critical path */
	const char *title;    /* NULL: policy, platform, makespan */
	double lower_bound;   /* us; draws a vertical line when > 0 */
};
/* A Gantt chart; the format is the path's extension: .png, .svg, .pdf. Idle share per worker on the left. */
int heddle_trace_gantt(const struct heddle_trace *trace, const char *path, const struct heddle_gantt_options *options);

/* Writes the state of every worker and unfinished task, for people and debuggers: which task each worker runs; what
 * each task does or waits for, and per datum, by its name (heddle_data_set_name) or number and shape, how it is
 * accessed, whether its turn has come, and if not, who has it. From any thread: it takes the lock, but where that
 * cannot be had within a tenth of a second, because something hangs, goes on without, says so, and leaves out who has
 * what. */
void heddle_dump(heddle_runtime *rt, FILE *out);

/* us from the moment when the first task could run, which is its submission unless the program still held its data, to
 * the end of the last task. */
double heddle_trace_makespan(const struct heddle_trace *trace);
/* Ids of the tasks on the practical critical path, from last to first: the last task to end, then repeatedly the task
 * or the worker's previous task that ended latest before it started. The caller frees *ids. */
int heddle_trace_critical_path(const struct heddle_trace *trace, uint64_t **ids, size_t *n);

/* --- Bounds ------------------------------------------------------------------------------------------------------- */

/* Lower bounds of the makespan, us, for any schedule of a graph on a platform, transfers taken as free
 * (docs/bounds.md). */
struct heddle_bounds {
	/* LP: minimise T, sum of shares * time <= T * workers per class, shares per task type sum to 1 */
	double area;
	double critical_path; /* longest path with the best class for each task */
	/* area, and every path takes at most T by the times that its tasks' shares imply; NAN: not asked for */
	double iterative;
	double mixed;    /* the largest */
	unsigned rounds; /* linear programs that `iterative` took, a path each */
	/* no path is longer than T by more than 1e-6 of it; else it is a bound, and more rounds may raise it */
	int converged;
};
/* `time(task, class, arg)` is the execution time, NAN when the class cannot run it; NULL: the platform's kernel
 * times. */
typedef double (*heddle_time_fn)(const struct heddle_trace *trace, size_t task, unsigned class_id, void *arg);
/* The iterative bound gets at most `rounds` rounds; 0 leaves it out. Each takes time in proportion to tasks and edges,
 * and to solve a program of at most as many unknowns as tasks times classes; most graphs need some tens of them. */
int heddle_trace_bounds(const struct heddle_trace *trace, heddle_time_fn time, void *arg, unsigned rounds,
                        struct heddle_bounds *out);

#ifdef __cplusplus
}
#endif
#endif
