/* The driver of NVIDIA devices. What its files share; the public functions are in heddle/cuda.h.
 *
 * It stands on the driver API, libcuda.so.1, which is loaded at run time (library.c). A worker's device is the primary
 * context of one of the machine's devices, the same that CUDA's runtime library uses, so that kernels may use both.
 *
 * Threads: a context is current or not in each thread. Functions of the driver are called by threads of the runtime and
 * of the program, which may use CUDA itself and have another context current; so each function pushes the device's
 * context onto the thread's stack of contexts, and takes it off before it returns.
 *
 * Streams: those for kernels have CUDA's default priority and those for copies the highest. Copy engines take no notice
 * of that, but CUDA makes some strided copies and some between devices by kernels of its own, which need not wait then
 * for a place among the program's kernels, while tasks wait for the data. */
#ifndef HD_DRIVER_CUDA_CUDA_H
#define HD_DRIVER_CUDA_CUDA_H
#ifdef HEDDLE_HAVE_CUDA

#include <cuda.h>
#include "driver/bell.h"
#include "driver/cuda/calls.h"
#include "driver/driver.h"
#include "driver/running.h"

/* CUDA's functions: hd_cuda.cuInit and so on; optional ones may be NULL. Set by hd_cuda_load. */
struct hd_cuda_calls {
#define HD_CUDA_POINTER(name, optional) __typeof__(name) *name;
	HD_CUDA_CALLS(HD_CUDA_POINTER)
#undef HD_CUDA_POINTER
};
extern struct hd_cuda_calls hd_cuda;

/* A device that a worker has opened. Constant from then on, except where something else is said. */
struct hd_cuda_device {
	struct hd_cuda_device *next;            /* guarded by the lock of devices.c: in the list of all that are open */
	const struct heddle_platform *platform; /* borrows the runtime's */
	unsigned node;
	char name[160]; /* for messages: "cuda0 (NVIDIA H100 80GB HBM3)" */
	CUdevice id;
	CUcontext context;
	CUmemoryPool pool; /* NULL: the device has none, or the driver is too old */
	CUstream pooled;   /* on which memory of the pool is allocated and freed; NULL without a pool */
	size_t most_pitch; /* bytes between two rows that CUDA's functions for strided copies accept */
	/* Contexts of the nodes of the platform, NULL where this device cannot copy from. Of the worker's thread until
	 * the runtime has started, constant from then on. */
	CUcontext *peers;
	struct hd_cuda_stream *streams; /* owns; of the worker's thread until all are open, constant from then on */
	struct hd_cuda_module *modules; /* owns; of the worker's thread */
};

/* An event behind an operation; a spare one of its stream when nobody waits for it. */
struct hd_cuda_event {
	CUevent handle;
	struct hd_cuda_stream *stream;
	struct hd_cuda_event *next; /* among the spare ones */
	struct hd_later *later;     /* owns: what is called when the operation, a kernel, has ended */
};

/* A stream of a device, which only one thread uses: the worker's or a copy thread. The driver interface knows it as its
 * CUstream, because that is what heddle_stream gives to kernels. */
struct hd_cuda_stream {
	struct hd_cuda_stream *next;
	CUstream handle;
	/* For copies: callbacks are put on this stream, which waits for the events of the other. In the stream itself a
	 * callback would hold up the copies behind it until a thread of CUDA's has run it. NULL: for kernels, where
	 * nothing is behind a callback. */
	CUstream teller;
	struct hd_cuda_event *spare; /* owns: events to be used again */
	struct hd_kept_slot *slots;  /* owns */
	struct hd_bell *bell;        /* counted */
	CUdeviceptr scratch;         /* owns */
	size_t scratch_size;
};

/* --- library.c: CUDA's functions and errors ----------------------------------------------------------------------- */

/* Loads CUDA's library, if that is not done yet, and initialises it. HEDDLE_E_UNSUPPORTED: there is none, or it finds
 * no device that it can use. */
int hd_cuda_load(void);
/* The status for a result of CUDA, without a message. */
int hd_cuda_classify(int result);
/* What CUDA and we have to say about a result: "cuInit: CUDA_ERROR_NO_DEVICE, no CUDA-capable device ...". */
enum { HD_CUDA_WORDS = 512 };
void hd_cuda_describe(char words[HD_CUDA_WORDS], int result, const char *call);
/* Turns the result of `call`, a function's name, into a status, after hd_error unless it is 0. `device` may be NULL. */
int hd_cuda_status(const struct hd_cuda_device *device, CUresult result, const char *call);
/* Calls a function of CUDA's: a status. */
#define HD_CUDA(device, call, ...) hd_cuda_status(device, hd_cuda.call(__VA_ARGS__), #call)

/* --- devices.c ---------------------------------------------------------------------------------------------------- */

/* Makes the device's context current in the calling thread, until hd_cuda_leave. */
int hd_cuda_enter(const struct hd_cuda_device *device);
void hd_cuda_leave(void);

/* --- memory.c ----------------------------------------------------------------------------------------------------- */

/* Of `stream`, in whose order memory of a pool is given and taken; `stream` is idle if there is no pool. The context is
 * current. */
int hd_cuda_take(const struct hd_cuda_device *device, CUstream stream, size_t size, CUdeviceptr *out);
void hd_cuda_give_back(const struct hd_cuda_device *device, CUstream stream, CUdeviceptr memory);
int hd_cuda_alloc(void *device, size_t size, void **out);
void hd_cuda_free(void *device, void *ptr);
int hd_cuda_alloc_host(void *device, size_t size, void **out);
void hd_cuda_free_host(void *device, void *ptr);
int hd_cuda_pin(void *device, void *ptr, size_t size);
void hd_cuda_unpin(void *device, void *ptr);

/* --- copies.c ----------------------------------------------------------------------------------------------------- */

/* Puts a copy on the stream. After an error a part of it may be there. The context is current. */
int hd_cuda_put_copy(const struct hd_cuda_device *device, CUstream stream, const struct heddle_copy *copy);

/* --- streams.c ---------------------------------------------------------------------------------------------------- */

int hd_cuda_open_stream(void *device, enum heddle_stream_use use, void **stream);
void hd_cuda_close_stream(void *device, void *stream);
int hd_cuda_copy(void *device, void *stream, const struct heddle_copy *copy, void **event);
int hd_cuda_launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event);
int hd_cuda_query(void *device, void *event);
int hd_cuda_wait(void *device, void *event);
/* Waits until nothing is left on the stream, whichever context is current. What it returns is an error of the device:
 * CUDA has ended all work there. */
CUresult hd_cuda_drain(const struct hd_cuda_device *device, const struct hd_cuda_stream *stream);
int hd_cuda_notify(void *device, void *stream, void *event, void (*ended)(void *arg), void *arg);

/* --- kernels.c: what kernels call --------------------------------------------------------------------------------- */

/* Frees what kernels have put into the stream's slots, and its scratch memory; unloads their images. The context is
 * current, and nothing is left on the stream. */
void hd_cuda_forget(const struct hd_cuda_device *device, struct hd_cuda_stream *stream);
void hd_cuda_unload(struct hd_cuda_device *device);

#endif
#endif
