/* Declarations for the files of this folder: kernels of the dense codelets for NVIDIA devices, which use cuBLAS,
 * cuSOLVER and the kernels of kernels.cu. The libraries are loaded when a runtime with such devices opens
 * libheddle-dense.
 *
 * A kernel only puts work on its stream. A finding about the result, such as the row of a zero pivot, is a number that
 * the device computes; a function of the codelet judges the number on the host when it has arrived there. */
#ifndef HD_DENSE_CUDA_H
#define HD_DENSE_CUDA_H

#include <cublas_v2.h>
#include <cuda.h>
#include <cusolverDn.h>
#include <dense/codelets/verdicts.h>
#include <dense/cuda/calls.h>
#include <dense/cuda/shapes.h>
#include <dense/internal.h>
#include <heddle/cuda.h>
#include <heddle/event.h>

/* --- Libraries: libraries.c --------------------------------------------------------------------------------------- */

/* Set by hd_dense_cuda_load, and constant afterwards. */
struct hd_dense_cuda_library {
#define HD_POINTER(f) __typeof__(&f) f;
	HD_CUDA_CALLS(HD_POINTER)
	HD_CUBLAS_CALLS(HD_POINTER)
	HD_CUSOLVER_CALLS(HD_POINTER)
#undef HD_POINTER
};
extern struct hd_dense_cuda_library hd_dense_cuda;

/* The libraries that a codelet's kernel needs, one bit each. */
enum {
	HD_CUDA_BLAS = 1,   /* cuBLAS */
	HD_CUDA_SOLVER = 2, /* cuSOLVER */
	HD_CUDA_OWN = 4     /* kernels.cu, which nvcc has compiled */
};
/* Loads the available libraries, once, and returns their bits. May be called by any thread. */
int hd_dense_cuda_load(void);
/* image.c: the kernels of kernels.cu; empty in a build without nvcc. */
struct heddle_cuda_image hd_dense_cuda_embedded(void);

/* --- Streams: stream.c -------------------------------------------------------------------------------------------- */

/* Judges the number that the device has found. `values` is the first value of the task, `extra` the argument of
 * hd_dense_cuda_conclude. Called in the thread of the device's worker. */
typedef struct hd_dense_verdict (*hd_dense_cuda_judge)(const void *values, uint64_t found, size_t extra);

/* The record of a running task for its judge. Kernels on one stream run one after the other, so one record per stream
 * is enough. */
struct hd_dense_cuda_trial {
	uint64_t found; /* the device's number, once it has come */
	heddle_event *event;
	const void *values;
	hd_dense_cuda_judge judge;
	size_t extra;
};

/* The state that the kernels on one stream reuse. Only the worker's thread uses it. */
struct hd_dense_cuda_stream {
	cublasHandle_t blas;               /* NULL: not needed so far, or no such library. Owned */
	cusolverDnHandle_t solver;         /* the same */
	cusolverDnParams_t params;         /* the same */
	struct hd_dense_cuda_trial *trial; /* in memory that the device writes to. Owned */
	void *host;                        /* workspace of cuSOLVER in main memory. Owned */
	size_t host_bytes;
};

/* The state of the kernel's stream. NULL: the kernel has failed for lack of memory. */
struct hd_dense_cuda_stream *hd_dense_cuda_stream(heddle_context *c);
/* hd_dense_cuda_stream with a handle of cuBLAS; the next function with a handle of cuSOLVER. *status is 0, or the
 * kernel's failure if NULL is returned. */
struct hd_dense_cuda_stream *hd_dense_cuda_blas_stream(heddle_context *c, int *status);
struct hd_dense_cuda_stream *hd_dense_cuda_solver_stream(heddle_context *c, int *status);
/* At least `bytes` bytes of main memory for calls of cuSOLVER; NULL if `bytes` is 0. *status is 0, or the kernel's
 * failure. */
void *hd_dense_cuda_host(heddle_context *c, struct hd_dense_cuda_stream *s, size_t bytes, int *status);

/* The workspace of a kernel begins with the number that its device finds (the least of several findings), and has a
 * place for cuSOLVER's info. */
enum { HD_CUDA_INFO_AT = 64, HD_CUDA_FOUND_BYTES = 256 };
/* HD_CUDA_FOUND_BYTES + `bytes` bytes of the device's memory; one call per kernel. The number becomes UINT64_MAX. NULL:
 * the kernel has failed. */
void *hd_dense_cuda_workspace(heddle_context *c, size_t bytes);
/* The kernel's last call: passes the number to `judge` when the kernel's work has ended. The task ends afterwards. */
int hd_dense_cuda_conclude(heddle_context *c, const void *workspace, hd_dense_cuda_judge judge, size_t extra);

/* Puts a kernel of kernels.cu on the stream. Its name contains the letter of the precision. */
int hd_dense_cuda_launch(heddle_context *c, const char *name, const struct heddle_cuda_grid *grid, void **arguments);

/* --- Failures: failures.c ----------------------------------------------------------------------------------------- */

/* Makes the kernel fail if `call`, a function of a library, has failed; returns the failure, or 0. HEDDLE_E_MEMORY: the
 * call lacked memory. */
int hd_dense_cuda_blas_failed(heddle_context *c, cublasStatus_t status, const char *call);
int hd_dense_cuda_solver_failed(heddle_context *c, cusolverStatus_t status, const char *call);

/* --- Codelets ----------------------------------------------------------------------------------------------------- */

/* The kernels of a codelet. Each file has a table of them, ended by a row without needs. */
struct hd_dense_cuda_codelet {
	enum hd_dense_op op;
	int needs;
	heddle_kernel kernels[HEDDLE_DENSE_PRECISIONS];
};
extern const struct hd_dense_cuda_codelet hd_dense_cuda_products[], hd_dense_cuda_cholesky[], hd_dense_cuda_lu[],
    hd_dense_cuda_qr[], hd_dense_cuda_movements[];

#endif
