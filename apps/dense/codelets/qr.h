/* Values of the tasks of QR factorisations: codelets/qr.c. */
#ifndef HD_DENSE_CODELETS_QR_H
#define HD_DENSE_CODELETS_QR_H

#include <heddle/dense.h>

struct hd_dense_apply_values { /* of gemqrt, tsmqr, ttmqr */
	enum heddle_dense_side side;
	enum heddle_dense_trans trans; /* NO_TRANS or CONJ_TRANS */
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
