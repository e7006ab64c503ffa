/* The data that tasks read and write.
 *
 * A `heddle_data` stands for one datum wherever its copies are. The program registers a buffer, names it in tasks, and
 * gets it back, with the newest value, from heddle_acquire or heddle_unregister; in between the buffer is the runtime's
 * and the program must not touch it. Heddle keeps the valid copies per memory node (MSI protocol), moves them when a
 * task needs them elsewhere, and evicts them when a node is full.
 *
 * Every datum is a list of *parts*, each a dense array of up to four dimensions with strides. The shipped kinds
 * (variable, vector, matrix, block, tensor, CSR, COO) are no more than that, and so is a user's own array-like type.
 * Types that are not arrays (lists, trees) give pack and unpack functions instead.
 */
#ifndef HEDDLE_DATA_H
#define HEDDLE_DATA_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_data heddle_data;
typedef struct heddle_codelet heddle_codelet;

/* How a task uses a datum. Tasks that only read may run together; a writer runs alone, in submission order. */
enum heddle_mode {
	HEDDLE_R = 1,
	HEDDLE_W = 2, /* the old value is not needed and not fetched */
	HEDDLE_RW = 3,
	/* a private buffer of the datum's shape, with undefined contents, for the time of the task */
	HEDDLE_SCRATCH = 4,
	HEDDLE_REDUX = 8,   /* a private copy that is combined with the others by the datum's reduction (below) */
	HEDDLE_COMMUTE = 16 /* read and write; consecutive ones run one at a time in any order */
};

#define HEDDLE_MAX_DIMS 4

/* One dense array: element (i0, i1, ...) lies at base + elem_size * (i0 * stride[0] + i1 * stride[1] + ...). */
struct heddle_part {
	void *base; /* in main memory; NULL: allocated when first written, where first written */
	size_t elem_size;
	unsigned n_dims;                /* 0: a scalar */
	size_t n[HEDDLE_MAX_DIMS];      /* extents */
	size_t stride[HEDDLE_MAX_DIMS]; /* in elements; stride[0] is 1 and the others ascend */
};

/* Registration. A NULL buffer makes a temporary, allocated where it is first written and never seen by the program
 * except through heddle_acquire. Returns the handle in *out. Cost: about 0.1 us and 300 bytes. */
int heddle_variable(heddle_runtime *rt, void *value, size_t size, heddle_data **out);
int heddle_vector(heddle_runtime *rt, void *x, size_t n, size_t elem_size, heddle_data **out);
/* Column-major m x n matrix whose columns lie ld elements apart (ld >= m; ignored when `a` is NULL). */
int heddle_matrix(heddle_runtime *rt, void *a, size_t m, size_t n, size_t ld, size_t elem_size, heddle_data **out);
/* nx x ny x nz block; ldy elements between lines, ldz between planes. */
int heddle_block(heddle_runtime *rt, void *a, size_t nx, size_t ny, size_t nz, size_t ldy, size_t ldz, size_t elem_size,
                 heddle_data **out);
/* Dense array of up to four dimensions. */
int heddle_tensor(heddle_runtime *rt, const struct heddle_part *part, heddle_data **out);
/* Compressed sparse rows: parts are values[nnz], column[nnz] (uint32_t), row_start[n_rows + 1] (uint32_t). */
int heddle_csr(heddle_runtime *rt, size_t n_rows, size_t nnz, void *values, uint32_t *column, uint32_t *row_start,
               size_t elem_size, heddle_data **out);
/* Coordinate format: parts are values[nnz], row[nnz], column[nnz] (uint32_t). */
int heddle_coo(heddle_runtime *rt, size_t nnz, void *values, uint32_t *row, uint32_t *column, size_t elem_size,
               heddle_data **out);
/* Any number of arrays that belong together. */
int heddle_parts(heddle_runtime *rt, const char *type, const struct heddle_part *parts, size_t n_parts,
                 heddle_data **out);

/* A type that is not made of arrays. Functions are called from copy threads and must not call Heddle; `size` and `pack`
 * only read, and may run twice at once on one object. Non-zero means failure, which fails the transfer and the task
 * that needed it; the newest value is lost if it was only there. */
struct heddle_type {
	const char *name;
	size_t (*size)(const void *object); /* bytes that pack writes */
	int (*pack)(const void *object, void *buffer, size_t size);
	/* makes a new object, or overwrites *object */
	int (*unpack)(void **object, const void *buffer, size_t size);
	void (*destroy)(void *object); /* frees what unpack made */
};
/* `object` stays the program's. Kernels get a pointer to the object or to a copy that unpack made. W and SCRATCH need a
 * value to start from and are refused. `type` is borrowed until the handle is unregistered. Memory nodes, models and
 * predicted transfers count the object with the size it has here, at registration, however it grows: unregister and
 * register anew one that has grown much, or leave room in a node's capacity. */
