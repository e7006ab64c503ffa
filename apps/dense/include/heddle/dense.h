/* Dense linear algebra on tiles: the interface of libheddle-dense.
 *
 * Each routine exists in two forms. The first is called like LAPACK's, with column-major arrays, and returns when the
 * result is complete:
 *
 * struct heddle_dense_array a = {.precision = HEDDLE_DENSE_DOUBLE, .rows = n, .columns = n, .data = A, .ld = lda};
 * heddle_dense_potrf(dense, HEDDLE_DENSE_LOWER, &a, NULL);
 *
 * The second, *_submit, works on matrices of tiles, only submits tasks, and returns. The program waits later
 * (heddle_wait_all), so that the tasks of several routines overlap. A `heddle_dense_matrix` is a grid of tiles; each
 * tile is a datum of its own, a window of a column-major array of the program, or a temporary of the runtime.
 *
 * Routines have the names, the arguments and the results of BLAS and LAPACK; the precision is that of the matrices. In
 * a call all matrices must have the same precision and the same order of tiles, and belong to one heddle_dense; a
 * matrix that is written may not be another argument of the same call.
 *
 * Errors are those of heddle.h: every function returns 0 or a negative status, and heddle_last_error() has the
 * sentence. A matrix that cannot be factorised fails a task: heddle_wait_all, or the form that waits, returns
 * HEDDLE_E_KERNEL with the message that names the row; LAPACK's info is in *options->info. Functions may be called from
 * any thread. Functions that wait are marked "Blocks"; a kernel must not call them.
 *
 * The forms that wait only wait for their own tasks, and return the first error of these tasks (heddle/group.h): so
 * threads may call them at the same time. */
#ifndef HEDDLE_DENSE_H
#define HEDDLE_DENSE_H

#include <heddle.h>
#include <heddle/application.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_dense heddle_dense;
typedef struct heddle_dense_matrix heddle_dense_matrix;
typedef struct heddle_dense_qr heddle_dense_qr;
typedef struct heddle_dense_pivots heddle_dense_pivots;

enum heddle_dense_precision {
	HEDDLE_DENSE_DOUBLE,
	HEDDLE_DENSE_SINGLE,
	HEDDLE_DENSE_COMPLEX_DOUBLE, /* pairs of doubles: real part, imaginary part, as double _Complex */
	HEDDLE_DENSE_COMPLEX_SINGLE
};
enum { HEDDLE_DENSE_PRECISIONS = 4 };

enum heddle_dense_trans { HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_TRANS, HEDDLE_DENSE_CONJ_TRANS };
/* Which part of a matrix is meant: all of it, or one triangle with the diagonal. */
enum heddle_dense_uplo { HEDDLE_DENSE_GENERAL, HEDDLE_DENSE_LOWER, HEDDLE_DENSE_UPPER };
enum heddle_dense_side { HEDDLE_DENSE_LEFT, HEDDLE_DENSE_RIGHT };
enum heddle_dense_diag { HEDDLE_DENSE_NON_UNIT, HEDDLE_DENSE_UNIT };

/* A factor such as alpha and beta. For real matrices `im` is ignored. */
typedef struct heddle_dense_scalar {
	double re, im;
} heddle_dense_scalar;

static inline heddle_dense_scalar heddle_dense_real(double x)
{
	heddle_dense_scalar scalar;
	scalar.re = x;
	scalar.im = 0;
	return scalar;
}

/* Makes the codelets. They live as long as the runtime, so open once per runtime, not once per computation. The first
 * open of the process also sets OpenBLAS to one thread, because the workers already use all cores; the last close
 * restores its number of threads. */
int heddle_dense_open(heddle_runtime *rt, heddle_dense **out);
/* Call this when the tasks have ended and the matrices are destroyed. `dense` may be NULL. */
void heddle_dense_close(heddle_dense *dense);

/* --- Arrays and matrices ------------------------------------------------------------------------------------------ */

/* A column-major array of the program: element (i, j) is data[i + j * ld], ld >= rows. */
struct heddle_dense_array {
	enum heddle_dense_precision precision;
	size_t rows, columns;
	void *data;
	size_t ld;
};

struct heddle_dense_shape {
	enum heddle_dense_precision precision;
	size_t rows, columns;
	size_t tile; /* order of the square tiles; those of the last row and column may be smaller */
	/* HEDDLE_DENSE_LOWER: only the tiles on and below the diagonal exist; HEDDLE_DENSE_UPPER: on and above it. */
	enum heddle_dense_uplo uplo;
};

/* If `a` is not NULL, the tiles are windows of this column-major array, whose columns lie lda >= rows elements apart.
 * The program must not access the array until heddle_dense_matrix_destroy. If `a` is NULL, the tiles are temporaries,
 * each contiguous, and allocated when they are written. */
int heddle_dense_matrix_create(heddle_dense *dense, const struct heddle_dense_shape *shape, void *a, size_t lda,
                               heddle_dense_matrix **out);
/* Unregisters the tiles and frees `matrix`, even when it fails. If the tiles are windows of the program's array, it
 * blocks until they have their newest values. HEDDLE_E_CANCELLED: a tile was never computed, because a task failed.
 * `matrix` may be NULL. */
