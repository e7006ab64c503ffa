/* Dense linear algebra on tiles: the interface of libheddle-dense.
 *
 * A `heddle_dense` belongs to one runtime and holds the codelets. A `heddle_dense_matrix` is a grid of tiles. Each tile
 * is a datum of its own: a window of a column-major matrix of the program, or a temporary that the runtime allocates.
 * Functions *_submit only submit tasks, so that phases overlap; the program waits when it likes. For a single
 * factorisation, one call does everything:
 *
 *   heddle_dense *dense;
 *   heddle_dense_open(rt, &dense);
 *   heddle_dense_potrf(dense, &(struct heddle_dense_problem){.n = n, .tile = 256}, a, lda, NULL);
 *   heddle_dense_close(dense);
 *
 * Errors and threads are those of heddle.h. The functions that wait are marked "Blocks".
 */
#ifndef HEDDLE_DENSE_H
#define HEDDLE_DENSE_H

#include <heddle.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_dense heddle_dense;
typedef struct heddle_dense_matrix heddle_dense_matrix;

enum heddle_dense_precision { HEDDLE_DENSE_DOUBLE, HEDDLE_DENSE_SINGLE };

/* Makes the codelets. They live as long as the runtime, so open once per runtime, not once per computation. The first
 * open of the process also sets OpenBLAS to one thread, because the workers already use all cores; the last close
 * restores its number of threads. */
int heddle_dense_open(heddle_runtime *rt, heddle_dense **out);
/* Call this when the tasks have ended and the matrices are destroyed. `dense` may be NULL. */
void heddle_dense_close(heddle_dense *dense);

/* --- Matrices of tiles -------------------------------------------------------------------------------------------- */

struct heddle_dense_shape {
	enum heddle_dense_precision precision;
	size_t rows, columns;
	size_t tile; /* order of the square tiles; those of the last row and column may be smaller */
	int lower;   /* only the tiles on and below the diagonal exist; the matrix must be square */
};

/* If `a` is not NULL, the tiles are windows of this column-major matrix, whose columns lie lda >= rows elements apart.
 * The program must not touch it until heddle_dense_matrix_destroy. If `a` is NULL, the tiles are temporaries, each
 * contiguous, and allocated when they are written. */
int heddle_dense_matrix_create(heddle_dense *dense, const struct heddle_dense_shape *shape, void *a, size_t lda,
                               heddle_dense_matrix **out);
/* Unregisters the tiles and frees `matrix`, even when it fails. If the tiles are windows of the program's matrix, it
 * blocks until they have their newest values. HEDDLE_E_CANCELLED: a tile was never computed, because a task failed.
 * `matrix` may be NULL. */
int heddle_dense_matrix_destroy(heddle_dense_matrix *matrix);

/* The datum of tile (i, j), NULL where there is none. It belongs to the matrix. */
heddle_data *heddle_dense_tile(const heddle_dense_matrix *matrix, size_t i, size_t j);

/* to := from, for two matrices of the same shape. With a program's matrix and temporaries, this changes the layout. */
int heddle_dense_copy_submit(heddle_dense_matrix *to, heddle_dense_matrix *from);

/* Fills `a` with the random symmetric positive definite matrix of `seed`: values in [-1/2, 1/2), with the order added
 * on the diagonal so that it dominates. */
int heddle_dense_spd_submit(heddle_dense_matrix *a, uint64_t seed);
/* Element (i, j), counted from 0, of the random matrix of `seed` of order n. */
double heddle_dense_spd_element(uint64_t seed, size_t n, size_t i, size_t j);

/* --- Cholesky factorisation --------------------------------------------------------------------------------------- */

/* The priorities of the tasks. STARPU is better on machines with accelerators, whose gemm is far faster than their
 * potrf and trsm; PATH is better on cores alone, when there are few tiles per core. */
enum heddle_dense_priority {
	HEDDLE_DENSE_PRIORITY_STARPU, /* those of StarPU's example and of the Chameleon library */
	HEDDLE_DENSE_PRIORITY_PATH,   /* operations on the longest path to the end */
	HEDDLE_DENSE_PRIORITY_NONE    /* all tasks have the same */
};

/* Factorises A = L L^T. Only the lower triangle of the symmetric positive definite matrix A is read; L replaces it, and
 * what lies strictly above the diagonal does not change. If A is not positive definite, a task fails: the next wait
 * returns HEDDLE_E_KERNEL with the message "matrix is not positive definite: the leading minor of order K is not
 * positive". K is the failing row, counted from 1 as in LAPACK. */
int heddle_dense_potrf_submit(heddle_dense_matrix *a, enum heddle_dense_priority priority);

/* ||A - L L^T|| / (n ||A|| eps) in the Frobenius norm, where A is the random matrix of `seed` and eps the unit
 * roundoff. A sound factorisation gives less than 10. Tasks compute it; they take as many operations as another
 * factorisation, and a few tiles of memory. Blocks. HEDDLE_E_CANCELLED: L was never computed. */
int heddle_dense_potrf_residual(heddle_dense_matrix *l, uint64_t seed, double *residual);

/* Operations of the factorisation of order n, counted as LAPACK does: n^3/3 + n^2/2 + n/6. */
double heddle_dense_potrf_flops(size_t n);

enum heddle_dense_layout {
	HEDDLE_DENSE_IN_PLACE, /* tiles are windows of the column-major matrix */
	HEDDLE_DENSE_TILED     /* tiles are contiguous copies */
};

/* What the functions below factorise. A field that is left 0 has the first value of its enumeration. */
struct heddle_dense_problem {
	enum heddle_dense_precision precision;
	size_t n, tile;
	enum heddle_dense_layout layout;
	enum heddle_dense_priority priority;
	uint64_t seed; /* of the random matrix (heddle_dense_potrf_run) */
	int check;     /* compute the residual too (heddle_dense_potrf_run) */
};

struct heddle_dense_report {
	double seconds;  /* from the first submission to the end of the last task, by the runtime's clock */
	double gflops;   /* 1e9 operations per second */
	double residual; /* NAN: not computed */
};

/* Factorises the program's matrix. With HEDDLE_DENSE_TILED the time includes the two copies. Waits for all tasks of the
 * runtime. After an error the contents of `a` are undefined. `report` may be NULL. Blocks. */
int heddle_dense_potrf(heddle_dense *dense, const struct heddle_dense_problem *problem, void *a, size_t lda,
                       struct heddle_dense_report *report);

/* The whole experiment: makes the random matrix, in memory of its own and in the layout that `problem` asks for,
 * factorises it, and computes the residual if problem->check. The time is that of the factorisation alone. Blocks. */
int heddle_dense_potrf_run(heddle_dense *dense, const struct heddle_dense_problem *problem,
                           struct heddle_dense_report *report);

/* Submits the tasks of a factorisation to a runtime in virtual time. No memory is allocated: the tiles are temporaries,
 * which in virtual time have a value in main memory from the beginning. On a runtime that really computes this fails,
 * because nothing has written the tiles. Blocks. */
int heddle_dense_potrf_graph(heddle_dense *dense, const struct heddle_dense_problem *problem,
                             struct heddle_dense_report *report);

#ifdef __cplusplus
}
#endif
#endif
