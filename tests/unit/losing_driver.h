/* A driver whose devices can be lost, for tests: it stands where the library would find its own, and passes calls on to
 * the emulated accelerator. From a planned call on, a device is lost: all of its calls fail with HEDDLE_E_DEVICE, but
 * for copies from it if it stays readable. What kernels have written that were running then becomes garbage. */
#ifndef TEST_LOSING_DRIVER_H
#define TEST_LOSING_DRIVER_H

#include "program.h"
#include "internals.h"
#include "driver/driver.h"

enum lost_by { BY_NOTHING, BY_ALLOC, BY_COPY, BY_LAUNCH, BY_QUERY, N_LOST_BY };
static const char *const lost_by_names[] = {"nothing", "alloc", "copy", "launch", "query"};

/* The plan: device `device`, counted from 0, is lost at call `call` of one function, counted from 1. It is not changed
 * while a runtime is open, because the threads of devices read it. */
static struct {
	enum lost_by by;
	unsigned device;
	int call, readable;
} plan;
enum { MAX_DEVICES = 4 };
static struct device {
	void *inner;
	unsigned node;
	atomic_int lost, calls[N_LOST_BY];
} devices[MAX_DEVICES];
static atomic_uint n_devices;

/* A stream. All its operations are begun and asked about by one thread. */
struct stream {
	void *inner;
	struct operation *last; /* that was begun */
};

/* A kernel or a copy under way. */
struct operation {
	void *inner;
	struct stream *stream;
	heddle_context *context; /* NULL: a copy */
};

static void plan_loss(enum lost_by by, unsigned device, int call, int readable)
{
	plan.by = by;
	plan.device = device;
	plan.call = call;
	plan.readable = readable;
	memset(devices, 0, sizeof devices);
	n_devices = 0;
}

static unsigned n_lost(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < n_devices; i++)
		n += devices[i].lost != 0;
	return n;
}

/* Counts a call. Returns HEDDLE_E_DEVICE if the device is lost, or is lost by this call. */
static int is_lost(struct device *d, enum lost_by by)
{
	if (plan.by == by && d == &devices[plan.device] && ++d->calls[by] == plan.call)
		d->lost = 1;
	return d->lost ? heddle_error(HEDDLE_E_DEVICE, "the device fell off the bus") : 0;
}

static int losing_open(const struct heddle_platform *platform, unsigned worker, void **device)
{
	struct device *d = &devices[n_devices++];
	d->node = platform->workers[worker].node;
	*device = d;
	return hd_driver_emulated.open(platform, worker, &d->inner);
}

static void losing_close(void *device)
{
	hd_driver_emulated.close(((struct device *)device)->inner);
}

static int losing_open_stream(void *device, enum heddle_stream_use use, void **stream)
{
	struct stream *s = calloc(1, sizeof *s);
	*stream = s;
	return hd_driver_emulated.open_stream(((struct device *)device)->inner, use, &s->inner);
}

static void losing_close_stream(void *device, void *stream)
{
	struct stream *s = stream;
	hd_driver_emulated.close_stream(((struct device *)device)->inner, s->inner);
	free(s);
}

static int losing_alloc(void *device, size_t size, void **out)
{
	int status = is_lost(device, BY_ALLOC);
	return status ? status : hd_driver_emulated.alloc(((struct device *)device)->inner, size, out);
}

static void losing_free(void *device, void *ptr)
{
	hd_driver_emulated.free(((struct device *)device)->inner, ptr);
}

static int can_copy_directly(void *device, unsigned from, unsigned to)
{
	(void)device;
	(void)from;
	(void)to;
	return 1;
}

static int cannot_be_copied(struct device *d, const struct heddle_copy *copy)
{
	int status = is_lost(d, BY_COPY);
	for (unsigned i = 0; i < n_devices && !status; i++) /* a copy between two devices needs both */
		if (devices[i].lost && (devices[i].node == copy->from_node || devices[i].node == copy->to_node))
			status = heddle_error(HEDDLE_E_DEVICE, "the other device does not answer");
	return plan.readable && copy->from_node == d->node && copy->to_node == 0 ? 0 : status;
}