int heddle_dense_matrix_destroy(heddle_dense_matrix *matrix);

/* Hierarchical tiles: plans (heddle_plan_create) to cut the tiles of the matrix into square tiles of order tiles[0],
 * these into tiles of order tiles[1], and so on; tiles[0] is at most the order of the matrix's tiles, and each order at
 * most the previous order. Only tiles (i, j) with |i - j| <= `band` are cut; SIZE_MAX: all tiles. Then a task all of
 * whose tiles are cut, of the codelets gemm, syrk, herk, symm, hemm, trsm, trmm, potrf, trtri, lauum, getrf_nopiv,
 * getrf_panel and laswp, may run as the same routine on the smaller tiles: the setting `expand` says when. Tasks of QR
 * may run by strips of columns, which are as wide as the smaller tiles: docs/hierarchical.md. All other tasks run
 * whole. Matrices of one call must be cut the same way where they are to be used together. Call this before tasks use
 * the matrix. heddle_dense_matrix_destroy then blocks, even for temporaries. The program must not set the pointers of
 * the tiles (heddle_data_set_user). */
int heddle_dense_refine(heddle_dense_matrix *matrix, const size_t *tiles, size_t n_tiles, size_t band);

/* The datum of tile (i, j), NULL where there is none. It belongs to the matrix. */
heddle_data *heddle_dense_tile(const heddle_dense_matrix *matrix, size_t i, size_t j);
/* The shape that the matrix was created with; no rows and no columns for NULL. */
struct heddle_dense_shape heddle_dense_matrix_shape(const heddle_dense_matrix *matrix);

/* to := from, for two matrices of the same shape. With a program's array and temporaries, this changes the layout. */
int heddle_dense_copy_submit(heddle_dense_matrix *to, heddle_dense_matrix *from);
/* Looks for NaN and Inf in the part `uplo` of `a` (GENERAL: in all its tiles), as the forms that wait do by themselves.
 * If there is such a value, a task fails with the message "matrix NAME has NaN in row I, column J (counted from 1)", or
 * "an infinite value", and later tasks that use this tile are cancelled. `name` must exist until the tasks have
 * ended. */
int heddle_dense_finite_submit(heddle_dense_matrix *a, enum heddle_dense_uplo uplo, const char *name);

/* Random matrices: element (i, j) depends on the seed, i and j alone, not on tiles. Values, and for complex matrices
 * real and imaginary parts, are uniform in [-1/2, 1/2). */
enum heddle_dense_random {
	HEDDLE_DENSE_RANDOM,    /* just random */
	HEDDLE_DENSE_SPD,       /* symmetric (Hermitian) positive definite: the order is added on the diagonal */
	HEDDLE_DENSE_DOMINANT,  /* the larger of the extents is added on the diagonal: LU needs no pivoting */
	HEDDLE_DENSE_HERMITIAN, /* symmetric (Hermitian), with a real diagonal; not definite */
	HEDDLE_DENSE_SYMMETRIC  /* symmetric, also if complex */
};
/* Fills the tiles of `a`. Symmetric and Hermitian kinds need a square matrix. */
int heddle_dense_random_submit(heddle_dense_matrix *a, enum heddle_dense_random kind, uint64_t seed);
/* Element (i, j), counted from 0, of the random matrix of `seed` of order n (of larger extent n). */
heddle_dense_scalar heddle_dense_random_element(enum heddle_dense_random kind, uint64_t seed, size_t n, size_t i,
                                                size_t j);

/* --- Options ------------------------------------------------------------------------------------------------------ */

/* The priorities of the tasks. */
enum heddle_dense_priority {
	/* the priorities of StarPU's and Chameleon's routines: better on machines with accelerators, whose gemm is far
	 * faster than their factorisations of tiles; routines without such priorities: like PATH */
	HEDDLE_DENSE_PRIORITY_STARPU,
	/* operations on the longest path to the end of all that the call submits (bottom levels): better on cores
	 * alone, when there are few tiles per core */
	HEDDLE_DENSE_PRIORITY_PATH,
	HEDDLE_DENSE_PRIORITY_NONE /* all tasks have the same priority */
};

enum heddle_dense_layout {
	HEDDLE_DENSE_IN_PLACE, /* tiles are windows of the column-major array */
	HEDDLE_DENSE_TILED     /* tiles are contiguous copies */
};

/* The order in which the tiles of a column are reduced by a QR factorisation. */
enum heddle_dense_tree {
	HEDDLE_DENSE_FLAT, /* one after the other into the first: least work, long path */
	/* all possible pairs at a time (Bouwmeester et al., 2011): short path, for tall matrices */
	HEDDLE_DENSE_GREEDY,
	/* flat in each of several domains, then their first tiles by pairs (Hadri et al., 2010): a compromise */
	HEDDLE_DENSE_DOMAINS
};

