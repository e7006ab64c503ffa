/* Small random numbers for tests. */
#ifndef TEST_CHANCE_H
#define TEST_CHANCE_H

#include <stdint.h>
#include "base/base.h"

/* A number below `bound`, which is small: the bias does not matter. */
static inline uint32_t below(struct hd_rng *rng, uint32_t bound)
{
	return (uint32_t)(hd_rng_next(rng) % bound);
}

#endif
