/* NVIDIA devices: finding, opening and closing them, and which of them can copy from each other. */
#ifdef HEDDLE_HAVE_CUDA
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"
#include "driver/cuda/cuda.h"

/* Guards `all_open` and each device's `next`: several workers' threads open and close devices at the same time. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hd_cuda_device *all_open;

/* --- What the machine has ----------------------------------------------------------------------------------------- */

static int cuda_count(unsigned *n)
{
	int count = 0;
	int status = hd_cuda_load();
	if (!status)
		status = HD_CUDA(NULL, cuDeviceGetCount, &count);
	*n = status ? 0 : (unsigned)count;
	return status;
}

static int cuda_describe_device(unsigned device, struct heddle_device *out)
{
	CUdevice id;
	size_t memory = 0;
	int version = 0;
	*out = (struct heddle_device){.type = "gpu"};
	int status = hd_cuda_load();
	if (!status)
		status = HD_CUDA(NULL, cuDriverGetVersion, &version);
	if (!status) /* CUDA writes 13.1 as 13010 */
		snprintf(out->driver, sizeof out->driver, "%d.%d", version / 1000, version % 1000 / 10);
	if (!status)
		status = HD_CUDA(NULL, cuDeviceGet, &id, (int)device);
	if (!status)
		status = HD_CUDA(NULL, cuDeviceGetName, out->name, sizeof out->name, id);
	if (!status)
		status = HD_CUDA(NULL, cuDeviceTotalMem_v2, &memory, id);
	if (!status)
		status = HD_CUDA(NULL, cuDeviceGetPCIBusId, out->address, sizeof out->address, id);
	out->memory = memory;
	return status;
}

/* --- Contexts ----------------------------------------------------------------------------------------------------- */

int hd_cuda_enter(const struct hd_cuda_device *device)
{
	return HD_CUDA(device, cuCtxPushCurrent_v2, device->context);
}

void hd_cuda_leave(void)
{
	CUcontext popped;
	(void)hd_cuda.cuCtxPopCurrent_v2(&popped);
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */

/* Makes a pool that keeps freed memory, because blocks of the same sizes will be needed again; the runtime decides how
 * much the device may hold. It is a pool of our own, so that the device's default pool, which the program may use,
 * stays as it is. The caller has made the device's context current. */
static int make_pool(struct hd_cuda_device *d)
{
	CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	                             .handleTypes = CU_MEM_HANDLE_TYPE_NONE,
	                             .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = d->id}};
	CUmemoryPool pool;
	CUstream stream;
	cuuint64_t all = UINT64_MAX;
	int never = 0;
	int status = HD_CUDA(d, cuMemPoolCreate, &pool, &properties);
	if (status)
		return status;
	d->pool = pool;
	status = HD_CUDA(d, cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all);
	/* otherwise an allocation could get memory that a kernel frees on its stream, and wait for this kernel */
	if (!status)
		status =
		    HD_CUDA(d, cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &never);
	if (!status)
		status = HD_CUDA(d, cuStreamCreateWithPriority, &stream, CU_STREAM_NON_BLOCKING, 0);
	if (!status)
		d->pooled = stream;
	return status;
}

static int pools_exist(void)
{
	return hd_cuda.cuMemPoolCreate && hd_cuda.cuMemPoolDestroy && hd_cuda.cuMemPoolSetAttribute &&
	       hd_cuda.cuMemPoolSetAccess && hd_cuda.cuMemAllocFromPoolAsync && hd_cuda.cuMemFreeAsync;
}

static int prepare_memory(struct hd_cuda_device *d)
{
	int pitch = 0, pools = 0;
	int status = HD_CUDA(d, cuDeviceGetAttribute, &pitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH, d->id);
	d->most_pitch = (size_t)pitch;
	if (!status && pools_exist())
		status = HD_CUDA(d, cuDeviceGetAttribute, &pools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, d->id);
	if (!status && pools)
		status = make_pool(d);
	return status == HEDDLE_E_UNSUPPORTED && !d->pool ? 0 : status; /* used without a pool */
}

/* Frees a device, which may be incomplete. */
static void dismantle(struct hd_cuda_device *d)
{
	struct hd_sentence kept;
	hd_error_keep(&kept); /* the last error may say why the device could not be opened */
	int entered = d->context && !hd_cuda_enter(d);
	hd_cuda_unload(d);
	if (d->pooled) {
		(void)hd_cuda.cuStreamSynchronize(d->pooled);
		(void)hd_cuda.cuStreamDestroy_v2(d->pooled);
	}
	if (d->pool)
		(void)hd_cuda.cuMemPoolDestroy(d->pool);
	if (entered)
		hd_cuda_leave();
	if (d->context)
		(void)hd_cuda.cuDevicePrimaryCtxRelease_v2(d->id);
	free(d->peers);
	free(d);
	hd_error_give_back(&kept);
}

