/* Whether runs with little memory have been short of it: what never leaves a memory tests nothing about leaving. */
#ifndef RANDOM_PRESSURE_H
#define RANDOM_PRESSURE_H

#include <stdio.h>
#include <heddle.h>

enum {
	/* For one eviction. On a quiet machine every policy causes 2 and more per graph; on a busy one the threads of
	 * the devices come late, and the cores run most of the tasks. */
	MOST_GRAPHS = 8,
	ENOUGH_GRAPHS = 100 /* to judge by: a single one may do without */
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
	if (p->graphs < ENOUGH_GRAPHS || MOST_GRAPHS * p->evictions >= p->graphs)
		return 0;
	fprintf(stderr, "fewer than one eviction in %d graphs: the memories are too large for the tasks\n",
	        MOST_GRAPHS);
	return -1;
}

#endif
