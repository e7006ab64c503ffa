/* Codelets and tasks, explicit dependencies, tags. */
#ifndef HEDDLE_STARPU_TASK_H
#define HEDDLE_STARPU_TASK_H

#include <starpu_data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Codelets ----------------------------------------------------------------------------------------------------- */

/* Where a codelet or a task may run. 0: wherever the codelet has a function. STARPU_NOWHERE: the task runs nothing and
 * only takes part in dependencies. */
#define STARPU_NOWHERE 0x1u
#define STARPU_CPU 0x2u
#define STARPU_CUDA 0x4u
#define STARPU_OPENCL 0x8u

typedef void (*starpu_cpu_func_t)(void **buffers, void *cl_arg);
typedef void (*starpu_cuda_func_t)(void **buffers, void *cl_arg);
typedef void (*starpu_opencl_func_t)(void **buffers, void *cl_arg);

/* `nbuffers` of a codelet whose tasks say themselves how many data they have: their field nbuffers. */
#define STARPU_VARIABLE_NBUFFERS (-1)
/* cuda_flags, opencl_flags: the function only puts work on the stream. Heddle always works so: without the flag it
 * waits for nothing either, and a function that synchronises by itself does no harm. */
#define STARPU_CUDA_ASYNC 0x1
#define STARPU_OPENCL_ASYNC 0x1
/* `flags`: accepted, without effect: in virtual time no kernel runs. */
#define STARPU_CODELET_SIMGRID_EXECUTE 0x1
#define STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT 0x2
#define STARPU_CODELET_NOPLANS 0x4
/* specific_nodes: accepted for nodes that are main memory on a machine without devices; otherwise all data are where
 * the worker is. */
#define STARPU_SPECIFIC_NODE_LOCAL (-1)
#define STARPU_SPECIFIC_NODE_CPU (-2)
#define STARPU_SPECIFIC_NODE_SLOW (-3)
#define STARPU_SPECIFIC_NODE_LOCAL_OR_CPU (-4)
#define STARPU_SPECIFIC_NODE_FAST (-5)

/* Tasks run by a team of threads: starpu_codelet.type. STARPU_SPMD functions find their number and the size of the team
 * by starpu_combined_worker_get_rank and starpu_combined_worker_get_size; docs/parallel.md tells how workers of several
 * cores are made. */
enum starpu_codelet_type { STARPU_SEQ = 0, STARPU_SPMD, STARPU_FORKJOIN };

struct starpu_perfmodel;

/* Zero or designated initialisers, as in StarPU. A codelet must exist as long as its tasks do. Heddle reads it when its
 * first task is submitted after starpu_init; a codelet whose functions, name, model or `where` change later must be
 * another codelet, or be initialised again by starpu_codelet_init. */
struct starpu_codelet {
	const char *name;
	struct starpu_perfmodel *model;
	/* how many data, and how each is used: modes, or dyn_modes if not NULL */
	int nbuffers;
	enum starpu_data_access_mode modes[STARPU_NMAXBUFS];
	enum starpu_data_access_mode *dyn_modes;
	/* the functions for each kind of worker; several are tried in turn, and the models choose */
	starpu_cpu_func_t cpu_funcs[STARPU_MAXIMPLEMENTATIONS];
	starpu_cuda_func_t cuda_funcs[STARPU_MAXIMPLEMENTATIONS];
	starpu_opencl_func_t opencl_funcs[STARPU_MAXIMPLEMENTATIONS];
	/* one function per kind: older fields */
	starpu_cpu_func_t cpu_func;
	starpu_cuda_func_t cuda_func;
	starpu_opencl_func_t opencl_func;
	const char *cpu_funcs_name[STARPU_MAXIMPLEMENTATIONS]; /* not used */
	char cuda_flags[STARPU_MAXIMPLEMENTATIONS], opencl_flags[STARPU_MAXIMPLEMENTATIONS];
	uint32_t where;
	/* whether implementation `nimpl` may run the task on the worker. Called for every worker when the task is
	 * submitted, and not while it is scheduled */
	int (*can_execute)(unsigned workerid, struct starpu_task *task, unsigned nimpl);
	enum starpu_codelet_type type;
	int max_parallelism;                   /* the largest team; 0: no limit */
	struct starpu_perfmodel *energy_model; /* not used */
	void (*callback_func)(void *);         /* of its tasks without a callback_func, with their callback_arg */
	int specific_nodes;
	int nodes[STARPU_NMAXBUFS];
	int *dyn_nodes;
	unsigned color; /* in charts: 0xRRGGBB */
	int flags, checked;
	/* Used by Heddle alone: the codelets of Heddle that stand for this codelet, and the number of the starpu_init
	 * for which they were made */
	void *heddle_made;
	unsigned long heddle_start;
};
/* The older way of saying that there are several functions. */
#define STARPU_MULTIPLE_CPU_IMPLEMENTATIONS ((starpu_cpu_func_t)-1)
#define STARPU_MULTIPLE_CUDA_IMPLEMENTATIONS ((starpu_cuda_func_t)-1)
#define STARPU_MULTIPLE_OPENCL_IMPLEMENTATIONS ((starpu_opencl_func_t)-1)

