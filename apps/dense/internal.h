/* What the files of apps/dense share. */
#ifndef HD_DENSE_INTERNAL_H
#define HD_DENSE_INTERNAL_H

#include <dense/dense.h>

/* Weak, because only OpenBLAS has these functions. Any other BLAS must be sequential. */
extern void openblas_set_num_threads(int n) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

enum hd_dense_op {
	HD_DENSE_POTRF,
	HD_DENSE_TRSM,
	HD_DENSE_SYRK,
	HD_DENSE_GEMM,
	HD_DENSE_COPY,
	HD_DENSE_SPD,
	HD_DENSE_RESIDUAL_BEGIN,
	HD_DENSE_RESIDUAL_END,
	HD_DENSE_N_OPS
};

struct heddle_dense {
	heddle_runtime *rt;                          /* borrows until closed */
	heddle_codelet *codelets[2][HD_DENSE_N_OPS]; /* by precision; owned by the runtime */
};

struct heddle_dense_matrix {
	heddle_dense *dense; /* borrows until destroyed */
	struct heddle_dense_shape shape;
	size_t tile_rows, tile_columns;
	int temporary;
	heddle_data *tiles[]; /* owns; tile (i, j) at i + j * tile_rows, NULL above the diagonal of a lower matrix */
};

/* The part of the random matrix that a task generates. It is passed to the task as a value. */
struct hd_dense_window {
	uint64_t seed;
	size_t order;         /* order of the whole matrix */
	size_t row, column;   /* position of the window's first element in the matrix */
	size_t rows, columns; /* extents of the window; the datum may be larger */
};

/* kernels.c: makes all codelets of one runtime. */
int hd_dense_codelets(heddle_dense *dense);
/* Operations of one task (potrf, trsm, syrk or gemm) whose data have the extents m, n and k. */
double hd_dense_flops(enum hd_dense_op op, double m, double n, double k);

static inline heddle_codelet *hd_dense_codelet(const heddle_dense_matrix *a, enum hd_dense_op op)
{
	return a->dense->codelets[a->shape.precision][op];
}

/* Bytes of one element. */
static inline size_t hd_dense_elem_size(enum heddle_dense_precision precision)
{
	return precision == HEDDLE_DENSE_DOUBLE ? sizeof(double) : sizeof(float);
}
/* matrix.c: the window of tile (i, j). */
struct hd_dense_window hd_dense_tile_window(const heddle_dense_matrix *a, uint64_t seed, size_t i, size_t j);
/* Destroys `a`. Returns `status` and keeps its message if it is an error; else returns the status of the
 * destruction. */
int hd_dense_finish(heddle_dense_matrix *a, int status);
/* dense.c: waits for all tasks, even after an error, so that none runs when the caller frees what they use. Returns
 * `status` and keeps its message if it is an error; else returns the status of the wait. */
int hd_dense_wait(heddle_dense *dense, int status);
int hd_dense_no_memory(const char *what);
/* HEDDLE_E_MEMORY when the limit of address space (ulimit -v) leaves too little for the matrix and for OpenBLAS, which
 * would try to allocate again for ever. Call it before OpenBLAS's first kernel, in runtimes that really compute. */
int hd_dense_check_space(const heddle_dense_matrix *a);

/* splitmix64's finaliser of state + step * golden ratio. The library has the same kind of hash, but this one is kept
 * apart, because the matrix of a seed must never change. */
static inline uint64_t hd_dense_hash(uint64_t state, uint64_t step)
{
	uint64_t x = state + step * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}
/* Uniform in [-1/2, 1/2): `low` is hd_dense_hash(seed, min(i, j) + 1), `high` is max(i, j). */
static inline double hd_dense_random(uint64_t low, uint64_t high)
{
	return (double)(hd_dense_hash(low, high + 1) >> 11) * 0x1.0p-53 - 0.5;
}

#endif
