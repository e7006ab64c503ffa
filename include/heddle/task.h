/* Codelets (what to run) and tasks (one run of a codelet on some data).
 *
 * Tasks are submitted in sequential order and run in any order that gives the same result: Heddle infers the
 * dependencies from the access modes. The usual way is one line:
 *
 *   heddle_submit(rt, heddle_call(gemm), heddle_rw(C), heddle_r(A), heddle_r(B), heddle_value(alpha));
 *
 * Every item is type-checked, the items may come in any order (data and values are numbered among themselves from left
 * to right), and there is no terminator to forget.
 */
#ifndef HEDDLE_TASK_H
#define HEDDLE_TASK_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/data.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_task heddle_task;

/* --- Inside a kernel ---------------------------------------------------------------------------------------------- */

/* What a kernel gets: the task's data where the worker can reach them, its values, and where it runs. Valid until the
 * kernel returns. */
typedef struct heddle_call_context heddle_context;

/* A kernel returns 0, or a value that says what failed: then the task fails, the data it writes are void, the tasks
 * that read them are cancelled, and the next wait reports it with the message given to heddle_fail, if any. */
typedef int (*heddle_kernel)(heddle_context *c);

void *heddle_ptr(const heddle_context *c, size_t i);                   /* base of part 0 of datum i */
size_t heddle_extent(const heddle_context *c, size_t i, unsigned dim); /* its extent in a dimension; 1 past the last */
size_t heddle_ld(const heddle_context *c, size_t i);                   /* its stride[1], the leading dimension */
/* Any part of datum i. HEDDLE_E_INVALID when there is no such one. */
int heddle_context_part(const heddle_context *c, size_t i, size_t part, struct heddle_part *out);
size_t heddle_context_n_data(const heddle_context *c);
/* The i-th value given to heddle_submit; NULL if there are fewer. */
const void *heddle_value_ptr(const heddle_context *c, size_t i);
#define heddle_get(c, i, type) (*(type const *)heddle_value_ptr(c, i))
unsigned heddle_context_worker(const heddle_context *c);
heddle_runtime *heddle_context_runtime(const heddle_context *c);
/* Leaves a sentence for the waiter (copied, printf-like) and returns `code`, or -1 when that is 0, which would be no
 * failure: `return heddle_fail(c, i, "row %d ...", i);` */
int heddle_fail(heddle_context *c, int code, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* --- Codelets ----------------------------------------------------------------------------------------------------- */

struct heddle_implementation {
	const char *kind; /* "cpu", "emulated", "opencl", "cuda", or a platform's own: the kind of class it runs on */
	/* When there are several for a kind the models choose, and traces and models call this one CODELET.NAME; NULL:
	 * by its index, CODELET.0 */
	const char *name;
	heddle_kernel kernel;
};

/* What a size-dependent thing about a task is computed from: cost functions and footprints get it. */
struct heddle_size {
	double bytes; /* total size of the data */
	size_t n_data;
	size_t n_values;
	const struct heddle_part *const *parts; /* part 0 of each datum (extents only; base is NULL) */
	const void *const *values;              /* the values given to heddle_submit */
};

enum heddle_model_kind {
	HEDDLE_MODEL_HISTORY = 0, /* mean per footprint (hash of codelet, data shapes and `footprint`) */
	HEDDLE_MODEL_POWER,       /* a * bytes^b */
	HEDDLE_MODEL_AFFINE,      /* a * bytes^b + c */
	HEDDLE_MODEL_LINEAR,      /* sum of c_k * x_k, the x_k from `regressors` */
	HEDDLE_MODEL_GIVEN,       /* what `time` says: nothing is measured, and platforms are not asked */
	HEDDLE_MODEL_NONE         /* never measured */
};

/* Everything about a codelet; only `name` and one kernel are required. Strings and arrays are copied. */
struct heddle_codelet_desc {
	const char *name; /* models are stored under it: keep it stable, and different for different work */
	/* short form of `implementations`; emulated: NULL = the cpu kernel */
	heddle_kernel cpu, emulated, opencl, cuda;
	const struct heddle_implementation *implementations;
	size_t n_implementations;
	const int *modes; /* enum heddle_mode per datum; NULL: what each task says. If given, tasks are checked */
	size_t n_modes;
	enum heddle_model_kind model;
	double (*flops)(const struct heddle_size *size); /* work of one task; used for rates and modelled platforms */
	/* more than the shapes, e.g. a value that changes the cost */
	uint64_t (*footprint)(const struct heddle_size *size);
	size_t (*regressors)(const struct heddle_size *size, double *x, size_t max); /* HEDDLE_MODEL_LINEAR */
	/* HEDDLE_MODEL_GIVEN: the execution time on a class of the runtime's platform, us; NAN: unknown. Asked once per
	 * footprint: a value that changes the time must be part of `footprint`. */
	double (*time)(const struct heddle_size *size, unsigned class_id);
	/* May this worker run this task? Asked at submission of all workers, one of which must (else
	 * HEDDLE_E_NO_WORKER), and while scheduling; by one thread at a time. Must be quick, always answer the same,
	 * and call of Heddle only what reads the task. */
	int (*can_run)(unsigned worker, const heddle_task *task, void *arg);
	void *can_run_arg;
	unsigned color; /* 0xRRGGBB in charts; 0: chosen from the name */
};

/* Makes a codelet for one runtime, which frees it. HEDDLE_E_INVALID: something is missing, or contradicts itself;
 * HEDDLE_E_UNKNOWN: an implementation is for a kind that is neither one of the four nor of a class of the runtime's
 * platform. */
int heddle_codelet_create(heddle_runtime *rt, const struct heddle_codelet_desc *desc, heddle_codelet **out);
/* The same in one line: heddle_codelet *axpy = heddle_codelet_new(rt, .name = "axpy", .cpu = axpy_cpu); NULL on
 * error. */
#ifndef __cplusplus
#define heddle_codelet_new(rt, ...) heddle_codelet_make(rt, &(struct heddle_codelet_desc){__VA_ARGS__})
#endif
heddle_codelet *heddle_codelet_make(heddle_runtime *rt, const struct heddle_codelet_desc *desc);
const char *heddle_codelet_name(const heddle_codelet *codelet);

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* Called when a task has ended, by the thread that ended it; status 0, HEDDLE_E_KERNEL, HEDDLE_E_CANCELLED ... May
 * submit tasks; must not block. */
typedef void (*heddle_callback)(void *arg, int status);

struct heddle_item {
	int what; /* an enum heddle_mode, or one of HEDDLE_ITEM_* */
	int number;
	const void *ptr;
	union {
		size_t size;
		heddle_callback call;
	} u;
};
enum {
	HEDDLE_ITEM_CODELET = 256,
	HEDDLE_ITEM_VALUE,
	HEDDLE_ITEM_PRIORITY,
	HEDDLE_ITEM_CALLBACK,
	HEDDLE_ITEM_AFTER,
	HEDDLE_ITEM_WORKER,
	HEDDLE_ITEM_NAME,
	HEDDLE_ITEM_OUT
};

#define HEDDLE_ITEM_(w, n, p, s) \
	struct heddle_item item; \
	item.what = (w);         \
	item.number = (n);       \
	item.ptr = (p);          \
	item.u.size = (s);       \
	return item
static inline struct heddle_item heddle_call(const heddle_codelet *c)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_CODELET, 0, c, 0);
}
static inline struct heddle_item heddle_access(enum heddle_mode m, const heddle_data *d)
{
	HEDDLE_ITEM_((int)m, 0, d, 0);
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
/* Bytes copied into the task, at most 2 GiB in all. heddle_value(x) copies a variable. */
static inline struct heddle_item heddle_bytes(const void *p, size_t size)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_VALUE, 0, p, size);
}
#define heddle_value(x) heddle_bytes(&(x), sizeof(x))
/* Larger is more urgent; 0 is the default. */
static inline struct heddle_item heddle_priority(int p)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_PRIORITY, p, NULL, 0);
}
/* An explicit dependency beside the inferred ones: a task held by the program (heddle_out). If that task fails, this
 * one is cancelled. */
