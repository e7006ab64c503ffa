/* The configuration of a runtime of at most so many cores, and of emulated accelerators. */
#ifndef TEST_CORES_CONFIG_H
#define TEST_CORES_CONFIG_H

#include "../machine.h"
#include "ok.h"

static inline struct heddle_config config_of(const char *sched, int n_cpu, int n_emulated)
{
	struct heddle_config config;
	OK(heddle_config_init(&config));
	config.n_cpu = cores_up_to(n_cpu);
	config.n_cuda = config.n_opencl = 0;
	config.n_emulated = n_emulated;
	config.sched = sched;
	config.sched_options = NULL;
	config.platform = NULL;
	config.model_dir = "none";
	return config;
}

#endif
