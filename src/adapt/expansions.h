/* The records of the setting expand=adaptive: of the runtime, of each hierarchical task and of each datum. All
 * functions are called with the core lock held. */
#ifndef HD_ADAPT_EXPANSIONS_H
#define HD_ADAPT_EXPANSIONS_H

#include "state/data.h"
#include "state/runtime.h"

/* The predicted times of one sub-graph of a codelet, for tasks with one footprint: subgraph_times.c. */
struct hd_refined {
	const heddle_codelet *codelet; /* NULL: this entry of the table is free */
	uint64_t footprint;
	unsigned subgraph; /* 1 + the index of the sub-graph */
	/* number of tasks in it; 0: not known yet, because the first such sub-graph is being submitted */
	double n;
	double cpu_us, best_us; /* us, sums over its tasks: on CPUs; each on its fastest class */
	double path_us;         /* us on CPUs: length of its longest path */
};
enum { HD_REFINED_PLACES = 512 };

/* work_ahead.c: one level of tasks. In us: the end of its longest path; the begin of this path; and the sum of the
 * times of those tasks for accelerators that are not ready yet. */
struct hd_ahead {
	double path_us, begun_us, later_us;
};

enum { HD_FOR_CPUS, HD_FOR_ACCELERATORS, HD_N_HEAPS };
struct hd_expansions {
	heddle_task *undecided[HD_N_HEAPS]; /* heaps of ready tasks, by the kind of worker that runs the task fastest */
	size_t n_for_cpus;                  /* number of tasks in the heap HD_FOR_CPUS */
	/* us: sum of the times of the undecided tasks for accelerators, each run whole */
	double undecided_us;
	/* us: sum of the times of the tasks for accelerators that will run whole and have not ended */
	double whole_us;
	/* [0]: of the tasks that the program has submitted; [1]: of the hierarchical tasks in their sub-graphs */
	struct hd_ahead ahead[2];
	uint64_t n_children; /* number of tasks of sub-graphs for CPUs that have not ended */
	uint64_t n_expected; /* number of tasks that sub-graphs for CPUs will submit, by their records */
	struct hd_refined refined[HD_REFINED_PLACES];
};

/* The record of a hierarchical task. It follows the task's `extra` in memory. */
struct hd_expansion_record {
	/* Sums over the tasks of its sub-graph that have entered the graph, in us: of the times on CPUs; of the times
	 * of each task on its fastest class; of the times on CPUs if each task may be expanded again. NAN: unknown. */
	double cpu_us, best_us, steps_us;
	/* us: the time of the whole task while it is undecided, or if it will run whole; otherwise 0 */
	double whole_us;
	/* top_us: when the task can begin at the earliest, us on the path of the program. later_us: its time on an
	 * accelerator, us, while it waits for other tasks; otherwise 0. */
	double top_us, later_us;
	uint64_t expected; /* number of tasks that its sub-graph will submit, by the record; or 0 */
	uint8_t for_cpus;  /* 1: its sub-graph is for CPUs only, or the task is in such a sub-graph */
};
static inline struct hd_expansion_record *hd_expansion_record(const heddle_task *t)
{
	return (struct hd_expansion_record *)(void *)(t->extra + 1);
}

/* The record of a datum with plans, in us on the path of the program: when the last task that writes the datum will
 * have ended, and when the last task that uses it will have ended. */
struct hd_expansion_ends {
	double written_us, read_us;
};
static inline struct hd_expansion_ends *hd_expansion_ends(const heddle_data *d)
{
	const struct hd_adapt *a = &d->rt->adapt;
	return (struct hd_expansion_ends *)((uintptr_t)d + a->datum_at + a->datum_bytes) - 1;
}

/* subgraph_times.c */
int hd_expand_is_cpu(const heddle_runtime *rt, unsigned class_id);
/* The least predicted time of a task, us, over the classes that can run it; NAN: the time on one of them is unknown.
 * *on_cpu: the least time on CPU classes, INFINITY if there is none; *class_id: the class with the least time. */
double hd_expand_least_time(const heddle_runtime *rt, const heddle_task *t, double *on_cpu, unsigned *class_id);
/* Called when a task is about to be expanded; returns the record of its sub-graph. As long as the record's n is 0,
 * other tasks with this record are not expanded. */
const struct hd_refined *hd_refined_begin(heddle_runtime *rt, const heddle_task *t, unsigned subgraph);
/* If a sub-graph of the task was never tried: 1 + its index, and *out is NULL. Otherwise 1 + the index of the sub-graph
 * with the least work, and *out is its record. */
unsigned hd_refined_best(heddle_runtime *rt, const heddle_task *t, const struct hd_refined **out);
/* hd_refined_steps guesses the number of tasks on the longest path of a sub-graph of n tasks. hd_refined_path guesses
 * the length of this path in us, if all n tasks together take `us`. */
double hd_refined_steps(double n);
double hd_refined_path(double us, double n);
/* The time of the sub-graph on `cpus` CPUs without accelerators, us. */
double hd_refined_on_cpus(const struct hd_refined *r, double cpus);
/* These are functions of the table struct hd_adapt. */
void hd_refined_child_entered(heddle_runtime *rt, const heddle_task *child);
void hd_refined_child_ended(heddle_runtime *rt, const heddle_task *child);
void hd_refined_submitted(heddle_runtime *rt, heddle_task *t, int status);

/* work_ahead.c */
/* These are functions of the table struct hd_adapt: a hierarchical task has entered the graph; it is ready. */
void hd_ahead_entered(heddle_runtime *rt, heddle_task *t);
void hd_ahead_ready(heddle_runtime *rt, heddle_task *t);
/* The length in us of the longest chain that begins with this task: of tasks that the program has submitted or, if `t`
 * is in a sub-graph of these, of tasks in such sub-graphs. */
double hd_ahead_chain(const heddle_runtime *rt, const heddle_task *t);
/* The sum, in us, of the times of the tasks for accelerators that are not ready yet. */
double hd_ahead_later(const heddle_runtime *rt);
/* The time in us to copy `bytes` between main memory and an accelerator. */
double hd_ahead_copy_time(const heddle_runtime *rt, double bytes);

#endif
