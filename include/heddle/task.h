/* Codelets and tasks: a codelet is a computation with a kernel per kind of processor, a task is one execution of a
 * codelet on some data.
 *
 * A program submits tasks in sequential order, and Heddle runs them in any order that gives the same result: it infers
 * the dependencies from the access modes. A task is usually submitted in one line:
 *
 *   heddle_submit(rt, heddle_call(gemm), heddle_rw(C), heddle_r(A), heddle_r(B), heddle_value(alpha));
 *
 * The compiler checks the type of every item. Items may stand in any order; the kernel sees the data numbered from left
 * to right, and the values numbered from left to right. No terminator is needed.
 */
#ifndef HEDDLE_TASK_H
#define HEDDLE_TASK_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/data.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_group heddle_group;
typedef struct heddle_task heddle_task;
struct heddle_event;

/* --- Inside a kernel ---------------------------------------------------------------------------------------------- */

/* The argument of a kernel: it gives access to the task's data in the worker's memory, the task's values, and the
 * worker. Valid until the kernel returns and, on an accelerator, until the work that the kernel has put on its stream
 * has ended. */
typedef struct heddle_call_context heddle_context;

/* A kernel returns 0, or another value if it failed. Then the task fails: the data that it writes have no value, the
 * tasks that read them are cancelled, and the next wait returns HEDDLE_E_KERNEL with the message that the kernel gave
 * to heddle_fail. If the kernel has not called heddle_fail and returns the status of a failed call of Heddle, the
 * message is that of the call; SPMD kernels on several cores, and kernels on accelerators, must call heddle_fail. */
typedef int (*heddle_kernel)(heddle_context *c);

void *heddle_ptr(const heddle_context *c, size_t i); /* address of part 0 of datum i */
/* extent of part 0; 1 if it lacks that dimension */
size_t heddle_extent(const heddle_context *c, size_t i, unsigned dim);
size_t heddle_ld(const heddle_context *c, size_t i); /* stride[1] of part 0: the leading dimension */
/* Any part of datum i. HEDDLE_E_INVALID: it has no such part. */
int heddle_context_part(const heddle_context *c, size_t i, size_t part, struct heddle_part *out);
size_t heddle_context_n_data(const heddle_context *c); /* how many data the task has */
/* Leaves the memory of datum i to the program, which still has the address: for a binding of a language that cannot
 * take an address back. Heddle uses the copy in this memory as long as the copy is needed, but neither uses the memory
 * for another datum nor frees it, until the process ends. Does nothing for a buffer of the program. */
void heddle_context_keep(const heddle_context *c, size_t i);
/* The i-th value given to heddle_submit, aligned as its type may ask: see heddle_bytes. NULL if there are fewer. */
const void *heddle_value_ptr(const heddle_context *c, size_t i);
/* The i-th value, as heddle_value_ptr gives it; the checking mode (the setting check) reports a value that was
 * submitted with another size than `size`. */
const void *heddle_value_of_size(const heddle_context *c, size_t i, size_t size);
/* The i-th value as an lvalue of type `type`: heddle_get(c, 0, double). For arrays: heddle_value_ptr. The compiler
 * refuses a type that no value may have, because of its alignment: see heddle_bytes. */
#ifdef __cplusplus
#define heddle_get(c, i, type) \
	(*static_cast<type const *>(heddle_value_of_size(c, i, heddle_detail_value_size<type>())))
#else
#define heddle_get(c, i, type) (*(type const *)heddle_value_of_size(c, i, HEDDLE_VALUE_SIZE_(type)))
/* sizeof(type) */
#define HEDDLE_VALUE_SIZE_(type)                                                        \
	(sizeof(type) + 0 * sizeof(struct {                                             \
		                _Static_assert(_Alignof(type) <= _Alignof(max_align_t), \
		                               HEDDLE_VALUE_IS_ALIGNED_TO_MORE_);       \
		                char none;                                              \
	                }))
