/* A plug-in with a driver, of a kind of device that every machine has two of: threads whose memory is apart. They run
 * the kernels for CPUs of any program, after its data have been copied to them.
 *
 *   cc -shared -fPIC 20_driver_plugin.c -o apart.so $(pkg-config --cflags --libs heddle)
 *   HEDDLE_PLUGINS=./apart.so HEDDLE_DEVICES=apart=1 ./any-program
 *   heddle --plugin ./apart.so machine */
#include <heddle.h>
#include <heddle/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 2, MEMORY = 1 << 30 };

static int count(unsigned *n)
{
	*n = DEVICES;
	return 0;
}

static int describe(unsigned device, struct heddle_device *out)
{
	*out = (struct heddle_device){.name = "memory apart", .type = "accelerator", .memory = MEMORY};
	snprintf(out->driver, sizeof out->driver, "example, device %u", device);
	return 0;
}

/* What a device is: here, how much of its memory is left. Its worker's thread and others allocate. */
struct device {
	_Atomic size_t left; /* of one counter alone, so any order will do */
};

static int open_device(const struct heddle_platform *platform, unsigned worker, void **device)
{
	struct device *d = calloc(1, sizeof *d);
	if (!d)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for device %s", platform->workers[worker].name);
	d->left = MEMORY;
	*device = d;
	return 0;
}

static int allocate(void *device, size_t size, void **out)
{
	struct device *d = device;
	/* the size stands in front of the block, and the block on a cache line */
	size_t *block = d->left >= size ? aligned_alloc(64, (size + 64 + 63) / 64 * 64) : NULL;
	if (!block)
		return heddle_error(HEDDLE_E_MEMORY, "a device with memory apart has no %zu bytes left", size);
	d->left -= size;
	*block = size;
	*out = block + 64 / sizeof *block;
	return 0;
}

static void release(void *device, void *memory)
{
	size_t *block = (size_t *)memory - 64 / sizeof *block;
	((struct device *)device)->left += *block;
	free(block);
}

/* Copies the rows of an array, in each of which the elements are neighbours: all dimensions but the first. */
static int copy(void *device, void *stream, const struct heddle_copy *c, void **event)
{
	size_t at[HEDDLE_MAX_DIMS] = {0}, size = c->from.elem_size;
	size_t length = (c->from.n_dims ? c->from.n[0] : 1) * size;
	unsigned d = 1;
	(void)device, (void)stream, (void)event;
	do {
		size_t from = 0, to = 0;
		for (d = 1; d < c->from.n_dims; d++) {
			from += at[d] * c->from.stride[d];
			to += at[d] * c->to.stride[d];
		}
		memcpy((char *)c->to.base + to * size, (char *)c->from.base + from * size, length);
		for (d = 1; d < c->from.n_dims && ++at[d] == c->from.n[d]; d++)
			at[d] = 0;
	} while (d < c->from.n_dims);
	return 0;
}

static int launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event)
{
	(void)device, (void)stream, (void)event;
	return kernel(context); /* it has ended when this returns, so there is no event */
}

static const struct heddle_driver apart = {
    .abi = HEDDLE_DRIVER_ABI,
    .kind = "apart",
    .kernels_of = "cpu",
    .count = count,
    .describe = describe,
    .open = open_device,
    .close = free,
    .alloc = allocate,
    .free = release,
    .copy = copy,
    .launch = launch,
};

static int start(void)
{
	return heddle_driver_register(&apart);
}

const struct heddle_plugin heddle_plugin = {HEDDLE_PLUGIN_ABI, "apart", "devices of kind apart", start};
