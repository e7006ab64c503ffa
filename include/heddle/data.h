/* The data that tasks read and write.
 *
 * A `heddle_data` is a handle of one datum, wherever its copies are. The program registers a buffer and names the
 * handle in tasks. From then on the buffer belongs to the runtime and the program must not touch it, until
 * heddle_acquire or heddle_unregister gives it back with the newest value. Heddle keeps at most one copy of a datum per
 * memory node (MSI protocol), transfers the value to the node where a task needs it, and evicts copies when a node is
 * full.
 *
 * Every datum is a list of *parts*, each a dense array of up to four dimensions with strides. The shipped kinds
 * (variable, vector, matrix, block, tensor, CSR, COO) are such lists, and a program may make its own with heddle_parts.
 * Types that are not made of arrays (lists, trees) have functions that pack and unpack them instead: heddle_object.
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

/* How a task uses a datum. Tasks that only read it may run at the same time; a task that writes it runs after all
 * earlier submitted users of the datum and before all later ones. A task may name a datum several times, as R, W and RW
 * in any mixture: it counts as one use with the mode that covers all, so R and W are RW, and each of its numbers stands
 * for the same memory. Likewise SCRATCH several times, which is one buffer, and COMMUTE. heddle_submit refuses other
 * mixtures, and REDUX twice, with HEDDLE_E_INVALID. It also refuses a task that names two handles which share elements,
 * such as a datum and a piece of the datum, unless both modes are R or SCRATCH. A task that writes a piece of a datum
 * and needs a buffer of the shape of that datum uses a temporary datum instead of SCRATCH. */
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

/* Registration: the functions below put the handle into *out. Register memory once: tasks that name one of two handles
 * of the same memory do not wait for those that name the other; to name pieces, partition it, or make a plan. A NULL
 * buffer makes a temporary: the first task that writes it allocates it on its own node, and the program can see it only
 * between heddle_acquire and heddle_release. HEDDLE_E_MEMORY; in virtual time also if the datum does not fit into main
 * memory, beside all that are registered, because the platform gives node 0 a capacity. */

/* One value of `size` bytes. */
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
/* Compressed sparse rows: parts are values[nnz], column[nnz] (uint32_t), row_start[n_rows + 1] (uint32_t). */
int heddle_csr(heddle_runtime *rt, size_t n_rows, size_t nnz, void *values, uint32_t *column, uint32_t *row_start,
               size_t elem_size, heddle_data **out);
/* Coordinate format: parts are values[nnz], row[nnz], column[nnz] (uint32_t). */
int heddle_coo(heddle_runtime *rt, size_t nnz, void *values, uint32_t *row, uint32_t *column, size_t elem_size,
               heddle_data **out);
/* Any number of arrays that tasks use together; `type` names the kind of datum in messages. */
int heddle_parts(heddle_runtime *rt, const char *type, const struct heddle_part *parts, size_t n_parts,
                 heddle_data **out);

/* A type that is not made of arrays. Its functions are called from threads of Heddle and from those of the program that
 * are inside Heddle, without any lock, and must not call Heddle. heddle_unregister, and heddle_wait_all after
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
};
/* Registers an object of such a type; the program frees it after unregistering. Kernels get a pointer to the object or
 * to a copy that `unpack` made. HEDDLE_W and HEDDLE_SCRATCH are refused, because there would be no object to give to
 * the kernel. `type` is borrowed until the handle is unregistered. Memory nodes, models and predicted transfers count
 * the object with the size that it has at registration, even if it grows: unregister an object that has grown much and
 * register it again, or leave room in a node's capacity. */
int heddle_object(heddle_runtime *rt, void *object, const struct heddle_type *type, heddle_data **out);

/* Gives a datum a name, which is copied, for traces, graphs and messages. "" removes the name. */
int heddle_data_set_name(heddle_data *data, const char *name);

/* A pointer of the program's own that goes with a datum, for example to what the program knows of its children: a
 * sub-graph function that gets a handle (heddle_context_data) finds it here. Heddle does not use it. Set it before
 * tasks name the datum or other threads get the handle. HEDDLE_E_MEMORY. */
int heddle_data_set_user(heddle_data *data, void *user);
/* That pointer; NULL: none was set. Does not block, and takes no lock. */
void *heddle_data_user(const heddle_data *data);

