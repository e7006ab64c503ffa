/* Copies, and filling. All are operations on a stream and check addresses when they are asked for. */
#include <string.h>
#include "inside.h"

/* One side of a copy: rows of a matrix, and matrices of an array. */
struct side {
	char *from;
	size_t pitch, plane; /* bytes from a row to the next, from a matrix to the next */
};

struct extents {
	size_t width, height, depth; /* bytes, rows, matrices */
};

struct copy_op {
	struct op op;
	struct side from, to;
	struct extents extents;
};

static CUresult run_copy(struct op *op, CUstream stream, CUresult failed)
{
	const struct copy_op *c = (const struct copy_op *)op;
	(void)stream;
	int code = failed ? 0 : standin_step("copy");
	if (failed || code)
		return (CUresult)code;
	for (size_t z = 0; z < c->extents.depth; z++) {
		for (size_t y = 0; y < c->extents.height; y++)
			memcpy(c->to.from + z * c->to.plane + y * c->to.pitch,
			       c->from.from + z * c->from.plane + y * c->from.pitch, c->extents.width);
	}
	return CUDA_SUCCESS;
}

/* How an address is given: as one of the host or of a device, or as either, which its bits tell. */
struct place_of {
	CUmemorytype type;
	const void *host;
	CUdeviceptr device;
	const struct device *owner; /* for copies between contexts: whose it must be. NULL: any that d may use */
};

/* Finds one side, of which pitch and plane are set, for a copy by device d. *on_device: whether it is there. */
static CUresult find_side(const struct device *d, struct place_of place, size_t offset, struct extents extents,
                          struct side *side)
{
	if (place.type == CU_MEMORYTYPE_UNIFIED && device_of(place.device) < 0) {
		place.type = CU_MEMORYTYPE_HOST;
		place.host = (const void *)(uintptr_t)place.device;
	}
	if (extents.width == 0 || extents.height == 0 || extents.depth == 0)
		return CUDA_SUCCESS;
	size_t last = (extents.depth - 1) * side->plane + (extents.height - 1) * side->pitch + extents.width;
	if (place.type == CU_MEMORYTYPE_HOST) {
		if (!place.host || device_of((uintptr_t)place.host) >= 0)
			return CUDA_ERROR_INVALID_VALUE;
		side->from = (char *)(uintptr_t)place.host + offset;
		return CUDA_SUCCESS;
	}
	if (place.type != CU_MEMORYTYPE_DEVICE && place.type != CU_MEMORYTYPE_UNIFIED)
		return CUDA_ERROR_INVALID_VALUE;
	if (place.owner && device_of(place.device) != place.owner->number)
		return CUDA_ERROR_INVALID_VALUE;
	side->from = usable_memory(place.owner ? place.owner : d, place.device + offset, last);
	return side->from ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Whether a device that is lost but readable can still do it: to main memory. */
static int only_reads(struct place_of to)
{
	return to.type == CU_MEMORYTYPE_HOST || (to.type == CU_MEMORYTYPE_UNIFIED && device_of(to.device) < 0);
}

static CUresult push_copy(CUstream stream, struct copy_op copy)
{
	struct device *d = current();
	CUresult code = copy.op.survives ? CUDA_SUCCESS : lost(d, 0);
	if (!code)
		code = find_stream(d, stream, &stream);
	if (code || copy.extents.width == 0 || copy.extents.height == 0 || copy.extents.depth == 0)
		return code;
	struct copy_op *op = new_op(sizeof *op, NULL);
	copy.op.run = run_copy;
	*op = copy;
	push(stream, op);
	return CUDA_SUCCESS;
}

static struct place_of host(const void *address)
{
	return (struct place_of){.type = CU_MEMORYTYPE_HOST, .host = address};
}

static struct place_of device(CUdeviceptr address)
{
	return (struct place_of){.type = CU_MEMORYTYPE_DEVICE, .device = address};
}

static CUresult copy_line(struct place_of to, struct place_of from, size_t bytes, CUstream stream)
{
	struct copy_op c = {.extents = {bytes, 1, 1}, .op.survives = only_reads(to)};
	CUresult code = find_side(current(), from, 0, c.extents, &c.from);
	if (!code)
		code = find_side(current(), to, 0, c.extents, &c.to);
	return code ? code : push_copy(stream, c);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
	CUresult code = enter("cuMemcpyHtoDAsync", CONTEXT, NULL);
	return code ? code : copy_line(device(dstDevice), host(srcHost), ByteCount, hStream);
}

CUresult cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	CUresult code = enter("cuMemcpyDtoHAsync", CONTEXT | READS, NULL);
	return code ? code : copy_line(host(dstHost), device(srcDevice), ByteCount, hStream);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
	CUresult code = enter("cuMemcpyDtoDAsync", CONTEXT, NULL);
	return code ? code : copy_line(device(dstDevice), device(srcDevice), ByteCount, hStream);
}

