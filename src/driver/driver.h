/* The drivers in this build. The public header of src/driver for the rest of the library. */
#ifndef HD_DRIVER_DRIVER_H
#define HD_DRIVER_DRIVER_H

#include <heddle/driver.h>

/* The list of drivers, one line each. Each line names the kind of class that the driver serves; the structure that a
 * file of this folder defines for it is called `hd_driver_` followed by the kind. */
#ifdef HEDDLE_HAVE_CUDA
#define HD_DRIVER_CUDA(DRIVER) DRIVER(cuda)
#else
#define HD_DRIVER_CUDA(DRIVER)
#endif
#ifdef HEDDLE_HAVE_OPENCL
#define HD_DRIVER_OPENCL(DRIVER) DRIVER(opencl)
#else
#define HD_DRIVER_OPENCL(DRIVER)
#endif
#define HD_DRIVERS(DRIVER)       \
	DRIVER(cpu)              \
	HD_DRIVER_CUDA(DRIVER)   \
	HD_DRIVER_OPENCL(DRIVER) \
	DRIVER(emulated)
#define HD_DECLARE_DRIVER(kind) extern const struct heddle_driver hd_driver_##kind;
HD_DRIVERS(HD_DECLARE_DRIVER)
#undef HD_DECLARE_DRIVER

/* cpu.c: `alloc` and `free` of struct heddle_driver for devices whose memory is main memory. */
int hd_host_alloc(void *device, size_t size, void **out);
void hd_host_free(void *device, void *ptr);
/* host_copy.c: copies between two replicas that the CPU can address. Returns 0. */
int hd_copy_host(const struct heddle_copy *copy);

/* The driver of a kind of class, or NULL. */
const struct heddle_driver *hd_driver_find(const char *kind);
/* The kinds of the list above, for messages: "cpu, emulated". */
const char *hd_driver_names(void);

/* registered.c: the drivers of heddle_driver_register, in the order in which they were registered; NULL from their
 * number on. Then the one of this kind, or NULL. Any thread may call these. */
const struct heddle_driver *hd_driver_registered_at(size_t i);
const struct heddle_driver *hd_driver_registered(const char *kind);
/* The kind whose kernels a worker of this kind runs where a codelet has none for its own, or NULL. */
const char *hd_driver_kernels_of(const char *kind);

#endif
