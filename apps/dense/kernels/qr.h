/* The kernels of tiled QR factorisations: LAPACK's geqrt, gemqrt, tpqrt and tpmqrt (TS: L = 0, TT: L = n).
 *
 * All of them have an inner blocking: t.m, the number of rows of T. Q is a product of blocks of t.m reflectors each, Q
 * = Q1 Q2 ..., with Qi = 1 - V T V^H. T has a block of t.m columns per block of reflectors. Each block of T is upper
 * triangular and, unlike LAPACK's, has zeros below the diagonal: the functions that make T write these zeros, because
 * the functions that apply Q multiply by them.
 *
 * Rows of zeros at the end of a block of reflectors are left out, also by the functions that make the block. So a tile
 * of a sparse factorisation, whose columns end in different rows, like a staircase, takes only the operations that its
 * structure needs. TT kernels do not look for rows of zeros.
 *
 * `work` is hd_qr_work(m, ib) elements for the caller's thread alone: m at least the rows of V, ib at least t.m. */
#ifndef HD_DENSE_QR_H
#define HD_DENSE_QR_H

#include <dense/kernels/party.h>
#include <dense/kernels/view.h>

/* Which product with Q: HD_APPLY(Left, ConjTrans) is Q^H C; (Right, NoTrans) is C Q. No other transposition. */
struct hd_apply {
	CBLAS_SIDE side;
	CBLAS_TRANSPOSE trans;
	int full; /* for ttmqr: how many rows of V are full; the triangle of V is below them */
};
#define HD_APPLY(SIDE, TRANS) ((struct hd_apply){Cblas##SIDE, Cblas##TRANS, 0})

enum { HD_QR_CHUNK = 256 }; /* rows or columns that Q is applied to at once, so that they stay in a cache */

/* Elements of the workspace of the functions below. */
static inline size_t hd_qr_work(int m, int ib)
{
	return (size_t)ib * ((size_t)m + 3 * (size_t)ib + 2 * HD_QR_CHUNK);
}

#define HD_TEMPLATE <dense/kernels/qr.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* A := R on and above its diagonal, V below it (with ones on the diagonal that are not stored), with A = Q R. A is
 * m x n, T is ib x min(m, n). */
void P(geqrt)(struct P(view) a, struct P(view) t, element *work);

/* geqrt by all members of a party, each with a separate workspace; tsqrt_party and ttqrt_party are analogous. Returns
 * 0, or -1: a member has given up. */
int P(geqrt_party)(const struct hd_party *p, struct P(view) a, struct P(view) t, element *work);
int P(tsqrt_party)(const struct hd_party *p, struct P(view) r, struct P(view) a, struct P(view) t, element *work);
int P(ttqrt_party)(const struct hd_party *p, struct P(view) r, struct P(view) a, int full, struct P(view) t,
                   element *work);

/* C := Q C, Q^H C, C Q or C Q^H, with V (m x k, k <= m) and T as geqrt leaves them. C is m x n (Left) or n x m. It may
 * have more rows (columns if Right), which stay. */
void P(gemqrt)(struct hd_apply how, struct P(view) v, struct P(view) t, struct P(view) c, element *work);

/* [R; A] = Q [R'; 0]. R := R', A := V, which is full, m x n. R is n x n and upper triangular; what is below its
 * diagonal is neither read nor written. T is ib x n. */
void P(tsqrt)(struct P(view) r, struct P(view) a, struct P(view) t, element *work);

/* [C1; C2] := Q [C1; C2] or Q^H [C1; C2] (Left), [C1 C2] := [C1 C2] Q or [C1 C2] Q^H (Right), with V (m x k) and T as
 * tsqrt leaves them. C1 is at least k x n, of which the first k rows are used; C2 is m x n (Left). Or at least n x k
 * and n x m (Right). C2 may have more rows (columns if Right), which stay. */
void P(tsmqr)(struct hd_apply how, struct P(view) v, struct P(view) t, struct P(view) c1, struct P(view) c2,
              element *work);

/* tsqrt for an A whose first `full` rows are full, and whose other rows are upper triangular or trapezoidal. For
 * example, the columns of a triangle from column `full` on are such an A. V has the shape of A. What is below the
 * diagonal of A is neither read nor written. */
void P(ttqrt)(struct P(view) r, struct P(view) a, int full, struct P(view) t, element *work);

/* tsmqr with a V that ttqrt has made with `full` = how.full; the part of V below its diagonal is not read. If V is m x
 * k with m > full + k, rows of C2 (columns if Right) from full + k on stay. */
void P(ttmqr)(struct hd_apply how, struct P(view) v, struct P(view) t, struct P(view) c1, struct P(view) c2,
              element *work);

#endif
