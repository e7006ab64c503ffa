/* Streams of NVIDIA devices, the copies and kernels on them, and the events that tell when these operations have
 * ended. */
#ifdef HEDDLE_HAVE_CUDA
#include <sched.h>
#include <stdlib.h>
#include "base/base.h"
#include "driver/cuda/cuda.h"

/* --- Opening and closing ------------------------------------------------------------------------------------------ */

static struct hd_cuda_stream *find_stream(const struct hd_cuda_device *d, const void *handle)
{
	struct hd_cuda_stream *s = d->streams;
	while (s->handle != handle)
		s = s->next;
	return s;
}

static int make_handles(const struct hd_cuda_device *d, struct hd_cuda_stream *s, enum heddle_stream_use use)
{
	int least = 0, greatest = 0;
	int status = HD_CUDA(d, cuCtxGetStreamPriorityRange, &least, &greatest);
	int priority = use == HEDDLE_STREAM_KERNELS ? 0 : greatest;
	if (status)
		return status;
	status = HD_CUDA(d, cuStreamCreateWithPriority, &s->handle, CU_STREAM_NON_BLOCKING, priority);
	if (status || use == HEDDLE_STREAM_KERNELS)
		return status;
	status = HD_CUDA(d, cuStreamCreateWithPriority, &s->teller, CU_STREAM_NON_BLOCKING, priority);
	if (status)
		(void)hd_cuda.cuStreamDestroy_v2(s->handle);
	return status;
}

int hd_cuda_open_stream(void *device, enum heddle_stream_use use, void **stream)
{
	struct hd_cuda_device *d = device;
	struct hd_cuda_stream *s = calloc(1, sizeof *s);
	if (!s || !(s->bell = hd_bell_new())) {
		free(s);
		return hd_no_memory("a CUDA stream");
	}
	int status = hd_cuda_enter(d);
	if (!status) {
		status = make_handles(d, s, use);
		hd_cuda_leave();
	}
	if (status) {
		hd_bell_close(s->bell);
		free(s);
		return status;
	}
	s->next = d->streams;
	d->streams = s;
	*stream = s->handle;
	return 0;
}

/* Destroys the objects of CUDA that belong to the stream. The caller has made the device's context current. */
static void close_handles(const struct hd_cuda_device *d, struct hd_cuda_stream *s)
{
	(void)hd_cuda.cuStreamSynchronize(s->handle);
	if (s->teller)
		(void)hd_cuda.cuStreamSynchronize(s->teller);
	hd_cuda_forget(d, s);
	for (struct hd_cuda_event *e = s->spare; e; e = e->next)
		(void)hd_cuda.cuEventDestroy_v2(e->handle);
	if (s->teller)
		(void)hd_cuda.cuStreamDestroy_v2(s->teller);
	(void)hd_cuda.cuStreamDestroy_v2(s->handle);
}

