/* Streams, kernels and events, and the table of the driver's functions. */
#ifdef HEDDLE_HAVE_OPENCL
#include <stdlib.h>
#include "base/base.h"
#include "driver/driver.h"
#include "opencl.h"

/* --- Streams ------------------------------------------------------------------------------------------------------ */

static int open_kernels(struct hd_cl_device *d, cl_command_queue queue)
{
	struct hd_cl_stream *s = calloc(1, sizeof *s);
	if (!s || !(s->bell = hd_bell_new())) {
		free(s);
		return hd_no_memory("a stream of an OpenCL device");
	}
	s->queue = queue;
	s->next = d->streams;
	d->streams = s;
	return 0;
}

static int cl_open_stream(void *device, enum heddle_stream_use use, void **stream)
{
	struct hd_cl_device *d = device;
	cl_int code;
	cl_command_queue queue = hd_cl.clCreateCommandQueue(d->context->context, d->id, 0, &code);
	if (!queue)
		return hd_cl_error(HD_CL_MAKING, code, "clCreateCommandQueue", d->label);
	int status = use == HEDDLE_STREAM_KERNELS ? open_kernels(d, queue) : 0;
	if (status)
		hd_cl.clReleaseCommandQueue(queue);
	else
		*stream = queue;
	return status;
}

static void cl_close_stream(void *device, void *stream)
{
	struct hd_cl_device *d = device;
	struct hd_cl_stream **p = &d->streams;
	while (*p && (*p)->queue != stream)
		p = &(*p)->next;
	if (*p) {
		struct hd_cl_stream *s = *p;
		*p = s->next;
		hd_bell_close(s->bell);
		hd_running_forget(&s->slots);
		if (s->scratch)
			hd_cl.clReleaseMemObject(s->scratch);
		free(s);
	}
	hd_cl.clReleaseCommandQueue(stream);
}

/* --- Kernels ------------------------------------------------------------------------------------------------------ */

void hd_cl_operation_free(struct hd_cl_operation *o)
{
	for (size_t i = 0; i < o->n_runs; i++)
		hd_cl.clReleaseEvent(o->runs[i].event);
	if (o->last)
		hd_cl.clReleaseEvent(o->last);
	free(o->runs);
	free(o);
}

/* Calls the functions that the kernel has registered for its end, and frees the ended operation. `result`: CL_SUCCESS
 * or the error. */
static void end(struct hd_cl_operation *o, cl_int result)
{
	hd_later_call(&o->later, result);
	hd_cl_operation_free(o);
}

/* Puts a marker on the stream: its event o->last ends when everything before has ended. The marker waits for the last
 * kernel of heddle_opencl_run, so it fails if that kernel has failed. */
static int mark(struct hd_cl_device *d, struct hd_cl_stream *s, struct hd_cl_operation *o)
{
	const cl_event *after = o->n_runs ? &o->runs[o->n_runs - 1].event : NULL;
	o->what = "clEnqueueMarkerWithWaitList";
	cl_int code = hd_cl.clEnqueueMarkerWithWaitList(s->queue, after ? 1 : 0, after, &o->last);
	if (code)
		return hd_cl_error(HD_CL_RUNNING, code, o->what, d->label);
	code = hd_cl.clFlush(s->queue);
	return code ? hd_cl_error(HD_CL_RUNNING, code, "clFlush", d->label) : 0;
}

static int cl_launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event)
{
	struct hd_cl_device *d = device;
	struct hd_cl_stream *s = d->streams;
	while (s->queue != stream)
		s = s->next;
	struct hd_cl_operation *o = calloc(1, sizeof *o);
	if (!o)
		return hd_no_memory("a kernel on an OpenCL device");
	o->queue = s->queue;
	struct hd_running running = {.kind = "OpenCL",
	                             .context = context,
	                             .device = d,
	                             .stream = s,
	                             .operation = o,
	                             .later = &o->later,
	                             .slots = &s->slots};
	int status = hd_running_call(&running, kernel);
	if (!status)
		status = mark(d, s, o);
	if (status) {
		/* after clFinish, even if it fails, no work of the kernel is left on the stream */
		end(o, hd_cl.clFinish(stream));
		return status;
	}
	*event = o;
	return HEDDLE_PENDING;
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

/* Asks for the state of an event: CL_COMPLETE, a state before that (positive), or the error with which it ended
 * (negative). Returns the result of the call. */
static cl_int ask(cl_event event, cl_int *state)
{
	*state = CL_COMPLETE;
	return hd_cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *state, state, NULL);
}

