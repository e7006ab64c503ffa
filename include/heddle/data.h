/* The data that tasks read and write.
 *
 * A `heddle_data` is a handle of one datum, whose copies may be in several memories. The program registers a buffer and
 * names the handle in tasks. From then on the buffer belongs to the runtime and the program must not touch it, until
 * heddle_acquire or heddle_unregister gives it back with the newest value. Heddle keeps at most one copy of a datum per
 * memory node (MSI protocol), transfers the value to the node where a task needs it, and evicts copies when a node is
 * full.
 *
 * Every datum is a list of *parts*, each a dense array of up to four dimensions with strides. The shipped kinds
 * (variable, vector, matrix, block, tensor, CSR, BCSR, COO) are such lists, and a program may make its own with
 * heddle_parts. A type that is not made of arrays (a list, a tree) has functions that pack and unpack its objects:
 * heddle_object. */
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

/* How a task uses a datum. Tasks that only read it may run at the same time; a task that writes it runs after all
 * earlier submitted users of the datum and before all later ones. A task may name a datum several times, as R, W and RW
 * in any mixture: these count as one use with the mode that covers all, so R and W are RW, and each of the kernel's
 * numbers for this datum stands for the same memory. A task may also name a datum several times as SCRATCH, which gives
 * one buffer, or several times as COMMUTE. heddle_submit refuses other mixtures, and REDUX twice, with
 * HEDDLE_E_INVALID. It also refuses a task that names two handles which share elements, such as a datum and a piece of
 * the datum, unless both modes are R or SCRATCH. A task that writes a piece of a datum and needs a buffer of the shape
 * of that datum uses a temporary datum instead of SCRATCH. */
enum heddle_mode {
	HEDDLE_R = 1,  /* read */
	HEDDLE_W = 2,  /* write the whole datum: its old value is not fetched, and undefined in the kernel */
	HEDDLE_RW = 3, /* read and write */
	/* a private buffer of the datum's shape, with undefined contents, that lasts as long as the task */
	HEDDLE_SCRATCH = 4,
	/* contribute to a sum (or another reduction): the kernel adds to a private copy, and the runtime combines the
	 * private copies with the kernels that heddle_data_set_reduction names */
	HEDDLE_REDUX = 8,
	/* read and write; tasks that follow each other with this mode run one at a time, but in any order */
	HEDDLE_COMMUTE = 16
};

#define HEDDLE_MAX_DIMS 4

/* One dense array: element (i0, i1, ...) lies at base + elem_size * (i0 * stride[0] + i1 * stride[1] + ...). */
struct heddle_part {
	void *base; /* in main memory; NULL: a buffer is allocated by the first task that writes, on its node */
	size_t elem_size;
	unsigned n_dims;                /* 0: a scalar */
	size_t n[HEDDLE_MAX_DIMS];      /* extents */
	size_t stride[HEDDLE_MAX_DIMS]; /* in elements; stride[0] is 1 and the others ascend */
};

/* Registration: the functions below put the handle into *out. Register memory once: tasks on one of two handles of the
 * same memory do not wait for tasks on the other handle. To name pieces of a datum, partition the datum or make a plan.
 * A NULL buffer makes a temporary: the first task that writes the datum allocates the buffer on its own node, and the
 * program can see the datum only between heddle_acquire and heddle_release. HEDDLE_E_MEMORY; in virtual time also if
 * the platform gives node 0 a capacity, and the datum does not fit into main memory beside the data that are
 * registered. */

/* One value of `size` bytes. 0, with a NULL `value` or not: a datum without bytes, for its place in the order alone. A
 * datum without bytes, such as a vector of 0 elements, has a value from the start. */
int heddle_variable(heddle_runtime *rt, void *value, size_t size, heddle_data **out);
/* n elements, one after the other. */
int heddle_vector(heddle_runtime *rt, void *x, size_t n, size_t elem_size, heddle_data **out);
/* Column-major m x n matrix whose columns lie ld elements apart (ld >= m; ignored when `a` is NULL). */
int heddle_matrix(heddle_runtime *rt, void *a, size_t m, size_t n, size_t ld, size_t elem_size, heddle_data **out);
/* nx x ny x nz block; lines begin ldy elements apart, planes ldz elements apart. */
int heddle_block(heddle_runtime *rt, void *a, size_t nx, size_t ny, size_t nz, size_t ldy, size_t ldz, size_t elem_size,
                 heddle_data **out);
