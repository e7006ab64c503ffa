/* What the tasks of the sparse QR factorisation share: its codelets, its data, and which parts of which data a task
 * works on. */
#ifndef HD_SPARSE_TASKS_H
#define HD_SPARSE_TASKS_H

#include <sparse/kernels/subtree.h>
#include <sparse/matrix/matrix.h>

enum hd_sparse_op {
	HD_SPARSE_ASSEMBLE, /* a tile of a front; codelets.c */
	HD_SPARSE_SUBTREE,
	HD_SPARSE_ROWS_UP, /* right-hand sides; solve_codelets.c */
	HD_SPARSE_ROWS_DOWN,
	HD_SPARSE_ROWS_OUT,
	HD_SPARSE_ROWS_EMPTY,
	HD_SPARSE_BACK,
	HD_SPARSE_COLUMNS_UP,
	HD_SPARSE_FORWARD,
	HD_SPARSE_SUBTREE_UP,
	HD_SPARSE_SUBTREE_DOWN,
	HD_SPARSE_SUBTREE_BACK,
	HD_SPARSE_SUBTREE_FORWARD,
	HD_SPARSE_N_OPS
};

struct heddle_sparse {
	heddle_runtime *rt;                                                 /* borrows until closed */
	heddle_dense *dense;                                                /* owns */
	heddle_codelet *codelets[HEDDLE_DENSE_PRECISIONS][HD_SPARSE_N_OPS]; /* owned by the runtime */
	double *rates; /* owns; operations per us on tiles, by precision and class of cores; 0 of others */
};

/* --- Codelets ----------------------------------------------------------------------------------------------------- */

struct hd_sparse_codelet {
	enum hd_sparse_op op;
	const char *name; /* behind the letter of the precision */
	heddle_kernel kernels[HEDDLE_DENSE_PRECISIONS];
	unsigned color;
	double (*time)(const struct heddle_size *size, unsigned class_id); /* a law of laws.c */
};
#define HD_SPARSE_FOUR(x)                              \
	{                                              \
		hd_d_##x, hd_s_##x, hd_z_##x, hd_c_##x \
	}
/* Tables, each ended by a row without a name. */
extern const struct hd_sparse_codelet hd_sparse_codelets[], hd_sparse_solve_codelets[];
int hd_sparse_make_codelets(struct heddle_sparse *sparse);

/* laws.c: us of tasks in virtual time, on a platform that has no times for them. NAN: the class cannot run them. */
double hd_sparse_assembly_time(const struct heddle_size *size, unsigned class_id);
double hd_sparse_subtree_time(const struct heddle_size *size, unsigned class_id);
double hd_sparse_solve_time(const struct heddle_size *size, unsigned class_id);
/* Finds sparse->rates. */
int hd_sparse_find_rates(struct heddle_sparse *sparse);
/* What the cut into subtrees depends on, for tiles of this order. */
struct hd_sparse_machine hd_sparse_machine_of(const struct heddle_sparse *sparse, enum heddle_dense_precision precision,
                                              size_t tile);

/* The value of a task: what it works on. Both begin with what models ask for. */
struct hd_sparse_factor_value {
	double flops;        /* on real numbers; 0: it only moves data */
	const double *rates; /* borrows; of each class: struct heddle_sparse */
	const struct heddle_sparse_qr *qr;
	const void *values; /* of A */
	size_t front;       /* of a subtree: its number */
	size_t row, column; /* of the tile */
};
struct hd_sparse_solve_value {
	double flops; /* as above */
	const double *rates;
	const struct heddle_sparse_qr *qr;
	size_t front, row;              /* of a subtree: its number */
	struct hd_sparse_array in, out; /* `data` is NULL where there is none */
	int kept;                       /* rows that are kept are meant, not rows of F */
	double tolerance;               /* of the factorisation */
};

/* --- The factorisation -------------------------------------------------------------------------------------------- */

/* What a front on tiles, or the root of a subtree, has in the runtime. NULL where there is nothing. */
struct hd_sparse_node {
	/* Owns; tile (i, k) at i + k * mt. In the same array, for k < kt: T of tile (i, k); T of the pair in which its
	 * triangle is eliminated; a copy of the V that geqrt leaves in it. */
	heddle_data **tiles, **factors, **pairs, **copies;
	heddle_data *packed, *work; /* of a subtree */
	heddle_data *contribution;  /* of the root of a subtree */
	/* Owns; R in the rows of the front, n_pivots x n_columns, where rank.c has changed it; NULL: it has not */
	void *changed_r;
};

/* Until when a datum of a front is needed. */
enum hd_sparse_end {
	HD_SPARSE_STAYS,             /* R, and Q if it is kept */
	HD_SPARSE_WITH_CONTRIBUTION, /* until the parent is assembled */
	HD_SPARSE_WITH_FRONT,        /* until the front is factorised */
	HD_SPARSE_N_ENDS
};

/* Where a row of a front comes from: a row of the contribution of a child. */
struct hd_sparse_origin {
	size_t child; /* HD_SPARSE_NONE: it is a row of F */
	size_t row;
};

