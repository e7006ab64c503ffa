/* Data handles: access modes, the end of data, acquire and release, hints. */
#ifndef HEDDLE_STARPU_DATA_H
#define HEDDLE_STARPU_DATA_H

#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct starpu_data_state *starpu_data_handle_t;
struct starpu_codelet;
struct starpu_task;

/* How a task uses a datum. STARPU_COMMUTE is added to STARPU_RW or STARPU_W. STARPU_LOCALITY, STARPU_SSEND,
 * STARPU_NOPLAN, STARPU_UNMAP and STARPU_NOFOOTPRINT are accepted and have no effect. */
enum starpu_data_access_mode {
	STARPU_NONE = 0,
	STARPU_R = 0x1,
	STARPU_W = 0x2,
	STARPU_RW = 0x3,
	STARPU_SCRATCH = 0x4,
	STARPU_REDUX = 0x8,
	STARPU_COMMUTE = 0x10,
	STARPU_LOCALITY = 0x20,
	STARPU_SSEND = 0x40,
	STARPU_NOFOOTPRINT = 0x80,
	STARPU_ACCESS_MODE_MAX = 0x100
};

/* A handle and a mode, for STARPU_DATA_MODE_ARRAY. */
struct starpu_data_descr {
	starpu_data_handle_t handle;
	enum starpu_data_access_mode mode;
};

/* A node of this number in place of a memory node: the value is not brought anywhere, or the node is left open. */
#define STARPU_ACQUIRE_NO_NODE (-1)
#define STARPU_ACQUIRE_NO_NODE_LOCK_ALL (-2)

/* Ends the handle: waits for the tasks that use the datum and brings the value into the program's buffer. Must not be
 * called while the calling thread has acquired the datum. */
void starpu_data_unregister(starpu_data_handle_t handle);
/* Ends the handle as starpu_data_unregister does: the value comes to the program's buffer here as well. */
void starpu_data_unregister_no_coherency(starpu_data_handle_t handle);
/* Ends the handle without waiting, after the last task that uses the datum. */
void starpu_data_unregister_submit(starpu_data_handle_t handle);

/* Nobody needs the value any more: starpu_data_invalidate waits for the tasks that use the datum,
 * starpu_data_invalidate_submit comes in the order of the submitted tasks. A task that reads the datum afterwards first
 * has the datum initialised, if starpu_data_set_reduction_methods has set an init codelet. */
void starpu_data_invalidate(starpu_data_handle_t handle);
void starpu_data_invalidate_submit(starpu_data_handle_t handle);

/* Lends the datum's buffer in main memory to the program: waits for the earlier tasks that conflict with `mode`.
 * 0; -EDEADLK: only the calling thread could end the wait; -ENODATA: the value was never computed. The functions with a
 * node wait in the same way and return the value in main memory, whatever the node. Not to be called in kernels and
 * callbacks. */
int starpu_data_acquire(starpu_data_handle_t handle, enum starpu_data_access_mode mode);
int starpu_data_acquire_on_node(starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode);
/* 0: acquired; otherwise the call would have had to wait. The answer may be "would wait" for a datum that nobody
 * uses while other tasks are unfinished. */
int starpu_data_acquire_try(starpu_data_handle_t handle, enum starpu_data_access_mode mode);
/* Calls callback(arg) when the datum is acquired, in a thread of Heddle or in the caller's; the callback, or whoever it
 * tells, calls starpu_data_release. In the order of the submitted tasks; does not wait. The callback must not block. */
int starpu_data_acquire_cb(starpu_data_handle_t handle, enum starpu_data_access_mode mode, void (*callback)(void *),
                           void *arg);
int starpu_data_acquire_on_node_cb(starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode,
                                   void (*callback)(void *), void *arg);
/* With sequential_consistency 0, the access does not wait for earlier tasks by their order: see
 * starpu_data_set_sequential_consistency_flag. */
int starpu_data_acquire_cb_sequential_consistency(starpu_data_handle_t handle, enum starpu_data_access_mode mode,
                                                  void (*callback)(void *), void *arg, int sequential_consistency);
int starpu_data_acquire_on_node_cb_sequential_consistency(starpu_data_handle_t handle, int node,
                                                          enum starpu_data_access_mode mode, void (*callback)(void *),
                                                          void *arg, int sequential_consistency);
/* Runs the statement `code` in a callback that ends with the release of the handle. A nested function of gcc: only in
 * C, and only while the calling function runs. */
#ifndef __cplusplus
#define STARPU_DATA_ACQUIRE_CB(handle, mode, code)                              \
	do {                                                                    \
		__extension__ void starpu_acquired_(void *arg)                  \
		{                                                               \
			code;                                                   \
			starpu_data_release((starpu_data_handle_t)arg);         \
		}                                                               \
		starpu_data_acquire_cb(handle, mode, starpu_acquired_, handle); \
	} while (0)
#endif
/* Gives the buffer back. */
void starpu_data_release(starpu_data_handle_t handle);
void starpu_data_release_on_node(starpu_data_handle_t handle, int node);