/* Dense array of up to four dimensions. */
int heddle_tensor(heddle_runtime *rt, const struct heddle_part *part, heddle_data **out);
/* A dense array of any number of dimensions: element (i0, i1, ...) lies i0 * stride[0] + i1 * stride[1] + ... elements
 * behind `base`. */
struct heddle_array {
	void *base; /* NULL: as in struct heddle_part */
	size_t elem_size;
	size_t n_dims;
	const size_t *n;      /* extents */
	const size_t *stride; /* in elements; NULL, or if `base` is NULL: the array is dense. stride[0] is 1 */
};
/* With up to four dimensions the array is a tensor. Otherwise neighbouring dimensions are merged, the last ones first,
 * until four are left: kernels, filters and heddle_extent see the merged array. Dimensions d and d + 1 can be merged if
 * stride[d + 1] is n[d] * stride[d], so that nothing lies between them. The description is copied.
 * HEDDLE_E_UNSUPPORTED: more than four dimensions are left; HEDDLE_E_INVALID: stride[0] is not 1, or lines would
 * overlap. */
int heddle_ndim(heddle_runtime *rt, const struct heddle_array *array, heddle_data **out);
/* Compressed sparse rows: parts are values[nnz], column[nnz] (uint32_t), row_start[n_rows + 1] (uint32_t). */
int heddle_csr(heddle_runtime *rt, size_t n_rows, size_t nnz, void *values, uint32_t *column, uint32_t *row_start,
               size_t elem_size, heddle_data **out);
/* Compressed sparse rows of blocks of r x c elements: parts are values[r x c x nnz], column[nnz], row_start[n_rows +
 * 1], where nnz counts blocks and n_rows rows of blocks. The description is copied. */
struct heddle_blocks {
	size_t n_rows, nnz, r, c, elem_size;
	void *values;
	uint32_t *column, *row_start;
};
int heddle_bcsr(heddle_runtime *rt, const struct heddle_blocks *blocks, heddle_data **out);
/* Coordinate format: parts are values[nnz], row[nnz], column[nnz] (uint32_t). */
int heddle_coo(heddle_runtime *rt, size_t nnz, void *values, uint32_t *row, uint32_t *column, size_t elem_size,
               heddle_data **out);
/* Any number of arrays that tasks use together; `type` names the kind of datum in messages. */
int heddle_parts(heddle_runtime *rt, const char *type, const struct heddle_part *parts, size_t n_parts,
                 heddle_data **out);

/* A type that is not made of arrays. Its functions are called without any lock, by Heddle's threads and by threads of
 * the program that are inside Heddle, and must not call Heddle. heddle_unregister, and heddle_wait_all after
 * heddle_unregister_async, return when all copies are destroyed. `size` and `pack` only read the object, and two
 * threads may call them on one object at the same time. A `pack` or `unpack` that returns non-zero has failed: the
 * transfer fails, and so does the task that needed it. If the copy that could not be packed was the only one with the
 * newest value, that value is lost. */
struct heddle_type {
	const char *name;
	size_t (*size)(const void *object); /* how many bytes `pack` will write */
	int (*pack)(const void *object, void *buffer, size_t size);
	/* makes a new object in *object if that is NULL, otherwise overwrites **object */
	int (*unpack)(void **object, const void *buffer, size_t size);
	void (*destroy)(void *object); /* frees an object that `unpack` made */
	/* A type whose copies have memory that the program allocates on each node, in place of the last three: all of
	 * the next three, or none. `allocate` makes a copy of `like`, an object of the datum, on a node, without its
	 * value; `copy` copies the value of one copy to another, on the same node or another; `release` frees a copy
	 * that `allocate` made. Node 0 is main memory; an object at `like` or `from` may be on any node, and so may
	 * `copy` be called for any pair with a link. `allocate` and `copy` return non-zero if they fail. They are
	 * called by threads that copy, in which no device is current; `allocate` also by a worker's thread, within
	 * heddle_ptr, which gives NULL if that fails. Objects of such a type may be accessed as W, too, and copied by
	 * heddle_copy. */
	int (*allocate)(const void *like, unsigned node, void **copy);
	int (*copy)(const void *from, unsigned from_node, void *to, unsigned to_node);
	void (*release)(void *copy, unsigned node);
};
/* Registers an object of such a type; the program frees it after unregistering. Kernels get a pointer to the object or
 * to a copy that `unpack` or `allocate` made. HEDDLE_SCRATCH is refused, and HEDDLE_W unless the type has `allocate`,
 * because there would be no object to give to the kernel. `type` is borrowed until the handle is unregistered. Memory
 * nodes, models and predicted transfers count the object with the size that it has at registration, even if it grows:
 * unregister an object that has grown much and register it again, or leave room in a node's capacity. */
