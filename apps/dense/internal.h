/* Declarations for all files of apps/dense.
 *
 * kernels/      computations on column-major memory, by one thread or by a party, in four precisions
 * codelets/     tasks on tiles: each takes its data and values from the context and calls a kernel
 * tasks/        matrices of tiles, flows of tasks with their priorities, calls that wait
 * routines/     the routines, one family a file: which tasks, in which order
 * experiments/  routines on random data, with their residuals
 */
#ifndef HD_DENSE_INTERNAL_H
#define HD_DENSE_INTERNAL_H

#include <pthread.h>
#include <dense/hash.h>
#include <heddle/dense.h>

/* Weak, because only OpenBLAS has these functions. Any other BLAS must be sequential. */
extern void openblas_set_num_threads(int n) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

/* --- Codelets ----------------------------------------------------------------------------------------------------- */

enum hd_dense_op {
	HD_DENSE_GEMM,
	HD_DENSE_SYRK,
	HD_DENSE_HERK, /* in real precisions the codelet of SYRK */
	HD_DENSE_SYMM,
	HD_DENSE_HEMM, /* in real precisions the codelet of SYMM */
	HD_DENSE_TRSM,
	HD_DENSE_TRMM,
	HD_DENSE_POTRF,
	HD_DENSE_TRTRI,
	HD_DENSE_LAUUM,
	HD_DENSE_SCALE,
	HD_DENSE_ADD,
	HD_DENSE_GEQRT, /* QR: codelets/qr.c */
	HD_DENSE_GEMQRT,
	HD_DENSE_TSQRT,
	HD_DENSE_TSMQR,
	HD_DENSE_TTQRT,
	HD_DENSE_TTMQR,
	HD_DENSE_RANK,
	HD_DENSE_SET,
	HD_DENSE_TRANSPOSE,
	HD_DENSE_GETRF_NOPIV,
	HD_DENSE_GETRF_PANEL,
	HD_DENSE_LASWP,
	HD_DENSE_LU_PARTS,
	HD_DENSE_COPY,
	HD_DENSE_FINITE,
	HD_DENSE_RANDOM_TILE,
	HD_DENSE_NORM,
	HD_DENSE_RESIDUAL_BEGIN,
	HD_DENSE_RESIDUAL_END,
	HD_DENSE_N_OPS
};

/* A codelet in four precisions. Each file of codelets/ has a table of codelets, ended by a row without a name. */
struct hd_dense_codelet {
	enum hd_dense_op op;
	/* The codelet's name is the letter of its precision and this name; complex precisions may have another name.
	 * Rows with the same name share the codelet of the first such row. */
	const char *name, *complex_name;
	heddle_kernel kernels[HEDDLE_DENSE_PRECISIONS];
	/* operations of a task on real numbers; NULL: it only moves data */
	double (*flops[HEDDLE_DENSE_PRECISIONS])(const struct heddle_size *size);
	/* hash of the values that change its time; NULL: none */
	uint64_t (*footprint)(const struct heddle_size *size);
	int cost; /* operations for a full tile, for priorities, in units of a third of the cube of its order */
	unsigned color;
	enum heddle_parallel parallel; /* HEDDLE_SPMD: a party runs its kernel (codelets/party.h) */
};
/* The four functions of a template, by precision. */
#define HD_DENSE_FOUR(x)                               \
	{                                              \
		hd_d_##x, hd_s_##x, hd_z_##x, hd_c_##x \
	}
extern const struct hd_dense_codelet hd_dense_products[], hd_dense_cholesky[], hd_dense_lu[], hd_dense_qr_codelets[],
    hd_dense_movements[];

/* codelets/codelets.c: makes all codelets of one runtime. */
int hd_dense_codelets(heddle_dense *dense);
/* Makes the codelets with a sub-graph, for matrices of this precision, unless they exist already. */
int hd_dense_hierarchical_codelets(heddle_dense *dense, enum heddle_dense_precision precision);
/* The cost of a task of this codelet, for priorities. */
int hd_dense_cost(enum hd_dense_op op);
/* Extent of a datum of a task, for counts of operations. */
static inline double hd_dense_extent(const struct heddle_size *size, size_t datum, unsigned dim)
{
	return (double)size->parts[datum]->n[dim];
}