/* Options of routines: a field that is 0 has its default, and NULL stands for all defaults. */
struct heddle_dense_options {
	/* only for the forms that wait: order of tiles. 0: as tuned on this machine, or by size and workers */
	size_t tile;
	size_t inner;                        /* inner blocking of QR. 0: 32, or the tile where that is smaller */
	enum heddle_dense_layout layout;     /* only for the forms that wait */
	enum heddle_dense_priority priority; /* of the tasks */
	enum heddle_dense_tree tree;         /* of QR */
	size_t domain;                       /* tiles in a domain of HEDDLE_DENSE_DOMAINS. 0: one domain per worker */
	/* 0: the forms that wait look for NaN and Inf in the values that they read, and fail with the name of the
	 * matrix and the place; their results are then undefined. 1: they do not look. The *_submit forms never look:
	 * use heddle_dense_finite_submit. */
	int trust;
	/* LAPACK's info, if not NULL: 0, or the row, counted from 1, that LAPACK names. It is set to 0 by the call,
	 * written by tasks, and valid when they have ended; the variable must exist until then. */
	size_t *info;
};

/* --- Matrix products and triangular solves (BLAS 3) --------------------------------------------------------------- */

/* C := alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n. If beta is 0, C is not read. */
int heddle_dense_gemm_submit(enum heddle_dense_trans trans_a, enum heddle_dense_trans trans_b,
                             heddle_dense_scalar alpha, heddle_dense_matrix *a, heddle_dense_matrix *b,
                             heddle_dense_scalar beta, heddle_dense_matrix *c,
                             const struct heddle_dense_options *options);
/* heddle_dense_gemm_submit on arrays. Blocks. */
int heddle_dense_gemm(heddle_dense *dense, enum heddle_dense_trans trans_a, enum heddle_dense_trans trans_b,
                      heddle_dense_scalar alpha, const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                      heddle_dense_scalar beta, const struct heddle_dense_array *c,
                      const struct heddle_dense_options *options);

/* The triangle `uplo` of the symmetric C := alpha A A^T + beta C (NO_TRANS, A is n x k) or alpha A^T A + beta C (TRANS,
 * A is k x n); the other triangle does not change. HEDDLE_DENSE_CONJ_TRANS means TRANS, and is refused for complex
 * matrices. If beta is 0, C is not read; but a matrix of temporaries without values must then have the tiles of one
 * triangle only (shape.uplo). */
int heddle_dense_syrk_submit(enum heddle_dense_uplo uplo, enum heddle_dense_trans trans, heddle_dense_scalar alpha,
                             heddle_dense_matrix *a, heddle_dense_scalar beta, heddle_dense_matrix *c,
                             const struct heddle_dense_options *options);
/* heddle_dense_syrk_submit on arrays. Blocks. */
int heddle_dense_syrk(heddle_dense *dense, enum heddle_dense_uplo uplo, enum heddle_dense_trans trans,
                      heddle_dense_scalar alpha, const struct heddle_dense_array *a, heddle_dense_scalar beta,
                      const struct heddle_dense_array *c, const struct heddle_dense_options *options);
/* syrk with A^H for A^T, for a Hermitian C, whose diagonal gets real elements, unless nothing is to be done (beta is 1,
 * and alpha or k is 0). HEDDLE_DENSE_TRANS means CONJ_TRANS, and is refused for complex matrices. For real matrices
 * this is syrk. */
int heddle_dense_herk_submit(enum heddle_dense_uplo uplo, enum heddle_dense_trans trans, double alpha,
                             heddle_dense_matrix *a, double beta, heddle_dense_matrix *c,
                             const struct heddle_dense_options *options);
/* heddle_dense_herk_submit on arrays. Blocks. */
int heddle_dense_herk(heddle_dense *dense, enum heddle_dense_uplo uplo, enum heddle_dense_trans trans, double alpha,
                      const struct heddle_dense_array *a, double beta, const struct heddle_dense_array *c,
                      const struct heddle_dense_options *options);

/* C := alpha A B + beta C (LEFT) or alpha B A + beta C (RIGHT), where A is symmetric and only its triangle `uplo` is
 * read. B and C are m x n. If beta is 0, C is not read. */
int heddle_dense_symm_submit(enum heddle_dense_side side, enum heddle_dense_uplo uplo, heddle_dense_scalar alpha,
                             heddle_dense_matrix *a, heddle_dense_matrix *b, heddle_dense_scalar beta,
                             heddle_dense_matrix *c, const struct heddle_dense_options *options);
/* heddle_dense_symm_submit on arrays. Blocks. */
int heddle_dense_symm(heddle_dense *dense, enum heddle_dense_side side, enum heddle_dense_uplo uplo,
                      heddle_dense_scalar alpha, const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                      heddle_dense_scalar beta, const struct heddle_dense_array *c,
                      const struct heddle_dense_options *options);
/* symm for a Hermitian A; the imaginary parts of its diagonal are not used. For real matrices this is symm. */
int heddle_dense_hemm_submit(enum heddle_dense_side side, enum heddle_dense_uplo uplo, heddle_dense_scalar alpha,
                             heddle_dense_matrix *a, heddle_dense_matrix *b, heddle_dense_scalar beta,
                             heddle_dense_matrix *c, const struct heddle_dense_options *options);