/* Clears a codelet, before its fields are set. */
void starpu_codelet_init(struct starpu_codelet *cl);
/* A codelet that does nothing, on any worker. */
extern struct starpu_codelet starpu_codelet_nop;

#define STARPU_CODELET_MODES_(cl) ((cl)->dyn_modes ? (cl)->dyn_modes : (cl)->modes)
#define STARPU_CODELET_GET_MODE(cl, i) (STARPU_CODELET_MODES_(cl)[i])
#define STARPU_CODELET_SET_MODE(cl, mode, i) ((void)(STARPU_CODELET_MODES_(cl)[i] = (mode)))
#define STARPU_CODELET_GET_NODE(cl, i) (((cl)->dyn_nodes ? (cl)->dyn_nodes : (cl)->nodes)[i])

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

typedef uint64_t starpu_tag_t;

enum starpu_task_status {
	STARPU_TASK_INVALID = 0, /* not submitted */
	STARPU_TASK_BLOCKED,     /* waits, or is ready: Heddle does not tell which */
	STARPU_TASK_READY,
	STARPU_TASK_RUNNING,
	STARPU_TASK_FINISHED
};
#define STARPU_TASK_INIT STARPU_TASK_INVALID

struct starpu_task {
	struct starpu_codelet *cl;
	const char *name;
	/* the data: handles, or dyn_handles if not NULL; modes, or dyn_modes, count if the codelet's nbuffers is
	 * STARPU_VARIABLE_NBUFFERS, and nbuffers with them */
	int nbuffers;
	starpu_data_handle_t handles[STARPU_NMAXBUFS];
	starpu_data_handle_t *dyn_handles;
	enum starpu_data_access_mode modes[STARPU_NMAXBUFS];
	enum starpu_data_access_mode *dyn_modes;
	void *cl_arg; /* given to the function; cl_arg_free: freed with the task */
	size_t cl_arg_size;
	/* called when the task has ended, by the thread that ended it; must not block */
	void (*callback_func)(void *);
	void *callback_arg;
	/* called before the task's function, by the thread that calls it */
	void (*prologue_callback_func)(void *);
	void *prologue_callback_arg;
	void (*prologue_callback_pop_func)(void *);
	void *prologue_callback_pop_arg;
	unsigned cl_arg_free : 1, callback_arg_free : 1, prologue_callback_arg_free : 1,
	    prologue_callback_pop_arg_free : 1;
	unsigned use_tag : 1;                      /* tag_id is the task's tag */
	unsigned sequential_consistency : 1;       /* 0: as if all its data had the flag 0 */
	unsigned synchronous : 1;                  /* starpu_task_submit waits for the end */
	unsigned execute_on_a_specific_worker : 1; /* `workerid` says which */
	unsigned detach : 1;                       /* 0: starpu_task_wait will be called */
	unsigned destroy : 1;                      /* freed at its end or, without `detach`, by starpu_task_wait */
	unsigned regenerate : 1;                   /* submitted again at its end */
	unsigned no_submitorder : 1, mf_skip : 1, possibly_parallel : 1; /* without effect */
	starpu_tag_t tag_id;
	/* workerorder, if not 0: the task comes after the one that has workerorder - 1 on this worker, which may be
	 * submitted later */
	unsigned workerid, workerorder;
	uint32_t *workerids; /* a set of workers, as bits; workerids_len words; 0: all */
	unsigned workerids_len;
	uint32_t where; /* replaces that of the codelet, if not 0 */
	int priority;
	enum starpu_task_status status;
	double flops;                                  /* not used */
	unsigned color;                                /* not used: the codelet has one */
	unsigned char *handles_sequential_consistency; /* one flag per datum, or NULL */
	unsigned char handles_sequential_consistency_free;
	unsigned sched_ctx, hypervisor_tag; /* not used */
	void *sched_data;                   /* the program's */
	void *profiling_info;               /* NULL */
	void *starpu_private;               /* Heddle's own */
};
/* The fields of a task that the program has not allocated by starpu_task_create. */
#define STARPU_TASK_INITIALIZER                          \
	{                                                \
		.sequential_consistency = 1, .detach = 1 \
	}