int heddle_object(heddle_runtime *rt, void *object, const struct heddle_type *type, heddle_data **out);

/* Gives a datum a name, which is copied, for traces, graphs and messages. "" removes the name. */
int heddle_data_set_name(heddle_data *data, const char *name);

/* Stores a pointer of the program with a datum, for example to a record of the datum's children: a sub-graph function
 * that gets the handle (heddle_context_data) finds the pointer by heddle_data_user. Heddle does not use the pointer.
 * Set it before tasks name the datum or other threads get the handle. HEDDLE_E_MEMORY. */
int heddle_data_set_user(heddle_data *data, void *user);
/* The pointer that heddle_data_set_user has stored; NULL: none. Does not block, and takes no lock. */
void *heddle_data_user(const heddle_data *data);

/* The kernels that HEDDLE_REDUX needs. `init` writes the neutral element into a private copy (one access, W). `combine`
 * adds a private copy to the result (two accesses: RW the result, R the private copy). Both codelets must have a cpu
 * kernel. The private copies are combined before the next access in another mode, or by the next heddle_wait_all, which
 * returns the error if one of these kernels fails. HEDDLE_E_NO_FIT: the datum is too large for every memory node where
 * `init` can run (one copy) or `combine` can run (two copies). Set them before tasks name the datum or other threads
 * get the handle. */
int heddle_data_set_reduction(heddle_data *data, heddle_codelet *init, heddle_codelet *combine);

/* Pins memory of the program (page-locks it): then accelerators copy from and to this memory at full speed, and while
 * other work goes on; other memory is copied through a pinned buffer. Pinning takes long itself, so it pays for large
 * arrays that are used several times. Pin a whole array at once, and no memory twice: CUDA refuses copies of memory of
 * which only a part is pinned. Memory that Heddle allocates itself (data registered without a buffer) is pinned anyway.
 * Does nothing where no accelerator gains by pinning. An error only means that copies are slower: HEDDLE_E_INVALID,
 * HEDDLE_E_MEMORY (`ulimit -l` is a limit) or HEDDLE_E_UNSUPPORTED, with the driver's message. May block. */
int heddle_memory_pin(heddle_runtime *rt, void *memory, size_t bytes);
/* Unpins the memory. Call this after the data in the memory have been unregistered, before the memory is freed and
 * before heddle_stop. */
void heddle_memory_unpin(heddle_runtime *rt, void *memory);

/* Requests a transfer of the datum to a node, after the tasks submitted so far that write the datum, and returns at
 * once. The request is a hint, which is ignored when the node has no room. Until the transfer begins, transfers for
 * which tasks wait go first; a prefetch for which a task comes to wait becomes such a transfer. The request is dropped
 * when the datum is written or unregistered, or when a task needs the room. In a sub-graph the request comes after the
 * tasks that the sub-graph has submitted so far. */
int heddle_prefetch(heddle_data *data, unsigned node);

/* Copies the value of `from` to `to`, which have the same parts with the same extents and sizes of elements: a task
 * without a codelet and a worker, which reads `from` and writes `to` in the order of submission. Returns at once,
 * except that it waits for room in the window as heddle_submit does. The copy is made in main memory, in which both
 * data then are; traces and statistics have it as an external task of the name "copy" (heddle_outside).
 * HEDDLE_E_INVALID: the data differ in their extents, share elements, are one, or `to` can only be read;
 * HEDDLE_E_UNSUPPORTED: objects, but for two of one type with a `copy` of its own; HEDDLE_E_STATE: one is partitioned
 * or unregistered; HEDDLE_E_MEMORY. */
int heddle_copy(heddle_data *to, heddle_data *from);

/* Forgets the value of a datum, after the tasks submitted so far that use the datum, and returns at once: nobody
 * needs the value any more, so its copies are freed, and neither evictions nor heddle_unregister copy it. The handle
 * stays, and its order too: later tasks wait for earlier ones as before. A task that writes the whole datum (W)
 * gives it a value again, and a reduction (HEDDLE_REDUX) begins with the neutral element; other tasks submitted
 * before that are cancelled, and the next wait returns HEDDLE_E_CANCELLED with the name of the datum, as
 * heddle_acquire does for R and RW. In virtual time, too. The program's buffer stays the datum's; its contents are
 * undefined. In a sub-graph the datum must be one that its tasks may write. A task that uses the datum unordered
 * (heddle_unordered) at that moment gives it no value, unless the task writes the whole datum (W). Waits for room in
 * the window as heddle_submit does. HEDDLE_E_INVALID: the datum is an object whose type has no `allocate`, or can
 * only be read; HEDDLE_E_STATE: it is partitioned or unregistered; HEDDLE_E_MEMORY. */
