/* Which subtrees are one task: those with less than a share of all operations, as in qr_mumps (Agullo, Buttari,
 * Guermouche, Lopez, 2016). The share is halved until subtrees can be spread evenly over the workers. */
#include "analysis.h"
#include <stdlib.h>

enum { MOST_HALVINGS = 6 };

/* below[f]: operations of front f and all that are below it. */
static void add_up(const struct heddle_sparse_analysis *a, double *below, size_t *first)
{
	for (size_t f = 0; f < a->n_fronts; f++) {
		below[f] = a->fronts[f].flops;
		first[f] = f;
	}
	for (size_t f = 0; f < a->n_fronts; f++) {
		size_t parent = a->fronts[f].parent;
		if (parent == HD_SPARSE_NONE)
			continue;
		below[parent] += below[f];
		first[parent] = first[f] < first[parent] ? first[f] : first[parent];
	}
}

static int is_root(const struct heddle_sparse_analysis *a, const double *below, size_t f, double limit)
{
	size_t parent = a->fronts[f].parent;
	return below[f] <= limit && (parent == HD_SPARSE_NONE || below[parent] > limit);
}

/* In any order, tasks that are begun as soon as a worker is free end at most one task after they would if they were
 * spread evenly (Graham, 1966): this must fit into what each worker has to do in all. */
static int balances(const struct heddle_sparse_analysis *a, const double *below, double limit, int workers)
{
	double all = 0, largest = 0;
	for (size_t f = 0; f < a->n_fronts; f++)
		if (is_root(a, below, f, limit)) {
			all += below[f];
			largest = below[f] > largest ? below[f] : largest;
		}
	return all / workers + largest <= 1.1 * a->statistics.flops / workers;
}

/* Whole trees of the forest are one task together, since a forest of single columns would be many tasks. A root that
 * has a parent is not joined, even if it contributes no row: the parent shares columns with its rows of R, which count
 * when a system with R^H is solved. */
static int joins(const struct heddle_sparse_analysis *a, const struct hd_sparse_subtree *last, size_t first,
                 double flops, double limit)
{
	return last->root + 1 == first && a->fronts[last->root].parent == HD_SPARSE_NONE &&
	       last->flops + flops <= limit;
}

static void cut(struct heddle_sparse_analysis *a, const double *below, const size_t *first, double limit)
{
	for (size_t f = 0; f < a->n_fronts; f++) {
		if (!is_root(a, below, f, limit))
			continue;
		struct hd_sparse_subtree *last = a->n_subtrees ? &a->subtrees[a->n_subtrees - 1] : NULL;
		if (last && joins(a, last, first[f], below[f], limit)) {
			last->root = f;
			last->flops += below[f];
		} else {
			a->subtrees[a->n_subtrees++] = (struct hd_sparse_subtree){first[f], f, below[f], 0, 0};
		}
	}
}

static void describe(struct heddle_sparse_analysis *a, size_t number)
{
	struct hd_sparse_subtree *subtree = &a->subtrees[number];
	for (size_t f = subtree->first_front; f <= subtree->root; f++) {
		a->fronts[f].subtree = number;
		subtree->factor_elements += hd_sparse_r_elements(&a->fronts[f]) + hd_sparse_h_elements(&a->fronts[f]);
	}
	subtree->work_elements = hd_sparse_work_elements(a, subtree->first_front, subtree->root);
}

int hd_sparse_subtrees(struct heddle_sparse_analysis *a, const struct heddle_sparse_analysis_options *options)
{
	double share = options->subtree == 0 ? 0.01 : options->subtree, limit = share * a->statistics.flops;
	int workers = options->workers > 0 ? options->workers : 32;
	if (share < 0)
		return 0;
	double *below = hd_sparse_allocate(a->n_fronts, sizeof *below);
	size_t *first = hd_sparse_allocate(a->n_fronts, sizeof *first);
	a->subtrees = hd_sparse_allocate(a->n_fronts, sizeof *a->subtrees);
	int status = below && first && a->subtrees ? 0 : hd_sparse_no_memory("the subtrees of a matrix");
	if (!status) {
		add_up(a, below, first);
		for (int i = 0; i < MOST_HALVINGS && !balances(a, below, limit, workers); i++)
			limit /= 2;
		cut(a, below, first, limit);
		for (size_t i = 0; i < a->n_subtrees; i++)
			describe(a, i);
		a->statistics.subtrees = a->n_subtrees;
	}
	free(below);
	free(first);
	return status;
}
