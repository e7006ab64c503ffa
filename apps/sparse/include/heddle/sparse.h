/* Sparse QR: the interface of libheddle-sparse, a multifrontal factorisation over tasks.
 *
 * A = Q R P^T, for an m x n matrix A with m >= n, where P permutes columns so that R stays sparse, and Q is kept as
 * Householder reflectors. A matrix with m < n is factorised as A^H. With it come least squares (m >= n) and solutions
 * of least norm (m < n).
 *
 *   struct heddle_sparse_matrix a = {HEDDLE_DENSE_DOUBLE, m, n, column_start, row, values};
 *   heddle_sparse_analysis *analysis;
 *   heddle_sparse_qr *qr;
 *   heddle_sparse_analyse(&a, NULL, &analysis);                      depends on the pattern alone
 *   heddle_sparse_qr_create(sparse, analysis, a.precision, NULL, &qr);
 *   heddle_sparse_factorise(qr, values);                             again and again, with new values
 *   heddle_sparse_solve(qr, &b, &x);
 *
 * The method (Duff, Reid: The multifrontal solution of indefinite sparse symmetric linear systems, 1983; Davis:
 * Algorithm 915, SuiteSparseQR, 2011; Buttari: Fine-grained multithreading for the multifrontal QR factorization of
 * sparse matrices, 2013; Agullo, Buttari, Guermouche, Lopez: Implementing multifrontal sparse solvers for multicore
 * architectures with sequential task flow runtime systems, 2016): the columns form a tree, in which each node, a
 * *front*, is a dense matrix. Its rows are rows of A and what is left of the rows of its children, their
 * *contributions*; its first columns, the *pivots*, are eliminated in it. Fronts are factorised from the leaves to
 * the root, each by tasks on tiles. Subtrees with little work are one task each.
 *
 * Errors are as in heddle.h: every function returns 0 or a negative status, and heddle_last_error() has the sentence.
 * Functions that wait are marked "Blocks": where heddle_may_wait refuses, as in a callback, they return its error, and
 * nothing has changed. A kernel gets results when a call outside of kernels has found the rank, but never R:
 * heddle_acquire is not for kernels. Functions on different objects may be called by different threads at the same
 * time; factorisations only read their analysis. */
#ifndef HEDDLE_SPARSE_H
#define HEDDLE_SPARSE_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/dense.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_sparse heddle_sparse;
typedef struct heddle_sparse_analysis heddle_sparse_analysis;
typedef struct heddle_sparse_qr heddle_sparse_qr;

/* Makes the codelets, which live as long as the runtime: open once per runtime. heddle_dense_open is called inside. */
int heddle_sparse_open(heddle_runtime *rt, heddle_sparse **out);
/* Call this when the factorisations are destroyed. `sparse` may be NULL. */
void heddle_sparse_close(heddle_sparse *sparse);

/* --- Matrices ----------------------------------------------------------------------------------------------------- */

/* A matrix by compressed columns: column j has the elements column_start[j] ... column_start[j + 1] - 1 of `row`
 * (counted from 0) and `values`. Rows may stand in any order within a column; elements that occur twice are added. */
struct heddle_sparse_matrix {
	enum heddle_dense_precision precision;
	size_t rows, columns;
	int64_t *column_start; /* columns + 1, the first is 0 */
	int64_t *row;
	void *values; /* NULL: only the pattern is known, for an analysis or virtual time */
};

/* The functions below allocate the arrays of *out; heddle_sparse_matrix_free frees them. */

/* From n_elements triplets: element i is values[i] in row row[i], column column[i], counted from 0. Duplicates are
 * added. `values` may be NULL. HEDDLE_E_INVALID: an index is out of range, or rows or columns are more than INT64_MAX.
 */
int heddle_sparse_from_triplets(enum heddle_dense_precision precision, size_t rows, size_t columns, size_t n_elements,
                                const int64_t *row, const int64_t *column, const void *values,
                                struct heddle_sparse_matrix *out);
/* Reads a file of the Matrix Market (coordinate; real, integer, complex or pattern; general, symmetric, hermitian or
 * skew-symmetric). A pattern gets ones. HEDDLE_E_IO, HEDDLE_E_FORMAT: the sentence has the line. */
int heddle_sparse_read(const char *path, struct heddle_sparse_matrix *out);
/* Writes such a file, with all digits. */
int heddle_sparse_write(const char *path, const struct heddle_sparse_matrix *matrix);
/* Makes a matrix of a family by its name, always the same one (docs/sparse.md): TF10 ... TF18, mk9-b3, mk11-b4 ...,
 * flower_7_4, cat_ears_4_4, grid2d:200, grid3d:24, random:M,N,PER_COLUMN,SEED[,DEFICIENT[,DECADES]]. Precision is
 * double. HEDDLE_E_UNKNOWN: the sentence lists the families. */