struct heddle_sparse_qr {
	struct heddle_sparse *sparse; /* borrows, as the analysis */
	const struct heddle_sparse_analysis *analysis;
	struct heddle_sparse_analysis
	    *cut; /* owns; `analysis`, if its options leave subtrees to the machine; or NULL */
	enum heddle_dense_precision precision;
	struct heddle_sparse_options options; /* with all defaults filled in */
	struct hd_sparse_packing packing;
	size_t widths[3];             /* of strips, then 0 */
	struct hd_sparse_node *nodes; /* owns; of each front */
	/* Owned; of each front and, the last, of all together: where its factors begin in the packed factors of its
	 * subtree; the rows and the columns of the fronts before it; their data in the array of right-hand sides. */
	size_t *packed_at, *row_at, *column_at, *rhs_at;
	/* Owned. Row i of front f, after Q^H has been applied: the number of its row among the rows of Q^H B, at
	 * row_at[f] + i; -1: it is contributed to the parent. Then come the rows of F without elements. */
	int64_t *kept;
	struct hd_sparse_origin *origins;    /* owns; of row i of front f on tiles, at row_at[f] + i */
	heddle_data *tile_work, *small_work; /* owned; shapes of workspaces */
	char in_use_value;                   /* nobody looks at it */
	heddle_data *in_use; /* owned; all tasks read it that use this structure: it is their last datum */
	const void *values;  /* of the last factorisation; borrowed */
	double tolerance;    /* of it */
	int submitted;
	struct hd_sparse_rank *rank; /* owns; rank.h; NULL: nobody has asked yet */
};

/* shape.c: tiles. */
static inline size_t hd_sparse_grid(const struct heddle_sparse_qr *qr, size_t extent)
{
	return (extent + qr->options.tile - 1) / qr->options.tile;
}
/* The rows of tile (i, k): as far as the staircase reaches in its last column, and a little more, so that there are few
 * different shapes. 0: it is zero, and does not exist. Its columns. The rows of row i of tiles. */
size_t hd_sparse_tile_rows(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front, size_t i, size_t k);
size_t hd_sparse_tile_columns(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front, size_t k);
size_t hd_sparse_rows_of_tile(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front, size_t i);
enum hd_sparse_end hd_sparse_tile_end(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front, size_t i,
                                      size_t k);
/* Whether geqrt leaves a copy of the V of tile (i, k): eliminations write the tile again while V is applied. */
int hd_sparse_has_copy(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front, size_t i, size_t k);
/* Elements of all data that front f registers, by their ends. */
void hd_sparse_elements(const struct heddle_sparse_qr *qr, size_t f, size_t elements[HD_SPARSE_N_ENDS]);
/* The subtree, as kernels want it. */
struct hd_sparse_job hd_sparse_job(const struct heddle_sparse_qr *qr, size_t subtree);
/* Whether front f is in a subtree that is one task, and is not its root. */
int hd_sparse_is_inside(const struct heddle_sparse_analysis *a, size_t f);
static inline int hd_sparse_is_root(const struct hd_sparse_front *front)
{
	return front->parent == HD_SPARSE_NONE;
}

/* --- Where a tile comes from -------------------------------------------------------------------------------------- */

/* sources.c: the data that have part of what a task assembles. A task and whoever submits it go through the same list.
 */
struct hd_sparse_source {
	struct hd_sparse_piece piece; /* of right-hand sides: rows alone */
	size_t front;                 /* the child, or, going down, the parent */
	size_t tile_row, tile_column; /* the tile of that front; 0 of a subtree */
	size_t row, column;           /* of the first element of the piece in that datum */
};
/* Returns 0, or another value to end the list. */
typedef int (*hd_sparse_visit)(void *arg, const struct hd_sparse_source *source);
/* Parts of the children's contributions in tile (i, k) of front f. Returns what the last visit returned. */
int hd_sparse_tile_sources(const struct heddle_sparse_qr *qr, size_t f, size_t i, size_t k, hd_sparse_visit visit,
                           void *arg);
/* Rows of the children's right-hand sides in row i of tiles. */
int hd_sparse_up_sources(const struct heddle_sparse_qr *qr, size_t f, size_t i, hd_sparse_visit visit, void *arg);
/* Rows of the parent's right-hand side in rows of front f from `row` on, `rows` of them. piece.row is the row of the
 * contribution. */
int hd_sparse_down_sources(const struct heddle_sparse_qr *qr, size_t f, size_t row, size_t rows, hd_sparse_visit visit,
                           void *arg);

/* --- Submitting --------------------------------------------------------------------------------------------------- */

