/* An octree over particles, without its empty cells; which cells are near, and which are far.
 *
 * Level 0 is one cell, the smallest leaves are on level `depth`. The cells of a level are numbered from 0 in Morton
 * order, so that the descendants of a cell on any level, and the particles of a cell, are a range of numbers.
 *
 * Two cells of a level are near if they touch each other, or are one cell. They are far if they are not near, but their
 * parents are (Greengard, Rokhlin: A fast algorithm for particle simulations, 1987, section 3). If one of two near
 * cells is a leaf, all particles of one act directly on all particles of the other; if none is, their children are near
 * or far. So each particle acts on each other one once, whichever cells are leaves.
 *
 * In a periodic box, the root cell touches 26 images of itself, as which it is near itself, and lists of near and far
 * cells lead across its faces. All other images of the root act on it by a translation of their own. */
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
/* A box of a smaller extent is one cell, because a 2^16th of that is a number that lacks digits. */
#define HD_FMM_LEAST_EXTENT 1e-290

/* morton.c: the bits of three numbers in turn, the first number's highest. Numbers have HD_FMM_MOST_DEPTH bits. */
uint64_t hd_fmm_key(const uint32_t place[3]);

struct hd_fmm_sorted {
	uint64_t key;
	uint32_t particle;
	uint32_t level; /* of the leaf that it lies in */
};

/* Where the root cell is, and how deep the trees in it are. */
struct hd_fmm_box {
	double low[3], leaf_side; /* of a leaf on level `depth` */
	double extent;            /* of the particles, along the longest axis; periodic: the side of the root cell */
	int depth;
	int periodic; /* the root cell has images on all sides */
};
/* The particles in the order of their keys in the box, all in leaves on its last level. The caller frees the array.
 * NULL: out of memory. */
struct hd_fmm_sorted *hd_fmm_sort(const struct hd_fmm_box *box, const double *xyz, size_t n);

/* The first level on which particles with these keys in a box of this depth are in different cells; depth + 1: none. */
static inline int hd_fmm_parting(uint64_t a, uint64_t b, int depth)
{
	return a == b ? depth + 1 : depth - (63 - __builtin_clzll(a ^ b)) / 3;
}

/* Costs in us on a core, and how many targets a vector of the direct sum has: see costs_of in plan.c. */
struct hd_fmm_costs {
	double pair, translation, particle, cell;
	size_t lanes;
};

/* One level of a tree. */
struct hd_fmm_level {
	size_t n;
	uint32_t *parent;      /* on the level above */
	uint32_t *first_child; /* on the level below; of a leaf: of the cells after it; and one more */
	uint8_t *children;     /* bit k: it has child k, which is 4 x + 2 y + z. 0: a leaf */
	uint8_t *octant;       /* which child of its parent it is */
	uint32_t *first;       /* of its particles in `order` */
	uint32_t *count;       /* of its particles */
	/* Of its particles, padded, if it is a leaf; and one more. The slots of a level follow those of the level
	 * above. */
	size_t *first_slot;
};

struct hd_fmm_tree {
	size_t n;                /* particles */
	int depth, first_leaves; /* the levels of the smallest leaves, and of the largest */
	size_t leaves;
	struct hd_fmm_level levels[HD_FMM_MOST_DEPTH + 1];
	uint32_t *order; /* particles, as the program numbers them, cell by cell */
	void *memory;    /* owns all arrays */
};

/* tree.c: the tree of the particles first ... first + n - 1 among n_sorted ones, which are counted from `first` in it.
 * Out of memory: -1; the tree is to be freed all the same. */
struct hd_fmm_particles {
	size_t first, n;
};
int hd_fmm_tree_make(struct hd_fmm_tree *tree, int depth, const struct hd_fmm_sorted *sorted, size_t n_sorted,
                     struct hd_fmm_particles which);
void hd_fmm_tree_free(struct hd_fmm_tree *tree);
/* Numbers of the cell of a particle along the axes; leaves of the box that the program's particles fill. */
void hd_fmm_place_of(const struct hd_fmm_box *box, const double x[3], uint32_t place[3]);
/* The centre of a cell from that of the root, in units of the root's side. */
void hd_fmm_centre_of(const struct hd_fmm_tree *tree, int level, size_t cell, double centre[3]);
static inline int hd_fmm_is_leaf(const struct hd_fmm_level *level, size_t cell)
{
	return level->children[cell] == 0;
}
static inline size_t hd_fmm_children(const struct hd_fmm_level *level, size_t cell)
{
	return level->first_child[cell + 1] - level->first_child[cell];
}
static inline size_t hd_fmm_slots(const struct hd_fmm_tree *tree)
{
	return tree->levels[tree->depth].first_slot[tree->levels[tree->depth].n];
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
/* The box of a periodic cube with a corner at 0, with `cells` leaves along an axis, or the next power of two; the depth
 * is the greatest if that is 0. */
struct hd_fmm_box hd_fmm_box_periodic(double side, double cells);

/* leaves.c: sorts the particles as hd_fmm_sort does, but into leaves of several levels, which are chosen so that the
 * estimated cost is least. The root cell of the box stays where it is; box->depth becomes the level of the smallest
 * leaves. */
struct hd_fmm_sorted *hd_fmm_sort_into_leaves(struct hd_fmm_box *box, const struct hd_fmm_costs *costs,
                                              const double *xyz, size_t n);

/* near.c: the cells of `sources` that are near each cell of `targets`, level by level: near[level][27 cell + number],
 * or HD_FMM_NO_CELL. */
struct hd_fmm_near {
	uint32_t *levels[HD_FMM_MOST_DEPTH + 1]; /* owns */
	/* of a child, the number of a neighbour of its parent, and a child of that: 0 if they are near, or 1 +
	 * HD_FMM_REFLECTIONS * matrix + reflection (hd_fmm_offset) */
	uint16_t kinds[8][HD_FMM_NEAR][8];
	int first_far; /* the first level on which cells have far cells, and therefore expansions */
};
int hd_fmm_near_make(struct hd_fmm_near *near, const struct hd_fmm_tree *targets, const struct hd_fmm_tree *sources,
                     int periodic);
void hd_fmm_near_free(struct hd_fmm_near *near);

/* A translation between far cells. */
struct hd_fmm_far {
	uint32_t source;
	uint16_t kind; /* HD_FMM_REFLECTIONS * matrix + reflection */
};
/* Writes the cells far from a target, 189 at most, and returns how many there are. The level is at least
 * near->first_far; the root cell is far from itself by the matrix HD_FMM_IMAGES. */
size_t hd_fmm_far_of(const struct hd_fmm_near *near, const struct hd_fmm_tree *targets,
                     const struct hd_fmm_tree *sources, int level, uint32_t target, struct hd_fmm_far *out);
enum { HD_FMM_MOST_FAR = 189 };

/* A leaf of sources that acts directly on a leaf of targets. */
struct hd_fmm_direct {
	uint32_t cell;
	int level;
	int offset[3]; /* of its centre from that of the target, in halves of the side of a leaf on level `depth` */
};
/* A list of them. `all` NULL: they are only counted. */
struct hd_fmm_directs {
	struct hd_fmm_direct *all;
	size_t n, sources; /* leaves, and their particles */
};
/* Adds all of a target to an empty list: first its neighbours, or the leaves below them, then larger leaves. */
void hd_fmm_direct_of(const struct hd_fmm_near *near, const struct hd_fmm_tree *targets,
                      const struct hd_fmm_tree *sources, int level, uint32_t target, struct hd_fmm_directs *out);

#endif