#endif
#define HEDDLE_VALUE_IS_ALIGNED_TO_MORE_ "a value is aligned to max_align_t at most: give a pointer to this, or a datum"
/* The handle of datum i, which a sub-graph, or a kernel that submits, names in its tasks. NULL: there is no datum i. */
heddle_data *heddle_context_data(const heddle_context *c, size_t i);
/* The worker that runs the kernel, and its runtime. */
unsigned heddle_context_worker(const heddle_context *c);
heddle_runtime *heddle_context_runtime(const heddle_context *c);
/* How many cores the kernel may use: the number of threads for HEDDLE_FORK_JOIN, of members for HEDDLE_SPMD. 1 in
 * sequential kernels, and on workers that are no CPUs. */
unsigned heddle_context_cores(const heddle_context *c);
/* SPMD: which member the calling thread is, from 0 to heddle_context_cores - 1. 0 in all other kernels. */
unsigned heddle_context_rank(const heddle_context *c);
/* SPMD: waits until all members that have not returned have called this function; what each member has done before
 * happens before what any member does afterwards. Returns 0, or 1 if a member has returned another value than 0: then
 * the task fails, and the other members may return as well. All members get the same result. Other kernels: does
 * nothing, returns 0. */
int heddle_context_barrier(const heddle_context *c);
/* The stream of the accelerator on which the kernel must put its work: a cudaStream_t, a cl_command_queue. NULL if the
 * kind of processor has no streams, as a CPU. */
void *heddle_stream(const heddle_context *c);
/* Gives the reason why the kernel fails: the sentence (printf-like, copied) becomes the error message of the wait.
 * Returns `code`, or -1 if `code` is 0, which would mean success: `return heddle_fail(c, i, "row %d ...", i);` */
