/* The devices of this machine, found by all drivers, and the platform that a runtime makes of them. */
#ifndef HD_START_DEVICES_H
#define HD_START_DEVICES_H

#include <stddef.h>
#include <heddle/driver.h>
#include <heddle/runtime.h>

/* A kind of devices that a driver can find. */
struct hd_device_kind {
	const char *kind;  /* name of the device class and of the driver */
	const char *title; /* name for people */
	const char *where; /* for messages: how to set the number of devices */
	const char *build; /* for messages: how to build the library with the driver */
};
/* Returns kind number i through `out`, in the order of the platform: CUDA, OpenCL, then the registered drivers
 * (heddle_driver_register) that find devices. Returns 0 if there are only i kinds or fewer. */
int hd_device_kind_at(size_t i, struct hd_device_kind *out);

struct hd_found_device {
	struct hd_device_kind kind;
	unsigned number; /* the driver's number of the device */
	struct heddle_device about;
};

struct hd_found {
	struct hd_found_device *list; /* owned by the caller, who calls free */
	size_t n;
};

/* Appends the devices of a kind that `which` selects, a value of the setting opencl_devices; NULL: all.
 * HEDDLE_E_UNSUPPORTED: there is no usable device; the message says what is missing and how to get it. */
int hd_devices_find(const struct hd_device_kind *kind, const char *which, struct hd_found *found);

/* heddle_platform_configured, for a configuration that was checked already. */
int hd_machine(const struct heddle_config *config, struct heddle_platform **out);

/* Groups the cores as the setting `clusters` says; with "" the platform stays unchanged. */
int hd_machine_cluster(const struct heddle_config *config, struct heddle_platform *platform);

#endif
