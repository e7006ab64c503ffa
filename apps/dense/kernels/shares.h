/* The member's share of the products and triangular solvers of blas3.h. No function waits: the other members' shares
 * are complete when all members have met. A party of one computes everything. */
#ifndef HD_DENSE_SHARES_H
#define HD_DENSE_SHARES_H

#include <dense/kernels/blas3.h>
#include <dense/kernels/party.h>

#define HD_TEMPLATE <dense/kernels/shares.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* The share of the columns of A if `columns`, otherwise of its rows. */
static inline struct P(view) P(share)(const struct hd_party *p, struct P(view) a, int columns)
{
	struct hd_range r = hd_share(p, columns ? a.n : a.m);
	return columns ? P(part)(a, 0, r.first, a.m, r.n) : P(part)(a, r.first, 0, r.n, a.n);
}

struct P(product) {
	struct hd_ops ops;
	element alpha, beta;
	struct P(view) a, b, c;
};
/* C := alpha op(A) op(B) + beta C for some columns of C, or for some rows if C has more rows than columns. */
void P(gemm_share)(const struct hd_party *p, const struct P(product) * x);

/* One triangle of a product of A with its own conjugate transpose (herk) or, for complex elements, transpose (syrk):
 * some rows of a lower triangle, or some columns of an upper triangle. `alpha` and `beta` are real for herk. */
struct P(square) {
	CBLAS_UPLO uplo;
	CBLAS_TRANSPOSE
	trans;          /* NoTrans, or the transposition of the first factor: Trans for syrk, ConjTrans for herk */
	int conjugated; /* 1: herk */
	element alpha, beta;
	struct P(view) a, c;
};
void P(square_share)(const struct hd_party *p, const struct P(square) * x);

/* trsm for some columns of B (Left) or some rows of B (Right). */
void P(trsm_share)(const struct hd_party *p, struct hd_triangle how, element alpha, struct P(view) a, struct P(view) b);
void P(trmm_share)(const struct hd_party *p, struct hd_triangle how, element alpha, struct P(view) a, struct P(view) b);

#endif
