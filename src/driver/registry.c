/* Finds a driver by the kind that it serves: in the list of driver.h, then among the drivers of the program
 * (registered.c). */
#include <string.h>
#include "driver.h"

#define ENTRY(kind) &hd_driver_##kind,
static const struct heddle_driver *const drivers[] = {HD_DRIVERS(ENTRY)};
#undef ENTRY

const struct heddle_driver *hd_driver_find(const char *kind)
{
	for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
		if (strcmp(drivers[i]->kind, kind) == 0)
			return drivers[i];
	return hd_driver_registered(kind);
}

const char *hd_driver_names(void)
{
#define NAME(kind) ", " #kind
	static const char names[] = HD_DRIVERS(NAME);
#undef NAME
	return names + strlen(", ");
}
