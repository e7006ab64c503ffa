/* Lower bounds of the makespan of a graph whose tasks have known times on the classes of workers of a platform,
 * transfers taken as free; and, for a handful of tasks, the least makespan itself. Traces and task graphs are brought
 * to this form. */
#ifndef HD_BOUNDS_BOUNDS_H
#define HD_BOUNDS_BOUNDS_H

#include <heddle/platform.h>
#include <heddle/trace.h>
#include <stddef.h>
#include <stdint.h>

struct hd_costed {
	const struct heddle_platform *platform; /* borrows; for its names */
	size_t n_tasks, n_classes;
	double *workers;    /* owns; per class; 0: the class is not there */
	double *times;      /* owns; task by task, n_classes each: us, NAN where it cannot run */
	size_t *first, *to; /* own; the successors of task i: to[first[i] .. first[i + 1] - 1] */
};

struct hd_costed_edge {
	size_t from, to; /* tasks, by number */
};

/* Without edges yet, every time NAN. Ends with hd_costed_free, whatever it returns. */
int hd_costed_init(struct hd_costed *graph, const struct heddle_platform *platform, size_t n_tasks);
/* Once. */
int hd_costed_set_edges(struct hd_costed *graph, const struct hd_costed_edge *edges, size_t n);
void hd_costed_free(struct hd_costed *graph);

/* To be called when the times of a task are there: HEDDLE_E_INVALID when one is negative or infinite, or no class with
 * workers has one. `type` and `id` are for the message. */
int hd_costed_accept(struct hd_costed *graph, size_t task, const char *type, uint64_t id);

/* heddle/trace.h says what they are, and what `rounds` is. HEDDLE_E_INVALID: the edges make a circle. */
int hd_bounds(const struct hd_costed *graph, unsigned rounds, struct heddle_bounds *out);

/* The least makespan of any schedule, by exhaustive search: for graphs of at most HD_OPTIMUM_TASKS tasks, which takes a
 * second or so in bad cases. HEDDLE_E_UNSUPPORTED: it has more. */
enum { HD_OPTIMUM_TASKS = 12 };
int hd_optimum(const struct hd_costed *graph, double *makespan);

#endif