/* Begins a transfer of the value to a memory node, a hint. `async` 0 does not wait either, except for main memory. */
int starpu_data_prefetch_on_node(starpu_data_handle_t handle, unsigned node, unsigned async);
int starpu_data_fetch_on_node(starpu_data_handle_t handle, unsigned node, unsigned async);
int starpu_data_idle_prefetch_on_node(starpu_data_handle_t handle, unsigned node, unsigned async);
int starpu_data_request_allocation(starpu_data_handle_t handle, unsigned node);

/* Hints on copies: accepted, without effect, since Heddle evicts by the next use of data. starpu_data_evict_from_node
 * returns -1, which means "not evicted". */
void starpu_data_wont_use(starpu_data_handle_t handle);
void starpu_data_set_wt_mask(starpu_data_handle_t handle, uint32_t mask);
void starpu_data_set_ooc_flag(starpu_data_handle_t handle, unsigned flag);
unsigned starpu_data_get_ooc_flag(starpu_data_handle_t handle);
void starpu_data_advise_as_important(starpu_data_handle_t handle, unsigned is_important);
int starpu_data_evict_from_node(starpu_data_handle_t handle, unsigned node);
void starpu_data_set_coordinates(starpu_data_handle_t handle, unsigned n, ...);
void starpu_data_set_coordinates_array(starpu_data_handle_t handle, unsigned n, int coordinates[]);

/* Arbiters: accepted, without effect: Heddle takes the turns of all commuting data of a task at once, always. */
typedef struct starpu_arbiter *starpu_arbiter_t;
starpu_arbiter_t starpu_arbiter_create(void);
void starpu_arbiter_destroy(starpu_arbiter_t arbiter);
void starpu_data_assign_arbiter(starpu_data_handle_t handle, starpu_arbiter_t arbiter);

/* The kernels of STARPU_REDUX. `init_cl` (one datum, W) also gives a value to a datum that a task reads and none has
 * written; `redux_cl` (RW, R) adds a contribution, and may be NULL if no task uses STARPU_REDUX. Both need a CPU
 * function. Call it before tasks name the handle. */
void starpu_data_set_reduction_methods(starpu_data_handle_t handle, struct starpu_codelet *redux_cl,
                                       struct starpu_codelet *init_cl);

/* 0: the accesses to the datum neither wait for earlier tasks nor are waited for, as to order; the program orders its
 * tasks by explicit dependencies, and values still move where they are needed. The default is the flag of handles that
 * are registered later. */
void starpu_data_set_sequential_consistency_flag(starpu_data_handle_t handle, unsigned flag);
unsigned starpu_data_get_sequential_consistency_flag(starpu_data_handle_t handle);
unsigned starpu_data_get_default_sequential_consistency_flag(void);
void starpu_data_set_default_sequential_consistency_flag(unsigned flag);

/* A name, for traces and messages; `name` is copied. */
void starpu_data_set_name(starpu_data_handle_t handle, const char *name);
/* Two pointers of the program. */
void starpu_data_set_user_data(starpu_data_handle_t handle, void *user_data);
void *starpu_data_get_user_data(starpu_data_handle_t handle);
void starpu_data_set_sched_data(starpu_data_handle_t handle, void *sched_data);
void *starpu_data_get_sched_data(starpu_data_handle_t handle);

/* Copies the value of a datum to another of the same shape, in the order of the submitted tasks, on a CPU.
 * `asynchronous` 0: waits for the copy. callback(arg), if not NULL, is called after the copy. */
int starpu_data_cpy(starpu_data_handle_t to, starpu_data_handle_t from, int asynchronous, void (*callback)(void *),
                    void *arg);
int starpu_data_cpy_priority(starpu_data_handle_t to, starpu_data_handle_t from, int asynchronous,
                             void (*callback)(void *), void *arg, int priority);

/* Memory nodes: node STARPU_MAIN_RAM is main memory, then come the memories of devices. There is one node for main
 * memory, whatever the number of NUMA nodes. */
#define STARPU_MAIN_RAM 0
enum starpu_node_kind { STARPU_UNUSED = 0, STARPU_CPU_RAM, STARPU_CUDA_RAM, STARPU_OPENCL_RAM };
unsigned starpu_memory_nodes_get_count(void);
unsigned starpu_memory_nodes_get_numa_count(void);
enum starpu_node_kind starpu_node_get_kind(unsigned node);
int starpu_memory_node_get_name(unsigned node, char *name, size_t size);
unsigned starpu_worker_get_memory_node(unsigned workerid);
unsigned starpu_worker_get_local_memory_node(void);
/* Bytes: how much data may take on the node, takes now, may still take; -1: there is no limit. Main memory has the
 * limit STARPU_LIMIT_CPU_MEM or STARPU_LIMIT_CPU_NUMA_MEM, in MiB, which starpu_malloc heeds and the copies of data do
 * not. */
starpu_ssize_t starpu_memory_get_total(unsigned node);
size_t starpu_memory_get_used(unsigned node);
starpu_ssize_t starpu_memory_get_available(unsigned node);

#ifdef __cplusplus
}
#endif
#endif
