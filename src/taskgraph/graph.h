/* The common declarations of src/taskgraph. The public interface of task graphs is include/heddle/graph.h.
 *
 * The readers of files and the recording of a run create graphs by a builder. They add tasks, data and edges in any
 * order, and the builder replaces the names of types and classes by numbers; then hd_build_end makes the graph and
 * checks it. */
#ifndef HD_TASKGRAPH_GRAPH_H
#define HD_TASKGRAPH_GRAPH_H

#include <heddle/graph.h>
#include "base/base.h"
#include "base/table.h"
#include "base/text.h"

/* The accesses of task i; NULL: the task has none; then graph->accesses may be NULL, too. */
static inline const struct heddle_graph_access *hd_graph_accesses(const struct heddle_graph *graph, size_t i)
{
	const struct heddle_graph_task *t = &graph->tasks[i];
	return t->n_accesses ? graph->accesses + t->first_access : NULL;
}

/* --- Times (graph.c) ---------------------------------------------------------------------------------------------- */

struct heddle_kernel_time;

/* The kernel time that the platform has for each type on each class, at index type * n_classes + class; NULL: none. For
 * callers that need the times of many tasks. The caller frees the array. NULL: out of memory. */
const struct heddle_kernel_time **hd_graph_kernels(const struct heddle_graph *graph,
                                                   const struct heddle_platform *platform);
/* Does what heddle_graph_time does; `kernel`: the entry of hd_graph_kernels for the task's type and the class. */
double hd_graph_time(const struct heddle_graph *graph, size_t task, const struct heddle_platform *platform,
                     unsigned class_id, const struct heddle_kernel_time *kernel);

/* --- Building (build.c) ------------------------------------------------------------------------------------------- */

/* A table of names and their numbers. A new name gets the next number, from 0 on. */
struct hd_names {
	char **names; /* owns; by number */
	size_t n, max;
	struct hd_table by_hash; /* owns; finds the number of a name */
};

struct hd_build_access {
	uint32_t task, data, mode;
};
struct hd_build_time {
	uint32_t task, class_id;
	double us;
};
struct hd_build_edge {
	uint32_t from, to;
	uint64_t bytes; /* above 0: size of a datum that `from` writes and `to` reads; 0: the edge is explicit */
};

struct hd_build;
/* Makes room for one more element in an array of n elements of `size` bytes. `array` is the address of the pointer to
 * the array, *max its capacity in elements. -1: out of memory, and build->failed is set. */
int hd_build_room(struct hd_build *build, void *array, size_t n, size_t *max, size_t size);
/* The number of a name, which need not be terminated by a NUL. */
uint32_t hd_build_intern(struct hd_build *build, struct hd_names *names, const char *name, size_t length);
void hd_names_free(struct hd_names *names);

/* A graph that is being built. Tasks, data, types and classes get numbers from 0 on, in the order in which they are
 * added. If memory runs out, `failed` is set; from then on all functions do nothing and return 0, and hd_build_end
 * returns HEDDLE_E_MEMORY. */
struct hd_build {
	struct hd_names types, classes;
	uint32_t *colors; /* owns; per type: its colour, 0xRRGGBB; 0: it has none */
	size_t n_colors, max_colors;
	uint64_t *data; /* owns; per datum: its size in bytes */
	size_t n_data, max_data;
	struct heddle_graph_task *tasks; /* owns; the fields first_access and n_accesses of the tasks are not set */
	size_t n_tasks, max_tasks;
	struct hd_build_access *accesses; /* owns */
	size_t n_accesses, max_accesses;
	struct hd_build_time *times; /* owns */
	size_t n_times, max_times;
	struct hd_build_edge *edges; /* owns */
	size_t n_edges, max_edges;
	struct heddle_names task_names, data_names; /* own; in the order in which the names were given */
	char *name;                                 /* owns; NULL: the graph has no name */
	int failed;
};

void hd_build_free(struct hd_build *build);
void hd_build_name(struct hd_build *build, const char *name);
/* The number of the type or class with this name, which need not be terminated by a NUL. Adds the type or class if
 * there is none. */
uint32_t hd_build_type(struct hd_build *build, const char *name, size_t length);
uint32_t hd_build_class(struct hd_build *build, const char *name, size_t length);
uint32_t hd_build_datum(struct hd_build *build, uint64_t bytes);
/* Adds a task, and returns its number. Unless build->failed, the caller sets the other fields of
 * build->tasks[number]. */
