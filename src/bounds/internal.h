/* The parts of the bounds: types of tasks, paths, linear programs. */
#ifndef HD_BOUNDS_INTERNAL_H
#define HD_BOUNDS_INTERNAL_H

#include "base/table.h"
#include "bounds/bounds.h"

/* --- Types (types.c): tasks with the same times on all classes ---------------------------------------------------- */

/* Types of tasks: tasks with equal times. If the times come from models or a platform, the tasks of one (codelet,
 * footprint) are of one type; a time function may give each task other times. */
struct hd_bound_types {
	size_t n_classes, n, room;
	double *times, *counts, *best; /* own; of each type: n_classes times in us, number of tasks, least time */
	struct hd_table by_times;      /* owns; the types by a hash of their times */
	size_t *of;                    /* owns; type of each task */
};
/* Finds the types of a graph's tasks. Call hd_types_free even after an error. */
int hd_types_init(struct hd_bound_types *types, const struct hd_costed *graph);
void hd_types_free(struct hd_bound_types *types);

/* --- Paths (path.c) ----------------------------------------------------------------------------------------------- */

/* The longest path from every task to an end of the graph, where each task has a weight. The weights may change. */
struct hd_paths {
	const struct hd_costed *graph; /* borrows */
	size_t *order;                 /* owns; the tasks, each after the tasks for which it waits */
	double *weights;               /* owns; per task, us; the caller sets them */
	double *tails;                 /* owns; per task: length of the longest path that begins with the task */
	size_t *next;                  /* owns; per task: the next task on that path, or HD_PATH_END */
	/* the first task of the longest path; HD_PATH_END without tasks */
	size_t start;
};
#define HD_PATH_END SIZE_MAX
/* Sorts the tasks. HEDDLE_E_INVALID: the graph has a cycle. Call hd_paths_free even after an error. */
int hd_paths_init(struct hd_paths *paths, const struct hd_costed *graph);
void hd_paths_free(struct hd_paths *paths);
/* Computes tails, next and start for the weights; returns the length of the longest path. */
double hd_paths_find(struct hd_paths *paths);

/* --- Linear programs ---------------------------------------------------------------------------------------------- */

/* The input of the area bound: types of tasks, and for each type and class how long one worker of the class takes for
 * all tasks of the type, us; NAN: the class cannot run them. */
struct hd_area {
	size_t n_classes;
	const double *capacity; /* per class: hd_costed_capacity; 0: the platform has no worker of the class */
	/* Cores that workers of several classes drive, but not at the same time (workers of different cluster sets):
	 * the number of these cores, 0 if there are no such workers; per class, how many of these cores one worker
	 * drives. */
	double n_cores;
	const double *cores;
	size_t n_types;
	const double *work; /* [type * n_classes + class]; some class with workers can run each type */
};
/* area.c: the area bound, us: a lower bound of the time in which the workers can do all the work. */
int hd_area_bound(const struct hd_area *area, double *out);

/* iterative.c: computes out->iterative, rounds and converged. The other bounds in *out are known, and `paths` has been
 * computed with the least times as weights; it is changed. */
int hd_iterative_bound(const struct hd_bound_types *types, struct hd_paths *paths, unsigned rounds,
                       struct heddle_bounds *out);

#endif
