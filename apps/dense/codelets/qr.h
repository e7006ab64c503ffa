/* Values of the tasks of QR factorisations: codelets/qr.c. */
#ifndef HD_DENSE_CODELETS_QR_H
#define HD_DENSE_CODELETS_QR_H

#include <heddle/dense.h>

/* Values of the tasks that make or apply reflectors. The columns of V may be a strip of a tile, from the tile's column
 * `first` on. Then the diagonal begins in row `first` of V, or of the triangle R above V; and V is applied to the rows
 * from `first` on. */
struct hd_dense_qr_values {
	enum heddle_dense_side side;   /* for gemqrt, tsmqr, ttmqr */
	enum heddle_dense_trans trans; /* for gemqrt, tsmqr, ttmqr: NO_TRANS or CONJ_TRANS */
	int first;
};
struct hd_dense_rank_values {
	size_t row; /* row of the tile's first element in the matrix, for messages */
	size_t *info;
};
/* Elements (i, j) of a tile, i >= first, become `diagonal` where i = j in the matrix, and 0 elsewhere. */
struct hd_dense_set_values {
	size_t first;       /* row of the tile */
	size_t row, column; /* position of the tile's first element in the matrix */
	double diagonal;
};

#endif
