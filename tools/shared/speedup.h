/* Times for classes of workers that a graph knows nothing of: the options --speedup and --times. */
#ifndef HD_SHARED_SPEEDUP_H
#define HD_SHARED_SPEEDUP_H

#include "workload.h"

/* The machines on which a graph is simulated. Borrows all. */
struct machines {
	struct heddle_platform *const *list;
	size_t n;
};

/* What the options say, NULL: nothing. Borrows both. */
struct assumed_times {
	const char *times;   /* "CLASS:TYPE=US,..." */
	const char *speedup; /* "CLASS=F,CLASS:TYPE=F,..." */
};
/* A child parser for both options. Its input is a struct assumed_times. */
extern const struct argp assumed_argp;

/* Gives the tasks of the work's graph times. On CLASS, which one of the machines has, tasks of TYPE take US; or 1/F of
 * their time on the cores ("cpu", or the first class that the graph has times for): tasks of TYPE, or all those that
 * the graph has no time for there, also after `times`. Warns of what was assumed, and of times that a machine's own
 * ones hide. TOOL_OK, or a message and TOOL_USAGE. */
int work_assume_times(struct work *work, const struct machines *machines, const struct assumed_times *assumed);

#endif
