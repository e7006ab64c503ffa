/* The fronts: columns with nested rows of R are eliminated in one front, a fundamental supernode (Liu, Ng, Peyton: On
 * finding supernodes for sparse matrix computations, 1993), and a small front joins its parent if that adds few zeros
 * to R: relaxed amalgamation (Ashcraft, Grimes: The influence of relaxed supernode partitions on the multifrontal
 * method, 1989), by the limits that CHOLMOD and SuiteSparseQR have. */
#include "analysis.h"
#include <stdlib.h>
#include <string.h>

/* Consecutive columns. */
struct block {
	size_t first, n_pivots;
	double n_columns; /* of the front */
	double zeros;     /* in its rows of R, by amalgamation */
	size_t parent;    /* the fundamental block that has the parent of its last column; HD_SPARSE_NONE: a root */
	size_t leader;    /* the block that it has joined; itself: none */
};

/* The fundamental supernodes: their number. `of`: the block of each column. */
static size_t find_blocks(const struct hd_sparse_tree *tree, size_t n, int64_t *n_children, struct block *blocks,
                          int64_t *of)
{
	size_t n_blocks = 0;
	memset(n_children, 0, n * sizeof *n_children);
	for (size_t k = 0; k < n; k++)
		if (tree->parent[k] >= 0)
			n_children[tree->parent[k]]++;
	for (size_t k = 0; k < n; k++) {
		int goes_on = k > 0 && tree->parent[k - 1] == (int64_t)k && tree->count[k - 1] == tree->count[k] + 1 &&
		              n_children[k] == 1;
		if (!goes_on) {
			blocks[n_blocks] = (struct block){k, 0, (double)tree->count[k], 0, HD_SPARSE_NONE, n_blocks};
			n_blocks++;
		}
		blocks[n_blocks - 1].n_pivots++;
		of[k] = (int64_t)n_blocks - 1;
	}
	for (size_t b = 0; b < n_blocks; b++) {
		int64_t parent = tree->parent[blocks[b].first + blocks[b].n_pivots - 1];
		if (parent >= 0)
			blocks[b].parent = (size_t)of[parent];
	}
	return n_blocks;
}

static size_t leader(struct block *blocks, size_t b)
{
	while (blocks[b].leader != b) {
		blocks[b].leader = blocks[blocks[b].leader].leader;
		b = blocks[b].leader;
	}
	return b;
}

/* Whether a block of so many pivots may have this share of zeros. */
static int may_have(double n_pivots, double share)
{
	return (n_pivots <= 16 && share < 0.8) || (n_pivots <= 48 && share < 0.1) || share < 0.05;
}

/* Joins a block and the next one, which has its parent, unless that makes too many zeros. Those in at most 4 pivots are
 * no matter. */
static void join(struct block *block, struct block *next, size_t leader)
{
	double n = (double)(block->n_pivots + next->n_pivots);
	double added = (double)block->n_pivots * ((double)block->n_pivots + next->n_columns - block->n_columns);
	double elements = n * (n + 1) / 2 + n * (next->n_columns - (double)next->n_pivots);
	added = n <= 4 ? 0 : added;
	if (added > 0 && !may_have(n, (next->zeros + added) / elements))
		return;
	next->leader = leader;
	block->zeros = next->zeros + added;
	block->n_columns = (double)block->n_pivots + next->n_columns;
	block->n_pivots += next->n_pivots;
}

static int make_fronts(struct hd_sparse_work *work, const struct block *blocks, size_t n_blocks)
{
	struct heddle_sparse_analysis *a = work->analysis;
	for (size_t b = 0; b < n_blocks; b++)
		a->n_fronts += blocks[b].leader == b;
	a->fronts = calloc(a->n_fronts + 1, sizeof *a->fronts);
	if (!a->fronts)
		return hd_sparse_no_memory("the fronts of a matrix");
	size_t f = 0;
	for (size_t b = 0; b < n_blocks; b++) {
		if (blocks[b].leader != b)
			continue;
		a->fronts[f] = (struct hd_sparse_front){.parent = HD_SPARSE_NONE,
		                                        .first_child = HD_SPARSE_NONE,
		                                        .next_sibling = HD_SPARSE_NONE,
		                                        .first_pivot = blocks[b].first,
		                                        .n_pivots = blocks[b].n_pivots,
		                                        .n_columns = (size_t)blocks[b].n_columns,
		                                        .subtree = HD_SPARSE_NONE};
		for (size_t k = 0; k < blocks[b].n_pivots; k++)
			work->front_of[blocks[b].first + k] = (int64_t)f;
		f++;
	}
	return 0;
}

/* Children in ascending order. */
static void link_fronts(struct hd_sparse_work *work)
{
	struct heddle_sparse_analysis *a = work->analysis;
	for (size_t f = a->n_fronts; f-- > 0;) {
		struct hd_sparse_front *front = &a->fronts[f];
		int64_t parent = work->tree.parent[front->first_pivot + front->n_pivots - 1];
		if (parent < 0)
			continue;
		front->parent = (size_t)work->front_of[parent];
		front->next_sibling = a->fronts[front->parent].first_child;
		a->fronts[front->parent].first_child = f;
	}
}

int hd_sparse_fronts(struct hd_sparse_work *work)
{
	size_t n = work->f->columns;
	struct block *blocks = hd_sparse_allocate(n, sizeof *blocks);
	int64_t *n_children = hd_sparse_allocate(n, sizeof *n_children);
	work->front_of = hd_sparse_allocate(n, sizeof *work->front_of);
	int status = blocks && n_children && work->front_of ? 0 : hd_sparse_no_memory("the fronts of a matrix");
	if (!status) {
		size_t n_blocks = find_blocks(&work->tree, n, n_children, blocks, work->front_of);
		for (size_t b = n_blocks; b-- > 0;)
			if (blocks[b].parent != HD_SPARSE_NONE && leader(blocks, blocks[b].parent) == b + 1)
				join(&blocks[b], &blocks[b + 1], b);
		status = make_fronts(work, blocks, n_blocks);
	}
	if (!status)
		link_fronts(work);
	free(blocks);
	free(n_children);
	return status;
}
