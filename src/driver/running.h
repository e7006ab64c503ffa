/* The kernel of a device with streams that the calling thread runs, and the common parts of the functions of
 * heddle/cuda.h and heddle/opencl.h: they find this kernel, make it fail, and keep pointers for its stream. They find
 * the kernel by the thread, not by the context, so that they notice when a program calls them in a wrong thread. */
#ifndef HD_DRIVER_RUNNING_H
#define HD_DRIVER_RUNNING_H

#include <heddle/driver.h>
#include "base/base.h"
#include "driver/later.h"

/* The list of the pointers that libraries keep for a stream: heddle_cuda_slot, heddle_opencl_slot. NULL: the list is
 * empty. */
struct hd_kept_slot;

struct hd_running {
	const char *kind; /* "CUDA" or "OpenCL" */
	heddle_context *context;
	void *device, *stream, *operation;
	struct hd_later **later;     /* functions to call when the kernel's work has ended */
	struct hd_kept_slot **slots; /* pointers that libraries keep for the stream */
	/* HEDDLE_E_DEVICE: a function that the kernel has called has found the device lost; or 0 */
	int lost;
	struct hd_sentence why; /* the error of this function */
};

/* Runs the kernel's function and returns its status; HEDDLE_E_DEVICE, with a message, if a call in the function has
 * found that the device is lost. */
int hd_running_call(struct hd_running *r, heddle_kernel kernel);
/* The kernel of this kind that the calling thread runs with context `c`. NULL: the thread runs no such kernel, and the
 * message names `function`, the public function that was called. */
struct hd_running *hd_running_find(const heddle_context *c, const char *kind, const char *function);
/* If `status` is not 0, makes the kernel fail with this status; the thread's last error is the explanation. Returns
 * `status`. */
int hd_running_fail(struct hd_running *r, int status);
/* The stream's pointer for `key`, at first NULL; closing the stream calls `destroy` with it. NULL: error, or `r` is
 * NULL. */
void **hd_running_slot(struct hd_running *r, const void *key, void (*destroy)(void *pointer));
/* Destroys all pointers of a stream. */
void hd_running_forget(struct hd_kept_slot **slots);

#endif
