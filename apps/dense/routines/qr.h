/* What the routines of the QR family share: the order in which tiles are eliminated, and the factorisation that is
 * kept apart from the matrix. */
#ifndef HD_DENSE_ROUTINES_QR_H
#define HD_DENSE_ROUTINES_QR_H

#include <dense/codelets/qr.h>
#include <dense/internal.h>

/* --- Trees: routines/qr_tree.c ------------------------------------------------------------------------------------ */

/* The tile of row `killed` becomes zero against the triangle in the tile of row `killer`. */
struct hd_qr_elimination {
	uint32_t killed, killer;
	int square; /* the killed tile is a full one (TS kernels); 0: geqrt has made it a triangle (TT kernels) */
};

/* All eliminations of a matrix of mt rows of tiles in its first kt columns of tiles. Each tile below the diagonal is
 * killed once in its column, by one above that is alive. */
struct hd_qr_tree {
	size_t mt, kt;
	struct hd_qr_elimination list[]; /* column by column; in each, in an order in which they may be done */
};

/* `domain` is at least 1. Returns NULL when there is no memory. The caller frees it with free(). */
struct hd_qr_tree *hd_qr_tree_new(enum heddle_dense_tree kind, size_t domain, size_t mt, size_t kt);
/* The place of the first elimination of column k in the list. */
static inline size_t hd_qr_first(const struct hd_qr_tree *tree, size_t k)
{
	return k * (2 * tree->mt - k - 1) / 2;
}
/* The eliminations of column k, as many as there are tiles below the diagonal: mt - k - 1. */
static inline const struct hd_qr_elimination *hd_qr_column(const struct hd_qr_tree *tree, size_t k)
{
	return tree->list + hd_qr_first(tree, k);
}

/* --- Factorisations: routines/qr_factors.c ------------------------------------------------------------------------ */

struct heddle_dense_qr {
	heddle_dense *dense; /* borrows until destroyed */
	struct heddle_dense_shape shape;
	size_t inner;            /* rows of T */
	size_t mt, nt, kt;       /* rows and columns of tiles; the columns that have tiles on the diagonal */
	int applied_at_once;     /* the same call multiplies another matrix by Q */
	struct hd_qr_tree *tree; /* owns */
	heddle_data *work;       /* owns; the shape of the tasks' workspace; it has no value */
	/* T of the triangles that geqrt makes, and of the eliminations of tiles; copies of the V that geqrt leaves.
	 * Owned. Tile (i, k) at i + k * mt; NULL where there is none. */
	heddle_data **triangles, **eliminations, **copies;
	heddle_data *data[];
};

/* Whether geqrt makes a triangle of tile (i, k). */
static inline int hd_qr_is_triangle(const heddle_dense_qr *qr, size_t i, size_t k)
{
	return qr->triangles[i + k * qr->mt] != NULL;
}
/* Destroys `qr`, like hd_dense_finish. */
int hd_qr_finish(heddle_dense_qr *qr, int status);
/* Registers the copies of V where they let tasks run sooner: geqrf.c says why. */
int hd_qr_copies_open(heddle_dense_qr *qr);
/* Unregisters them after the last task that uses them. */
void hd_qr_copies_close(heddle_dense_qr *qr);
/* `qr` is not NULL and was made for a matrix of this shape: 0, or HEDDLE_E_INVALID. */
int hd_qr_check(const char *routine, const heddle_dense_qr *qr, const heddle_dense_matrix *a);

/* For calls that wait: the options with the order of tiles filled in, and the shape of the matrix of array A. */
int hd_qr_settle(const char *routine, heddle_dense *dense, const struct heddle_dense_array *a,
                 const struct heddle_dense_options *options, struct heddle_dense_options *settled,
                 struct heddle_dense_shape *shape);

/* --- Applying Q: routines/ormqr.c --------------------------------------------------------------------------------- */

/* Q, whose reflectors are in `a`, is applied to `c`, from column (if from the left) or row of tiles `first` on. */
struct hd_qr_target {
	const heddle_dense_qr *qr;
	const heddle_dense_matrix *a, *c;
	struct hd_dense_apply_values how;
	size_t first;
};
/* The reflections of the triangle in row i, column k; of an elimination. */
void hd_qr_apply_triangle(struct hd_dense_flow *flow, const struct hd_qr_target *to, size_t k, size_t i);
void hd_qr_apply_elimination(struct hd_dense_flow *flow, const struct hd_qr_target *to, size_t k,
                             const struct hd_qr_elimination *e);

/* x->m[0] = A, x->qr. */
void hd_dense_geqrf_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x);
/* x->m[0] = A, x->m[1] = C, x->qr, x->side, x->trans_a. */
void hd_dense_ormqr_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x);

#endif
