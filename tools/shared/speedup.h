/* Times for classes of workers that a graph knows nothing of: the option --speedup. */
#ifndef HD_SHARED_SPEEDUP_H
#define HD_SHARED_SPEEDUP_H

#include "workload.h"

/* Gives the tasks of the work's graph times, as `list` says: "CLASS=F,CLASS:TYPE=F". On CLASS, one of the platform,
 * tasks take 1/F of their time on the cores ("cpu", or the first class that the graph has times for): tasks of TYPE, or
 * all those that the graph has no time for there. Warns of what was assumed. TOOL_OK, or a message and TOOL_USAGE. */
int work_speed_up(struct work *work, const struct heddle_platform *platform, const char *list);

#endif
