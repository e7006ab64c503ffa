/* The kinds of processors this build can drive: the door of src/driver. */
#ifndef HD_DRIVER_H
#define HD_DRIVER_H

#include <heddle/driver.h>

extern const struct heddle_driver hd_driver_cpu, hd_driver_emulated;

/* The driver of a class kind, or NULL. */
const struct heddle_driver *hd_driver_find(const char *kind);
/* "cpu, emulated": for messages. */
const char *hd_driver_names(void);

#endif