struct heddle_dense {
	heddle_runtime *rt; /* borrows until closed */
	char *tuned;        /* owns; const: the text of the file of tiles (tasks/tuned.c), or NULL */
	heddle_codelet *codelets[HEDDLE_DENSE_PRECISIONS][HD_DENSE_N_OPS]; /* owned by the runtime */
	/* The hierarchical variants of `codelets`, which have a sub-graph: for tasks all of whose tiles are cut into
	 * smaller tiles; NULL: there is none. Made for a precision before the first matrix of this precision is cut,
	 * under the lock `making`, below which no lock of this library is taken. */
	heddle_codelet *hierarchical[HEDDLE_DENSE_PRECISIONS][HD_DENSE_N_OPS];
	int has_hierarchical[HEDDLE_DENSE_PRECISIONS];
	pthread_mutex_t making;
};

/* Values of tasks. */
struct hd_dense_gemm_values {
	enum heddle_dense_trans trans_a, trans_b;
	heddle_dense_scalar alpha, beta;
	size_t across; /* number of columns of tiles of C in the task; 0: one column */
};
struct hd_dense_syrk_values { /* of syrk, and of herk, whose scalars are real */
	enum heddle_dense_uplo uplo;
	enum heddle_dense_trans trans; /* C := alpha A A^T + beta C, or alpha A^T A + beta C if not NO_TRANS */
	heddle_dense_scalar alpha, beta;
};
struct hd_dense_symm_values { /* of symm and hemm */
	enum heddle_dense_side side;
	enum heddle_dense_uplo uplo;
	heddle_dense_scalar alpha, beta;
};
struct hd_dense_triangle_values { /* of trsm and trmm */
	enum heddle_dense_side side;
	enum heddle_dense_uplo uplo;
	enum heddle_dense_trans trans;
	enum heddle_dense_diag diag;
	heddle_dense_scalar alpha;
};
struct hd_dense_diagonal_values { /* of potrf, trtri and lauum */
	enum heddle_dense_uplo uplo;
	enum heddle_dense_diag diag; /* of trtri */
	size_t row;                  /* row of the tile's first element, for messages */
	size_t *info;
};
/* The part of a matrix that a task works on. */
struct hd_dense_window {
	uint64_t seed;                 /* of a random matrix */
	enum heddle_dense_random kind; /* of a random matrix */
	enum heddle_dense_uplo uplo;   /* the part that has values */
	enum heddle_dense_diag diag;   /* UNIT: the diagonal has no values */
	const char *name;              /* name of the matrix, for messages; NULL: NaN and Inf are not looked for */
	size_t order;                  /* larger extent of the whole matrix */
	size_t row, column;            /* position of the window's first element in the matrix */
	size_t rows, columns;          /* extents of the window; the datum may be larger */
};

struct hd_dense_add_values { /* of scale and add */
	struct hd_dense_window window;
	heddle_dense_scalar alpha, beta;
};

/* Updates LAPACK's info, which is the least row that any task names. */
void hd_dense_set_info(size_t *info, size_t row);

/* --- Matrices ----------------------------------------------------------------------------------------------------- */

struct heddle_dense_matrix {
	heddle_dense *dense; /* borrows until destroyed */
	struct heddle_dense_shape shape;
	size_t mt, nt; /* rows and columns of tiles */
	int temporary;
	/* A tile that is cut into smaller tiles (tasks/refine.c) has a matrix of the smaller tiles. These matrices are
	 * in a list that begins at the matrix that the program knows, and ends with NULL. */
	heddle_dense_matrix *parts; /* owns; the next matrix in that list */
	size_t row;                 /* row of its first element in the matrix that the program knows */
	/* the distance of the priorities of two tasks on its tiles, which leaves room for the priorities of tasks of
	 * sub-graphs; 1: its tiles are not cut */
	int unit;
	/* for a tile that is cut: the plan of its strips of columns, for QR (routines/qr_strips.c); NULL: none */
	heddle_plan *strips;
	heddle_data *tiles[]; /* owns; tile (i, j) at i + j * mt, NULL where a triangle has none */
};

