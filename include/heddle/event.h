/* Tasks that end by an event, later than their kernel: a file has been read, a message has come, a device has
 * signalled.
 *
 * The kernel asks for an event with heddle_detach, hands it to whoever will know when the work is done, and returns.
 * Its worker runs other tasks from then on. The task ends when heddle_fulfill is called for the event, by any thread:
 *
 *   static int read_block(heddle_context *c)
 *   {
 *           struct request *r = request_new(heddle_ptr(c, 0), heddle_get(c, 0, off_t));
 *           r->event = heddle_detach(c);
 *           if (!r->event)
 *                   return heddle_fail(c, -1, "%s", heddle_last_error());
 *           request_start(r, on_read);                      // returns at once
 *           return 0;
 *   }
 *   static void on_read(struct request *r, int error)       // later, in a thread of the program
 *   {
 *           heddle_fulfill(r->event, error);
 *   }
 *
 * Until the task ends it keeps its data, also its turn among those that commute: the addresses that heddle_ptr and
 * heddle_value_ptr gave stay valid, the data stay where they are, and everything that needs them waits: later tasks,
 * heddle_acquire, heddle_unregister, heddle_task_wait, heddle_wait_all, heddle_stop. The kernel's context is not valid
 * any longer than in other kernels.
 *
 * The task counts in the window (the setting `window`), which so limits how much is under way. A thread that is to
 * fulfill an event must not wait for the task before: not by heddle_submit either, which waits while the window is
 * full. It may submit afterwards, or from a callback of the task.
 *
 * When the device of the task is lost (HEDDLE_E_DEVICE) before an event is fulfilled, nothing waits for the event any
 * more: the task is run again by another worker, or fails. To fulfill the event is no error then, and has no effect,
 * but it must still be done, before heddle_stop, which does not wait for it.
 *
 * Every event must be fulfilled exactly once, whatever happens, or all those waits never end. An unfulfilled event is
 * never reported as a deadlock, because a thread may still fulfill it. The watchdog and heddle_dump name such tasks. */
#ifndef HEDDLE_EVENT_H
#define HEDDLE_EVENT_H

#include <heddle/task.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_event heddle_event;

/* To be called by a kernel, in its own thread, before it returns. The task then ends when the kernel has returned and
 * the event is fulfilled. Called again: one more event, and the task ends when all of them are fulfilled, in any order.
 *
 * If the kernel returns an error, the task has failed, but it still ends only when all its events are fulfilled: what
 * was started may still use the data. The kernel may fulfill, before it returns, an event that nobody else will.
 *
 * The event belongs to the caller until heddle_fulfill or heddle_event_fail. NULL on an error; then no event was made,
 * and the kernel may do its work itself or fail. HEDDLE_E_UNSUPPORTED: the task has SCRATCH or REDUX data, which
 * belong to the worker and are used by its next task; HEDDLE_E_MEMORY. */
heddle_event *heddle_detach(heddle_context *c);

/* The event has happened. `status` 0: well; otherwise the task fails as if its kernel had returned this value: the data
 * that it writes have no value, the tasks that need them are cancelled. Of several failures of a task, kernel and
 * events, the first counts.
 *
 * May be called by any thread, also from kernels and callbacks, of this task or another, before or after the kernel has
 * returned. Not from a policy; and not from a callback of CUDA or OpenCL, because this thread may allocate and free
 * memory of devices: heddle_cuda_then and heddle_opencl_then are for that. If the task ends now, this thread calls its
 * callback, and those of tasks without a codelet that follow; but for what these do, the function does not block. The
 * event is void afterwards.
 *
 * HEDDLE_E_INVALID: `event` is NULL. HEDDLE_E_STATE: the event was fulfilled before, and nothing has happened now. This
 * is noticed as long as no later heddle_detach has got the same event and the runtime has not been stopped. */
int heddle_fulfill(heddle_event *event, int status);

/* Fulfills an event with a failure and its reason: the sentence (printf-like, copied) becomes the error message of the
 * wait, as with heddle_fail. `status` 0 counts as -1. */
int heddle_event_fail(heddle_event *event, int status, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#ifdef __cplusplus
}
#endif
#endif
