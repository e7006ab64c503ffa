/* How a test controls the stand-in for NVIDIA's driver library, tests/standin.
 *
 * The stand-in is a libcuda.so.1 that keeps the memory of its devices in main memory, and whose streams are threads. It
 * has the functions that Heddle calls, does what NVIDIA documents of them, and refuses wrong use with the documented
 * error. A program runs on it when LD_LIBRARY_PATH names its folder: tests get that by STANDIN in heddle_add_test.
 * Variables of the environment set it up for programs that know nothing of it: STANDIN_DEVICES (how many, 2),
 * STANDIN_MEMORY (bytes of each, 1 GiB), STANDIN_LATENCY (microseconds) and STANDIN_FAIL ("cuMemAlloc:3:2": the third
 * call fails with code 2).
 *
 * Kernels in CUDA C are compiled for the host, into the stand-in: cuda_on_host.h. Addresses of device memory have bits
 * set that no address of the host has, so the host cannot use them by mistake, and memory of a device is filled with
 * 0xff, which are NaNs, when it is allocated.
 *
 * Names of calls are those of NVIDIA's documents: "cuMemAlloc" is cuMemAlloc_v2 too. Any thread may call any of these
 * functions; a test finds them by standin_table. */
#ifndef STANDIN_H
#define STANDIN_H

#include <stdio.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/* Lets the nth call of `call` from here on (1 is the next one) fail with `code`, a CUresult, without doing what it is
 * for; but a call that releases something still does. A code that CUDA calls sticky (CUDA_ERROR_LAUNCH_FAILED, for
 * example) breaks the device, as standin_lose does. "kernel" and "copy" are not calls but work on a stream, which fails
 * when its turn has come, and breaks the device with any code. 0 as nth: no failure. */
void standin_fail(const char *call, unsigned nth, int code);

/* How often it was called since the beginning or standin_reset, those that failed included. */
unsigned standin_calls(const char *call);

/* Breaks a device: from now on every call on it returns CUDA_ERROR_LAUNCH_FAILED, and what its streams hold is dropped.
 * readable: only launches, allocations and copies to it fail, so that its memory can still be saved. No call and no
 * callback says so before what a kernel or a copy was doing there has ended. */
void standin_lose(int device, int readable);

/* Every operation on a stream takes at least so long. */
void standin_latency(double us);

/* Writes what has been created and not destroyed to `out`, unless that is NULL, and returns how many things these are:
 * contexts, streams, events, modules, pools, memory of devices and hosts, registrations. */
unsigned standin_leaks(FILE *out);

/* How many devices there are, at most 16, and how much memory each has. For a time when no context exists. */
void standin_devices(int n, size_t bytes);

/* Whether devices have pools of memory, as they do at first. For a time when no context exists. */
void standin_pools(int have);

/* No failures, no counts, all devices whole again, with pools, no latency, no memory registered. For a time when no
 * context exists. */
void standin_reset(void);

/* What kernels were last found to do wrong, such as a barrier that not all threads reach; "": nothing since
 * standin_reset. The text stays until a kernel does something wrong again. */
const char *standin_complaint(void);

/* --- For stand-ins of libraries that use CUDA, such as cuBLAS ----------------------------------------------------- */

/* Counts a call of such a library, and returns the code it is to fail with, or 0. */
int standin_step(const char *call);

/* Lets work(arg) run when its turn on the stream has come, as a kernel does: not at all on a device that is lost. The
 * stream, which may be NULL, is one of the device that is current. Returns a CUresult. */
int standin_enqueue(struct CUstream_st *stream, void (*work)(void *arg), void *arg);

/* The host's address for an address of device memory; NULL for other ones. It is valid as long as the memory. */
void *standin_memory(const void *device_address);

/* --- For tests ---------------------------------------------------------------------------------------------------- */

/* The functions above. A program that is not linked with the stand-in finds them in the library that is loaded:
 * `const struct standin *s = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "standin_table")`, NULL in NVIDIA's. */
struct standin {
	void (*fail)(const char *call, unsigned nth, int code);
	unsigned (*calls)(const char *call);
	void (*lose)(int device, int readable);
	void (*latency)(double us);
	unsigned (*leaks)(FILE *out);
	void (*devices)(int n, size_t bytes);
	void (*pools)(int have);
	void (*reset)(void);
	const char *(*complaint)(void);
	int (*step)(const char *call);
	int (*enqueue)(struct CUstream_st *stream, void (*work)(void *arg), void *arg);
	void *(*memory)(const void *device_address);
};

extern const struct standin standin_table;

#ifdef __cplusplus
}
#endif
#endif