void hd_cuda_close_stream(void *device, void *stream)
{
	struct hd_cuda_device *d = device;
	struct hd_cuda_stream *s = find_stream(d, stream), **link = &d->streams;
	struct hd_sentence kept;
	hd_error_keep(&kept);
	int entered = !hd_cuda_enter(d); /* 0: the device is lost, and only our own memory can be freed */
	close_handles(d, s);
	if (entered)
		hd_cuda_leave();
	hd_bell_close(s->bell);
	while (*link != s)
		link = &(*link)->next;
	*link = s->next;
	for (struct hd_cuda_event *e = s->spare, *next; e; e = next) {
		next = e->next;
		free(e);
	}
	free(s);
	hd_error_give_back(&kept);
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

/* Takes a spare event, or creates one. The caller has made the device's context current. */
static int take_event(const struct hd_cuda_device *d, struct hd_cuda_stream *s, struct hd_cuda_event **out)
{
	struct hd_cuda_event *e = s->spare;
	if (e) {
		s->spare = e->next;
		*out = e;
		return 0;
	}
	e = calloc(1, sizeof *e);
	if (!e)
		return hd_no_memory("a CUDA event");
	e->stream = s;
	int status = HD_CUDA(d, cuEventCreate, &e->handle, CU_EVENT_DISABLE_TIMING);
	if (status)
		free(e);
	else
		*out = e;
	return status;
}

/* Makes the calls that the kernel asked for, when its work has ended with `result`; the event becomes a spare one. */
static void put_back_event(struct hd_cuda_event *e, CUresult result)
{
	hd_later_call(&e->later, (int)result);
	e->next = e->stream->spare;
	e->stream->spare = e;
}

/* When the runtime hears that an operation has failed, it frees or reuses the memory that work on the stream may still
 * use. So a call that fails for a reason of its own, such as a lack of memory, is repeated. If it fails TRIES times,
 * CUDA does not know the stream or the context any more, and has ended the work there. */
CUresult hd_cuda_drain(const struct hd_cuda_device *device, const struct hd_cuda_stream *stream)
{
	enum { TRIES = 1000 };
	CUresult result = CUDA_SUCCESS;
	for (int i = 0; i < TRIES; i++) {
		result = hd_cuda.cuCtxPushCurrent_v2(device->context);
		if (!result) {
			result = hd_cuda.cuStreamSynchronize(stream->handle);
			hd_cuda_leave();
		}
		if (!result || hd_cuda_classify((int)result) == HEDDLE_E_DEVICE)
			break;
		sched_yield();
	}
	return result;
}

/* Ends an operation after a call has failed with `status`: a call that put work on the stream, or asked or waited for
 * the end of the work. The operation is over when nothing is left on the stream, so the function waits for that. The
 * wait also shows whether the device is lost, which a failed call of a library does not tell. Returns `status`, or
 * HEDDLE_E_DEVICE. */
static int clear(const struct hd_cuda_device *d, struct hd_cuda_event *e, int status)
{
	CUresult result = hd_cuda_drain(d, e->stream);
	put_back_event(e, result);
	if (status != HEDDLE_E_DEVICE && hd_cuda_classify((int)result) == HEDDLE_E_DEVICE)
		return hd_cuda_status(d, result, "cuStreamSynchronize");
	return status;
}

/* Records the event behind an operation. `status`: the status of the operation so far; if it is not 0, the function
 * only ends the operation. The caller has made the device's context current. */
static int record(const struct hd_cuda_device *d, struct hd_cuda_event *e, int status, void **event)
{
	if (!status)
		status = HD_CUDA(d, cuEventRecord, e->handle, e->stream->handle);
	if (status)
		return clear(d, e, status);
	*event = e;
	return HEDDLE_PENDING;
}

/* Ends the event's operation. `status`: the result of querying the event or waiting for it; if it is not 0, the
 * operation may not have ended, and clear() waits for its end. */
static int end(const struct hd_cuda_device *d, struct hd_cuda_event *e, int status)
{
	if (status)
		return clear(d, e, status);
	put_back_event(e, CUDA_SUCCESS);
	return 0;
}

/* Pushes no context, because cuEventQuery needs none. */
int hd_cuda_query(void *device, void *event)
{
	struct hd_cuda_event *e = event;
	CUresult result = hd_cuda.cuEventQuery(e->handle);
	if (result == CUDA_ERROR_NOT_READY)
		return HEDDLE_PENDING;
	return end(device, e, hd_cuda_status(device, result, "cuEventQuery"));
}

int hd_cuda_wait(void *device, void *event)
{
	struct hd_cuda_event *e = event;
	int status = hd_cuda_enter(device);
	if (!status) {
		status = HD_CUDA(device, cuEventSynchronize, e->handle);
		hd_cuda_leave();
	}
	return end(device, e, status);
}

/* --- Operations --------------------------------------------------------------------------------------------------- */

int hd_cuda_copy(void *device, void *stream, const struct heddle_copy *copy, void **event)
{
	const struct hd_cuda_device *d = device;
	struct hd_cuda_event *e = NULL;
	int status = hd_cuda_enter(d);
	if (status)
		return status;
	status = take_event(d, find_stream(d, stream), &e);
	if (!status)
		status = record(d, e, hd_cuda_put_copy(d, stream, copy), event);
	hd_cuda_leave();
	return status;
}

/* Runs the kernel's function, which puts its work on the stream. The caller has made the device's context current. */
static int launch(struct hd_cuda_device *d, struct hd_cuda_event *e, heddle_kernel kernel, heddle_context *context,
                  void **event)
{
	struct hd_running running = {.kind = "CUDA",
	                             .context = context,
	                             .device = d,
	                             .stream = e->stream,
	                             .later = &e->later,
	                             .slots = &e->stream->slots};
	return record(d, e, hd_running_call(&running, kernel), event);
}

int hd_cuda_launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event)
{
	struct hd_cuda_device *d = device;
	struct hd_cuda_event *e = NULL;
	int status = hd_cuda_enter(d);
	if (status)
		return status;
	status = take_event(d, find_stream(d, stream), &e);
	if (!status)
		status = launch(d, e, kernel, context, event);
	hd_cuda_leave();
	return status;
}

/* --- Telling ------------------------------------------------------------------------------------------------------ */

static void CUDA_CB tell(CUstream stream, CUresult result, void *arg)
{
	(void)stream;
	(void)result; /* the receiver queries the event for its result */
	hd_bell_ring(arg, 1);
}

/* Asks CUDA to call tell() when the event has come. CUDA calls it even if the event's operation has failed; a function
 * given to cuLaunchHostFunc would not be called then. The caller has made the device's context current. */
static int ask(const struct hd_cuda_device *d, const struct hd_cuda_event *e, struct hd_bell_rope *rope)
{
	CUstream stream = e->stream->teller ? e->stream->teller : e->stream->handle;
	int status = 0;
	if (e->stream->teller)
		status = HD_CUDA(d, cuStreamWaitEvent, stream, e->handle, 0);
	if (!status)
		status = HD_CUDA(d, cuStreamAddCallback, stream, tell, rope, 0);
	return status;
}

int hd_cuda_notify(void *device, void *stream, void *event, void (*ended)(void *arg), void *arg)
{
	const struct hd_cuda_device *d = device;
	const struct hd_cuda_event *e = event;
	struct hd_bell_rope *rope = hd_bell_rope(e->stream->bell, ended, arg);
	(void)stream;
	if (!rope)
		return hd_no_memory("a callback of CUDA");
	int status = hd_cuda_enter(d);
	if (!status) {
		status = ask(d, e, rope);
		hd_cuda_leave();
	}
	if (status)
		hd_bell_ring(rope, 0);
	return status;
}
#endif
