/* The parts of which the bounds are made: types of tasks, paths, linear programs. */
#ifndef HD_BOUNDS_INTERNAL_H
#define HD_BOUNDS_INTERNAL_H

#include "base/table.h"
#include "bounds/bounds.h"

/* --- Types (types.c): tasks with the same times on all classes ---------------------------------------------------- */

/* Types of tasks: tasks with equal times. If times come from models or a platform, the tasks of one (codelet,
 * footprint) are of one type; a time function may give each task its own times. */
struct hd_bound_types {
	size_t n_classes, n, room;
	double *times, *counts, *best; /* own; per type: n_classes times, us; number of tasks; least time */
	struct hd_table by_times;      /* owns; finds a type by a hash of its times */
	size_t *of;                    /* owns; per task: its type */
};
/* Finds the types of a graph's tasks. Call hd_types_free even after an error. */
int hd_types_init(struct hd_bound_types *types, const struct hd_costed *graph);
void hd_types_free(struct hd_bound_types *types);

/* --- Paths (path.c) ----------------------------------------------------------------------------------------------- */

/* For each task, the longest path from it to an end of the graph, by the tasks' weights. The weights may change. */
struct hd_paths {
	const struct hd_costed *graph; /* borrows */
	size_t *order;                 /* owns; the tasks; each task stands after those for which it waits */
	double *weights;               /* owns; per task, us; the caller sets them */
	double *tails;                 /* owns; per task: length of the longest path that begins with it */
	size_t *next;                  /* owns; per task: the task after it on that path; HD_PATH_END: none */
	/* the first task of the longest path; HD_PATH_END: the graph has no tasks */
	size_t start;
};
#define HD_PATH_END SIZE_MAX
/* Sorts the tasks. HEDDLE_E_INVALID: the graph has a cycle. Call hd_paths_free even after an error. */
int hd_paths_init(struct hd_paths *paths, const struct hd_costed *graph);
void hd_paths_free(struct hd_paths *paths);
/* Computes tails, next and start by the present weights; returns the length of the longest path. */
double hd_paths_find(struct hd_paths *paths);

/* --- Linear programs ---------------------------------------------------------------------------------------------- */

/* What the area bound is computed from: types of tasks and, for each type and class, the work: how many us one worker
 * of the class takes for all tasks of the type; NAN: the class cannot run them. */
struct hd_area {
	size_t n_classes;
	const double *capacity; /* per class: hd_costed_capacity; 0: the platform has no worker of the class */
	/* For workers of several cluster sets, which drive the same cores at different times. n_cores: the number of
	 * these cores; 0: there are no such workers. cores: per class, how many of them one worker drives. */
	double n_cores;
	const double *cores;
	size_t n_types;
	const double *work; /* [type * n_classes + class], us; each type can run on some class that has workers */
};
/* area.c: the area bound in us, a lower bound of the time in which the workers can do all the work. `prices`: receives
 * the prices that prove it, of the classes and then, if there are n_cores, of the cores; NULL: not wanted. */
int hd_area_bound(const struct hd_area *area, double *prices, double *out);
/* bounds.c: what the area bound needs of a graph, but for the work of its types. The caller frees *capacity, which has
 * the cores, too. */
int hd_area_of(const struct hd_costed *graph, struct hd_area *area, double **capacity);

/* iterative.c: computes out->iterative, rounds and converged; the other bounds in *out must be known. `paths` must have
 * been found with the least times as weights; its weights are changed. */
int hd_iterative_bound(const struct hd_bound_types *types, struct hd_paths *paths, unsigned rounds,
                       struct heddle_bounds *out);

#endif
