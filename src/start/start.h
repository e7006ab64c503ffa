/* What the files that start a runtime know of each other. */
#ifndef HD_START_H
#define HD_START_H

#include <heddle/settings.h>
#include "core/runtime.h"

/* settings.c. Whether every number of the configuration is in the range that the documentation of its setting gives.
 * HEDDLE_E_INVALID names the first that is not. */
int hd_config_check(const struct heddle_config *config);

/* measure_links.c. Measures the links of the runtime's platform that have no limit of their own, or takes the figures
 * that an earlier start has kept beside the models. */
int hd_measure_links(heddle_runtime *rt);

#endif