int heddle_fail(heddle_context *c, int code, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* --- Hierarchical tasks ------------------------------------------------------------------------------------------- */

/* A way to refine a task: instead of running the task's kernel, Heddle calls `submit`, which submits other tasks that
 * together have the same effect: the sub-graph. The tasks of the sub-graph are ordered as if the program had submitted
 * them in place of the task: after all tasks before it and before all tasks after it, as far as they share data that
 * the task names. So the task must name all data of its sub-graph that tasks outside use as well; through other data,
 * tasks inside and outside could wait for each other in a circle. Each task of the sub-graph is ordered by the data
 * that it names itself. Only heddle_task_wait, heddle_after, groups and callbacks of the task wait for the sub-graph as
 * a whole.
 *
 * `submit` runs on any worker; several may run at the same time. It submits with plain heddle_submit, and may register
 * and unregister data. It gets the task's handles and values by heddle_context_data and heddle_get; heddle_ptr gives
 * NULL, since the data need not be in any memory. It must not block, nor call heddle_detach. The submitted tasks enter
 * the graph when `submit` has returned, or a few at a time before. `submit` returns 0, or fails as a kernel does; it
 * has also failed if one of its submissions has failed, whose sentence the wait then reports. In both cases the task
 * fails: data that it writes have no value for later tasks, but the tasks that were submitted before the failure go on.
 * If a task of the sub-graph fails, the task fails at its end, too; then only the data that the failed task was to
 * write have no value.
 *
 * A task of the sub-graph must not write a datum that the hierarchical task only reads, nor a descendant of it:
 * HEDDLE_E_INVALID. Nor may it name a datum of the hierarchical task as REDUX: HEDDLE_E_UNSUPPORTED. Tasks of a
 * sub-graph that are to add up a sum add it with COMMUTE, or to a datum that the sub-graph registers and that another
 * task of the sub-graph then adds. Tasks of a sub-graph may have sub-graphs, to any depth. They belong to the group of
 * the hierarchical task, unless they name another group. */
struct heddle_subgraph {
	const char *name; /* for traces; NULL: its index is used */
	int (*submit)(heddle_context *c);
};

/* --- Parallel tasks ----------------------------------------------------------------------------------------------- */

/* How the kernels of a codelet use the cores of a cluster, which is a worker of kind "cpu" whose class (struct
 * heddle_class) has several cores; docs/parallel.md tells more. */
enum heddle_parallel {
	/* one thread, on one core; the other cores are idle meanwhile */
	HEDDLE_SEQUENTIAL = 0,
	/* One thread calls the kernel, and may run on each of the cores. Libraries with threads of their own are told
	 * to use one thread per core: Heddle tells OpenMP, MKL, BLIS and OpenBLAS, if they are in the process; the
	 * program tells other libraries: heddle_set_prologue. */
	HEDDLE_FORK_JOIN,
	/* As many threads as there are cores, each bound to one core, call the kernel at the same time: the members of
	 * a team, which divide the work by heddle_context_rank and heddle_context_cores and wait for each other in
	 * heddle_context_barrier. Each member has a context of its own. The task ends when all members have returned.
	 * It fails if a member returns another value than 0, with this member's sentence; of several members the lowest
	 * rank counts. A member must not wait for tasks: it must not call heddle_group_wait or heddle_unregister. Each
	 * member may call heddle_detach. */
	HEDDLE_SPMD
};

/* The argument of a prologue: the worker, its first core, and how many threads to use. */
struct heddle_cluster {
	unsigned worker;
	int core; /* the first of the cores: logical index; -1: the worker's threads are not bound */
	unsigned cores;
};
/* The prologue callback, for libraries with threads of their own that Heddle does not know. It is called by the thread
 * that runs a worker's tasks: before the first of a sequence of fork-join kernels, with the number of cores, and before
 * the kernel of another kind that ends the sequence, with 1. cluster->cores is the number of threads that a library may
 * use in this thread until the next call. The calling thread is bound to those cores, so threads that it makes are,
 * too. It must not block. */
typedef void (*heddle_prologue)(const struct heddle_cluster *cluster, void *arg);
/* Sets the prologue, in place of the previous one; NULL: none. May be called by any thread, best before the first task
 * is submitted: a worker that is within a sequence of fork-join kernels calls the new prologue at the next change.
 * HEDDLE_E_INVALID: rt is NULL; HEDDLE_E_STATE: in a child of fork. */
int heddle_set_prologue(heddle_runtime *rt, heddle_prologue call, void *arg);

/* --- Codelets ----------------------------------------------------------------------------------------------------- */

struct heddle_implementation {
	/* the kind of the classes that can run the kernel: "cpu", "emulated", "opencl", "cuda", or another kind of the
	 * platform */
	const char *kind;
	/* A codelet may have several implementations for one kind; the models choose among them. In traces and models,
	 * this implementation is called CODELET.NAME or, if `name` is NULL, CODELET.0, CODELET.1 ... by its index. */
	const char *name;
	heddle_kernel kernel;
};

/* The size of a task, from which `flops`, `footprint`, `regressors` and `time` of a codelet are computed. */
struct heddle_size {
	double bytes; /* total size of the data */
	size_t n_data;
	size_t n_values;
	const struct heddle_part *const *parts; /* part 0 of each datum: its extents; `base` is NULL */
	const void *const *values;              /* the values given to heddle_submit */
};

enum heddle_model_kind {
	/* the mean of the measured times per footprint (a hash of codelet, data shapes and `footprint`) */
	HEDDLE_MODEL_HISTORY = 0,
	HEDDLE_MODEL_POWER,  /* a regression over all sizes: a * bytes^b */
	HEDDLE_MODEL_AFFINE, /* a * bytes^b + c */
	HEDDLE_MODEL_LINEAR, /* sum of c_k * x_k, the x_k from `regressors` */
	/* the callback `time` gives the time; nothing is measured, and a platform's kernel times are ignored */
	HEDDLE_MODEL_GIVEN,
	HEDDLE_MODEL_NONE /* no estimates, nothing is measured */
};

/* Everything about a codelet; only `name` and one kernel or sub-graph are required. Strings and arrays are copied. */
struct heddle_codelet_desc {
	/* models are stored under this name: keep it the same from run to run, and use another for other work */
	const char *name;
	/* short form of `implementations`, for one kernel per kind; an emulated accelerator uses the cpu kernel if
	 * `emulated` is NULL */
	heddle_kernel cpu, emulated, opencl, cuda;
	const struct heddle_implementation *implementations;
	size_t n_implementations;
	/* How the kernels use a CPU worker of several cores; and how many cores a CPU worker must have to run the
	 * tasks: at least min_cores (2: only clusters), and at most max_cores (1: no clusters; 0: no limit) */
	enum heddle_parallel parallel;
	unsigned min_cores, max_cores;
	const int *modes; /* enum heddle_mode of each datum, which the tasks must match; NULL: tasks may have any */
	size_t n_modes;
	enum heddle_model_kind model;
	/* The models call these functions with a size. `footprint` is called at each submission, by several threads at
	 * once; the other functions are called rarely, by one thread at a time, while all other threads of the runtime
	 * may have to wait: they must be quick. For equal arguments all must return equal results, and they must call
	 * no functions of Heddle.
	 *
	 * Work of one task, for rates and for a platform's kernel times */
	double (*flops)(const struct heddle_size *size);
	/* a hash of whatever changes the execution time besides the shapes of the data, for example a value. 0, or no
	 * function: only the shapes matter */
	uint64_t (*footprint)(const struct heddle_size *size);
	/* HEDDLE_MODEL_LINEAR: writes at most `max` regressors x_k and returns how many there are */
	size_t (*regressors)(const struct heddle_size *size, double *x, size_t max);
	/* HEDDLE_MODEL_GIVEN: the execution time on a class of the runtime's platform, us; NAN: unknown. Called when
	 * the first task of a footprint is submitted, and again if the model has forgotten the footprint (the setting
	 * model_sizes). So it must return equal results for one footprint, and a value that changes the time must be
	 * part of `footprint`. */
	double (*time)(const struct heddle_size *size, unsigned class_id);
	/* Virtual time, for tasks that end by an event (heddle_detach): us from the end of the kernel on a class of the
	 * platform until the task ends; 0 or NAN: the task ends with its kernel. Called once per footprint and class.
	 * NULL: the platform's time of a codelet named CODELET.event; if it has none, the task ends with its kernel */
	double (*event_time)(const struct heddle_size *size, unsigned class_id);
	/* Whether this worker may run this task; NULL: every worker with a kernel may. Called for all workers when a
	 * task is submitted (if none may, heddle_submit returns HEDDLE_E_NO_WORKER) and while tasks are scheduled, by
	 * one thread at a time. It must be quick, return equal results for one task, and call no functions of Heddle
	 * but those that read the task. */
	int (*can_run)(unsigned worker, const heddle_task *task, void *arg);
	void *can_run_arg;
	/* The tasks of a codelet with sub-graphs are hierarchical: `subgraph` is the short form for one sub-graph
	 * without a name; otherwise there are n_subgraphs, for different sizes of tiles or algorithms. Tasks of a
	 * codelet that has no kernel, or none that may run, are always expanded. Hierarchical tasks have no REDUX
	 * data. */
	int (*subgraph)(heddle_context *c);
	const struct heddle_subgraph *subgraphs;
	size_t n_subgraphs;
	/* Returns which sub-graph a task uses: 1 + its index; 0: the kernel is run. NULL: the setting `expand` decides.
	 * Called once for each task, by one thread at a time: when the task is ready, that is, when all tasks on which
	 * it depends have ended or been expanded; or, if expand_at_submission is 1, when the task is submitted. The
	 * function must be quick and call no functions of Heddle but those that read the task. */
	int (*expand)(const heddle_task *task, void *arg);
	void *expand_arg;
	int expand_at_submission;
	unsigned color; /* 0xRRGGBB in charts; 0: a colour is derived from the name */
};

/* Makes a codelet of one runtime; heddle_stop frees it. HEDDLE_E_INVALID: the description lacks something or
 * contradicts itself; HEDDLE_E_UNKNOWN: an implementation is for a kind that is not "cpu", "emulated", "opencl", "cuda"
 * or the kind of a class of the runtime's platform. */
int heddle_codelet_create(heddle_runtime *rt, const struct heddle_codelet_desc *desc, heddle_codelet **out);
/* For studies of policies whose models are wrong: in virtual time, a task of the codelet takes true_time(size, class)
 * us, while policies are told the time of the codelet's model. A result that is negative, infinite or NaN counts as the
 * model's time. NULL: the model's time is the true time, as it is at first. true_time is called for each task that
 * begins, with the core lock held, so it must be quick and call no function of Heddle. Has no effect on real runs.
 * To be called by the thread that made the codelet, before the first task of the codelet is submitted: HEDDLE_E_STATE
 * otherwise. HEDDLE_E_INVALID: codelet is NULL. */
int heddle_codelet_set_true_time(heddle_codelet *codelet,
                                 double (*true_time)(const struct heddle_size *size, unsigned class_id));
/* Makes a codelet in one line: heddle_codelet *axpy = heddle_codelet_new(rt, .name = "axpy", .cpu = axpy_cpu); NULL on
 * error. In C++, where the macro is not defined, call heddle_codelet_new_of. */
#ifndef __cplusplus
#define heddle_codelet_new(rt, ...) heddle_codelet_new_of(rt, &(struct heddle_codelet_desc){__VA_ARGS__})
#endif
heddle_codelet *heddle_codelet_new_of(heddle_runtime *rt, const struct heddle_codelet_desc *desc);
const char *heddle_codelet_name(const heddle_codelet *codelet);

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* Called when a task has ended, by the thread that ended it, with the task's status: 0, HEDDLE_E_KERNEL,
 * HEDDLE_E_CANCELLED ... It may submit tasks and must not block. */
typedef void (*heddle_callback)(void *arg, int status);

/* One item of the description of a task. The functions below make items; programs need not know the fields. */
struct heddle_item {
	int what; /* an enum heddle_mode, or one of HEDDLE_ITEM_* */
	int number;
	const void *ptr;
	union {
		size_t size;
		heddle_callback call;
		void (*begin)(struct heddle_event *event, void *arg);
	} u;
};
enum {
	HEDDLE_ITEM_UNORDERED = 64, /* added to a mode: heddle_unordered */
	HEDDLE_ITEM_CODELET = 256,
	HEDDLE_ITEM_VALUE,
	HEDDLE_ITEM_PRIORITY,
	HEDDLE_ITEM_CALLBACK,
	HEDDLE_ITEM_AFTER,
	HEDDLE_ITEM_WORKER,
	HEDDLE_ITEM_NAME,
	HEDDLE_ITEM_OUT,
	HEDDLE_ITEM_GROUP,
	HEDDLE_ITEM_OUTSIDE,
	/* numbers from here on are for libraries on Heddle, whose items heddle_submit_items refuses */
	HEDDLE_ITEM_LIBRARIES = 65536
};

#ifdef __cplusplus
#define HEDDLE_INT_(x) static_cast<int>(x)
#else
#define HEDDLE_INT_(x) ((int)(x))
#endif
#define HEDDLE_ITEM_(w, n, p, s) \
	struct heddle_item item; \
	item.what = (w);         \
	item.number = (n);       \
	item.ptr = (p);          \
	item.u.size = (s);       \
	return item
/* The codelet to run. */
static inline struct heddle_item heddle_call(const heddle_codelet *c)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_CODELET, 0, c, 0);
}
/* A datum and its access mode; the functions after this one are short forms. */
static inline struct heddle_item heddle_access(enum heddle_mode m, const heddle_data *d)
{
	HEDDLE_ITEM_(HEDDLE_INT_(m), 0, d, 0);
}
static inline struct heddle_item heddle_r(const heddle_data *d)
{
	HEDDLE_ITEM_(HEDDLE_R, 0, d, 0);
}
static inline struct heddle_item heddle_w(const heddle_data *d)
{
	HEDDLE_ITEM_(HEDDLE_W, 0, d, 0);
}
static inline struct heddle_item heddle_rw(const heddle_data *d)
{
	HEDDLE_ITEM_(HEDDLE_RW, 0, d, 0);
}
static inline struct heddle_item heddle_scratch(const heddle_data *d)
{
	HEDDLE_ITEM_(HEDDLE_SCRATCH, 0, d, 0);
}
static inline struct heddle_item heddle_redux(const heddle_data *d)
{
	HEDDLE_ITEM_(HEDDLE_REDUX, 0, d, 0);
}
static inline struct heddle_item heddle_commute(const heddle_data *d)
{
	HEDDLE_ITEM_(HEDDLE_COMMUTE, 0, d, 0);
}
/* Makes an access (R, W or RW) unordered: the task has the datum as with any access, but neither waits for other tasks
 * that use it, nor does a task wait for this one because of this datum: the program says by other means, such as
 * heddle_after or other data, which tasks must not run at the same time. The access is coherent: the task gets the
 * newest value that a task had written when its data were brought, and what it writes is the newest value once it has
 * ended. Where tasks use the datum at the same time all the same, one of which writes, what they see is undefined. The
 * task is cancelled if the datum has no value when its turn comes. Handles end after their unordered accesses:
 * heddle_unregister waits for the tasks, heddle_acquire does not. Traces do not have unordered accesses.
 * HEDDLE_E_INVALID: another mode, or one datum both ordered and unordered; HEDDLE_E_UNSUPPORTED: the datum has a plan
 * or is a piece, or the task is hierarchical. */