int heddle_sparse_generate(const char *name, struct heddle_sparse_matrix *out);
void heddle_sparse_matrix_free(struct heddle_sparse_matrix *matrix);

/* --- Analysis ----------------------------------------------------------------------------------------------------- */

enum heddle_sparse_ordering {
	HEDDLE_SPARSE_BEST,    /* METIS, then COLAMD; what has fewer operations */
	HEDDLE_SPARSE_METIS,   /* nested dissection of A^H A */
	HEDDLE_SPARSE_COLAMD,  /* approximate minimum degree of columns; without forming A^H A */
	HEDDLE_SPARSE_NATURAL, /* as the columns are, but for a postorder of the tree */
	HEDDLE_SPARSE_GIVEN    /* options->order, but for a postorder of the tree */
};

/* A field that is 0 has its default, and NULL stands for all defaults. */
struct heddle_sparse_analysis_options {
	enum heddle_sparse_ordering ordering;
	const int64_t *order; /* of HEDDLE_SPARSE_GIVEN: the columns in the order of elimination */
	/* Subtrees with less than this share of all work become one task, or smaller subtrees if `workers` could not
	 * keep busy with these. Negative: none. 0 here and in `workers`: heddle_sparse_qr_create chooses by its
	 * runtime's machine */
	double subtree;
	int workers; /* cores among which subtrees should balance, without accelerators. 0: 32 */
};

/* Analyses the pattern of `a`; a->values are not read. Allocates; calls no runtime. Dense rows are set aside by the
 * ordering alone. HEDDLE_E_INVALID: `a` is no matrix, and the sentence says where, or an option is none;
 * HEDDLE_E_MEMORY. */
int heddle_sparse_analyse(const struct heddle_sparse_matrix *a, const struct heddle_sparse_analysis_options *options,
                          heddle_sparse_analysis **out);
/* Call this when the factorisations with it are destroyed. `analysis` may be NULL. */
void heddle_sparse_analysis_free(heddle_sparse_analysis *analysis);

/* What is known before anything is computed. */
struct heddle_sparse_statistics {
	size_t rows, columns, elements; /* of A, without duplicates */
	int transposed;                 /* A^H is factorised, because A has fewer rows than columns */
	size_t fronts, subtrees;        /* fronts; subtrees that are one task, for 32 cores unless the options say */
	size_t r_elements, h_elements;  /* of R; of the reflectors, within the staircases of the fronts */
	double flops; /* operations on real numbers of a real factorisation, by staircases; complex: 4 x */
	size_t largest_rows, largest_columns; /* of the front with the most operations */
	/* the most elements that fronts and contributions have at once, in postorder, with R and H */
	size_t peak_elements;
	double seconds_ordering, seconds; /* of the ordering; of the whole analysis */
};
struct heddle_sparse_statistics heddle_sparse_analysis_statistics(const heddle_sparse_analysis *analysis);
/* Column k of A P is column order[k] of A (of A^H if transposed). As many as the factorised matrix has columns;
 * borrowed from the analysis. */
const int64_t *heddle_sparse_column_order(const heddle_sparse_analysis *analysis);

/* --- Factorisation ------------------------------------------------------------------------------------------------ */

enum heddle_sparse_priority {
	HEDDLE_SPARSE_PRIORITY_PATH, /* operations on the longest path to the end */
	HEDDLE_SPARSE_PRIORITY_TREE, /* qr_mumps's: fronts in reverse postorder, kernels within them */
	HEDDLE_SPARSE_PRIORITY_NONE  /* as in the papers on MultiPrio and AutoHeteroprio */
};

/* A field that is 0 has its default, and NULL stands for all defaults. */
struct heddle_sparse_options {
	size_t tile;  /* order of the tiles of fronts, at most the order of the largest front. 0: 256 */
	size_t inner; /* inner blocking. 0: 32 */
	/* In each column of tiles of a front, so many rows of tiles are eliminated one after the other; what is left
	 * of them by pairs. 0: all of them, but in fronts with at least 3 times as many rows of tiles as columns, so
	 * that workers have something to do */
	size_t domain;
	/* Widths of strips, the widest first, then 0: tasks on tiles may become tasks on strips of their columns, as
	 * config.expand says. So tiles may be as large as accelerators want them, and cores work on strips. Widths that
	 * are no multiple of `inner` are of no use. The first is 0: there are no strips */
	size_t strips[2];
	enum heddle_sparse_priority priority;
	int drop_q; /* 1: reflectors are freed as soon as the factorisation does not need them; no solve with new b */
	/* Memory of active fronts, contributions, R and H together: the submitting thread waits until a front fits
	 * into `relax` times the peak of a factorisation in postorder. 0: no bound; else at least 1 */
	double relax;
	/* A column is dead if the norm of what is left of it is not larger. 0: 20 (m + n) eps max_j ||a_j||, as
	 * SuiteSparseQR; negative: none is dead */
	double tolerance;
};

