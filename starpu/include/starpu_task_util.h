/* Tasks in one call: starpu_task_insert; and arguments of kernels in one block of memory. */
#ifndef HEDDLE_STARPU_TASK_UTIL_H
#define HEDDLE_STARPU_TASK_UTIL_H

#include <stdarg.h>
#include <starpu_task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of starpu_task_insert after the codelet: a mode and a handle; or one of these and what its line names;
 * at the end 0. Their numbers are ints above every mode. */
enum {
	STARPU_VALUE_ = 0x1000,
	STARPU_CALLBACK_,
	STARPU_CALLBACK_WITH_ARG_,
	STARPU_CALLBACK_WITH_ARG_NFREE_,
	STARPU_CALLBACK_ARG_,
	STARPU_CALLBACK_ARG_NFREE_,
	STARPU_PROLOGUE_CALLBACK_,
	STARPU_PROLOGUE_CALLBACK_ARG_,
	STARPU_PROLOGUE_CALLBACK_ARG_NFREE_,
	STARPU_PROLOGUE_CALLBACK_POP_,
	STARPU_PROLOGUE_CALLBACK_POP_ARG_,
	STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE_,
	STARPU_PRIORITY_,
	STARPU_DATA_ARRAY_,
	STARPU_DATA_MODE_ARRAY_,
	STARPU_TAG_,
	STARPU_TAG_ONLY_,
	STARPU_FLOPS_,
	STARPU_EXECUTE_ON_WORKER_,
	STARPU_EXECUTE_WHERE_,
	STARPU_WORKER_ORDER_,
	STARPU_NAME_,
	STARPU_CL_ARGS_,
	STARPU_CL_ARGS_NFREE_,
	STARPU_TASK_COLOR_,
	STARPU_TASK_SYNCHRONOUS_,
	STARPU_TASK_DEPS_ARRAY_,
	STARPU_TASK_END_DEPS_ARRAY_,
	STARPU_TASK_END_DEP_,
	STARPU_SEQUENTIAL_CONSISTENCY_,
	STARPU_HANDLES_SEQUENTIAL_CONSISTENCY_,
	STARPU_POSSIBLY_PARALLEL_,
	STARPU_TASK_NO_SUBMITORDER_,
	STARPU_SCHED_CTX_,
	STARPU_HYPERVISOR_TAG_
};
#define STARPU_VALUE STARPU_VALUE_                         /* address, size: copied into cl_arg */
#define STARPU_CALLBACK STARPU_CALLBACK_                   /* function */
#define STARPU_CALLBACK_WITH_ARG STARPU_CALLBACK_WITH_ARG_ /* function, argument that is freed */
#define STARPU_CALLBACK_WITH_ARG_NFREE STARPU_CALLBACK_WITH_ARG_NFREE_
#define STARPU_CALLBACK_ARG STARPU_CALLBACK_ARG_
#define STARPU_CALLBACK_ARG_NFREE STARPU_CALLBACK_ARG_NFREE_
#define STARPU_PROLOGUE_CALLBACK STARPU_PROLOGUE_CALLBACK_
#define STARPU_PROLOGUE_CALLBACK_ARG STARPU_PROLOGUE_CALLBACK_ARG_
#define STARPU_PROLOGUE_CALLBACK_ARG_NFREE STARPU_PROLOGUE_CALLBACK_ARG_NFREE_
#define STARPU_PROLOGUE_CALLBACK_POP STARPU_PROLOGUE_CALLBACK_POP_
#define STARPU_PROLOGUE_CALLBACK_POP_ARG STARPU_PROLOGUE_CALLBACK_POP_ARG_
#define STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE_
#define STARPU_PRIORITY STARPU_PRIORITY_                   /* int */
#define STARPU_DATA_ARRAY STARPU_DATA_ARRAY_               /* array of handles, int: how many */
#define STARPU_DATA_MODE_ARRAY STARPU_DATA_MODE_ARRAY_     /* array of struct starpu_data_descr, int */
#define STARPU_TAG STARPU_TAG_                             /* starpu_tag_t */
#define STARPU_TAG_ONLY STARPU_TAG_ONLY_                   /* a tag for traces: without effect */
#define STARPU_FLOPS STARPU_FLOPS_                         /* double */
#define STARPU_EXECUTE_ON_WORKER STARPU_EXECUTE_ON_WORKER_ /* int; -1: any */
#define STARPU_EXECUTE_WHERE STARPU_EXECUTE_WHERE_         /* unsigned long long */
#define STARPU_WORKER_ORDER STARPU_WORKER_ORDER_           /* unsigned */
#define STARPU_NAME STARPU_NAME_                           /* string, which the task borrows */
#define STARPU_CL_ARGS STARPU_CL_ARGS_                     /* address that is freed, size_t */
#define STARPU_CL_ARGS_NFREE STARPU_CL_ARGS_NFREE_
#define STARPU_TASK_COLOR STARPU_TASK_COLOR_             /* int */
#define STARPU_TASK_SYNCHRONOUS STARPU_TASK_SYNCHRONOUS_ /* int */
#define STARPU_TASK_DEPS_ARRAY STARPU_TASK_DEPS_ARRAY_   /* unsigned, array of tasks */
#define STARPU_TASK_END_DEPS_ARRAY STARPU_TASK_END_DEPS_ARRAY_
#define STARPU_TASK_END_DEP STARPU_TASK_END_DEP_                                     /* int */
#define STARPU_SEQUENTIAL_CONSISTENCY STARPU_SEQUENTIAL_CONSISTENCY_                 /* unsigned */
#define STARPU_HANDLES_SEQUENTIAL_CONSISTENCY STARPU_HANDLES_SEQUENTIAL_CONSISTENCY_ /* array of unsigned char */
#define STARPU_POSSIBLY_PARALLEL STARPU_POSSIBLY_PARALLEL_                           /* unsigned: without effect */
#define STARPU_TASK_NO_SUBMITORDER STARPU_TASK_NO_SUBMITORDER_                       /* unsigned: without effect */
#define STARPU_SCHED_CTX STARPU_SCHED_CTX_                                           /* unsigned: without effect */
#define STARPU_HYPERVISOR_TAG STARPU_HYPERVISOR_TAG_                                 /* int: without effect */