enum { HD_DENSE_WIDTHS = 8 }; /* orders of smaller tiles, the largest first, and a 0 behind them */
struct heddle_dense_pivots {
	heddle_dense *dense; /* borrows until destroyed */
	size_t rows, n;      /* rows: of the matrix; n: number of pivots, the smaller extent of the matrix */
	size_t tile, count;  /* tile: pivots per part, except the last part; count: number of parts */
	int temporary;
	/* sizes of the pieces into which parts are cut (hd_dense_widths); written once, under the lock `making` */
	size_t widths[HD_DENSE_WIDTHS];
	heddle_data *parts[]; /* owns; vectors of int: part k has the pivots of column k of tiles */
};
/* Destroys `pivots`, which may be NULL. Returns the same as hd_dense_finish. */
int hd_dense_pivots_finish(heddle_dense_pivots *pivots, int status);

/* Bytes of one element. */
size_t hd_dense_elem_size(enum heddle_dense_precision precision);
static inline int hd_dense_is_complex(enum heddle_dense_precision precision)
{
	return precision >= HEDDLE_DENSE_COMPLEX_DOUBLE;
}
/* The unit roundoff. */
double hd_dense_roundoff(enum heddle_dense_precision precision);

/* heddle_dense_tile for indices that exist. */
static inline heddle_data *hd_dense_tile(const heddle_dense_matrix *a, size_t i, size_t j)
{
	return a->tiles[i + j * a->mt];
}
/* The tile as a matrix of smaller tiles; NULL: it is not cut. */
static inline heddle_dense_matrix *hd_dense_refined(const heddle_data *tile)
{
	return heddle_data_user(tile);
}
/* Where row i of tiles begins in the matrix that the program knows, for messages. */
static inline size_t hd_dense_first_row(const heddle_dense_matrix *a, size_t i)
{
	return a->row + i * a->shape.tile;
}
/* The window of tile (i, j). */
struct hd_dense_window hd_dense_tile_window(const heddle_dense_matrix *a, size_t i, size_t j);
/* How a task accesses tile (i, j) when it writes the part `uplo` of the matrix without reading it: the other part of a
 * tile on the diagonal is kept, unless it has no values. */
static inline enum heddle_mode hd_dense_overwrites(const heddle_dense_matrix *a, enum heddle_dense_uplo uplo, size_t i,
                                                   size_t j)
{
	int whole = uplo == HEDDLE_DENSE_GENERAL || i != j || (a->temporary && a->shape.uplo == uplo);
	return whole ? HEDDLE_W : HEDDLE_RW;
}
/* Whether tile (i, j) has elements of this part of a matrix. */
static inline int hd_dense_is_in(enum heddle_dense_uplo uplo, size_t i, size_t j)
{
	return uplo == HEDDLE_DENSE_GENERAL || (uplo == HEDDLE_DENSE_LOWER ? i >= j : i <= j);
}
/* Whether tile (i, j) exists. */
int hd_dense_has_tile(const heddle_dense_matrix *a, size_t i, size_t j);
/* The orders of the tiles that the first tile of `a` is cut into, the largest first, then zeros. */
void hd_dense_widths(const heddle_dense_matrix *a, size_t widths[HD_DENSE_WIDTHS]);
/* Frees the matrices that the tiles of `a` are cut into. Their data have been unregistered with the tiles. */
void hd_dense_refined_free(heddle_dense_matrix *a);
/* 0, or HEDDLE_E_INVALID with a sentence. */
int hd_dense_check_shape(const struct heddle_dense_shape *shape);
/* Destroys `a`. Returns `status` and keeps its message if it is an error; else returns the status of the
 * destruction. */
int hd_dense_finish(heddle_dense_matrix *a, int status);

/* --- Flows: the tasks of a call ----------------------------------------------------------------------------------- */

