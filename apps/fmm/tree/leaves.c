/* Which cells of an octree are leaves: a tree that is finer than any needs to be is made, and its cells become leaves
 * from below wherever that costs less than their children. */
#include <fmm/tree/tree.h>
#include <math.h>
#include <stdlib.h>

/* --- A tree that is too fine -------------------------------------------------------------------------------------- */

static uint64_t octant_of(const struct hd_fmm_sorted *s, int depth, int level)
{
	return s->key >> 3 * (depth - level) & 7;
}

/* Divides the cell of these particles until its descendants have `most` of them, or less where a cell of their size
 * nearby may have many: `crowd` is what it has on average in some cell above. */
static void divide(struct hd_fmm_sorted *s, size_t n, int depth, int level, double most, double crowd)
{
	crowd = (double)n > crowd ? (double)n : crowd;
	if ((double)n * crowd <= most * most || level == depth) {
		for (size_t i = 0; i < n; i++)
			s[i].level = (uint32_t)level;
		return;
	}
	for (size_t begin = 0, end; begin < n; begin = end) {
		for (end = begin + 1; end < n; end++)
			if (octant_of(&s[end], depth, level + 1) != octant_of(&s[begin], depth, level + 1))
				break;
		divide(s + begin, end - begin, depth, level + 1, most, crowd / 8);
	}
}

/* Dividing n particles in space pays from 8 r on, where a translation takes as long as r^2 pairs: it saves 7 / 8 of
 * 27 n^2 pairs, and 8 children have 189 cells far from them. On a surface it pays from 4 r on (3 / 4 of 9 n^2 pairs,
 * 4 children, 27 cells), on a line from 2 r on (1 / 2 of 3 n^2, 2 and 3), where little is lost. */
static double fewest_to_divide(const struct hd_fmm_costs *costs)
{
	return 3 * sqrt(costs->translation / costs->pair);
}

/* --- What cells cost ---------------------------------------------------------------------------------------------- */

/* Of a cell and all below it. */
struct choice {
	double cost; /* the least */
	int is_leaf; /* it is that of a leaf */
	size_t near; /* cells near it */
};

static double up_to(size_t n, size_t full)
{
	return (double)((n + full - 1) / full * full);
}

/* Children have translations, from the cells far from them, one up and one down. Where a neighbour has no children, the
 * pairs with it remain. */
static struct choice choose(const struct hd_fmm_tree *t, const struct hd_fmm_near *near,
                            const struct hd_fmm_costs *costs, int level, size_t cell, const struct choice *below)
{
	const uint32_t *cells = near->levels[level] + HD_FMM_NEAR * cell;
	const struct hd_fmm_level *l = &t->levels[level];
	struct choice choice = {.cost = 0};
	double sources = 0, of_leaves = 0, children = 0, targets = up_to(l->count[cell], costs->lanes);
	size_t around = 0; /* children of cells nearby */
	for (int k = 0; k < HD_FMM_NEAR; k++) {
		if (cells[k] == HD_FMM_NO_CELL)
			continue;
		sources += l->count[cells[k]];
		of_leaves += hd_fmm_is_leaf(l, cells[k]) ? l->count[cells[k]] : 0;
		around += hd_fmm_children(l, cells[k]);
		choice.near++;
	}
	for (size_t k = l->first_child[cell]; k < l->first_child[cell + 1]; k++)
		children +=
		    below[k].cost + costs->cell +
		    (level + 1 >= near->first_far ? costs->translation * (double)(around + 2 - below[k].near) : 0);
	children += costs->pair * targets * of_leaves;
	choice.cost = costs->pair * targets * sources + 2 * costs->particle * up_to(l->count[cell], HD_FMM_PADDING);
	choice.is_leaf = hd_fmm_is_leaf(l, cell) || choice.cost <= children;
	choice.cost = choice.is_leaf ? choice.cost : children;
	return choice;
}

/* The levels of the particles of a cell. */
static int settle(const struct hd_fmm_tree *t, struct choice *const *choices, int level, size_t cell,
                  struct hd_fmm_sorted *s)
{
	const struct hd_fmm_level *l = &t->levels[level];
	int deepest = level;
	if (choices[level][cell].is_leaf) {
		for (size_t i = 0; i < l->count[cell]; i++)
			s[l->first[cell] + i].level = (uint32_t)level;
		return level;
	}
	for (size_t k = l->first_child[cell]; k < l->first_child[cell + 1]; k++) {
		int below = settle(t, choices, level + 1, k, s);
		deepest = below > deepest ? below : deepest;
	}
	return deepest;
}

/* Returns the level of the smallest leaves, or -1: out of memory. */
static int choose_all(const struct hd_fmm_tree *t, const struct hd_fmm_near *near, const struct hd_fmm_costs *costs,
                      struct hd_fmm_sorted *s)
{
	struct choice *choices[HD_FMM_MOST_DEPTH + 2] = {NULL};
	int depth = 0, level = t->depth;
	for (; level >= 0; level--) {
		choices[level] = malloc((t->levels[level].n + 1) * sizeof *choices[level]);
		for (size_t cell = 0; choices[level] && cell < t->levels[level].n; cell++)
			choices[level][cell] = choose(t, near, costs, level, cell, choices[level + 1]);
		if (!choices[level])
			break;
	}
	if (level >= 0)
		depth = -1;
	else if (t->n > 0)
		depth = settle(t, choices, 0, 0, s);
	for (level = 0; level <= t->depth; level++)
		free(choices[level]);
	return depth;
}

static int choose_leaves(struct hd_fmm_box *box, const struct hd_fmm_costs *costs, struct hd_fmm_sorted *sorted,
                         size_t n)
{
	struct hd_fmm_tree tree;
	struct hd_fmm_near near = {.levels = {NULL}};
	divide(sorted, n, box->depth, 0, fewest_to_divide(costs), 0);
	int status = hd_fmm_tree_make(&tree, box->depth, sorted, n, (struct hd_fmm_particles){0, n});
	status = status ? status : hd_fmm_near_make(&near, &tree, &tree, box->periodic);
	int depth = status ? -1 : choose_all(&tree, &near, costs, sorted);
	hd_fmm_near_free(&near);
	hd_fmm_tree_free(&tree);
	if (depth < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		sorted[i].key >>= 3 * (box->depth - depth);
	box->leaf_side *= 1 << (box->depth - depth);
	box->depth = depth;
	return 0;
}

struct hd_fmm_sorted *hd_fmm_sort_into_leaves(struct hd_fmm_box *box, const struct hd_fmm_costs *costs,
                                              const double *xyz, size_t n)
{
	box->leaf_side /= 1 << (HD_FMM_MOST_DEPTH - box->depth);
	box->depth = HD_FMM_MOST_DEPTH;
	struct hd_fmm_sorted *sorted = hd_fmm_sort(box, xyz, n);
	if (sorted && choose_leaves(box, costs, sorted, n)) {
		free(sorted);
		sorted = NULL;
	}
	return sorted;
}
