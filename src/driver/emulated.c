/* The driver of emulated accelerators: threads with memory nodes of their own, which lie in main memory. Data are
 * really copied and kernels really run. Copies are made to last as long as the platform says, and kernels `slowdown`
 * times as long as on a CPU. This exercises every path of the data manager on a machine without a GPU.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>
#include "base/base.h"
#include "data/data.h"
#include "driver.h"

struct emulated {
	const struct heddle_platform *platform; /* borrows the runtime's */
	double slowdown;
	int slow_links; /* 1: copies are made to last as long as the platform says */
};

/* The event of a kernel that has run but is to last longer. */
struct pending {
	double end; /* us, by hd_clock_us: when it is to end */
};

/* Whether copies are to be slowed down. Asked when the device is opened, before links are measured: the runtime then
 * replaces the figures of links that are not slowed down by what it has measured. */
static int links_are_slow(const struct heddle_platform *p, unsigned node)
{
	const struct heddle_link *l = heddle_platform_link(p, 0, node);
	return l && (l->bandwidth < HEDDLE_MEMORY_BANDWIDTH || l->latency > 0);
}

static int emulated_open(const struct heddle_platform *platform, unsigned worker, void **device)
{
	struct emulated *e = malloc(sizeof *e);
	if (!e)
		return hd_no_memory("an emulated accelerator");
	e->platform = platform;
	e->slowdown = platform->classes[platform->workers[worker].class_id].slowdown;
	e->slow_links = links_are_slow(platform, platform->workers[worker].node);
	*device = e;
	return 0;
}

static void emulated_close(void *device)
{
	free(device);
}

static int emulated_alloc(void *device, size_t size, void **out)
{
	(void)device;
	void *p = aligned_alloc(HD_CACHE_LINE, (size + HD_CACHE_LINE - 1) / HD_CACHE_LINE * HD_CACHE_LINE);
	if (!p)
		return HEDDLE_E_MEMORY;
	*out = p;
	return 0;
}

static void emulated_free(void *device, void *ptr)
{
	(void)device;
	free(ptr);
}

static double part_bytes(const struct heddle_part *p)
{
	double bytes = (double)p->elem_size;
	for (unsigned d = 0; d < p->n_dims; d++)
		bytes *= (double)p->n[d];
	return bytes;
}

static void sleep_until(double end_us)
{
	double left;
	while ((left = end_us - hd_clock_us()) > 0) {
		struct timespec t = {(time_t)(left * 1e-6), (long)(left * 1e3) % 1000000000L};
		nanosleep(&t, NULL);
	}
}

static int emulated_copy(void *device, const struct heddle_copy *copy)
{
	const struct emulated *e = device;
	double start = hd_clock_us();
	int status = hd_copy_host(copy);
	const struct heddle_link *link =
	    e->slow_links ? heddle_platform_link(e->platform, copy->from_node, copy->to_node) : NULL;
	if (link)
		sleep_until(start + link->latency + part_bytes(&copy->from) / link->bandwidth);
	return status;
}

static int emulated_launch(void *device, heddle_kernel kernel, heddle_context *context, void **event)
{
	const struct emulated *e = device;
	double start = hd_clock_us();
	int status = kernel(context);
	if (status || e->slowdown <= 1)
		return status;
	struct pending *p = malloc(sizeof *p);
	if (!p)
		return 0; /* out of memory: the kernel has run, it only ends too early */
	p->end = start + (hd_clock_us() - start) * e->slowdown;
	*event = p;
	return HEDDLE_PENDING;
}

static int emulated_query(void *device, void *event)
{
	(void)device;
	struct pending *p = event;
	if (hd_clock_us() < p->end)
		return HEDDLE_PENDING;
	free(p);
	return 0;
}

const struct heddle_driver hd_driver_emulated = {
    .abi = HEDDLE_DRIVER_ABI,
    .kind = "emulated",
    .open = emulated_open,
    .close = emulated_close,
    .alloc = emulated_alloc,
    .free = emulated_free,
    .copy = emulated_copy,
    .launch = emulated_launch,
    .query = emulated_query,
};