/* The arguments of a routine. Each routine uses the fields that it needs. */
struct hd_dense_args {
	heddle_dense_matrix *m[4]; /* A, B, C ... in the order of the routine's arguments; at least m[0] */
	enum heddle_dense_trans trans_a, trans_b;
	enum heddle_dense_side side;
	enum heddle_dense_uplo uplo;
	enum heddle_dense_diag diag;
	heddle_dense_scalar alpha, beta; /* factors for the tasks, made by hd_dense_factor */
	heddle_dense_qr *qr;             /* for QR: routines/qr.h */
	const struct hd_qr_task *task;   /* for QR: the task whose sub-graph is submitted */
	heddle_dense_pivots *pivots;     /* for LU factorisations; NULL: no pivoting */
	/* for sub-graphs of LU: regular: zero pivots fail tasks; backward: interchanges are undone */
	int regular, backward;
	int *ipiv; /* calls that wait: the program's array of pivots */
	/* For calls that wait; may be NULL. `open` makes the structures that the tasks need besides the matrices, which
	 * exist already; `close` frees them after the tasks. `close` gets the status so far, keeps its message if it is
	 * an error, and is also called if `open` has failed. */
	int (*open)(struct hd_dense_args *x);
	int (*close)(struct hd_dense_args *x, int status);
	const struct hd_dense_call *call; /* tasks/call.c */
};

struct hd_dense_flow;
/* Inserts the tasks of a routine into a flow, in sequential order. It is called twice if priorities are bottom levels:
 * first to learn the graph, then to submit. */
typedef void (*hd_dense_tasks)(struct hd_dense_flow *flow, const struct hd_dense_args *x);

struct hd_dense_flow {
	heddle_dense *dense;
	enum heddle_dense_precision precision;
	struct heddle_dense_options options; /* with all defaults filled in */
	/* status of the first insertion that failed; later insertions do nothing */
	int status;
	int expert, has_expert; /* expert: the priority in StarPU's routine; has_expert: 1: it is set */
	int no_expert;          /* hd_dense_no_expert was called */
	/* the next task costs as much as `times` tasks of its codelet; 0: as one task */
	int times;
	/* the function that inserts the tasks, and its arguments, which are borrowed */
	hd_dense_tasks tasks;
	const struct hd_dense_args *args;
	struct hd_dense_levels *levels; /* the graph of the pass for levels; NULL: there was no such pass yet */
	int planning;                   /* 1: the pass for levels is running */
	size_t next;                    /* number of the next task */
	int refined;                    /* 1: some tiles are cut into smaller tiles, so tasks may be hierarchical */
	int unit;                       /* difference of the priorities of successive levels; 0: 1 */
	size_t tile;                    /* the order of the tiles of its matrices */
	/* For a sub-graph (`inside`): the priorities of its tasks. If `step` is not 0, a priority is rest + step *
	 * level. Otherwise priorities are at most `top`, and above top - width; `path` is the largest level. */
	int inside, top, width, path, rest, step;
};

enum { HD_DENSE_INNER = 32 }; /* inner blocking of QR if the program does not say */

struct hd_dense_operation {
	const char *name;     /* for messages: "gemm" */
	const char *matrices; /* the names of x->m, a letter each, for messages: "ABC" */
	/* Checks the arguments: 0, or HEDDLE_E_INVALID with a sentence. The caller has checked that the matrices exist,
	 * and have the same precision and order of tiles. NULL: no check. */
	int (*check)(const struct hd_dense_args *x);
	hd_dense_tasks tasks;
};

/* tasks/flow.c: checks the arguments and submits the tasks. `options` may be NULL. */
int hd_dense_submit(const struct hd_dense_operation *operation, const struct hd_dense_args *x,
                    const struct heddle_dense_options *options);
