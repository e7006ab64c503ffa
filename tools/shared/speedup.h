/* Times for classes of workers that a graph knows nothing of: the option --speedup. */
#ifndef HD_SHARED_SPEEDUP_H
#define HD_SHARED_SPEEDUP_H

#include "workload.h"

/* The machines on which a graph is simulated. Borrows all. */
struct machines {
	struct heddle_platform *const *list;
	size_t n;
};

/* Gives the tasks of the work's graph times, as `list` says: "CLASS=F,CLASS:TYPE=F". On CLASS, which one of the
 * machines has, tasks take 1/F of their time on the cores ("cpu", or the first class that the graph has times for):
 * tasks of TYPE, or all those that the graph has no time for there. Warns of what was assumed. TOOL_OK, or a message
 * and TOOL_USAGE. */
int work_speed_up(struct work *work, const struct machines *machines, const char *list);

#endif
