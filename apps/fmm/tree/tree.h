/* An octree of uniform depth over particles, without its empty cells; which cells are near, which are far; and groups
 * of cells, each of which is a task.
 *
 * Level 0 is one cell, level `depth` has the leaves. The cells of a level are numbered from 0 in Morton order, so that
 * the descendants of a cell, and their particles, are a range of numbers.
 *
 * Two cells of a level are near if they touch each other, or are one cell. They are far if they are not near, but their
 * parents are (Greengard, Rokhlin: A fast algorithm for particle simulations, 1987, section 3). */
#ifndef HD_FMM_TREE_H
#define HD_FMM_TREE_H

#include <stddef.h>
#include <stdint.h>

enum {
	HD_FMM_MOST_DEPTH = 16,
	HD_FMM_NEAR = 27, /* neighbours of a cell, with itself: number 9 dx + 3 dy + dz, where dx ... are 0, 1 and 2 */
	HD_FMM_PADDING =
	    16 /* the particles of a leaf are padded to a multiple of this: full vectors of any precision */
};
#define HD_FMM_NO_CELL UINT32_MAX

/* morton.c: the bits of three numbers in turn, the first number's highest. Numbers have HD_FMM_MOST_DEPTH bits. */
uint64_t hd_fmm_key(const uint32_t place[3]);

struct hd_fmm_sorted {
	uint64_t key;
	uint32_t particle;
};
/* Sorts by keys of so many bits; equal keys keep their order. `work` has n elements, too. Returns the array that has
 * the result: `all` or `work`. */
struct hd_fmm_sorted *hd_fmm_sort(struct hd_fmm_sorted *all, struct hd_fmm_sorted *work, size_t n, int bits);

/* Where the root cell is, and how deep the trees in it are. */
struct hd_fmm_box {
	double low[3], leaf_side;
	double extent; /* of the particles, along the longest axis */
	int depth;
};

/* Costs in us: see hd_fmm_costs. */
struct hd_fmm_costs {
	double pair, translation, particle, cell;
};

/* One level of a tree. */
struct hd_fmm_level {
	size_t n;
	uint32_t *parent;      /* on the level above */
	uint32_t *first_child; /* on the level below; NULL on the level of the leaves */
	uint8_t *children;     /* bit k: it has child k, which is 4 x + 2 y + z */
	uint8_t *octant;       /* which child of its parent it is */
};

struct hd_fmm_tree {
	size_t n; /* particles */
	int depth;
	struct hd_fmm_level levels[HD_FMM_MOST_DEPTH + 1];
	/* of leaves, and one more: the first of its particles in `order`; its first slot, where particles are padded */
	size_t *first, *first_slot;
	uint32_t *order; /* particles, as the program numbers them, leaf by leaf */
	void *memory;    /* owns all arrays */
};

/* tree.c. Particle i has coordinates xyz[3 i] ... Out of memory: -1; the tree is to be freed all the same. */
int hd_fmm_tree_make(struct hd_fmm_tree *tree, const struct hd_fmm_box *box, const double *xyz, size_t n);
void hd_fmm_tree_free(struct hd_fmm_tree *tree);
/* Numbers of the cell of a particle along the axes; leaves of the box that the program's particles fill. */
void hd_fmm_place_of(const struct hd_fmm_box *box, const double x[3], uint32_t place[3]);
static inline size_t hd_fmm_leaves(const struct hd_fmm_tree *tree)
{
	return tree->levels[tree->depth].n;
}
static inline size_t hd_fmm_count(const struct hd_fmm_tree *tree, size_t leaf)
{
	return tree->first[leaf + 1] - tree->first[leaf];
}
static inline uint32_t hd_fmm_child(const struct hd_fmm_level *level, uint32_t cell, unsigned octant)
{
	unsigned before = level->children[cell] & ((1u << octant) - 1);
	return level->children[cell] >> octant & 1 ? level->first_child[cell] + (uint32_t)__builtin_popcount(before)
	                                           : HD_FMM_NO_CELL;
}

/* depth.c: the box of the points, with `cells` leaves along its longest axis, or as many as cost least by estimates if
 * that is 0. -1: out of memory. */
int hd_fmm_box_choose(struct hd_fmm_box *box, const struct hd_fmm_costs *costs, const double *xyz, size_t n,
                      double cells);

/* near.c: the cells of `sources` that are near each cell of `targets`, level by level: near[level][27 cell + number],
 * or HD_FMM_NO_CELL. */
struct hd_fmm_near {
	uint32_t *levels[HD_FMM_MOST_DEPTH + 1]; /* owns */
	/* of a child, the number of a neighbour of its parent, and a child of that: 0 if they are near, or 1 +
	 * HD_FMM_REFLECTIONS * matrix + reflection (hd_fmm_offset) */
	uint16_t kinds[8][HD_FMM_NEAR][8];
};
int hd_fmm_near_make(struct hd_fmm_near *near, const struct hd_fmm_tree *targets, const struct hd_fmm_tree *sources);
void hd_fmm_near_free(struct hd_fmm_near *near);

/* A translation between far cells. */
struct hd_fmm_far {
	uint32_t source;
	uint16_t kind; /* HD_FMM_REFLECTIONS * matrix + reflection */
};
/* Writes the cells far from a target, 189 at most, and returns how many there are. The level is at least 2. */
size_t hd_fmm_far_of(const struct hd_fmm_near *near, const struct hd_fmm_tree *targets,
                     const struct hd_fmm_tree *sources, int level, uint32_t target, struct hd_fmm_far *out);
enum { HD_FMM_MOST_FAR = 189 };

#endif
