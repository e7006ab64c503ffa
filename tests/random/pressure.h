/* Whether runs with little memory have been short of it: what never leaves a memory tests nothing about leaving. */
#ifndef RANDOM_PRESSURE_H
#define RANDOM_PRESSURE_H

#include <stdio.h>
#include <heddle.h>

enum {
	LEAST_EVICTIONS = 2, /* per graph; every policy causes 3 and more */
	ENOUGH_GRAPHS = 100  /* to judge by: a single one may do without */
};

struct pressure {
	uint64_t graphs, evictions; /* of the runtimes whose memories are limited */
};

static inline void add_pressure(struct pressure *p, heddle_runtime *rt, uint64_t graphs)
{
	struct heddle_stats stats;
	if (heddle_runtime_stats(rt, &stats))
		return;
	p->graphs += graphs;
	p->evictions += stats.evictions;
}

/* Says how often something was evicted; -1 when that was too rare. */
static inline int check_pressure(const struct pressure *p)
{
	printf("%llu evictions in the %llu graphs with little memory\n", (unsigned long long)p->evictions,
	       (unsigned long long)p->graphs);
	if (p->graphs < ENOUGH_GRAPHS || p->evictions >= LEAST_EVICTIONS * p->graphs)
		return 0;
	fprintf(stderr, "fewer than %d evictions per graph: the memories are too large for the tasks\n",
	        LEAST_EVICTIONS);
	return -1;
}

#endif
