/* What the files of libheddle-starpu know of each other. */
#ifndef HD_STARPU_INTERNAL_H
#define HD_STARPU_INTERNAL_H

#include <heddle.h>
#include <pthread.h>
#include <stdbool.h>
#include <starpu.h>

/* --- The runtime (runtime.c) -------------------------------------------------------------------------------------- */

/* The runtime of the process: StarPU's interface has one. Set by starpu_init and cleared by starpu_shutdown, whose
 * caller must not use other functions at the same time. */
extern heddle_runtime *hd_starpu_runtime;
/* The number of this start of the runtime: what was made for an earlier one is gone. */
extern unsigned long hd_starpu_start;
/* 1: no kernel is run. */
extern int hd_starpu_virtual;

/* Writes a line with Heddle's sentence to standard error, and returns the error of errno.h that stands for `status`; 0:
 * nothing is written, and 0 returned. */
int hd_starpu_complain(const char *function, int status);
/* The error of errno.h, negative, that stands for a status. */
int hd_starpu_errno(int status);
/* Fills the configuration from the environment STARPU_... (environment.c). */
void hd_starpu_environment(const struct starpu_conf *conf, struct heddle_config *config);
/* Ends the lists that outlive a task: tags and handles. */
void hd_starpu_forget_tags(void);
void hd_starpu_forget_handles(void);
void hd_starpu_forget_children(void);
void hd_starpu_forget_codelets(void);
/* Bytes that starpu_malloc_flags has counted. */
size_t hd_starpu_counted(void);
/* Unpins what starpu_malloc has pinned. */
void hd_starpu_unpin_all(void);

/* --- What a thread runs (task.c) ---------------------------------------------------------------------------------- */

struct hd_starpu_here {
	struct starpu_task *task; /* whose function or callback the thread runs */
	heddle_context *context;  /* of the kernel; NULL: none runs */
	int worker;               /* -1: none */
	struct hd_gate *acquired; /* the access whose callback the thread runs, until it is released */
};
extern _Thread_local struct hd_starpu_here hd_starpu_here;

/* --- Kinds of data (kinds.c) -------------------------------------------------------------------------------------- */

union hd_interface {
	enum starpu_data_interface_id id;
	struct starpu_variable_interface variable;
	struct starpu_vector_interface vector;
	struct starpu_matrix_interface matrix;
	struct starpu_block_interface block;
	struct starpu_tensor_interface tensor;
	struct starpu_csr_interface csr;
	struct starpu_bcsr_interface bcsr;
	struct starpu_coo_interface coo;
};

/* The shape of a dense kind: its extents and where it keeps its address. */
struct hd_shape {
	unsigned n_dims;
	size_t n[HEDDLE_MAX_DIMS], ld[HEDDLE_MAX_DIMS], elem_size;
	uintptr_t address;
};
struct hd_kind {
	enum starpu_data_interface_id id;
	/* how many parts of a Heddle datum it is, and the address of each in the structure */
	unsigned n_parts;
	size_t address[3];
	/* kinds that filters know; NULL for the others */
	void (*shape)(const union hd_interface *interface, struct hd_shape *out);
	/* writes the address and the strides of part 0: ld[1 ...] */
	void (*place)(union hd_interface *interface, uintptr_t address, const size_t *ld);
};
/* NULL: a kind of the program. */
const struct hd_kind *hd_kind_of(enum starpu_data_interface_id id);

/* --- Handles (handle.c) ------------------------------------------------------------------------------------------- */

struct starpu_data_state {
	heddle_data *data;
	const struct hd_kind *kind;
	/* of a datum whose kind is the program's: its functions, and the copy in main memory (own_kinds.c) */
	struct starpu_data_interface_ops *ops;
	struct hd_object *object;
	char *registering; /* structures for each node, while ops->register_data_handle is called */
	/* what kernels see; the addresses are those of the program's buffer */
	union hd_interface interface;
	/* of a child: which dimension of the root's array each dimension of the child is */
	unsigned char dim_of[HEDDLE_MAX_DIMS];
	union hd_interface shown; /* for starpu_data_get_interface_on_node */
	bool has_buffer;          /* the program has given one */
	/* Whether a task that was submitted gives it a value. Changed by threads that submit: two that submit at the
	 * same time to one handle have no order anyway, so relaxed accesses do. */
	_Atomic bool has_value;
	_Atomic unsigned char unordered; /* 1: its accesses are not ordered */
	/* Unordered tasks take turns at a datum, in any order: they commute on this one. NULL: none has used it so */
	_Atomic(heddle_data *) turns;
	bool has_plans; /* so that Heddle has no unordered accesses to it */
	struct starpu_codelet *init, *redux;
	/* of the last plan made by starpu_data_partition; of a child: the parent */
	heddle_plan *plan;
	struct starpu_data_state **children, *parent;
	heddle_plan *of_plan; /* of a child of starpu_data_partition_plan: its plan */
	unsigned n_children;
	void *user, *sched;
	/* accesses by starpu_data_acquire_cb that are not released; and how many by starpu_data_acquire (acquire.c) */
	struct hd_gate *held;
	unsigned n_acquired;
	struct starpu_data_state *next, *previous; /* the list of all roots */
};

/* Makes a handle without a datum; NULL: no memory. */
struct starpu_data_state *hd_handle_new(enum starpu_data_interface_id kind);
/* Makes the handle of a child of `parent`; NULL: no memory. */
struct starpu_data_state *hd_handle_child(struct starpu_data_state *parent, enum starpu_data_interface_id kind);
void hd_handle_free(struct starpu_data_state *handle);
/* Frees the children of a plan that has ended, and the list, when the tasks submitted so far cannot use them. */
void hd_children_free_later(struct starpu_data_state **children, unsigned n);
/* Returns what a kernel sees of datum i: *out, which is filled, or a structure of the program's kind. */
void *hd_handle_show(const struct starpu_data_state *handle, const heddle_context *c, size_t i,
                     union hd_interface *out);
