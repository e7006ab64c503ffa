/* The fast multipole method with a CUDA device (fmm_on_device.h), which is the stand-in of tests/standin: its fibres
 * take few points. */
#include "../cuda/devices.h"

enum { N = 600, MOST_DIGITS = 4 };
#include "fmm_on_device.h"
#include <fmm/opencl/offer.h>

/* Cores have the other tasks, and share the near field. */
static void open_method(uint64_t memory)
{
	struct heddle_config config = cuda_config(1);
	config.n_cpu = 1;
	config.cuda_memory = memory;
	config.sched = "random"; /* every worker gets its share, however busy the machine and slow the device is */
	config.sched_options = "models=no";
	OK(heddle_start(&config, &rt));
	OK(heddle_fmm_open(rt, &fmm));
	before = 0;
}

int main(void)
{
	if (!hd_fmm_has_cuda()) {
		printf("left out: this build has no kernels for CUDA devices\n");
		return 77;
	}
	return cmocka_run_group_tests(fmm_on_device, set_up, tear_down);
}
