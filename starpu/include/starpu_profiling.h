/* Profiling, traces, bounds: Heddle has its own (docs/trace.md, `heddle bounds`); these functions are accepted. */
#ifndef HEDDLE_STARPU_PROFILING_H
#define HEDDLE_STARPU_PROFILING_H

#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STARPU_PROFILING_DISABLE 0
#define STARPU_PROFILING_ENABLE 1

/* Remember the status, and have no other effect. */
int starpu_profiling_status_set(int status);
int starpu_profiling_status_get(void);
void starpu_profiling_init(void);
void starpu_profiling_set_id(int id);
/* What a worker did since the start of the runtime, all 0 without a trace: -ENOSYS. */
struct starpu_profiling_worker_info {
	struct timespec start_time, total_time, executing_time, callback_time, waiting_time, sleeping_time,
	    scheduling_time;
	int executed_tasks;
	unsigned long long used_cycles, stall_cycles;
	double energy_consumed, flops;
};
int starpu_profiling_worker_get_info(int workerid, struct starpu_profiling_worker_info *info);
/* Write nothing: the setting `explain` (HEDDLE_EXPLAIN=1) reports workers, codelets, links and memories. */
void starpu_profiling_bus_helper_display_summary(void);
void starpu_profiling_worker_helper_display_summary(void);
void starpu_data_display_memory_stats(void);
/* Traces: HEDDLE_TRACE=FILE writes one. */
void starpu_fxt_autostart_profiling(int autostart);
void starpu_fxt_start_profiling(void);
void starpu_fxt_stop_profiling(void);
void starpu_fxt_trace_user_event(unsigned long code);
void starpu_fxt_trace_user_event_string(const char *text);
/* Bounds: HEDDLE_RECORD=FILE and `heddle bounds FILE` give them. starpu_bound_compute stores 0. */
void starpu_bound_start(int deps, int prio);
void starpu_bound_stop(void);
void starpu_bound_compute(double *res, double *integer_res, int integer);
void starpu_bound_print(FILE *output, int integer);
void starpu_bound_print_dot(FILE *output);
void starpu_bound_print_lp(FILE *output);
void starpu_bound_print_mps(FILE *output);

#ifdef __cplusplus
}
#endif
#endif
