/* The driver of CPU cores: it calls the kernels, and its memory is main memory. */
#include <stdlib.h>

#include "base/base.h"
#include "driver.h"

static int cpu_open(const struct heddle_platform *platform, unsigned worker, void **device)
{
	(void)platform;
	(void)worker;
	*device = NULL;
	return 0;
}

static void cpu_close(void *device)
{
	(void)device;
}

int hd_host_alloc(void *device, size_t size, void **out)
{
	(void)device;
	void *p = aligned_alloc(HD_CACHE_LINE, (size + HD_CACHE_LINE - 1) / HD_CACHE_LINE * HD_CACHE_LINE);
	if (!p)
		return HEDDLE_E_MEMORY;
	*out = p;
	return 0;
}

void hd_host_free(void *device, void *ptr)
{
	(void)device;
	free(ptr);
}

static int cpu_copy(void *device, void *stream, const struct heddle_copy *copy, void **event)
{
	(void)device;
	(void)stream;
	(void)event;
	return hd_copy_host(copy);
}

static int cpu_launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event)
{
	(void)device;
	(void)stream;
	(void)event;
	return kernel(context);
}

const struct heddle_driver hd_driver_cpu = {
    .abi = HEDDLE_DRIVER_ABI,
    .kind = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .alloc = hd_host_alloc,
    .free = hd_host_free,
    .copy = cpu_copy,
    .launch = cpu_launch,
};
