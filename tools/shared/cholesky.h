/* The experiment behind `heddle run`, `demo` and `platform calibrate`: Cholesky factorisations for real. */
#ifndef HD_SHARED_CHOLESKY_H
#define HD_SHARED_CHOLESKY_H

#include "workload.h"

/* The functions below print a message when they fail, and return TOOL_OK, TOOL_FAILURE or TOOL_USAGE; *out is to be
 * freed with outcome_free after success.
 *
 * On this machine, as `config` says. With a trace kept, there are bounds: see trace_bounds.h. */
int cholesky_run(const struct heddle_config *config, const struct work *work, struct outcome *out);
/* Those of a running runtime, whose trace the function takes. */
int cholesky_run_on(heddle_runtime *rt, const struct work *work, struct outcome *out);
/* Whether the matrix fits in this machine's memory: TOOL_OK, or a message and TOOL_USAGE. */
int cholesky_check_memory(const struct work *work);

#endif
