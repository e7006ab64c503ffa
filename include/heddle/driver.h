/* What a driver, the code for one kind of processor, must offer. The core fetches data, evicts, orders and retries
 * tasks for all drivers alike.
 *
 * One driver serves all devices of its kind, each of which belongs to one worker. A device has streams: one for each
 * kernel that its worker may run at the same time, and one for copies in each direction. The operations of a stream run
 * in the order in which they were put on the stream. An operation that has not ended when its function returns has an
 * event, by which the runtime learns of the end. The runtime puts an operation on a stream only when all operations
 * that it depends on have ended, so streams never wait for each other.
 *
 * Errors: a function returns 0 or a negative status, after a call of heddle_error with the sentence. If a device cannot
 * be opened, heddle_start fails; if a launch or a copy fails, the tasks that need it fail, and the runtime goes on. A
 * function that releases something returns nothing, since nobody could mend its failure; the next launch or copy on a
 * broken device will fail. An operation that has failed has ended: its data may be used again at once. The lines
 * "CUDA:" and "OpenCL:" below name the calls that implement a function.
 *
 * A device that is lost: when nothing can be done with a device any more, a function returns HEDDLE_E_DEVICE. From then
 * on all operations on the device must end, with any status, so that `query` and `wait` return: the runtime waits for
 * them. The runtime gives the device no more kernels, and gives the device's tasks to other workers
 * (docs/architecture.md, "A device that is lost"). The runtime still calls `copy`, to save data whose only copy is on
 * the device. `free`, `close_stream` and `close` are called as always. A kernel that sees the loss first may return
 * HEDDLE_E_DEVICE itself, after heddle_fail; for workers that compute in main memory without streams this status is an
 * ordinary failure.
 *
 * Threads: "the worker's thread" is always the same thread for one device. A function that it calls must not wait for
 * the device longer than it takes to put an operation on a stream, because the thread serves all streams. `alloc` and
 * `free` may be called with the lock of the core held; functions of a driver must not call the runtime, except that
 * they run kernels, and that `launch` and `query` call the functions that a kernel has registered for the end of its
 * work (heddle_cuda_then).
 *
 * A synchronous driver offers `open`, `close`, `alloc`, `free`, `copy` and `launch`, and returns from `copy` and
 * `launch` when the operation has ended: src/driver/cpu.c. All other functions may be NULL, in these groups: `count`
 * with `describe`; `open_stream` with `close_stream`, `query` and `wait`; `alloc_host` with `free_host`; `pin` with
 * `unpin`; `can_copy_directly`; `notify`. */
#ifndef HEDDLE_DRIVER_H
#define HEDDLE_DRIVER_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/task.h>
#include <heddle/platform.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_DRIVER_ABI 4

/* A copy of an array from one node to another: both sides have the same extents, but each has its own strides. */
struct heddle_copy {
	unsigned from_node, to_node;
	struct heddle_part from, to;
};

/* The use of a stream. */
enum heddle_stream_use {
	HEDDLE_STREAM_KERNELS,
	HEDDLE_STREAM_IN, /* copies to the device, from main memory or from another device */
	HEDDLE_STREAM_OUT /* copies from the device to main memory */
};

/* A device that a driver has found on the machine. */
struct heddle_device {
	char name[128]; /* the maker's name of the device: "NVIDIA H100 80GB HBM3" */
	char type[16];  /* "gpu", "cpu" or "accelerator"; "": unknown. The thread of a "cpu" is not bound */
	/* the software that offers the device, if the kind has several: "Portable Computing Language" */
	char platform[64];
	/* on the PCI bus, "0000:65:00.0", by which Heddle finds the cores near the device; "": unknown */
	char address[16];
	uint64_t memory; /* bytes of the device's memory; 0: no limit */
	char driver[64]; /* the version of the software that drives the device, "13.0"; "": unknown */
};

struct heddle_driver {
	unsigned abi;     /* HEDDLE_DRIVER_ABI */
	const char *kind; /* the kind of the classes (struct heddle_class) whose workers the driver serves */
	/* "cpu", "opencl" or "cuda": where a codelet has no kernel for `kind`, the driver runs the kernel for this
	 * kind. NULL: it does not. A kernel for "cpu" takes addresses in main memory, so `alloc` must then give such
	 * addresses */
	const char *kernels_of;

	/* --- What the machine has --------------------------------------------------------------------------------- */

