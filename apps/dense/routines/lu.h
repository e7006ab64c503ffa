/* Declarations for the routines of the LU family. */
#ifndef HD_DENSE_LU_ROUTINES_H
#define HD_DENSE_LU_ROUTINES_H

#include <dense/internal.h>

/* Interchanges of rows in a column of tiles: the interchanges of the parts [from, to) of the pivots. */
struct hd_dense_interchanges {
	size_t column, from, to;
	int backward; /* 1: they are undone, the last interchange first */
};
/* Inserts a task that makes the interchanges in matrix C, with the pivots x->pivots. */
void hd_dense_laswp_insert(struct hd_dense_flow *flow, const struct hd_dense_args *x, const heddle_dense_matrix *c,
                           const struct hd_dense_interchanges *which);

/* Tasks on columns of tiles that are cut into smaller tiles: routines/lu_columns.c. Cuts the pivots in the same way as
 * the first tile of `a`, unless they are cut already. HEDDLE_E_MEMORY. */
int hd_lu_plan_pivots(heddle_dense_pivots *pivots, const heddle_dense_matrix *a);
/* Whether part k of the pivots is cut in the same way as the first tile of `a`. */
int hd_lu_pivots_fit(const heddle_dense_pivots *pivots, size_t k, const heddle_dense_matrix *a);
/* Whether the tiles of column j from row `first` on are cut so that the smaller tiles are a matrix. */
int hd_lu_column_is_cut(const heddle_dense_matrix *c, size_t first, size_t j);

/* The factorisation of x->m[0], with pivoting if there are x->pivots, and B := L^-1 P B for x->m[1] if it is not
 * NULL. */
void hd_dense_getrf_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x);

/* Checks that the matrices have all tiles; that x->m[0] is square, if `square`; that x->m[1], if it is not NULL, has as
 * many rows; and that x->pivots, if not NULL, belong to x->m[0]. 0, or HEDDLE_E_INVALID with a sentence that names the
 * routine. */
int hd_dense_check_lu(const char *routine, const struct hd_dense_args *x, int square);

/* Arguments of a call that waits, with pivots in the program's array `ipiv`, or in temporaries if it is NULL. */
struct hd_dense_args hd_dense_pivoted(int *ipiv);

#endif
