/* Plug-ins: shared libraries with policies, drivers and applications of one's own, for any program and for the command.
 *
 * A plug-in is loaded by `HEDDLE_PLUGINS=./mine.so:./other.so` in front of any program, by the setting `plugins`, by
 * `heddle --plugin ./mine.so ...`, or by heddle_plugin_load. It defines one symbol, which says what to call:
 *
 *   static int start(void)
 *   {
 *           return heddle_policy_register(&my_policy);
 *   }
 *   const struct heddle_plugin heddle_plugin = {HEDDLE_PLUGIN_ABI, "mine", "a policy of mine", start};
 * and is compiled as a shared library (`cc -shared -fPIC`) with the options that pkg-config gives for heddle. The
 * policies, drivers and applications of a loaded plug-in are found by their names, as Heddle's own are.
 * docs/plugins.md has more. */
#ifndef HEDDLE_PLUGIN_H
#define HEDDLE_PLUGIN_H

#include <heddle/application.h>
#include <heddle/driver.h>
#include <heddle/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_PLUGIN_ABI 1

struct heddle_plugin {
	unsigned abi; /* HEDDLE_PLUGIN_ABI */
	const char *name, *summary;
	/* Registers the policies, drivers and applications of the plug-in, by heddle_policy_register,
	 * heddle_driver_register and heddle_application_register. Called once, by the thread that loads the plug-in.
	 * Returns 0, or the status of a function that has failed; loading then fails with the sentence of this
	 * function. */
	int (*start)(void);
};

/* The symbol that a plug-in defines. The attribute keeps it visible under -fvisibility=hidden. */
#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
extern const struct heddle_plugin heddle_plugin;

/* Loads a plug-in, for the rest of the process; a loaded plug-in is not loaded again. `path` is the path of a shared
 * library and has a '/', because the loader would look for a name without one in other directories. heddle_config_init
 * and heddle_start load the plug-ins of the setting `plugins`, so programs need not call this function. HEDDLE_E_IO:
 * the file does not exist or cannot be loaded; HEDDLE_E_FORMAT: the library is no plug-in; HEDDLE_E_UNSUPPORTED: the
 * plug-in was made for another version; HEDDLE_E_INVALID: the path has no '/', a name is taken, or the plug-in
 * registers something incomplete. May be called by any thread. */
int heddle_plugin_load(const char *path);

#ifdef __cplusplus
}
#endif
#endif
