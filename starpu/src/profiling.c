/* Profiling, traces and bounds of StarPU, in whose place Heddle has its own: these functions only accept the calls. */
#include "internal.h"

static _Atomic int status; /* only remembered */

int starpu_profiling_status_set(int new_status)
{
	int before = status;
	status = new_status;
	return before;
}

int starpu_profiling_status_get(void)
{
	return status;
}

void starpu_profiling_init(void) {}

void starpu_profiling_set_id(int id)
{
	(void)id;
}

int starpu_profiling_worker_get_info(int workerid, struct starpu_profiling_worker_info *info)
{
	(void)workerid;
	memset(info, 0, sizeof *info);
	return -ENOSYS;
}

void starpu_profiling_bus_helper_display_summary(void) {}

void starpu_profiling_worker_helper_display_summary(void) {}

void starpu_data_display_memory_stats(void) {}

void starpu_fxt_autostart_profiling(int autostart)
{
	(void)autostart;
}

void starpu_fxt_start_profiling(void) {}

void starpu_fxt_stop_profiling(void) {}

void starpu_fxt_trace_user_event(unsigned long code)
{
	(void)code;
}

void starpu_fxt_trace_user_event_string(const char *text)
{
	(void)text;
}

void starpu_bound_start(int deps, int prio)
{
	(void)deps, (void)prio;
}

void starpu_bound_stop(void) {}

void starpu_bound_compute(double *res, double *integer_res, int integer)
{
	(void)integer;
	if (res)
		*res = 0;
	if (integer_res)
		*integer_res = 0;
}

void starpu_bound_print(FILE *output, int integer)
{
	(void)output, (void)integer;
}

void starpu_bound_print_dot(FILE *output)
{
	(void)output;
}

void starpu_bound_print_lp(FILE *output)
{
	(void)output;
}

void starpu_bound_print_mps(FILE *output)
{
	(void)output;
}
