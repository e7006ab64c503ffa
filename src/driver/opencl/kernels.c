/* The functions that kernels for OpenCL devices call: include/heddle/opencl.h. */
#ifdef HEDDLE_HAVE_OPENCL
#include <stdlib.h>
#include "base/base.h"
#include "opencl.h"
#include "base/grow.h"

static struct hd_running *find_running(const heddle_context *c, const char *function)
{
	return hd_running_find(c, "OpenCL", function);
}

/* --- Programs and runs -------------------------------------------------------------------------------------------- */

int heddle_opencl_kernel(heddle_context *c, const struct heddle_opencl_source *source, const char *name,
                         struct _cl_kernel **out)
{
	struct hd_running *r = find_running(c, __func__);
	if (!r)
		return HEDDLE_E_STATE;
	int status = hd_cl_kernel(r->device, source, name, out);
	return hd_running_fail(r, status);
}

/* Sets the kernel argument number *index of OpenCL, and advances *index. */
static int set_next(const struct hd_cl_device *d, cl_kernel kernel, cl_uint *index, size_t size, const void *value)
{
	cl_int code = hd_cl.clSetKernelArg(kernel, *index, size, value);
	if (!code) {
		++*index;
		return 0;
	}
	int status = hd_cl_error(HD_CL_MAKING, code, "clSetKernelArg", d->label);
	return hd_error_context(status == HEDDLE_E_UNSUPPORTED ? HEDDLE_E_INVALID : status,
	                        "argument %u of the kernel %s", (unsigned)*index, hd_cl_kernel_name(d, kernel));
}

static int find_datum(struct hd_cl_device *d, const heddle_context *c, size_t i, struct heddle_part *part, cl_mem *mem,
                      size_t *offset)
{
	int status = heddle_context_part(c, i, 0, part);
	if (status)
		return status;
	*mem = hd_cl_find(&d->context->buffers, part->base, offset);
	return *mem ? 0
	            : hd_error(HEDDLE_E_INVALID, "%s: datum %zu is at %p, which is no memory of this device", d->label,
	                       i, part->base);
}

static int set_datum(struct hd_cl_device *d, const heddle_context *c, cl_kernel kernel, cl_uint *index, size_t i)
{
	struct heddle_part part;
	cl_mem mem;
	size_t offset;
	int status = find_datum(d, c, i, &part, &mem, &offset);
	if (!status && offset % part.elem_size)
		status = hd_error(HEDDLE_E_INVALID,
		                  "datum %zu begins %zu bytes after its memory object, which is no whole number of its "
		                  "elements of %zu bytes: use heddle_opencl_buffer",
		                  i, offset, part.elem_size);
	cl_ulong first = status ? 0 : offset / part.elem_size;
	if (!status)
		status = set_next(d, kernel, index, sizeof mem, &mem);
	return status ? status : set_next(d, kernel, index, sizeof first, &first);
}

static int set_argument(struct hd_cl_device *d, const heddle_context *c, cl_kernel kernel, cl_uint *index,
                        const struct heddle_opencl_argument *a)
{
	switch (a->what) {
	case HEDDLE_OPENCL_DATUM: return set_datum(d, c, kernel, index, a->number);
	case HEDDLE_OPENCL_BYTES: return set_next(d, kernel, index, a->number, a->ptr);
	case HEDDLE_OPENCL_LOCAL: return set_next(d, kernel, index, a->number, NULL);
	case HEDDLE_OPENCL_MEMORY: return set_next(d, kernel, index, sizeof(cl_mem), &a->ptr);
	default: return hd_error(HEDDLE_E_INVALID, "there is no kind %d of arguments", a->what);
	}
}

/* Makes room in o->runs for the event of one more kernel, so that the task can fail if one of its kernels fails. */
static int make_room(struct hd_cl_operation *o)
{
	return HD_GROW(o->runs, o->n_runs, o->max_runs, 4) ? hd_no_memory("the kernels of a task") : 0;
}

