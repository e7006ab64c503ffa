/* Copies between arrays of up to four dimensions with strides. OpenCL copies boxes of bytes: rows of which the lines
 * begin equally far apart, and the planes a whole number of lines. So the dimensions without gaps become one row, and
 * what does not fit into a box is copied box by box, one after the other. */
#ifdef HEDDLE_HAVE_OPENCL
#include <stdlib.h>
#include "base/base.h"
#include "opencl.h"

/* One side of a copy. */
struct side {
	cl_mem mem;                    /* NULL: main memory */
	size_t offset;                 /* bytes from the beginning of `mem` */
	char *host;                    /* main memory */
	size_t pitch[HEDDLE_MAX_DIMS]; /* bytes from one element of a dimension to the next */
};

/* A copy as rows of bytes: dimensions that are dense on both sides are one. */
struct box {
	struct side from, to;
	size_t row;                /* bytes */
	size_t n[HEDDLE_MAX_DIMS]; /* extents of the other dimensions */
	unsigned n_dims;           /* how many those are */
};

/* Where the commands of a copy go. */
struct way {
	struct hd_cl_device *device;
	cl_command_queue queue;
	cl_event last;    /* of the last command; NULL: there was none */
	const char *what; /* the call for the last command */
};

/* --- The shape ---------------------------------------------------------------------------------------------------- */

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

/* Adds a dimension, of which the elements are this many bytes apart; or lengthens the last one if it goes on there. */
static void add_dim(struct box *b, size_t n, size_t from_pitch, size_t to_pitch)
{
	unsigned k = b->n_dims;
	if (k == 0 && from_pitch == b->row && to_pitch == b->row) {
		b->row *= n;
		return;
	}
	if (k && from_pitch == b->n[k - 1] * b->from.pitch[k - 1] && to_pitch == b->n[k - 1] * b->to.pitch[k - 1]) {
		b->n[k - 1] *= n;
		return;
	}
	b->n[k] = n;
	b->from.pitch[k] = from_pitch;
	b->to.pitch[k] = to_pitch;
	b->n_dims++;
}

