/* Finds the marked workers nearest to a worker. Policies mark workers that have tasks, for idle workers to steal from.
 *
 * Workers near each other form blocks: at each level, workers whose distance (heddle_sched_distance) is at most that of
 * the level form one block, and each block is a part of a block of the next level; at the last level all workers form
 * one block. A search goes through the worker's block of each level, from the innermost on. Each level lists the
 * workers block by block, by their numbers, with a bit for each that is marked, and a bit for each word of these bits
 * that is not 0. So a search takes a few steps per level however many workers there are, and memory is linear in their
 * number.
 */
#ifndef HD_POLICIES_PARTS_NEAREST_H
#define HD_POLICIES_PARTS_NEAREST_H

#include <heddle/policy.h>
#include "base/base.h"

enum { HD_NOBODY = UINT32_MAX };

struct hd_nearest_level {
	unsigned *members;  /* owns; block by block */
	unsigned *place;    /* owns; per worker: its place in `members` */
	unsigned *first;    /* owns; per worker: the place of the first member of its block ... */
	unsigned *end;      /* owns; ... and the place behind the last one */
	uint64_t *marked;   /* owns; per place: a bit */
	uint64_t *nonempty; /* owns; per word of `marked`: a bit */
};

struct hd_nearest {
	size_t n_workers, n_levels;
	struct hd_nearest_level *levels; /* owns */
	int cyclic; /* equally near workers are tried by number: 1: from the one that asks on, around; 0: from 0 on */
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
	unsigned at, end; /* places that are left to look at */
	int wrapped;      /* cyclic: the search has come to the workers before the one that searches */
};

/* Begins to go through the marked workers other than `worker`, the nearest to it first. */
void hd_nearest_walk(struct hd_nearest_walk *walk, const struct hd_nearest *n, unsigned worker);
/* The next worker; HD_NOBODY at the end. The caller may unmark this worker. */
unsigned hd_nearest_next(struct hd_nearest_walk *walk);

#endif