uint32_t hd_build_task(struct hd_build *build, uint32_t type);
/* Sets the name that the program has given to a task or a datum; "" is no name. Bytes that are not UTF-8 become "?". */
void hd_build_task_name(struct hd_build *build, uint32_t task, const char *name, size_t length);
void hd_build_data_name(struct hd_build *build, uint32_t datum, const char *name, size_t length);
/* Adds an access. The accesses of one task must be added in the order in which the graph is to have them. */
void hd_build_access(struct hd_build *build, uint32_t task, uint32_t data, uint32_t mode);
/* Sets the time of a task on a class, in us. A later call for the same task and class replaces the time. */
void hd_build_time(struct hd_build *build, uint32_t task, uint32_t class_id, double us);
void hd_build_edge(struct hd_build *build, uint32_t from, uint32_t to, uint64_t bytes);
/* Gives the tasks new numbers, so that each edge leads from a smaller number to a larger one; otherwise keeps their
 * order. Only for graphs without accesses. HEDDLE_E_FORMAT: the edges form a cycle; *where: a task on it. */
int hd_build_sort(struct hd_build *build, uint32_t *where);
/* Makes the graph and checks it. Frees the contents of the builder, even after an error. */
int hd_build_end(struct hd_build *build, struct heddle_graph **out);

/* --- Files -------------------------------------------------------------------------------------------------------- */

/* Readers of files. The text is in memory and is terminated by a NUL; messages begin with `name`. */
int hd_graph_parse_json(const char *name, const char *text, size_t length, struct heddle_graph **out);
int hd_graph_parse_dot(const char *name, const char *text, size_t length, struct heddle_graph **out);
int hd_graph_parse_stg(const char *name, const char *text, size_t length, struct heddle_graph **out);
/* Sets a message that begins with "NAME:LINE: ". Returns HEDDLE_E_FORMAT. */
int hd_graph_bad(const char *name, size_t line, const char *format, ...) __attribute__((format(printf, 3, 4), cold));
/* Writers of files. The caller has checked the graph. If memory runs out, text->failed is set. */
void hd_graph_write_json(const struct heddle_graph *graph, struct hd_text *text);
int hd_graph_write_dot(const struct heddle_graph *graph, struct hd_text *text);

/* --- Repeated simulations ----------------------------------------------------------------------------------------- */

/* The unregistration of a datum by the program: before it submits a certain task, or after all tasks. */
struct hd_graph_end {
	uint32_t task, data;
};

/* The submissions of a program to a traced runtime. */
struct hd_program {
	struct heddle_graph *graph; /* owns */
	struct hd_graph_end *ends;  /* owns; in the order of the program */
	size_t n_ends;
	/* 1: a simulation of the graph on the same platform, under any policy, gives the schedule of the program.
	 * Conditions: the program has submitted only tasks, has not waited between them, and has unregistered only data
	 * that tasks use. The tasks name no workers, have no callbacks, reduce no data and use no parts of data; they
	 * may run on each class that has a time for them, take the times in the graph, and end with their kernels or at
	 * a time that the platform gives. */
	int repeats;
};

/* Does what heddle_graph_record does, and also records the other submissions of the program. In record.c. */
int hd_program_record(heddle_runtime *rt, struct hd_program *out);
/* Does what heddle_graph_submit does, for a program whose graph has been checked. In submit.c. */
int hd_program_submit(const struct hd_program *program, heddle_runtime *rt);
void hd_program_free(struct hd_program *program);

/* --- Others ------------------------------------------------------------------------------------------------------- */

/* Sets the error message that no worker of the platform has a time for the task, with remedies. Returns `status`. */
int hd_graph_no_time(int status, const struct heddle_graph *g, size_t task, const struct heddle_platform *platform);
/* The sum of the sizes of a task's data, in bytes. */
double hd_graph_task_bytes(const struct heddle_graph *graph, size_t task);
/* The column of graph->times for a class of workers: the column with the name of the class, otherwise the column with
 * its kind; graph->n_classes: there is no such column. */
size_t hd_graph_column(const struct heddle_graph *graph, const struct heddle_class *class_);

#endif
