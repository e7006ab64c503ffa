/* The kernel of a device with streams that a thread runs, and what the functions of heddle/cuda.h and heddle/opencl.h
 * do alike: they find the kernel, make it fail, and keep pointers for its stream. The kernel is found by the thread,
 * not through its context, because the functions then know when they are called in a wrong place. */
#ifndef HD_DRIVER_RUNNING_H
#define HD_DRIVER_RUNNING_H

#include <heddle/driver.h>
#include "base/base.h"
#include "driver/later.h"

/* Pointers of libraries that belong to a stream: heddle_cuda_slot and heddle_opencl_slot. NULL: none. */
struct hd_kept_slot;

struct hd_running {
	const char *kind; /* "CUDA" or "OpenCL" */
	heddle_context *context;
	void *device, *stream, *operation;
	struct hd_later **later;     /* what the kernel wants to be called when its work has ended */
	struct hd_kept_slot **slots; /* of the stream */
	int lost;                    /* HEDDLE_E_DEVICE: the device cannot be used any more */
	struct hd_sentence why;      /* it is lost */
};

/* Runs the kernel's function, and returns what that returns; HEDDLE_E_DEVICE, after hd_error, if a call in it has found
 * that the device is lost. */
int hd_running_call(struct hd_running *r, heddle_kernel kernel);
/* The kernel of this kind that the thread runs with this context; NULL after an error, which names `function`. */
struct hd_running *hd_running_find(const heddle_context *c, const char *kind, const char *function);
/* The kernel fails with `status`, of which heddle_last_error is the explanation; 0: it does not. Returns the status. */
int hd_running_fail(struct hd_running *r, int status);
/* The stream's pointer for a key; NULL after an error, or if `r` is NULL. */
void **hd_running_slot(struct hd_running *r, const void *key, void (*destroy)(void *pointer));
/* Destroys all pointers of a stream. */
void hd_running_forget(struct hd_kept_slot **slots);

#endif
