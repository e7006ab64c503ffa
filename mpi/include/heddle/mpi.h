/* Several machines: the interface of libheddle-mpi. One program runs on all ranks of a communicator of MPI; the tasks
 * of the program are spread over the ranks, and data go where tasks need them.
 *
 *   heddle_mpi *m;
 *   heddle_mpi_data *tile[N];
 *   heddle_mpi_start(NULL, MPI_COMM_WORLD, &m);
 *   for (int i = 0; i < N; i++) {
 *           struct heddle_part shape = {.base = mine(i), .elem_size = 8, .n_dims = 1, .n = {1000}, .stride = {1}};
 *           heddle_mpi_register(m, i, i % heddle_mpi_size(m), &shape, &tile[i]);
 *   }
 *   heddle_mpi_submit(m, heddle_call(add), heddle_mpi_rw(tile[1]), heddle_mpi_r(tile[0]));
 *   heddle_mpi_wait_all(m);
 *
 * Every rank makes the same calls in the same order: the *stream*. A task is executed by the rank that owns the datum
 * which the task writes; the other ranks only note what it does to the data. All ranks derive from the stream which
 * values travel, so a message has no header, and nobody asks for anything. What one rank alone has to do (printing, for
 * example) it does between the calls.
 *
 * Calls of the stream are the functions below marked "Stream": all ranks make them, in the same order and with equal
 * arguments, except for addresses. They belong to one thread of each rank, or to several that agree on the order. If
 * the streams of two ranks differ, the next heddle_mpi_wait_all names the first task in which they do.
 *
 * MPI is called by one thread of the library, so MPI must have been started with MPI_THREAD_MULTIPLE; or with
 * MPI_THREAD_SERIALIZED, if the program does not call MPI between heddle_mpi_start and heddle_mpi_stop.
 *
 * Errors are as in heddle.h: functions return 0 or a negative status, and heddle_last_error() has the sentence. */
#ifndef HEDDLE_MPI_H
#define HEDDLE_MPI_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <heddle.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_mpi heddle_mpi;
typedef struct heddle_mpi_data heddle_mpi_data;

/* --- Starting and stopping ---------------------------------------------------------------------------------------- */

/* Settings, which must be equal on all ranks. heddle_mpi_settings_init fills in the defaults. */
struct heddle_mpi_settings {
	/* how many messages from one rank to another may be under way, from 1 to 1024. Many ranks make it smaller:
	 * a rank has about 512 messages under way at most, and at least one in each direction for each other rank */
	unsigned gate;
	/* bytes of values of one rank that another rank keeps when no task needs them, so that they need not be sent
	 * again; the least recently used values go first. For each ordered pair of ranks */
	uint64_t cache;
	/* how many ranks each rank of a tree sends a value to (heddle_mpi_readers), at least 1 */
	unsigned arity;
	/* s without any message, while some are waited for, after which the other ranks of these messages count as
	 * lost (HEDDLE_E_PEER); 0: never. It must be longer than the longest kernel */
	double peer_timeout;
};
/* Fills in the defaults: gate 64, cache 256 MiB, arity 4, no peer_timeout. */
void heddle_mpi_settings_init(struct heddle_mpi_settings *settings);

/* Starts a runtime on each rank of a communicator, which is duplicated. `config`: as for heddle_start; the runtime has
 * one more worker, of the kind "mpi", whose thread sends and receives. Ranks on one machine should each have a part of
 * its cores: mpirun binds them. `settings`: NULL: the defaults. MPI must be initialised. HEDDLE_E_STATE: it is not, or
 * allows threads no calls; HEDDLE_E_INVALID: a setting is out of its range, or not equal on all ranks; otherwise the
 * errors of heddle_start. All ranks call this; if one fails, all fail. Blocks. */
int heddle_mpi_start(const struct heddle_config *config, MPI_Comm comm, heddle_mpi **out);
int heddle_mpi_start_with(const struct heddle_config *config, const struct heddle_mpi_settings *settings, MPI_Comm comm,
                          heddle_mpi **out);

/* Runs `program` on ranks that are threads of this process, without MPI: for tests, debuggers and sanitizers. Each rank
 * has a runtime of its own with `config`, and calls program(m, arg), which must not stop m. Returns the first status
 * that is not 0, of the ranks in order, with its sentence. Blocks. */
int heddle_mpi_loop(const struct heddle_config *config, const struct heddle_mpi_settings *settings, int n_ranks,
                    int (*program)(heddle_mpi *m, void *arg), void *arg);

