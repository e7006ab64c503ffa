/* Running kernels: their arguments, and the call. */
#ifndef HD_FLOW_KERNEL_CALL_H
#define HD_FLOW_KERNEL_CALL_H

#include <stdint.h>
#include <heddle/task.h>

struct hd_worker;

/* Runs the task's kernel through the driver of a worker without streams. Returns the task's status: 0 or
 * HEDDLE_E_KERNEL. Called without the core lock. */
int hd_run_kernel(struct hd_worker *w, heddle_task *t);
/* Calls c->kernel, in any thread, and stores its result in c->returned. Returns 0 or HEDDLE_E_KERNEL. A driver with
 * streams gets this function as the kernel, so that a failing kernel can be told from a failing device. */
int hd_call_kernel(heddle_context *c);
/* Finds the first private copy of a reduction that has no neutral value yet, from access *i of the task on, and
 * advances *i past this access. Sets c->only and c->kernel for its init kernel. Returns the codelet of the init kernel;
 * NULL: there is no such replica. Called without the core lock. */
const heddle_codelet *hd_next_init(heddle_context *c, uint32_t *i);
/* Records why a kernel of the task has failed with `status`. `init`: the codelet of the failed init kernel, or NULL.
 * `by_device`: the driver has failed, and the thread's last error is its message. Returns the task's status. Called
 * without the core lock. */
int hd_kernel_failed(const heddle_context *c, const heddle_codelet *init, int status, int by_device);

#endif
