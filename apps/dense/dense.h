/* Dense linear algebra on tiles: the door of libheddle-dense.
 *
 * A `heddle_dense` belongs to one runtime and holds the codelets. A `heddle_dense_matrix` is a grid of tiles, each a
 * datum of its own: windows of a column-major matrix of the program, or temporaries that the runtime allocates. The
 * *_submit functions only submit tasks, so that phases overlap; the program waits when it likes. The short way, one
 * call:
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

/* Makes the codelets of `rt`, once per runtime and not once per call: they live as long as the runtime. The first
 * open of the process also sets OpenBLAS to one thread per call, because every worker is one already; the last close
 * puts its former number back. */
int heddle_dense_open(heddle_runtime *rt, heddle_dense **out);
/* Call it when the tasks have ended and the matrices are destroyed. `dense` may be NULL. */
void heddle_dense_close(heddle_dense *dense);

/* --- Matrices of tiles -------------------------------------------------------------------------------------------- */

struct heddle_dense_shape {
	enum heddle_dense_precision precision;
	size_t rows, columns;
	size_t tile; /* order of the square tiles; those of the last row and column may be smaller */
	int lower;   /* only the tiles on and below the diagonal exist; the matrix must be square */
};

/* With `a`: the tiles are windows of this column-major matrix, whose columns lie lda >= rows elements apart, and
 * which is the program's again after heddle_dense_matrix_destroy. NULL: temporaries, each contiguous, allocated when
 * written. */
int heddle_dense_matrix_create(heddle_dense *dense, const struct heddle_dense_shape *shape, void *a, size_t lda,
                               heddle_dense_matrix **out);
/* Ends the tiles, leaving their newest values in the program's matrix if there is one: then it blocks. The matrix is
 * gone whatever is returned; HEDDLE_E_CANCELLED: a tile was never computed because a task failed. `matrix` may be
 * NULL. */
int heddle_dense_matrix_destroy(heddle_dense_matrix *matrix);

/* The datum of tile (i, j), NULL where there is none. It belongs to the matrix. */
heddle_data *heddle_dense_tile(const heddle_dense_matrix *matrix, size_t i, size_t j);

/* to := from, for two matrices of the same shape; between a program's matrix and temporaries, a change of layout. */
int heddle_dense_copy_submit(heddle_dense_matrix *to, heddle_dense_matrix *from);

/* Fills `a` with the random symmetric positive definite matrix of `seed`: values in [-1/2, 1/2), with the order added
 * on the diagonal so that it dominates. */
int heddle_dense_spd_submit(heddle_dense_matrix *a, uint64_t seed);
/* Element (i, j), counted from 0, of that matrix of order n: it depends on nothing else. */
double heddle_dense_spd_element(uint64_t seed, size_t n, size_t i, size_t j);

/* --- Cholesky factorisation --------------------------------------------------------------------------------------- */

/* Which ready task is the more urgent. The first is better by up to 5 % on machines with accelerators, whose gemm is
 * far faster than their potrf and trsm; the second by as much on cores alone, when there are few tiles for them. */
enum heddle_dense_priority {
	HEDDLE_DENSE_PRIORITY_STARPU, /* of StarPU's example and the Chameleon library */
	HEDDLE_DENSE_PRIORITY_PATH,   /* operations on the longest path to the end */
	HEDDLE_DENSE_PRIORITY_NONE    /* all the same */
};

/* A = L L^T for a symmetric positive definite matrix of which only the lower triangle is read; L replaces it, and
 * what lies strictly above the diagonal is left alone. A matrix that is not positive definite fails a task: the next
 * wait returns HEDDLE_E_KERNEL and says "matrix is not positive definite: the leading minor of order K is not
 * positive", where K is the failing row counted from 1, as LAPACK does. */
int heddle_dense_potrf_submit(heddle_dense_matrix *a, enum heddle_dense_priority priority);

/* ||A - L L^T|| / (n ||A|| eps) in the Frobenius norm, where A is the random matrix of `seed` and eps the unit
 * roundoff; a sound factorisation gives less than 10. Costs the flops of another factorisation and a few tiles of
 * memory, by tasks. Blocks. HEDDLE_E_CANCELLED when L was never computed. */
int heddle_dense_potrf_residual(heddle_dense_matrix *l, uint64_t seed, double *residual);

/* Operations of the factorisation of order n, counted as LAPACK does: n^3/3 + n^2/2 + n/6. */
double heddle_dense_potrf_flops(size_t n);

enum heddle_dense_layout {
	HEDDLE_DENSE_IN_PLACE, /* tiles are windows of the column-major matrix */
	HEDDLE_DENSE_TILED     /* tiles are contiguous copies */
};

/* What the calls below solve; a field left 0 has the first value of its enumeration. */
struct heddle_dense_problem {
	enum heddle_dense_precision precision;
	size_t n, tile;
	enum heddle_dense_layout layout;
	enum heddle_dense_priority priority;
	uint64_t seed; /* of the random matrix (heddle_dense_potrf_run) */
	int check;     /* compute the residual too (heddle_dense_potrf_run) */
};

struct heddle_dense_report {
	double seconds;  /* from the first submission to the last end: by the runtime's clock, real or virtual */
	double gflops;   /* 1e9 operations per second */
	double residual; /* NAN when not computed */
};

/* Factors the program's matrix; with HEDDLE_DENSE_TILED the time includes the two copies. Waits for all tasks of the
 * runtime. After an error the contents of `a` are undefined. `report` may be NULL. Blocks. */
int heddle_dense_potrf(heddle_dense *dense, const struct heddle_dense_problem *problem, void *a, size_t lda,
                       struct heddle_dense_report *report);

/* The whole experiment: makes the random matrix in memory of its own, in the layout asked for, factors it, and
 * computes the residual if asked. The time is that of the factorisation alone. Blocks. */
int heddle_dense_potrf_run(heddle_dense *dense, const struct heddle_dense_problem *problem,
                           struct heddle_dense_report *report);

/* The same graph without memory, for a runtime in virtual time: the tiles are temporaries, which there begin in main
 * memory. On a runtime that really computes, it fails, because nothing has written them. Blocks. */
int heddle_dense_potrf_graph(heddle_dense *dense, const struct heddle_dense_problem *problem,
                             struct heddle_dense_report *report);

#ifdef __cplusplus
}
#endif
#endif
