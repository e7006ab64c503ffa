/* Plug-ins: shared libraries that are loaded when the program starts. See heddle/plugin.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <heddle/plugin.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "start.h"
#include "base/base.h"

/* Guards the list of plug-ins. The list belongs to the process, as do the policies, drivers and applications that
 * plug-ins register. The lock is recursive, because a plug-in may start a runtime, which loads the plug-ins of the
 * settings. It is acquired before the locks of the lists of policies, drivers and applications. */
static pthread_mutex_t load_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static void **loaded;   /* guarded by load_lock; owns the array of handles of dlopen, which are never closed */
static size_t n_loaded; /* guarded by load_lock */

static int no_library(const char *path)
{
	const char *reason = dlerror();
	if (access(path, F_OK))
		return hd_error(HEDDLE_E_IO,
		                "there is no plug-in %s: give the path of a shared library (--plugin, HEDDLE_PLUGINS)",
		                path);
	if (reason && strstr(reason, "undefined symbol: heddle_"))
		return hd_error(HEDDLE_E_UNSUPPORTED,
		                "plug-in %s was made for another version of Heddle (%s): compile it again with the "
		                "headers of this one, %s",
		                path, reason, heddle_version());
	return hd_error(HEDDLE_E_IO, "plug-in %s cannot be loaded: %s", path, reason ? reason : "no reason is known");
}

static int check_plugin(const char *path, const struct heddle_plugin *plugin)
{
	if (!plugin)
		return hd_error(
		    HEDDLE_E_FORMAT,
		    "%s is no plug-in of Heddle, because it has no symbol heddle_plugin: define `const struct "
		    "heddle_plugin heddle_plugin` in it, which heddle/plugin.h describes",
		    path);
	if (plugin->abi != HEDDLE_PLUGIN_ABI)
		return hd_error(
		    HEDDLE_E_UNSUPPORTED,
		    "plug-in %s was made for version %u of the interface of plug-ins, this library has %d: set "
		    ".abi = HEDDLE_PLUGIN_ABI and compile it again with the headers of Heddle %s",
		    path, plugin->abi, HEDDLE_PLUGIN_ABI, heddle_version());
	if (!plugin->name || !*plugin->name || !plugin->start)
		return hd_error(HEDDLE_E_FORMAT, "plug-in %s lacks its %s: fill this field of heddle_plugin", path,
		                plugin->start ? "name" : "function start");
	return 0;
}

/* Whether a handle of dlopen is in the list; dlopen returns the same handle for the same library. The caller holds
 * load_lock. */
static int is_loaded(const void *library)
{
	for (size_t i = 0; i < n_loaded; i++)
		if (loaded[i] == library)
			return 1;
	return 0;
}

/* Starts a plug-in. The plug-in stays in memory even if its start fails, because the lists may refer to what it has
 * registered. The caller holds load_lock. */
static int start_plugin(const char *path, void *library, const struct heddle_plugin *plugin)
{
	void **grown = realloc(loaded, (n_loaded + 1) * sizeof *grown);
	if (!grown) {
		dlclose(library);
		return hd_no_memory("the list of plug-ins");
	}
	loaded = grown;
	loaded[n_loaded++] = library; /* before the start, because a plug-in may load itself again */
	int status = plugin->start();
	if (!status)
		return 0;
	for (size_t i = 0; i < n_loaded;
	     /* removed, so that the next load tries again; perhaps not the last one: the plug-in may load others */
	     i++)
		if (loaded[i] == library)
			loaded[i] = loaded[--n_loaded];
	return hd_error_context(status < 0 ? status : HEDDLE_E_INVALID, "plug-in %s (%s)", plugin->name, path);
}

/* Loads and starts the plug-in at `path`, unless it is loaded. The caller holds load_lock. */
static int load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return no_library(path);
	if (is_loaded(library)) {
		dlclose(library); /* only undoes the dlopen above */
		return 0;
	}
	const struct heddle_plugin *plugin = dlsym(library, "heddle_plugin");
	int status = check_plugin(path, plugin);
	if (!status)
		return start_plugin(path, library, plugin);
	dlclose(library);
	return status;
}

int heddle_plugin_load(const char *path)
{
	if (!path || !*path)
		return hd_error(HEDDLE_E_INVALID, "heddle_plugin_load needs the path of a shared library");
	/* because without a '/' dlopen would search LD_LIBRARY_PATH, which may contain the current directory */
	if (!strchr(path, '/'))
		return hd_error(HEDDLE_E_INVALID, "plug-in %s: give a path with a '/' in it, such as ./%s", path, path);
	pthread_mutex_lock(&load_lock);
	int status = load(path);
	pthread_mutex_unlock(&load_lock);
	return status;
}

int hd_plugins_load(const char *list)
{
	int status = 0;
	for (const char *at = list; at && *at && !status; at += strspn(at, ":")) {
		size_t length = strcspn(at, ":");
		char *path = strndup(at, length);
		if (!path)
			return hd_no_memory("the path of a plug-in");
		status = *path ? heddle_plugin_load(path) : 0;
		free(path);
		at += length;
	}
	return status;
}