static int make_box(struct hd_cl_device *d, const struct heddle_copy *copy, struct box *b)
{
	const struct heddle_part *from = &copy->from, *to = &copy->to;
	*b = (struct box){.row = from->elem_size};
	int status = open_side(d, copy->from_node, from, &b->from);
	if (!status)
		status = open_side(d, copy->to_node, to, &b->to);
	for (unsigned i = 0; i < from->n_dims; i++)
		if (from->n[i] != 1)
			add_dim(b, from->n[i], from->stride[i] * from->elem_size, to->stride[i] * to->elem_size);
	for (unsigned i = 0; i < b->n_dims; i++)
		if (b->n[i] == 0)
			b->row = 0;
	return status;
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

/* A row without gaps. */
static cl_int enqueue_row(struct way *w, const struct box *b, const cl_event *after, cl_event *event)
{
	cl_uint n = after ? 1 : 0;
	const struct side *from = &b->from, *to = &b->to;
	if (from->mem && to->mem) {
		w->what = "clEnqueueCopyBuffer";
		return hd_cl.clEnqueueCopyBuffer(w->queue, from->mem, to->mem, from->offset, to->offset, b->row, n,
		                                 after, event);
	}
	if (from->mem) {
		w->what = "clEnqueueReadBuffer";
		return hd_cl.clEnqueueReadBuffer(w->queue, from->mem, CL_FALSE, from->offset, b->row, to->host, n,
		                                 after, event);
	}
	w->what = "clEnqueueWriteBuffer";
	return hd_cl.clEnqueueWriteBuffer(w->queue, to->mem, CL_FALSE, to->offset, b->row, from->host, n, after, event);
}

/* The pitches of lines and planes as OpenCL wants them: those of a dimension that the box lacks do not matter, but must
 * be allowed. */
struct pitches {
	size_t line, plane;
};

static struct pitches pitches_of(const struct side *s, const struct box *b)
{
	size_t line = s->pitch[0];
	return (struct pitches){line, b->n_dims > 1 ? s->pitch[1] : line * b->n[0]};
}

/* A box of up to three dimensions. */
static cl_int enqueue_box(struct way *w, const struct box *b, const cl_event *after, cl_event *event)
{
	cl_uint n = after ? 1 : 0;
	const struct pitches from = pitches_of(&b->from, b), to = pitches_of(&b->to, b);
	const size_t region[3] = {b->row, b->n[0], b->n_dims > 1 ? b->n[1] : 1}, zero[3] = {0},
	             from_origin[3] = {b->from.offset, 0, 0}, to_origin[3] = {b->to.offset, 0, 0};
	if (b->from.mem && b->to.mem) {
		w->what = "clEnqueueCopyBufferRect";
		return hd_cl.clEnqueueCopyBufferRect(w->queue, b->from.mem, b->to.mem, from_origin, to_origin, region,
		                                     from.line, from.plane, to.line, to.plane, n, after, event);
	}
	if (b->from.mem) {
		w->what = "clEnqueueReadBufferRect";
		return hd_cl.clEnqueueReadBufferRect(w->queue, b->from.mem, CL_FALSE, from_origin, zero, region,
		                                     from.line, from.plane, to.line, to.plane, b->to.host, n, after,
		                                     event);
	}
	w->what = "clEnqueueWriteBufferRect";
	return hd_cl.clEnqueueWriteBufferRect(w->queue, b->to.mem, CL_FALSE, to_origin, zero, region, to.line, to.plane,
	                                      from.line, from.plane, b->from.host, n, after, event);
}

/* Puts one command for all of the box on the queue. It waits for the one before, which the queue would make it do
 * anyway, so that it fails if that has failed. */
static int put(struct way *w, const struct box *b)
{
	cl_event event, *after = w->last ? &w->last : NULL;
	cl_int code = b->n_dims ? enqueue_box(w, b, after, &event) : enqueue_row(w, b, after, &event);
	if (code)
		return hd_cl_error(HD_CL_RUNNING, code, w->what, w->device->label);
	if (w->last)
		hd_cl.clReleaseEvent(w->last);
	w->last = event;
	return 0;
}

static int fits(const struct side *s, const struct box *b)
{
	return s->pitch[0] >= b->row && (b->n_dims < 2 || (s->pitch[1] % s->pitch[0] == 0 && /* whole lines */
	                                                   s->pitch[1] >= b->n[0] * s->pitch[0]));
}

/* Puts the box on the queue, cut along its last dimension where it does not fit into one command. */
static int put_all(struct way *w, const struct box *b)
{
	if (b->n_dims == 0 || (b->n_dims < 3 && fits(&b->from, b) && fits(&b->to, b)))
		return put(w, b);
	struct box slice = *b;
	unsigned last = --slice.n_dims;
	int status = 0;
	for (size_t i = 0; i < b->n[last] && !status; i++) {
		status = put_all(w, &slice);
		slice.from.offset += b->from.pitch[last];
		slice.to.offset += b->to.pitch[last];
		slice.from.host = slice.from.host ? slice.from.host + b->from.pitch[last] : NULL;
		slice.to.host = slice.to.host ? slice.to.host + b->to.pitch[last] : NULL;
	}
	return status;
}

int hd_cl_copy(void *device, void *stream, const struct heddle_copy *copy, void **event)
{
	struct way way = {.device = device, .queue = stream};
	struct box box;
	int status = make_box(device, copy, &box);
	if (status || !box.row)
		return status;
	struct hd_cl_operation *o = calloc(1, sizeof *o);
	if (!o)
		return hd_no_memory("a copy on an OpenCL device");
	status = put_all(&way, &box);
	cl_int code = status ? 0 : hd_cl.clFlush(stream);
	if (code)
		status = hd_cl_error(HD_CL_RUNNING, code, "clFlush", way.device->label);
	o->queue = stream;
	o->last = way.last;
	o->what = way.what;
	if (status) { /* nothing of it may go on when the runtime thinks that it has ended */
		hd_cl.clFinish(stream);
		hd_cl_operation_free(o);
		return status;
	}
	*event = o;
	return HEDDLE_PENDING;
}
#endif