static int begin_operation(int status, const struct operation *model, void **event)
{
	if (status != HEDDLE_PENDING)
		return status;
	struct operation *o = malloc(sizeof *o);
	*o = *model;
	o->stream->last = o;
	*event = o;
	return HEDDLE_PENDING;
}

static int losing_copy(void *device, void *stream, const struct heddle_copy *copy, void **event)
{
	struct operation o = {.stream = stream};
	int status = cannot_be_copied(device, copy);
	if (!status)
		status = hd_driver_emulated.copy(((struct device *)device)->inner, o.stream->inner, copy, &o.inner);
	return begin_operation(status, &o, event);
}

static int losing_launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event)
{
	struct operation o = {.stream = stream, .context = context};
	int status = is_lost(device, BY_LAUNCH);
	if (!status)
		status = hd_driver_emulated.launch(((struct device *)device)->inner, o.stream->inner, kernel, context,
		                                   &o.inner);
	return begin_operation(status, &o, event);
}

/* An operation has ended with `status`. If it is a kernel on a lost device, datum 0 is what it was writing; but while
 * another one is behind it on the stream, which is the kernel of the same task, only that one's end tells that nothing
 * writes there any more. */
static int end_operation(struct device *d, struct operation *o, int status)
{
	struct heddle_part part;
	int is_last = !o->stream || o->stream->last == o;
	if (o->context && !status)
		status = is_lost(d, BY_QUERY);
	if (o->context && d->lost && is_last && heddle_context_part(o->context, 0, 0, &part) == 0)
		memset(part.base, 0x5a, part.n[0] * part.elem_size);
	free(o);
	return status;
}

static int losing_query(void *device, void *event)
{
	struct device *d = device;
	struct operation *o = event;
	int status = hd_driver_emulated.query(d->inner, o->inner);
	return status == HEDDLE_PENDING ? status : end_operation(d, o, status);
}

static int losing_wait(void *device, void *event)
{
	struct device *d = device;
	struct operation *o = event;
	return end_operation(d, o, hd_driver_emulated.wait(d->inner, o->inner));
}

static int losing_notify(void *device, void *stream, void *event, void (*ended)(void *arg), void *arg)
{
	struct operation *o = event;
	(void)stream;
	return hd_driver_emulated.notify(((struct device *)device)->inner, o->stream->inner, o->inner, ended, arg);
}

static int losing_blocking_copy(void *device, void *stream, const struct heddle_copy *copy, void **event)
{
	(void)stream;
	(void)event;
	int status = cannot_be_copied(device, copy);
	return status ? status : hd_copy_host(copy);
}

static int losing_blocking_launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context,
                                  void **event)
{
	(void)stream;
	(void)event;
	struct operation *o = malloc(sizeof *o);
	*o = (struct operation){.context = context};
	int status = is_lost(device, BY_LAUNCH);
	return end_operation(device, o, status ? status : kernel(context));
}

#define LOSING_MEMORY                                                                             \
	.abi = HEDDLE_DRIVER_ABI, .kind = "emulated", .open = losing_open, .close = losing_close, \
	.alloc = losing_alloc, .free = losing_free, .can_copy_directly = can_copy_directly
#define LOSING_STREAMS                                                                               \
	.open_stream = losing_open_stream, .close_stream = losing_close_stream, .copy = losing_copy, \
	.launch = losing_launch, .query = losing_query, .wait = losing_wait

static const struct heddle_driver losing = {LOSING_MEMORY, LOSING_STREAMS, .notify = losing_notify};
static const struct heddle_driver losing_asked = {LOSING_MEMORY, LOSING_STREAMS};
static const struct heddle_driver losing_blocking = {LOSING_MEMORY, .copy = losing_blocking_copy,
                                                     .launch = losing_blocking_launch};
static const struct heddle_driver *accelerator = &losing; /* what the library finds for accelerators */

const struct heddle_driver *hd_driver_find(const char *kind)
{
	return strcmp(kind, "cpu") ? accelerator : &hd_driver_cpu;
}

const char *hd_driver_names(void)
{
	return "cpu, emulated";
}

#endif