int heddle_forget(heddle_data *data);

/* Lends the datum's buffer to the program until heddle_release: waits for the tasks submitted so far that conflict with
 * `mode` (R, W or RW) and, unless `mode` is W, brings the newest value to main memory. Conflicting tasks submitted
 * later wait for heddle_release. HEDDLE_E_CANCELLED: the task that should have computed the value failed; HEDDLE_W is
 * allowed even then, and makes the datum usable again. HEDDLE_E_DEADLOCK: the thread would wait, here or in another
 * function that waits, for a task that only its own heddle_release can let run. Blocks. */
int heddle_acquire(heddle_data *data, enum heddle_mode mode);
/* Gives the buffer back to the runtime: the tasks that waited for it may run. HEDDLE_E_STATE: it is not acquired. */
int heddle_release(heddle_data *data);

/* Part i of the datum in main memory; its address is valid between heddle_acquire and heddle_release. */
int heddle_data_part(heddle_data *data, size_t i, struct heddle_part *out);
/* The address of part 0 in main memory; NULL when no copy is there. */
void *heddle_data_ptr(heddle_data *data);

/* Ends the handle: waits for the tasks that use the datum, brings the newest value into the program's buffer and frees
 * all copies. HEDDLE_E_CANCELLED: the value was never computed because a task failed, or there was no memory to bring
 * it back; the handle has ended all the same. HEDDLE_E_DEADLOCK: nothing can make progress, so the datum was given up
 * as by heddle_data_give_up. HEDDLE_E_INTERRUPTED: on_wait (struct heddle_config) has ended the wait for the tasks; the
 * handle has not ended, and may be used and unregistered as before. While this function waits, tasks that other threads
 * submit with the handle are refused. Blocks. A kernel on a CPU may call this function for a datum that the kernel has
 * registered, under the conditions of heddle_group_wait. Then HEDDLE_E_UNSUPPORTED and HEDDLE_E_MEMORY have the causes
 * that heddle_group_wait names; HEDDLE_E_STATE: the kernel's task, or a task whose kernel waits on the same worker,
 * uses the datum or a piece of it. After these three errors nothing has changed. */
int heddle_unregister(heddle_data *data);
/* Ends the handle without waiting: the runtime unregisters the datum after the last task that uses the datum. The
 * handle must not be used again. The program may use the buffer, with the newest value, after the next
 * heddle_wait_all. */
int heddle_unregister_async(heddle_data *data);
/* Ends the handle of a datum whose value nobody needs any more, without waiting. The tasks that use the datum and have
 * not begun are cancelled, and so are the tasks that need values of these; the next wait reports HEDDLE_E_CANCELLED.
 * From then on only running tasks and copies under way use the program's buffer; after the next heddle_wait_all nobody
 * uses the buffer. Any thread may call this, also in a kernel or a callback. HEDDLE_E_STATE: the datum is acquired,
 * partitioned, or a child. */
int heddle_data_give_up(heddle_data *data);

/* --- Filters: seeing one datum as several ------------------------------------------------------------------------- */

/* Each filter splits the kind of datum that its line names. Filters of a matrix also split blocks and tensors, along
 * the first and second dimensions. Other data: HEDDLE_E_INVALID; for objects and data of several parts, which no filter
 * splits, HEDDLE_E_UNSUPPORTED. */
enum heddle_filter_kind {
	HEDDLE_SPLIT_VECTOR, /* a vector, cut into `nx` blocks of nearly equal length */
	/* the blocks of a vector, or the tiles of a matrix, each widened by up to `halo` elements of its neighbours on
	 * both sides in the first dimension, and `halo_y` in the second: the children overlap and can only be read. A
	 * program that alternates between reading such children and writing blocks of the same data waits at each
	 * change for all earlier tasks: see Plans */
	HEDDLE_SPLIT_HALO,
	HEDDLE_SPLIT_COLUMNS, /* a matrix, cut into `ny` blocks of columns */
	HEDDLE_SPLIT_ROWS,    /* a matrix, cut into `nx` blocks of rows */
	HEDDLE_SPLIT_TILES,   /* a matrix, cut into nx x ny tiles; tile (i, j) is child i + j * nx */
	/* the callback `child` says which window each child is. Children that share elements with another child can
	 * only be read; other children can also be written */
	HEDDLE_SPLIT_CUSTOM
};