static inline struct heddle_item heddle_after(const heddle_task *t)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_AFTER, 0, t, 0);
}
/* Only this worker may run it. */
static inline struct heddle_item heddle_on(unsigned worker)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_WORKER, (int)worker, NULL, 0);
}
/* A name for traces, graphs and messages; copied. NULL and "" are none: then the codelet's has to do. */
static inline struct heddle_item heddle_named(const char *name)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_NAME, 0, name, 0);
}
/* The program keeps a reference in *t, for heddle_task_wait and heddle_after, until heddle_task_release. *t is NULL
 * when heddle_submit fails. */
static inline struct heddle_item heddle_out(heddle_task **t)
{
	HEDDLE_ITEM_(HEDDLE_ITEM_OUT, 0, t, 0);
}
#undef HEDDLE_ITEM_
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

/* Submits one task, described by an array of items, which may have been put together piece by piece.
 * Returns at once, unless `window` tasks are unfinished: then it waits (or helps) until there is
 * room. Inside a kernel or callback it never waits. A task without a codelet is a pure synchronisation.
 * HEDDLE_E_INVALID; HEDDLE_E_NO_WORKER: no worker has a kernel (or a time) for the codelet; HEDDLE_E_NO_FIT: the task's
 * data are larger than any memory it could run in; HEDDLE_E_MEMORY: nothing was submitted. */
int heddle_submit_items(heddle_runtime *rt, size_t n, const struct heddle_item *items);

#ifndef __cplusplus
#define heddle_submit(rt, ...)                                                                            \
	heddle_submit_items(rt, sizeof((struct heddle_item[]){__VA_ARGS__}) / sizeof(struct heddle_item), \
	                    (const struct heddle_item[]){__VA_ARGS__})
#endif

/* Waits for one task; returns its status: 0, HEDDLE_E_KERNEL, HEDDLE_E_CANCELLED, HEDDLE_E_NO_FIT. Blocks. */
int heddle_task_wait(heddle_task *task);
/* Whether it has ended. */
int heddle_task_done(const heddle_task *task);
/* Gives the program's reference back. */
void heddle_task_release(heddle_task *task);

#ifdef __cplusplus
}
/* C++ has no compound literals; a template does the same. */
template <class... Item> inline int heddle_submit(heddle_runtime *rt, const Item &...item)
{
	const heddle_item items[] = {item...};
	return heddle_submit_items(rt, sizeof...(item), items);
}
#endif
#endif
