/* Products and triangular solvers of the level-3 BLAS. OpenBLAS's trsm and real syrk are much slower than its gemm on
 * tiles of a few hundred rows; so they are computed here by recursion, with nearly all of the work in gemm.
 *
 * As in the BLAS, the triangle that `uplo` does not name is neither read nor written, nor is the diagonal of a unit
 * triangle. Each function corresponds to the BLAS function of the same name and letter. */
#ifndef HD_DENSE_BLAS3_H
#define HD_DENSE_BLAS3_H

#include <dense/kernels/view.h>

/* op(A) and op(B) of a product: HD_OPS(NoTrans, ConjTrans). */
struct hd_ops {
	CBLAS_TRANSPOSE a, b;
};
#define HD_OPS(A, B) ((struct hd_ops){Cblas##A, Cblas##B})

/* How a triangular matrix is used: HD_TRIANGLE(Left, Lower, NoTrans, NonUnit). */
struct hd_triangle {
	CBLAS_SIDE side; /* the side of the other matrix on which the triangular matrix is */
	CBLAS_UPLO uplo;
	CBLAS_TRANSPOSE trans;
	CBLAS_DIAG diag;
};
#define HD_TRIANGLE(SIDE, UPLO, TRANS, DIAG) ((struct hd_triangle){Cblas##SIDE, Cblas##UPLO, Cblas##TRANS, Cblas##DIAG})

#define HD_TEMPLATE <dense/kernels/blas3.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* C := alpha op(A) op(B) + beta C. C is m x n; k is the other extent of op(A). If beta is 0, C is not read. */
void P(gemm)(struct hd_ops ops, element alpha, struct P(view) a, struct P(view) b, element beta, struct P(view) c);

/* The triangle `uplo` of C := alpha A A^H + beta C (NoTrans, A is n x k) or alpha A^H A + beta C (ConjTrans, A is
 * k x n). C is n x n. LAPACK's syrk for real elements, herk for complex ones; the diagonal of C gets real elements. */
void P(herk)(CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, real alpha, struct P(view) a, real beta, struct P(view) c);

/* B := alpha op(A)^-1 B (Left, A is m x m) or alpha B op(A)^-1 (Right, A is n x n), with triangular A. B is m x n. Does
 * not check for zeros on the diagonal. As in OpenBLAS, a diagonal element whose inverse overflows acts as a zero. */
void P(trsm)(struct hd_triangle how, element alpha, struct P(view) a, struct P(view) b);

/* B := alpha op(A) B (Left) or alpha B op(A) (Right), with triangular A; shapes as for trsm. */
void P(trmm)(struct hd_triangle how, element alpha, struct P(view) a, struct P(view) b);

/* --- Triangles ---------------------------------------------------------------------------------------------------- */

/* FULL := the triangle, with zeros in the other triangle, and ones on a unit diagonal. Both are n x n. */
void P(full_triangle)(CBLAS_UPLO uplo, CBLAS_DIAG diag, struct P(view) a, struct P(view) full);

/* C := FULL + beta C in the triangle `uplo`, with real numbers on the diagonal. */
void P(add_triangle)(CBLAS_UPLO uplo, struct P(view) full, real beta, struct P(view) c);

#endif
