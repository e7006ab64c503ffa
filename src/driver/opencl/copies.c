/* Copies between strided arrays of up to four dimensions, box by box. */
#ifdef HEDDLE_HAVE_OPENCL
#include <stdint.h>
#include <stdlib.h>
#include "base/base.h"
#include "driver/boxes.h"
#include "opencl.h"

/* One side of a copy or of a box: source or destination. */
struct side {
	cl_mem mem;    /* memory object of the device; NULL: this side is main memory */
	size_t offset; /* bytes from the beginning of `mem` to the first byte */
	char *host;    /* address of the first byte, in main memory */
};

/* A copy, and the queue for its commands. */
struct way {
	struct side from, to;
	struct hd_cl_device *device;
	cl_command_queue queue;
	cl_event last;    /* event of the last command; NULL: there is no command yet */
	const char *what; /* name of the function of OpenCL that put the last command on the queue */
};

static int open_side(struct hd_cl_device *d, unsigned node, const struct heddle_part *part, struct side *out)
{
	if (node == 0) {
		out->host = part->base;
		return 0;
	}
	out->mem = hd_cl_find(&d->context->buffers, part->base, &out->offset);
	if (!out->mem)
		return hd_error(HEDDLE_E_INVALID, "%s: a copy from or to %p, which is no memory of this device",
		                d->label, part->base);
	return 0;
}

/* The place `bytes` bytes behind the place `s`. */
static struct side side_at(struct side s, size_t bytes)
{
	if (s.mem)
		s.offset += bytes;
	else
		s.host += bytes;
	return s;
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

/* Puts a copy of contiguous bytes on the queue. */
static cl_int enqueue_row(struct way *w, size_t bytes, const struct side *from, const struct side *to, cl_event *event)
{
	cl_uint n = w->last ? 1 : 0;
	const cl_event *after = n ? &w->last : NULL;
	if (from->mem && to->mem) {
		w->what = "clEnqueueCopyBuffer";
		return hd_cl.clEnqueueCopyBuffer(w->queue, from->mem, to->mem, from->offset, to->offset, bytes, n,
		                                 after, event);
	}
	if (from->mem) {
		w->what = "clEnqueueReadBuffer";
		return hd_cl.clEnqueueReadBuffer(w->queue, from->mem, CL_FALSE, from->offset, bytes, to->host, n, after,
		                                 event);
	}
	w->what = "clEnqueueWriteBuffer";
	return hd_cl.clEnqueueWriteBuffer(w->queue, to->mem, CL_FALSE, to->offset, bytes, from->host, n, after, event);
}

/* Puts the copy of a box of rows, or of rows and planes, on the queue. OpenCL refuses a pitch of 0 even for planes that
 * the box does not have. */
static cl_int enqueue_box(struct way *w, const struct hd_boxes *b, const struct side *from, const struct side *to,
                          cl_event *event)
{
	cl_uint n = w->last ? 1 : 0;
	const cl_event *after = n ? &w->last : NULL;
	const struct hd_direction *rows = &b->directions[0], *planes = &b->directions[1];
	size_t from_plane = rows->from * hd_boxes_rows(b, planes->from, rows->from),
	       to_plane = rows->to * hd_boxes_rows(b, planes->to, rows->to);
	const size_t region[3] = {b->row, rows->n, b->n_box > 1 ? planes->n : 1}, zero[3] = {0},
	             from_origin[3] = {from->offset, 0, 0}, to_origin[3] = {to->offset, 0, 0};
	if (from->mem && to->mem) {
		w->what = "clEnqueueCopyBufferRect";
		return hd_cl.clEnqueueCopyBufferRect(w->queue, from->mem, to->mem, from_origin, to_origin, region,
		                                     rows->from, from_plane, rows->to, to_plane, n, after, event);
	}
	if (from->mem) {
		w->what = "clEnqueueReadBufferRect";
		return hd_cl.clEnqueueReadBufferRect(w->queue, from->mem, CL_FALSE, from_origin, zero, region,
		                                     rows->from, from_plane, rows->to, to_plane, to->host, n, after,
		                                     event);
	}
	w->what = "clEnqueueWriteBufferRect";
	return hd_cl.clEnqueueWriteBufferRect(w->queue, to->mem, CL_FALSE, to_origin, zero, region, rows->to, to_plane,
	                                      rows->from, from_plane, from->host, n, after, event);
}

/* Puts the copy of a box on the queue. The copy waits for the event of the previous box, so that it fails if that box
 * has failed; the order of the queue does not pass failures on. */
static int put(void *arg, const struct hd_boxes *b, size_t from_bytes, size_t to_bytes)
{
	struct way *w = arg;
	struct side from = side_at(w->from, from_bytes), to = side_at(w->to, to_bytes);
	cl_event event;
	cl_int code = b->n_box ? enqueue_box(w, b, &from, &to, &event) : enqueue_row(w, b->row, &from, &to, &event);
	if (code)
		return hd_cl_error(HD_CL_RUNNING, code, w->what, w->device->label);
	if (w->last)
		hd_cl.clReleaseEvent(w->last);
	w->last = event;
	return 0;
}

int hd_cl_copy(void *device, void *stream, const struct heddle_copy *copy, void **event)
{
	struct way way = {.device = device, .queue = stream};
	struct hd_boxes boxes;
	hd_boxes_plan(&boxes, copy, SIZE_MAX);
	int status = open_side(device, copy->from_node, &copy->from, &way.from);
	if (!status)
		status = open_side(device, copy->to_node, &copy->to, &way.to);
	if (status || !boxes.row)
		return status;
	struct hd_cl_operation *o = calloc(1, sizeof *o);
	if (!o)
		return hd_no_memory("a copy on an OpenCL device");
	status = hd_boxes_put(&boxes, put, &way);
	cl_int code = status ? 0 : hd_cl.clFlush(stream);
	if (code)
		status = hd_cl_error(HD_CL_RUNNING, code, "clFlush", way.device->label);
	o->queue = stream;
	o->last = way.last;
	o->what = way.what;
	if (status) { /* no command of the copy may still run when the failure is reported to the runtime */
		hd_cl.clFinish(stream);
		hd_cl_operation_free(o);
		return status;
	}
	*event = o;
	return HEDDLE_PENDING;
}
#endif
