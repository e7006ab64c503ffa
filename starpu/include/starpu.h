/* Programs written for StarPU, over Heddle: they are compiled again, not rewritten.
 *
 *   cc program.c $(pkg-config --cflags --libs heddle-starpu)
 *
 * The names and signatures are those of StarPU 1.3; what stands behind them is Heddle: its dependencies, policies,
 * models, memories, traces and virtual time. Each function's comment says what it does here, and where that differs. A
 * name that is not declared has no counterpart yet. docs/from-starpu.md lists names and idioms, and what is better done
 * by Heddle's own interface; both may be used in one program, since starpu_heddle_runtime gives the runtime.
 *
 * Where a function of StarPU would abort the program or has no result, an error is a line on standard error, with
 * heddle_last_error's sentence. */
#ifndef HEDDLE_STARPU_H
#define HEDDLE_STARPU_H

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include <starpu_config.h>
#include <starpu_util.h>
#include <starpu_thread.h>
#include <starpu_data.h>
#include <starpu_data_interfaces.h>
#include <starpu_data_filters.h>
#include <starpu_stdlib.h>
#include <starpu_task.h>
#include <starpu_task_util.h>
#include <starpu_worker.h>
#include <starpu_perfmodel.h>
#include <starpu_profiling.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A worker, by its kind and the number of its device. */
struct starpu_driver {
	enum starpu_worker_archtype type;
	union {
		unsigned cpu_id, cuda_id;
		void *opencl_id;
	} id;
};

/* The settings of a start. Fields that programs set and that mean nothing to Heddle are accepted. Environment variables
 * STARPU_... come before the fields, unless precedence_over_environment_variables is 1; settings of Heddle that neither
 * names come from HEDDLE_... and the configuration file. */
struct starpu_conf {
	int magic;
	const char *sched_policy_name; /* a policy of StarPU or of Heddle: docs/from-starpu.md; NULL: Heddle's choice */
	int precedence_over_environment_variables;
	int ncpus;          /* CPU workers; -1: one per core; more than there are cores are as many as there are */
	int reserve_ncpus;  /* cores to leave to the program */
	int ncuda, nopencl; /* devices; -1: all */
	/* accepted: the workers of these drivers have threads, too: see starpu_driver_run */
	struct starpu_driver *not_launched_drivers;
	unsigned n_not_launched_drivers;
	int nmic, nmpi_ms; /* not used: Heddle has no such workers */
	int calibrate;     /* 1: measure tasks before the models are trusted */
	int bus_calibrate, single_combined_worker, disable_asynchronous_copy, disable_asynchronous_cuda_copy,
	    disable_asynchronous_opencl_copy, driver_spinning_backoff_min, driver_spinning_backoff_max, will_use_mpi,
	    start_perf_counter_collection;
	unsigned use_explicit_workers_bindid, use_explicit_workers_cuda_gpuid, use_explicit_workers_opencl_gpuid;
	unsigned workers_bindid[STARPU_NMAXWORKERS], workers_cuda_gpuid[STARPU_NMAXWORKERS],
	    workers_opencl_gpuid[STARPU_NMAXWORKERS];
	void (*sched_policy_init)(unsigned);
	int catch_signals;
	size_t trace_buffer_size;
};

/* 0. */
int starpu_conf_init(struct starpu_conf *conf);
/* Sets the numbers of all workers to 0. */
int starpu_conf_noworker(struct starpu_conf *conf);
/* Starts the runtime; NULL: as starpu_conf_init fills it. 0; -ENODEV: there would be no worker; -EINVAL: Heddle refuses
 * a setting, and a line on standard error says which. Calls count: the last starpu_shutdown stops it. */
int starpu_init(struct starpu_conf *conf);
int starpu_initialize(struct starpu_conf *conf, int *argc, char ***argv);
int starpu_is_initialized(void);
void starpu_wait_initialized(void);
/* Waits for all tasks, and stops the runtime. */
void starpu_shutdown(void);
/* Workers take no tasks, until starpu_resume. */
void starpu_pause(void);
void starpu_resume(void);
int starpu_is_paused(void);
void starpu_get_version(int *major, int *minor, int *release);
/* Drivers that the program runs: Heddle's workers have their own threads in any case, so that tasks never run in the
 * calling thread. starpu_driver_run returns after starpu_drivers_request_termination; starpu_driver_run_once waits for
 * a moment. All return 0; -EINVAL: there is no such worker. */
int starpu_driver_init(struct starpu_driver *driver);
int starpu_driver_run(struct starpu_driver *driver);
int starpu_driver_run_once(struct starpu_driver *driver);
int starpu_driver_deinit(struct starpu_driver *driver);
void starpu_drivers_request_termination(void);

/* Bounds of the number of unfinished tasks: Heddle has the setting `window` for it, which starpu_init reads. */
void starpu_set_limit_min_submitted_tasks(int limit);
void starpu_set_limit_max_submitted_tasks(int limit);

/* Heddle's runtime, for its own interface; NULL: there is none. */
struct heddle_runtime *starpu_heddle_runtime(void);

#ifdef __cplusplus
}
#endif
#endif
