/* What the files of src/start offer to each other. */
#ifndef HD_START_H
#define HD_START_H

#include <heddle/settings.h>
#include "core/runtime.h"

/* settings.c. Checks that every number of the configuration is in the range of its setting. HEDDLE_E_INVALID, with a
 * message that names the first setting that is not. */
int hd_config_check(const struct heddle_config *config);

/* measure_links.c. Sets latency and bandwidth of those links of the runtime's platform that no setting limits: to the
 * figures that an earlier start has kept beside the models, otherwise to measured ones. */
int hd_measure_links(heddle_runtime *rt);

#endif