/* The kernels that HEDDLE_REDUX needs. `init` writes the neutral element into a private copy (one access, W). `combine`
 * adds a private copy to the result (two accesses: RW the result, R the private copy). Both codelets must have a cpu
 * kernel. The private copies are combined before the next access in another mode, or by the next heddle_wait_all, which
 * returns the error if one of these kernels fails. HEDDLE_E_NO_FIT: the datum is too large for every memory node where
 * `init` can run (one copy) or `combine` can run (two copies). Set them before tasks name the datum or other threads
 * get the handle. */
int heddle_data_set_reduction(heddle_data *data, heddle_codelet *init, heddle_codelet *combine);

/* Locks memory of the program in its place: then accelerators copy from it and to it at their full speed, and while
 * other work goes on; copies of other memory take a detour. That takes long itself, so it pays for large arrays that
 * are used several times. Lock a whole array at once, and nothing twice: CUDA refuses copies of memory of which only a
 * part is locked. What Heddle allocates itself (data registered without a buffer) is locked anyway. Does nothing where
 * no accelerator gains by it. An error only means that copies are slower: HEDDLE_E_INVALID, HEDDLE_E_MEMORY (`ulimit
 * -l` is a limit) or HEDDLE_E_UNSUPPORTED, with the words of the driver. May block. */
int heddle_memory_pin(heddle_runtime *rt, void *memory, size_t bytes);
/* Undoes that, before the memory is freed and before heddle_stop, when the data in it have been unregistered. */
void heddle_memory_unpin(heddle_runtime *rt, void *memory);

/* Starts a transfer of the datum to a node, without waiting, after the tasks submitted so far that write it. This is a
 * hint, ignored when the node has no room. Until it begins to move, what tasks wait for overtakes it; it moves up when
 * a task waits for it, and is dropped when the datum is written or unregistered, or when a task needs its room. In a
 * sub-graph it comes behind what the sub-graph has submitted so far. */
int heddle_prefetch(heddle_data *data, unsigned node);

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

/* Ends the handle: waits for the tasks that use the datum, brings the newest value into the program's buffer and
 * frees all copies. HEDDLE_E_CANCELLED: the value was never computed because a task failed, or there was no memory
 * to bring it back; the handle has ended all the same. HEDDLE_E_DEADLOCK: nothing can make progress, so the datum
 * was given up as by heddle_data_give_up. HEDDLE_E_INTERRUPTED: on_wait (struct heddle_config) has ended the wait for
 * the tasks; the handle has not ended, and may be used and unregistered as before. Meanwhile, tasks that other threads
 * submitted with it were refused. Blocks. A kernel on a CPU may call it for a datum that it has registered
 * itself: as heddle_group_wait; HEDDLE_E_UNSUPPORTED and HEDDLE_E_MEMORY, as there, mean that nothing has changed, and
 * so does HEDDLE_E_STATE: its task, or one whose kernel waits on the same worker, uses the datum or a piece of it. */
int heddle_unregister(heddle_data *data);
/* The same without waiting: the runtime unregisters the datum after the last task that uses it. The handle must not be
 * used again. The program may use the buffer, with the newest value, after the next heddle_wait_all. */
int heddle_unregister_async(heddle_data *data);
/* Ends the handle of a datum whose value nobody needs any more, without waiting. The tasks that use it and have not
 * begun are cancelled, and so are those that need values of theirs; the next wait reports HEDDLE_E_CANCELLED. Then only
 * tasks that run already use the program's buffer, and copies that are under way; nothing else will. After the next
 * heddle_wait_all nobody uses it. Any thread may call this, also in a kernel or a callback. HEDDLE_E_STATE: the datum
 * is acquired, partitioned, or a child. */
int heddle_data_give_up(heddle_data *data);

/* --- Filters: seeing one datum as several ------------------------------------------------------------------------- */

/* Each filter splits the data that it names; those of a matrix also blocks and tensors, along their first and second
 * dimensions. Other data: HEDDLE_E_INVALID, or HEDDLE_E_UNSUPPORTED for objects and data of several parts, which no
 * filter splits. */
