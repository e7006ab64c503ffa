/* The driver of NVIDIA devices: the declarations that its files share. The public functions are in heddle/cuda.h.
 *
 * The driver uses CUDA's driver API, libcuda.so.1, which is loaded at run time (library.c). The driver uses the primary
 * context of a worker's device, because CUDA's runtime library uses this context: so kernels may call both libraries.
 *
 * Threads: each thread has a stack of contexts, and the top one is current. Threads of the runtime and of the program
 * call functions of the driver; a thread of the program may have another context current, because it uses CUDA itself.
 * So each function pushes the device's context onto the thread's stack, and pops it before it returns.
 *
 * Streams: streams for kernels have CUDA's default priority, streams for copies the highest. Copy engines ignore
 * priorities. But CUDA makes some strided copies, and some copies between devices, by kernels of its own; with the
 * higher priority these kernels need not wait behind the program's kernels. */
#ifndef HD_DRIVER_CUDA_CUDA_H
#define HD_DRIVER_CUDA_CUDA_H
#ifdef HEDDLE_HAVE_CUDA

#include <cuda.h>
#include "driver/bell.h"
#include "driver/cuda/calls.h"
#include "driver/driver.h"
#include "driver/running.h"

/* CUDA's functions: hd_cuda.cuInit and so on; optional functions may be NULL. Set by hd_cuda_load. */
struct hd_cuda_calls {
#define HD_CUDA_POINTER(name, optional) __typeof__(name) *name;
	HD_CUDA_CALLS(HD_CUDA_POINTER)
#undef HD_CUDA_POINTER
};
extern struct hd_cuda_calls hd_cuda;

/* A device that a worker has opened. Its fields are constant once the device is open, unless a field's comment says
 * otherwise. */
struct hd_cuda_device {
	struct hd_cuda_device *next;            /* in the list of all open devices; guarded by the lock of devices.c */
	const struct heddle_platform *platform; /* borrows the runtime's */
	unsigned node;
	char name[160]; /* for messages: "cuda0 (NVIDIA H100 80GB HBM3)" */
	CUdevice id;
	CUcontext context;
	CUmemoryPool pool; /* NULL: the device has none, or the driver is too old */
	CUstream pooled;   /* stream on which memory of the pool is allocated and freed; NULL: there is no pool */
	size_t most_pitch; /* most bytes between two rows in CUDA's functions for strided copies */
	/* Per node of the platform: the context of the device whose memory the node is; NULL: this device cannot copy
	 * from that memory. The worker's thread writes it until the runtime has started; constant afterwards. */
	CUcontext *peers;
	struct hd_cuda_stream *streams; /* owns; the worker's thread opens all before others read the list */
	struct hd_cuda_module *modules; /* owns; used by the worker's thread only */
};

/* An event that is recorded behind an operation. While an event is in use, the runtime has the pointer to it; otherwise
 * it is in the list of its stream's spare events. */
struct hd_cuda_event {
	CUevent handle;
	struct hd_cuda_stream *stream;
	struct hd_cuda_event *next; /* in the list of the stream's spare events */
	struct hd_later *later;     /* owns: the calls to make when the operation, a kernel, has ended */
};

/* A stream of a device. Only one thread uses a stream: the worker's thread or a copy thread. Outside the driver the
 * CUstream stands for it, because heddle_stream returns the CUstream to kernels. */
struct hd_cuda_stream {
	struct hd_cuda_stream *next;
	CUstream handle;
	/* For a stream of copies: a second stream, on which callbacks wait for the events of `handle`. On `handle`
	 * itself a callback would delay the copies behind it until a thread of CUDA has run it. NULL: the stream is for
	 * kernels, and nothing waits behind a callback. */
	CUstream teller;
	struct hd_cuda_event *spare; /* owns; events that are not in use */
	struct hd_kept_slot *slots;  /* owns */
	struct hd_bell *bell;        /* closed with the stream; its last callback frees it */
	CUdeviceptr scratch;         /* owns; for heddle_cuda_scratch; 0: none */
	size_t scratch_size;
};

