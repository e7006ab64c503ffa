/* Kernels for OpenCL devices: what the kernel of a codelet for the kind "opencl" may call.
 *
 * Such a kernel is an ordinary C function that runs on the thread of the device's worker. It puts work on the stream of
 * its context and returns at once, without waiting for the work: the runtime finds out when the work has ended.
 * heddle_stream gives the stream, a cl_command_queue that runs in order, so the function may call any function of
 * OpenCL, or a library such as CLBlast. The functions of this header need neither OpenCL's headers nor its library when
 * a program is built, only OpenCL's library and a device when it runs.
 *
 *   static const struct heddle_opencl_source source = {
 *       .name = "axpy.cl",
 *       .text = "__kernel void axpy(__global double *y, ulong y0, __global const double *x, ulong x0, double a)\n"
 *               "{ size_t i = get_global_id(0); y[y0 + i] += a * x[x0 + i]; }\n"};
 *
 *   static int axpy_opencl(heddle_context *c)
 *   {
 *           struct _cl_kernel *axpy;
 *           int status = heddle_opencl_kernel(c, &source, "axpy", &axpy);
 *           if (status)
 *                   return status;
 *           double a = heddle_get(c, 0, double);
 *           const struct heddle_opencl_range range = {.global = {heddle_extent(c, 0, 0)}};
 *           const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(0), heddle_opencl_datum(1),
 *                                                              heddle_opencl_value(a)};
 *           return heddle_opencl_run(c, axpy, &range, 3, arguments);
 *   }
 *
 * OpenCL knows memory by objects, not by addresses. The address that heddle_ptr gives for a datum on a device stands
 * for a place in a memory object: a kernel may add to the address and compare it, but must not read or write there.
 * heddle_opencl_buffer gives the memory object, and the offset at which the datum begins; heddle_opencl_run finds both
 * for arguments that are data.
 *
 * Only the thread that runs a kernel may call these functions, while it runs the kernel, with the kernel's own context
 * `c`; init kernels of reductions may call them, too. Other calls fail with HEDDLE_E_STATE. Functions that return an
 * int return 0 or a negative status; before an error they call heddle_fail with the sentence, so that the kernel need
 * only `return status;`. No function waits for the device's work, but heddle_opencl_kernel, when it builds a program,
 * and heddle_opencl_scratch, when it allocates memory, may block.
 *
 * A kernel that learns only later whether it has failed, such as at which row a factorisation has broken down, reports
 * it by an event (heddle_detach in heddle/event.h) that the function of heddle_opencl_then fulfills.
 *
 * In a build without OpenCL the functions exist and return HEDDLE_E_UNSUPPORTED. */
#ifndef HEDDLE_OPENCL_H
#define HEDDLE_OPENCL_H

#include <stddef.h>
#include <heddle/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* OpenCL's cl_kernel, cl_mem, cl_context and cl_device_id are pointers to these structures. */
struct _cl_kernel;
struct _cl_mem;
struct _cl_context;
struct _cl_device_id;

/* A program in OpenCL C. The structure and its strings must exist as long as the runtime. */
struct heddle_opencl_source {
	const char *name;    /* for messages, such as the name of a file; NULL: "a program" */
	const char *text;    /* the source */
	const char *options; /* for the compiler, as clBuildProgram takes them: "-DN=4 -cl-mad-enable"; NULL: none */
};

/* Finds a kernel of a program. The program is built when it is first used on the device. If the same source was built
 * before with the same options for the same model of device and version of its driver, the program comes from the cache
 * on disk ($XDG_CACHE_HOME/heddle/opencl or ~/.cache/heddle/opencl). Otherwise it is compiled, which may take seconds,
 * and put into the cache. A cache that cannot be read or written, or a damaged entry, is no error: the program is
 * compiled. Later calls only search a list. *out belongs to the device, whose thread may set its arguments, and stays
 * valid until the runtime stops. HEDDLE_E_FORMAT: the source does not compile, and the sentence has the compiler's
 * message from the first error on; HEDDLE_E_UNKNOWN: the program has no kernel of that name; HEDDLE_E_UNSUPPORTED: the
 * device has no compiler; HEDDLE_E_MEMORY; HEDDLE_E_DEVICE. */
int heddle_opencl_kernel(heddle_context *c, const struct heddle_opencl_source *source, const char *name,
                         struct _cl_kernel **out);

/* The index range of a kernel: global[0] x global[1] x global[2] work-items in groups of local[0] x local[1] x
 * local[2]. 0 counts as 1; if all of `local` is 0, OpenCL chooses the groups. Each extent of `global` is rounded up to
 * a multiple of the extent of `local`: with a `local`, a kernel must compare get_global_id with the size of its
 * data. */
struct heddle_opencl_range {
	size_t global[3], local[3];
};

/* An argument of a kernel. The functions below make them; programs need not know the fields. */
struct heddle_opencl_argument {
	int what; /* one of HEDDLE_OPENCL_* */
	size_t number;
	const void *ptr;
};
enum { HEDDLE_OPENCL_DATUM, HEDDLE_OPENCL_BYTES, HEDDLE_OPENCL_LOCAL, HEDDLE_OPENCL_MEMORY };

/* Part 0 of datum i of the task. It stands for two consecutive arguments of the kernel: `__global T *x, ulong x0`,
 * where the datum's first element is x[x0]. */