enum heddle_filter_kind {
	HEDDLE_SPLIT_VECTOR, /* a vector, cut into `nx` blocks of nearly equal length */
	/* the blocks of a vector, or the tiles of a matrix, each widened by up to `halo` elements of its neighbours on
	 * both sides in the first dimension, and `halo_y` in the second: the children overlap and can only be read. A
	 * program that reads these and writes blocks of the same data waits at each change from one to the other for
	 * all tasks before it: see Plans */
	HEDDLE_SPLIT_HALO,
	HEDDLE_SPLIT_COLUMNS, /* a matrix, cut into `ny` blocks of columns */
	HEDDLE_SPLIT_ROWS,    /* a matrix, cut into `nx` blocks of rows */
	HEDDLE_SPLIT_TILES,   /* a matrix, cut into nx x ny tiles; tile (i, j) is child i + j * nx */
	/* the callback `child` says which window each child is. Children that share elements with another child can
	 * only be read, the others can be written too */
	HEDDLE_SPLIT_CUSTOM
};

struct heddle_filter {
	enum heddle_filter_kind kind;
	size_t nx, ny; /* numbers of pieces in each dimension */
	/* extents of one piece, in elements, instead of nx and ny, which are ignored when these are not 0; the last
	 * piece may be smaller */
	size_t tile_x, tile_y;
	size_t halo, halo_y; /* HEDDLE_SPLIT_HALO: 0 in a dimension: the children are not widened there */
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
 * children that it is itself split into. `n_children` may be NULL. */
int heddle_partition(heddle_data *data, const struct heddle_filter *filter, size_t *n_children);
/* Child i, or NULL when `data` is not partitioned or i is out of range. */
heddle_data *heddle_child(heddle_data *data, size_t i);
/* Puts the pieces together again, without waiting: tasks may use `data` at once; the children must not be used any
 * more. */
int heddle_unpartition(heddle_data *data);

/* --- Plans: layouts that follow by themselves --------------------------------------------------------------------- */

/* A way of splitting a datum. A datum may have several plans at once, and the children of a plan may have plans
 * themselves: then the datum is the root of a tree of handles. Tasks may name every handle of the tree, in any order
 * and in any mode that the handle allows. They run as if they ran one after the other, in the order of submission, and
 * each sees what earlier ones have written through whatever handle. What this takes, Heddle does by itself and without
 * waiting: children become usable when a task first needs them, and are gathered when a task needs the whole, or
 * pieces of another plan.
 *
 * Tasks that only read run at the same time, through the datum and through any of its plans. While tasks write pieces
 * of one plan, nothing else of the datum is in use. So a program that alternates between the datum and its pieces, or
 * between two plans, pays for each change: tasks that use the new pieces wait until all tasks that use the old ones
 * have ended. Little is copied, because pieces are windows of memory that the datum has already, in main memory or on
 * an accelerator. So kernels for all kinds of processors must heed the strides of their data (heddle_ld): a piece may
 * lie in a copy of the whole.
 *
 * A stencil that writes blocks and reads them with halos (HEDDLE_SPLIT_HALO) changes plans, and so has a barrier, in
 * each step. If its tasks name the blocks of the neighbours instead (examples/21_stencil.c), or borders that are data
 * of their own (ghost rows, examples/26_ghost_rows.c), each block waits for its neighbours alone.
 *
 * If a task fails that was to write a child, the other children of that plan keep their values, and tasks may use
 * these. The datum as a whole has no value then, and neither has any child of another plan, whichever elements it has:
 * tasks that read the whole, or a child of another plan, are cancelled, and a task that writes a child of another plan
 * gives a value to that child alone. A task that writes the child without a value (W) makes the datum whole again. */
typedef struct heddle_plan heddle_plan;

/* Plans to split `data`, which must have one part, into the children that `filter` describes, and stores the plan in
 * *out. Changes nothing yet: the first task that uses a child splits the datum. A child that shares elements with
 * another child can only be read (HEDDLE_E_INVALID otherwise), and so can the children that it is itself split into.
 * The plan belongs to the datum: it ends with heddle_plan_destroy or with the datum. HEDDLE_E_STATE: the datum is
 * partitioned, or has been unregistered. May be called from any thread. */
int heddle_plan_create(heddle_data *data, const struct heddle_filter *filter, heddle_plan **out);
/* The number of children. */
size_t heddle_plan_size(const heddle_plan *plan);
/* Child i, numbered as the filter says; it belongs to the plan. NULL, with an error: i is out of range. */
heddle_data *heddle_plan_child(const heddle_plan *plan, size_t i);
/* Ends a plan, without waiting: the tasks that were submitted on its children still run, then their values are in the
 * datum and the children end. Neither the plan nor its children, nor plans of these, may be used any more. */
int heddle_plan_destroy(heddle_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
