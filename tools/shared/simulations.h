/* Simulations on several threads, for `heddle repro`. Simulations of one work on one platform share a recording. */
#ifndef HD_SHARED_SIMULATIONS_H
#define HD_SHARED_SIMULATIONS_H

#include "tool.h"
#include "workload.h"

struct simulation {
	struct heddle_config config;
	const struct heddle_platform *platform; /* borrows; simulations on the same machine have the same address */
	struct work work;
	struct outcome *outcome; /* borrows; filled by work_sim */
};

/* Runs all simulations, on as many threads as this machine has cores. TOOL_OK, or messages and a status: some outcomes
 * were not filled. */
int simulations_run(struct simulation *list, size_t n);

#endif