static inline struct heddle_item heddle_unordered(struct heddle_item access)
{
	access.what |= HEDDLE_ITEM_UNORDERED;
	return access;
}
/* A value: `size` bytes, copied into the task; all values of a task may have 2 GiB together. The copy is aligned for
 * any object of that size, up to the alignment of max_align_t: a type that needs more, such as a vector of 32 bytes, is
 * passed by a pointer or in a datum. heddle_value(x) copies the variable x; the compiler refuses a type that needs more
 * alignment. */
static inline struct heddle_item heddle_bytes(const void *p, size_t size)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_VALUE, 0, p, size);
}
#ifndef __cplusplus
#ifdef __GNUC__
#define heddle_value(x)                                                                                             \
	heddle_bytes(&(x), __extension__({                                                                          \
		_Static_assert(_Alignof(__typeof__(x)) <= _Alignof(max_align_t), HEDDLE_VALUE_IS_ALIGNED_TO_MORE_); \
		sizeof(x);                                                                                          \
	}))
#else
#define heddle_value(x) heddle_bytes(&(x), sizeof(x))
#endif
#endif
/* The task's priority: larger is more urgent, 0 is the default. */
static inline struct heddle_item heddle_priority(int p)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_PRIORITY, p, NULL, 0);
}
/* An explicit dependency: the new task also waits for `t`, to which the program has a reference (heddle_out). If `t`
 * fails, the new task is cancelled. */
