/* Private interface between the files of src/start. */
#ifndef HD_START_START_H
#define HD_START_START_H

#include <heddle/settings.h>
#include <heddle/runtime.h>

/* Checks that each number of the configuration is in the range of its setting. HEDDLE_E_INVALID, with a message that
 * names the first setting out of range. In settings.c. */
int hd_config_check(const struct heddle_config *config);

/* Replaces the texts of the configuration by copies that the configuration owns; hd_config_disown frees the copies.
 * After HEDDLE_E_MEMORY, the texts that were not copied are NULL. In settings.c. */
int hd_config_own(struct heddle_config *config);
void hd_config_disown(struct heddle_config *config);

/* Loads the plug-ins of a list of paths, separated by colons; NULL and "": none. Errors: those of heddle_plugin_load.
 * In plugins.c. */
int hd_plugins_load(const char *list);
/* Loads the plug-ins of the setting `plugins`, from the environment or the configuration file, even if other settings
 * are wrong. Called by the command, which lists names without starting a runtime. In settings.c. */
int hd_plugins_configured(void);

/* Sets latency and bandwidth of the links of the runtime's platform that no setting limits: to the results of an
 * earlier start, which are kept beside the models, otherwise to measured ones. In measure_links.c. */
int hd_measure_links(heddle_runtime *rt);
/* Measures all links between the memories of an idle runtime, each alone and several at once, and writes the figures
 * and the buses that links share to `platform`, a copy of the runtime's platform. Removes links that the devices cannot
 * use. Blocks. In calibrate_links.c. */
int hd_calibrate_links(heddle_runtime *rt, struct heddle_platform *platform);

#endif