/* --- library.c: CUDA's functions and errors ----------------------------------------------------------------------- */

/* Loads CUDA's library and initialises it, unless this was done before. HEDDLE_E_UNSUPPORTED: there is no library, or
 * the library finds no device that it can use. */
int hd_cuda_load(void);
/* The status that a result of CUDA means. Sets no message. */
int hd_cuda_classify(int result);
/* Writes a result of CUDA in words, perhaps with a remedy: "cuInit: CUDA_ERROR_NO_DEVICE, no CUDA-capable ...". */
enum { HD_CUDA_WORDS = 512 };
void hd_cuda_describe(char words[HD_CUDA_WORDS], int result, const char *call);
/* The status that the result of a call means; unless it is 0, sets the message, too. `call`: the name of the function
 * called. `device` may be NULL. */
int hd_cuda_status(const struct hd_cuda_device *device, CUresult result, const char *call);
/* Calls a function of CUDA, and returns its result as a status, by hd_cuda_status. */
#define HD_CUDA(device, call, ...) hd_cuda_status(device, hd_cuda.call(__VA_ARGS__), #call)

/* --- devices.c ---------------------------------------------------------------------------------------------------- */

/* Makes the device's context current in the calling thread, until hd_cuda_leave. */
int hd_cuda_enter(const struct hd_cuda_device *device);
void hd_cuda_leave(void);

/* --- memory.c ----------------------------------------------------------------------------------------------------- */

/* Allocate and free memory in the order of `stream`, if the device has a pool; otherwise at once, for which `stream`
 * must be idle. The caller has made the device's context current. */
int hd_cuda_take(const struct hd_cuda_device *device, CUstream stream, size_t size, CUdeviceptr *out);
void hd_cuda_give_back(const struct hd_cuda_device *device, CUstream stream, CUdeviceptr memory);
int hd_cuda_alloc(void *device, size_t size, void **out);
void hd_cuda_free(void *device, void *ptr);
int hd_cuda_alloc_host(void *device, size_t size, void **out);
void hd_cuda_free_host(void *device, void *ptr);
int hd_cuda_pin(void *device, void *ptr, size_t size);
void hd_cuda_unpin(void *device, void *ptr);

/* --- copies.c ----------------------------------------------------------------------------------------------------- */

/* Puts a copy on the stream; after an error, a part of the copy may be on the stream. The caller has made the device's
 * context current. */
int hd_cuda_put_copy(const struct hd_cuda_device *device, CUstream stream, const struct heddle_copy *copy);

/* --- streams.c ---------------------------------------------------------------------------------------------------- */

int hd_cuda_open_stream(void *device, enum heddle_stream_use use, void **stream);
void hd_cuda_close_stream(void *device, void *stream);
int hd_cuda_copy(void *device, void *stream, const struct heddle_copy *copy, void **event);
int hd_cuda_launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event);
int hd_cuda_query(void *device, void *event);
int hd_cuda_wait(void *device, void *event);
/* Waits until the stream has done everything, whichever context is current. An error is an error of the device, after
 * which CUDA has ended all work on the device. */
CUresult hd_cuda_drain(const struct hd_cuda_device *device, const struct hd_cuda_stream *stream);
int hd_cuda_notify(void *device, void *stream, void *event, void (*ended)(void *arg), void *arg);

/* --- kernels.c: what kernels call --------------------------------------------------------------------------------- */

/* hd_cuda_forget frees what kernels have put into the stream's slots, and the stream's scratch memory; nothing may be
 * left on the stream. hd_cuda_unload unloads the images of kernels from the device. The caller of both has made the
 * device's context current. */
void hd_cuda_forget(const struct hd_cuda_device *device, struct hd_cuda_stream *stream);
void hd_cuda_unload(struct hd_cuda_device *device);

#endif
#endif
