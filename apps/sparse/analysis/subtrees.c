/* Which subtrees are one task, as in qr_mumps (Agullo, Buttari, Guermouche, Lopez, 2016): all with less work than a
 * limit, which is halved until two rules hold. Both look at the time that the whole machine, with its accelerators,
 * needs at least: for all work if all workers are busy, and for what is one after the other on the longest way from a
 * leaf to the root.
 * (1) Subtrees, which run on cores alone, keep the cores busy for no longer than this time.
 * (2) The largest one, which stands at the beginning of a way to the root, takes at most a tenth of this time. If
 *     there are no accelerators, this is what balances the subtrees: in any order, tasks that are begun as soon as a
 *     worker is free end at most one task after they would if they were spread evenly (Graham, 1966). */
#include "analysis.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* What of the tree the cut depends on. */

struct tree {
	const struct heddle_sparse_analysis *a;
	double *below; /* owns; the work of front f and of all that are below it */
	size_t *first; /* owns; the first of these */
	double work;   /* of all */
	double longest_way;
};

static void tree_free(struct tree *t)
{
	free(t->below);
	free(t->first);
}

static int tree_make(struct tree *t, const struct heddle_sparse_analysis *a, size_t tile)
{
	double *way = calloc(a->n_fronts + 1, sizeof *way); /* the longest one from a leaf to front f */
	*t = (struct tree){.a = a,
	                   .below = calloc(a->n_fronts + 1, sizeof *t->below),
	                   .first = hd_sparse_allocate(a->n_fronts, sizeof *t->first)};
	int status = way && t->below && t->first ? 0 : hd_sparse_no_memory("the subtrees of a matrix");
	for (size_t f = 0; f < a->n_fronts && !status; f++) {
		size_t parent = a->fronts[f].parent, child = a->fronts[f].first_child;
		t->first[f] = child == HD_SPARSE_NONE ? f : t->first[child];
		t->below[f] += hd_sparse_front_work(&a->fronts[f]);
		way[f] += hd_sparse_front_path(&a->fronts[f], tile);
		if (parent == HD_SPARSE_NONE) {
			t->work += t->below[f];
			t->longest_way = larger(t->longest_way, way[f]);
		} else {
			t->below[parent] += t->below[f];
			way[parent] = larger(way[parent], way[f]);
		}
	}
	free(way);
	return status;
}

static int is_root(const struct tree *t, size_t f, double limit)
{
	size_t parent = t->a->fronts[f].parent;
	return t->below[f] <= limit && (parent == HD_SPARSE_NONE || t->below[parent] > limit);
}

static int suits(const struct tree *t, double limit, struct hd_sparse_machine machine)
{
	double sum = 0, largest = 0, time = larger(t->work / machine.power, t->longest_way / machine.fastest);
	for (size_t f = 0; f < t->a->n_fronts; f++)
		if (is_root(t, f, limit)) {
			sum += t->below[f];
			largest = larger(largest, t->below[f]);
		}
	return sum / machine.cores <= time * (1 + 1e-9) && largest <= time / 10;
}

/* Whole trees of the forest are one task together, since a forest of single columns would be many tasks. A root that
 * has a parent is not joined, even if it contributes no row: the parent shares columns with its rows of R, which count
 * when a system with R^H is solved. */
static int joins(const struct heddle_sparse_analysis *a, const struct hd_sparse_subtree *last, size_t first,
                 double work, double limit)
{
	return last->root + 1 == first && a->fronts[last->root].parent == HD_SPARSE_NONE && last->work + work <= limit;
}

static void cut(struct heddle_sparse_analysis *a, const struct tree *t, double limit)
{
	for (size_t f = 0; f < a->n_fronts; f++) {
		if (!is_root(t, f, limit))
			continue;
		struct hd_sparse_subtree *last = a->n_subtrees ? &a->subtrees[a->n_subtrees - 1] : NULL;
		if (last && joins(a, last, t->first[f], t->below[f], limit)) {
			last->root = f;
			last->work += t->below[f];
		} else {
			a->subtrees[a->n_subtrees++] =
			    (struct hd_sparse_subtree){.first_front = t->first[f], .root = f, .work = t->below[f]};
		}
	}
}

static void describe(struct heddle_sparse_analysis *a, size_t number)
{
	struct hd_sparse_subtree *subtree = &a->subtrees[number];
	for (size_t f = subtree->first_front; f <= subtree->root; f++) {
		a->fronts[f].subtree = number;
		subtree->flops += a->fronts[f].flops;
		subtree->factor_elements += hd_sparse_r_elements(&a->fronts[f]) + hd_sparse_h_elements(&a->fronts[f]);
	}
	subtree->work_elements = hd_sparse_work_elements(a, subtree->first_front, subtree->root);
}

/* The largest limit with less than `share` of all work that suits the machine. A share of 0 is qr_mumps's, and then
 * the limit is at least `least`: a task with less work takes so little time that the runtime's own counts. */
static double limit_of(const struct tree *t, double share, struct hd_sparse_machine machine)
{
	static const double of_qr_mumps = 0.01, least = 2e7;
	double limit = (share > 0 ? fmin(share, 1) : of_qr_mumps) * t->work; /* finite, so that halves end */
	while (limit > 1 && !suits(t, limit, machine))
		limit /= 2;
	return share > 0 || limit > least ? limit : least;
}

int hd_sparse_subtrees(struct heddle_sparse_analysis *a, double share, struct hd_sparse_machine machine)
{
	struct tree t;
	if (share < 0)
		return 0;
	int status = tree_make(&t, a, machine.tile);
	a->subtrees = hd_sparse_allocate(a->n_fronts, sizeof *a->subtrees);
	if (!status && !a->subtrees)
		status = hd_sparse_no_memory("the subtrees of a matrix");
	if (!status) {
		cut(a, &t, limit_of(&t, share, machine));
		for (size_t i = 0; i < a->n_subtrees; i++)
			describe(a, i);
		a->statistics.subtrees = a->n_subtrees;
	}
	tree_free(&t);
	return status;
}

int hd_sparse_cut_for(const struct heddle_sparse_analysis *analysis, struct hd_sparse_machine machine,
                      struct heddle_sparse_analysis **out)
{
	struct heddle_sparse_analysis *cut = *out = malloc(sizeof *cut);
	if (!cut)
		return hd_sparse_no_memory("the subtrees of a factorisation");
	*cut = *analysis;
	cut->subtrees = NULL;
	cut->n_subtrees = 0;
	cut->fronts = hd_sparse_allocate(analysis->n_fronts, sizeof *cut->fronts);
	if (!cut->fronts)
		return hd_sparse_no_memory("the subtrees of a factorisation");
	memcpy(cut->fronts, analysis->fronts, analysis->n_fronts * sizeof *cut->fronts);
	for (size_t f = 0; f < cut->n_fronts; f++)
		cut->fronts[f].subtree = HD_SPARSE_NONE;
	return hd_sparse_subtrees(cut, 0, machine);
}

void hd_sparse_cut_free(struct heddle_sparse_analysis *cut)
{
	if (cut) {
		free(cut->fronts);
		free(cut->subtrees);
	}
	free(cut);
}
