/* The driver itself, devices, contexts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "inside.h"

#define DEFAULT_BYTES ((size_t)1 << 30)

struct device devices[MAX_DEVICES];
int n_devices = 2;
atomic_int initialised;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int have_pools = 1; /* pairs: nothing, a test sets it before it starts threads that use CUDA */

/* The contexts that this thread has made current, the last one on top; NULL is "none" where cuCtxSetCurrent put it. */
static _Thread_local struct device *stack[32];
static _Thread_local unsigned depth;

struct device *current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

void standin_devices(int n, size_t bytes)
{
	n_devices = n < 0 ? 0 : n > MAX_DEVICES ? MAX_DEVICES : n;
	for (int i = 0; i < MAX_DEVICES; i++) {
		devices[i].number = i;
		devices[i].bytes = bytes;
		devices[i].context.device = &devices[i];
	}
}

void standin_pools(int have)
{
	have_pools = have;
}

static void read_environment(void)
{
	const char *n = getenv("STANDIN_DEVICES"), *bytes = getenv("STANDIN_MEMORY");
	const char *latency = getenv("STANDIN_LATENCY"), *failure = getenv("STANDIN_FAIL");
	standin_devices(n ? atoi(n) : 2, bytes ? (size_t)strtoull(bytes, NULL, 0) : DEFAULT_BYTES);
	if (latency)
		standin_latency(strtod(latency, NULL));
	char call[64];
	unsigned nth;
	int code;
	if (failure && sscanf(failure, "%63[^:]:%u:%d", call, &nth, &code) == 3)
		standin_fail(call, nth, code);
}

__attribute__((constructor)) static void set_up(void)
{
	pthread_once(&once, read_environment);
}

static struct device *find_device(CUdevice number)
{
	return number >= 0 && number < n_devices ? &devices[number] : NULL;
}

/* --- The driver --------------------------------------------------------------------------------------------------- */

CUresult cuInit(unsigned flags)
{
	CUresult code = enter("cuInit", EARLY, NULL);
	if (code)
		return code;
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (n_devices == 0)
		return CUDA_ERROR_NO_DEVICE;
	atomic_store(&initialised, 1);
	return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	CUresult code = enter("cuDriverGetVersion", EARLY, NULL);
	if (code)
		return code;
	*version = CUDA_VERSION;
	return CUDA_SUCCESS;
}

/* --- Devices ------------------------------------------------------------------------------------------------------ */

CUresult cuDeviceGetCount(int *count)
{
	CUresult code = enter("cuDeviceGetCount", 0, NULL);
	if (code)
		return code;
	*count = n_devices;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	CUresult code = enter("cuDeviceGet", 0, NULL);
	if (code)
		return code;
	if (!find_device(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	CUresult code = enter("cuDeviceGetName", 0, NULL);
	if (code)
		return code;
	if (!find_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, (size_t)len, "Stand-in for a GPU");
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
	CUresult code = enter("cuDeviceGetPCIBusId", 0, NULL);
	if (code)
		return code;
	if (!find_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (len < 13)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(pciBusId, (size_t)len, "0000:%02X:00.0", 0xf0u + (unsigned)dev);
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
	CUresult code = enter("cuDeviceTotalMem", 0, NULL);
	if (code)
		return code;
	if (!find_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes = find_device(dev)->bytes;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
	const struct {
		CUdevice_attribute attribute;
		int value;
	} known[] = {
	    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
	    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
	    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 2},
	    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
	    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
	    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10},
	    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 << 10},
	    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, INT32_MAX},
	    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
	    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
	    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
	    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
	    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
	    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, have_pools},
	    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
	};
	CUresult code = enter("cuDeviceGetAttribute", 0, NULL);
	if (code)
		return code;
	if (!find_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*pi = 0;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (known[i].attribute == attrib)
			*pi = known[i].value;
	}
	return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
	CUresult code = enter("cuDeviceCanAccessPeer", 0, NULL);
	if (code)
		return code;
	if (!find_device(dev) || !find_device(peerDev))
		return CUDA_ERROR_INVALID_DEVICE;
	*canAccessPeer = dev != peerDev;
	return CUDA_SUCCESS;
}

