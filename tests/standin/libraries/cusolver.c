/* A stand-in for cuSOLVER, on the stand-in for NVIDIA's driver: LAPACK's functions, on the stream of the handle. It has
 * what Heddle calls, and refuses arguments as cuSOLVER does. The workspace is overwritten, to see that it is there. */
#include <cusolverDn.h>
#include <stdint.h>
#include "jobs.h"

enum { HOST_BYTES = 96, MOST_PIVOTS = 4096 };

struct task {
	struct job job;
	int n, m, ld, lower;
	void *a, *buffer, *host;
	size_t bytes;
	int64_t *pivots;
	int *info;
};

#define HD_TEMPLATE <standin/libraries/cusolver_template.h>
#include <dense/kernels/precisions.h>

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle)
{
	int code = standin_step("cusolverDnCreate");
	if (code)
		return (cusolverStatus_t)code;
	struct handle *made = calloc(1, sizeof *made);
	*handle = (cusolverDnHandle_t)(void *)made;
	return made ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
{
	if (!handle)
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	handle_free((struct handle *)(void *)handle);
	return (cusolverStatus_t)standin_step("cusolverDnDestroy");
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream)
{
	int code = standin_step("cusolverDnSetStream");
	if (!handle)
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (code == 0)
		((struct handle *)(void *)handle)->stream = stream;
	return (cusolverStatus_t)code;
}

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params)
{
	int code = standin_step("cusolverDnCreateParams");
	if (code)
		return (cusolverStatus_t)code;
	*params = malloc(1);
	return *params ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params)
{
	free(params);
	return (cusolverStatus_t)standin_step("cusolverDnDestroyParams");
}

static size_t size_of(cudaDataType type)
{
	switch ((int)type) {
	case CUDA_R_64F: return sizeof(double);
	case CUDA_R_32F: return sizeof(float);
	case CUDA_C_64F: return 2 * sizeof(double);
	case CUDA_C_32F: return 2 * sizeof(float);
	default: return 0;
	}
}

/* Answers a question about the workspace of a function. */
static cusolverStatus_t workspace(const char *call, int64_t n, cudaDataType type, size_t *bytes, size_t *host_bytes)
{
	int code = standin_step(call);
	if (code)
		return (cusolverStatus_t)code;
	if (n < 0 || size_of(type) == 0)
		return CUSOLVER_STATUS_INVALID_VALUE;
	*bytes = (size_t)n * 8 * size_of(type);
	*host_bytes = HOST_BYTES;
	return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cublasFillMode_t uplo, int64_t n, cudaDataType type, const void *a,
                                             int64_t ld, cudaDataType compute, size_t *bytes, size_t *host_bytes)
{
	(void)uplo, (void)a, (void)ld;
	if (!handle || !params)
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	return type == compute ? workspace("cusolverDnXpotrf_bufferSize", n, type, bytes, host_bytes)
	                       : CUSOLVER_STATUS_INVALID_VALUE;
}

cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                             cudaDataType type, const void *a, int64_t ld, cudaDataType compute,
                                             size_t *bytes, size_t *host_bytes)
{
	(void)a, (void)ld;
	if (!handle || !params || m < 0)
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	return type == compute ? workspace("cusolverDnXgetrf_bufferSize", n, type, bytes, host_bytes)
	                       : CUSOLVER_STATUS_INVALID_VALUE;
}

/* The functions of each precision. */
struct four {
	void (*d)(void *), (*s)(void *), (*z)(void *), (*c)(void *);
};

static cusolverStatus_t put(cusolverDnHandle_t handle, cudaDataType type, struct task *t, const struct four *work)
{
	if (t->ld < (t->m > 1 ? t->m : 1) || !matrix_is_there(t->a, t->m, t->n, t->ld, size_of(type)) ||
	    t->bytes < (size_t)t->n * 8 * size_of(type) || !standin_memory(t->buffer) ||
	    !standin_memory((char *)t->buffer + t->bytes - 1) || !standin_memory(t->info) || !t->host)
		return CUSOLVER_STATUS_INVALID_VALUE;
	void (*of_type)(void *) = type == CUDA_R_64F   ? work->d
	                          : type == CUDA_R_32F ? work->s
	                          : type == CUDA_C_64F ? work->z
	                                               : work->c;
	memset(t->host, 0x55, HOST_BYTES);
	return job_put((struct handle *)(void *)handle, of_type, t, sizeof *t) ? CUSOLVER_STATUS_EXECUTION_FAILED
	                                                                       : CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo,
                                  int64_t n, cudaDataType type, void *a, int64_t ld, cudaDataType compute, void *buffer,
                                  size_t bytes, void *host, size_t host_bytes, int *info)
{
	int code = standin_step("cusolverDnXpotrf");
	struct task t = {.n = (int)n, .m = (int)n, .ld = (int)ld, .lower = uplo == CUBLAS_FILL_MODE_LOWER, .a = a};
	t.buffer = buffer, t.bytes = bytes, t.host = host, t.info = info;
	if (!handle || !params)
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (code)
		return (cusolverStatus_t)code;
	if (type != compute || size_of(type) == 0 || n <= 0 || host_bytes < HOST_BYTES)
		return CUSOLVER_STATUS_INVALID_VALUE;
	return put(handle, type, &t, &(const struct four){hd_d_potrf, hd_s_potrf, hd_z_potrf, hd_c_potrf});
}

cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                  cudaDataType type, void *a, int64_t ld, int64_t *pivots, cudaDataType compute,
                                  void *buffer, size_t bytes, void *host, size_t host_bytes, int *info)
{
	int code = standin_step("cusolverDnXgetrf");
	struct task t = {.n = (int)n, .m = (int)m, .ld = (int)ld, .a = a, .pivots = pivots};
	t.buffer = buffer, t.bytes = bytes, t.host = host, t.info = info;
	if (!handle || !params)
		return CUSOLVER_STATUS_NOT_INITIALIZED;
	if (code)
		return (cusolverStatus_t)code;
	if (type != compute || size_of(type) == 0 || n <= 0 || m <= 0 || host_bytes < HOST_BYTES || n > MOST_PIVOTS ||
	    (pivots && !standin_memory(pivots)))
		return CUSOLVER_STATUS_INVALID_VALUE;
	return put(handle, type, &t, &(const struct four){hd_d_getrf, hd_s_getrf, hd_z_getrf, hd_c_getrf});
}
