/* Task graphs of several types whose perfect schedule is known, by *false execution*: C. Flint, B. Bramas, "Finding new
 * heuristics for automated task prioritizing in heterogeneous computing" (2020), section 4.2.1.
 *
 * Workers run an empty program: whenever one becomes available a task appears on it, of a type that no class is faster
 * with, and what it waits for is drawn among the tasks finished by then. So all workers always do what they are best
 * at, and none is idle before the last tasks: that is the perfect schedule, and its makespan one that can be reached.
 *
 * Functions return 0 or a negative status with a sentence for heddle_last_error. Any thread may call them. The same
 * parameters give the same graph, everywhere.
 */
#ifndef HD_DAGGEN_TYPED_H
#define HD_DAGGEN_TYPED_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/graph.h>

enum { HD_DAGGEN_CPU, HD_DAGGEN_GPU, HD_DAGGEN_CLASSES };

struct hd_daggen_type {
	double cost[HD_DAGGEN_CLASSES]; /* us, > 0, finite */
	/* Expected share of the tasks, >= 0, in any unit. How many tasks the CPUs run follows from the costs: among the
	 * types that appear on one class, shares are as expected. */
	double proportion;
	size_t reach; /* a task that depends on this type: on some of its last `reach` finished ones; 0: of all */
};

struct hd_daggen_typed_params {
	uint64_t seed;
	size_t n_tasks;
	const struct hd_daggen_type *types;
	size_t n_types;
	unsigned workers[HD_DAGGEN_CLASSES];
	/* [i * n_types + j]: how many predecessors of type j a task of type i has, on average, once there are enough to
	 * draw. */
	const double *predecessors;
};

/* One task in the perfect schedule. CPUs have the lower numbers. */
struct hd_daggen_slot {
	uint32_t worker;
	double start, end; /* us */
};

struct hd_daggen_typed {
	struct heddle_graph *graph; /* owns; explicit edges, no data; the columns of its times are "cpu" and "cuda" */
	struct hd_daggen_slot *schedule; /* owns; per task: the perfect schedule */
	double makespan;                 /* us: of the perfect schedule */
};

/* HEDDLE_E_INVALID: which parameter is wrong; HEDDLE_E_MEMORY. `out` ends with hd_daggen_typed_free, after success
 * only. */
int hd_daggen_typed(const struct hd_daggen_typed_params *params, struct hd_daggen_typed *out);
void hd_daggen_typed_free(struct hd_daggen_typed *typed);

/* Replays the perfect schedule: each task on a class that is fastest with it and for as long as that takes, after all
 * its predecessors, no worker idle before its last task, no worker done before the last task has begun; and the
 * makespan. HEDDLE_E_INVALID, and the task that breaks it. */
int hd_daggen_typed_check(const struct hd_daggen_typed_params *params, const struct hd_daggen_typed *typed);

#endif
