/* Memory of devices, and main memory for fast copies. A block on a device is a memory object of OpenCL, and a range of
 * addresses of this process that is reserved and cannot be accessed. So each byte of a block has an address that no
 * other memory has, as on devices of other kinds, and an access by mistake fails at once. */
#ifdef HEDDLE_HAVE_OPENCL
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/base.h"
#include "opencl.h"
#include "base/grow.h"

/* --- Blocks by their addresses ------------------------------------------------------------------------------------ */

int hd_cl_blocks_init(struct hd_cl_blocks *b)
{
	*b = (struct hd_cl_blocks){0};
	return pthread_mutex_init(&b->lock, NULL) ? hd_no_memory("a lock of an OpenCL context") : 0;
}

void hd_cl_blocks_fini(struct hd_cl_blocks *b)
{
	pthread_mutex_destroy(&b->lock);
	free(b->list);
}

/* How many blocks begin at `address` or below it. */
static size_t count_before(const struct hd_cl_blocks *b, const char *address)
{
	size_t low = 0, high = b->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (b->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Adds a block to the list. HEDDLE_E_MEMORY. */
static int add(struct hd_cl_blocks *b, const struct hd_cl_block *block)
{
	pthread_mutex_lock(&b->lock);
	if (HD_GROW(b->list, b->n, b->max, 64)) {
		pthread_mutex_unlock(&b->lock);
		return hd_no_memory("the blocks of an OpenCL device");
	}
	size_t i = count_before(b, block->address);
	memmove(b->list + i + 1, b->list + i, (b->n++ - i) * sizeof *b->list);
	b->list[i] = *block;
	pthread_mutex_unlock(&b->lock);
	return 0;
}

/* Removes the block that begins at `address` and returns it; its `mem` is NULL if there is no such block. */
static struct hd_cl_block take(struct hd_cl_blocks *b, const void *address)
{
	struct hd_cl_block taken = {0};
	pthread_mutex_lock(&b->lock);
	size_t i = count_before(b, address);
	if (i && b->list[i - 1].address == address) {
		taken = b->list[i - 1];
		memmove(b->list + i - 1, b->list + i, (b->n-- - i) * sizeof *b->list);
	}
	pthread_mutex_unlock(&b->lock);
	return taken;
}

cl_mem hd_cl_find(struct hd_cl_blocks *b, const void *address, size_t *offset)
{
	cl_mem mem = NULL;
	pthread_mutex_lock(&b->lock);
	size_t i = count_before(b, address);
	if (i && (size_t)((const char *)address - b->list[i - 1].address) < b->list[i - 1].size) {
		mem = b->list[i - 1].mem;
		*offset = (size_t)((const char *)address - b->list[i - 1].address);
	}
	pthread_mutex_unlock(&b->lock);
	return mem;
}

/* --- Memory of devices -------------------------------------------------------------------------------------------- */

/* Makes the device allocate a new memory object now. Otherwise the device would allocate the object when a kernel first
 * uses it, and the task would fail if memory were full. */
static int place(struct hd_cl_device *d, cl_mem mem)
{
	cl_int code = hd_cl.clEnqueueMigrateMemObjects(d->errands, 1, &mem, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0,
	                                               NULL, NULL);
	if (code)
		return hd_cl_error(HD_CL_MAKING, code, "clEnqueueMigrateMemObjects", d->label);
	code = hd_cl.clFinish(d->errands);
	return code ? hd_cl_error(HD_CL_MAKING, code, "clFinish", d->label) : 0;
}

int hd_cl_make_mem(struct hd_cl_device *d, size_t size, cl_mem *out)
{
	cl_int code;
	cl_mem mem = hd_cl.clCreateBuffer(d->context->context, CL_MEM_READ_WRITE, size, NULL, &code);
	if (!mem)
		return hd_cl_error(HD_CL_MAKING, code, "clCreateBuffer", d->label);
	int status = place(d, mem);
	if (status)
		hd_cl.clReleaseMemObject(mem);
	else
		*out = mem;
	return status;
}

int hd_cl_alloc(void *device, size_t size, void **out)
{
	struct hd_cl_device *d = device;
	struct hd_cl_block block = {.size = size};
	int status = hd_cl_make_mem(d, size, &block.mem);
	if (status)
		return status;
	void *range = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (range == MAP_FAILED) {
		hd_cl.clReleaseMemObject(block.mem);
		return hd_error(HEDDLE_E_MEMORY, "%s: there are no %zu addresses left (ulimit -v limits them)",
		                d->label, size);
	}
	block.address = range;
	status = add(&d->context->buffers, &block);
	if (status) {
		munmap(range, size);
		hd_cl.clReleaseMemObject(block.mem);
		return status;
	}
	*out = range;
	return 0;
}

void hd_cl_free(void *device, void *ptr)
{
	struct hd_cl_device *d = device;
	struct hd_cl_block block = take(&d->context->buffers, ptr);
	if (!block.mem)
		return;
	hd_cl.clReleaseMemObject(block.mem);
	munmap(block.address, block.size);
}

/* --- Main memory for fast copies ---------------------------------------------------------------------------------- */

/* Maps a memory object that lies in main memory: it stays at the address block->address until it is unmapped. */
static int map(struct hd_cl_device *d, struct hd_cl_block *block)
{
	cl_int code;
	/* The contents are not fetched: fetching them could overwrite what other threads write meanwhile. */
	block->address = hd_cl.clEnqueueMapBuffer(d->errands, block->mem, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
	                                          block->size, 0, NULL, NULL, &code);
	if (!block->address)
		return hd_cl_error(HD_CL_MAKING, code, "clEnqueueMapBuffer", d->label);
	return 0;
}

static void unmap(struct hd_cl_device *d, const struct hd_cl_block *block)
{
	hd_cl.clEnqueueUnmapMemObject(d->errands, block->mem, block->address, 0, NULL, NULL);
	hd_cl.clFinish(d->errands);
}

/* Creates and maps a memory object of `size` bytes in main memory: at `ptr` with CL_MEM_USE_HOST_PTR, anywhere with
 * CL_MEM_ALLOC_HOST_PTR. *out: its address. */
static int make_host(struct hd_cl_device *d, cl_mem_flags flags, void *ptr, size_t size, void **out)
{
	struct hd_cl_block block = {.size = size};
	cl_int code;
	block.mem = hd_cl.clCreateBuffer(d->context->context, CL_MEM_READ_WRITE | flags, size, ptr, &code);
	if (!block.mem)
		return hd_cl_error(HD_CL_MAKING, code, "clCreateBuffer", d->label);
	int status = map(d, &block);
	if (!status) {
		status = add(&d->context->host, &block);
		if (status)
			unmap(d, &block);
	}
	if (status)
		hd_cl.clReleaseMemObject(block.mem);
	else
		*out = block.address;
	return status;
}

int hd_cl_alloc_host(void *device, size_t size, void **out)
{
	return make_host(device, CL_MEM_ALLOC_HOST_PTR, NULL, size, out);
}

void hd_cl_free_host(void *device, void *ptr)
{
	struct hd_cl_device *d = device;
	struct hd_cl_block block = take(&d->context->host, ptr);
	if (!block.mem)
		return;
	unmap(d, &block);
	hd_cl.clReleaseMemObject(block.mem);
}

int hd_cl_pin(void *device, void *ptr, size_t size)
{
	return make_host(device, CL_MEM_USE_HOST_PTR, ptr, size, &ptr);
}

void hd_cl_unpin(void *device, void *ptr)
{
	hd_cl_free_host(device, ptr);
}
#endif
