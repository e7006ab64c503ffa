/* Declarations for the routines of the QR family: the order in which tiles are eliminated, and the part of the
 * factorisation that is not stored in the matrix. */
#ifndef HD_DENSE_ROUTINES_QR_H
#define HD_DENSE_ROUTINES_QR_H

#include <dense/codelets/qr.h>
#include <dense/internal.h>

/* --- Trees: routines/qr_tree.c ------------------------------------------------------------------------------------ */

/* The tile of row `killed` becomes zero against the triangle in the tile of row `killer`. */
struct hd_qr_elimination {
	uint32_t killed, killer;
	int square; /* 1: the killed tile is full (TS kernels); 0: geqrt has made it a triangle (TT kernels) */
};

/* All eliminations of a matrix of mt rows of tiles in its first kt columns of tiles. Each tile below the diagonal is
 * killed once in its column, by a tile above it that is not killed yet. */
struct hd_qr_tree {
	size_t mt, kt;
	/* column by column; within a column, in an order that respects the dependencies */
	struct hd_qr_elimination list[];
};

/* `domain` is at least 1. Returns NULL when there is no memory. The caller frees the tree with free(). */
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
	size_t mt, nt, kt;       /* mt, nt: rows and columns of tiles; kt: number of tiles on the diagonal */
	int applied_at_once;     /* 1: the call that factorises also multiplies another matrix by Q */
	struct hd_qr_tree *tree; /* owns */
	heddle_data *work;       /* owns; a datum without a value: the shape of the tasks' workspace */
	/* The widths of the strips that T is cut into, the widest first, then 0: routines/qr_strips.c. They are the
	 * orders of the smaller tiles of the first matrix whose tiles are cut. Written once, under the lock
	 * `making`. */
	size_t widths[HD_DENSE_WIDTHS];
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
/* Rows of tile (i, k), columns of column k of tiles. */
size_t hd_qr_rows(const heddle_dense_qr *qr, size_t i);
size_t hd_qr_columns(const heddle_dense_qr *qr, size_t k);
/* Destroys `qr`. Returns `status` and keeps its message if it is an error; otherwise returns the status of the
 * destruction. */
int hd_qr_finish(heddle_dense_qr *qr, int status);
/* Registers the copies of V where they let tasks run sooner: geqrf.c says why. */
int hd_qr_copies_open(heddle_dense_qr *qr);
/* Unregisters the copies of V after the last task that uses them. */
void hd_qr_copies_close(heddle_dense_qr *qr);
/* Checks that `qr` is not NULL and was made for a matrix of this shape. 0, or HEDDLE_E_INVALID. */
int hd_qr_check(const char *routine, const heddle_dense_qr *qr, const heddle_dense_matrix *a);

/* For calls that wait: fills in the order of tiles in the options, and computes the shape of the matrix of array A. */
int hd_qr_settle(const char *routine, heddle_dense *dense, const struct heddle_dense_array *a,
                 const struct heddle_dense_options *options, struct heddle_dense_options *settled,
                 struct heddle_dense_shape *shape);

/* --- Strips of columns: routines/qr_strips.c ---------------------------------------------------------------------- */

enum { HD_QR_DATA = 5 }; /* the most data of a task */

struct hd_qr_datum {
	heddle_data *data;
	heddle_plan *strips; /* borrows from the datum; NULL: it has no strips */
	int is_cut;          /* 1: it is a tile that is cut into smaller tiles, but may be too narrow for strips */
};
/* A task of the six that make and apply reflectors, on tiles or strips. Its data are in the order of codelets/qr.c. */
struct hd_qr_task {
	enum hd_dense_op op;
	struct hd_dense_qr_values values;
	struct hd_qr_datum data[HD_QR_DATA];
	size_t n_data;
	size_t rows, columns; /* rows and columns of V; the rows are those of the whole tile */
	const size_t *widths; /* widths of strips: an array of HD_DENSE_WIDTHS */
};
/* Inserts the task. It may become tasks on strips, if the data that it writes are cut. */
void hd_qr_insert(struct hd_dense_flow *flow, const struct hd_qr_task *t);
/* Plans strips of the tiles of `a` and `c` that are cut into smaller tiles, and of the T and copies of V that belong to
 * tiles of `a`, unless there are plans already. *fit: 1: the strips of T are as wide as the strips of `a`, which
 * contains V. */
int hd_qr_plan_strips(heddle_dense_qr *qr, const heddle_dense_matrix *a, const heddle_dense_matrix *c, int *fit);

/* The data of a task: a tile; T or a copy of V, whose strips are used if they `fit`; the workspace. */
static inline struct hd_qr_datum hd_qr_tile(const heddle_dense_matrix *a, size_t i, size_t j)
{
	heddle_data *tile = hd_dense_tile(a, i, j);
	const heddle_dense_matrix *part = hd_dense_refined(tile);
	return (struct hd_qr_datum){tile, part ? part->strips : NULL, part != NULL};
}
static inline struct hd_qr_datum hd_qr_factor(heddle_data *data, int fit)
{
	return (struct hd_qr_datum){data, fit ? heddle_data_user(data) : NULL, 1};
}
static inline struct hd_qr_datum hd_qr_work_space(const heddle_dense_qr *qr)
{
	return (struct hd_qr_datum){qr->work, NULL, 0};
}

/* --- Applying Q: routines/ormqr.c --------------------------------------------------------------------------------- */

/* Q, whose reflectors are in `a`, is applied to `c`, from column (if from the left) or row of tiles `first` on. */
struct hd_qr_target {
	const heddle_dense_qr *qr;
	const heddle_dense_matrix *a, *c;
	struct hd_dense_qr_values how;
	size_t first;
	int fit; /* *fit of hd_qr_plan_strips */
};
/* hd_qr_apply_triangle applies the reflections of the triangle in row i, column k; the next function those of an
 * elimination. */
void hd_qr_apply_triangle(struct hd_dense_flow *flow, const struct hd_qr_target *to, size_t k, size_t i);
void hd_qr_apply_elimination(struct hd_dense_flow *flow, const struct hd_qr_target *to, size_t k,
                             const struct hd_qr_elimination *e);

/* x->m[0] = A, x->qr. */
void hd_dense_geqrf_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x);
/* x->m[0] = A, x->m[1] = C, x->qr, x->side, x->trans_a. */
void hd_dense_ormqr_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x);

#endif
