/* Task graphs of several types whose perfect schedule is known, by *false execution*: C. Flint, B. Bramas, "Finding new
 * heuristics for automated task prioritizing in heterogeneous computing" (2020), section 4.2.1.
 *
 * The schedule is made first, and the graph from it. Whenever a worker becomes available, a new task appears on it. Its
 * type is one that no other class of workers is faster with, and its predecessors are drawn among the tasks that have
 * finished by then. So every worker always does what it is best at, and none is idle before the last tasks: this is the
 * perfect schedule, and it shows that its makespan can be reached.
 *
 * Part of libheddle-daggen. Functions return 0, or a negative status and set the message of heddle_last_error. Any
 * thread may call them. The same parameters give the same graph on every machine.
 */
#ifndef HEDDLE_DAGGEN_TYPED_H
#define HEDDLE_DAGGEN_TYPED_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_DAGGEN_CPU, HEDDLE_DAGGEN_GPU, HEDDLE_DAGGEN_CLASSES };

struct heddle_daggen_type {
	double cost[HEDDLE_DAGGEN_CLASSES]; /* us, > 0, finite */
	/* Expected share of the tasks, >= 0, in any unit. Only shares of types that are fastest on the same class
	 * compare: how many tasks each class runs follows from the costs. */
	double proportion;
	size_t reach; /* predecessors of this type are among its last `reach` finished tasks; 0: among all of them */
};

struct heddle_daggen_typed_params {
	uint64_t seed;
	size_t n_tasks;
	const struct heddle_daggen_type *types;
	size_t n_types;
	unsigned workers[HEDDLE_DAGGEN_CLASSES];
	/* predecessors[i * n_types + j]: the average number of predecessors of type j that a task of type i has, once
	 * enough tasks have finished. */
	const double *predecessors;
};

/* Where and when a task runs in the perfect schedule. Among workers, CPUs have the lower numbers. */
struct heddle_daggen_slot {
	uint32_t worker;
	double start, end; /* us */
};

struct heddle_daggen_typed_graph {
	struct heddle_graph *graph; /* owns; explicit edges, no data; the columns of its times are "cpu" and "cuda" */
	struct heddle_daggen_slot *schedule; /* owns; the perfect schedule, per task */
	double makespan;                     /* us, of the perfect schedule */
};

/* After success the caller frees *out with heddle_daggen_typed_free. HEDDLE_E_INVALID names the wrong parameter;
 * HEDDLE_E_MEMORY. */
int heddle_daggen_typed(const struct heddle_daggen_typed_params *params, struct heddle_daggen_typed_graph *out);
void heddle_daggen_typed_free(struct heddle_daggen_typed_graph *typed);

/* Checks the perfect schedule and its makespan: each task is on a class that is fastest with it, lasts as long as it
 * takes there, and begins after all its predecessors; no worker is idle before its last task; no worker ends before the
 * last task has begun. HEDDLE_E_INVALID names the first task that is wrong. */
int heddle_daggen_typed_check(const struct heddle_daggen_typed_params *params,
                              const struct heddle_daggen_typed_graph *typed);

#ifdef __cplusplus
}
#endif
#endif
