/* Finds libheddle-report.so: beside libheddle.so, or in the loader's directories. In a program that has more rights
 * than its caller, the loader ignores LD_LIBRARY_PATH. */
#include "report/report.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"

#define LIBRARY "libheddle-report.so.0"

/* The table of a program that is linked with libheddle.a. The address is NULL in libheddle.so, and in a program without
 * the table. */
extern const struct hd_report hd_report __attribute__((weak, visibility("hidden")));

/* The loaded table, for the whole process, until its end. The release store pairs with the acquire load, both below:
 * the loader's writes to the table happen before a thread uses the table that it has found. Two threads that load the
 * library at once get the same table. */
static const struct hd_report *_Atomic loaded;

/* Opens the library. NULL: it cannot be loaded; dlopen's sentence is put into `reason`, unless `reason` has one
 * already. */
static void *open_library(const char *path, char *reason, size_t size)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const char *why = library ? NULL : dlerror();
	if (why && !*reason)
		hd_print_into(reason, size, "%s", why);
	return library;
}

static int not_linked(const char *who)
{
	return hd_error(HEDDLE_E_UNSUPPORTED,
	                "%s needs a part of libheddle.a that this program was linked without: link the program with "
	                "-Wl,-u,hd_report and the libraries that `pkg-config --static --libs heddle` names",
	                who);
}

/* Whether a table is of this version of Heddle, and works with this copy of libheddle. */
static int check(const char *who, const struct hd_report *report)
{
	if (!report || strcmp(report->version, HD_VERSION) != 0)
		return hd_error(HEDDLE_E_UNSUPPORTED,
		                "%s needs " LIBRARY " of Heddle " HD_VERSION ", and the one that was found is of %s: "
		                "install both libraries of one version",
		                who, report ? report->version : "another version");
	return report->error == hd_error ? 0 : not_linked(who);
}

static int load(const char *who, const struct hd_report **out)
{
	char *folder, reason[512] = "";
	int is_library, status = hd_own_folder(&folder, &is_library);
	if (status || !is_library) {
		free(folder);
		return status ? status : not_linked(who);
	}
	char *beside = folder ? hd_format("%s/" LIBRARY, folder) : NULL;
	void *library = beside && access(beside, F_OK) == 0 ? open_library(beside, reason, sizeof reason) : NULL;
	free(beside);
	free(folder);
	library = library ? library : open_library(LIBRARY, reason, sizeof reason);
	if (!library)
		return hd_error(HEDDLE_E_UNSUPPORTED,
		                "%s needs " LIBRARY ", which draws charts and computes bounds, and it cannot be loaded "
		                "(%s): install it where libheddle.so is (Debian: apt-get install libheddle-report0)",
		                who, reason);
	*out = dlsym(library, "hd_report");
	status = check(who, *out);
	if (status)
		dlclose(library);
	return status;
}

int hd_report_library(const char *who, const struct hd_report **out)
{
	/* acquire: pairs with the store below */
	*out = &hd_report ? &hd_report : atomic_load_explicit(&loaded, memory_order_acquire);
	int status = *out ? 0 : load(who, out);
	if (!status && *out != &hd_report)
		atomic_store_explicit(&loaded, *out, memory_order_release); /* pairs with the load above */
	return status;
}

#define DEFINE(name, parameters, arguments)                               \
	int heddle_##name parameters                                      \
	{                                                                 \
		const struct hd_report *report;                           \
		int status = hd_report_library("heddle_" #name, &report); \
		return status ? status : report->name arguments;          \
	}
HD_REPORT_FUNCTIONS(DEFINE)