/* heddle_dense_hemm_submit on arrays. Blocks. */
int heddle_dense_hemm(heddle_dense *dense, enum heddle_dense_side side, enum heddle_dense_uplo uplo,
                      heddle_dense_scalar alpha, const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                      heddle_dense_scalar beta, const struct heddle_dense_array *c,
                      const struct heddle_dense_options *options);

/* Solves op(A) X = alpha B (LEFT) or X op(A) = alpha B (RIGHT) for X, which replaces B. A is triangular: only its
 * triangle `uplo` is read, and with UNIT not the diagonal, which then stands for ones. A zero on the diagonal is not
 * looked for. If alpha is 0, nothing is read, and X is 0. */
int heddle_dense_trsm_submit(enum heddle_dense_side side, enum heddle_dense_uplo uplo, enum heddle_dense_trans trans,
                             enum heddle_dense_diag diag, heddle_dense_scalar alpha, heddle_dense_matrix *a,
                             heddle_dense_matrix *b, const struct heddle_dense_options *options);
/* heddle_dense_trsm_submit on arrays. Blocks. */
int heddle_dense_trsm(heddle_dense *dense, enum heddle_dense_side side, enum heddle_dense_uplo uplo,
                      enum heddle_dense_trans trans, enum heddle_dense_diag diag, heddle_dense_scalar alpha,
                      const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                      const struct heddle_dense_options *options);
/* B := alpha op(A) B (LEFT) or alpha B op(A) (RIGHT), with a triangular A as for trsm. */
int heddle_dense_trmm_submit(enum heddle_dense_side side, enum heddle_dense_uplo uplo, enum heddle_dense_trans trans,
                             enum heddle_dense_diag diag, heddle_dense_scalar alpha, heddle_dense_matrix *a,
                             heddle_dense_matrix *b, const struct heddle_dense_options *options);
/* heddle_dense_trmm_submit on arrays. Blocks. */
int heddle_dense_trmm(heddle_dense *dense, enum heddle_dense_side side, enum heddle_dense_uplo uplo,
                      enum heddle_dense_trans trans, enum heddle_dense_diag diag, heddle_dense_scalar alpha,
                      const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                      const struct heddle_dense_options *options);

/* --- Cholesky factorisation --------------------------------------------------------------------------------------- */

/* Factorises A = L L^H (uplo LOWER) or A = U^H U (UPPER). Only this triangle of the symmetric (Hermitian) positive
 * definite matrix A is read; the factor replaces it, and the other triangle does not change. If A is not positive
 * definite, a task fails with the message "matrix is not positive definite: the leading minor of order K is not
 * positive", and *options->info is K. (Buttari, Langou, Kurzak, Dongarra: A class of parallel tiled linear algebra
 * algorithms for multicore architectures, 2009, section 3.) */
int heddle_dense_potrf_submit(enum heddle_dense_uplo uplo, heddle_dense_matrix *a,
                              const struct heddle_dense_options *options);
/* heddle_dense_potrf_submit on an array. After an error its contents are undefined. Blocks. */
int heddle_dense_potrf(heddle_dense *dense, enum heddle_dense_uplo uplo, const struct heddle_dense_array *a,
                       const struct heddle_dense_options *options);
/* ||A - L L^H|| / (n ||A|| eps) in the Frobenius norm, where A is the random matrix HEDDLE_DENSE_SPD of `seed` and eps
 * the unit roundoff. A sound factorisation gives less than 30. Tasks compute it; they take as many operations as
 * another factorisation, and a few tiles of memory. Blocks. HEDDLE_E_CANCELLED: the factor was never computed. */
int heddle_dense_potrf_residual(enum heddle_dense_uplo uplo, heddle_dense_matrix *a, uint64_t seed, double *residual);

/* --- Solvers and inverses of positive definite matrices ----------------------------------------------------------- */

/* Solves A X = B with the factor of A that potrf has left in the triangle `uplo` of `a`. X replaces B, n x k. */
int heddle_dense_potrs_submit(enum heddle_dense_uplo uplo, heddle_dense_matrix *a, heddle_dense_matrix *b,
                              const struct heddle_dense_options *options);
/* heddle_dense_potrs_submit on arrays. Blocks. */
int heddle_dense_potrs(heddle_dense *dense, enum heddle_dense_uplo uplo, const struct heddle_dense_array *a,
                       const struct heddle_dense_array *b, const struct heddle_dense_options *options);
/* potrf, then potrs, in one graph. Fails as potrf does; X is not computed then. */
int heddle_dense_posv_submit(enum heddle_dense_uplo uplo, heddle_dense_matrix *a, heddle_dense_matrix *b,
                             const struct heddle_dense_options *options);
/* heddle_dense_posv_submit on arrays. Blocks. */
int heddle_dense_posv(heddle_dense *dense, enum heddle_dense_uplo uplo, const struct heddle_dense_array *a,
                      const struct heddle_dense_array *b, const struct heddle_dense_options *options);

/* A := A^-1, where A is triangular; the other triangle is neither read nor written. If an element of the diagonal is
 * 0, a task fails with the message "matrix is singular: the element in row K of the diagonal (counted from 1) is
 * zero"; *options->info is the least such K, and the message names one of them. With UNIT, the diagonal is not read
 * and stands for ones. */
