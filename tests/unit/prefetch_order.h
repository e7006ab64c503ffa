/* Prefetches that go in order from now on, as if others had been in vain. */
#ifndef PREFETCH_ORDER_H
#define PREFETCH_ORDER_H

#include "adapt/trust.h"

static inline void spend_credit(heddle_runtime *rt, unsigned node)
{
	rt->memories[node].trust->credit = -1;
	rt->memories[node].in_order = 1;
}

#endif
