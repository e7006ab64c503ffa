/* The state of streams: handles of the libraries, workspaces, and how a device's findings reach the task. */
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

static int make_blas(heddle_context *c, struct hd_dense_cuda_stream *s)
{
	cublasHandle_t blas;
	int status = hd_dense_cuda_blas_failed(c, hd_dense_cuda.cublasCreate_v2(&blas), "cublasCreate");
	if (status)
		return status;
	status =
	    hd_dense_cuda_blas_failed(c, hd_dense_cuda.cublasSetStream_v2(blas, heddle_stream(c)), "cublasSetStream");
	if (status)
		hd_dense_cuda.cublasDestroy_v2(blas);
	else
		s->blas = blas;
	return status;
}

struct hd_dense_cuda_stream *hd_dense_cuda_blas_stream(heddle_context *c, int *status)
{
	struct hd_dense_cuda_stream *s = hd_dense_cuda_stream(c);
	*status = !s ? HEDDLE_E_MEMORY : s->blas ? 0 : make_blas(c, s);
	return *status ? NULL : s;
}

/* Makes the handle of cuSOLVER. After an error, the parts that were made are kept for the next kernel. */
static int make_solver(heddle_context *c, struct hd_dense_cuda_stream *s)
{
	cusolverDnHandle_t solver = s->solver;
	cusolverDnParams_t params;
	int status = 0;
	if (!solver)
		status = hd_dense_cuda_solver_failed(c, hd_dense_cuda.cusolverDnCreate(&solver), "cusolverDnCreate");
	if (status)
		return status;
	s->solver = solver;
	status = hd_dense_cuda_solver_failed(c, hd_dense_cuda.cusolverDnSetStream(solver, heddle_stream(c)),
	                                     "cusolverDnSetStream");
	if (status == 0)
		status = hd_dense_cuda_solver_failed(c, hd_dense_cuda.cusolverDnCreateParams(&params),
		                                     "cusolverDnCreateParams");
	if (status == 0)
		s->params = params;
	return status;
}

struct hd_dense_cuda_stream *hd_dense_cuda_solver_stream(heddle_context *c, int *status)
{
	struct hd_dense_cuda_stream *s = hd_dense_cuda_stream(c);
	*status = !s ? HEDDLE_E_MEMORY : s->params ? 0 : make_solver(c, s);
	return *status ? NULL : s;
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

/* Judges the device's number. If the device has failed, the driver reports it, and the number has no meaning. */
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

/* The record for the judge, allocated when it is first needed. */
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
