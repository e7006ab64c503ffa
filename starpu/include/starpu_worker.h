/* Workers: how many there are, of which kind, and which one runs the calling function. */
#ifndef HEDDLE_STARPU_WORKER_H
#define HEDDLE_STARPU_WORKER_H

#include <starpu_task.h>

#ifdef __cplusplus
extern "C" {
#endif

enum starpu_worker_archtype {
	STARPU_CPU_WORKER = 0,
	STARPU_CUDA_WORKER,
	STARPU_OPENCL_WORKER,
	STARPU_MIC_WORKER, /* there is none of this kind, nor of the next */
	STARPU_MPI_MS_WORKER,
	STARPU_NARCH,
	STARPU_ANY_WORKER = 127
};

/* Workers are numbered from 0, as in heddle_runtime_platform. An emulated accelerator counts as a CPU worker. Only
 * workers that are driven at the start count (heddle/clusters.h). */
unsigned starpu_worker_get_count(void);
unsigned starpu_cpu_worker_get_count(void);
unsigned starpu_cuda_worker_get_count(void);
unsigned starpu_opencl_worker_get_count(void);
unsigned starpu_mpi_ms_worker_get_count(void); /* 0 */
unsigned starpu_mic_worker_get_count(void);    /* 0 */
int starpu_worker_get_count_by_type(enum starpu_worker_archtype type);
/* Writes the numbers of the workers of a kind, at most `max`, and returns how many there are; -ERANGE: more than
 * `max`. */
unsigned starpu_worker_get_ids_by_type(enum starpu_worker_archtype type, int *workerids, unsigned max);
/* The number of the n-th worker of a kind, or of the worker that drives a device; -1: there is none. */
int starpu_worker_get_by_type(enum starpu_worker_archtype type, int n);
int starpu_worker_get_by_devid(enum starpu_worker_archtype type, int devid);
/* The worker that runs the calling kernel or callback; -1: the caller is none. */
int starpu_worker_get_id(void);
unsigned starpu_worker_get_id_check(void);
enum starpu_worker_archtype starpu_worker_get_type(int id);
const char *starpu_worker_get_type_as_string(enum starpu_worker_archtype type);
int starpu_worker_get_devid(int id);
int starpu_worker_get_bindid(int id);
void starpu_worker_get_name(int id, char *name, size_t size);
int starpu_worker_is_combined_worker(int id);    /* 0 */
unsigned starpu_combined_worker_get_count(void); /* 0: workers of several cores are workers like others */
int starpu_combined_worker_get_size(void);
int starpu_combined_worker_get_rank(void);
/* Write a line per worker. */
void starpu_worker_display_names(FILE *output, enum starpu_worker_archtype type);
void starpu_topology_print(FILE *output);
void starpu_sched_ctx_display_workers(unsigned sched_ctx_id, FILE *output);
/* Calls func(arg) once on each worker of the kinds `where`, as a task there, and waits. */
void starpu_execute_on_each_worker(void (*func)(void *), void *arg, uint32_t where);
void starpu_execute_on_each_worker_ex(void (*func)(void *), void *arg, uint32_t where, const char *name);

/* The stream on which a function of cuda_funcs puts its work: a cudaStream_t. NULL outside of such functions. A program
 * that has such functions defines STARPU_USE_CUDA itself when it is compiled. */
struct CUstream_st;
struct CUstream_st *starpu_cuda_get_local_stream(void);
/* Ends the program with the place and the number of the error, unless a call of CUDA has returned 0. */
#define STARPU_CUDA_REPORT_ERROR(status) STARPU_CHECK_RETURN_VALUE((int)(status), "a call of CUDA")
/* Do nothing: a program that calls cuBLAS keeps its handles in heddle_cuda_slot (heddle/cuda.h). */
void starpu_cublas_init(void);
void starpu_cublas_shutdown(void);

/* Whether copies between main memory and devices are done one after the other: 0, Heddle's never are. */
int starpu_asynchronous_copy_disabled(void);
int starpu_asynchronous_cuda_copy_disabled(void);
int starpu_asynchronous_opencl_copy_disabled(void);

/* The least and the greatest priority: that of an int. */
int starpu_sched_get_min_priority(void);
int starpu_sched_get_max_priority(void);
int starpu_sched_set_min_priority(int priority);
int starpu_sched_set_max_priority(int priority);
#define STARPU_MIN_PRIO starpu_sched_get_min_priority()
#define STARPU_MAX_PRIO starpu_sched_get_max_priority()
#define STARPU_DEFAULT_PRIO 0

#ifdef __cplusplus
}
#endif
#endif