int heddle_dense_trtri_submit(enum heddle_dense_uplo uplo, enum heddle_dense_diag diag, heddle_dense_matrix *a,
                              const struct heddle_dense_options *options);
/* heddle_dense_trtri_submit on an array. After an error its contents are undefined. Blocks. */
int heddle_dense_trtri(heddle_dense *dense, enum heddle_dense_uplo uplo, enum heddle_dense_diag diag,
                       const struct heddle_dense_array *a, const struct heddle_dense_options *options);
/* The triangle `uplo` of A := L^H L (LOWER) or U U^H (UPPER), where this triangle was L or U. As in LAPACK, the
 * imaginary parts of the diagonal are not used. */
int heddle_dense_lauum_submit(enum heddle_dense_uplo uplo, heddle_dense_matrix *a,
                              const struct heddle_dense_options *options);
/* heddle_dense_lauum_submit on an array. Blocks. */
int heddle_dense_lauum(heddle_dense *dense, enum heddle_dense_uplo uplo, const struct heddle_dense_array *a,
                       const struct heddle_dense_options *options);
/* The triangle `uplo` of A := A^-1, from the factor of A that potrf has left there: trtri, then lauum, in one graph.
 * Fails as trtri does. */
int heddle_dense_potri_submit(enum heddle_dense_uplo uplo, heddle_dense_matrix *a,
                              const struct heddle_dense_options *options);
/* heddle_dense_potri_submit on an array. After an error its contents are undefined. Blocks. */
int heddle_dense_potri(heddle_dense *dense, enum heddle_dense_uplo uplo, const struct heddle_dense_array *a,
                       const struct heddle_dense_options *options);
/* The triangle `uplo` of A := A^-1, where A is symmetric (Hermitian) positive definite: potrf, trtri and lauum in one
 * graph, in which the three overlap. Fails as potrf does. */
int heddle_dense_poinv_submit(enum heddle_dense_uplo uplo, heddle_dense_matrix *a,
                              const struct heddle_dense_options *options);
/* heddle_dense_poinv_submit on an array. After an error its contents are undefined. Blocks. */
int heddle_dense_poinv(heddle_dense *dense, enum heddle_dense_uplo uplo, const struct heddle_dense_array *a,
                       const struct heddle_dense_options *options);

/* --- QR factorisation and least squares --------------------------------------------------------------------------- */

/* A tile algorithm has no vector tau. Besides R and V, applying Q needs triangular factors T, two per tile at most, and
 * the order in which tiles were eliminated. A heddle_dense_qr has these. Its T are temporaries. Functions with one
 * heddle_dense_qr must not be called at the same time. */

/* Makes a heddle_dense_qr for matrices of this shape. Only the options `tree`, `domain` and `inner` are used, which
 * other functions ignore. */
int heddle_dense_qr_create(heddle_dense *dense, const struct heddle_dense_shape *shape,
                           const struct heddle_dense_options *options, heddle_dense_qr **out);
/* Frees `qr`; its T are freed after the last task that uses them. `qr` may be NULL. */
int heddle_dense_qr_destroy(heddle_dense_qr *qr);

/* Factorises the m x n matrix A = Q R. R, min(m, n) x n, replaces the upper triangle (trapezoid) of A; the reflectors
 * whose product is Q replace the rest, in an order that only heddle_dense_ormqr knows. R equals LAPACK's except for the
 * signs of rows. `qr`, made for A's shape, gets the factors T. (Buttari, Langou, Kurzak, Dongarra: A class of parallel
 * tiled linear algebra algorithms for multicore architectures, 2009, section 4; Bouwmeester, Jacquelin, Langou, Robert:
 * Tiled QR factorization algorithms, 2011.) */
int heddle_dense_geqrf_submit(heddle_dense_matrix *a, heddle_dense_qr *qr, const struct heddle_dense_options *options);
/* heddle_dense_geqrf_submit on an array. *qr is made, and is the caller's; NULL: it is not wanted. Blocks. */
int heddle_dense_geqrf(heddle_dense *dense, const struct heddle_dense_array *a, heddle_dense_qr **qr,
                       const struct heddle_dense_options *options);

/* C := op(Q) C (side LEFT) or C op(Q) (RIGHT), where `a` and `qr` are what heddle_dense_geqrf_submit has left, and Q is
 * m x m if A is m x n. LAPACK calls this ormqr or unmqr. HEDDLE_DENSE_TRANS is for real matrices only. */
int heddle_dense_ormqr_submit(enum heddle_dense_side side, enum heddle_dense_trans trans, heddle_dense_matrix *a,
                              heddle_dense_qr *qr, heddle_dense_matrix *c, const struct heddle_dense_options *options);
/* heddle_dense_ormqr_submit on arrays; options->tile is ignored, tiles are those of `qr`. Blocks. */
int heddle_dense_ormqr(heddle_dense *dense, enum heddle_dense_side side, enum heddle_dense_trans trans,
                       const struct heddle_dense_array *a, heddle_dense_qr *qr, const struct heddle_dense_array *c,
                       const struct heddle_dense_options *options);

