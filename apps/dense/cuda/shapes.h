/* Arguments of the kernels of kernels.cu: shared by C, which fills them in, and CUDA C++. */
#ifndef HD_DENSE_CUDA_SHAPES_H
#define HD_DENSE_CUDA_SHAPES_H

/* The elements of a tile that a kernel works on. */
enum hd_dense_cuda_which {
	HD_CUDA_ALL,   /* ALL, LOWER and UPPER have the values of enum heddle_dense_uplo */
	HD_CUDA_LOWER, /* on and below the diagonal */
	HD_CUDA_UPPER, /* on and above it */
	HD_CUDA_NONE
};

/* Part of a tile of m x n elements, of which element (i, j) is on the diagonal of the matrix if i = j + diagonal. */
struct hd_dense_cuda_part {
	long long diagonal;
	int m, n;
	int first; /* first row: earlier rows do not belong to the part */
	int which; /* enum hd_dense_cuda_which */
	int unit;  /* 1: without the diagonal; 0 for HD_CUDA_ALL */
};

/* Flags of `combine`. */
enum {
	HD_CUDA_CLEAR = 1,    /* elements outside the part become 0 */
	HD_CUDA_DIAGONAL = 2, /* elements outside the part become `alpha` on the diagonal, 0 elsewhere */
	HD_CUDA_REAL = 4      /* the part's elements on the diagonal become real */
};

/* A random matrix, and the window of the matrix that a tile contains: see struct hd_dense_window. */
struct hd_dense_cuda_random {
	unsigned long long seed, row, column, order;
	int rows, columns;
	int symmetric, hermitian; /* `hermitian` implies `symmetric` */
	int dominant;             /* the order of the matrix is added on the diagonal */
};

/* Tiles that lie below each other. All but the last have as many rows as the first. */
enum { HD_CUDA_TILES = 128 }; /* number of tiles whose places are passed in one launch */
struct hd_dense_cuda_tile {
	void *a;
	long long ld;
};
struct hd_dense_cuda_tiles {
	struct hd_dense_cuda_tile tiles[HD_CUDA_TILES];
	int first, count;
};

/* Interchanges of rows: see struct hd_swaps. `rows`: number of rows of the stack, which every pivot must be below. */
struct hd_dense_cuda_swaps {
	int count, first, origin, forward;
	int tile_rows, rows;
};

/* The most columns of a panel of QR that one kernel reduces. */
enum { HD_CUDA_PANEL = 32 };

#endif