/* Makes a task from its arguments and submits it. The results are those of starpu_task_submit; -EINVAL also: an
 * argument is none of the above. */
int starpu_task_insert(struct starpu_codelet *cl, ...);
#define starpu_insert_task starpu_task_insert
/* Makes a task from its arguments, for starpu_task_submit; STARPU_TASK_SYNCHRONOUS counts when the task is submitted.
 * NULL on an error. */
struct starpu_task *starpu_task_build(struct starpu_codelet *cl, ...);
struct starpu_task *starpu_task_build_v(struct starpu_codelet *cl, va_list arguments);
/* Set the arguments of a task that exists. */
int starpu_task_set(struct starpu_task *task, struct starpu_codelet *cl, ...);
/* Adds data to a task, for bindings that make tasks piece by piece; `room` and `n` are the program's counters, both 0
 * at first. */
void starpu_task_insert_data_make_room(struct starpu_codelet *cl, struct starpu_task *task, int *room, int n,
                                       int room_needed);
void starpu_task_insert_data_process_arg(struct starpu_codelet *cl, struct starpu_task *task, int *room, int *n,
                                         int mode, starpu_data_handle_t handle);
void starpu_task_insert_data_process_array_arg(struct starpu_codelet *cl, struct starpu_task *task, int *room, int *n,
                                               int n_handles, starpu_data_handle_t *handles);
void starpu_task_insert_data_process_mode_array_arg(struct starpu_codelet *cl, struct starpu_task *task, int *room,
                                                    int *n, int n_descrs, struct starpu_data_descr *descrs);

/* Values in one block: STARPU_VALUE, address, size, ..., 0 makes a block, which the caller frees. In a kernel,
 * starpu_codelet_unpack_args(cl_arg, &a, &b, ...) copies the values out, in order; a NULL address passes one over, and
 * 0 values at the end may be left out by an address of 0. */
void starpu_codelet_pack_args(void **block, size_t *size, ...);
void starpu_codelet_unpack_args(void *cl_arg, ...);
/* As starpu_codelet_unpack_args; the values that are left go to `rest`, of `size` bytes, as a block. */
void starpu_codelet_unpack_args_and_copyleft(void *cl_arg, void *rest, size_t size, ...);

/* One value after the other. */
struct starpu_codelet_pack_arg_data {
	char *arg_buffer;
	size_t arg_buffer_size, arg_buffer_used;
	int nargs;
};
void starpu_codelet_pack_arg_init(struct starpu_codelet_pack_arg_data *state);
void starpu_codelet_pack_arg(struct starpu_codelet_pack_arg_data *state, const void *value, size_t size);
/* Gives the block to the caller. */
void starpu_codelet_pack_arg_fini(struct starpu_codelet_pack_arg_data *state, void **block, size_t *size);

struct starpu_codelet_unpack_arg_data; /* none: see starpu_codelet_unpack_args */

#ifdef __cplusplus
}
#endif
#endif
