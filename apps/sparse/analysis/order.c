/* The order of elimination and the elimination tree, by CHOLMOD (Chen, Davis, Hager, Rajamanickam: Algorithm 887,
 * 2008): nested dissection of F^H F by METIS (Karypis, Kumar, 1998), or COLAMD (Davis, Gilbert, Larimore, Ng: Algorithm
 * 836, 2004); the tree by Liu's algorithm (1986), the counts of rows of R by Gilbert's, Li's, Ng's and Peyton's (2001).
 * Only modules of CHOLMOD are called that are under the LGPL: Core, Cholesky, Partition.
 *
 * For CHOLMOD the matrix is F^T, whose columns are the rows of F. */
#include "analysis.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <cholmod.h>

/* METIS draws random numbers from the C library, whose sequence belongs to the process: by turns, its result is always
 * the same. */
static pthread_mutex_t metis = PTHREAD_MUTEX_INITIALIZER;

struct ordering {
	cholmod_common common;
	cholmod_sparse matrix;
	const struct hd_sparse_pattern *f;
	int64_t *start, *index; /* own; the matrix without duplicates, if F has some */
	int64_t *thin;          /* owns; the rows of F that orderings look at; NULL: all */
	size_t n_thin;
	int64_t *post, *first, *level; /* own; workspace */
};

void hd_sparse_tree_free(struct hd_sparse_tree *tree)
{
	free(tree->order);
	free(tree->parent);
	free(tree->count);
	memset(tree, 0, sizeof *tree);
}

static int allocate_tree(size_t n, struct hd_sparse_tree *tree)
{
	tree->order = hd_sparse_allocate(n, sizeof *tree->order);
	tree->parent = hd_sparse_allocate(n, sizeof *tree->parent);
	tree->count = hd_sparse_allocate(n, sizeof *tree->count);
	if (tree->order && tree->parent && tree->count)
		return 0;
	hd_sparse_tree_free(tree);
	return hd_sparse_no_memory("the elimination tree of a matrix");
}

static int failed(const struct ordering *o, const char *what)
{
	int status = o->common.status;
	if (status == CHOLMOD_OUT_OF_MEMORY || status == CHOLMOD_TOO_LARGE)
		return hd_sparse_no_memory(what);
	if (status == CHOLMOD_NOT_INSTALLED)
		return heddle_error(HEDDLE_E_UNSUPPORTED, "this CHOLMOD was built without what makes %s", what);
	return heddle_error(HEDDLE_E_STATE, "CHOLMOD has failed with status %d when it made %s", status, what);
}

/* CHOLMOD takes each element once. */
static int without_duplicates(struct ordering *o)
{
	const struct hd_sparse_pattern *f = o->f;
	int64_t *seen = hd_sparse_allocate(f->columns, sizeof *seen), n = 0; /* the last row that had this column */
	o->start = hd_sparse_allocate(f->rows + 1, sizeof *o->start);
	o->index = hd_sparse_allocate(f->n_elements, sizeof *o->index);
	if (!seen || !o->start || !o->index) {
		free(seen);
		return hd_sparse_no_memory("the pattern of a matrix");
	}
	memset(seen, 0xff, f->columns * sizeof *seen);
	for (size_t i = 0; i < f->rows; i++) {
		o->start[i] = n;
		for (int64_t e = f->row_start[i]; e < f->row_start[i + 1]; e++)
			if (seen[f->row_columns[e]] != (int64_t)i) {
				seen[f->row_columns[e]] = (int64_t)i;
				o->index[n++] = f->row_columns[e];
			}
	}
	o->start[f->rows] = n;
	free(seen);
	return 0;
}

/* Dense rows would fill F^H F: orderings do without rows of more than max(16, 10 sqrt(columns)) elements. */
static int leave_out_dense_rows(struct ordering *o)
{
	const int64_t *start = o->matrix.p;
	double most = fmax(16, 10 * sqrt((double)o->f->columns));
	size_t n = 0;
	for (size_t i = 0; i < o->f->rows; i++)
		n += (double)(start[i + 1] - start[i]) <= most;
	if (n == o->f->rows)
		return 0;
	o->thin = hd_sparse_allocate(n, sizeof *o->thin);
	if (!o->thin)
		return hd_sparse_no_memory("the rows of a matrix");
	for (size_t i = 0; i < o->f->rows; i++)
		if ((double)(start[i + 1] - start[i]) <= most)
			o->thin[o->n_thin++] = (int64_t)i;
	return 0;
}

static int begin(struct ordering *o)
{
	const struct hd_sparse_pattern *f = o->f;
	cholmod_l_start(&o->common);
	o->common.print = 0;
	int status = f->n_duplicates ? without_duplicates(o) : 0;
	o->matrix = (cholmod_sparse){.nrow = f->columns,
	                             .ncol = f->rows,
	                             .p = (void *)(o->start ? o->start : f->row_start),
	                             .i = (void *)(o->index ? o->index : f->row_columns),
	                             .itype = CHOLMOD_LONG,
	                             .xtype = CHOLMOD_PATTERN,
	                             .packed = 1};
	o->post = hd_sparse_allocate(f->columns, sizeof *o->post);
	o->first = hd_sparse_allocate(f->columns, sizeof *o->first);
	o->level = hd_sparse_allocate(f->columns, sizeof *o->level);
	if (!status && (!o->post || !o->first || !o->level))
		status = hd_sparse_no_memory("the elimination tree of a matrix");
	if (status)
		return status;
	o->matrix.nzmax = (size_t)((int64_t *)o->matrix.p)[f->rows];
	return leave_out_dense_rows(o);
}

