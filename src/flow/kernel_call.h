/* Running kernels: what a kernel gets, and how it is called. */
#ifndef HD_CORE_KERNEL_CALL_H
#define HD_CORE_KERNEL_CALL_H

#include <stdint.h>
#include <heddle/task.h>

struct hd_worker;

/* Runs the task's kernel through the driver of a worker without streams, without the lock. Returns the task's status:
 * 0 or HEDDLE_E_KERNEL. */
int hd_run_kernel(struct hd_worker *w, heddle_task *t);
/* Calls c->kernel, in any thread, and notes what it returns in c->returned. Returns 0 or HEDDLE_E_KERNEL. A driver with
 * streams is given this as the kernel: so a kernel that fails can be told from a device that fails. */
int hd_call_kernel(heddle_context *c);
/* Takes the first private copy of a reduction that is not neutral yet, from access *i of the task on, and moves *i
 * behind it: c->only and c->kernel become those of its init kernel. Returns the codelet of that kernel; NULL: there is
 * none. Without the lock. */
const heddle_codelet *hd_next_init(heddle_context *c, uint32_t *i);
/* Notes why a kernel of the task has failed with `status`: `init` is the codelet of the init kernel that failed, or
 * NULL. `by_device`: it is the driver that failed, with the sentence of heddle_last_error. Returns the task's status.
 * Without the lock. */
int hd_kernel_failed(const heddle_context *c, const heddle_codelet *init, int status, int by_device);

#endif
