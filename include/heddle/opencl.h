/* Kernels for OpenCL devices: what the kernel of a codelet for the kind "opencl" may call.
 *
 * Such a kernel is an ordinary C function that runs on the thread of the device's worker. It puts work on the stream of
 * its context and returns at once, without waiting for the work: the runtime finds out when that has ended.
 * heddle_stream gives the stream, a cl_command_queue that runs in order, so the kernel may call any function of OpenCL,
 * or a library such as CLBlast. The functions here do without: they need neither OpenCL's headers nor its library when
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
 * OpenCL knows memory by objects, not by addresses. What heddle_ptr gives for a datum on a device is an address that
 * stands for a place in such an object: it can be added to and compared, but nothing can be read or written there.
 * heddle_opencl_buffer says which object it is, and where in it the datum begins; heddle_opencl_run does so for
 * arguments that are data.
 *
 * All functions are for the thread that runs the kernel, while it runs it, with the kernel's own context `c`; that
 * holds for init kernels of reductions, too. Called with anything else they fail with HEDDLE_E_STATE. Those that return
 * an int return 0, or a negative status after heddle_fail has been called for the kernel with the sentence that
 * explains it, so that a kernel hands it on: `return status;`. None of them waits for the device, but
 * heddle_opencl_kernel, when it builds a program, and heddle_opencl_scratch, when it makes more memory, may block.
 *
 * What a kernel learns only later, such as the row at which a factorisation has failed, it tells by an event
 * (heddle_detach in heddle/event.h) that heddle_opencl_then fulfills.
 *
 * In a build without OpenCL the functions exist and return HEDDLE_E_UNSUPPORTED. */
#ifndef HEDDLE_OPENCL_H
#define HEDDLE_OPENCL_H

#include <stddef.h>
#include <heddle/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of OpenCL: a cl_kernel, a cl_mem, a cl_context and a cl_device_id are pointers to them. */
struct _cl_kernel;
struct _cl_mem;
struct _cl_context;
struct _cl_device_id;

/* A program in OpenCL C. The structure and what it points to stay as long as the runtime. */
struct heddle_opencl_source {
	const char *name;    /* for messages, such as the name of a file; NULL: "a program" */
	const char *text;    /* the source */
	const char *options; /* of the compiler, as clBuildProgram takes them: "-DN=4 -cl-mad-enable"; NULL: none */
};

/* Finds a kernel of a program. The program is built when it is first used on the device: taken from the cache on disk
 * ($XDG_CACHE_HOME/heddle/opencl or ~/.cache/heddle/opencl) if the same source was built before with the same options
 * for the same model of device and version of its driver, otherwise compiled, which may take seconds, and kept there.
 * A cache that cannot be read or written, or an entry that is damaged, costs time only. The next calls cost a look into
 * a list. *out belongs to the device, whose thread may set its arguments, and stays valid until the runtime stops.
 * HEDDLE_E_FORMAT: the source does not compile, and the sentence has the compiler's words from its first error on;
 * HEDDLE_E_UNKNOWN: the program has no kernel of that name; HEDDLE_E_UNSUPPORTED: the device has no compiler;
 * HEDDLE_E_MEMORY; HEDDLE_E_DEVICE. */
int heddle_opencl_kernel(heddle_context *c, const struct heddle_opencl_source *source, const char *name,
                         struct _cl_kernel **out);

/* Over which indices a kernel runs: global[0] x global[1] x global[2] work-items in groups of local[0] x local[1] x
 * local[2]. 0 counts as 1; where `local` is 0 throughout, OpenCL chooses the groups. Each extent of `global` is rounded
 * up to a multiple of that of `local`: a kernel that is given a `local` compares get_global_id with the size of its
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

/* Part 0 of datum i of the task. It takes two arguments of the kernel in a row: `__global T *x, ulong x0`, where the
 * datum's first element is x[x0]. */
static inline struct heddle_opencl_argument heddle_opencl_datum(size_t i)
{
	struct heddle_opencl_argument a;
	a.what = HEDDLE_OPENCL_DATUM;
	a.number = i;
	a.ptr = NULL;
	return a;
}
/* A value of `size` bytes at `p`. It has the type that the kernel says: an int is 32 bits there, a long and a ulong 64
 * bits; a kernel cannot have an argument of type size_t. heddle_opencl_value(x) is the variable x. */
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