	/* Counts the devices of this kind, and describes one of them, counted from 0. Called before `open`, by any
	 * thread, any number of times. If both are NULL, the devices are those of the platform, which the program
	 * describes (as with emulated accelerators). HEDDLE_E_UNSUPPORTED: no device can be used; the sentence says
	 * what is missing, and how to get it. CUDA: cuDeviceGetCount; cuDeviceGetName, cuDeviceTotalMem. OpenCL:
	 * clGetDeviceIDs of all platforms; clGetDeviceInfo. */
	int (*count)(unsigned *n);
	int (*describe)(unsigned device, struct heddle_device *out);

	/* --- The device ------------------------------------------------------------------------------------------- */

	/* Makes the device ready, before any other call for the device. The field `device` of the worker in `platform`
	 * is the device's number. Called once per device by its worker's thread; several workers' threads may call it
	 * at the same time. `platform` lives as long as the device. May block. With the setting caller_works, worker 0
	 * has no thread: its device is opened by the thread that starts the runtime, closed by the thread that stops
	 * the runtime, and used by threads that wait. CUDA: cuDevicePrimaryCtxRetain. OpenCL: clCreateContext, shared
	 * by the devices of a platform. */
	int (*open)(const struct heddle_platform *platform, unsigned worker, void **device);
	/* Called once for each device that could be opened, by its worker's thread, after all other functions.
	 * CUDA: cuDevicePrimaryCtxRelease. OpenCL: clReleaseContext. */
	void (*close)(void *device);

	/* Opens a stream. Called by the worker's thread after `open`; may block. Each worker has as many streams for
	 * kernels as the field `streams` of its class says; the worker that manages a memory also has one stream for
	 * each direction of copies. NULL: the device runs one operation after the other, `launch` and `copy` return
	 * when the operation has ended, and their stream is NULL. CUDA:
	 * cuStreamCreateWithPriority(CU_STREAM_NON_BLOCKING). OpenCL: clCreateCommandQueue, in order. */
	int (*open_stream)(void *device, enum heddle_stream_use use, void **stream);
	/* Closes a stream, on which no operation is left. Called by the worker's thread before `close`. CUDA:
	 * cuStreamDestroy. OpenCL: clReleaseCommandQueue. */
	void (*close_stream)(void *device, void *stream);

	/* --- Memory ----------------------------------------------------------------------------------------------- */

	/* Allocate and free device memory. May block. Called by any thread, with the core's lock or without. `alloc`
	 * returns HEDDLE_E_MEMORY when the device is full, HEDDLE_E_DEVICE when it is lost. The address is only passed
	 * on to `copy` and to kernels, which may add to it.
	 * CUDA: cuMemAllocFromPoolAsync, then cuStreamSynchronize; cuMemFreeAsync; cuMemAlloc and cuMemFree where there
	 * are no pools. OpenCL: clCreateBuffer, with a range of addresses of the driver's own for each buffer, then
	 * clEnqueueMigrateMemObjects and clFinish, so that a lack of memory shows; clReleaseMemObject. */
	int (*alloc)(void *device, size_t size, void **out);
	void (*free)(void *device, void *ptr);
	/* Allocate and free page-locked main memory, which the device copies fastest. May block. Called by any thread.
	 * CUDA: cuMemHostAlloc(CU_MEMHOSTALLOC_PORTABLE), cuMemFreeHost. OpenCL: clCreateBuffer(CL_MEM_ALLOC_HOST_PTR)
	 * and clEnqueueMapBuffer, clEnqueueUnmapMemObject and clReleaseMemObject. */
	int (*alloc_host)(void *device, size_t size, void **out);
	void (*free_host)(void *device, void *ptr);
	/* Page-lock memory of the program, so that copies of it are as fast, and unlock it. May block, and take long.
	 * Called by any thread. A failure is no error: copies of that memory are only slower. CUDA:
	 * cuMemHostRegister(CU_MEMHOSTREGISTER_PORTABLE), cuMemHostUnregister. OpenCL:
	 * clCreateBuffer(CL_MEM_USE_HOST_PTR) and clEnqueueMapBuffer, undone as for free_host. */
	int (*pin)(void *device, void *ptr, size_t size);
	void (*unpin)(void *device, void *ptr);

	/* --- Copies ----------------------------------------------------------------------------------------------- */

