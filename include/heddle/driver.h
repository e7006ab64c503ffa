/* What a kind of processor must offer. Staging, eviction, ordering and retries are shared code above it.
 *
 * One driver serves all devices of its kind. Functions return 0 or a negative status (and leave a sentence with
 * heddle_error). Only alloc and free are called with the lock of the core
 * held: they must not call Heddle.
 */
#ifndef HEDDLE_DRIVER_H
#define HEDDLE_DRIVER_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/task.h>
#include <heddle/platform.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_DRIVER_ABI 1

/* A strided copy: the same extents on both sides, each with its strides. */
struct heddle_copy {
	unsigned from_node, to_node;
	struct heddle_part from, to;
};

struct heddle_driver {
	unsigned abi;
	const char *kind; /* the class kind it serves */
	/* Once per device, from its worker's thread, before anything else: makes the device current. cuda:
	 * cudaSetDevice. The threads of several workers may call it at once. A failure fails heddle_start. With
	 * caller_works, worker 0's device is opened by the thread that starts the runtime and closed by the one that
	 * stops it; whoever waits launches its kernels. */
	int (*open)(const struct heddle_platform *platform, unsigned worker, void **device);
	/* Once for each device that could be opened, from its worker's thread, after everything else. */
	void (*close)(void *device);
	/* Device memory. May block. Called from any thread. cuda: cudaMalloc, cudaFree. */
	int (*alloc)(void *device, size_t size, void **out);
	void (*free)(void *device, void *ptr);
	/* Copies between this device's node and main memory, or between two nodes of its kind. Blocks until done;
	 * called from copy threads, one per node and direction, and while links are measured from the thread that
	 * starts the runtime. cuda: cudaMemcpy2DAsync + cudaStreamSynchronize. */
	int (*copy)(void *device, const struct heddle_copy *copy);
	/* Runs the kernel. Returns its value when it has ended, or HEDDLE_PENDING and an event. Called from the
	 * worker. */
	int (*launch)(void *device, heddle_kernel kernel, heddle_context *context, void **event);
	/* Whether the event has happened: 0, HEDDLE_PENDING, or the kernel's error. Frees the event when it has. May be
	 * NULL when launch never returns HEDDLE_PENDING. cuda: cudaEventQuery. */
	int (*query)(void *device, void *event);
};

#ifdef __cplusplus
}
#endif
#endif
