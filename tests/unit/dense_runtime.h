/* For tests of libheddle-dense: a runtime with its codelets. */
#ifndef DENSE_RUNTIME_H
#define DENSE_RUNTIME_H

#include <stdlib.h>
#include <heddle/dense.h>
#include "../machine.h"
#include "dense_on_cuda.h"
#include "ok.h"

struct fixture {
	heddle_runtime *rt;
	heddle_dense *dense;
};

/* `memory` is that of each accelerator, in bytes; 0: no limit. With accelerators each worker gets its share of the
 * tasks, however busy the machine is. */
static inline struct heddle_config settings(int n_cpu, int n_emulated, uint64_t memory)
{
	struct heddle_config config;
	OK(heddle_config_init(&config));
	config.n_cpu = cores_up_to(n_cpu);
	config.n_emulated = n_emulated;
	config.emulated_memory = memory;
	config.sched = n_emulated ? "random" : "eager";
	config.sched_options = NULL;
	config.platform = NULL;
	config.model_dir = "none";
	return config;
}

/* Two cores, if there are so many. */
static inline int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct heddle_config config = settings(2, 0, 0);
	use_cuda(&config, 0);
	OK(heddle_start(&config, &f->rt));
	OK(heddle_dense_open(f->rt, &f->dense));
	*state = f;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;
	heddle_dense_close(f->dense);
	OK(heddle_stop(f->rt));
	free(f);
	return 0;
}

#endif
