/* The parts of the bounds: types of tasks, paths, linear programs. */
#ifndef HD_BOUNDS_INTERNAL_H
#define HD_BOUNDS_INTERNAL_H

#include "bounds/bounds.h"

/* bounds.c: the least time of every task, us. */
void hd_best_times(const struct hd_costed *graph, double *best);

/* --- Types (types.c): tasks with the same times on all classes ---------------------------------------------------- */

/* Under models and platforms that is what the tasks of one (codelet, footprint) have; a time function may give every
 * task its own. */
struct hd_types {
	size_t n_classes, n, room;
	double *times, *counts, *best; /* own; of each type: n_classes times in us, number of tasks, least time */
	size_t *slots, mask;           /* owns; open addressing by the times: 1 + type, or 0 */
	size_t *of;                    /* owns; type of each task */
};
/* Ends with hd_types_free, whatever it returns. */
int hd_types_init(struct hd_types *types, const struct hd_costed *graph);
void hd_types_free(struct hd_types *types);

/* --- Paths (path.c) ----------------------------------------------------------------------------------------------- */

/* The longest path from every task to the end, for weights that may change. */
struct hd_paths {
	const struct hd_costed *graph; /* borrows */
	size_t *order;                 /* owns; every task after those that it waits for */
	double *weights;               /* owns; of the tasks, us; for the caller to fill */
	double *tails;                 /* owns; of each task: the longest path from its beginning */
	size_t *next;                  /* owns; of each task: the next on that path, or HD_PATH_END */
	size_t start;                  /* of the longest path of all; HD_PATH_END without tasks */
};
#define HD_PATH_END SIZE_MAX
/* HEDDLE_E_INVALID: the edges make a circle. Ends with hd_paths_free, whatever it returns. */
int hd_paths_init(struct hd_paths *paths, const struct hd_costed *graph);
void hd_paths_free(struct hd_paths *paths);
/* Fills tails, next and start; returns the length of the longest path. */
double hd_paths_find(struct hd_paths *paths);

/* --- Linear programs ---------------------------------------------------------------------------------------------- */

/* lp.c: work(arg) on a thread of its own: GLPK keeps its switches, hooks and memory per thread, and those of the
 * program's stay as they are. HEDDLE_E_UNSUPPORTED and what GLPK said when it gives up amid `work`, which then does not
 * return: what it allocates must be reachable from `arg`. What GLPK has allocated is freed. */
int hd_lp_run(int (*work)(void *arg), void *arg);

/* Work by types whose tasks are alike: all of it takes work[c] us of one worker's time when class c does it, NAN when
 * it cannot. */
struct hd_area {
	size_t n_classes;
	const double *workers; /* per class; 0: the class is not there */
	size_t n_types;
	const double *work; /* type by type, n_classes each; every type has a class with workers that can do it */
};
/* area.c: a lower bound, in us, of the time in which the workers can do all the work, shared out as well as can be. */
int hd_area_bound(const struct hd_area *area, double *out);

/* iterative.c: fills out->iterative, rounds and converged; the other bounds are there. `paths` has been found by the
 * best times; it is changed. */
int hd_iterative_bound(const struct hd_types *types, struct hd_paths *paths, unsigned rounds,
                       struct heddle_bounds *out);

#endif