static inline struct heddle_item heddle_after(const heddle_task *t)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_AFTER, 0, t, 0);
}
/* Only this worker may run the task. */
static inline struct heddle_item heddle_on(unsigned worker)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_WORKER, HEDDLE_INT_(worker), NULL, 0);
}
/* A name of the task, copied, for traces, graphs and messages. NULL or "": the task is called by its codelet's name. */
static inline struct heddle_item heddle_named(const char *name)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_NAME, 0, name, 0);
}
/* Puts a reference to the task into *t, for heddle_task_wait and heddle_after; the program gives it back with
 * heddle_task_release. *t is NULL when heddle_submit fails. */
static inline struct heddle_item heddle_out(heddle_task **t)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_OUT, 0, t, 0);
}
/* The group of the task (heddle/group.h), in place of the group that heddle_group_set has set. */
static inline struct heddle_item heddle_in_group(const heddle_group *g)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_GROUP, 0, g, 0);
}
#undef HEDDLE_ITEM_
#undef HEDDLE_INT_
/* `f(arg, status)` is called when the task has ended. */
static inline struct heddle_item heddle_then(heddle_callback f, const void *arg)
{
	struct heddle_item item;
	item.what = HEDDLE_ITEM_CALLBACK;
	item.number = 0;
	item.ptr = arg;
	item.u.call = f;
	return item;
}
/* Makes the task an *external task*, in place of heddle_call: its work is done outside of Heddle, and no worker runs
 * it. When its turn has come and its data are in main memory, begin(event, arg) is called once, without any lock, by
 * the thread that found the task ready; the task has its data until the event is fulfilled (heddle/event.h), by any
 * thread, before or after `begin` has returned. `begin` may submit tasks and must not block: it hands the event on.
 * Until then heddle_data_part and heddle_data_ptr say where the data are; the handles exist even if they have been
 * unregistered meanwhile. A task that is cancelled before its turn never calls `begin`. In virtual time `begin` is
 * called, too; heddle_fulfill_at says when the task ends. HEDDLE_E_INVALID: the task has a codelet as well;
 * HEDDLE_E_UNSUPPORTED: it has SCRATCH or REDUX data. Traces and graphs have external tasks as they have tasks without
 * a codelet: as what others wait for. */
