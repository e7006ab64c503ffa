/* The driver of OpenCL devices: what its files offer to each other.
 *
 *   load.c      the library, and words for its errors
 *   devices.c   which devices there are; contexts
 *   memory.c    memory of devices, and main memory for fast copies
 *   copies.c    strided copies
 *   streams.c   streams, kernels, events, and the table of the driver's functions
 *   programs.c  programs from source, and their cache on disk
 *   kernels.c   what a kernel may ask: include/heddle/opencl.h
 *
 * The devices of one OpenCL platform that a runtime uses share a context, and so its memory objects. A device belongs
 * to the thread of its worker, which alone launches kernels, builds programs and opens streams; memory is allocated and
 * copied by any thread. Queues are in order: what is put on a stream runs in that order. */
#ifndef HD_DRIVER_OPENCL_OPENCL_H
#define HD_DRIVER_OPENCL_OPENCL_H

#ifdef HEDDLE_HAVE_OPENCL
#include <pthread.h>
#include <heddle/driver.h>
#include <heddle/opencl.h>
#include "calls.h"
#include "driver/bell.h"
#include "driver/running.h"

/* A memory object. The program knows it by an address: of a buffer of a device, one of a range that is reserved for it
 * and cannot be read or written; of main memory, where it is mapped. */
struct hd_cl_block {
	char *address;
	size_t size;
	cl_mem mem;
};

struct hd_cl_blocks {
	pthread_mutex_t lock;     /* guards what follows; nothing is called while it is held */
	struct hd_cl_block *list; /* owned; sorted by address */
	size_t n, max;
};

struct hd_cl_device;
struct hd_cl_context {
	/* Guarded by the lock of devices.c. */
	struct hd_cl_context *next;
	struct hd_cl_device *devices; /* those that are open, linked by next; none left: the context is freed */

	/* Const after it was made. */
	const struct heddle_platform *of; /* borrowed: that of the runtime whose devices share this context */
	cl_platform_id platform;
	cl_context context;

	struct hd_cl_blocks buffers, host;
	/* Held while a program is built, so that the same program is built once for all devices of a model: the others
	 * find it on disk. */
	pthread_mutex_t building;
};

struct hd_cl_program;
struct hd_cl_stream;
struct hd_cl_device {
	struct hd_cl_device *next; /* guarded by the lock of devices.c */

	/* Const after it was made. */
	struct hd_cl_context *context;
	cl_device_id id;
	unsigned node;
	char *label;              /* owned: worker and device, for messages: "opencl0 (Tesla K40m)" */
	cl_command_queue errands; /* for what is on no stream: allocating, mapping; used by any thread */

	/* Used by the worker's thread only. */
	struct hd_cl_program *programs; /* owned */
	struct hd_cl_stream *streams;   /* owned by those who opened them; those for kernels */
};

/* --- load.c ------------------------------------------------------------------------------------------------------- */

/* When a call has returned an error. */
enum hd_cl_moment {
	HD_CL_MAKING, /* it makes or asks something: no resources means no memory */
	HD_CL_RUNNING /* it runs something: no resources means that the device is broken */
};
/* Leaves a sentence about a call that has returned `code`, which is not CL_SUCCESS: the names of the call and the
 * error, `whom` it was made for, and what to do. Returns a status: HEDDLE_E_DEVICE if the device is lost,
 * HEDDLE_E_MEMORY if memory is, otherwise HEDDLE_E_UNSUPPORTED. */
int hd_cl_error(enum hd_cl_moment moment, cl_int code, const char *call, const char *whom);

/* --- devices.c ---------------------------------------------------------------------------------------------------- */

int hd_cl_count(unsigned *n);
int hd_cl_describe(unsigned device, struct heddle_device *out);
int hd_cl_open(const struct heddle_platform *platform, unsigned worker, void **device);
void hd_cl_close(void *device);
int hd_cl_can_copy_directly(void *device, unsigned from_node, unsigned to_node);
/* A property of a device that is text, NUL-terminated and cut to `size`; "" on an error. */
void hd_cl_device_text(cl_device_id id, cl_device_info what, char *out, size_t size);

/* --- memory.c ----------------------------------------------------------------------------------------------------- */

int hd_cl_blocks_init(struct hd_cl_blocks *b);
void hd_cl_blocks_fini(struct hd_cl_blocks *b);
/* The memory object in whose range an address lies, and how many bytes after its beginning; NULL: there is none. Any
 * thread. */
cl_mem hd_cl_find(struct hd_cl_blocks *b, const void *address, size_t *offset);
/* A memory object of its own on the device, where it is allocated at once. */
int hd_cl_make_mem(struct hd_cl_device *d, size_t size, cl_mem *out);
int hd_cl_alloc(void *device, size_t size, void **out);
void hd_cl_free(void *device, void *ptr);
int hd_cl_alloc_host(void *device, size_t size, void **out);
void hd_cl_free_host(void *device, void *ptr);
int hd_cl_pin(void *device, void *ptr, size_t size);
void hd_cl_unpin(void *device, void *ptr);

/* --- copies.c, streams.c ------------------------------------------------------------------------------------------ */

int hd_cl_copy(void *device, void *stream, const struct heddle_copy *copy, void **event);

/* A kernel that was put on a stream by heddle_opencl_run. */
struct hd_cl_run {
	cl_event event;
	cl_kernel kernel; /* borrowed: its name is looked up by it */
};
/* What the runtime calls an event: a launch or a copy. */
struct hd_cl_operation {
	cl_command_queue queue; /* borrowed: on which it is */
	cl_event last;          /* has ended when all of it has */
	const char *what;       /* the call that began it, for messages */
	struct hd_cl_run *runs; /* owned: the kernels of a launch, for messages about the one that failed */
	size_t n_runs, max_runs;
	struct hd_later *later; /* owned: what is called when a launch has ended */
};
/* Frees an operation, whose events may be missing. */
void hd_cl_operation_free(struct hd_cl_operation *o);

/* A stream for kernels. Used by the worker's thread only. */
struct hd_cl_stream {
	struct hd_cl_stream *next;
	cl_command_queue queue; /* what the runtime and kernels know as the stream */
	cl_mem scratch;         /* owned; NULL: nobody has asked */
	size_t scratch_size;
	struct hd_kept_slot *slots; /* owned */
	struct hd_bell *bell;       /* counted */
};

/* --- programs.c --------------------------------------------------------------------------------------------------- */

/* The kernel `name` of a program, which is built if it has not been. Worker's thread. */
int hd_cl_kernel(struct hd_cl_device *d, const struct heddle_opencl_source *source, const char *name, cl_kernel *out);
/* What a kernel is called; a phrase if it was not found by hd_cl_kernel. */
const char *hd_cl_kernel_name(const struct hd_cl_device *d, const struct _cl_kernel *kernel);
void hd_cl_programs_close(struct hd_cl_device *d);
#endif

#endif
