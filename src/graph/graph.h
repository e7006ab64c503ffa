/* Task graphs as values, inside: the door of src/graph. The interface is include/heddle/graph.h.
 *
 * Everything that makes a graph -- the readers of files, the recording of a run -- goes through a builder: names are
 * interned, tasks, data and edges come in any order, and what is left at the end is a checked graph.
 */
#ifndef HD_GRAPH_H
#define HD_GRAPH_H

#include <heddle/graph.h>
#include "base/base.h"
#include "base/text.h"

/* --- Building (build.c) ------------------------------------------------------------------------------------------- */

struct hd_names {
	char **names; /* owns; in the order of their numbers */
	size_t n, max;
	uint32_t *slots; /* owns; open addressing: 1 + number, or 0 */
	size_t n_slots;
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
	uint64_t bytes; /* 0: nothing is handed over; else a datum that `from` writes and `to` reads */
};

/* What a reader has beside the graph: `*array` with room for one more element than n: 0, or -1 with build->failed
 * set. */
struct hd_build;
int hd_build_room(struct hd_build *build, void *array, size_t n, size_t *max, size_t size);
/* The number of a name, given on its first use. `name` need not end with a NUL. */
uint32_t hd_build_intern(struct hd_build *build, struct hd_names *names, const char *name, size_t length);
void hd_names_free(struct hd_names *names);

/* Numbers are given from 0 in order of creation. Lack of memory sticks: functions then do nothing and return 0, and
 * hd_build_end reports it. */
struct hd_build {
	struct hd_names types, classes;
	uint32_t *colors; /* owns; per type, all of them */
	size_t n_colors, max_colors;
	uint64_t *data; /* owns; bytes */
	size_t n_data, max_data;
	struct heddle_graph_task *tasks; /* owns; `first_access` and `n_accesses` are unset */
	size_t n_tasks, max_tasks;
	struct hd_build_access *accesses; /* owns */
	size_t n_accesses, max_accesses;
	struct hd_build_time *times; /* owns */
	size_t n_times, max_times;
	struct hd_build_edge *edges; /* owns */
	size_t n_edges, max_edges;
	struct heddle_names task_names, data_names; /* own; in the order in which they were given */
	char *name;                                 /* owns; NULL: none */
	int failed;
};

void hd_build_free(struct hd_build *build);
void hd_build_name(struct hd_build *build, const char *name);
/* The type or class of that name, made if there is none. `name` need not end with a NUL. */
uint32_t hd_build_type(struct hd_build *build, const char *name, size_t length);
uint32_t hd_build_class(struct hd_build *build, const char *name, size_t length);
uint32_t hd_build_datum(struct hd_build *build, uint64_t bytes);
/* The caller sets what build->tasks[i] shall have beside its type, unless build->failed. */
uint32_t hd_build_task(struct hd_build *build, uint32_t type);
/* What a program has called a task or a datum; "" is no name. Bytes that are not UTF-8 become "?". */
void hd_build_task_name(struct hd_build *build, uint32_t task, const char *name, size_t length);
void hd_build_data_name(struct hd_build *build, uint32_t datum, const char *name, size_t length);
/* In the order in which the task shall have them. */
void hd_build_access(struct hd_build *build, uint32_t task, uint32_t data, uint32_t mode);
/* The last one said counts. */
void hd_build_time(struct hd_build *build, uint32_t task, uint32_t class_id, double us);
void hd_build_edge(struct hd_build *build, uint32_t from, uint32_t to, uint64_t bytes);
/* Puts the tasks into an order in which every edge is forward, the given one where it is free; accesses stay with
 * their tasks. Only for graphs without accesses of their own. HEDDLE_E_FORMAT when there is a circle: *where is a task
 * on it. */
int hd_build_sort(struct hd_build *build, uint32_t *where);
/* The graph, checked; frees the builder, whatever happens. */
int hd_build_end(struct hd_build *build, struct heddle_graph **out);

/* --- Files: readers from memory, NUL-terminated; `name` is used in messages --------------------------------------- */

int hd_graph_parse_json(const char *name, const char *text, size_t length, struct heddle_graph **out);
int hd_graph_parse_dot(const char *name, const char *text, size_t length, struct heddle_graph **out);
int hd_graph_parse_stg(const char *name, const char *text, size_t length, struct heddle_graph **out);
/* HEDDLE_E_FORMAT, with "NAME:LINE: " before the sentence. */
int hd_graph_bad(const char *name, size_t line, const char *format, ...) __attribute__((format(printf, 3, 4), cold));
/* Writers. The graph has been checked. HEDDLE_E_MEMORY: text->failed says so too. */
void hd_graph_write_json(const struct heddle_graph *graph, struct hd_text *text);
int hd_graph_write_dot(const struct heddle_graph *graph, struct hd_text *text);

/* --- Others ------------------------------------------------------------------------------------------------------- */

/* The error that nobody says how long a task takes on any worker of the platform, and who could. Returns `status`. */
int hd_graph_no_time(int status, const struct heddle_graph *g, size_t task, const struct heddle_platform *platform);
/* Sum of the sizes of a task's data. */
double hd_graph_task_bytes(const struct heddle_graph *graph, size_t task);
/* The column of `times` that holds for a class, or graph->n_classes. */
size_t hd_graph_column(const struct heddle_graph *graph, const struct heddle_class *class_);

/* --- Bounds (bounds.c) -------------------------------------------------------------------------------------------- */

/* The least makespan of any schedule on a platform, us, transfers taken as free; HEDDLE_E_UNSUPPORTED for more tasks
 * than HD_OPTIMUM_TASKS (bounds/bounds.h). */
int hd_graph_optimum(const struct heddle_graph *graph, const struct heddle_platform *platform, double *out);

#endif