/* Stream. Waits for all tasks and messages, and stops the runtime. Values are in the buffers of their owners then.
 * Returns what heddle_mpi_wait_all returns, or the error of heddle_stop. `m` and its data do not exist afterwards,
 * whatever the status. NULL: does nothing. Blocks. */
int heddle_mpi_stop(heddle_mpi *m);

/* The rank's runtime, with which codelets are made, and in which tasks without distributed data may be submitted. Such
 * tasks must not be waited for by heddle_mpi's tasks of other ranks. */
heddle_runtime *heddle_mpi_runtime(const heddle_mpi *m);
/* HEDDLE_E_INVALID: m is NULL. */
int heddle_mpi_rank(const heddle_mpi *m);
int heddle_mpi_size(const heddle_mpi *m);

/* --- Data --------------------------------------------------------------------------------------------------------- */

/* Stream. Registers a datum: an array that the rank `owner` has. `key` is the program's number of the datum, for
 * messages of errors. `shape` has the extents, which are equal on all ranks; its `base` and strides count on the owner
 * only. base NULL: the library allocates the array, and the first task must write the datum. HEDDLE_E_INVALID: the
 * owner does not exist, or the shape has no elements of a size; HEDDLE_E_MEMORY. */
int heddle_mpi_register(heddle_mpi *m, uint64_t key, int owner, const struct heddle_part *shape, heddle_mpi_data **out);

/* Stream. Ends the datum without waiting. The owner may use its buffer, with the newest value, after the next
 * heddle_mpi_wait_all. */
int heddle_mpi_unregister(heddle_mpi_data *data);

/* The key with which the datum was registered, and the rank that owns it now. NULL: 0, HEDDLE_E_INVALID. */
uint64_t heddle_mpi_key(const heddle_mpi_data *data);
int heddle_mpi_owner(const heddle_mpi_data *data);

/* Stream. Makes another rank the owner, from here on in the stream: it gets the value, if it does not have it. The
 * array of the previous owner is not used any more; the new owner's was allocated by the library. */
int heddle_mpi_move(heddle_mpi_data *data, int owner);

/* Stream. A hint: no rank but the owner needs the present value any more, so that its copies are dropped. */
int heddle_mpi_flush(heddle_mpi_data *data);

/* Stream. Sends the present value to several ranks along a tree, so that the owner does not send it to each of them
 * itself. `ranks` are in any order; those of a program that prunes must all make this call, and the owner too. */
int heddle_mpi_readers(heddle_mpi_data *data, const int *ranks, size_t n);

/* The codelets of HEDDLE_REDUX, as heddle_data_set_reduction takes them; each rank gives its own. HEDDLE_E_INVALID: an
 * argument is NULL. */
int heddle_mpi_set_reduction(heddle_mpi_data *data, heddle_codelet *init, heddle_codelet *combine);

/* The handle of the datum in this rank's runtime. NULL: this rank is not the owner. Tasks on it must not write. */
heddle_data *heddle_mpi_local(heddle_mpi_data *data);

/* Stream. The owner gets its buffer, as by heddle_acquire: R, W or RW. Other ranks only note that the value changes,
 * and return 0. Blocks on the owner. Errors: those of heddle_acquire, on the owner. */
int heddle_mpi_acquire(heddle_mpi_data *data, enum heddle_mode mode);
/* Stream. Ends what heddle_mpi_acquire began. */
int heddle_mpi_release(heddle_mpi_data *data);
/* The address of the first element, between heddle_mpi_acquire and heddle_mpi_release; NULL on other ranks. */
void *heddle_mpi_ptr(heddle_mpi_data *data);

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* Items beside those of heddle/task.h. */
enum { HEDDLE_MPI_ITEM_DATA = HEDDLE_ITEM_LIBRARIES, HEDDLE_MPI_ITEM_ON, HEDDLE_MPI_ITEM_WITH };
#define HEDDLE_MPI_ITEM_(w, n, p) \
	struct heddle_item item;  \
	item.what = (w);          \
	item.number = (n);        \
	item.ptr = (p);           \
	item.u.size = 0;          \
	return item
