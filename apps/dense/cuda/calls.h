/* The functions of CUDA's libraries that are called, as lists of names: X(function). Each function is loaded at run
 * time. */
#ifndef HD_DENSE_CUDA_CALLS_H
#define HD_DENSE_CUDA_CALLS_H

/* The driver, libcuda.so.1 */
#define HD_CUDA_CALLS(X)   \
	X(cuMemHostAlloc)  \
	X(cuMemFreeHost)   \
	X(cuMemsetD8Async) \
	X(cuMemcpyDtoHAsync_v2)

/* cuBLAS. Tiles have int numbers of rows, so the older functions suffice. */
#define HD_CUBLAS_FOUR(X, name) X(cublasD##name##_v2) X(cublasS##name##_v2) X(cublasZ##name##_v2) X(cublasC##name##_v2)
#define HD_CUBLAS_CALLS(X)       \
	X(cublasCreate_v2)       \
	X(cublasDestroy_v2)      \
	X(cublasSetStream_v2)    \
	X(cublasGetStatusString) \
	HD_CUBLAS_FOUR(X, gemm)  \
	HD_CUBLAS_FOUR(X, syrk)  \
	X(cublasZherk_v2)        \
	X(cublasCherk_v2)        \
	HD_CUBLAS_FOUR(X, symm) X(cublasZhemm_v2) X(cublasChemm_v2) HD_CUBLAS_FOUR(X, trsm) HD_CUBLAS_FOUR(X, trmm)

/* cuSOLVER. Its generic functions take a precision as an argument. */
#define HD_CUSOLVER_CALLS(X)           \
	X(cusolverDnCreate)            \
	X(cusolverDnDestroy)           \
	X(cusolverDnSetStream)         \
	X(cusolverDnCreateParams)      \
	X(cusolverDnDestroyParams)     \
	X(cusolverDnXpotrf_bufferSize) \
	X(cusolverDnXpotrf)            \
	X(cusolverDnXgetrf_bufferSize) \
	X(cusolverDnXgetrf)

#endif
