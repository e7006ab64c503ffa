/* Finds the marked workers nearest to a worker. Policies mark workers that have tasks, for idle workers to steal from.
 *
 * Workers near each other form blocks. Each level has a distance: at this level, workers whose distance from each other
 * (heddle_sched_distance) is at most this distance form one block. Each block is a part of a block of the next level;
 * at the last level all workers form one block. A search goes through the worker's block of each level, from the
 * innermost on. Each level lists the workers block by block, within a block by their numbers, and has a bitmap of the
 * marked workers, and a second bitmap of the nonzero words of the first. So a search takes a few steps per level for
 * any number of workers, and memory is linear in their number.
 */
#ifndef HD_POLICIES_PARTS_NEAREST_H
#define HD_POLICIES_PARTS_NEAREST_H

#include <heddle/policy.h>
#include "base/base.h"

enum { HD_NOBODY = UINT32_MAX };

struct hd_nearest_level {
	unsigned *members;  /* owns; block by block */
	unsigned *place;    /* owns; per worker: its place in `members` */
	unsigned *first;    /* owns; per worker: the place of the first member of its block */
	unsigned *end;      /* owns; per worker: the place behind the last member of its block */
	uint64_t *marked;   /* owns; a bit per place: 1: the worker at this place is marked */
	uint64_t *nonempty; /* owns; a bit per word of `marked`: 1: the word is not 0 */
};

struct hd_nearest {
	size_t n_workers, n_levels;
	struct hd_nearest_level *levels; /* owns */
	/* order of equally near workers: 1: cyclic, beginning after the worker that searches; 0: by number */
	int cyclic;
};

/* HEDDLE_E_MEMORY; call hd_nearest_fini even then. */
int hd_nearest_init(struct hd_nearest *n, const heddle_sched *sched, int cyclic);
void hd_nearest_fini(struct hd_nearest *n);
void hd_nearest_mark(struct hd_nearest *n, unsigned worker);
void hd_nearest_unmark(struct hd_nearest *n, unsigned worker);

struct hd_nearest_walk {
	const struct hd_nearest *nearest;
	unsigned worker; /* the worker that searches */
	size_t level;
	unsigned at, end; /* the places that are left to visit in this block */
	/* 1: the cyclic search has come to the workers whose numbers are lower than the searching worker's */
	int wrapped;
};

/* Begins a walk through the marked workers other than `worker`, the nearest to it first. */
void hd_nearest_walk(struct hd_nearest_walk *walk, const struct hd_nearest *n, unsigned worker);
/* The next worker; HD_NOBODY at the end. The caller may unmark this worker. */
unsigned hd_nearest_next(struct hd_nearest_walk *walk);

#endif