	/* Whether this device, whose node is one of the two, can copy from one to the other without main memory in
	 * between: 1 or 0. Both nodes are of this kind. Called by the worker's thread after all devices were opened;
	 * may block.
	 * CUDA: cuDeviceCanAccessPeer, then cuCtxEnablePeerAccess. OpenCL: whether both are in one context. */
	int (*can_copy_directly)(void *device, unsigned from_node, unsigned to_node);
	/* Begins a copy between this device's node and main memory, or from another node for which can_copy_directly
	 * has returned 1, on a stream for copies. Returns 0 if the copy has ended, or HEDDLE_PENDING with an *event.
	 * The two parts exist until the copy has ended; the structure *copy need not. Called by a copy thread, of which
	 * each node has one per direction, and by the thread that starts the runtime when it measures the links: a
	 * driver must make its device current there. CUDA: cuMemcpyHtoDAsync, cuMemcpy2DAsync or cuMemcpy3DPeerAsync,
	 * for example, then cuEventRecord. OpenCL: clEnqueueReadBuffer, clEnqueueWriteBuffer or clEnqueueCopyBuffer, or
	 * what has the same name and Rect at its end, which give an event, then clFlush; clFinish after a failure. */
	int (*copy)(void *device, void *stream, const struct heddle_copy *copy, void **event);

	/* --- Kernels ---------------------------------------------------------------------------------------------- */

	/* Runs kernel(context), which puts its work on the stream that heddle_stream(context) returns, and which is
	 * `stream`. Returns 0 if the work has ended, HEDDLE_PENDING with an *event, or a status if the device fails. If
	 * the kernel returns another value than 0, so does `launch`, after nothing of it is left on the stream; on a
	 * device with streams that value is HEDDLE_E_KERNEL, or HEDDLE_E_DEVICE if the kernel failed because the device
	 * is lost, and `query` may return it instead if the kernel is called
	 * later. `context` stays until the work has ended. Called by the worker's thread.
	 * CUDA: cuEventCreate(CU_EVENT_DISABLE_TIMING), cuEventRecord; cuStreamSynchronize after a
	 * failure. OpenCL: clEnqueueMarkerWithWaitList, which gives an event, then clFlush; clFinish after a
	 * failure. */
	int (*launch)(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event);

	/* --- Events ----------------------------------------------------------------------------------------------- */

	/* Whether the operation behind `event` has ended: HEDDLE_PENDING if not; otherwise frees the event and returns
	 * 0, or a status if the operation has failed. Does not block. Called by the thread that began the operation.
	 * CUDA: cuEventQuery. OpenCL: clGetEventInfo(CL_EVENT_COMMAND_EXECUTION_STATUS),
	 * clReleaseEvent. */
	int (*query)(void *device, void *event);
	/* Blocks until the operation behind `event` has ended; then frees the event and returns what `query` would.
	 * Called by the thread that began the operation. CUDA: cuEventSynchronize. OpenCL: clWaitForEvents,
	 * clReleaseEvent. */
	int (*wait)(void *device, void *event);
	/* Lets ended(arg) be called once, by any thread, when the operation behind `event`, the last one on `stream`,
	 * has ended, with success or not, perhaps before this function returns. `ended` returns at once, and calls no
	 * function of the driver. Called by the thread that began the operation. If this fails, or is NULL, the runtime
	 * asks by `query` again and again. CUDA: cuStreamAddCallback, which is called after errors too
	 * (cuLaunchHostFunc is not). OpenCL: clSetEventCallback(CL_COMPLETE). */
	int (*notify)(void *device, void *stream, void *event, void (*ended)(void *arg), void *arg);
};

/* Makes `driver` known to heddle_start, for the whole process; the structure is borrowed for ever. Runtimes that start
 * later use the devices that `count` and `describe` find, as many as the setting `devices` says; without these
 * functions, the devices of a platform that the program describes (heddle_start_on). HEDDLE_E_INVALID: another driver
 * has the kind, a required function is missing, or `abi` is not HEDDLE_DRIVER_ABI. May be called by any thread. */
int heddle_driver_register(const struct heddle_driver *driver);

/* --- Libraries that are loaded at run time ------------------------------------------------------------------------ */

/* A function of a library that heddle_library_load loads. */
struct heddle_symbol {
	const char *name;
	void *function; /* the address of a pointer to a function, which is set */
	int optional;   /* 1: the library may lack it; the pointer is NULL then */
};

/* Loads a library and looks up its functions, so that a program works on machines with and without the library.
 * `files`: names as dlopen takes them, tried in this order until one is found, ended by NULL. The library is never
 * unloaded. HEDDLE_E_UNSUPPORTED: none was found, or the library lacks a function; the sentence begins with `what`,
 * such as "the CUDA driver", and has the loader's message. May be called by any thread; several calls set a pointer to
 * the same value. */
int heddle_library_load(const char *what, const char *const *files, size_t n, const struct heddle_symbol *symbols);

#ifdef __cplusplus
}
#endif
#endif