/* --- Contexts: only the primary ones ------------------------------------------------------------------------------ */

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	CUresult code = enter("cuDevicePrimaryCtxRetain", 0, NULL);
	struct device *d = find_device(dev);
	if (code)
		return code;
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	if (lost(d, READS))
		return lost(d, READS);
	pthread_rwlock_wrlock(&registry);
	d->retained++;
	pthread_rwlock_unlock(&registry);
	*pctx = &d->context;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
	CUresult late = CUDA_SUCCESS, code = enter("cuDevicePrimaryCtxRelease", RELEASES, &late);
	struct device *d = find_device(dev);
	if (code)
		return code;
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_rwlock_wrlock(&registry);
	int was_retained = d->retained > 0, is_last = d->retained == 1;
	d->retained -= (unsigned)was_retained;
	d->peers = is_last ? 0 : d->peers;
	pthread_rwlock_unlock(&registry);
	if (is_last)
		end_null_stream(d);
	return was_retained ? late : CUDA_ERROR_INVALID_CONTEXT;
}

/* The device of a context, or NULL if it is none that is retained. */
static struct device *device_of_context(CUcontext context)
{
	for (int i = 0; i < n_devices; i++) {
		if (context != &devices[i].context)
			continue;
		pthread_rwlock_rdlock(&registry);
		unsigned retained = devices[i].retained;
		pthread_rwlock_unlock(&registry);
		return retained ? &devices[i] : NULL;
	}
	return NULL;
}

CUresult cuCtxPushCurrent(CUcontext ctx)
{
	CUresult code = enter("cuCtxPushCurrent", 0, NULL);
	struct device *d = device_of_context(ctx);
	if (is_sticky(code) && d) /* a failure that a test wants is of the device of this context */
		fail_device(d, code);
	if (code)
		return code;
	if (!d || depth == sizeof stack / sizeof stack[0])
		return CUDA_ERROR_INVALID_CONTEXT;
	stack[depth++] = d;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *pctx)
{
	CUresult late = CUDA_SUCCESS, code = enter("cuCtxPopCurrent", RELEASES, &late);
	if (code)
		return code;
	if (depth == 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	struct device *d = stack[--depth];
	if (pctx)
		*pctx = d ? &d->context : NULL;
	return late;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	CUresult code = enter("cuCtxSetCurrent", 0, NULL);
	if (code)
		return code;
	struct device *d = device_of_context(ctx);
	if (ctx && !d)
		return CUDA_ERROR_INVALID_CONTEXT;
	depth += depth == 0;
	stack[depth - 1] = d;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
	CUresult code = enter("cuCtxGetCurrent", 0, NULL);
	if (code)
		return code;
	*pctx = current() ? &current()->context : NULL;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	CUresult code = enter("cuCtxGetDevice", CONTEXT | READS, NULL);
	if (code)
		return code;
	*device = current()->number;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
	CUresult code = enter("cuCtxGetStreamPriorityRange", CONTEXT | READS, NULL);
	if (code)
		return code;
	*leastPriority = 0;
	*greatestPriority = HIGHEST_PRIORITY;
	return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned Flags)
{
	CUresult code = enter("cuCtxEnablePeerAccess", CONTEXT, NULL);
	if (code)
		return code;
	struct device *d = current(), *peer = device_of_context(peerContext);
	if (Flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!peer || peer == d)
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_rwlock_wrlock(&registry);
	int had_it = d->peers >> peer->number & 1;
	d->peers |= 1u << peer->number;
	pthread_rwlock_unlock(&registry);
	return had_it ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_SUCCESS;
}
