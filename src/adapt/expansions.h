/* What the setting expand=adaptive remembers: of the runtime, of each hierarchical task and of each datum. The core
 * lock is held in all functions. */
#ifndef HD_ADAPT_EXPANSIONS_H
#define HD_ADAPT_EXPANSIONS_H

#include "state/runtime.h"
#include "state/data.h"

/* What the sub-graphs of a codelet take, for one size of its tasks: subgraph_times.c. */
struct hd_refined {
	const heddle_codelet *codelet; /* NULL: the place is free */
	uint64_t footprint;
	unsigned subgraph;      /* 1 + its index */
	double n;               /* tasks; 0: it is not known yet, because the first sub-graph is being submitted */
	double cpu_us, best_us; /* sums over the tasks: on a CPU, and each on the class that is fastest with it */
	double path_us;         /* of the longest path, on CPUs */
};
enum { HD_REFINED_PLACES = 512 };

/* work_ahead.c: the end of the longest path of tasks, where it begins, and what the tasks for accelerators take that
 * are not ready yet, us. */
struct hd_ahead {
	double path_us, begun_us, later_us;
};

enum { HD_FOR_CPUS, HD_FOR_ACCELERATORS, HD_N_HEAPS };
struct hd_expansions {
	heddle_task *undecided[HD_N_HEAPS]; /* heaps of tasks that are ready, by what runs them fastest */
	size_t n_for_cpus;                  /* those in the heap HD_FOR_CPUS */
	double undecided_us;                /* what the undecided tasks for accelerators take if they run whole */
	double whole_us;                    /* the same of the tasks that were told to run whole, and have not ended */
	struct hd_ahead ahead[2]; /* of tasks that the program has submitted, and of tasks in their sub-graphs */
	uint64_t n_children;      /* tasks of sub-graphs for CPUs that have not ended */
	uint64_t n_expected;      /* so many more are expected of sub-graphs that are about to be submitted */
	struct hd_refined refined[HD_REFINED_PLACES];
};

/* What is remembered of a hierarchical task, behind its `extra`. */
struct hd_expansion_record {
	/* What the tasks of its sub-graph take that have entered the graph, us: on a CPU, each on the class that is
	 * fastest with it, and each on CPUs if it may be expanded again; NAN: unknown. */
	double cpu_us, best_us, steps_us;
	/* What the task takes if it runs whole, while it is undecided or was told so; otherwise 0. */
	double whole_us;
	/* When it can begin at the earliest, us on the path of the program; what it takes on an accelerator, while it
	 * waits for other tasks, otherwise 0. */
	double top_us, later_us;
	uint64_t expected; /* how many tasks its sub-graph is expected to have, while that is about to be submitted */
	uint8_t for_cpus;  /* its sub-graph, or the one that it is in, was begun for CPUs */
};
static inline struct hd_expansion_record *hd_expansion_record(const heddle_task *t)
{
	return (struct hd_expansion_record *)(void *)(t->extra + 1);
}

/* What is remembered of a datum that has plans: when its writers, and all its tasks, will have ended, us on the path of
 * the program. */
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
/* The least time of a task over the classes that can run it, us; NAN: unknown for one of them. *on_cpu: the least over
 * CPUs, or INFINITY; *class_id: the class with the least time. */
double hd_expand_least_time(const heddle_runtime *rt, const heddle_task *t, double *on_cpu, unsigned *class_id);
/* A task is about to be expanded. Until it is known what its sub-graph takes, others like it will not be. Returns what
 * is known. */
const struct hd_refined *hd_refined_begin(heddle_runtime *rt, const heddle_task *t, unsigned subgraph);
/* The sub-graph with the least work, or one that was never tried: then *out is NULL. */
unsigned hd_refined_best(heddle_runtime *rt, const heddle_task *t, const struct hd_refined **out);
/* A guess how many of the n tasks of a sub-graph are on its longest path; and what that takes if all take `us`. */
double hd_refined_steps(double n);
double hd_refined_path(double us, double n);
/* What the sub-graph takes on so many CPUs alone, us. */
double hd_refined_on_cpus(const struct hd_refined *r, double cpus);
/* struct hd_adapt. */
void hd_refined_child_entered(heddle_runtime *rt, const heddle_task *child);
void hd_refined_child_ended(heddle_runtime *rt, const heddle_task *child);
void hd_refined_submitted(heddle_runtime *rt, heddle_task *t, int status);

/* work_ahead.c */
/* struct hd_adapt: a hierarchical task has entered the graph; it is ready. */
void hd_ahead_entered(heddle_runtime *rt, heddle_task *t);
void hd_ahead_ready(heddle_runtime *rt, heddle_task *t);
/* What the longest chain of tasks takes that begins with this one, us: of the tasks that the program has submitted, or
 * of those in their sub-graphs if it is one of these. */
double hd_ahead_chain(const heddle_runtime *rt, const heddle_task *t);
/* What the tasks for accelerators take that are not ready yet, us. */
double hd_ahead_later(const heddle_runtime *rt);
/* What it takes to copy so many bytes between main memory and an accelerator, us. */
double hd_ahead_copy_time(const heddle_runtime *rt, double bytes);

#endif
