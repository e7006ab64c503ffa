/* What the files of src/start offer to each other. */
#ifndef HD_START_H
#define HD_START_H

#include <heddle/settings.h>
#include "state/runtime.h"

/* settings.c. Checks that every number of the configuration is in the range of its setting. HEDDLE_E_INVALID, with a
 * message that names the first setting that is not. */
int hd_config_check(const struct heddle_config *config);

/* settings.c. Replaces the texts of the configuration by copies; then frees these. After HEDDLE_E_MEMORY, the texts
 * that were not copied are NULL. */
int hd_config_own(struct heddle_config *config);
void hd_config_disown(struct heddle_config *config);

/* plugins.c. Loads the plug-ins whose paths the list has, with colons between them; NULL and "": none. Errors: those of
 * heddle_plugin_load. */
int hd_plugins_load(const char *list);
/* settings.c. Loads those of the setting `plugins`, from the environment or the configuration file, whatever else is
 * wrong there: for the command, which shows names before it starts a runtime. */
int hd_plugins_configured(void);

/* measure_links.c. Sets latency and bandwidth of those links of the runtime's platform that no setting limits: to the
 * figures that an earlier start has kept beside the models, otherwise to measured ones. */
int hd_measure_links(heddle_runtime *rt);
/* calibrate_links.c. Measures all links between the memories of a runtime that has nothing to do, each alone and
 * several at once, and writes their figures, and the buses that they share, to `platform`, a copy of the runtime's.
 * Links that the devices cannot use are removed. Blocks. */
int hd_calibrate_links(heddle_runtime *rt, struct heddle_platform *platform);

#endif
