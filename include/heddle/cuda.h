/* Kernels for NVIDIA devices: what the kernel of a codelet for the kind "cuda" may call.
 *
 * Such a kernel is an ordinary C function that runs on the thread of the device's worker. It puts work on the stream of
 * its context and returns at once, without waiting for the work: the runtime finds out when that has ended. While it
 * runs, the device's primary context is current, as after cudaSetDevice, heddle_ptr gives addresses in the device's
 * memory, and heddle_stream gives the stream, a CUstream, which is the same as a cudaStream_t. So it may call cuBLAS,
 * the CUDA runtime, or a kernel<<<...>>> of its own that nvcc has compiled. The functions here do without all these:
 * they need neither CUDA's headers nor its libraries when a program is built, only NVIDIA's driver when it runs.
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
 * All functions are for the thread that runs the kernel, while it runs it, with the kernel's own context `c`; that
 * holds for init kernels of reductions, too. Called with anything else they fail with HEDDLE_E_STATE. Those that return
 * an int return 0, or a negative status after heddle_fail has been called for the kernel with the sentence that
 * explains it, so that a kernel hands it on: `return status;`. None of them waits for the device, but
 * heddle_cuda_function, when it loads an image, and heddle_cuda_scratch, when it makes more memory, may block.
 *
 * What a kernel learns only later, such as the row at which a factorisation has failed, it tells by an event
 * (heddle_detach in heddle/event.h) that heddle_cuda_then fulfills.
 *
 * In a build without CUDA the functions exist and return HEDDLE_E_UNSUPPORTED. */
#ifndef HEDDLE_CUDA_H
#define HEDDLE_CUDA_H

#include <stddef.h>
#include <heddle/task.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUfunc_st; /* of CUDA: a CUfunction is a pointer to it */

/* Code for devices, in memory: a fatbin (`nvcc -fatbin`), a cubin (`nvcc -cubin`), or PTX (`nvcc -ptx`), which the
 * driver compiles when it is loaded. The structure and what it points to stay as long as the runtime. */
struct heddle_cuda_image {
	const void *data; /* NULL: the program was built without device code */
	size_t size;      /* bytes; 0: the same */
};

/* How many times a kernel runs: blocks[0] x blocks[1] x blocks[2] blocks of threads[0] x threads[1] x threads[2]
 * threads. 0 counts as 1. */
struct heddle_cuda_grid {
	unsigned blocks[3], threads[3];
	size_t shared; /* bytes of dynamic shared memory of each block; also more than 48 KiB where the device can */
};

/* Finds the function `name` in an image; in CUDA C++ declare it extern "C", so that it has this name there. An image is
 * loaded once per device, when it is first used: later calls only search a list. *out stays valid as long as the
 * device is open. HEDDLE_E_UNSUPPORTED: the image is empty, or has no code for this device, and the sentence says what
 * to do; HEDDLE_E_UNKNOWN: it has no function of that name; HEDDLE_E_FORMAT: it is no image, or the driver cannot
 * compile it, and the sentence has the compiler's words; HEDDLE_E_MEMORY; HEDDLE_E_DEVICE. */
int heddle_cuda_function(heddle_context *c, const struct heddle_cuda_image *image, const char *name,
                         struct CUfunc_st **out);

/* Puts a kernel on the stream: `arguments` are the addresses of its arguments, in their order, which are read before
 * this function returns. NULL: it has none. HEDDLE_E_INVALID: CUDA refuses the grid or the arguments;
 * HEDDLE_E_DEVICE. */
int heddle_cuda_launch(heddle_context *c, struct CUfunc_st *function, const struct heddle_cuda_grid *grid,
                       void **arguments);

/* For the kernel's own calls of CUDA: turns the result of one, a CUresult or, which has the same numbers in all that
 * matters here, a cudaError_t, into the failure of the kernel. `call` is the function's name. 0, CUDA_SUCCESS: returns
 * 0 and does nothing. Otherwise returns HEDDLE_E_MEMORY if the device's memory is full, HEDDLE_E_DEVICE if the device
 * cannot be used any more, or else HEDDLE_E_KERNEL; the sentence has the call, CUDA's name of the error and its
 * words:
 *
 *   return heddle_cuda_failed(c, cudaMemsetAsync(p, 0, size, heddle_stream(c)), "cudaMemsetAsync"); */
int heddle_cuda_failed(heddle_context *c, int result, const char *call);

/* Calls f(arg, result) once, when all that the kernel puts on the stream has ended: in the thread that runs the kernel,
 * which launches and ends those of other tasks too. So f must not wait, nor call CUDA; it may call heddle_fulfill and
 * heddle_event_fail, which callbacks of CUDA's own must not. `result` is 0, or the CUresult of a device that has
 * failed, for then f is called too. If the device has failed it fulfills an event with 0: the runtime finds out by
 * itself, and may run the task elsewhere, but not if an event says that the task itself has failed. Called again: one
 * more call, after the first. If this function fails, f is not called. HEDDLE_E_MEMORY. */
int heddle_cuda_then(heddle_context *c, void (*f)(void *arg, int result), void *arg);

/* Workspace of at least `bytes` bytes in the device's memory, at a multiple of 256. It belongs to the stream, whose
 * kernels run one after the other, so that all of them may have the same: what it contains at first is anything, and
 * nobody else touches it until the kernel's work has ended. A second call in one kernel gives the same memory, or, if
 * that is too small, other memory, and what was put on the stream before may still use the first. It is freed when the
 * runtime stops, and it is not counted in the memory that the runtime manages. NULL on an error, after heddle_fail:
 * the device's memory is full. */
void *heddle_cuda_scratch(heddle_context *c, size_t bytes);

/* A place for a pointer that belongs to the stream, such as a handle of cuBLAS: the same for the same `key`, which is
 * an address of the caller's (that of a static variable, say), NULL at first. When the stream is closed, in
 * heddle_stop, destroy(*place) is called, unless *place or `destroy` is NULL, with the device's context current and
 * nothing left on the stream; places are destroyed in the opposite order of their making. On a device that has failed
 * the context may be lacking. NULL on an error, after heddle_fail: out of memory. */
void **heddle_cuda_slot(heddle_context *c, const void *key, void (*destroy)(void *pointer));

#ifdef __cplusplus
}
#endif
#endif