#define STARPU_TASK_GET_NBUFFERS(task) \
	((int)((task)->cl->nbuffers == STARPU_VARIABLE_NBUFFERS ? (task)->nbuffers : (task)->cl->nbuffers))
#define STARPU_TASK_HANDLES_(task) ((task)->dyn_handles ? (task)->dyn_handles : (task)->handles)
#define STARPU_TASK_GET_HANDLE(task, i) (STARPU_TASK_HANDLES_(task)[i])
#define STARPU_TASK_GET_HANDLES(task) STARPU_TASK_HANDLES_(task)
#define STARPU_TASK_SET_HANDLE(task, h, i) ((void)(STARPU_TASK_HANDLES_(task)[i] = (h)))
#define STARPU_TASK_GET_MODE(task, i)                                          \
	((task)->cl->nbuffers == STARPU_VARIABLE_NBUFFERS || (task)->dyn_modes \
	     ? ((task)->dyn_modes ? (task)->dyn_modes : (task)->modes)[i]      \
	     : STARPU_CODELET_GET_MODE((task)->cl, i))
#define STARPU_TASK_SET_MODE(task, m, i)                                                 \
	((void)((task)->cl->nbuffers == STARPU_VARIABLE_NBUFFERS || (task)->dyn_modes    \
	            ? (((task)->dyn_modes ? (task)->dyn_modes : (task)->modes)[i] = (m)) \
	            : (STARPU_CODELET_MODES_((task)->cl)[i] = (m))))

/* Makes a task, with detach and destroy 1. */
struct starpu_task *starpu_task_create(void) STARPU_ATTRIBUTE_MALLOC;
/* A task without a function that ends when the tags, and the tasks that use the handles, have ended. */
struct starpu_task *starpu_task_create_sync(starpu_data_handle_t handle, enum starpu_data_access_mode mode);
void starpu_create_sync_task(starpu_tag_t sync_tag, unsigned n, starpu_tag_t *deps, void (*callback)(void *),
                             void *arg);
/* Frees a task that was made by starpu_task_create, and has ended or was not submitted. */
void starpu_task_destroy(struct starpu_task *task);
/* Sets the fields of a task in memory of the program (detach 1, destroy 0); starpu_task_clean frees what Heddle keeps
 * for it, after its end. */
void starpu_task_init(struct starpu_task *task);
void starpu_task_clean(struct starpu_task *task);
/* A copy of the task's description, not submitted. */
struct starpu_task *starpu_task_dup(struct starpu_task *task);
void starpu_task_set_destroy(struct starpu_task *task);

/* Submits the task. 0; -ENODEV: no worker can run it; -ENOMEM; -EINVAL: Heddle refuses it, and heddle_last_error says
 * why. A task that has ended may be submitted again if it was not destroyed. Waits if the window of unfinished tasks is
 * full. */
int starpu_task_submit(struct starpu_task *task);
int starpu_task_submit_to_ctx(struct starpu_task *task, unsigned sched_ctx_id);
/* Waits until the task, which has detach 0, and its callback have ended. -EINVAL: the task has detach 1 or was
 * submitted synchronously. */
