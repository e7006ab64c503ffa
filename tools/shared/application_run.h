/* Applications on this machine: the experiment behind `heddle run`, `demo` and `platform calibrate`. */
#ifndef HD_SHARED_APPLICATION_RUN_H
#define HD_SHARED_APPLICATION_RUN_H

#include "workload.h"

/* The functions below return TOOL_OK, or print a message and return TOOL_FAILURE or TOOL_USAGE. After success the
 * caller frees *out with outcome_free. */

/* Runs the application on this machine, in a runtime that is started with `config`. If a trace is kept, the outcome has
 * bounds (see trace_bounds.h). */
int application_run(const struct heddle_config *config, const struct work *work, struct outcome *out);
/* application_run in a running runtime, whose trace it takes. */
int application_run_on(heddle_runtime *rt, const struct work *work, struct outcome *out);
/* Checks that the data of the work fit into this machine's memory: TOOL_OK, or a message and TOOL_USAGE. */
int application_check_memory(const struct work *work);

#endif
