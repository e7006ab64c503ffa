/* Loads libraries of accelerators at run time, because most machines do not have them. */
#include <dlfcn.h>
#include <string.h>
#include "base/base.h"
#include "driver.h"

int heddle_library_load(const char *what, const char *const *files, size_t n, const struct heddle_symbol *symbols)
{
	void *library = NULL;
	if (!what || !files || (n && !symbols))
		return hd_error(HEDDLE_E_INVALID,
		                "heddle_library_load needs the library's name, its files and symbols");
	for (size_t i = 0; files[i] && !library; i++)
		library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		const char *reason = dlerror();
		return hd_error(HEDDLE_E_UNSUPPORTED, "%s is not there: %s", what,
		                reason ? reason : "no file is named");
	}
	for (size_t i = 0; i < n; i++) {
		void *found = dlsym(library, symbols[i].name);
		if (!found && !symbols[i].optional) {
			dlclose(library);
			return hd_error(HEDDLE_E_UNSUPPORTED, "%s lacks the function %s: it is too old, or too new",
			                what, symbols[i].name);
		}
		memcpy(symbols[i].function, &found, sizeof found);
	}
	return 0;
}
