/* The devices of this machine, of all drivers that can find theirs, and the machine that a runtime makes of them. */
#ifndef HD_START_DEVICES_H
#define HD_START_DEVICES_H

#include <stddef.h>
#include <heddle/driver.h>
#include <heddle/runtime.h>

/* A kind of devices that are found on the machine. */
struct hd_device_kind {
	const char *kind;  /* of the class and the driver */
	const char *title; /* as people write it */
	const char *where; /* how one says how many of them to use, for messages */
	const char *build; /* how to get the library built with the driver */
};
/* Kind number i, in the order in which a platform has them: CUDA, OpenCL, then those whose drivers were registered
 * (heddle_driver_register) and find their devices. Returns 0 from their number on. */
int hd_device_kind_at(size_t i, struct hd_device_kind *out);

struct hd_found_device {
	struct hd_device_kind kind;
	unsigned number; /* as its driver counts it */
	struct heddle_device about;
};

struct hd_found {
	struct hd_found_device *list; /* owned by the caller, freed by free */
	size_t n;
};

/* Appends the devices of a kind that `which`, a value of the setting opencl_devices, selects; NULL: all.
 * HEDDLE_E_UNSUPPORTED: none can be used; the sentence says what is missing and how to get it. */
int hd_devices_find(const struct hd_device_kind *kind, const char *which, struct hd_found *found);

/* heddle_platform_configured, for a configuration that has been checked. */
int hd_machine(const struct heddle_config *config, struct heddle_platform **out);

/* Groups the cores as the setting `clusters` says; "" leaves the platform as it is. */
int hd_machine_cluster(const struct heddle_config *config, struct heddle_platform *platform);

#endif