static int enqueue(const struct hd_running *r, cl_kernel kernel, const struct heddle_opencl_range *range)
{
	const struct hd_cl_device *d = r->device;
	const struct hd_cl_stream *s = r->stream;
	struct hd_cl_operation *o = r->operation;
	int grouped = range->local[0] || range->local[1] || range->local[2];
	size_t global[3], local[3];
	cl_event event;
	for (unsigned i = 0; i < 3; i++) {
		local[i] = range->local[i] ? range->local[i] : 1;
		global[i] = hd_round_up(range->global[i] ? range->global[i] : 1, local[i]);
	}
	const cl_event *after = o->n_runs ? &o->runs[o->n_runs - 1].event : NULL;
	cl_int code = hd_cl.clEnqueueNDRangeKernel(s->queue, kernel, 3, NULL, global, grouped ? local : NULL,
	                                           after ? 1 : 0, after, &event);
	if (code) {
		/* CL_OUT_OF_RESOURCES may also mean that the kernel needs too many registers: an error of the launch */
		int status = hd_cl_error(HD_CL_MAKING, code, "clEnqueueNDRangeKernel", d->label);
		return hd_error_context(status == HEDDLE_E_UNSUPPORTED ? HEDDLE_E_INVALID : status, "the kernel %s",
		                        hd_cl_kernel_name(d, kernel));
	}
	o->runs[o->n_runs++] = (struct hd_cl_run){event, kernel};
	return 0;
}

int heddle_opencl_run(heddle_context *c, struct _cl_kernel *kernel, const struct heddle_opencl_range *range, size_t n,
                      const struct heddle_opencl_argument *arguments)
{
	struct hd_running *r = find_running(c, __func__);
	cl_uint index = 0;
	if (!r)
		return HEDDLE_E_STATE;
	int status = make_room(r->operation);
	for (size_t i = 0; i < n && !status; i++)
		status = set_argument(r->device, c, kernel, &index, &arguments[i]);
	if (!status)
		status = enqueue(r, kernel, range);
	return hd_running_fail(r, status);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

struct _cl_mem *heddle_opencl_buffer(heddle_context *c, size_t i, size_t *offset)
{
	struct hd_running *r = find_running(c, __func__);
	struct heddle_part part;
	cl_mem mem = NULL;
	size_t at;
	if (!r)
		return NULL;
	int status = find_datum(r->device, c, i, &part, &mem, &at);
	if (status) {
		hd_running_fail(r, status);
		return NULL;
	}
	*offset = at;
	return mem;
}

struct _cl_mem *heddle_opencl_buffer_of(heddle_context *c, const void *address, size_t *offset)
{
	struct hd_running *r = find_running(c, __func__);
	if (!r)
		return NULL;
	const struct hd_cl_device *d = r->device;
	cl_mem mem = hd_cl_find(&d->context->buffers, address, offset);
	if (!mem)
		hd_running_fail(r, hd_error(HEDDLE_E_INVALID, "%s: %p is no memory of this device", d->label, address));
	return mem;
}

struct _cl_mem *heddle_opencl_scratch(heddle_context *c, size_t bytes)
{
	struct hd_running *r = find_running(c, __func__);
	if (!r)
		return NULL;
	struct hd_cl_stream *s = r->stream;
	if (s->scratch && s->scratch_size >= bytes)
		return s->scratch;
	cl_mem larger = NULL;
	int status = hd_cl_make_mem(r->device, bytes ? bytes : 1, &larger);
	if (status) {
		hd_running_fail(r, status);
		return NULL;
	}
	if (s->scratch)
		/* OpenCL frees the memory when the work on the stream has ended */
		hd_cl.clReleaseMemObject(s->scratch);
	s->scratch = larger;
	s->scratch_size = bytes;
	return larger;
}

void **heddle_opencl_slot(heddle_context *c, const void *key, void (*destroy)(void *pointer))
{
	return hd_running_slot(find_running(c, __func__), key, destroy);
}

/* --- The program's own calls -------------------------------------------------------------------------------------- */

int heddle_opencl_failed(heddle_context *c, int result, const char *call)
{
	struct hd_running *r = find_running(c, __func__);
	if (!r)
		return HEDDLE_E_STATE;
	if (!result)
		return 0;
	const struct hd_cl_device *d = r->device;
	int status = hd_cl_error(HD_CL_MAKING, result, call, d->label);
	int known = status == HEDDLE_E_DEVICE || status == HEDDLE_E_MEMORY;
	return hd_running_fail(r, known ? status : HEDDLE_E_KERNEL);
}

int heddle_opencl_then(heddle_context *c, void (*f)(void *arg, int result), void *arg)
{
	struct hd_running *r = find_running(c, __func__);
	if (!r)
		return HEDDLE_E_STATE;
	int status = hd_later_add(r->later, f, arg);
	return hd_running_fail(r, status);
}

struct _cl_device_id *heddle_opencl_device(heddle_context *c)
{
	const struct hd_running *r = find_running(c, __func__);
	const struct hd_cl_device *d = r ? r->device : NULL;
	return d ? d->id : NULL;
}

struct _cl_context *heddle_opencl_context(heddle_context *c)
{
	const struct hd_running *r = find_running(c, __func__);
	const struct hd_cl_device *d = r ? r->device : NULL;
	return d ? d->context->context : NULL;
}
#endif
