/* The drivers in this build. This header is what the other rooms may include of src/driver. */
#ifndef HD_DRIVER_DRIVER_H
#define HD_DRIVER_DRIVER_H

#include <heddle/driver.h>

/* The list of drivers, one per line. A line gives the kind of class that the driver serves; the driver is a
 * structure of a file in this folder, called `hd_driver_` followed by the kind. */
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

/* cpu.c: `alloc` and `free` of a struct heddle_driver, for devices whose memory is main memory. */
int hd_host_alloc(void *device, size_t size, void **out);
void hd_host_free(void *device, void *ptr);
/* host_copy.c: copies a part from one replica to another, both in memory that the CPU can address. Returns 0. */
int hd_copy_host(const struct heddle_copy *copy);

/* The driver of a kind of class; NULL: this build has none. */
const struct heddle_driver *hd_driver_find(const char *kind);
/* The kinds of drivers in this build, for messages: "cpu, emulated". */
const char *hd_driver_names(void);

/* registered.c: the drivers given to heddle_driver_register. hd_driver_registered_at returns driver number i in the
 * order of registration, and NULL if `i` is not below their number. hd_driver_registered returns the driver of a kind;
 * NULL: none. Any thread may call both. */
const struct heddle_driver *hd_driver_registered_at(size_t i);
const struct heddle_driver *hd_driver_registered(const char *kind);
/* Workers of some kinds can also run kernels of another kind: returns this other kind. A worker of kind `kind` runs the
 * codelet's kernel of the other kind if the codelet has no kernel of `kind`. NULL: there is no other kind. */
const char *hd_driver_kernels_of(const char *kind);

#endif
