/* Dense routines on this machine: the experiment behind `heddle run`, `demo` and `platform calibrate`. */
#ifndef HD_SHARED_DENSE_RUN_H
#define HD_SHARED_DENSE_RUN_H

#include "workload.h"

/* The functions below return TOOL_OK, or print a message and return TOOL_FAILURE or TOOL_USAGE. After success the
 * caller frees *out with outcome_free. */

/* Runs the routine on this machine, in a runtime that is started with `config`. If a trace is kept, the outcome has
 * bounds (see trace_bounds.h). */
int dense_run(const struct heddle_config *config, const struct work *work, struct outcome *out);
/* The same in a runtime that is running. Takes its trace. */
int dense_run_on(heddle_runtime *rt, const struct work *work, struct outcome *out);
/* Checks that its matrix fits in this machine's memory: TOOL_OK, or a message and TOOL_USAGE. */
int dense_check_memory(const struct work *work);

#endif