/* Inserts the tasks of an operation into a flow, with their priorities. Returns flow->status. */
int hd_dense_flow_run(struct hd_dense_flow *flow, hd_dense_tasks tasks, const struct hd_dense_args *x);
/* A flow of tasks without priorities, in the precision of `a`. */
struct hd_dense_flow hd_dense_flow_of(const heddle_dense_matrix *a);
/* Priority of the tasks inserted next, under HEDDLE_DENSE_PRIORITY_STARPU. */
void hd_dense_expert(struct hd_dense_flow *flow, long long priority);
/* Ignores hd_dense_expert from now on: for routines that consist of several routines, whose expert priorities cannot be
 * compared with each other. */
void hd_dense_no_expert(struct hd_dense_flow *flow);
/* Inserts a task; the function sets the first two items itself. */
void hd_dense_insert_items(struct hd_dense_flow *flow, enum hd_dense_op op, size_t n, struct heddle_item *items);
/* Inserts a task whose sub-graph differs from the sub-graphs that hd_dense_may_expand checks: `extra` is the value that
 * hd_dense_subgraph_of(op) finds behind struct hd_dense_parent. NULL: like hd_dense_insert_items. */
struct hd_dense_extra {
	const void *value;
	size_t bytes;
};
void hd_dense_insert_cut(struct hd_dense_flow *flow, enum hd_dense_op op, size_t n, struct heddle_item *items,
                         const struct hd_dense_extra *extra);
struct hd_dense_operand;
/* Copies all tiles, except the diagonal if operand->diag is UNIT. If operand->name is not NULL, the tasks look for NaN
 * and Inf in the elements that the routine reads, and fail with this name of the matrix. */
void hd_dense_copy_tasks(struct hd_dense_flow *flow, const heddle_dense_matrix *to, const heddle_dense_matrix *from,
                         const struct hd_dense_operand *operand);
/* Inserts one task: hd_dense_insert(flow, HD_DENSE_GEMM, heddle_rw(c), heddle_r(a), heddle_r(b), heddle_value(v)). */
#define hd_dense_insert(flow, op, ...)                                                                            \
	hd_dense_insert_items(flow, op,                                                                           \
	                      sizeof((struct heddle_item[]){{0}, {0}, __VA_ARGS__}) / sizeof(struct heddle_item), \
	                      (struct heddle_item[]){{0}, {0}, __VA_ARGS__})

/* tasks/levels.c: the graph of a call and the bottom levels of its tasks. */
struct hd_dense_levels *hd_dense_levels_new(void);
void hd_dense_levels_free(struct hd_dense_levels *levels);
/* Notes the next task. HEDDLE_E_MEMORY. */
int hd_dense_levels_add(struct hd_dense_levels *levels, int cost, size_t n, const struct heddle_item *items);
/* Computes the levels, when all tasks are noted. The next function returns the level of task i: the sum of the costs on
 * the longest path from the task's beginning to the end. */
int hd_dense_levels_compute(struct hd_dense_levels *levels);
int hd_dense_level(const struct hd_dense_levels *levels, size_t i);
/* The largest level of all. */
int hd_dense_levels_top(const struct hd_dense_levels *levels);

/* tasks/expand.c: tasks on tiles that are cut into smaller tiles. The second value of a hierarchical task. */
struct hd_dense_parent {
	heddle_dense *dense;
	enum hd_dense_op op;
	enum heddle_dense_precision precision;
	enum heddle_dense_priority priorities;
	int priority, width; /* of this task; struct hd_dense_flow describes the priorities of its sub-graph */
	/* rest: the priority of the tasks after it; step: priority per unit of level; 0: not known */
	int rest, step;
	size_t tile; /* the order of its tiles */
	size_t *info;
};
/* The function of heddle_codelet_desc that submits the sub-graph; NULL: there is none. */
typedef int (*hd_dense_subgraph)(heddle_context *c);
hd_dense_subgraph hd_dense_subgraph_of(enum hd_dense_op op);
/* A flow for the sub-graph of this task. */
struct hd_dense_flow hd_dense_flow_inside(const struct hd_dense_parent *p);
/* The distance of priorities on one level of tiles. A sub-graph has hardly more different priorities than this, and
 * with three levels of tiles there is room for a thousand successive tasks. */