/* Finds the device's CUdevice, and writes its name for messages. */
static int identify(struct hd_cuda_device *d, unsigned worker)
{
	const struct heddle_worker *w = &d->platform->workers[worker];
	char model[128];
	snprintf(d->name, sizeof d->name, "%s", w->name);
	d->node = w->node;
	int status = HD_CUDA(d, cuDeviceGet, &d->id, (int)w->device);
	if (!status)
		status = HD_CUDA(d, cuDeviceGetName, model, sizeof model, d->id);
	if (!status)
		snprintf(d->name, sizeof d->name, "%.24s (%s)", w->name, model);
	return status;
}

static int set_up(struct hd_cuda_device *d, unsigned worker)
{
	int status = identify(d, worker);
	if (!status)
		status = HD_CUDA(d, cuDevicePrimaryCtxRetain, &d->context, d->id);
	if (status) {
		d->context = NULL;
		return status;
	}
	status = hd_cuda_enter(d);
	if (!status) {
		status = prepare_memory(d);
		hd_cuda_leave();
	}
	return status;
}

static int cuda_open(const struct heddle_platform *platform, unsigned worker, void **device)
{
	int status = hd_cuda_load();
	if (status)
		return status;
	struct hd_cuda_device *d = calloc(1, sizeof *d);
	if (!d || !(d->peers = calloc(platform->n_nodes, sizeof(CUcontext)))) {
		free(d);
		return hd_no_memory("a CUDA device");
	}
	d->platform = platform;
	status = set_up(d, worker);
	if (status) {
		dismantle(d);
		return status;
	}
	pthread_mutex_lock(&list_lock);
	d->next = all_open;
	all_open = d;
	pthread_mutex_unlock(&list_lock);
	*device = d;
	return 0;
}

static void cuda_close(void *device)
{
	struct hd_cuda_device *d = device, **link = &all_open;
	pthread_mutex_lock(&list_lock);
	while (*link != d)
		link = &(*link)->next;
	*link = d->next;
	pthread_mutex_unlock(&list_lock);
	dismantle(d);
}

/* --- Copies between devices --------------------------------------------------------------------------------------- */

/* The open device of the same runtime whose memory is `node`; NULL: none. */
static struct hd_cuda_device *find_on(const struct heddle_platform *platform, unsigned node)
{
	pthread_mutex_lock(&list_lock);
	struct hd_cuda_device *d = all_open;
	while (d && (d->platform != platform || d->node != node))
		d = d->next;
	pthread_mutex_unlock(&list_lock);
	return d;
}

/* Lets device `d` address the memory of `other`. The memory of the pool needs a separate permission. */
static int allow(const struct hd_cuda_device *d, const struct hd_cuda_device *other)
{
	CUmemAccessDesc both_ways = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = d->id},
	                             .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUresult enabled = hd_cuda.cuCtxEnablePeerAccess(other->context, 0);
	if (enabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
		enabled = CUDA_SUCCESS;
	int status = hd_cuda_status(d, enabled, "cuCtxEnablePeerAccess");
	if (!status && other->pool)
		status = HD_CUDA(d, cuMemPoolSetAccess, other->pool, &both_ways, 1);
	return status;
}

static int cuda_can_copy_directly(void *device, unsigned from_node, unsigned to_node)
{
	struct hd_cuda_device *d = device;
	unsigned node = from_node == d->node ? to_node : from_node;
	const struct hd_cuda_device *other = find_on(d->platform, node);
	int can = 0;
	struct hd_sentence kept;
	if (!other)
		return 0;
	hd_error_keep(&kept); /* copies then go through main memory, which is no error */
	if (!HD_CUDA(d, cuDeviceCanAccessPeer, &can, d->id, other->id) && can) {
		can = !hd_cuda_enter(d);
		if (can) {
			can = !allow(d, other);
			hd_cuda_leave();
		}
	} else {
		can = 0;
	}
	if (can)
		d->peers[node] = other->context;
	hd_error_give_back(&kept);
	return can;
}

const struct heddle_driver hd_driver_cuda = {
    .abi = HEDDLE_DRIVER_ABI,
    .kind = "cuda",
    .count = cuda_count,
    .describe = cuda_describe_device,
    .open = cuda_open,
    .close = cuda_close,
    .open_stream = hd_cuda_open_stream,
    .close_stream = hd_cuda_close_stream,
    .alloc = hd_cuda_alloc,
    .free = hd_cuda_free,
    .alloc_host = hd_cuda_alloc_host,
    .free_host = hd_cuda_free_host,
    .pin = hd_cuda_pin,
    .unpin = hd_cuda_unpin,
    .can_copy_directly = cuda_can_copy_directly,
    .copy = hd_cuda_copy,
    .launch = hd_cuda_launch,
    .query = hd_cuda_query,
    .wait = hd_cuda_wait,
    .notify = hd_cuda_notify,
};
#endif
