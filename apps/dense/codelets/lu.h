/* The values of the tasks of LU factorisations. */
#ifndef HD_DENSE_LU_VALUES_H
#define HD_DENSE_LU_VALUES_H

#include <stddef.h>

/* Values of getrf_nopiv, whose datum is a tile on the diagonal, and of getrf_panel, whose data are the tiles of a
 * column from the diagonal on, and the pivots. */
struct hd_dense_lu_values {
	size_t row; /* of the first tile's first element */
	/* 1: a zero pivot fails the task, because later tasks divide by it; 0: only `info` names it */
	int must_be_regular;
	size_t *info;
};

/* Values of laswp, whose data are the tiles of a column from row `row` on, and one or more vectors of pivots, of which
 * the first one interchanges row `row`. */
struct hd_dense_laswp_values {
	size_t row;     /* of the first tile's first element */
	size_t n_tiles; /* number of tiles among the data; the other data are pivots */
	int backward;   /* 1: the interchanges are undone, the last interchange first */
};

#endif
