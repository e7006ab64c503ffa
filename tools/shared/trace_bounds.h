/* Bounds of a run from the times that its own tasks took. */
#ifndef HD_SHARED_TRACE_BOUNDS_H
#define HD_SHARED_TRACE_BOUNDS_H

#include <heddle.h>

/* Computes lower bounds of the makespan of a traced run. Tasks with the same codelet and footprint are of one kind. The
 * time of a kind on a class of workers is its mean in this trace, so that the bounds hold for this very run, whatever
 * else the machine was doing. If the class did not run the kind, the time is that of the platform `models`, which may
 * be NULL. *out is all NAN when a time is unknown. Returns 0 or a negative heddle_status. */
int measured_bounds(const struct heddle_trace *trace, const struct heddle_platform *models, struct heddle_bounds *out);

#endif