/* A factorisation that has no values yet. `analysis` is borrowed until it is destroyed. HEDDLE_E_UNSUPPORTED: a front
 * has more than 2^31 rows or columns; HEDDLE_E_INVALID, HEDDLE_E_MEMORY. */
int heddle_sparse_qr_create(heddle_sparse *sparse, const heddle_sparse_analysis *analysis,
                            enum heddle_dense_precision precision, const struct heddle_sparse_options *options,
                            heddle_sparse_qr **out);
/* Waits for the tasks that use it, and frees it. `qr` may be NULL. Blocks. On an error of heddle_may_wait, such as in a
 * callback, nothing has changed. */
int heddle_sparse_qr_destroy(heddle_sparse_qr *qr);

/* Submits the factorisation of the matrix with these values, in the order of the pattern that was analysed. The values
 * must stay as they are until the tasks have ended. With options.relax the call waits for memory: then it blocks. In
 * virtual time `values` may be NULL, and nothing is computed in any case. NaN and Inf fail a task, which names the
 * element. */
int heddle_sparse_factorise_submit(heddle_sparse_qr *qr, const void *values);
/* heddle_sparse_factorise_submit, then waits for the tasks and returns their first error. Blocks. */
int heddle_sparse_factorise(heddle_sparse_qr *qr, const void *values);

/* The functions below return HEDDLE_E_STATE if the factorisation was not submitted, or without values, or in virtual
 * time, where only heddle_sparse_solve_submit is allowed; HEDDLE_E_CANCELLED: it has failed; HEDDLE_E_KERNEL: the norm
 * of a column of A is larger than the largest number, or what is left of it is too small for a reciprocal: scale A.
 *
 * A column is dead if no more than the tolerance is left of it when all columns before it that are not dead are
 * eliminated: columns are decided one after the other, as SuiteSparseQR does. The row of R of a dead column is empty.
 * Whoever asks first for a result, apart from heddle_sparse_solve_submit, waits for the factorisation and finds the
 * dead columns. Q and R are what they are for this rank: A P = Q R but for the tolerance. */

/* The dead columns of A (of A^H if transposed), in the order of elimination: their number, and in *columns, if that is
 * not NULL, an array of them, which belongs to `qr`. The rank of A is min(m, n) less that. Blocks. Negative: a
 * status. */
int64_t heddle_sparse_deficient_columns(heddle_sparse_qr *qr, const int64_t **columns);

/* R as a sparse matrix of its own, with elements that are exactly zero left out. Blocks. The caller frees it. */
int heddle_sparse_r(heddle_sparse_qr *qr, struct heddle_sparse_matrix *out);

/* C := Q C (NO_TRANS) or Q^H C (CONJ_TRANS), with as many rows as Q has: max(m, n). Rows of Q^H C: the first min(m, n)
 * belong to R, in the order of its rows. C has no meaning after an error. Blocks. HEDDLE_E_STATE: reflectors were
 * dropped. */
int heddle_sparse_apply_q(heddle_sparse_qr *qr, enum heddle_dense_trans trans, const struct heddle_dense_array *c);

/* A has at least as many rows as columns: an x that minimises || b - A x ||, column by column. If columns are dead, it
 * is a basic solution: their unknowns are 0. Otherwise: the x of the least norm with A x = b. If columns of A^H are
 * dead, these rows of A x = b are left out; the others hold. b is m x k and not changed, x is n x k; they share no
 * element. HEDDLE_E_STATE: reflectors were dropped. Blocks. */
int heddle_sparse_solve(heddle_sparse_qr *qr, const struct heddle_dense_array *b, const struct heddle_dense_array *x);
/* Submits the tasks of heddle_sparse_solve, which run after the tasks of the factorisation. Dead columns fail a task,
 * which names one: HEDDLE_E_KERNEL. The arrays must exist until all tasks have ended, also if the call fails: with more
 * than 64 columns, tasks for some of them may have been submitted by then. */
int heddle_sparse_solve_submit(heddle_sparse_qr *qr, const struct heddle_dense_array *b,
                               const struct heddle_dense_array *x);

/* Makes the factorisation known as the application "sparse-qr" (heddle/application.h): `heddle run sparse-qr`. */
int heddle_sparse_register(void);

#ifdef __cplusplus
}
#endif
#endif
