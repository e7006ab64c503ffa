/* Bounds of a run from the times that its own tasks took. */
#ifndef HD_SHARED_TRACE_BOUNDS_H
#define HD_SHARED_TRACE_BOUNDS_H

#include <heddle.h>

/* The time of a task on a class is the mean of those of its kind (codelet and footprint) that ran there in this trace.
 * Where none did, it is the one that `models` has, a platform that may be NULL. Bounds from these means hold for the
 * run itself, whatever else the machine was doing; those from older measurements need not. *out is all NAN when a class
 * has never run a kind of task. Returns 0 or a negative heddle_status. */
int measured_bounds(const struct heddle_trace *trace, const struct heddle_platform *models, struct heddle_bounds *out);

#endif
