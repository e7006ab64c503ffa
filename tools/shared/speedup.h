/* Times for classes of workers for which a graph has no times: the options --speedup and --times. */
#ifndef HD_SHARED_SPEEDUP_H
#define HD_SHARED_SPEEDUP_H

#include "workload.h"

/* The machines on which a graph is simulated. Borrows all. */
struct machines {
	struct heddle_platform *const *list;
	size_t n;
};

/* The values of the options; NULL: not given. Borrows both. */
struct assumed_times {
	const char *times;   /* "CLASS:TYPE=US,..." */
	const char *speedup; /* "CLASS=F,CLASS:TYPE=F,..." */
};
/* A child parser for both options. Its input is a struct assumed_times. */
extern const struct argp assumed_argp;

/* Gives the tasks of the work's graph times. `times`: on CLASS, which one of the machines has, tasks of TYPE take US.
 * `speedup`, applied afterwards: on CLASS, tasks take 1/F of their time on the cores ("cpu", or the first class for
 * which the graph has times); this holds for tasks of TYPE, or for all tasks without a time on CLASS. Warns of assumed
 * times, and of given times that a machine's own times override. TOOL_OK, or a message and TOOL_USAGE. */
int work_assume_times(struct work *work, const struct machines *machines, const struct assumed_times *assumed);

#endif