enum { HD_DENSE_APART = 64 };
/* Whether the task with these items, the first two of which are not set yet, may be hierarchical: all its tiles are
 * cut, and the smaller tiles fit together. */
int hd_dense_may_expand(enum hd_dense_op op, size_t n, const struct heddle_item *items);
/* routines/lu_columns.c: tasks of LU on columns of tiles that are cut become tasks on the smaller tiles. */
int hd_lu_subgraph(heddle_context *c);
/* routines/qr_strips.c: tasks of QR on tiles that are cut become tasks on strips of their columns. */
int hd_qr_subgraph(heddle_context *c);
/* The routines that are also the sub-graph of a task. */
extern const struct hd_dense_operation hd_dense_gemm_operation, hd_dense_syrk_operation, hd_dense_herk_operation,
    hd_dense_symm_operation, hd_dense_hemm_operation, hd_dense_trsm_operation, hd_dense_trmm_operation,
    hd_dense_potrf_operation, hd_dense_trtri_operation, hd_dense_lauum_operation, hd_dense_getrf_nopiv_operation;

/* --- Calls that wait ---------------------------------------------------------------------------------------------- */

/* An argument of a routine: an array of the program, and how the routine uses it. */
struct hd_dense_operand {
	const char *name; /* "A", for messages */
	const struct heddle_dense_array *array;
	enum heddle_dense_uplo uplo; /* the part that is used */
	int mode;                    /* HEDDLE_R, HEDDLE_W or HEDDLE_RW; 0: its values are not used */
	enum heddle_dense_diag diag; /* UNIT: the diagonal is not used */
	/* The factor of the values that the routine reads; if it is 0, the routine does not read them. NULL: 1.
	 * Borrowed for the call. */
	const heddle_dense_scalar *factor;
	size_t unread; /* number of last rows that are written, but not read */
};
enum { HD_DENSE_MAX_OPERANDS = 4 };

/* tasks/call.c: makes matrices of the operands, as many as the operation has, which become x->m[0], m[1] ..., submits
 * the tasks, and waits. In the tiled layout it copies the operands to tiles first, and finally copies written tiles
 * back. */
int hd_dense_call(heddle_dense *dense, const struct hd_dense_operation *operation, struct hd_dense_args *x,
                  const struct hd_dense_operand *operands, const struct heddle_dense_options *options);
/* The group of the tasks of a call that waits, so that their errors are kept apart from those of other threads that use
 * the runtime. */
struct hd_dense_scope {
	heddle_group *group, *before; /* group: owned; before: the group that the thread had set before */
};
/* All tasks that this thread submits from now on are in the scope. HEDDLE_E_MEMORY. */
int hd_dense_scope_open(heddle_dense *dense, struct hd_dense_scope *scope);
/* Waits for the tasks of the scope, even after an error, so that the caller may free their data, and ends the scope.
 * Returns `status` and keeps its message if it is an error; otherwise returns the status of the wait. */
int hd_dense_scope_close(heddle_dense *dense, struct hd_dense_scope *scope, int status);
/* Waits for all tasks, even after an error, so that the caller may free their data. Returns `status` and keeps its
 * message if it is an error; otherwise returns the status of the wait. */
int hd_dense_wait(heddle_dense *dense, int status);
/* Like heddle_unregister, but goes on waiting although the program's on_wait asks for the end of the wait. */
int hd_dense_unregister(heddle_data *data);
/* The order of tiles if the program does not say, for a routine in a precision on matrices whose largest extent is n:
 * the order that `heddle tune --here` has found on this machine; otherwise an order by the number of workers. */
size_t hd_dense_default_tile(const heddle_dense *dense, const char *routine, enum heddle_dense_precision precision,
                             size_t n);
/* tuned.c: the text of the file of tiles in a directory, which the caller frees; NULL: there is none. */
char *hd_dense_tuned_read(const char *dir);
/* heddle_dense_tuned_find in such a text, which may be NULL. */
int hd_dense_tuned_search(const char *text, const struct heddle_platform *platform,
                          const struct heddle_dense_problem *problem, struct heddle_dense_tuned *out);

