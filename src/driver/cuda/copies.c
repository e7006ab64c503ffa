/* Copies of strided arrays from and to the memory of NVIDIA devices, box by box. */
#ifdef HEDDLE_HAVE_CUDA
#include <stdint.h>
#include "driver/boxes.h"
#include "driver/cuda/cuda.h"

/* One copy: device, stream, direction, and the first bytes of both sides. */
struct route {
	const struct hd_cuda_device *device;
	CUstream stream;
	CUcontext from_peer; /* context of the device copied from; NULL: the copy is from or to main memory */
	int to_host;
	const char *from;
	char *to;
};

static CUdeviceptr device_address(const void *p)
{
	return (CUdeviceptr)(uintptr_t)p;
}

static int put_row(const struct route *r, size_t bytes)
{
	if (r->from_peer)
		return HD_CUDA(r->device, cuMemcpyPeerAsync, device_address(r->to), r->device->context,
		               device_address(r->from), r->from_peer, bytes, r->stream);
	if (r->to_host)
		return HD_CUDA(r->device, cuMemcpyDtoHAsync_v2, r->to, device_address(r->from), bytes, r->stream);
	return HD_CUDA(r->device, cuMemcpyHtoDAsync_v2, device_address(r->to), r->from, bytes, r->stream);
}

/* Sets source and destination of a box. All of CUDA's structures for boxes have these fields. */
#define SET_ENDS(box, route)                                                           \
	do {                                                                           \
		int out = (route)->to_host;                                            \
		(box).srcMemoryType = out ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST; \
		(box).dstMemoryType = out ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE; \
		if (out) {                                                             \
			(box).srcDevice = device_address((route)->from);               \
			(box).dstHost = (route)->to;                                   \
		} else {                                                               \
			(box).srcHost = (route)->from;                                 \
			(box).dstDevice = device_address((route)->to);                 \
		}                                                                      \
	} while (0)

static int put_rows(const struct route *r, const struct hd_boxes *b)
{
	const struct hd_direction *rows = &b->directions[0];
	CUDA_MEMCPY2D c = {.srcPitch = rows->from, .dstPitch = rows->to, .WidthInBytes = b->row, .Height = rows->n};
	SET_ENDS(c, r);
	return HD_CUDA(r->device, cuMemcpy2DAsync_v2, &c, r->stream);
}

static int put_planes(const struct route *r, const struct hd_boxes *b)
{
	const struct hd_direction *rows = &b->directions[0], *planes = &b->directions[1];
	CUDA_MEMCPY3D c = {.srcPitch = rows->from,
	                   .dstPitch = rows->to,
	                   .srcHeight = hd_boxes_rows(b, planes->from, rows->from),
	                   .dstHeight = hd_boxes_rows(b, planes->to, rows->to),
	                   .WidthInBytes = b->row,
	                   .Height = rows->n,
	                   .Depth = planes->n};
	SET_ENDS(c, r);
	return HD_CUDA(r->device, cuMemcpy3DAsync_v2, &c, r->stream);
}

/* Copies a box of any shape between devices. */
static int put_between(const struct route *r, const struct hd_boxes *b)
{
	const struct hd_direction *rows = &b->directions[0], *planes = &b->directions[1];
	CUDA_MEMCPY3D_PEER c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                        .srcDevice = device_address(r->from),
	                        .srcContext = r->from_peer,
	                        .srcPitch = rows->from,
	                        .srcHeight = hd_boxes_rows(b, planes->from, rows->from),
	                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                        .dstDevice = device_address(r->to),
	                        .dstContext = r->device->context,
	                        .dstPitch = rows->to,
	                        .dstHeight = hd_boxes_rows(b, planes->to, rows->to),
	                        .WidthInBytes = b->row,
	                        .Height = rows->n,
	                        .Depth = b->n_box == 2 ? planes->n : 1};
	return HD_CUDA(r->device, cuMemcpy3DPeerAsync, &c, r->stream);
}

static int put_box(void *arg, const struct hd_boxes *b, size_t from, size_t to)
{
	const struct route *whole = arg;
	struct route r = *whole;
	r.from += from;
	r.to += to;
	if (b->n_box == 0)
		return put_row(&r, b->row);
	if (r.from_peer)
		return put_between(&r, b);
	return b->n_box == 1 ? put_rows(&r, b) : put_planes(&r, b);
}

int hd_cuda_put_copy(const struct hd_cuda_device *device, CUstream stream, const struct heddle_copy *copy)
{
	struct route r = {.device = device,
	                  .stream = stream,
	                  .to_host = copy->to_node == 0,
	                  .from = copy->from.base,
	                  .to = copy->to.base};
	struct hd_boxes boxes;
	if (copy->from_node && copy->to_node)
		r.from_peer = device->peers[copy->from_node];
	hd_boxes_plan(&boxes, copy, device->most_pitch);
	return hd_boxes_put(&boxes, put_box, &r);
}
#endif
