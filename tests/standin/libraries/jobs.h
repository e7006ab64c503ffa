/* What the stand-ins of cuBLAS and cuSOLVER share: work on a stream of the stand-in (tests/standin/standin.h). */
#ifndef STANDIN_JOBS_H
#define STANDIN_JOBS_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct CUstream_st;
int standin_step(const char *call);
int standin_enqueue(struct CUstream_st *stream, void (*work)(void *arg), void *arg);
void *standin_memory(const void *device_address);

/* Work that was put on a stream; what it is about follows. It is freed with the handle, because work on a device that
 * is lost is never done. */
struct job {
	struct job *next;
};

/* A handle of either library. */
struct handle {
	struct CUstream_st *stream;
	struct job *jobs; /* owns */
};

static inline void handle_free(struct handle *handle)
{
	while (handle->jobs) {
		struct job *next = handle->jobs->next;
		free(handle->jobs);
		handle->jobs = next;
	}
	free(handle);
}

/* Copies the job and lets work(copy) run on the stream. 0, or not. */
static inline int job_put(struct handle *handle, void (*work)(void *), const void *job, size_t size)
{
	struct job *copy = malloc(size);
	if (!copy)
		return 1;
	memcpy(copy, job, size);
	copy->next = handle->jobs;
	handle->jobs = copy;
	return standin_enqueue(handle->stream, work, copy);
}

/* A matrix of m x n elements of `size` bytes in a device's memory, with `ld` elements from column to column: whether it
 * is there, from the first element to the last. */
static inline int matrix_is_there(const void *a, int m, int n, int ld, size_t size)
{
	if (m < 0 || n < 0 || ld < (m > 1 ? m : 1))
		return 0;
	if (m == 0 || n == 0)
		return 1;
	const char *last = (const char *)a + ((size_t)(n - 1) * (size_t)ld + (size_t)m) * size - 1;
	return standin_memory(a) && standin_memory(last);
}

#endif