struct heddle_filter {
	enum heddle_filter_kind kind;
	size_t nx, ny; /* numbers of pieces in each dimension */
	/* extents of one piece, in elements; if not 0, they replace nx and ny. The last piece may be smaller */
	size_t tile_x, tile_y;
	size_t halo, halo_y; /* HEDDLE_SPLIT_HALO; 0: the children are not widened in this dimension */
	/* HEDDLE_SPLIT_CUSTOM: the number of children, and a callback that writes the window of child i: its offset and
	 * extents, in elements, in each dimension of part 0. */
	size_t n_children;
	int (*child)(const struct heddle_part *parent, size_t i, size_t offset[HEDDLE_MAX_DIMS],
	             size_t n[HEDDLE_MAX_DIMS], void *arg);
	void *arg;
};

/* Splits `data`, which must have one part, and be registered with a buffer or already written, into children that share
 * its buffer. Does not wait: tasks may use the children at once, and may not use `data` itself until
 * heddle_unpartition. A child that can only be read is refused in modes other than R (HEDDLE_E_INVALID), and so are the
 * children into which this child is split. `n_children` may be NULL. */
int heddle_partition(heddle_data *data, const struct heddle_filter *filter, size_t *n_children);
/* Child i, or NULL when `data` is not partitioned or i is out of range. */
heddle_data *heddle_child(heddle_data *data, size_t i);
/* Puts the pieces together again, without waiting: tasks may use `data` at once; the children must not be used any
 * more. */
int heddle_unpartition(heddle_data *data);

/* --- Plans: layouts that follow by themselves --------------------------------------------------------------------- */

/* A way of splitting a datum. A datum may have several plans at once, and the children of a plan may have plans
 * themselves: then the datum is the root of a tree of handles. Tasks may name every handle of the tree, in any order
 * and in any mode that the handle allows. The tasks run as if they ran one after the other, in the order of submission,
 * and each sees what earlier tasks have written through any handle of the tree. Heddle changes the layout of the datum
 * by itself and without waiting: children become usable when a task first needs them, and are gathered when a task
 * needs the whole datum, or pieces of another plan.
 *
 * Tasks that only read run at the same time, through the datum and through any of its plans. While tasks write pieces
 * of one plan, no task uses the datum itself or pieces of another plan. So a program that alternates between the datum
 * and its pieces, or between two plans, pays for each change: tasks that use the new pieces wait until all tasks that
 * use the old pieces have ended. Little is copied, because pieces are windows of memory that the datum has already, in
 * main memory or on an accelerator. So kernels for all kinds of processors must heed the strides of their data
 * (heddle_ld): a piece may lie in a copy of the whole datum.
 *
 * A stencil that writes blocks and reads them with halos (HEDDLE_SPLIT_HALO) changes plans, and so has a barrier, in
 * each step. If its tasks name the blocks of the neighbours instead (examples/21_stencil.c), or borders that are data
 * of their own (ghost rows, examples/26_ghost_rows.c), each block waits for its neighbours alone.
 *
 * If a task fails that was to write a child, the other children of the plan keep their values, and tasks may use them.
 * The datum as a whole then has no value, and no child of another plan has one, whatever its elements: tasks that read
 * the whole datum, or a child of another plan, are cancelled, and a task that writes a child of another plan gives a
 * value to that child alone. When a task writes the child that has no value (W), the whole datum has a value again. */
typedef struct heddle_plan heddle_plan;

/* Plans to split `data`, which must have one part, into the children that `filter` describes, and stores the plan in
 * *out. Changes nothing yet: the first task that uses a child splits the datum. A child that shares elements with
 * another child can only be read (HEDDLE_E_INVALID otherwise), and so can the children into which this child is split.
 * The plan belongs to the datum: it ends with heddle_plan_destroy or with the datum. HEDDLE_E_STATE: the datum is
 * partitioned, or has been unregistered, or tasks that use it unordered have not ended. May be called from any
 * thread. */
int heddle_plan_create(heddle_data *data, const struct heddle_filter *filter, heddle_plan **out);
/* The number of children. */
size_t heddle_plan_size(const heddle_plan *plan);
/* Child i, numbered as the filter says; it belongs to the plan. NULL, with an error: i is out of range. */
heddle_data *heddle_plan_child(const heddle_plan *plan, size_t i);
/* Ends a plan, without waiting: the tasks that were submitted on its children still run; then their values are in the
 * datum, and the children end. The plan, its children, and the plans of its children must not be used any more. */
int heddle_plan_destroy(heddle_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
