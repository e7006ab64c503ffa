/* The devices of this machine that all drivers find, and the platform of this machine that a runtime runs on. */
#ifndef HD_START_DEVICES_H
#define HD_START_DEVICES_H

#include <stddef.h>
#include <heddle/driver.h>
#include <heddle/runtime.h>

/* A kind of devices that a driver can find. */
struct hd_device_kind {
	const char *kind;  /* name of the kind of class, and of the driver */
	const char *title; /* for messages: the kind's name for people */
	const char *where; /* for messages: how to set the number of devices */
	const char *build; /* for messages: how to get a library that has the driver */
};
/* Sets *out to kind number i: CUDA, OpenCL, then in the order of registration the drivers of heddle_driver_register
 * that find devices. Returns 0 if there is no kind number i. */
int hd_device_kind_at(size_t i, struct hd_device_kind *out);

struct hd_found_device {
	struct hd_device_kind kind;
	unsigned number; /* the number by which the driver knows the device */
	struct heddle_device about;
};

struct hd_found {
	struct hd_found_device *list; /* owned by the caller, who frees it with free() */
	size_t n;
};

/* Appends the devices of a kind to `found`: those that `which` selects, a value of the setting opencl_devices; NULL:
 * all. HEDDLE_E_UNSUPPORTED: there is no usable device; the message says what is missing and how to get it. */
int hd_devices_find(const struct hd_device_kind *kind, const char *which, struct hd_found *found);

/* heddle_platform_configured, for a configuration that has been checked. */
int hd_machine(const struct heddle_config *config, struct heddle_platform **out);

/* Groups the cores of the platform into clusters as the setting `clusters` says; "" changes nothing. */
int hd_machine_cluster(const struct heddle_config *config, struct heddle_platform *platform);

#endif