CUresult cuMemcpyHtoD(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
	CUstream stream;
	CUresult code = enter("cuMemcpyHtoD", CONTEXT, NULL);
	code = code ? code : copy_line(device(dstDevice), host(srcHost), ByteCount, NULL);
	code = code ? code : find_stream(current(), NULL, &stream);
	return code ? code : drain(stream);
}

CUresult cuMemcpyDtoH(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
	CUstream stream;
	CUresult code = enter("cuMemcpyDtoH", CONTEXT | READS, NULL);
	code = code ? code : copy_line(host(dstHost), device(srcDevice), ByteCount, NULL);
	code = code ? code : find_stream(current(), NULL, &stream);
	return code ? code : drain(stream);
}

/* --- Matrices and arrays ------------------------------------------------------------------------------------------ */

/* The distance of rows of which `x` bytes are left out and `width` used; 0: they do not fit. A single one may be
 * given any distance. */
static int is_pitch(size_t pitch, size_t x, struct extents extents)
{
	return (extents.height <= 1 && extents.depth <= 1 && pitch == 0) ||
	       (pitch >= x + extents.width && pitch <= INT32_MAX);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
	const CUDA_MEMCPY2D *p = pCopy;
	CUresult code = enter("cuMemcpy2DAsync", CONTEXT | READS, NULL);
	if (code)
		return code;
	struct place_of from = {.type = p->srcMemoryType, .host = p->srcHost, .device = p->srcDevice};
	struct place_of to = {.type = p->dstMemoryType, .host = p->dstHost, .device = p->dstDevice};
	struct copy_op c = {.extents = {p->WidthInBytes, p->Height, 1},
	                    .from.pitch = p->srcPitch,
	                    .to.pitch = p->dstPitch,
	                    .op.survives = only_reads(to)};
	if (!is_pitch(p->srcPitch, p->srcXInBytes, c.extents) || !is_pitch(p->dstPitch, p->dstXInBytes, c.extents))
		return CUDA_ERROR_INVALID_VALUE;
	code = find_side(current(), from, p->srcY * p->srcPitch + p->srcXInBytes, c.extents, &c.from);
	if (!code)
		code = find_side(current(), to, p->dstY * p->dstPitch + p->dstXInBytes, c.extents, &c.to);
	return code ? code : push_copy(hStream, c);
}

static struct device *owner_of(CUcontext context)
{
	for (int i = 0; i < n_devices; i++) {
		if (context == &devices[i].context)
			return &devices[i];
	}
	return NULL;
}

