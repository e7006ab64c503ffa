/* Kernels for NVIDIA devices: what the kernel of a codelet for the kind "cuda" may call.
 *
 * Such a kernel is an ordinary C function that runs on the thread of the device's worker. It puts work on the stream of
 * its context and returns at once, without waiting for the work: the runtime finds out when the work has ended. While
 * the function runs, the device's primary context is current, as after cudaSetDevice; heddle_ptr gives addresses in the
 * device's memory, and heddle_stream gives the stream, a CUstream, which is another name of cudaStream_t. So the
 * function may call cuBLAS, the CUDA runtime, or its own kernel<<<...>>> that nvcc has compiled. The functions of this
 * header need neither CUDA's headers nor its libraries when a program is built, only NVIDIA's driver when it runs.
 *
 *   static const unsigned char axpy_image[] = {...};  // the contents of a file that `nvcc -fatbin` has made
 *   static const struct heddle_cuda_image image = {axpy_image, sizeof axpy_image};
 *
 *   static int axpy_cuda(heddle_context *c)
 *   {
 *           struct CUfunc_st *axpy;
 *           int n = (int)heddle_extent(c, 0, 0), status = heddle_cuda_function(c, &image, "axpy", &axpy);
 *           if (status)
 *                   return status;
 *           void *y = heddle_ptr(c, 0), *x = heddle_ptr(c, 1);
 *           double a = heddle_get(c, 0, double);
 *           const struct heddle_cuda_grid grid = {.blocks = {(unsigned)(n + 255) / 256}, .threads = {256}};
 *           return heddle_cuda_launch(c, axpy, &grid, (void *[]){&n, &a, &x, &y});
 *   }
 *
 * Only the thread that runs a kernel may call these functions, while it runs the kernel, with the kernel's own context
 * `c`; init kernels of reductions may call them, too. Other calls fail with HEDDLE_E_STATE. Functions that return an
 * int return 0 or a negative status; before an error they call heddle_fail with the sentence, so that the kernel need
 * only `return status;`. No function waits for the device's work, but heddle_cuda_function, when it loads an image, and
 * heddle_cuda_scratch, when it allocates memory, may block.
 *
 * A kernel that learns only later whether it has failed, such as at which row a factorisation has broken down, reports
 * it by an event (heddle_detach in heddle/event.h) that the function of heddle_cuda_then fulfills.
 *
 * In a build without CUDA the functions exist and return HEDDLE_E_UNSUPPORTED. */
#ifndef HEDDLE_CUDA_H
#define HEDDLE_CUDA_H

#include <stddef.h>
#include <heddle/task.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUfunc_st; /* CUDA's CUfunction is a pointer to this structure */

/* Code for devices, in memory: a fatbin (`nvcc -fatbin`), a cubin (`nvcc -cubin`), or PTX (`nvcc -ptx`), which the
 * driver compiles when it is loaded. The structure and its data must exist as long as the runtime. */
struct heddle_cuda_image {
	const void *data; /* NULL: the program was built without device code */
	size_t size;      /* bytes; 0: as for `data` NULL */
};

/* How many times a kernel runs: blocks[0] x blocks[1] x blocks[2] blocks of threads[0] x threads[1] x threads[2]
 * threads. 0 counts as 1. */
struct heddle_cuda_grid {
	unsigned blocks[3], threads[3];
	size_t shared; /* bytes of dynamic shared memory of each block; also more than 48 KiB where the device can */
};

/* Finds the function `name` in an image; in CUDA C++ declare it extern "C", so that it has this name there. An image is
 * loaded once per device, when it is first used: later calls only search a list. *out stays valid as long as the device
 * is open. HEDDLE_E_UNSUPPORTED: the image is empty, or has no code for this device, and the sentence says what to do;
 * HEDDLE_E_UNKNOWN: the image has no function of that name; HEDDLE_E_FORMAT: the data are no image, or the driver
 * cannot compile them, and the sentence has the compiler's message; HEDDLE_E_MEMORY; HEDDLE_E_DEVICE. */
int heddle_cuda_function(heddle_context *c, const struct heddle_cuda_image *image, const char *name,
                         struct CUfunc_st **out);

/* Puts a kernel on the stream. `arguments` are the addresses of the kernel's arguments, in their order; the arguments
 * are read before this function returns. NULL: the kernel has no arguments. HEDDLE_E_INVALID: CUDA refuses the grid or
 * the arguments; HEDDLE_E_DEVICE. */
int heddle_cuda_launch(heddle_context *c, struct CUfunc_st *function, const struct heddle_cuda_grid *grid,
                       void **arguments);

/* For the kernel's own calls of CUDA: makes the kernel fail if a call has failed. `result` is the call's CUresult, or
 * its cudaError_t, which has the same numbers for the errors that matter here; `call` is the function's name. If
 * `result` is 0 (CUDA_SUCCESS): returns 0 and does nothing. Otherwise returns HEDDLE_E_MEMORY if the device's memory is
 * full, HEDDLE_E_DEVICE if the device is lost, or else HEDDLE_E_KERNEL; the sentence has the call, and CUDA's name and
 * description of the error:
 *
 *   return heddle_cuda_failed(c, cudaMemsetAsync(p, 0, size, heddle_stream(c)), "cudaMemsetAsync"); */
int heddle_cuda_failed(heddle_context *c, int result, const char *call);

/* Calls f(arg, result) once, when all work that the kernel puts on the stream has ended. f is called in the thread that
 * runs the kernel, which also serves the device's other kernels: so f must not wait, nor call CUDA. f may call
 * heddle_fulfill and heddle_event_fail, which callbacks of CUDA itself must not call. `result` is 0, or a CUresult if
 * the device has failed. In that case, too, f must fulfill an event with 0: the runtime learns of the failure by
 * itself, and may run the task elsewhere; an event with another status would say that the task itself has failed. A
 * second call of heddle_cuda_then in one kernel adds a function, which is called after the first. If heddle_cuda_then
 * fails, f is not called. HEDDLE_E_MEMORY. */
int heddle_cuda_then(heddle_context *c, void (*f)(void *arg, int result), void *arg);

/* Workspace of at least `bytes` bytes in the device's memory, at a multiple of 256. The workspace belongs to the
 * stream, and all kernels of the stream, which run one after the other, share it: its contents are undefined at first,
 * and nobody else uses it until the kernel's work has ended. A second call in one kernel gives the same memory, or, if
 * this memory is too small, other memory; work that was put on the stream before may still use the first. The workspace
 * is freed when the runtime stops, and is not counted in the memory that the runtime manages. NULL on an error, after
 * heddle_fail: the device's memory is full. */
void *heddle_cuda_scratch(heddle_context *c, size_t bytes);

/* A place for a pointer that belongs to the stream, such as a handle of cuBLAS. Each `key`, an address of the caller
 * (of a static variable, say), has one place per stream, whose pointer is NULL at first. When heddle_stop closes the
 * stream, it calls destroy(*place), unless *place or `destroy` is NULL, with the device's context current and no work
 * left on the stream; the last place is destroyed first. On a device that has failed there may be no current context.
 * NULL on an error, after heddle_fail: out of memory. */
void **heddle_cuda_slot(heddle_context *c, const void *key, void (*destroy)(void *pointer));

#ifdef __cplusplus
}
#endif
#endif