static void end(struct ordering *o)
{
	cholmod_l_finish(&o->common);
	free(o->start);
	free(o->index);
	free(o->thin);
	free(o->post);
	free(o->first);
	free(o->level);
}

static int order_by_metis(struct ordering *o, int64_t *order)
{
	pthread_mutex_lock(&metis);
	int done = cholmod_l_metis(&o->matrix, o->thin, o->n_thin, 0, order, &o->common);
	pthread_mutex_unlock(&metis);
	return done ? 0 : failed(o, "the ordering by METIS");
}

static int order_by_colamd(struct ordering *o, int64_t *order)
{
	int done = cholmod_l_colamd(&o->matrix, o->thin, o->n_thin, 0, order, &o->common);
	return done ? 0 : failed(o, "the ordering by COLAMD");
}

static int order_naturally(struct ordering *o, int64_t *order)
{
	for (size_t k = 0; k < o->f->columns; k++)
		order[k] = (int64_t)k;
	return 0;
}

/* The tree for tree->order. */
static int find_tree(struct ordering *o, struct hd_sparse_tree *tree)
{
	if (!cholmod_l_analyze_ordering(&o->matrix, CHOLMOD_GIVEN, tree->order, NULL, 0, tree->parent, o->post,
	                                tree->count, o->first, o->level, &o->common))
		return failed(o, "the elimination tree");
	tree->flops = o->common.fl;
	return 0;
}

/* An ordering with its tree. */
static int order_and_find_tree(struct ordering *o, int (*order)(struct ordering *o, int64_t *order),
                               struct hd_sparse_tree *tree)
{
	int status = allocate_tree(o->f->columns, tree);
	if (!status)
		status = order(o, tree->order);
	if (!status)
		status = find_tree(o, tree);
	if (status)
		hd_sparse_tree_free(tree);
	return status;
}

/* METIS, which cannot order the largest matrices, and COLAMD: what has fewer operations. */
static int order_best(struct ordering *o, struct hd_sparse_tree *tree)
{
	struct hd_sparse_tree other = {.flops = 0};
	int status = order_and_find_tree(o, order_by_metis, tree);
	int status_of_other = order_and_find_tree(o, order_by_colamd, &other);
	if (status_of_other)
		return status;
	if (status == 0 && tree->flops <= other.flops) {
		hd_sparse_tree_free(&other);
		return 0;
	}
	hd_sparse_tree_free(tree);
	*tree = other;
	return 0;
}

/* Renumbers columns by a postorder of the tree in which the child with the longest row of R comes last: it is the one
 * that can be amalgamated with its parent. */
static int renumber(struct ordering *o, struct hd_sparse_tree *tree)
{
	size_t n = o->f->columns;
	struct hd_sparse_tree old = *tree;
	int64_t *number = o->first;
	if (cholmod_l_postorder(old.parent, n, old.count, o->post, &o->common) != (int64_t)n)
		return failed(o, "a postorder");
	struct hd_sparse_tree new = {.flops = old.flops};
	int status = allocate_tree(n, &new);
	if (status)
		return status;
	for (size_t k = 0; k < n; k++)
		number[o->post[k]] = (int64_t)k;
	for (size_t k = 0; k < n; k++) {
		int64_t was = o->post[k];
		new.order[k] = old.order[was];
		new.parent[k] = old.parent[was] < 0 ? -1 : number[old.parent[was]];
		new.count[k] = old.count[was];
	}
	hd_sparse_tree_free(&old);
	*tree = new;
	return 0;
}

/* The columns in the order that the program has given. */
static int order_as_given(struct ordering *o, const int64_t *given, struct hd_sparse_tree *tree)
{
	size_t n = o->f->columns;
	if (n && !given)
		return heddle_error(HEDDLE_E_INVALID, "HEDDLE_SPARSE_GIVEN needs an order");
	int status = allocate_tree(n, tree);
	if (status)
		return status;
	memset(o->post, 0, n * sizeof *o->post);
	for (size_t k = 0; !status && k < n; k++) {
		if (given[k] < 0 || (uint64_t)given[k] >= n || o->post[given[k]]++)
			status = heddle_error(
			    HEDDLE_E_INVALID, "order[%zu] is %lld, which is %s: an order has each of %zu columns once",
			    k, (long long)given[k],
			    given[k] < 0 || (uint64_t)given[k] >= n ? "no column" : "there before", n);
		tree->order[k] = given[k];
	}
	if (!status)
		status = find_tree(o, tree);
	if (status)
		hd_sparse_tree_free(tree);
	return status;
}

int hd_sparse_order(const struct hd_sparse_pattern *f, const struct heddle_sparse_analysis_options *options,
                    struct hd_sparse_tree *out)
{
	struct ordering o = {.f = f};
	int status = begin(&o);
	if (!status)
		switch (options->ordering) {
		case HEDDLE_SPARSE_BEST: status = order_best(&o, out); break;
		case HEDDLE_SPARSE_METIS: status = order_and_find_tree(&o, order_by_metis, out); break;
		case HEDDLE_SPARSE_COLAMD: status = order_and_find_tree(&o, order_by_colamd, out); break;
		case HEDDLE_SPARSE_NATURAL: status = order_and_find_tree(&o, order_naturally, out); break;
		case HEDDLE_SPARSE_GIVEN: status = order_as_given(&o, options->order, out); break;
		default: status = heddle_error(HEDDLE_E_INVALID, "ordering %d is none", (int)options->ordering); break;
		}
	if (!status)
		status = renumber(&o, out);
	end(&o);
	return status;
}
