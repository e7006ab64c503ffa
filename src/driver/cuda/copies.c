/* Copies of strided arrays from and to the memory of NVIDIA devices. CUDA copies boxes: planes of rows of bytes. An
 * array is seen as bytes that lie side by side on both sides, the row, and directions in which this repeats; those that
 * a box cannot have are loops. */
#ifdef HEDDLE_HAVE_CUDA
#include <stdint.h>
#include "driver/cuda/cuda.h"

/* A direction: n times, so many bytes apart. */
struct direction {
	size_t n, from, to;
};

/* What is copied: the first `n_box` directions (0, 1 or 2) belong to the box, the others are loops. */
struct shape {
	size_t row; /* bytes; 0: nothing is to be copied */
	unsigned n, n_box;
	struct direction directions[HEDDLE_MAX_DIMS];
};

/* Where it goes, and how. */
struct route {
	const struct hd_cuda_device *device;
	CUstream stream;
	CUcontext from_peer; /* NULL: it is a copy between the device and main memory */
	int to_host;
	const char *from;
	char *to;
};

/* Adds a direction, which is merged with the row or the direction before if it only continues that. */
static void add(struct shape *s, struct direction d)
{
	struct direction *last = s->n ? &s->directions[s->n - 1] : NULL;
	if (d.n == 1)
		return;
	if (!last && d.from == s->row && d.to == s->row)
		s->row *= d.n;
	else if (last && d.from == last->from * last->n && d.to == last->to * last->n)
		last->n *= d.n;
	else
		s->directions[s->n++] = d;
}

static int is_pitch(const struct hd_cuda_device *device, const struct shape *s, size_t bytes)
{
	return bytes >= s->row && bytes <= device->most_pitch;
}

/* Whether planes `plane` bytes apart consist of whole rows `pitch` bytes apart, `height` at least. */
static int are_planes(size_t plane, size_t pitch, size_t height)
{
	return plane % pitch == 0 && plane / pitch >= height;
}

static void plan(const struct hd_cuda_device *device, const struct heddle_copy *copy, struct shape *s)
{
	const struct heddle_part *from = &copy->from, *to = &copy->to;
	size_t size = from->elem_size;
	*s = (struct shape){.row = size};
	for (unsigned d = 0; d < from->n_dims; d++) {
		if (from->n[d] == 0)
			s->row = 0;
		add(s, (struct direction){from->n[d], from->stride[d] * size, to->stride[d] * size});
	}
	const struct direction *rows = &s->directions[0], *planes = &s->directions[1];
	if (s->n > 0 && is_pitch(device, s, rows->from) && is_pitch(device, s, rows->to))
		s->n_box = 1;
	if (s->n_box && s->n > 1 && are_planes(planes->from, rows->from, rows->n) &&
	    are_planes(planes->to, rows->to, rows->n))
		s->n_box = 2;
}

/* --- One box ------------------------------------------------------------------------------------------------------ */

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

/* Sets both ends of a box, which CUDA describes by the same fields in all its structures for boxes. */
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

static int put_rows(const struct route *r, const struct shape *s)
{
	const struct direction *rows = &s->directions[0];
	CUDA_MEMCPY2D c = {.srcPitch = rows->from, .dstPitch = rows->to, .WidthInBytes = s->row, .Height = rows->n};
	SET_ENDS(c, r);
	return HD_CUDA(r->device, cuMemcpy2DAsync_v2, &c, r->stream);
}

/* How many rows of a plane of the box lie from one plane to the next. */
static size_t rows_per_plane(const struct shape *s, size_t plane, size_t pitch)
{
	return s->n_box == 2 ? plane / pitch : s->directions[0].n;
}

static int put_planes(const struct route *r, const struct shape *s)
{
	const struct direction *rows = &s->directions[0], *planes = &s->directions[1];
	CUDA_MEMCPY3D c = {.srcPitch = rows->from,
	                   .dstPitch = rows->to,
	                   .srcHeight = rows_per_plane(s, planes->from, rows->from),
	                   .dstHeight = rows_per_plane(s, planes->to, rows->to),
	                   .WidthInBytes = s->row,
	                   .Height = rows->n,
	                   .Depth = planes->n};
	SET_ENDS(c, r);
	return HD_CUDA(r->device, cuMemcpy3DAsync_v2, &c, r->stream);
}

/* Between devices there is one function for boxes of all kinds. */
static int put_between(const struct route *r, const struct shape *s)
{
	const struct direction *rows = &s->directions[0], *planes = &s->directions[1];
	CUDA_MEMCPY3D_PEER c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                        .srcDevice = device_address(r->from),
	                        .srcContext = r->from_peer,
	                        .srcPitch = rows->from,
	                        .srcHeight = rows_per_plane(s, planes->from, rows->from),
	                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                        .dstDevice = device_address(r->to),
	                        .dstContext = r->device->context,
	                        .dstPitch = rows->to,
	                        .dstHeight = rows_per_plane(s, planes->to, rows->to),
	                        .WidthInBytes = s->row,
	                        .Height = rows->n,
	                        .Depth = s->n_box == 2 ? planes->n : 1};
	return HD_CUDA(r->device, cuMemcpy3DPeerAsync, &c, r->stream);
}

static int put_box(const struct route *r, const struct shape *s)
{
	if (s->n_box == 0)
		return put_row(r, s->row);
	if (r->from_peer)
		return put_between(r, s);
	return s->n_box == 1 ? put_rows(r, s) : put_planes(r, s);
}

/* --- All boxes ---------------------------------------------------------------------------------------------------- */

int hd_cuda_put_copy(const struct hd_cuda_device *device, CUstream stream, const struct heddle_copy *copy)
{
	struct route r = {.device = device, .stream = stream, .to_host = copy->to_node == 0};
	struct shape s;
	size_t i[HEDDLE_MAX_DIMS] = {0};
	if (copy->from_node && copy->to_node)
		r.from_peer = device->peers[copy->from_node];
	plan(device, copy, &s);
	for (int status = 0; s.row;) {
		size_t from = 0, to = 0;
		for (unsigned d = s.n_box; d < s.n; d++) {
			from += i[d] * s.directions[d].from;
			to += i[d] * s.directions[d].to;
		}
		r.from = (const char *)copy->from.base + from;
		r.to = (char *)copy->to.base + to;
		status = put_box(&r, &s);
		if (status)
			return status;
		unsigned d = s.n_box;
		while (d < s.n && ++i[d] == s.directions[d].n)
			i[d++] = 0;
		if (d >= s.n)
			break;
	}
	return 0;
}
#endif