/* Tasks of a call. */
struct hd_sparse_flow {
	struct heddle_sparse_qr *qr;
	int status;                /* of the first error; what comes after it does nothing */
	struct heddle_item *items; /* owns; of the next task */
	size_t n, room;
	struct hd_sparse_memory *memory; /* NULL: there is no bound */
	struct hd_sparse_levels *levels; /* NULL: no priorities by paths */
};
/* flow.c: the description of a task, item by item, and its end, which submits it. */
void hd_sparse_task(struct hd_sparse_flow *flow, enum hd_sparse_op op, int priority);
void hd_sparse_add(struct hd_sparse_flow *flow, struct heddle_item item);
void hd_sparse_submit(struct hd_sparse_flow *flow);
/* Submits it with in_use and its value. */
void hd_sparse_submit_with(struct hd_sparse_flow *flow, struct heddle_item value);
void hd_sparse_flow_end(struct hd_sparse_flow *flow);
/* Registers a temporary, unless there was an error. */
heddle_data *hd_sparse_register(struct hd_sparse_flow *flow, size_t rows, size_t columns);
/* Unregisters the datum, if there is one, after its last task, and forgets it. */
void hd_sparse_drop(heddle_data **data);
/* A scope for calls that wait: what this thread submits, and its end, which waits. */
struct hd_sparse_scope {
	heddle_group *group, *before;
};
int hd_sparse_scope_open(struct heddle_sparse *sparse, struct hd_sparse_scope *scope);
int hd_sparse_scope_close(struct heddle_sparse *sparse, struct hd_sparse_scope *scope, int status);

/* fronts.c: the tasks of a front on tiles, or of a subtree. */
void hd_sparse_front_tasks(struct hd_sparse_flow *flow, size_t f);
/* Unregisters all that front f has. */
void hd_sparse_drop_front(struct heddle_sparse_qr *qr, size_t f);

/* memory.c: a bound of the memory of fronts. */
struct hd_sparse_memory {
	size_t bound, used;              /* elements */
	struct hd_sparse_release *queue; /* owns; what becomes free, in the order of submission */
	size_t first, n, room;
};
/* The most elements that are in use at once if fronts are factorised one after the other. */
size_t hd_sparse_peak(const struct heddle_sparse_qr *qr);
/* Waits until so many elements fit into the bound, and counts them as used. */
void hd_sparse_take_room(struct hd_sparse_flow *flow, size_t elements);
/* The data of front f with this end are not needed by tasks that are submitted from now on: unregisters them, counts
 * their elements as free when their last task has ended. */
void hd_sparse_release(struct hd_sparse_flow *flow, size_t f, enum hd_sparse_end end);
void hd_sparse_memory_free(struct hd_sparse_memory *memory);
/* fronts.c: calls `visit` for each datum of front f with this end. */
void hd_sparse_each_datum(struct hd_sparse_flow *flow, size_t f, enum hd_sparse_end end,
                          void (*visit)(struct hd_sparse_flow *flow, heddle_data **data));

/* What a task on a front does: makes reflectors of tile (i, k), or applies them to (i, j); or all of a subtree. */
enum hd_sparse_kind {
	HD_SPARSE_GEQRT,
	HD_SPARSE_GEMQRT,
	HD_SPARSE_TSQRT,
	HD_SPARSE_TSMQR,
	HD_SPARSE_TTQRT,
	HD_SPARSE_TTMQR,
	HD_SPARSE_WHOLE
};

/* tree.c: the rows of tiles of a domain; as many as there are: the tree is flat. Whether geqrt makes a triangle of tile
 * (i, k), if that exists. */
size_t hd_sparse_domain(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front);
int hd_sparse_is_head(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front, size_t i, size_t k);
/* The rows of tiles in column k of tiles: up to `end` - 1. */
struct hd_sparse_column {
	size_t k, end, domain;
};
struct hd_sparse_column hd_sparse_column(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front,
                                         size_t k);
/* geqrt makes a triangle of a tile; tsqrt eliminates the tile, ttqrt its triangle, against the triangle in row `top`.
 */
struct hd_sparse_elimination {
	enum hd_sparse_kind kind;
	size_t k, top, tile;
};
typedef void (*hd_sparse_eliminate)(void *arg, const struct hd_sparse_elimination *e);
/* In an order in which they may be done, or `backward`. */
void hd_sparse_each_elimination(const struct hd_sparse_column *c, int backward, hd_sparse_eliminate to, void *arg);
/* T of an elimination. */
static inline heddle_data *hd_sparse_factor(const struct hd_sparse_node *node, size_t mt,
                                            const struct hd_sparse_elimination *e)
{
	return (e->kind == HD_SPARSE_TTQRT ? node->pairs : node->factors)[e->tile + e->k * mt];
}

/* priorities.c */
struct hd_sparse_levels;
struct hd_sparse_step {
	enum hd_sparse_kind kind;
	size_t f, i, k, j;
};
/* NULL: out of memory, or the options want no priorities by paths. */
struct hd_sparse_levels *hd_sparse_levels_new(const struct heddle_sparse_qr *qr);
int hd_sparse_priority(const struct hd_sparse_flow *flow, const struct hd_sparse_step *step);

/* solve.c: the first column of F that no value can make independent of the columns before it; -1: none. */
int64_t hd_sparse_structural_deficiency(const struct heddle_sparse_analysis *a);
enum { HD_SPARSE_RHS = 64 }; /* right-hand sides that tasks take at once */

/* The rates of the factorisation's precision. */
static inline const double *hd_sparse_rates(const struct heddle_sparse_qr *qr)
{
	return qr->sparse->rates + (size_t)qr->precision * heddle_runtime_platform(qr->sparse->rt)->n_classes;
}

#endif
