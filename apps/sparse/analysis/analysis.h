/* The parts of an analysis. */
#ifndef HD_SPARSE_ANALYSIS_H
#define HD_SPARSE_ANALYSIS_H

#include <sparse/internal.h>
#include <sparse/matrix/matrix.h>

/* The pattern of the factorised matrix F, as it was given, in both directions. */
struct hd_sparse_pattern {
	size_t rows, columns, n_elements, n_duplicates;
	/* element e of column j, column_start[j] <= e < column_start[j + 1]: its row is column_rows[e], its value is
	 * values[source[e]] of A */
	const int64_t *column_start, *column_rows;
	const int64_t *source; /* NULL: source[e] = e */
	/* element e of row i, row_start[i] <= e < row_start[i + 1], in any order: its column is row_columns[e] */
	const int64_t *row_start, *row_columns;
};

/* The elimination tree of the columns of F in an order of elimination that is a postorder of the tree. */
struct hd_sparse_tree {
	int64_t *order;  /* owns; column k of the order is this column of F */
	int64_t *parent; /* owns; of column k; -1: a root */
	int64_t *count;  /* owns; elements of row k of R, as a Cholesky factorisation of F^H F has them */
	double flops;    /* of such a factorisation */
};

/* order.c: orders columns, and finds their tree. HEDDLE_E_MEMORY, HEDDLE_E_INVALID. */
int hd_sparse_order(const struct hd_sparse_pattern *f, const struct heddle_sparse_analysis_options *options,
                    struct hd_sparse_tree *out);
void hd_sparse_tree_free(struct hd_sparse_tree *tree);

/* What the steps below work on. */
struct hd_sparse_work {
	const struct hd_sparse_pattern *f;
	struct hd_sparse_tree tree;
	struct heddle_sparse_analysis *analysis;
	int64_t *front_of; /* owns; the front of which column k is a pivot */
};

/* fronts.c: makes the fronts: pivots, number of columns, parents. */
int hd_sparse_fronts(struct hd_sparse_work *work);
/* rows.c: sorts rows by their leftmost columns, and writes F by rows. */
int hd_sparse_rows(struct hd_sparse_work *work);
/* structure.c: the columns of the fronts, and where rows and columns go. */
int hd_sparse_structure(struct hd_sparse_work *work);
/* costs.c: operations, elements, memory. */
void hd_sparse_costs(struct heddle_sparse_analysis *analysis);
/* The most elements that fronts first ... last and their contributions take at once. */
size_t hd_sparse_work_elements(const struct heddle_sparse_analysis *analysis, size_t first, size_t last);
/* Elements of R in a front; of its reflectors; of its contribution. */
size_t hd_sparse_r_elements(const struct hd_sparse_front *front);
size_t hd_sparse_h_elements(const struct hd_sparse_front *front);
size_t hd_sparse_contribution_elements(const struct hd_sparse_front *front);
/* What a core does for a front that it factorises alone, in operations on tiles that take as long. */
double hd_sparse_front_work(const struct hd_sparse_front *front);
/* What is one after the other if the front is factorised on tiles of this order by a flat tree, in operations. */
double hd_sparse_front_path(const struct hd_sparse_front *front, size_t tile);
/* subtrees.c: cuts off the subtrees that are one task: each has less than `share` of all work, or less if these do not
 * suit the machine. Share 0: the default; negative: none. */
int hd_sparse_subtrees(struct heddle_sparse_analysis *analysis, double share, struct hd_sparse_machine machine);

#endif
