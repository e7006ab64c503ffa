/* Values of the tasks of QR factorisations: codelets/qr.c. */
#ifndef HD_DENSE_CODELETS_QR_H
#define HD_DENSE_CODELETS_QR_H

#include <heddle/dense.h>

/* Of the tasks that make reflectors or apply them. The columns of V may be those of a tile from column `first` on: then
 * the diagonal begins in row `first` of V, or of the triangle R above it, and so does what V is applied to. */
struct hd_dense_qr_values {
	enum heddle_dense_side side;   /* of gemqrt, tsmqr, ttmqr */
	enum heddle_dense_trans trans; /* of these: NO_TRANS or CONJ_TRANS */
	int first;
};
struct hd_dense_rank_values {
	size_t row; /* of the tile's first element, for messages */
	size_t *info;
};
/* Elements (i, j) of a tile, i >= first, become `diagonal` where i = j in the matrix, and 0 elsewhere. */
struct hd_dense_set_values {
	size_t first;       /* row of the tile */
	size_t row, column; /* of the tile's first element in the matrix */
	double diagonal;
};

#endif