/* --- Routines ----------------------------------------------------------------------------------------------------- */

/* The tasks of single routines, for routines that consist of several. */
void hd_dense_gemm_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x);
/* How many tiles of C below and beside each other one product should compute. Several, if they lie together in memory
 * and no tile must be moved, because large products take less time. */
struct hd_dense_block {
	size_t down, across;
};
/* The block where rows x columns single products may run at the same time: at most so large that all workers get
 * work. */
struct hd_dense_block hd_dense_block(const struct hd_dense_flow *flow, const heddle_dense_matrix *c, size_t rows,
                                     size_t columns);
/* The end of the block that begins with row or column `first` of tiles, at most `end`. Blocks end at multiples of
 * `size`, so that most blocks are the same in successive steps. */
static inline size_t hd_dense_block_end(size_t first, size_t size, size_t end)
{
	size_t next = (first / size + 1) * size;
	return next < end ? next : end;
}
/* C(i, j) := alpha op(A)(i, k) op(B)(k, j) + beta C(i, j), for tiles i from `first` to `end` - 1, and j from `left` to
 * `right` - 1. */
struct hd_dense_block_product {
	const heddle_dense_matrix *c, *a, *b;
	size_t k, first, end, left, right;
	struct hd_dense_gemm_values values; /* `across` is left to hd_dense_insert_block */
};
/* Inserts the product as one task. */
void hd_dense_insert_block(struct hd_dense_flow *flow, const struct hd_dense_block_product *p);
/* Inserts the product as tasks of at most block->down x block->across tiles. */
void hd_dense_insert_blocks(struct hd_dense_flow *flow, const struct hd_dense_block_product *p,
                            const struct hd_dense_block *block);
void hd_dense_potrf_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x);
/* B := alpha op(A)^-1 B or alpha B op(A)^-1, and B := alpha op(A) B or alpha B op(A): A is m[0], B m[1], op trans_a. */
void hd_dense_trsm_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x);
void hd_dense_trmm_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x);
/* A := A^-1 for triangular A, and A := L^H L: A is m[0]. */
void hd_dense_trtri_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x);
void hd_dense_lauum_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x);
/* Multiplies the part `uplo` of A (all of A if HEDDLE_DENSE_GENERAL) by beta. A Hermitian matrix gets a real
 * diagonal. */
void hd_dense_scale_tasks(struct hd_dense_flow *flow, const heddle_dense_matrix *a, enum heddle_dense_uplo uplo,
                          int hermitian, heddle_dense_scalar beta);
static inline int hd_dense_is(heddle_dense_scalar x, double value)
{
	return x.re == value && x.im == 0;
}
/* The factor for matrices of that precision: for real matrices the imaginary part is ignored. */
static inline heddle_dense_scalar hd_dense_factor(enum heddle_dense_precision precision, heddle_dense_scalar x)
{
	return hd_dense_is_complex(precision) ? x : heddle_dense_real(x.re);
}

/* Checks of arguments: 0, or HEDDLE_E_INVALID with a sentence that names the routine. */
/* `a` is square, `uplo` is LOWER or UPPER, and `a` has the tiles of this triangle. */
int hd_dense_check_triangle(const char *routine, const heddle_dense_matrix *a, enum heddle_dense_uplo uplo);
/* `a` has all tiles. */
int hd_dense_check_full(const char *routine, const heddle_dense_matrix *a);

/* --- Experiments -------------------------------------------------------------------------------------------------- */

struct hd_dense_routine {
	struct heddle_dense_routine facts;
	double (*flops)(const struct heddle_dense_problem *p); /* number of operations on real numbers */
	int (*open)(heddle_dense_experiment *e);               /* makes e->m with hd_dense_experiment_matrix */
	int (*fill)(heddle_dense_experiment *e);
	int (*submit)(heddle_dense_experiment *e);
	int (*residual)(heddle_dense_experiment *e, double *residual);
};
extern const struct hd_dense_routine hd_dense_routine_gemm, hd_dense_routine_potrf, hd_dense_routine_syrk,
    hd_dense_routine_symm, hd_dense_routine_trsm, hd_dense_routine_trmm, hd_dense_routine_potrs, hd_dense_routine_posv,
    hd_dense_routine_trtri, hd_dense_routine_lauum, hd_dense_routine_potri, hd_dense_routine_poinv;