/* Puts a kernel on the stream, with `n` arguments, which are read before this function returns. HEDDLE_E_INVALID:
 * OpenCL refuses the range or an argument, which the sentence names by its index in the kernel; HEDDLE_E_MEMORY;
 * HEDDLE_E_DEVICE. */
int heddle_opencl_run(heddle_context *c, struct _cl_kernel *kernel, const struct heddle_opencl_range *range, size_t n,
                      const struct heddle_opencl_argument *arguments);

/* The memory object in which part 0 of datum i of the task lies; *offset: how many bytes after its beginning. NULL on
 * an error, after heddle_fail: the task has no such datum. */
struct _cl_mem *heddle_opencl_buffer(heddle_context *c, size_t i, size_t *offset);
/* The memory object in which an address lies that heddle_ptr or heddle_context_part has returned, or a later address of
 * the same datum; *offset as above. */
struct _cl_mem *heddle_opencl_buffer_of(heddle_context *c, const void *address, size_t *offset);

/* For the kernel's own calls of OpenCL: turns the result of one into the failure of the kernel. `call` is the
 * function's name. 0, CL_SUCCESS: returns 0 and does nothing. Otherwise returns HEDDLE_E_MEMORY if a memory is full,
 * HEDDLE_E_DEVICE if the device cannot be used any more, or else HEDDLE_E_KERNEL; the sentence has the call, OpenCL's
 * name of the error, and what to do:
 *
 *   return heddle_opencl_failed(c, clEnqueueFillBuffer(...), "clEnqueueFillBuffer"); */
int heddle_opencl_failed(heddle_context *c, int result, const char *call);

/* Calls f(arg, result) once, when all that the kernel puts on the stream has ended: in the thread that runs the kernel,
 * which launches and ends those of other tasks too. So f must not wait, nor call OpenCL; it may call heddle_fulfill and
 * heddle_event_fail, which callbacks of OpenCL's own must not. `result` is 0, or an error of OpenCL if the work has
 * failed: f then fulfills an event with 0, since the runtime finds out by itself, and may run the task elsewhere if the
 * device is lost. Called again: one more call, after the first. If this function fails, f is not called.
 * HEDDLE_E_MEMORY. */
int heddle_opencl_then(heddle_context *c, void (*f)(void *arg, int result), void *arg);

/* Workspace of at least `bytes` bytes in the device's memory. It belongs to the stream, whose kernels run one after the
 * other, so that all of them may have the same: what it contains at first is anything, and nobody else touches it until
 * the kernel's work has ended. A second call in one kernel gives the same memory, or, if that is too small, other
 * memory, and what was put on the stream before may still use the first. It is freed when the runtime stops, and it is
 * not counted in the memory that the runtime manages. NULL on an error, after heddle_fail: the device's memory is
 * full. */
struct _cl_mem *heddle_opencl_scratch(heddle_context *c, size_t bytes);

/* A place for a pointer that belongs to the stream, such as a plan of a library: the same for the same `key`, which is
 * an address of the caller's (that of a static variable, say), NULL at first. When the stream is closed, in
 * heddle_stop, destroy(*place) is called, unless *place or `destroy` is NULL, with nothing left on the stream; places
 * are destroyed in the opposite order of their making. NULL on an error, after heddle_fail: out of memory. */
void **heddle_opencl_slot(heddle_context *c, const void *key, void (*destroy)(void *pointer));

/* Whether an OpenCL device, by the number that the field `device` of its worker has, computes in double precision: 1 or
 * 0. Also 0 if there is no such device. Unlike the others, this function may be called by any thread. */
int heddle_opencl_has_double(unsigned device);

/* The device on which the kernel runs, and the context to which it and its memory belong, for calls that need them.
 * NULL on an error, after heddle_fail. */
struct _cl_device_id *heddle_opencl_device(heddle_context *c);
struct _cl_context *heddle_opencl_context(heddle_context *c);

#ifdef __cplusplus
}
#endif
#endif