/* Solves op(A) X = B for an m x n matrix A of full rank, where op(A) is A (trans NO_TRANS) or A^H (CONJ_TRANS; for real
 * matrices also TRANS). If op(A) has at least as many rows as columns, X minimises ||B - op(A) X||, column by column;
 * otherwise X is the solution of least norm. B has max(m, n) rows; as many of them as op(A) has are read, as many as
 * op(A) has columns become X. In a least-squares problem the sum of squares of the other rows is that of the residual.
 * If m >= n, A becomes its factorisation, otherwise A does not change, because A^H is factorised in temporary tiles. If
 * an element (i, i) of R is exactly zero, a task fails with the message "matrix A has not full rank: element I on the
 * diagonal of R is zero"; *options->info is the least such I, and the message names one of them. */
int heddle_dense_gels_submit(enum heddle_dense_trans trans, heddle_dense_matrix *a, heddle_dense_matrix *b,
                             const struct heddle_dense_options *options);
/* heddle_dense_gels_submit on arrays. Blocks. */
int heddle_dense_gels(heddle_dense *dense, enum heddle_dense_trans trans, const struct heddle_dense_array *a,
                      const struct heddle_dense_array *b, const struct heddle_dense_options *options);

/* --- Tasks of QR on tiles of the program's own -------------------------------------------------------------------- */

/* For matrices that are no rectangle of tiles: the kernels of the tiled QR factorisation as single tasks. In what
 * follows A and C are tiles, which may have any shapes that fit together; V is a tile with the reflectors that geqrt,
 * tsqrt or ttqrt has left there. T, `inner` x n for a V of n columns, is a datum for each tile with reflectors. The
 * workspace is a datum without a value, a vector of heddle_dense_qr_workspace elements; all tasks may name one.
 *
 * kernel   computes                                          data: written          read, and the workspace
 * GEQRT    A = Q R: R on and above the diagonal, V below it  A, T, [copy of V]
 * GEMQRT   C := op(Q) C                                      C                      V, T of geqrt
 * TSQRT    [R; A] = Q [R; 0]: R is the triangle in A0        A0, A, T
 * TSMQR    [C0; C] := op(Q) [C0; C]                          C0, C                  V, T of tsqrt
 * TTQRT    as TSQRT, of an A that geqrt has made a triangle  A0, A, T
 * TTMQR    as TSMQR                                          C0, C                  V, T of ttqrt
 *
 * An A of GEQRT may have fewer rows than columns. A C may have more rows than V: those beyond V's do not change. So a
 * tile of V may be stored without its last rows if they are zero. Of C0 the first n rows are used, for a V of n
 * columns. The tile with V of geqrt is written again by TSQRT and TTQRT, which change its R alone: to let them run
 * while V is applied, let geqrt write a copy of V, a datum of A's shape, and give that to GEMQRT. */
enum heddle_dense_qr_kernel {
	HEDDLE_DENSE_GEQRT,
	HEDDLE_DENSE_GEMQRT,
	HEDDLE_DENSE_TSQRT,
	HEDDLE_DENSE_TSMQR,
	HEDDLE_DENSE_TTQRT,
	HEDDLE_DENSE_TTMQR
};
struct heddle_dense_qr_tile_task {
	enum heddle_dense_qr_kernel kernel;
	enum heddle_dense_precision precision;
	/* of GEMQRT, TSMQR and TTMQR: op(Q) is Q (NO_TRANS) or Q^H (CONJ_TRANS; for real matrices also TRANS), from the
	 * left */
	enum heddle_dense_trans trans;
	heddle_data *top;  /* A0 or C0; NULL: the kernel has none */
	heddle_data *tile; /* A or C */
	heddle_data *v;    /* the V that is applied; for GEQRT the copy of V, or NULL */
	heddle_data *t, *work;
	int priority;
	/* NULL: the group that the thread has set (heddle_group_set); ignored if `widths` is not NULL */
	heddle_group *group;
	/* Not NULL: the task may become tasks on strips (config.expand). Widths as of heddle_dense_qr_cut, by which all
	 * data but the workspace have been cut; rows and columns of V. */
	const size_t *widths;
	size_t rows, columns;
};
/* Cuts a tile, T or a copy of V into strips of columns, and these into narrower strips: at most two `widths`, the
 * widest first, then 0. `multiple` is the inner blocking for T, else 1: strips that are no multiple of it are not made.
 * `columns` are the datum's. Uses the datum's pointer (heddle_data_set_user). Call it before tasks name the datum.
 * HEDDLE_E_INVALID, HEDDLE_E_MEMORY. */
int heddle_dense_qr_cut(heddle_dense *dense, enum heddle_dense_precision precision, heddle_data *data, size_t columns,
                        size_t multiple, const size_t *widths);
/* Submits the task. Its codelet is one of those of heddle_dense_geqrf. HEDDLE_E_INVALID: a datum is missing, or a value
 * is not one of its enumeration; and the errors of heddle_submit. */
int heddle_dense_qr_tile_submit(heddle_dense *dense, const struct heddle_dense_qr_tile_task *task);
/* Elements of the workspace of these tasks, for V of at most `rows` rows and T of at most `inner` rows. */
size_t heddle_dense_qr_workspace(size_t rows, size_t inner);

