/* Memory of NVIDIA devices, and pinned main memory: copies between the two are the fastest. */
#ifdef HEDDLE_HAVE_CUDA
#include <stdint.h>
#include "base/base.h"
#include "driver/cuda/cuda.h"

int hd_cuda_take(const struct hd_cuda_device *device, CUstream stream, size_t size, CUdeviceptr *out)
{
	if (device->pool)
		return HD_CUDA(device, cuMemAllocFromPoolAsync, out, size, device->pool, stream);
	return HD_CUDA(device, cuMemAlloc_v2, out, size);
}

void hd_cuda_give_back(const struct hd_cuda_device *device, CUstream stream, CUdeviceptr memory)
{
	if (device->pool)
		(void)hd_cuda.cuMemFreeAsync(memory, stream);
	else
		(void)hd_cuda.cuMemFree_v2(memory);
}

/* Takes the memory from the pool, if there is one, because cuMemFree would wait until all kernels have ended. Other
 * streams may use the memory once the stream `pooled` has allocated it; waiting for that is short, because nothing but
 * allocating and freeing is ever put on `pooled`. */
int hd_cuda_alloc(void *device, size_t size, void **out)
{
	const struct hd_cuda_device *d = device;
	CUdeviceptr memory = 0;
	int status = hd_cuda_enter(d);
	if (status)
		return status;
	status = hd_cuda_take(d, d->pooled, size, &memory);
	if (!status && d->pool) {
		status = HD_CUDA(d, cuStreamSynchronize, d->pooled);
		if (status)
			hd_cuda_give_back(d, d->pooled, memory);
	}
	hd_cuda_leave();
	*out = status ? NULL : (void *)(uintptr_t)memory;
	return status;
}

void hd_cuda_free(void *device, void *ptr)
{
	const struct hd_cuda_device *d = device;
	struct hd_sentence kept;
	hd_error_keep(&kept);
	if (!hd_cuda_enter(d)) {
		hd_cuda_give_back(d, d->pooled, (CUdeviceptr)(uintptr_t)ptr);
		hd_cuda_leave();
	}
	hd_error_give_back(&kept);
}

int hd_cuda_alloc_host(void *device, size_t size, void **out)
{
	const struct hd_cuda_device *d = device;
	int status = hd_cuda_enter(d);
	if (status)
		return status;
	status = HD_CUDA(d, cuMemHostAlloc, out, size, CU_MEMHOSTALLOC_PORTABLE);
	hd_cuda_leave();
	return status;
}

void hd_cuda_free_host(void *device, void *ptr)
{
	struct hd_sentence kept;
	hd_error_keep(&kept);
	if (!hd_cuda_enter(device)) {
		(void)hd_cuda.cuMemFreeHost(ptr);
		hd_cuda_leave();
	}
	hd_error_give_back(&kept);
}

int hd_cuda_pin(void *device, void *ptr, size_t size)
{
	const struct hd_cuda_device *d = device;
	int status = hd_cuda_enter(d);
	if (status)
		return status;
	status = HD_CUDA(d, cuMemHostRegister_v2, ptr, size, CU_MEMHOSTREGISTER_PORTABLE);
	hd_cuda_leave();
	return status;
}

void hd_cuda_unpin(void *device, void *ptr)
{
	struct hd_sentence kept;
	hd_error_keep(&kept);
	if (!hd_cuda_enter(device)) {
		(void)hd_cuda.cuMemHostUnregister(ptr);
		hd_cuda_leave();
	}
	hd_error_give_back(&kept);
}
#endif
