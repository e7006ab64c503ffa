/* Tasks that end by an event, later than their kernel: a file has been read, a message has come, a device has
 * signalled.
 *
 * The kernel asks for an event with heddle_detach, hands the event to the thread that will learn of the end of the
 * work, and returns. From then on the worker runs other tasks. The task ends when heddle_fulfill is called for the
 * event, by any thread:
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
 * Until the task ends it keeps its data, and its turn among tasks that commute: the addresses that heddle_ptr and
 * heddle_value_ptr have given stay valid, the data stay where they are, and later tasks on the data, heddle_acquire,
 * heddle_unregister, heddle_task_wait, heddle_wait_all and heddle_stop wait. The kernel's context is valid until the
 * kernel returns, as in other kernels.
 *
 * The task counts in the window (the setting `window`), which so limits the number of operations under way. A thread
 * that is to fulfill an event must not wait for the task before, nor call heddle_submit, which waits while the window
 * is full. The thread may submit afterwards, or from a callback of the task.
 *
 * When the device of the task is lost (HEDDLE_E_DEVICE) before an event is fulfilled, no task waits for the event any
 * more: the task is run again by another worker, or fails. The event must still be fulfilled, before heddle_stop, which
 * does not wait for this event; fulfilling it has no effect and is no error.
 *
 * An external task (heddle_outside) has no kernel: it is nothing but its event, which its function gets. All that this
 * header says holds for it, too.
 *
 * Every event must be fulfilled exactly once, whatever happens, or waits for the task never end. An unfulfilled event
 * is never reported as a deadlock, because a thread may still fulfill it. The watchdog and heddle_dump name such
 * tasks. */
#ifndef HEDDLE_EVENT_H
#define HEDDLE_EVENT_H

#include <heddle/task.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_event heddle_event;

/* Makes an event of the task. To be called by a kernel, in its own thread, before the kernel returns. The task then
 * ends when the kernel has returned and the event is fulfilled. Each further call makes one more event; the task ends
 * when all its events are fulfilled, in any order.
 *
 * If the kernel returns an error, the task has failed, but still ends only when all its events are fulfilled, because
 * operations that the kernel has started may still use the data. A kernel that fails before it has handed an event on
 * fulfills the event itself, before it returns.
 *
 * The event belongs to the caller until heddle_fulfill or heddle_event_fail. NULL on an error; then no event was made,
 * and the kernel may do its work synchronously or fail. HEDDLE_E_UNSUPPORTED: the task has SCRATCH or REDUX data, which
 * belong to the worker and are used by its next task; HEDDLE_E_MEMORY. */
heddle_event *heddle_detach(heddle_context *c);

/* Fulfills an event. `status` 0: the work has succeeded; otherwise the task fails as if its kernel had returned this
 * value: the data that the task writes have no value, and the tasks that need these data are cancelled. Of several
 * failures of a task, by its kernel and its events, the first counts.
 *
 * May be called by any thread, also from kernels and callbacks, of this task or another, before or after the kernel has
 * returned; but not from a policy, nor from a callback of CUDA or OpenCL, because this thread may allocate and free
 * memory of devices: use heddle_cuda_then and heddle_opencl_then there. If the task ends now, this thread calls the
 * task's callback, and the callbacks of following tasks without a codelet; apart from these callbacks, the function
 * does not block. Afterwards the event does not exist any more.
 *
 * HEDDLE_E_INVALID: `event` is NULL. HEDDLE_E_STATE: the event was fulfilled before; this call has no effect. This
 * error is detected only until a later heddle_detach has got the same event, or the runtime has been stopped. */
int heddle_fulfill(heddle_event *event, int status);

/* Virtual time: fulfills an event when the clock comes to `time` us, on the clock of heddle_now; at once if that is now
 * or over. Until then the event counts as fulfilled: no other call may name it. May be called by any thread.
 * HEDDLE_E_UNSUPPORTED: the runtime is not in virtual time; HEDDLE_E_INVALID: `event` is NULL, or `time` is NAN or
 * infinite; HEDDLE_E_STATE: the event was fulfilled before; HEDDLE_E_MEMORY. After an error the event is as it was. */
int heddle_fulfill_at(heddle_event *event, int status, double time);

/* Fulfills an event with a failure and the reason: the sentence (printf-like, copied) becomes the error message of the
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
