/* Memory of devices, which is memory of the host under other addresses, and page-locked memory of the host. */
#include <stdlib.h>
#include <string.h>
#include "inside.h"

/* Bits 48 to 63 of an address of device memory: no address of the host has them, so using it there is a fault. */
#define MARK 0x5ad0
#define ALIGNMENT 256
#define LARGEST_FILL ((size_t)64 << 20) /* more is not filled, so that it takes no memory before it is used */

CUdeviceptr device_address(int device, const void *memory)
{
	return (CUdeviceptr)(uintptr_t)memory | (CUdeviceptr)(unsigned)(MARK + device) << 48;
}

int device_of(uint64_t address)
{
	uint64_t device = (address >> 48) - MARK;
	return device < MAX_DEVICES ? (int)device : -1;
}

static uintptr_t host_address(CUdeviceptr address)
{
	return (uintptr_t)(address & (((CUdeviceptr)1 << 48) - 1));
}

static int may_use(const struct device *d, const struct range *range)
{
	if (range->device == d->number)
		return 1;
	pthread_rwlock_rdlock(&registry);
	unsigned peers = d->peers;
	pthread_rwlock_unlock(&registry);
	return (int)((range->pool ? range->access >> d->number : peers >> range->device) & 1);
}

void *usable_memory(const struct device *d, CUdeviceptr address, size_t size)
{
	struct range range;
	uintptr_t from = host_address(address);
	if (device_of(address) < 0 || !find_range(from, &range))
		return NULL;
	if (range.place != ON_DEVICE || range.device != device_of(address) || from - range.from + size > range.size)
		return NULL;
	return d == NULL || may_use(d, &range) ? (void *)from : NULL;
}

void *standin_memory(const void *address)
{
	return usable_memory(NULL, (CUdeviceptr)(uintptr_t)address, 1);
}

int is_locked_host(const void *address)
{
	struct range range;
	return find_range((uintptr_t)address, &range) && range.place != ON_DEVICE;
}

/* --- Memory of devices -------------------------------------------------------------------------------------------- */

static size_t round_up(size_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Takes bytes from what is left of the device: 0 if that is less. */
static int take(struct device *d, size_t bytes)
{
	pthread_rwlock_wrlock(&registry);
	int fits = bytes <= d->bytes && round_up(bytes) <= d->bytes - d->used;
	d->used += fits ? round_up(bytes) : 0;
	pthread_rwlock_unlock(&registry);
	return fits;
}

static void give_back(struct device *d, size_t bytes)
{
	pthread_rwlock_wrlock(&registry);
	d->used -= round_up(bytes);
	pthread_rwlock_unlock(&registry);
}

static CUresult allocate(struct device *d, size_t bytes, CUmemoryPool pool, CUdeviceptr *out)
{
	void *memory;
	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!take(d, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (posix_memalign(&memory, ALIGNMENT, bytes)) {
		give_back(d, bytes);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	struct range range = {.from = (uintptr_t)memory,
	                      .size = bytes,
	                      .place = ON_DEVICE,
	                      .device = d->number,
	                      .pool = pool,
	                      .access = pool ? atomic_load(&pool->access) : 0};
	if (!add_range(range)) { /* the program has freed memory that is still registered */
		free(memory);
		give_back(d, bytes);
		return CUDA_ERROR_UNKNOWN;
	}
	memset(memory, 0xff, bytes < LARGEST_FILL ? bytes : LARGEST_FILL);
	*out = device_address(d->number, memory);
	return CUDA_SUCCESS;
}

/* Takes memory out of the registry, so that no later call accepts its address; the caller frees it. */
static int forget(CUdeviceptr address, struct range *out)
{
	return device_of(address) >= 0 && remove_range(host_address(address), ON_DEVICE, out);
}

CUresult cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)
{
	CUresult code = enter("cuMemAlloc", CONTEXT, NULL);
	return code ? code : allocate(current(), bytesize, NULL, dptr);
}

CUresult cuMemFree(CUdeviceptr dptr)
{
	struct range range;
	CUresult late = CUDA_SUCCESS, code = enter("cuMemFree", CONTEXT | RELEASES, &late);
	if (code || dptr == 0)
		return code;
	if (!forget(dptr, &range))
		return CUDA_ERROR_INVALID_VALUE;
	free((void *)range.from);
	give_back(&devices[range.device], range.size);
	return late;
}

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total)
{
	CUresult code = enter("cuMemGetInfo", CONTEXT, NULL);
	if (code)
		return code;
	pthread_rwlock_rdlock(&registry);
	*free_bytes = current()->bytes - current()->used;
	pthread_rwlock_unlock(&registry);
	*total = current()->bytes;
	return CUDA_SUCCESS;
}

/* --- In the order of a stream ------------------------------------------------------------------------------------- */

/* The memory is there at once, but what cuMemFreeAsync frees only when the stream gets there: if there is too little
 * now, what is on the stream may yet free enough. */
static CUresult allocate_on(struct device *d, size_t bytes, CUmemoryPool pool, CUstream stream, CUdeviceptr *out)
{
	CUresult code = find_stream(d, stream, &stream);
	if (code)
		return code;
	code = allocate(d, bytes, pool, out);
	if (code != CUDA_ERROR_OUT_OF_MEMORY)
		return code;
	drain(stream);
	return allocate(d, bytes, pool, out);
}

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
	CUresult code = enter("cuMemAllocAsync", CONTEXT, NULL);
	return code ? code : allocate_on(current(), bytesize, NULL, hStream, dptr);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
	CUresult code = enter("cuMemAllocFromPoolAsync", CONTEXT, NULL);
	if (code)
		return code;
	if (!lives(POOL, pool) || pool->device != current())
		return CUDA_ERROR_INVALID_VALUE;
	return allocate_on(current(), bytesize, pool, hStream, dptr);
}