int heddle_object(heddle_runtime *rt, void *object, const struct heddle_type *type, heddle_data **out);

/* Gives a datum a name for traces, graphs and messages; copied. "" takes it back. */
int heddle_data_set_name(heddle_data *data, const char *name);

/* Kernels for HEDDLE_REDUX: `init` writes the neutral element (one access, W); `combine` adds a private copy to the
 * result (two accesses: RW result, R private copy). Both need a cpu kernel at least. Private copies are added up before
 * the next access of another kind, or by the next heddle_wait_all; if that fails, the wait says so. HEDDLE_E_NO_FIT: no
 * memory that `init` can run in holds one copy, or none for `combine` holds two. */
int heddle_data_set_reduction(heddle_data *data, heddle_codelet *init, heddle_codelet *combine);

/* Asks for a valid copy on a node without waiting: a hint, dropped when the node has no room. */
int heddle_prefetch(heddle_data *data, unsigned node);

/* Makes the datum the program's until heddle_release: waits for the tasks submitted before that conflict with `mode`
 * (R, W or RW), brings the newest value to main memory. Tasks submitted meanwhile wait. HEDDLE_E_CANCELLED when the
 * task that should have written it failed (W is allowed then and makes the datum good again). Blocks. A thread that
 * waits, here or elsewhere, for what only its own heddle_release would set free gets HEDDLE_E_DEADLOCK. */
int heddle_acquire(heddle_data *data, enum heddle_mode mode);
int heddle_release(heddle_data *data);

/* The datum's parts in main memory; valid between heddle_acquire and heddle_release. */
int heddle_data_part(heddle_data *data, size_t i, struct heddle_part *out);
/* Part 0's address, NULL when it has none. */
void *heddle_data_ptr(heddle_data *data);

/* Ends the handle: waits for its tasks, leaves the newest value in the program's buffer, frees all copies. Returns
 * HEDDLE_E_CANCELLED if that value was never computed because a task failed; the handle is gone all the same.
 * Blocks. */
int heddle_unregister(heddle_data *data);
/* The same without waiting: as if by a last task. The handle must not be used again. The buffer is the program's again,
 * with the newest value, after the next heddle_wait_all. */
int heddle_unregister_async(heddle_data *data);

/* --- Filters: seeing one datum as several ------------------------------------------------------------------------- */

enum heddle_filter_kind {
	HEDDLE_SPLIT_VECTOR, /* a vector in `nx` blocks of nearly equal length */
	/* the same, each block widened by `halo` elements on both sides within the vector: the children overlap and can
	 * only be read */
	HEDDLE_SPLIT_HALO,
	HEDDLE_SPLIT_COLUMNS, /* a matrix in `ny` blocks of columns */
	HEDDLE_SPLIT_ROWS,    /* a matrix in `nx` blocks of rows */
	HEDDLE_SPLIT_TILES,   /* a matrix in nx x ny tiles, child index i + j * nx */
	/* `child` says. Children that share elements with another can only be read, the others written too */
	HEDDLE_SPLIT_CUSTOM
};

struct heddle_filter {
	enum heddle_filter_kind kind;
	size_t nx, ny; /* numbers of pieces; when tile_* are given they win, and the last tile may be smaller */
	size_t tile_x, tile_y;
	size_t halo;
	/* Custom: number of children, and the window of child i: offset and extents in elements per dimension of part
	 * 0. */
	size_t n_children;
	int (*child)(const struct heddle_part *parent, size_t i, size_t offset[HEDDLE_MAX_DIMS],
	             size_t n[HEDDLE_MAX_DIMS], void *arg);
	void *arg;
};

/* Splits `data` (one part, registered with a buffer or already written) into children that share its buffer.
 * Asynchronous: the children become usable in tasks at once, `data` itself is refused in tasks until
 * heddle_unpartition. A child that can only be read is refused in other modes than R (HEDDLE_E_INVALID), and so are the
 * pieces it may itself be split into. `n_children` may be NULL. */
int heddle_partition(heddle_data *data, const struct heddle_filter *filter, size_t *n_children);
/* Child i, or NULL when `data` is not partitioned or i is out of range. */
heddle_data *heddle_child(heddle_data *data, size_t i);
/* Puts the pieces together again, asynchronously; the children must not be used any more. */
int heddle_unpartition(heddle_data *data);

#ifdef __cplusplus
}
#endif
#endif