/* Sets the message for an operation that has failed with `code`. Names the first kernel that failed; the kernels after
 * it have only waited for it. */
static int explain(const struct hd_cl_device *d, const struct hd_cl_operation *o, cl_int code)
{
	for (size_t i = 0; i < o->n_runs; i++) {
		cl_int state;
		if (ask(o->runs[i].event, &state) || state >= 0)
			continue;
		char *what = hd_format("the kernel %s", hd_cl_kernel_name(d, o->runs[i].kernel));
		int status = hd_cl_error(HD_CL_RUNNING, state, what ? what : "a kernel", d->label);
		free(what);
		return status;
	}
	return hd_cl_error(HD_CL_RUNNING, code, o->what, d->label);
}

/* Ends an operation whose state cannot be queried, because the query has failed. The operation counts as failed, so
 * none of its work may still run. Sets the message, and returns its status. */
static int cannot_ask(const struct hd_cl_device *d, const struct hd_cl_operation *o, cl_int code, const char *call)
{
	hd_cl.clFinish(o->queue);
	return hd_cl_error(HD_CL_RUNNING, code, call, d->label);
}

static int cl_query(void *device, void *event)
{
	struct hd_cl_device *d = device;
	struct hd_cl_operation *o = event;
	cl_int state, code = ask(o->last, &state);
	if (!code && state > CL_COMPLETE)
		return HEDDLE_PENDING;
	int status = code ? cannot_ask(d, o, code, "clGetEventInfo") : state < 0 ? explain(d, o, state) : 0;
	end(o, code ? code : state);
	return status;
}

static int cl_wait(void *device, void *event)
{
	struct hd_cl_device *d = device;
	struct hd_cl_operation *o = event;
	cl_int state, code = hd_cl.clWaitForEvents(1, &o->last);
	int status = 0;
	if (code && !ask(o->last, &state) && state < 0)
		status = explain(d, o, state);
	else if (code)
		status = cannot_ask(d, o, code, "clWaitForEvents");
	end(o, code);
	return status;
}

static void CL_CALLBACK ring(cl_event event, cl_int status, void *rope)
{
	(void)event;
	(void)status; /* the receiver queries the event for its state */
	hd_bell_ring(rope, 1);
}

static int cl_notify(void *device, void *stream, void *event, void (*ended)(void *arg), void *arg)
{
	struct hd_cl_device *d = device;
	const struct hd_cl_operation *o = event;
	struct hd_cl_stream *s = d->streams;
	while (s && s->queue != stream)
		s = s->next;
	struct hd_bell_rope *rope = s ? hd_bell_rope(s->bell, ended, arg) : NULL;
	if (!rope)
		return HEDDLE_E_UNSUPPORTED; /* a stream for copies: the copy thread waits for the end of each copy */
	cl_int code = hd_cl.clSetEventCallback(o->last, CL_COMPLETE, ring, rope);
	if (!code)
		return 0;
	hd_bell_ring(rope, 0);
	return hd_cl_error(HD_CL_RUNNING, code, "clSetEventCallback", d->label);
}

const struct heddle_driver hd_driver_opencl = {
    .abi = HEDDLE_DRIVER_ABI,
    .kind = "opencl",
    .count = hd_cl_count,
    .describe = hd_cl_describe,
    .open = hd_cl_open,
    .close = hd_cl_close,
    .open_stream = cl_open_stream,
    .close_stream = cl_close_stream,
    .alloc = hd_cl_alloc,
    .free = hd_cl_free,
    .alloc_host = hd_cl_alloc_host,
    .free_host = hd_cl_free_host,
    .pin = hd_cl_pin,
    .unpin = hd_cl_unpin,
    .can_copy_directly = hd_cl_can_copy_directly,
    .copy = hd_cl_copy,
    .launch = cl_launch,
    .query = cl_query,
    .wait = cl_wait,
    .notify = cl_notify,
};
#endif
