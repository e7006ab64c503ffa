/* What a driver, the code for one kind of processor, must offer. Fetching a task's data, eviction, ordering and retries
 * are not its business: the core does them for all drivers alike.
 *
 * One driver serves all devices of its kind, each of which belongs to one worker. A device has streams, on each of
 * which operations run in the order in which they were put there: one per kernel that its worker may run at the same
 * time, and one for copies in each direction. An operation that has not ended when its function returns has an event,
 * by which the runtime learns of its end. The runtime puts an operation on a stream only when everything that it needs
 * has ended, so streams never wait for each other.
 *
 * Errors: a function returns 0 or a negative status, after heddle_error has taken the sentence that explains it. The
 * runtime goes on: a device that cannot be opened fails heddle_start; a launch or a copy that fails, fails the tasks
 * that need it. What releases something returns nothing, since nothing could be done about its failure; the next launch
 * or copy on a broken device will fail. An operation that is said to have failed has ended: its data may be used again
 * at once. What is called CUDA and OpenCL below are the calls that implement a function there.
 *
 * A device that is lost: when nothing can be done with a device any more, a function returns HEDDLE_E_DEVICE. From
 * then on all operations on it must end, with that status or another, so that `query` and `wait` return: the runtime
 * waits for them. It gives the device no more kernels, and those that were there to other workers;
 * docs/architecture.md, "A device that is lost". The only copies of data there are still copied to main memory, if
 * `copy` can: it is called even so. `free`, `close_stream` and `close` are called as always. A kernel may see the loss
 * first and return HEDDLE_E_DEVICE itself, with the sentence of heddle_fail; that is the same, but not for workers that
 * compute in main memory without streams.
 *
 * Threads: "the worker's thread" is always the same for one device. It must not be held up by the device longer than it
 * takes to put an operation on a stream, because it serves all streams. `alloc` and `free` may be called with the lock
 * of the core held; functions of a driver must not call the runtime, except by running a kernel, or, in `launch` and
 * `query`, what a kernel wants to be called when its work has ended.
 *
 * A driver without asynchrony offers `open`, `close`, `alloc`, `free`, `copy` and `launch`, and returns from the last
 * two when everything is done: src/driver/cpu.c. All other functions may be NULL, in these groups: `count` with
 * `describe`; `open_stream` with `close_stream`, `query` and `wait`; `alloc_host` with `free_host`; `pin` with `unpin`;
 * `can_copy_directly`; `notify`. */
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

/* What a stream is used for. */
enum heddle_stream_use {
	HEDDLE_STREAM_KERNELS,
	HEDDLE_STREAM_IN, /* copies to the device, from main memory or from another device */
	HEDDLE_STREAM_OUT /* copies from the device to main memory */
};

/* A device that a driver has found on the machine. */
struct heddle_device {
	char name[128];    /* as its maker calls it: "NVIDIA H100 80GB HBM3" */
	char type[16];     /* "gpu", "cpu" or "accelerator"; "": not known. The thread of a "cpu" is not bound */
	char platform[64]; /* the software that offers it, where a kind has several: "Portable Computing Language" */
	char address[16];  /* on the PCI bus, "0000:65:00.0", which tells the cores that are near it; "": not known */
	uint64_t memory;   /* bytes of its memory; 0: no limit */
	char driver[64];   /* the version of the software that drives it, "13.0"; "": not known */
};

struct heddle_driver {
	unsigned abi;     /* HEDDLE_DRIVER_ABI */
	const char *kind; /* the kind of class (struct heddle_class) whose workers it serves */
	/* "cpu", "opencl" or "cuda": it also runs kernels for that kind, where a codelet has none for `kind`. NULL: it
	 * does not. A kernel for "cpu" takes addresses in main memory, so `alloc` must give such addresses then */
	const char *kernels_of;

	/* --- What the machine has --------------------------------------------------------------------------------- */

	/* Counts the devices of this kind, and describes one of them, counted from 0. Called before `open`, by any
	 * thread, as often as somebody asks. NULL, both: the devices are those of the platform, which the program
	 * describes itself (emulated ones). HEDDLE_E_UNSUPPORTED: none can be used; the sentence says what is missing,
	 * and how to get it.
	 * CUDA: cuDeviceGetCount; cuDeviceGetName, cuDeviceTotalMem. OpenCL: clGetDeviceIDs of all platforms;
	 * clGetDeviceInfo. */
	int (*count)(unsigned *n);
	int (*describe)(unsigned device, struct heddle_device *out);

	/* --- The device ------------------------------------------------------------------------------------------- */

	/* Makes the device ready, before any other call for it. The field `device` of the worker in `platform` says
	 * which one of its kind it is. Called once per device by its worker's thread; several workers' threads may call
	 * it at the same time. `platform` lives as long as the device. May block. With the setting caller_works, worker
	 * 0 has no thread: its device is opened by the thread that starts the runtime, closed by the one that stops it,
	 * and used by those that wait. CUDA: cuDevicePrimaryCtxRetain. OpenCL: clCreateContext, shared by the devices
	 * of a platform. */
	int (*open)(const struct heddle_platform *platform, unsigned worker, void **device);
	/* Called once for each device that could be opened, by its worker's thread, after all other functions.
	 * CUDA: cuDevicePrimaryCtxRelease. OpenCL: clReleaseContext. */
	void (*close)(void *device);