/* A distributed datum, with an enum heddle_mode; the functions after this one are short forms. */
static inline struct heddle_item heddle_mpi_access(int mode, const heddle_mpi_data *d)
{
	HEDDLE_MPI_ITEM_(HEDDLE_MPI_ITEM_DATA, mode, d);
}
static inline struct heddle_item heddle_mpi_r(const heddle_mpi_data *d)
{
	return heddle_mpi_access(HEDDLE_R, d);
}
static inline struct heddle_item heddle_mpi_w(const heddle_mpi_data *d)
{
	return heddle_mpi_access(HEDDLE_W, d);
}
static inline struct heddle_item heddle_mpi_rw(const heddle_mpi_data *d)
{
	return heddle_mpi_access(HEDDLE_RW, d);
}
static inline struct heddle_item heddle_mpi_redux(const heddle_mpi_data *d)
{
	return heddle_mpi_access(HEDDLE_REDUX, d);
}
static inline struct heddle_item heddle_mpi_commute(const heddle_mpi_data *d)
{
	return heddle_mpi_access(HEDDLE_COMMUTE, d);
}
static inline struct heddle_item heddle_mpi_scratch(const heddle_mpi_data *d)
{
	return heddle_mpi_access(HEDDLE_SCRATCH, d);
}
/* This rank executes the task. */
static inline struct heddle_item heddle_mpi_on(int rank)
{
	HEDDLE_MPI_ITEM_(HEDDLE_MPI_ITEM_ON, rank, NULL);
}
/* The owner of this datum executes the task. */
static inline struct heddle_item heddle_mpi_with(const heddle_mpi_data *d)
{
	HEDDLE_MPI_ITEM_(HEDDLE_MPI_ITEM_WITH, 0, d);
}
#undef HEDDLE_MPI_ITEM_

/* Stream. Submits a task, as heddle_submit_items does. It is executed by the rank that heddle_mpi_on names; or by the
 * owner of the datum that heddle_mpi_with names; or by the owner of the first datum that the task writes (W, RW,
 * COMMUTE); or else of the first datum that it names. Values, priority, name, group and the like count on that rank
 * only. A datum of another owner that the task writes goes back to its owner. HEDDLE_E_INVALID: the task names no
 * distributed datum and no rank, or a datum in modes that do not go together; otherwise the errors of heddle_submit, on
 * the rank that executes. */
int heddle_mpi_submit_items(heddle_mpi *m, size_t n, const struct heddle_item *items);
#ifndef __cplusplus
#define heddle_mpi_submit(m, ...)                                                                            \
	heddle_mpi_submit_items(m, sizeof((struct heddle_item[]){__VA_ARGS__}) / sizeof(struct heddle_item), \
	                        (const struct heddle_item[]){__VA_ARGS__})
#endif

/* Whether this rank has to do with a task of these items: it executes the task, or owns or holds a copy of one of the
 * data: 1 or 0. A program may leave out tasks that do not concern the rank (*pruning*). HEDDLE_E_INVALID: an argument
 * is NULL. */
int heddle_mpi_concerns(const heddle_mpi *m, size_t n, const struct heddle_item *items);

/* Stream. Waits until all tasks and messages of this rank have ended and all other ranks are here. Returns 0, or the
 * same error on all ranks: of the lowest rank whose own task has failed. heddle_last_error() names the rank.
 * HEDDLE_E_PEER: another rank does not answer; HEDDLE_E_INVALID: the streams of two ranks differ, and the sentence says
 * where; after these two, only heddle_mpi_stop is of use. Blocks. */
int heddle_mpi_wait_all(heddle_mpi *m);

/* --- Looking at it ------------------------------------------------------------------------------------------------ */

/* Counters of this rank since the start. */
struct heddle_mpi_counts {
	uint64_t tasks, executed; /* tasks of the stream; tasks that this rank has to execute */
	uint64_t sent, received;  /* messages with values */
	uint64_t bytes_sent, bytes_received;
	uint64_t reused;                /* values that a rank had, so that no message was needed */
	uint64_t dropped;               /* copies that have left a full cache */
	uint64_t failed_calls;          /* of the transport, which were repeated */
	uint64_t live_data, data_bytes; /* data that are registered now; bytes that each of them takes on every rank */
};
/* Copies the counters into *out. HEDDLE_E_INVALID: an argument is NULL. */
int heddle_mpi_stats(heddle_mpi *m, struct heddle_mpi_counts *out);

/* Checks the library's own invariants. 0, or HEDDLE_E_STATE with a sentence that names the first one broken. For tests.
 * To be called by the thread that makes the calls of the stream. */
int heddle_mpi_selfcheck(heddle_mpi *m);

/* Writes which messages this rank waits for. Any thread may call this, also when the program hangs. */
void heddle_mpi_dump(heddle_mpi *m, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
