/* The kernels of Cholesky's factorisation and of the inverse computed from it: LAPACK's potrf, trtri and lauum, by
 * recursion, so that nearly all of the work is in the products of blas3.h.
 *
 * A is n x n. The triangle that `uplo` does not name is neither read nor written. */
#ifndef HD_DENSE_CHOLESKY_H
#define HD_DENSE_CHOLESKY_H

#include <dense/kernels/party.h>
#include <dense/kernels/view.h>

#define HD_TEMPLATE <dense/kernels/cholesky.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* A := L with A = L L^H (Lower) or U with A = U^H U (Upper). Returns 0, or the order i >= 1 of the first leading minor
 * that is not positive, or is not a number; then part of A is overwritten. The imaginary parts of the diagonal are not
 * read. */
int P(potrf)(CBLAS_UPLO uplo, struct P(view) a);
/* potrf by all members of a party. Member 0 returns the result of potrf. If that is not 0, member 0 must give up, and
 * the others return -1 when they have met. */
int P(potrf_party)(const struct hd_party *p, CBLAS_UPLO uplo, struct P(view) a);

/* A := A^-1, with triangular A. Returns 0, or the number i >= 1 of the first zero on the diagonal; then A is as it
 * was. The diagonal of a unit triangle is not read. */
int P(trtri)(CBLAS_UPLO uplo, CBLAS_DIAG diag, struct P(view) a);
/* trtri by all members of a party; the results are like those of potrf_party. */
int P(trtri_party)(const struct hd_party *p, CBLAS_UPLO uplo, CBLAS_DIAG diag, struct P(view) a);

/* A := L^H L (Lower) or U U^H (Upper), with L or U from A. The imaginary parts of the diagonal are not read. */
void P(lauum)(CBLAS_UPLO uplo, struct P(view) a);
/* lauum by all members of a party. Returns 0, or -1: a member has given up. */
int P(lauum_party)(const struct hd_party *p, CBLAS_UPLO uplo, struct P(view) a);

#endif
