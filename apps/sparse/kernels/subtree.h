/* A subtree by one thread: the sequential multifrontal method, with a stack of contributions. It may be several trees,
 * of which the last one alone contributes to a front outside. */
#ifndef HD_SPARSE_KERNELS_SUBTREE_H
#define HD_SPARSE_KERNELS_SUBTREE_H

#include <sparse/kernels/front.h>

/* A subtree, and where what belongs to its fronts begins in arrays for all of it. */
struct hd_sparse_job {
	const struct heddle_sparse_analysis *analysis; /* all pointers are borrowed */
	const struct hd_sparse_subtree *tree;
	struct hd_sparse_packing packing;
	const size_t *packed_at; /* where the factors of front f of the analysis begin in the factors of its subtree */
	/* of front f: the rows, the columns of all fronts of the analysis before it */
	const size_t *row_at, *column_at;
};
/* Elements of the workspace of sparse_subtree_factorise; of the other functions with up to HD_QR_CHUNK right-hand
 * sides. */
size_t hd_sparse_subtree_work(const struct hd_sparse_job *job);
size_t hd_sparse_subtree_small_work(const struct hd_sparse_job *job);

/* Rows, columns of all fronts of the subtree together, and of the fronts before front f. */
static inline size_t hd_sparse_subtree_rows(const struct hd_sparse_job *job)
{
	return job->row_at[job->tree->root + 1] - job->row_at[job->tree->first_front];
}
static inline size_t hd_sparse_subtree_columns(const struct hd_sparse_job *job)
{
	return job->column_at[job->tree->root + 1] - job->column_at[job->tree->first_front];
}

#define HD_TEMPLATE <sparse/kernels/subtree.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* Factorises a subtree of the matrix with these values: its packed factors, and the contribution of its root, if that
 * has one. Returns as sparse_add_own. */
int64_t P(sparse_subtree_factorise)(const struct hd_sparse_job *job, const element *values, element *packed,
                                    struct P(view) contribution, element *work);

/* The rows of front f in B, which has the rows of all fronts of the subtree below each other. */
struct P(view) P(sparse_rows_of)(const struct hd_sparse_job *job, size_t f, struct P(view) b);
struct P(view) P(sparse_columns_of)(const struct hd_sparse_job *job, size_t f, struct P(view) z);

/* B := Q^H B, for the rows of F in `in`. */
void P(sparse_subtree_up)(const struct hd_sparse_job *job, const element *packed, const struct hd_sparse_array *in,
                          struct P(view) b, element *work);
/* B := Q B, where B has what belongs to R and to no front above, and the contributed rows of the root. Rows of F are
 * written to `out`. */
void P(sparse_subtree_down)(const struct hd_sparse_job *job, const element *packed, struct P(view) b,
                            const struct hd_sparse_array *out, element *work);

/* x := R^-1 (B - R12 x) for the pivots of the subtree, where the unknowns of fronts above are in `x`. B changes.
 * Returns -1, or the column of F whose |r_jj| is not larger than `tolerance`. */
int64_t P(sparse_subtree_back)(const struct hd_sparse_job *job, const element *packed, struct P(view) b,
                               const struct hd_sparse_array *x, double tolerance, element *work);
/* Z, a row for each column of a front := the right-hand side in its pivots, 0 elsewhere; and adds to the Z of the
 * parent, TO, what a child's Z has for the columns of the parent. */
void P(sparse_begin_columns)(const struct hd_sparse_front *front, const struct hd_sparse_array *in, struct P(view) z);
void P(sparse_add_rest)(const struct hd_sparse_front *child, struct P(view) z, struct P(view) to);
/* Z, which has the columns of all fronts below each other := R^-H of the right-hand side `in`, in the pivots; what is
 * to be added to columns of fronts above, in the other columns of the root. Returns as sparse_subtree_back. */
int64_t P(sparse_subtree_forward)(const struct hd_sparse_job *job, const element *packed,
                                  const struct hd_sparse_array *in, struct P(view) z, double tolerance);

#endif
