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
	/* own; per type: n_classes times in us; the number of its tasks; its least time */
	double *times, *counts, *best;
	struct hd_table by_times; /* owns; finds a type by a hash of its times */
	size_t *of;               /* owns; per task: its type */
};
/* Finds the types of a graph's tasks. Call hd_types_free even after an error. */
int hd_types_init(struct hd_bound_types *types, const struct hd_costed *graph);
void hd_types_free(struct hd_bound_types *types);

/* --- Paths (path.c) ----------------------------------------------------------------------------------------------- */

/* For each task, the longest path from it to an end of the graph, by the weights of the tasks. The weights may
 * change. */
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

/* What the area bound is computed from: types of tasks and, for each type and class, the work: how many us one worker
 * of the class takes for all tasks of the type; NAN: the class cannot run them. */

/* per class: hd_costed_capacity; 0: the platform has no worker of the class */
struct hd_area {
	size_t n_classes;
	/* For workers of several cluster sets, which drive the same cores at different times. n_cores: the number of
	 * cores that such workers drive; 0: there are no such workers. cores: per class, how many of these cores one
	 * worker drives. */
	const double *capacity;
	/* [type * n_classes + class], us; each type can run on some class that has workers */
	double n_cores;
	const double *cores;
	size_t n_types;
	/* area.c: the area bound in us, a lower bound of the time in which the workers can do all the work. */
	const double *work;
};
/* iterative.c: computes out->iterative, rounds and converged; the other bounds in *out must be known. `paths` must have
 * been found with the least times as weights; its weights are changed. */
int hd_area_bound(const struct hd_area *area, double *out);

/* Computes the iterative bound (Agullo, Beaumont, Eyraud-Dubois, Kumar, "Are static schedules so bad? A case study on
 * Cholesky factorization", IPDPS 2016): the area bound's linear program with conditions on paths. Each round solves the
 * program, finds the path that is longest if each task takes the time that the solution expects, and adds the condition
 * that this path takes at most T, until no path takes longer.
 *
 * The shares of a whole type cannot be used for its tasks on a path, because a schedule may run the tasks on the path
 * on other classes than the rest. So the unknowns belong to groups: tasks of one type that are on the same ones of the
 * paths found so far. A new path splits each group through which it goes into two. The path is then a union of whole
 * groups, so the mean times of its groups give its length exactly.
 *
 * The unknowns of a group are how many of its tasks each class runs, except its fastest class, which runs the rest. The
 * result is not CLP's optimum, but the bound that CLP's dual values prove (see area.c). They are prices: p[c] of the
 * time of class c, and q[k] of the length of path k, with (sum over c of p[c] * capacity[c]) + (sum over k of q[k]) =
 * 1. For such prices, no schedule is shorter than the sum over tasks of the least time[c] * (p[c] + sum of q[k] over
 * the paths k through the task) of any class c. So there is a valid bound after every round. */
int hd_iterative_bound(const struct hd_bound_types *types, struct hd_paths *paths, unsigned rounds,
                       struct heddle_bounds *out);

#endif