static inline struct heddle_opencl_argument heddle_opencl_datum(size_t i)
{
	struct heddle_opencl_argument a;
	a.what = HEDDLE_OPENCL_DATUM;
	a.number = i;
	a.ptr = NULL;
	return a;
}
/* A value of `size` bytes at `p`. `size` must be that of the argument's type in OpenCL C: an int has 32 bits there, a
 * long and a ulong 64 bits; a kernel cannot have an argument of type size_t. heddle_opencl_value(x) is the variable
 * x. */
static inline struct heddle_opencl_argument heddle_opencl_bytes(const void *p, size_t size)
{
	struct heddle_opencl_argument a;
	a.what = HEDDLE_OPENCL_BYTES;
	a.number = size;
	a.ptr = p;
	return a;
}
#define heddle_opencl_value(x) heddle_opencl_bytes(&(x), sizeof(x))
/* `size` bytes of local memory for each group: `__local T *x`. */
static inline struct heddle_opencl_argument heddle_opencl_local(size_t size)
{
	struct heddle_opencl_argument a;
	a.what = HEDDLE_OPENCL_LOCAL;
	a.number = size;
	a.ptr = NULL;
	return a;
}
/* A memory object: `__global T *x`. */
static inline struct heddle_opencl_argument heddle_opencl_memory(const struct _cl_mem *memory)
{
	struct heddle_opencl_argument a;
	a.what = HEDDLE_OPENCL_MEMORY;
	a.number = 0;
	a.ptr = memory;
	return a;
}

/* Puts a kernel on the stream, with `n` arguments. The arguments are read before this function returns.
 * HEDDLE_E_INVALID: OpenCL refuses the range or an argument, which the sentence names by its index in the kernel;
 * HEDDLE_E_MEMORY; HEDDLE_E_DEVICE. */
int heddle_opencl_run(heddle_context *c, struct _cl_kernel *kernel, const struct heddle_opencl_range *range, size_t n,
                      const struct heddle_opencl_argument *arguments);

/* The memory object in which part 0 of datum i of the task lies; *offset: how many bytes after its beginning. NULL on
 * an error, after heddle_fail: the task has no such datum. */
struct _cl_mem *heddle_opencl_buffer(heddle_context *c, size_t i, size_t *offset);
/* The memory object of an address inside a datum: heddle_ptr or heddle_context_part has returned this address or one
 * before it. *offset: how many bytes the address lies after the beginning of the object. */
struct _cl_mem *heddle_opencl_buffer_of(heddle_context *c, const void *address, size_t *offset);

/* For the kernel's own calls of OpenCL: makes the kernel fail if a call has failed. `result` is the call's result,
 * `call` the function's name. If `result` is 0 (CL_SUCCESS): returns 0 and does nothing. Otherwise returns
 * HEDDLE_E_MEMORY if a memory is full, HEDDLE_E_DEVICE if the device is lost, or else HEDDLE_E_KERNEL; the sentence has
 * the call, OpenCL's name of the error, and what to do:
 *
 *   return heddle_opencl_failed(c, clEnqueueFillBuffer(...), "clEnqueueFillBuffer"); */
int heddle_opencl_failed(heddle_context *c, int result, const char *call);

/* Calls f(arg, result) once, when all work that the kernel puts on the stream has ended. f is called in the thread that
 * runs the kernel, which also serves the device's other kernels: so f must not wait, nor call OpenCL. f may call
 * heddle_fulfill and heddle_event_fail, which callbacks of OpenCL itself must not call. `result` is 0, or an error of
 * OpenCL if the work has failed. In that case, too, f must fulfill an event with 0: the runtime learns of the failure
 * by itself, and may run the task elsewhere if the device is lost. A second call of heddle_opencl_then in one kernel
 * adds a function, which is called after the first. If heddle_opencl_then fails, f is not called. HEDDLE_E_MEMORY. */
int heddle_opencl_then(heddle_context *c, void (*f)(void *arg, int result), void *arg);

/* Workspace of at least `bytes` bytes in the device's memory. The workspace belongs to the stream, and all kernels of
 * the stream, which run one after the other, share it: its contents are undefined at first, and nobody else uses it
 * until the kernel's work has ended. A second call in one kernel gives the same memory, or, if this memory is too
 * small, other memory; work that was put on the stream before may still use the first. The workspace is freed when the
 * runtime stops, and is not counted in the memory that the runtime manages. NULL on an error, after heddle_fail: the
 * device's memory is full. */
struct _cl_mem *heddle_opencl_scratch(heddle_context *c, size_t bytes);

/* A place for a pointer that belongs to the stream, such as a plan of a library. Each `key`, an address of the caller
 * (of a static variable, say), has one place per stream, whose pointer is NULL at first. When heddle_stop closes the
 * stream, it calls destroy(*place), unless *place or `destroy` is NULL, with no work left on the stream; the last place
 * is destroyed first. NULL on an error, after heddle_fail: out of memory. */
void **heddle_opencl_slot(heddle_context *c, const void *key, void (*destroy)(void *pointer));

/* Whether an OpenCL device computes in double precision: 1 or 0. `device` is the field of this name of the device's
 * worker. Also 0 if there is no such device. Unlike the other functions, this function may be called by any thread. */
int heddle_opencl_has_double(unsigned device);

/* The device on which the kernel runs, and the OpenCL context to which the device and its memory belong. NULL on an
 * error, after heddle_fail. */
struct _cl_device_id *heddle_opencl_device(heddle_context *c);
struct _cl_context *heddle_opencl_context(heddle_context *c);

#ifdef __cplusplus
}
#endif
#endif