struct free_op {
	struct op op;
	struct range range;
};

static CUresult run_free(struct op *op, CUstream stream, CUresult failed)
{
	struct range range = ((struct free_op *)op)->range;
	(void)stream, (void)failed;
	free((void *)range.from);
	give_back(&devices[range.device], range.size);
	return CUDA_SUCCESS;
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
	struct range range;
	CUresult late = CUDA_SUCCESS, code = enter("cuMemFreeAsync", CONTEXT | RELEASES, &late);
	if (code)
		return code;
	code = find_stream(current(), hStream, &hStream);
	if (code)
		return code;
	if (!forget(dptr, &range))
		return CUDA_ERROR_INVALID_VALUE;
	struct free_op *op = new_op(sizeof *op, run_free);
	op->op.is_ours = 1;
	op->range = range;
	push(hStream, op);
	return late;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
	CUresult code = enter("cuMemPoolCreate", 0, NULL);
	int number = poolProps->location.id;
	if (code)
		return code;
	if (poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE || number < 0 || number >= n_devices)
		return CUDA_ERROR_INVALID_VALUE;
	struct CUmemPoolHandle_st *p = calloc(1, sizeof *p);
	if (!p || !born(POOL, p)) {
		free(p);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	p->device = &devices[number];
	*pool = p;
	return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
	CUresult late = CUDA_SUCCESS, code = enter("cuMemPoolDestroy", RELEASES, &late);
	if (code)
		return code;
	if (!dies(POOL, pool))
		return CUDA_ERROR_INVALID_VALUE;
	free(pool);
	return late;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
	CUresult code = enter("cuMemPoolSetAttribute", 0, NULL);
	if (code)
		return code;
	return lives(POOL, pool) && attr >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES && value
	           ? CUDA_SUCCESS
	           : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
	CUresult code = enter("cuMemPoolSetAccess", 0, NULL);
	if (code)
		return code;
	if (!lives(POOL, pool))
		return CUDA_ERROR_INVALID_VALUE;
	unsigned access = atomic_load(&pool->access);
	for (size_t i = 0; i < count; i++) {
		int d = map[i].location.id, has = map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
		if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || d < 0 || d >= n_devices)
			return CUDA_ERROR_INVALID_VALUE;
		access = (access & ~(1u << d)) | (unsigned)has << d;
	}
	atomic_store(&pool->access, access);
	set_access(pool, access);
	return CUDA_SUCCESS;
}

/* --- Memory of the host ------------------------------------------------------------------------------------------- */

CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned Flags)
{
	void *memory;
	CUresult code = enter("cuMemHostAlloc", CONTEXT, NULL);
	if (code)
		return code;
	if (bytesize == 0 ||
	    (Flags & ~(unsigned)(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED)))
		return CUDA_ERROR_INVALID_VALUE;
	if (posix_memalign(&memory, 4096, bytesize))
		return CUDA_ERROR_OUT_OF_MEMORY;
	struct range range = {.from = (uintptr_t)memory, .size = bytesize, .place = ALLOCATED_HOST, .device = -1};
	if (!add_range(range)) {
		free(memory);
		return CUDA_ERROR_UNKNOWN;
	}
	*pp = memory;
	return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *p)
{
	struct range range;
	CUresult late = CUDA_SUCCESS, code = enter("cuMemFreeHost", CONTEXT | RELEASES, &late);
	if (code)
		return code;
	if (!remove_range((uintptr_t)p, ALLOCATED_HOST, &range))
		return CUDA_ERROR_INVALID_VALUE;
	free(p);
	return late;
}

CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned Flags)
{
	CUresult code = enter("cuMemHostRegister", CONTEXT, NULL);
	if (code)
		return code;
	if (!p || bytesize == 0 || device_of((uintptr_t)p) >= 0 ||
	    (Flags &
	     ~(unsigned)(CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY)))
		return CUDA_ERROR_INVALID_VALUE;
	struct range range = {.from = (uintptr_t)p, .size = bytesize, .place = REGISTERED_HOST, .device = -1};
	return add_range(range) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUresult cuMemHostUnregister(void *p)
{
	struct range range;
	CUresult late = CUDA_SUCCESS, code = enter("cuMemHostUnregister", CONTEXT | RELEASES, &late);
	if (code)
		return code;
	return remove_range((uintptr_t)p, REGISTERED_HOST, &range) ? late : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}
