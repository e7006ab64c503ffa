/* An emulated accelerator whose memory is soon full. */
#ifndef TEST_ACCELERATOR_H
#define TEST_ACCELERATOR_H

#include "program.h"

enum { N = 1000 }; /* elements of the data that fill an accelerator */

/* A CPU worker and one accelerator with room for one datum of N, over links so slow that a copy takes long. */
static inline heddle_runtime *start_accelerator(double bandwidth)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 1;
	config.emulated_memory = N * sizeof(double) * 5 / 4;
	config.emulated_bandwidth = bandwidth;
	return start_with(&config);
}

static inline uint64_t evictions(heddle_runtime *rt)
{
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	return stats.evictions;
}

#endif
