/* The fast multipole method with an OpenCL device (fmm_on_device.h). */
#include "opencl.h"

enum { N = 1500, MOST_DIGITS = 8 };
#include "fmm_on_device.h"

/* Cores have the other tasks, and share the near field. */
static void open_method(uint64_t memory)
{
	struct heddle_config config = small_config();
	struct heddle_platform *p = machine_with_opencl(1, 1, memory, 2);
	config.sched = "random"; /* every worker gets its share, however busy the machine and slow the device is */
	config.sched_options = "models=no";
	OK(heddle_start_on(&config, p, 0, &rt));
	heddle_platform_free(p);
	OK(heddle_fmm_open(rt, &fmm));
	before = 0;
}

int main(void)
{
	need_device();
	return cmocka_run_group_tests(fmm_on_device, set_up, tear_down);
}