extern const struct hd_dense_routine hd_dense_routine_geqrf, hd_dense_routine_ormqr, hd_dense_routine_gels;
extern const struct hd_dense_routine hd_dense_routine_getrf, hd_dense_routine_getrf_nopiv, hd_dense_routine_getrs,
    hd_dense_routine_gesv, hd_dense_routine_gesv_nopiv;

enum { HD_DENSE_MAX_MATRICES = 6 };
struct heddle_dense_experiment {
	heddle_dense *dense;                           /* borrows until closed */
	struct heddle_dense_problem problem;           /* with all defaults filled in */
	const struct hd_dense_routine *routine;        /* a constant */
	heddle_dense_matrix *m[HD_DENSE_MAX_MATRICES]; /* owns; NULL where there is none */
	void *buffers[HD_DENSE_MAX_MATRICES];          /* owns; the arrays of matrices that are windows */
	int pinned[HD_DENSE_MAX_MATRICES];             /* 1: the buffer is pinned, for copies to accelerators */
	heddle_dense_qr *qr;                           /* owns; for QR; or NULL */
	heddle_dense_pivots *pivots;                   /* owns; NULL where there are none */
};
/* How the tiles of a problem are cut. */
enum { HD_DENSE_LEVELS = 24 }; /* more orders do not fit into the text */
struct hd_dense_cut {
	size_t tiles[HD_DENSE_LEVELS], n; /* orders, the largest first */
	size_t band;                      /* see heddle_dense_refine; SIZE_MAX: all tiles */
};
/* Reads the problem's texts. HEDDLE_E_FORMAT. */
int hd_dense_read_cut(const struct heddle_dense_problem *p, struct hd_dense_cut *cut);
/* Makes e->m[i], in the layout of the problem. */
int hd_dense_experiment_matrix(heddle_dense_experiment *e, size_t i, size_t rows, size_t columns,
                               enum heddle_dense_uplo uplo);
/* Makes a matrix that only the residual needs, once. HD_DENSE_FEW_COLUMNS suffice for the random matrices by which
 * large products are multiplied to compare them. */
int hd_dense_experiment_spare(heddle_dense_experiment *e, size_t i, size_t rows, size_t columns);
enum { HD_DENSE_FEW_COLUMNS = 8 };
/* Submits y := alpha a x + beta y, for matrices of the experiment by their places. */
int hd_dense_experiment_product(heddle_dense_experiment *e, double alpha, size_t a, size_t x, double beta, size_t y);
/* Submits y := y - x. */
int hd_dense_experiment_subtract(heddle_dense_experiment *e, size_t x, size_t y);
/* ||A||_F, waiting for the tasks that compute it. Blocks. */
int hd_dense_norm(heddle_dense_matrix *a, double *norm);
/* The norm of a symmetric (Hermitian) matrix of which `a` has one triangle. */
int hd_dense_norm_symmetric(heddle_dense_matrix *a, double *norm);
/* ||P^T A - L U||_F / (n ||A||_F eps), where `a` has the factors of the n columns of a random matrix A. `pivots` is
 * NULL if there was no pivoting. Blocks. HEDDLE_E_CANCELLED: the factors were never computed. */
int hd_dense_getrf_residual(heddle_dense_matrix *a, heddle_dense_pivots *pivots, enum heddle_dense_random kind,
                            uint64_t seed, double *residual);

int hd_dense_no_memory(const char *what);

/* HEDDLE_E_MEMORY when the limit of address space (ulimit -v) leaves too little for the matrix and for OpenBLAS, which
 * would retry its allocation for ever. To be called before OpenBLAS's first kernel, in runtimes that really compute. */
int hd_dense_check_space(const heddle_dense_matrix *a);

#endif
