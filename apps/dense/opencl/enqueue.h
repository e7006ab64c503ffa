/* Work of one task on an OpenCL device: matrices in its memory, and the kernels of kernels.cl on them.
 *
 * A kernel of a codelet calls hd_ocl_begin, puts work on its stream by the functions below, and returns the result of
 * hd_ocl_end. After a function has failed, the later functions do nothing, and hd_ocl_end returns the failure. The
 * functions only put work on the stream; later work on the stream finds the results. */
#ifndef HD_DENSE_OPENCL_ENQUEUE_H
#define HD_DENSE_OPENCL_ENQUEUE_H

#include <dense/codelets/verdicts.h>
#include <dense/internal.h>
#include <heddle/opencl.h>

struct hd_ocl {
	heddle_context *c;
	enum heddle_dense_precision precision;
	size_t elem_size;
	int status; /* status of the first function that failed; 0: none */
	/* workspace of the stream: first the reports of kernels, then matrices; NULL: none was asked for */
	struct _cl_mem *scratch;
	size_t used; /* number of elements of `scratch` that are in use */
	int clblast; /* whether products may be left to CLBlast */
};

/* Element (i, j) is at + i + j * ld elements behind the beginning of `memory`. */
struct hd_ocl_matrix {
	struct _cl_mem *memory;
	int64_t at;
	int m, n, ld;
};

/* Flags of kernels, as in kernels.cl. */
enum {
	HD_OCL_TRANS_A = 1, /* A stands for its transpose */
	HD_OCL_CONJ_A = 2,  /* A stands for its conjugate; with HD_OCL_TRANS_A: for its conjugate transpose */
	HD_OCL_TRANS_B = 4,
	HD_OCL_CONJ_B = 8,
	HD_OCL_LOWER = 16, /* only the lower triangle of C is computed */
	HD_OCL_UPPER = 32, /* only the upper triangle of C is computed */
	HD_OCL_UNIT = 64,  /* the diagonal of the triangle of C is not computed */
	HD_OCL_REAL_DIAGONAL = 128,
	/* only the lower triangle of A is read; the other triangle counts as zeros, unless MIRRORED */
	HD_OCL_A_LOWER = 256,
	HD_OCL_A_UPPER = 512,
	HD_OCL_A_UNIT = 1024,      /* the diagonal of A is not read, and counts as ones */
	HD_OCL_A_MIRRORED = 2048,  /* A is symmetric: the other triangle mirrors the triangle that is read */
	HD_OCL_A_HERMITIAN = 4096, /* with MIRRORED: A is Hermitian; without: the diagonal is real */
	HD_OCL_A_IDENTITY = 8192,  /* A is not read, and counts as the identity matrix */
	HD_OCL_RIGHT = 16384,      /* A stands right of the unknowns */
	HD_OCL_FIRST = 32768,      /* resets the report */
	HD_OCL_SKIP_ZEROS = 65536  /* a pivot that is zero or NaN counts as one */
};
enum { HD_OCL_LEAF = 32 /* order of the largest blocks on the diagonal that one kernel solves with or factorises */ };

/* Begins the work of a task that needs `elements` elements of workspace and, if `finds`, a report. */
struct hd_ocl hd_ocl_begin(heddle_context *c, enum heddle_dense_precision precision, size_t elements, int finds);
static inline int hd_ocl_end(const struct hd_ocl *w)
{
	return w->status;
}

/* Datum i of the task. */
struct hd_ocl_matrix hd_ocl_tile(struct hd_ocl *w, size_t i);
/* Datum i of the task, which consists of doubles in all precisions. */
struct hd_ocl_matrix hd_ocl_doubles(struct hd_ocl *w, size_t i);
/* An m x n matrix in the workspace. */
struct hd_ocl_matrix hd_ocl_scratch(struct hd_ocl *w, int m, int n);
/* The m rows and n columns from element (i, j) on. */
static inline struct hd_ocl_matrix hd_ocl_part(struct hd_ocl_matrix a, int i, int j, int m, int n)
{
	return (struct hd_ocl_matrix){a.memory, a.at + i + (int64_t)j * a.ld, m, n, a.ld};
}

/* The arguments of a kernel. Each function below names the fields that it uses; C is written. */
struct hd_ocl_call {
	int flags;
	heddle_dense_scalar alpha, beta;
	struct hd_ocl_matrix a, b, c;
	int k;
	int diagonal; /* elements (i, j) of C with i = j + diagonal are on the diagonal of the whole matrix */
};

/* C := alpha op(A) op(B) + beta C, of the part that the flags say; op(A) is m x k. A and B are not read if alpha is 0,
 * nor is C if beta is 0. Uses CLBlast where it is faster. */
void hd_ocl_product(struct hd_ocl *w, const struct hd_ocl_call *x);
/* C := alpha A + beta C, of the part that the flags say; by the flags A may stand for another matrix, such as its
 * transpose. */
void hd_ocl_combine(struct hd_ocl *w, const struct hd_ocl_call *x);
/* C := alpha op(A)^-1 C, or alpha C op(A)^-1, with triangular A of any order. */
void hd_ocl_solve(struct hd_ocl *w, const struct hd_ocl_call *x);

/* C := L with C = L L^H (LOWER), or U with C = U^H U. Finds the first leading minor that is not positive. */
void hd_ocl_cholesky(struct hd_ocl *w, int flags, struct hd_ocl_matrix c);
/* C := L and U, without interchanges. Finds the first pivot that is zero or NaN, and which of both it is. */
void hd_ocl_lu(struct hd_ocl *w, struct hd_ocl_matrix c);
/* Finds the first zero on the diagonal of A. */
void hd_ocl_zeros(struct hd_ocl *w, struct hd_ocl_matrix a);
/* Finds the first element, column by column, that is not finite, in the part of A that the flags and `diagonal` say.
 * The report is 2 (1 + row + column * rows), and 1 more if the element is NaN; INT_MAX: there is none. */
void hd_ocl_look(struct hd_ocl *w, int flags, struct hd_ocl_matrix a, int diagonal);

/* C := the window of a random matrix, where `window` begins. */
void hd_ocl_random(struct hd_ocl *w, struct hd_ocl_matrix c, const struct hd_dense_window *window);
/* Adds to the double `sum` the squares of the elements in the part of A that the flags and `diagonal` say; elements off
 * the diagonal count twice if A_MIRRORED. */
void hd_ocl_squares(struct hd_ocl *w, int flags, struct hd_ocl_matrix a, struct hd_ocl_matrix sum, int diagonal);

/* Judges the report; it is 0, 0 if nothing was found. `value` is the task's value 0. */
typedef struct hd_dense_verdict (*hd_ocl_judge)(const void *value, const int found[2]);
/* Ends the work: the task ends when the report has been read back and judged. Returns the same as hd_ocl_end. */
int hd_ocl_end_judged(struct hd_ocl *w, hd_ocl_judge judge);

#endif
