/* Interface between the files of src/start, and to the command heddle. */
#ifndef HD_START_START_H
#define HD_START_START_H

#include <heddle/settings.h>
#include <heddle/runtime.h>

/* settings.c: checks that each number of the configuration is in the range of its setting. HEDDLE_E_INVALID, with a
 * message that names the first setting out of its range. */
int hd_config_check(const struct heddle_config *config);

/* settings.c: hd_config_own replaces the texts of the configuration by copies that the configuration owns;
 * hd_config_disown frees these. After HEDDLE_E_MEMORY, the texts that were not copied are NULL. */
int hd_config_own(struct heddle_config *config);
void hd_config_disown(struct heddle_config *config);

/* plugins.c: loads the plug-ins of a list of paths, separated by colons; NULL, "": none. Errors of
 * heddle_plugin_load. */
int hd_plugins_load(const char *list);
/* settings.c: loads the plug-ins that the setting `plugins` names in the environment or the configuration file, even if
 * other settings are wrong. The command calls it before it lists names, because then no runtime is started. */
int hd_plugins_configured(void);

/* measure_links.c: sets latency and bandwidth of each link of the runtime's platform that no setting limits: to the
 * figures of an earlier start, kept beside the models, or to measured ones. */
int hd_measure_links(heddle_runtime *rt);
/* calibrate_links.c: measures all links between the memories of an idle runtime, each alone and several at once. Writes
 * the figures, and the buses that links share, to `platform`, a copy of the runtime's platform, and removes links that
 * the devices cannot use. Blocks. */
int hd_calibrate_links(heddle_runtime *rt, struct heddle_platform *platform);

#endif
