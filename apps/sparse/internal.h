/* What the files of apps/sparse share.
 *
 * matrix/    matrices by compressed columns: triplets, Matrix Market, families of matrices that can be made exactly
 * analysis/  ordering (CHOLMOD), fronts, amalgamation, the places of rows and columns, operations, memory, subtrees
 * kernels/   a front by one thread, in four precisions
 * tasks/     codelets; the tasks of a front on tiles; the factorisation in postorder; applying Q, R; solving
 * experiments/  the factorisation as an application of the command, with its check
 */
#ifndef HD_SPARSE_INTERNAL_H
#define HD_SPARSE_INTERNAL_H

#include <heddle/sparse.h>

/* Analysis. "Columns" are columns of the factorised matrix F (A, or A^H if A has fewer rows than columns) in the order
 * of elimination; "rows" are rows of F sorted by their leftmost column (rows without elements stand last). */

#define HD_SPARSE_NONE SIZE_MAX

/* A front: a dense matrix of n_rows x n_columns. Its first n_pivots columns are columns first_pivot, first_pivot + 1
 * ... of F. It is factorised as a whole (all columns), so that what its parent gets of it is the upper trapezoid from
 * row and column n_pivots on: its contribution.
 *
 * The rows of a front are sorted by their leftmost column: rows of F, and rows of the contributions of its children.
 * Row i of a contribution has its leftmost element in column i of the contribution. */
struct hd_sparse_front {
	size_t parent;                    /* its number; HD_SPARSE_NONE: a root. Fronts are numbered in postorder */
	size_t first_child, next_sibling; /* of its parent; HD_SPARSE_NONE: none */
	size_t first_pivot, n_pivots;
	size_t n_columns, n_rows;
	size_t first_row, n_own_rows; /* the rows of F whose leftmost column is one of its pivots: first_row ... */
	/* rows of its contribution: min(n_rows, n_columns) - n_pivots, or 0 if that is negative. Its columns are
	 * n_columns - n_pivots */
	size_t n_contributed;
	const int64_t *columns;   /* n_columns, ascending: numbers of columns of F */
	const int64_t *stair;     /* n_columns: how many rows have their leftmost element in this column or before it */
	const int64_t *own_place; /* n_own_rows: which row of the front row first_row + i of F is */
	const int64_t *up_row;    /* n_contributed: which row of the parent row i of the contribution is */
	const int64_t *up_column; /* n_columns - n_pivots: which column of the parent column j of the contribution is */
	double flops;             /* of its factorisation within the staircase, in real arithmetic */
	size_t subtree; /* the number of the subtree that it is in; HD_SPARSE_NONE: it is factorised on tiles */
};

/* A subtree that is one task: fronts first_front ... root, which is all of them, in postorder. Whole trees, whose
 * roots have no parent, may stand in front of the last one in the same task. */
struct hd_sparse_subtree {
	size_t first_front, root;
	double flops;
	double work;            /* hd_sparse_front_work of all of them */
	size_t factor_elements; /* of R and, if it is kept, H of all of its fronts: kernels/ packs them */
	size_t work_elements;   /* the most that its fronts and contributions take at once, in postorder */
};

/* What a cut into subtrees depends on: cores run them, and all of the machine runs tiles. */
struct hd_sparse_machine {
	double cores;
	double power, fastest; /* how many cores have the rate on tiles of all workers together; of the fastest one */
	size_t tile;           /* the order of these tiles */
};

struct heddle_sparse_analysis {
	struct heddle_sparse_statistics statistics;
	int transposed;        /* F = A^H */
	size_t rows, columns;  /* of F: rows >= columns */
	size_t n_elements;     /* of F, and of A, with duplicates */
	int64_t *column_order; /* columns: column k of the order of elimination is this column of F as it was given */
	int64_t *row_order;    /* rows: row i of the sorted rows is this row of F as it was given */
	/* F by rows: elements row_start[i] ... row_start[i + 1] - 1 of row i (sorted) are in the columns `column` (in
	 * the order of elimination, ascending), and are values[source[e]] of A, conjugated if transposed. Duplicates
	 * follow each other. */
	int64_t *row_start, *column, *source;
	size_t n_fronts, n_subtrees;
	struct hd_sparse_front *fronts;
	struct hd_sparse_subtree *subtrees;
	int cut_is_given; /* by the options; or else factorisations make their own */
	void *memory;     /* owns the arrays of the fronts */
};

/* analysis/subtrees.c: the analysis with subtrees that suit the machine. It borrows all from `analysis` but its fronts
 * and subtrees. hd_sparse_cut_free frees it, and NULL. HEDDLE_E_MEMORY. */
int hd_sparse_cut_for(const struct heddle_sparse_analysis *analysis, struct hd_sparse_machine machine,
                      struct heddle_sparse_analysis **out);
void hd_sparse_cut_free(struct heddle_sparse_analysis *cut);

#endif
