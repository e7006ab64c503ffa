/* What the setting expand=adaptive knows: expand_when.c. A part of the runtime. */
#ifndef HD_CORE_ADAPTIVE_H
#define HD_CORE_ADAPTIVE_H

#include <stddef.h>
#include <stdint.h>
#include "state/task.h"

/* Hierarchical tasks about which the setting expand=adaptive decides: expand_when.c. */
struct hd_refined;
enum { HD_FOR_CPUS, HD_FOR_ACCELERATORS, HD_N_HEAPS };
/* expand_ahead.c: the end of the longest path of tasks, where it begins, and what the tasks for accelerators take that
 * are not ready yet, us. */
struct hd_ahead {
	double path_us, begun_us, later_us;
};
struct hd_adaptive {
	int setting;                        /* const after start: the value of the setting, as expand_when.c has it */
	int on;                             /* const after start: it is adaptive */
	heddle_task *undecided[HD_N_HEAPS]; /* heaps of tasks that are ready, by what runs them fastest */
	size_t n_undecided, n_for_cpus;     /* all of them; those in the heap HD_FOR_CPUS */
	double undecided_us;                /* what those for accelerators take if they run whole */
	double whole_us;                    /* the same of those that were told to run whole, and have not ended */
	struct hd_ahead ahead[2];   /* of tasks that the program has submitted, and of those in their sub-graphs */
	uint64_t n_children;        /* tasks of sub-graphs for CPUs that have not ended */
	uint64_t n_expected;        /* and so many more are expected of those that are about to be submitted */
	struct hd_refined *refined; /* owned: what sub-graphs take, expand_times.c; NULL: nothing was learnt yet */
};

#endif
