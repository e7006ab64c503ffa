/* The values of the tasks of LU factorisations. */
#ifndef HD_DENSE_LU_VALUES_H
#define HD_DENSE_LU_VALUES_H

#include <stddef.h>

/* Of getrf_nopiv, whose datum is a tile on the diagonal, and of getrf_panel, whose data are the tiles of a column from
 * the diagonal on, and the pivots. */
struct hd_dense_lu_values {
	size_t row; /* of the first tile's first element */
	/* a pivot that is zero fails the task, because what comes next divides by it; else only `info` names it */
	int must_be_regular;
	size_t *info;
};

/* Of laswp, whose data are the tiles of a column from some row on, and one or more vectors of pivots, the first of
 * which interchanges that row. */
struct hd_dense_laswp_values {
	size_t row;     /* of the first tile's first element */
	size_t n_tiles; /* among the data; the others are pivots */
	int backward;   /* the interchanges are undone, the last first */
};

#endif
