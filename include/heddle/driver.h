/* What a driver, the code for one kind of processor, must offer. Fetching a task's data, eviction, ordering and retries
 * are not its business: the core does them for all drivers alike.
 *
 * One driver serves all devices of its kind. Its functions return 0 or a negative status, after heddle_error has taken
 * the sentence that explains it. `alloc` and `free` are called with the lock of the core held, so they must not call
 * Heddle; the other functions are called without it.
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

/* A copy of an array from one node to another: both sides have the same extents, but each has its own strides. */
struct heddle_copy {
	unsigned from_node, to_node;
	struct heddle_part from, to;
};

struct heddle_driver {
	unsigned abi;
	const char *kind; /* the kind of class (struct heddle_class) whose workers it serves */
	/* Makes the device current. Called once per device, by its worker's thread, before the other functions; several
	 * workers' threads may call it at the same time. A failure fails heddle_start. With the setting caller_works,
	 * worker 0 has no thread: its device is opened by the thread that starts the runtime, closed by the one that
	 * stops it, and used by those that wait. A CUDA driver would call cudaSetDevice. */
	int (*open)(const struct heddle_platform *platform, unsigned worker, void **device);
	/* Called once for each device that could be opened, by its worker's thread, after all other functions. */
	void (*close)(void *device);
	/* Allocate and free device memory. May block. Called by any thread. CUDA: cudaMalloc, cudaFree. */
	int (*alloc)(void *device, size_t size, void **out);
	void (*free)(void *device, void *ptr);
	/* Copies between this device's node and main memory, or between two nodes of its kind, and returns when the
	 * copy is complete. Called by copy threads, of which each node has one per direction, and by the thread that
	 * starts the runtime when it measures the links. CUDA: cudaMemcpy2DAsync, then cudaStreamSynchronize. */
	int (*copy)(void *device, const struct heddle_copy *copy);
	/* Runs the kernel. Returns the kernel's value if it has ended, or HEDDLE_PENDING with an *event that `query`
	 * can ask about. Called by the worker's thread. */
	int (*launch)(void *device, heddle_kernel kernel, heddle_context *context, void **event);
	/* Whether the kernel behind `event` has ended: HEDDLE_PENDING if not; otherwise frees the event and returns 0
	 * or the kernel's error. May be NULL if `launch` never returns HEDDLE_PENDING. CUDA: cudaEventQuery. */
	int (*query)(void *device, void *event);
};

#ifdef __cplusplus
}
#endif
#endif