int starpu_task_wait(struct starpu_task *task);
int starpu_task_wait_array(struct starpu_task **tasks, unsigned n);
/* Whether a task that will not be destroyed has ended. */
int starpu_task_finished(struct starpu_task *task);
/* Waits for all tasks and reductions. 0; -EIO: a task has failed, and heddle_last_error says which. */
int starpu_task_wait_for_all(void);
int starpu_task_wait_for_all_in_ctx(unsigned sched_ctx_id);
/* Waits for all tasks, whatever n is. */
int starpu_task_wait_for_n_submitted(unsigned n);
int starpu_task_wait_for_no_ready(void);
/* How many tasks are unfinished. */
int starpu_task_nsubmitted(void);
/* These tell Heddle what it does anyway. */
void starpu_do_schedule(void);
void starpu_drivers_preinit(void);
void starpu_iteration_push(unsigned long iteration);
void starpu_iteration_pop(void);
/* The task whose function or callback the thread runs; NULL: none. */
struct starpu_task *starpu_task_get_current(void);
const char *starpu_task_get_name(struct starpu_task *task);
const char *starpu_task_get_model_name(struct starpu_task *task);
/* Numbers of submitted tasks. */
unsigned long starpu_task_get_job_id(struct starpu_task *task);
/* The memory node of datum i of the running task. */
int starpu_task_get_current_data_node(unsigned i);
/* Bundles: accepted, without effect, since policies place tasks by where their data are. */
typedef struct starpu_task_bundle *starpu_task_bundle_t;
void starpu_task_bundle_create(starpu_task_bundle_t *bundle);
int starpu_task_bundle_insert(starpu_task_bundle_t bundle, struct starpu_task *task);
int starpu_task_bundle_remove(starpu_task_bundle_t bundle, struct starpu_task *task);
void starpu_task_bundle_close(starpu_task_bundle_t bundle);

/* --- Explicit dependencies ---------------------------------------------------------------------------------------- */

/* `task`, which has not been submitted, also waits for the tasks of the array, which may be submitted before or later.
 * A dependency counts at every submission of `task`, once per end of the other. The other tasks must not have been
 * destroyed. */
void starpu_task_declare_deps_array(struct starpu_task *task, unsigned n, struct starpu_task *tasks[]);
void starpu_task_declare_deps(struct starpu_task *task, unsigned n, ...);
/* `task` ends only when the other tasks have ended, too: its data stay its own until then. */
void starpu_task_declare_end_deps_array(struct starpu_task *task, unsigned n, struct starpu_task *tasks[]);
void starpu_task_declare_end_deps(struct starpu_task *task, unsigned n, ...);
/* The same, by counting: the task ends after as many calls of starpu_task_end_dep_release. */
void starpu_task_end_dep_add(struct starpu_task *task, int n);
void starpu_task_end_dep_release(struct starpu_task *task);
/* Tags: names of tasks that may be given before the tasks exist. The task with the tag `id` waits for those with the
 * other tags; a tag that belongs to no task ends by starpu_tag_notify_from_apps. */
void starpu_tag_declare_deps(starpu_tag_t id, unsigned n, ...);
void starpu_tag_declare_deps_array(starpu_tag_t id, unsigned n, starpu_tag_t *tags);
/* In virtual time, waits for all tasks. */
int starpu_tag_wait(starpu_tag_t id);
int starpu_tag_wait_array(unsigned n, starpu_tag_t *ids);
void starpu_tag_notify_from_apps(starpu_tag_t id);
/* As starpu_tag_notify_from_apps, but the tag has not ended and may be notified again. */
void starpu_tag_notify_restart_from_apps(starpu_tag_t id);
/* A tag that has ended is as if it had not. */
void starpu_tag_restart(starpu_tag_t id);
/* Forgets the tag. */
void starpu_tag_remove(starpu_tag_t id);
/* The task with the tag that was submitted last, until it is destroyed; NULL: none. */
struct starpu_task *starpu_tag_get_task(starpu_tag_t id);

#ifdef __cplusplus
}
#endif
#endif
