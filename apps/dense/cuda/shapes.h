/* Arguments of the kernels of kernels.cu: shared by C, which fills them in, and CUDA C++. */
#ifndef HD_DENSE_CUDA_SHAPES_H
#define HD_DENSE_CUDA_SHAPES_H

/* The elements of a tile that a kernel works on. */
enum hd_dense_cuda_which {
	HD_CUDA_ALL,   /* the first three as in enum heddle_dense_uplo */
	HD_CUDA_LOWER, /* on and below the diagonal */
	HD_CUDA_UPPER, /* on and above it */
	HD_CUDA_NONE
};

/* Part of a tile of m x n elements, of which element (i, j) is on the diagonal of the matrix if i = j + diagonal. */
struct hd_dense_cuda_part {
	long long diagonal;
	int m, n;
	int first; /* the rows before this one are left alone, whatever they belong to */
	int which; /* enum hd_dense_cuda_which */
	int unit;  /* 1: without the diagonal; not of ALL */
};

/* What `combine` does besides: sums of these. */
enum {
	HD_CUDA_CLEAR = 1,    /* what does not belong to the part becomes 0 */
	HD_CUDA_DIAGONAL = 2, /* ... and `alpha` on the diagonal */
	HD_CUDA_REAL = 4      /* the part's elements on the diagonal become real */
};

/* A random matrix and the window of it that a tile is: see struct hd_dense_window. */
struct hd_dense_cuda_random {
	unsigned long long seed, row, column, order;
	int rows, columns;
	int symmetric, hermitian; /* the second includes the first */
	int dominant;             /* the order of the matrix is added on the diagonal */
};

/* Tiles that lie below each other. All but the last have as many rows as the first. */
enum { HD_CUDA_TILES = 128 }; /* whose places are passed on in one launch */
struct hd_dense_cuda_tile {
	void *a;
	long long ld;
};
struct hd_dense_cuda_tiles {
	struct hd_dense_cuda_tile tiles[HD_CUDA_TILES];
	int first, count;
};

/* Interchanges of rows, as struct hd_swaps has them. `rows`: of the stack; a pivot must be one of them. */
struct hd_dense_cuda_swaps {
	int count, first, origin, forward;
	int tile_rows, rows;
};

/* The largest panels of QR that one kernel takes. */
enum { HD_CUDA_PANEL = 32 };

#endif
