/* The records of the setting expand=adaptive: of the runtime, of each hierarchical task and of each datum. The core
 * lock is held in all functions. */
#ifndef HD_ADAPT_EXPANSIONS_H
#define HD_ADAPT_EXPANSIONS_H

#include "state/data.h"
#include "state/runtime.h"

/* The predicted times of one sub-graph of a codelet, for one footprint of its tasks: subgraph_times.c. */
struct hd_refined {
	const heddle_codelet *codelet; /* NULL: this place of the table is free */
	uint64_t footprint;
	unsigned subgraph; /* 1 + the index of the sub-graph */
	/* number of tasks; 0: not known yet, because the first such sub-graph is being submitted */
	double n;
	double cpu_us, best_us; /* us, summed over the tasks: on CPUs; each task on its fastest class */
	double path_us;         /* us: length of the longest path, on CPUs */
};
enum { HD_REFINED_PLACES = 512 };

/* work_ahead.c: the path of a level of tasks, us: where its longest path ends, where the path begins, and the sum of
 * the times of the tasks for accelerators that are not ready yet. */
struct hd_ahead {
	double path_us, begun_us, later_us;
};

enum { HD_FOR_CPUS, HD_FOR_ACCELERATORS, HD_N_HEAPS };
struct hd_expansions {
	heddle_task *undecided[HD_N_HEAPS]; /* heaps of ready tasks, by the kind of worker that is fastest with them */
	size_t n_for_cpus;                  /* number of tasks in the heap HD_FOR_CPUS */
	/* us: sum of the times of the undecided tasks for accelerators, each run whole */
	double undecided_us;
	/* us: sum of the times of the tasks for accelerators that were decided to run whole and have not ended */
	double whole_us;
	/* [0]: of the tasks that the program has submitted; [1]: of the hierarchical tasks in their sub-graphs */
	struct hd_ahead ahead[2];
	uint64_t n_children; /* number of tasks of sub-graphs for CPUs that have not ended */
	uint64_t n_expected; /* number of tasks expected from sub-graphs for CPUs that are about to be submitted */
	struct hd_refined refined[HD_REFINED_PLACES];
};

/* The record of a hierarchical task. It follows the task's `extra` in memory. */
struct hd_expansion_record {
	/* us, summed over the tasks of its sub-graph that have entered the graph: on CPUs; each task on its fastest
	 * class; on CPUs if each task may be expanded again. NAN: unknown. */
	double cpu_us, best_us, steps_us;
	/* us: time of the task run whole, while it is undecided or after it was decided to run whole; otherwise 0. */
	double whole_us;
	/* top_us: the earliest time at which it can begin, us on the path of the program. later_us: its time on an
	 * accelerator, us, while it waits for other tasks; otherwise 0. */
	double top_us, later_us;
	uint64_t expected; /* expected number of tasks of its sub-graph, while the sub-graph is about to be submitted */
	uint8_t for_cpus;  /* 1: its sub-graph, or the sub-graph around it, is for CPUs only */
};
static inline struct hd_expansion_record *hd_expansion_record(const heddle_task *t)
{
	return (struct hd_expansion_record *)(void *)(t->extra + 1);
}

/* The record of a datum with plans: when its last writer, and the last task that uses it, will have ended, us on the
 * path of the program. */
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
/* The least predicted time of a task over the classes that can run it, us; NAN: unknown for one of them. *on_cpu: the
 * least time over CPU classes, or INFINITY; *class_id: the class with the least time. */
double hd_expand_least_time(const heddle_runtime *rt, const heddle_task *t, double *on_cpu, unsigned *class_id);
/* To be called when a task is about to be expanded; returns the record of its sub-graph. While the record is new (n is
 * 0), other tasks like it are not expanded. */
const struct hd_refined *hd_refined_begin(heddle_runtime *rt, const heddle_task *t, unsigned subgraph);
/* 1 + the index of the sub-graph with the least work, *out: its record; or of a sub-graph that was never tried: *out is
 * NULL. */
unsigned hd_refined_best(heddle_runtime *rt, const heddle_task *t, const struct hd_refined **out);
/* hd_refined_steps: a guess of the number of tasks on the longest path of a sub-graph of n tasks. hd_refined_path: the
 * length of that path, us, if all n tasks together take `us`. */
double hd_refined_steps(double n);
double hd_refined_path(double us, double n);
/* The time of the sub-graph on `cpus` CPUs alone, us. */
double hd_refined_on_cpus(const struct hd_refined *r, double cpus);
/* Functions of the table struct hd_adapt. */
void hd_refined_child_entered(heddle_runtime *rt, const heddle_task *child);
void hd_refined_child_ended(heddle_runtime *rt, const heddle_task *child);
void hd_refined_submitted(heddle_runtime *rt, heddle_task *t, int status);

/* work_ahead.c */
/* Called through the table struct hd_adapt when a hierarchical task has entered the graph, and when it is ready. */
void hd_ahead_entered(heddle_runtime *rt, heddle_task *t);
void hd_ahead_ready(heddle_runtime *rt, heddle_task *t);
/* The length, us, of the longest chain of tasks that begins with this one: of the tasks that the program has submitted;
 * or of those in their sub-graphs, if `t` is one of these. */
double hd_ahead_chain(const heddle_runtime *rt, const heddle_task *t);
/* The sum of the times of the tasks for accelerators that are not ready yet, us. */
double hd_ahead_later(const heddle_runtime *rt);
/* The time to copy `bytes` between main memory and an accelerator, us. */
double hd_ahead_copy_time(const heddle_runtime *rt, double bytes);

#endif