/* Both kinds of cuMemcpy3D have the same fields but for the contexts. */
static CUresult copy_array(const CUDA_MEMCPY3D_PEER *p, CUstream stream)
{
	struct place_of from = {.type = p->srcMemoryType, .host = p->srcHost, .device = p->srcDevice};
	struct place_of to = {.type = p->dstMemoryType, .host = p->dstHost, .device = p->dstDevice};
	from.owner = owner_of(p->srcContext);
	to.owner = owner_of(p->dstContext);
	struct copy_op c = {.extents = {p->WidthInBytes, p->Height, p->Depth},
	                    .from = {.pitch = p->srcPitch, .plane = p->srcPitch * p->srcHeight},
	                    .to = {.pitch = p->dstPitch, .plane = p->dstPitch * p->dstHeight},
	                    .op.survives = only_reads(to)};
	if (!is_pitch(p->srcPitch, p->srcXInBytes, c.extents) || !is_pitch(p->dstPitch, p->dstXInBytes, c.extents))
		return CUDA_ERROR_INVALID_VALUE;
	if (p->Depth > 1 && (p->srcHeight < p->srcY + p->Height || p->dstHeight < p->dstY + p->Height))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult code = find_side(current(), from, p->srcZ * c.from.plane + p->srcY * p->srcPitch + p->srcXInBytes,
	                          c.extents, &c.from);
	if (!code)
		code = find_side(current(), to, p->dstZ * c.to.plane + p->dstY * p->dstPitch + p->dstXInBytes,
		                 c.extents, &c.to);
	return code ? code : push_copy(stream, c);
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
	CUDA_MEMCPY3D_PEER with_contexts;
	CUresult code = enter("cuMemcpy3DAsync", CONTEXT | READS, NULL);
	if (code)
		return code;
	_Static_assert(sizeof with_contexts == sizeof *pCopy, "one has reserved fields where the other has contexts");
	memcpy(&with_contexts, pCopy, sizeof with_contexts);
	if (with_contexts.srcContext || with_contexts.dstContext)
		return CUDA_ERROR_INVALID_VALUE; /* reserved, must be NULL */
	return copy_array(&with_contexts, hStream);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
	CUresult code = enter("cuMemcpy3DPeerAsync", CONTEXT | READS, NULL);
	if (code)
		return code;
	if ((pCopy->srcMemoryType != CU_MEMORYTYPE_HOST && !owner_of(pCopy->srcContext)) ||
	    (pCopy->dstMemoryType != CU_MEMORYTYPE_HOST && !owner_of(pCopy->dstContext)))
		return CUDA_ERROR_INVALID_CONTEXT;
	return copy_array(pCopy, hStream);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                           size_t ByteCount, CUstream hStream)
{
	CUresult code = enter("cuMemcpyPeerAsync", CONTEXT, NULL);
	if (code)
		return code;
	struct place_of to = device(dstDevice), from = device(srcDevice);
	to.owner = owner_of(dstContext);
	from.owner = owner_of(srcContext);
	if (!to.owner || !from.owner)
		return CUDA_ERROR_INVALID_CONTEXT;
	code = lost(to.owner, 0) ? lost(to.owner, 0) : lost(from.owner, READS);
	return code ? code : copy_line(to, from, ByteCount, hStream);
}

/* --- Filling ------------------------------------------------------------------------------------------------------ */

struct fill_op {
	struct op op;
	void *memory;
	size_t bytes;
	unsigned char value;
};

static CUresult run_fill(struct op *op, CUstream stream, CUresult failed)
{
	const struct fill_op *fill = (const struct fill_op *)op;
	(void)stream;
	if (!failed)
		memset(fill->memory, fill->value, fill->bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
	CUresult code = enter("cuMemsetD8Async", CONTEXT, NULL);
	if (code)
		return code;
	void *memory = usable_memory(current(), dstDevice, N);
	if (!memory)
		return CUDA_ERROR_INVALID_VALUE;
	code = find_stream(current(), hStream, &hStream);
	if (code)
		return code;
	struct fill_op *op = new_op(sizeof *op, run_fill);
	op->memory = memory;
	op->bytes = N;
	op->value = uc;
	push(hStream, op);
	return CUDA_SUCCESS;
}
