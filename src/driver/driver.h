/* The kinds of processors this build can drive: the door of src/driver. */
#ifndef HD_DRIVER_H
#define HD_DRIVER_H

#include <heddle/driver.h>

/* One line per driver. KIND stands for the structure of that name behind `hd_driver_`, which a file of this folder
 * defines; it serves the classes of that kind. */
#define HD_DRIVERS(DRIVER) \
	DRIVER(cpu)        \
	DRIVER(emulated)
#define HD_DECLARE_DRIVER(kind) extern const struct heddle_driver hd_driver_##kind;
HD_DRIVERS(HD_DECLARE_DRIVER)
#undef HD_DECLARE_DRIVER

/* The driver of a class kind, or NULL. */
const struct heddle_driver *hd_driver_find(const char *kind);
/* "cpu, emulated": for messages. */
const char *hd_driver_names(void);

#endif
