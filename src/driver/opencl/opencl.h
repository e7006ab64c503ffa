/* The driver of OpenCL devices: the declarations that its files share.
 *
 *   load.c      the library, and words for its errors
 *   devices.c   which devices there are; contexts
 *   memory.c    memory of devices, and main memory for fast copies
 *   copies.c    strided copies
 *   streams.c   streams, kernels, events, and the table of the driver's functions
 *   programs.c  programs from source, and their cache on disk
 *   kernels.c the functions that kernels call: include/heddle/opencl.h
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

/* A memory object and its address in this process. If it lies on a device: the address of a reserved range, which
 * cannot be read or written. If it lies in main memory: the address where it is mapped. */
struct hd_cl_block {
	char *address;
	size_t size;
	cl_mem mem;
};

struct hd_cl_blocks {
	pthread_mutex_t lock;     /* guards the fields below; no function of OpenCL is called while it is held */
	struct hd_cl_block *list; /* owned; sorted by address */
	size_t n, max;
};

struct hd_cl_device;
struct hd_cl_context {
	/* These two fields are guarded by the lock of devices.c. */
	struct hd_cl_context *next;
	struct hd_cl_device *devices; /* the open devices, linked by `next`; the last one to close frees the context */

	/* The fields below do not change after the context was created. */
	const struct heddle_platform *of; /* borrowed: the platform of the runtime whose devices share this context */
	cl_platform_id platform;
	cl_context context;

	struct hd_cl_blocks buffers, host;
	/* Held while a program is built, so that only one device of each model builds it: the other devices of the
	 * model find the binary on disk. */
	pthread_mutex_t building;
};

struct hd_cl_program;
struct hd_cl_stream;
struct hd_cl_device {
	struct hd_cl_device *next; /* guarded by the lock of devices.c */

	/* The fields below do not change after the device was opened. */
	struct hd_cl_context *context;
	cl_device_id id;
	unsigned node;
	char *label;              /* owned: worker and device, for messages: "opencl0 (Tesla K40m)" */
	cl_command_queue errands; /* for commands of no stream: allocating, mapping; any thread may use it */

	/* Used by the worker's thread only. */
	struct hd_cl_program *programs; /* owned */
	struct hd_cl_stream *streams;   /* the streams for kernels, each owned by whoever opened it */
};

/* --- load.c ------------------------------------------------------------------------------------------------------- */

/* The purpose of the call that has returned an error. */
enum hd_cl_moment {
	HD_CL_MAKING, /* create or ask something: CL_OUT_OF_RESOURCES means that memory is full */
	HD_CL_RUNNING /* run something: CL_OUT_OF_RESOURCES means that the device is lost */
};
/* Sets the message for a call that has returned `code`, an error: the message names the call, the error and `whom` (the
 * label of the device, or "OpenCL"), and says what to do. Returns HEDDLE_E_DEVICE if the device is lost,
 * HEDDLE_E_MEMORY if a memory is full, HEDDLE_E_FORMAT if a program does not compile, otherwise
 * HEDDLE_E_UNSUPPORTED. */
int hd_cl_error(enum hd_cl_moment moment, cl_int code, const char *call, const char *whom);

/* --- devices.c ---------------------------------------------------------------------------------------------------- */

int hd_cl_count(unsigned *n);
int hd_cl_describe(unsigned device, struct heddle_device *out);
int hd_cl_open(const struct heddle_platform *platform, unsigned worker, void **device);
void hd_cl_close(void *device);
int hd_cl_can_copy_directly(void *device, unsigned from_node, unsigned to_node);
/* Writes a property of a device that is text, NUL-terminated and cut to `size` bytes; "" after an error. */
void hd_cl_device_text(cl_device_id id, cl_device_info what, char *out, size_t size);

/* --- memory.c ----------------------------------------------------------------------------------------------------- */

int hd_cl_blocks_init(struct hd_cl_blocks *b);
void hd_cl_blocks_fini(struct hd_cl_blocks *b);
/* The memory object to whose block `address` belongs; *offset: the bytes from the block's beginning to `address`. NULL:
 * there is none. Any thread may call it. */
cl_mem hd_cl_find(struct hd_cl_blocks *b, const void *address, size_t *offset);
/* Creates a memory object that the device allocates at once, and that is in no list of blocks. */
int hd_cl_make_mem(struct hd_cl_device *d, size_t size, cl_mem *out);
int hd_cl_alloc(void *device, size_t size, void **out);
void hd_cl_free(void *device, void *ptr);
int hd_cl_alloc_host(void *device, size_t size, void **out);
void hd_cl_free_host(void *device, void *ptr);
int hd_cl_pin(void *device, void *ptr, size_t size);
void hd_cl_unpin(void *device, void *ptr);

/* --- copies.c, streams.c ------------------------------------------------------------------------------------------ */

int hd_cl_copy(void *device, void *stream, const struct heddle_copy *copy, void **event);

/* One kernel that heddle_opencl_run has put on a stream. */
struct hd_cl_run {
	cl_event event;
	cl_kernel kernel; /* borrowed; hd_cl_kernel_name finds its name */
};
/* A launch or a copy; the runtime has it as the event. */
struct hd_cl_operation {
	cl_command_queue queue; /* borrowed: the queue that has its commands */
	cl_event last;          /* ends when the whole operation has ended */
	const char *what;       /* name of the function of OpenCL that made `last`, for messages */
	struct hd_cl_run *runs; /* owned: the kernels of a launch, so that a message can name the one that failed */
	size_t n_runs, max_runs;
	struct hd_later *later; /* owned: the calls to make when a launch has ended */
};
/* Frees an operation; its event `last` may be missing. */
void hd_cl_operation_free(struct hd_cl_operation *o);

/* A stream for kernels. Only the worker's thread uses it. */
struct hd_cl_stream {
	struct hd_cl_stream *next;
	cl_command_queue queue; /* the runtime and kernels have it as the stream */
	cl_mem scratch;         /* owned; for heddle_opencl_scratch; NULL: none yet */
	size_t scratch_size;
	struct hd_kept_slot *slots; /* owned */
	struct hd_bell *bell;       /* closed with the stream; its last callback frees it */
};

/* --- programs.c --------------------------------------------------------------------------------------------------- */

/* Finds the kernel `name` of a program, which is built if this device has not done so. Only for the worker's thread. */
int hd_cl_kernel(struct hd_cl_device *d, const struct heddle_opencl_source *source, const char *name, cl_kernel *out);
/* The name of a kernel; if hd_cl_kernel has not returned this kernel, a phrase in place of the name. */
const char *hd_cl_kernel_name(const struct hd_cl_device *d, const struct _cl_kernel *kernel);
void hd_cl_programs_close(struct hd_cl_device *d);
#endif

#endif