/* --- LU factorisation --------------------------------------------------------------------------------------------- */

/* The interchanges of rows of a factorisation of `a`, as LAPACK's ipiv: in step i, from 0 to min(m, n) - 1, rows i + 1
 * and ipiv[i] were interchanged, both counted from 1. Tasks write and read them, so that a solver can be submitted
 * before the factorisation has ended. If `ipiv` is not NULL, it is this array of min(m, n) integers, which the program
 * must not touch until heddle_dense_pivots_destroy. */
int heddle_dense_pivots_create(const heddle_dense_matrix *a, int *ipiv, heddle_dense_pivots **out);
/* Frees `pivots`, even when it fails. If they are in the program's array, it blocks until they have their values there.
 * HEDDLE_E_CANCELLED: some were never computed, because a task failed. `pivots` may be NULL. */
int heddle_dense_pivots_destroy(heddle_dense_pivots *pivots);

/* Factorises A = P L U, for a matrix of any shape, with partial pivoting: as LAPACK's getrf, the pivot of a column is
 * its element with the largest |real part| + |imaginary part|. L, whose diagonal is 1, and U replace A. If U(K, K) is
 * zero, the factorisation goes on, and *options->info is the first such K. A pivot that is NaN fails a task. */
int heddle_dense_getrf_submit(heddle_dense_matrix *a, heddle_dense_pivots *pivots,
                              const struct heddle_dense_options *options);
/* heddle_dense_getrf_submit on an array. After an error, it and `ipiv` are undefined. `ipiv` may be NULL. Blocks. */
int heddle_dense_getrf(heddle_dense *dense, const struct heddle_dense_array *a, int *ipiv,
                       const struct heddle_dense_options *options);

/* Factorises A = L U without interchanges: for matrices that are diagonally dominant, or known not to need them. If
 * U(K, K) is zero, a task fails with the message "matrix is singular: U(K, K) is exactly zero", though with pivoting it
 * might not be, and *options->info is K. */
int heddle_dense_getrf_nopiv_submit(heddle_dense_matrix *a, const struct heddle_dense_options *options);
/* heddle_dense_getrf_nopiv_submit on an array. After an error its contents are undefined. Blocks. */
int heddle_dense_getrf_nopiv(heddle_dense *dense, const struct heddle_dense_array *a,
                             const struct heddle_dense_options *options);

/* Solves op(A) X = B for square A, from the factors that one of the functions above has left in `a`; `pivots` is NULL
 * after getrf_nopiv. X replaces B. A zero on U's diagonal is not looked for. HEDDLE_E_KERNEL: a pivot is no row's
 * number. */
int heddle_dense_getrs_submit(enum heddle_dense_trans trans, heddle_dense_matrix *a, heddle_dense_pivots *pivots,
                              heddle_dense_matrix *b, const struct heddle_dense_options *options);
/* heddle_dense_getrs_submit on arrays. Blocks. */
int heddle_dense_getrs(heddle_dense *dense, enum heddle_dense_trans trans, const struct heddle_dense_array *a,
                       const int *ipiv, const struct heddle_dense_array *b, const struct heddle_dense_options *options);

/* Factorises square A with partial pivoting and solves A X = B; X replaces B. The solution of the first equations
 * begins while the others are being factorised. If U(K, K) is zero, a task fails with the message "matrix is singular:
 * U(K, K) is exactly zero", and *options->info is K. `pivots` may be NULL if the program does not need them. */
int heddle_dense_gesv_submit(heddle_dense_matrix *a, heddle_dense_pivots *pivots, heddle_dense_matrix *b,
                             const struct heddle_dense_options *options);
/* heddle_dense_gesv_submit on arrays. After an error A, B and `ipiv` are undefined. `ipiv` may be NULL. Blocks. */
int heddle_dense_gesv(heddle_dense *dense, const struct heddle_dense_array *a, int *ipiv,
                      const struct heddle_dense_array *b, const struct heddle_dense_options *options);
/* heddle_dense_gesv_submit without interchanges, like getrf_nopiv. */
int heddle_dense_gesv_nopiv_submit(heddle_dense_matrix *a, heddle_dense_matrix *b,
                                   const struct heddle_dense_options *options);
/* Blocks. */
int heddle_dense_gesv_nopiv(heddle_dense *dense, const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                            const struct heddle_dense_options *options);

/* --- Experiments: each routine on random data --------------------------------------------------------------------- */

/* A routine by its name, and what it works on. A field that is 0 has its default. */
struct heddle_dense_problem {
	const char *routine; /* "potrf", "gemm" ...: heddle_dense_routine_at has them all. NULL: "potrf" */
	enum heddle_dense_precision precision;
	size_t n;                    /* order, or number of columns */
	size_t m, k;                 /* rows, and the inner extent of products; 0: n */
	size_t n_right;              /* right-hand sides of solvers; 0: one tile's width */
	enum heddle_dense_uplo uplo; /* triangle of routines that have one; GENERAL: LOWER */
	struct heddle_dense_options options;
	/* orders of the tiles that tiles are cut into (heddle_dense_refine): "960/320"; "": tiles are not cut */
	char cut[48];
	/* for square matrices, which tiles are cut: "all" or ""; "K", a number: tiles (i, j) with |i - j| <= K;
	 * "diagonal": K = 1. In other matrices all tiles are cut. */
	char refine[16];
	uint64_t seed; /* of the random matrices */
	int check;     /* heddle_dense_run: compute the residual too */
};

