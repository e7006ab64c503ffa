/* One line per driver. */
#include <string.h>
#include "driver.h"

static const struct heddle_driver *const drivers[] = {
    &hd_driver_cpu,
    &hd_driver_emulated,
};

const struct heddle_driver *hd_driver_find(const char *kind)
{
	for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
		if (strcmp(drivers[i]->kind, kind) == 0)
			return drivers[i];
	return NULL;
}

const char *hd_driver_names(void)
{
	return "cpu, emulated";
}