	/* Opens a stream. Called by the worker's thread after `open`; may block. A class of workers has as many streams
	 * for kernels as its `streams` says, and the worker that manages a memory one for each direction of copies.
	 * NULL: the device runs one operation after the other, `launch` and `copy` return when it has ended, and their
	 * stream is NULL.
	 * CUDA: cuStreamCreateWithPriority(CU_STREAM_NON_BLOCKING). OpenCL: clCreateCommandQueue, in order. */
	int (*open_stream)(void *device, enum heddle_stream_use use, void **stream);
	/* Closes a stream, on which nothing is left. Called by the worker's thread before `close`.
	 * CUDA: cuStreamDestroy. OpenCL: clReleaseCommandQueue. */
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
	/* Allocate and free main memory from which and to which the device copies fastest (page-locked). May block.
	 * Called by any thread.
	 * CUDA: cuMemHostAlloc(CU_MEMHOSTALLOC_PORTABLE), cuMemFreeHost. OpenCL: clCreateBuffer(CL_MEM_ALLOC_HOST_PTR)
	 * and clEnqueueMapBuffer, clEnqueueUnmapMemObject and clReleaseMemObject. */
	int (*alloc_host)(void *device, size_t size, void **out);
	void (*free_host)(void *device, void *ptr);
	/* Makes memory of the program as fast for copies, and undoes that. May block, and take long. Called by any
	 * thread. A failure is no error: copies from and to that memory are only slower.
	 * CUDA: cuMemHostRegister(CU_MEMHOSTREGISTER_PORTABLE), cuMemHostUnregister. OpenCL:
	 * clCreateBuffer(CL_MEM_USE_HOST_PTR) and clEnqueueMapBuffer, undone as for free_host. */
	int (*pin)(void *device, void *ptr, size_t size);
	void (*unpin)(void *device, void *ptr);

	/* --- Copies ----------------------------------------------------------------------------------------------- */

	/* Whether this device, whose node is one of the two, can copy from one to the other without main memory in
	 * between: 1 or 0. Both nodes are of this kind. Called by the worker's thread after all devices were opened;
	 * may block.
	 * CUDA: cuDeviceCanAccessPeer, then cuCtxEnablePeerAccess. OpenCL: whether both are in one context. */
	int (*can_copy_directly)(void *device, unsigned from_node, unsigned to_node);
	/* Begins a copy between this device's node and main memory, or from another node if can_copy_directly has said
	 * so, on a stream for copies. Returns 0 if it has ended, or HEDDLE_PENDING with an *event. The two parts stay
	 * as they are until it has ended; `copy` itself does not. Called by a copy thread, of which each node has one
	 * per direction, and by the thread that starts the runtime when it measures the links: a driver must make its
	 * device current there.
	 * CUDA: cuMemcpyHtoDAsync, cuMemcpy2DAsync or cuMemcpy3DPeerAsync, for example, then cuEventRecord. OpenCL:
	 * clEnqueueReadBuffer, clEnqueueWriteBuffer or clEnqueueCopyBuffer, or what has the same name and Rect at its
	 * end, which give an event, then clFlush; clFinish after a failure. */
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
	/* The same, but blocks until the operation has ended. Called by the thread that began it.
	 * CUDA: cuEventSynchronize. OpenCL: clWaitForEvents, clReleaseEvent. */
	int (*wait)(void *device, void *event);
	/* Lets ended(arg) be called once, by any thread, when the operation behind `event`, the last one on `stream`,
	 * has ended, well or not; it may be called before this function returns. It returns at once, and calls nothing
	 * of the driver. Called by the thread that began the operation. If this fails, or is NULL, the runtime asks by
	 * `query` again and again.
	 * CUDA: cuStreamAddCallback, which is called after errors too (cuLaunchHostFunc is not). OpenCL:
	 * clSetEventCallback(CL_COMPLETE). */
	int (*notify)(void *device, void *stream, void *event, void (*ended)(void *arg), void *arg);
};

/* Makes `driver` known to heddle_start, for the whole process; the structure is borrowed for ever. Runtimes that start
 * after that use the devices that `count` and `describe` find, as many of them as the setting `devices` says; without
 * these functions, those of a platform that the program describes (heddle_start_on). HEDDLE_E_INVALID: another driver
 * has the kind, a required function is missing, or `abi` is not HEDDLE_DRIVER_ABI. May be called by any thread. */
int heddle_driver_register(const struct heddle_driver *driver);

/* --- Libraries that are loaded at run time ------------------------------------------------------------------------ */

/* A function of such a library. */
struct heddle_symbol {
	const char *name;
	void *function; /* the address of a pointer to a function, which is set */
	int optional;   /* 1: the library may lack it; the pointer is NULL then */
};

/* Loads a library and looks up its functions, so that a program works on machines with and without it. `files`: names
 * as dlopen takes them, tried in this order until one is found, ended by NULL. The library is never unloaded.
 * HEDDLE_E_UNSUPPORTED: none was found, or it lacks a function; the sentence begins with `what`, "the CUDA driver", and
 * tells what the loader has said. May be called by any thread; a pointer that is set again gets the same value. */
int heddle_library_load(const char *what, const char *const *files, size_t n, const struct heddle_symbol *symbols);

#ifdef __cplusplus
}
#endif
#endif