/* --- The tiles of this machine ------------------------------------------------------------------------------------ */

/* A result of `heddle tune --here` for a routine in a precision: the tile that is fastest for matrices whose largest
 * extent is n. The file dense-tiles beside the models keeps it, and the calls that wait use it if the program gives no
 * tile. */
struct heddle_dense_tuned {
	size_t n, tile;
	double gflops; /* 1e9 operations per second, with this tile */
	char day[16];  /* "2026-11-28": when it was found */
};
/* Finds the tile for a problem on the workers of the platform: the tile for the nearest size, which is at most twice as
 * large or half as large. `dir` is the setting model_dir: NULL or "" for the default, "none" for nowhere. Returns 1, or
 * 0 if there is none. May be called by any thread. */
int heddle_dense_tuned_find(const char *dir, const struct heddle_platform *platform,
                            const struct heddle_dense_problem *problem, struct heddle_dense_tuned *out);
/* Keeps a tile, and replaces the tile for the same routine, precision, size and workers; tuned->n is ignored. The file
 * is replaced atomically. HEDDLE_E_IO: it cannot be written; HEDDLE_E_INVALID. */
int heddle_dense_tuned_keep(const char *dir, const struct heddle_platform *platform,
                            const struct heddle_dense_problem *problem, const struct heddle_dense_tuned *tuned);

struct heddle_dense_report {
	double seconds;  /* from the first submission to the end of the last task, by the runtime's clock */
	double gflops;   /* 1e9 operations per second */
	double residual; /* NAN: not computed */
};

/* The description of a routine. */
struct heddle_dense_routine {
	const char *name;     /* as LAPACK's, without the letter of the precision */
	const char *summary;  /* half a sentence: what it computes */
	const char *residual; /* the formula of its residual */
	const char
	    *codelets; /* names of the codelets that its tasks may call, without the letter, separated by blanks */
};
/* The i-th routine that problems can name; NULL if i is not below their number. The descriptions are constants. */
const struct heddle_dense_routine *heddle_dense_routine_at(size_t i);
/* The routine of this name, or NULL. "cholesky" and NULL are other names of "potrf"; a '-' is as good as '_'. */
const struct heddle_dense_routine *heddle_dense_routine_find(const char *name);

/* The routine as an application (heddle/application.h), whose structure of options is a struct heddle_dense_problem;
 * NULL: there is none of this name. It is a constant. */
const struct heddle_application *heddle_dense_application(const char *routine);
/* Registers all routines as applications, so that heddle_application_find knows them, also "cholesky".
 * HEDDLE_E_INVALID: one of the names is taken. May be called several times, by any thread. */
int heddle_dense_register(void);

/* Operations of the problem, counted as LAPACK does (LAPACK Working Note 41, appendix C); an operation on complex
 * numbers counts as its real operations: 6 for a product, 2 for a sum. NAN: there is no such routine. */
double heddle_dense_flops(const struct heddle_dense_problem *problem);

/* A problem with its matrices. */
typedef struct heddle_dense_experiment heddle_dense_experiment;
/* Makes the matrices that the routine needs: temporaries if options.layout is HEDDLE_DENSE_TILED, otherwise windows of
 * arrays of the experiment. They have no values yet. */
int heddle_dense_experiment_open(heddle_dense *dense, const struct heddle_dense_problem *problem,
                                 heddle_dense_experiment **out);
/* Submits the tasks that fill the matrices with the random values of the seed; then the tasks of the routine. Fill
 * again before the routine is submitted again. */
int heddle_dense_experiment_fill(heddle_dense_experiment *experiment);
int heddle_dense_experiment_submit(heddle_dense_experiment *experiment);
/* Computes the residual of the last submission, whose formula is in the routine's description, by tasks. Blocks. */
int heddle_dense_experiment_residual(heddle_dense_experiment *experiment, double *residual);
/* Blocks. `experiment` may be NULL. */
int heddle_dense_experiment_close(heddle_dense_experiment *experiment);

/* The whole experiment: opens it, fills it, runs the routine, and computes the residual if problem->check. Only the
 * routine itself is timed. `report` may be NULL. Blocks. */
int heddle_dense_run(heddle_dense *dense, const struct heddle_dense_problem *problem,
                     struct heddle_dense_report *report);
/* Submits the tasks of the routine alone, to a runtime in virtual time. No memory is allocated: the tiles are
 * temporaries, which in virtual time have a value in main memory from the beginning. On a runtime that really computes
 * this fails, because nothing has written the tiles. Blocks. */
int heddle_dense_graph(heddle_dense *dense, const struct heddle_dense_problem *problem,
                       struct heddle_dense_report *report);

#ifdef __cplusplus
}
#endif
#endif
