/* What sub-graphs take, for expand_when.c: expand_times.c. The core lock is held in all functions. */
#ifndef HD_CORE_EXPAND_TIMES_H
#define HD_CORE_EXPAND_TIMES_H

#include "flow/expand.h"

struct hd_refined {
	const heddle_codelet *codelet; /* NULL: the place is free */
	uint64_t footprint;
	unsigned subgraph;      /* 1 + its index */
	double n;               /* tasks; 0: it is not known yet, because the first sub-graph is being submitted */
	double cpu_us, best_us; /* sums over the tasks: on a CPU, and each on the class that is fastest with it */
	double path_us;         /* of the longest path, on CPUs */
};

/* A task is about to be expanded. Until it is known what its sub-graph takes, others like it will not be. Returns what
 * is known; NULL: there is no memory for it. */
const struct hd_refined *hd_refined_begin(heddle_runtime *rt, const heddle_task *t, unsigned subgraph);
/* The sub-graph with the least work, or one that was never tried: then *out is NULL. */
unsigned hd_refined_best(heddle_runtime *rt, const heddle_task *t, const struct hd_refined **out);
/* The longest path of n tasks that take so long together, if they depend on each other as in a product of matrices. */
double hd_refined_path(double us, double n);
/* What the sub-graph takes on so many CPUs alone, us. */
double hd_refined_on_cpus(const struct hd_refined *r, double cpus);

int hd_expand_is_cpu(const heddle_runtime *rt, unsigned class_id);

#endif