static inline struct heddle_item heddle_outside(void (*begin)(struct heddle_event *event, void *arg), const void *arg)
{
	struct heddle_item item;
	item.what = HEDDLE_ITEM_OUTSIDE;
	item.number = 0;
	item.ptr = arg;
	item.u.begin = begin;
	return item;
}

/* Submits one task, described by an array of items; heddle_submit makes the array from its arguments. Returns at once,
 * unless as many tasks are unfinished as the setting `window` allows: then the function waits until a task has ended,
 * and with caller_works runs tasks meanwhile. If a kernel or a callback submits, its own task does not count. A kernel
 * or a callback waits only as long as another kernel, callback or copy goes on, which must therefore not wait for this
 * kernel or callback. A task without a codelet runs nothing and only takes part in dependencies. On an error nothing
 * was submitted. HEDDLE_E_INVALID: the items contradict each other or the codelet; HEDDLE_E_NO_WORKER: no worker has a
 * kernel (in virtual time: a kernel time) for the codelet; HEDDLE_E_NO_FIT: the task's data are larger than each memory
 * node where it could run; HEDDLE_E_MEMORY. */
int heddle_submit_items(heddle_runtime *rt, size_t n, const struct heddle_item *items);

#ifndef __cplusplus
#define heddle_submit(rt, ...)                                                                            \
	heddle_submit_items(rt, sizeof((struct heddle_item[]){__VA_ARGS__}) / sizeof(struct heddle_item), \
	                    (const struct heddle_item[]){__VA_ARGS__})
#endif

/* Waits until the task has ended and returns its status: 0, HEDDLE_E_KERNEL, HEDDLE_E_CANCELLED, HEDDLE_E_NO_FIT.
 * Blocks. */
int heddle_task_wait(heddle_task *task);
/* Whether the task has ended. */
int heddle_task_done(const heddle_task *task);
/* Gives back the program's reference to the task. */
void heddle_task_release(heddle_task *task);

#ifdef __cplusplus
}
/* In C++ templates do what macros do in C. */
template <class T> constexpr size_t heddle_detail_value_size()
{
	static_assert(alignof(T) <= alignof(max_align_t), HEDDLE_VALUE_IS_ALIGNED_TO_MORE_);
	return sizeof(T);
}
template <class T> inline heddle_item heddle_value(T &x)
{
	return heddle_bytes(&x, heddle_detail_value_size<T>());
}
template <class... Item> inline int heddle_submit(heddle_runtime *rt, const Item &...item)
{
	const heddle_item items[] = {item...};
	return heddle_submit_items(rt, sizeof...(item), items);
}
#endif
#endif
