/* The state of streams: handles of the libraries, workspaces, and how a task learns what its device has found. */
#include <dense/cuda/cuda.h>
#include <stdlib.h>
#include <string.h>

static void destroy(void *pointer)
{
	struct hd_dense_cuda_stream *s = pointer;
	if (s->blas)
		hd_dense_cuda.cublasDestroy_v2(s->blas);
	if (s->params)
		hd_dense_cuda.cusolverDnDestroyParams(s->params);
	if (s->solver)
		hd_dense_cuda.cusolverDnDestroy(s->solver);
	if (s->trial)
		hd_dense_cuda.cuMemFreeHost(s->trial);
	free(s->host);
	free(s);
}

struct hd_dense_cuda_stream *hd_dense_cuda_stream(heddle_context *c)
{
	static const char key;
	void **place = heddle_cuda_slot(c, &key, destroy);
	if (!place)
		return NULL;
	if (!*place && !(*place = calloc(1, sizeof(struct hd_dense_cuda_stream))))
		heddle_fail(c, -1, "out of memory for the state of a stream");
	return *place;
}

int hd_dense_cuda_blas_failed(heddle_context *c, cublasStatus_t status, const char *call)
{
	if (status == CUBLAS_STATUS_SUCCESS)
		return 0;
	return heddle_fail(c, HEDDLE_E_KERNEL, "%s: %s", call, hd_dense_cuda.cublasGetStatusString(status));
}

int hd_dense_cuda_solver_failed(heddle_context *c, cusolverStatus_t status, const char *call)
{
	if (status == CUSOLVER_STATUS_SUCCESS)
		return 0;
	return heddle_fail(c, HEDDLE_E_KERNEL, "%s: cuSOLVER's status is %d", call, (int)status);
}

struct hd_dense_cuda_stream *hd_dense_cuda_blas_stream(heddle_context *c)
{
	struct hd_dense_cuda_stream *s = hd_dense_cuda_stream(c);
	if (!s || s->blas)
		return s;
	cublasHandle_t blas;
	if (hd_dense_cuda_blas_failed(c, hd_dense_cuda.cublasCreate_v2(&blas), "cublasCreate"))
		return NULL;
	if (hd_dense_cuda_blas_failed(c, hd_dense_cuda.cublasSetStream_v2(blas, heddle_stream(c)), "cublasSetStream")) {
		hd_dense_cuda.cublasDestroy_v2(blas);
		return NULL;
	}
	s->blas = blas;
	return s;
}

struct hd_dense_cuda_stream *hd_dense_cuda_solver_stream(heddle_context *c)
{
	struct hd_dense_cuda_stream *s = hd_dense_cuda_stream(c);
	if (!s || s->params)
		return s;
	if (!s->solver &&
	    hd_dense_cuda_solver_failed(c, hd_dense_cuda.cusolverDnCreate(&s->solver), "cusolverDnCreate")) {
		s->solver = NULL;
		return NULL;
	}
	if (hd_dense_cuda_solver_failed(c, hd_dense_cuda.cusolverDnSetStream(s->solver, heddle_stream(c)),
	                                "cusolverDnSetStream"))
		return NULL;
	if (hd_dense_cuda_solver_failed(c, hd_dense_cuda.cusolverDnCreateParams(&s->params),
	                                "cusolverDnCreateParams")) {
		s->params = NULL;
		return NULL;
	}
	return s;
}

void *hd_dense_cuda_host(heddle_context *c, struct hd_dense_cuda_stream *s, size_t bytes, int *status)
{
	*status = 0;
	if (bytes <= s->host_bytes)
		return s->host;
	void *larger = malloc(bytes);
	if (!larger) {
		*status = heddle_fail(c, HEDDLE_E_MEMORY, "out of memory for a workspace of %zu bytes", bytes);
		return NULL;
	}
	free(s->host);
	s->host = larger;
	s->host_bytes = bytes;
	return larger;
}

void *hd_dense_cuda_workspace(heddle_context *c, size_t bytes)
{
	void *memory = heddle_cuda_scratch(c, HD_CUDA_FOUND_BYTES + bytes);
	if (!memory)
		return NULL;
	CUresult result = hd_dense_cuda.cuMemsetD8Async((CUdeviceptr)memory, 0xff, sizeof(uint64_t), heddle_stream(c));
	return heddle_cuda_failed(c, (int)result, "cuMemsetD8Async") ? NULL : memory;
}

/* If the device has failed, the driver says so, and the number is none. */
static void conclude(void *arg, int result)
{
	struct hd_dense_cuda_trial *trial = arg;
	if (result) {
		heddle_fulfill(trial->event, 0);
		return;
	}
	struct hd_dense_verdict verdict = trial->judge(trial->values, trial->found, trial->extra);
	if (verdict.code)
		heddle_event_fail(trial->event, verdict.code, "%s", verdict.sentence);
	else
		heddle_fulfill(trial->event, 0);
}

/* The place for the trial, which is made when it is first needed. */
static struct hd_dense_cuda_trial *trial_of(heddle_context *c)
{
	struct hd_dense_cuda_stream *s = hd_dense_cuda_stream(c);
	if (!s || s->trial)
		return s ? s->trial : NULL;
	void *memory = NULL;
	CUresult result = hd_dense_cuda.cuMemHostAlloc(&memory, sizeof *s->trial, 0);
	if (heddle_cuda_failed(c, (int)result, "cuMemHostAlloc"))
		return NULL;
	s->trial = memory;
	return s->trial;
}

int hd_dense_cuda_conclude(heddle_context *c, const void *workspace, hd_dense_cuda_judge judge, size_t extra)
{
	struct hd_dense_cuda_trial *trial = trial_of(c);
	if (!trial)
		return -1;
	*trial = (struct hd_dense_cuda_trial){
	    .event = heddle_detach(c), .values = heddle_value_ptr(c, 0), .judge = judge, .extra = extra};
	if (!trial->event)
		return heddle_fail(c, -1, "%s", heddle_last_error());
	heddle_event *event = trial->event;
	CUresult result = hd_dense_cuda.cuMemcpyDtoHAsync_v2(&trial->found, (CUdeviceptr)workspace, sizeof(uint64_t),
	                                                     heddle_stream(c));
	int status = heddle_cuda_failed(c, (int)result, "cuMemcpyDtoHAsync");
	if (status == 0)
		status = heddle_cuda_then(c, conclude, trial);
	if (status)
		heddle_fulfill(event, 0);
	return status;
}