/* Has the datum initialised before a task uses it in this mode, if nothing has given it a value and there is an init
 * codelet. Returns a status of Heddle. */
int hd_handle_prepare(struct starpu_data_state *handle, enum starpu_data_access_mode mode);
/* Writes the items of a task that names the datum in this mode, and returns how many; on an error 0, with a status. */
#define HD_ITEMS_OF_DATUM 2
size_t hd_handle_items(struct starpu_data_state *handle, enum starpu_data_access_mode mode, bool unordered,
                       struct heddle_item *items, int *status);

/* Ends the registration that `status` tells of: lists the handle or, after an error, frees it; puts it into *out. */
void hd_handle_registered(const char *function, struct starpu_data_state *handle, int status,
                          starpu_data_handle_t *out);

/* --- Kinds of the program (own_kinds.c) --------------------------------------------------------------------------- */

/* A copy of a datum of the program's kind: its structure follows. */
struct hd_object {
	struct starpu_data_state *handle;
	_Alignas(max_align_t) char interface[];
};
/* Frees the copy in main memory. */
void hd_object_free(struct starpu_data_state *handle);

/* --- Codelets (codelet.c) ----------------------------------------------------------------------------------------- */

/* The Heddle codelet for tasks of `cl` on the workers of the kinds `where` (0: the codelet's) or, if `workers` is not
 * NULL, on these: `words` words of bits. NULL: Heddle's error. */
heddle_codelet *hd_codelet(struct starpu_codelet *cl, uint32_t where, const uint32_t *workers, unsigned words);
/* Sets the reduction of a datum. */
int hd_codelet_reduction(struct starpu_data_state *handle);
/* The codelet that gives a datum a value. NULL: Heddle's error. */
heddle_codelet *hd_codelet_init_of(struct starpu_data_state *handle);

/* The name under which the platform of virtual time has times for a model, which may be written to `room` (names.c). */
const char *hd_starpu_kernel_name(const char *model, char *room, size_t size);

/* --- Tasks (task.c) ----------------------------------------------------------------------------------------------- */

struct hd_gate;
/* A place in the graph of explicit dependencies (dependencies.c): of a task, of a task's end, or of a tag. */
struct hd_node {
	struct hd_node **successors;
	unsigned n_successors, room;
	unsigned n_needed, n_met; /* ends for which it waits at each round, and how many have come in this round */
	bool done;
	struct hd_gate *waiting; /* opened when all have come; NULL: nothing waits */
};

/* What Heddle keeps of a task. */
struct hd_job {
	struct starpu_task *task;
	heddle_task *reference; /* for starpu_task_wait */
	heddle_task *late;      /* for starpu_task_wait, too: the gate of a task that comes to Heddle later */
	struct hd_node node, end;
	unsigned long number;
	int worker;         /* that ran it; -1: none */
	bool on_heap;       /* the task and the job are one block of starpu_task_create */
	_Atomic bool ended; /* read by starpu_task_finished: release after the callback, acquire there */
};
/* The job of a task; made if there is none. NULL: no memory. */
struct hd_job *hd_job_of(struct starpu_task *task);
/* Runs the task's function with the data of the context: called by kernels. */
int hd_job_run(heddle_context *c, starpu_cpu_func_t function);

/* --- Explicit dependencies (dependencies.c) ----------------------------------------------------------------------- */

/* A Heddle task without a kernel that ends when it has been opened `needed` times; later tasks of Heddle wait for it.
 */
struct hd_gate {
	unsigned needed;
	heddle_event *event;             /* once the gate's turn has come */
	void (*begin)(struct hd_gate *); /* called then, without a lock; NULL: nothing is called */
	void *arg;
	void (*met)(struct hd_gate *); /* see hd_gate_call_when_met; NULL: nothing is called */
	int tried;                     /* of starpu_data_acquire_try: see acquire.c */
	void (*callback)(void *);
	struct starpu_data_state *handle;
	struct hd_gate *next;
};
struct hd_gate *hd_gate_new(unsigned needed);
/* Submits the gate's task, with the items of an access to a datum, if there are any, and puts a reference into *out,
 * if that is not NULL. */
int hd_gate_submit(struct hd_gate *gate, size_t n_items, const struct heddle_item *items, heddle_task **out);
void hd_gate_open(struct hd_gate *gate);
/* Has the gate, when its other openings have come, call f(gate), which opens it once more. */
void hd_gate_call_when_met(struct hd_gate *gate, void (*f)(struct hd_gate *));
/* Has `gate` wait for the event of a kernel's task. */
void hd_gate_begin(struct hd_gate *gate, heddle_event *event);

/* Begins a round of the job: returns a gate that opens when its dependencies are met; NULL: they are. *status: 0, or
 * HEDDLE_E_MEMORY. */
struct hd_gate *hd_dependencies_begin(struct hd_job *job, int *status);
/* In the kernel of the job: detaches the task if its end waits for others. */
int hd_dependencies_end(heddle_context *c, struct hd_job *job);
/* The job has ended: from now on no dependency on it waits. */
void hd_dependencies_done(struct hd_job *job);
/* After its callback: tells the successors. */
void hd_dependencies_tell(struct hd_job *job);
void hd_dependencies_free(struct hd_job *job);

#endif
