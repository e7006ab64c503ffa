/* The driver of emulated accelerators, whose memories lie in main memory. Data are really copied and kernels really
 * run, on CPU cores: each stream is a thread that does the stream's operations in order. Copies are made to last as
 * long as the platform says, and kernels `slowdown` times as long as on a CPU. So every path of the data manager, and
 * all asynchronous code, can run on a machine without a GPU. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "base/base.h"

#include "driver.h"

struct emulated {
	const struct heddle_platform *platform; /* borrowed from the runtime */
	double slowdown;
	int slow_links; /* 1: copies are made to last as long as the platform says */
};

/* A kernel or a copy on a stream. The runtime has the operation as its event, and frees it by the call that reports its
 * end. */
struct operation {
	struct operation *next;
	struct stream *stream;
	heddle_kernel kernel; /* NULL: a copy */
	heddle_context *context;
	struct heddle_copy copy;
	/* The fields below are guarded by the stream's lock. */
	int ended, status;
	struct hd_sentence *words; /* owned: the error of a copy that failed; NULL: none, or out of memory */
	void (*tell)(void *arg);   /* called with `arg` when the operation has ended; NULL: there is nothing to call */
	void *arg;
};

struct stream {
	const struct emulated *device;
	pthread_t thread;
	pthread_mutex_t lock;    /* guards the fields below, and the last fields of each operation */
	pthread_cond_t news;     /* an operation was put on the stream or has ended, or `closing` was set */
	struct operation *first; /* operations that have not begun */
	struct operation *last;  /* undefined while `first` is NULL */
	int closing;             /* the thread must end when nothing is left */
};

/* --- Devices and their memory ------------------------------------------------------------------------------------- */

/* Whether copies from and to the node are slowed down to the rates of the platform. Called when the device is opened.
 * Later the runtime measures the links that are not slowed down, and replaces the platform's figures for them. */
static int links_are_slow(const struct heddle_platform *p, unsigned node)
{
	const struct heddle_link *l = heddle_platform_link(p, 0, node);
	return l && (l->bandwidth < HEDDLE_MEMORY_BANDWIDTH || l->latency > 0);
}

static int emulated_open(const struct heddle_platform *platform, unsigned worker, void **device)
{
	struct emulated *e = malloc(sizeof *e);
	if (!e)
		return hd_no_memory("an emulated accelerator");
	e->platform = platform;
	e->slowdown = platform->classes[platform->workers[worker].class_id].slowdown;
	e->slow_links = links_are_slow(platform, platform->workers[worker].node);
	*device = e;
	return 0;
}

static void emulated_close(void *device)
{
	free(device);
}

/* Does nothing: a CPU makes the copies, and pinned memory is no faster for a CPU than other memory. */
static int emulated_pin(void *device, void *ptr, size_t size)
{
	(void)device;
	(void)ptr;
	(void)size;
	return 0;
}

static void emulated_unpin(void *device, void *ptr)
{
	(void)device;
	(void)ptr;
}

static int emulated_can_copy_directly(void *device, unsigned from_node, unsigned to_node)
{
	(void)device;
	(void)from_node;
	(void)to_node;
	return 1;
}

/* --- Operations --------------------------------------------------------------------------------------------------- */

static double part_bytes(const struct heddle_part *p)
{
	double bytes = (double)p->elem_size;
	for (unsigned d = 0; d < p->n_dims; d++)
		bytes *= (double)p->n[d];
	return bytes;
}

static void sleep_until(double end_us)
{
	double left;
	while ((left = end_us - hd_clock_us()) > 0) {
		struct timespec t = {(time_t)(left * 1e-6), (long)(left * 1e3) % 1000000000L};
		nanosleep(&t, NULL);
	}
}

static int run_copy(const struct emulated *e, struct operation *o)
{
	const struct heddle_copy *copy = &o->copy;
	double start = hd_clock_us();
	hd_error_clear(); /* so that an error found below is an error of this copy */
	int status = hd_copy_host(copy);
	const struct heddle_link *link =
	    e->slow_links ? heddle_platform_link(e->platform, copy->from_node, copy->to_node) : NULL;
	if (link)
		sleep_until(start + link->latency + part_bytes(&copy->from) / link->bandwidth);
	if (status && (o->words = malloc(sizeof *o->words)))
		hd_error_keep(o->words);
	return status;
}

static int run_kernel(const struct emulated *e, const struct operation *o)
{
	double start = hd_clock_us();
	int status = o->kernel(o->context);
	if (!status && e->slowdown > 1)
		sleep_until(start + (hd_clock_us() - start) * e->slowdown);
	return status;
}

/* --- Streams ------------------------------------------------------------------------------------------------------ */

/* Marks the operation as ended with `status`. From then on the runtime may query its end, and the query frees the
 * operation. The caller has locked the stream; the lock is released while the runtime is told. */
static void end_operation(struct stream *s, struct operation *o, int status)
{
	void (*tell)(void *) = o->tell;
	void *arg = o->arg;
	o->ended = 1;
	o->status = status;
	pthread_cond_broadcast(&s->news);
	if (!tell)
		return;
	pthread_mutex_unlock(&s->lock);
	tell(arg);
	pthread_mutex_lock(&s->lock);
}

static void *stream_main(void *arg)
{
	struct stream *s = arg;
	pthread_mutex_lock(&s->lock);
	for (;;) {
		struct operation *o = s->first;
		if (!o && s->closing)
			break;
		if (!o) {
			pthread_cond_wait(&s->news, &s->lock);
			continue;
		}
		s->first = o->next;
		pthread_mutex_unlock(&s->lock);
		int status = o->kernel ? run_kernel(s->device, o) : run_copy(s->device, o);
		pthread_mutex_lock(&s->lock);
		end_operation(s, o, status);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static int emulated_open_stream(void *device, enum heddle_stream_use use, void **stream)
{
	(void)use;
	struct stream *s = calloc(1, sizeof *s);
	if (!s)
		return hd_no_memory("a stream of an emulated accelerator");
	s->device = device;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->news, NULL);
	if (pthread_create(&s->thread, NULL, stream_main, s)) {
		pthread_cond_destroy(&s->news);
		pthread_mutex_destroy(&s->lock);
		free(s);
		return hd_error(HEDDLE_E_MEMORY, "cannot start the thread of an emulated accelerator's stream");
	}
	*stream = s;
	return 0;
}

static void emulated_close_stream(void *device, void *stream)
{
	(void)device;
	struct stream *s = stream;
	pthread_mutex_lock(&s->lock);
	s->closing = 1;
	pthread_cond_broadcast(&s->news);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->news);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Copies the operation `model` and appends the copy to the stream. *event: the operation. */
static int enqueue(struct stream *s, const struct operation *model, void **event)
{
	struct operation *o = malloc(sizeof *o);
	if (!o)
		return hd_no_memory("an operation of an emulated accelerator");
	*o = *model;
	o->stream = s;
	pthread_mutex_lock(&s->lock);
	if (s->first)
		s->last->next = o;
	else
		s->first = o;
	s->last = o;
	pthread_cond_broadcast(&s->news);
	pthread_mutex_unlock(&s->lock);
	*event = o;
	return HEDDLE_PENDING;
}

static int emulated_copy(void *device, void *stream, const struct heddle_copy *copy, void **event)
{
	(void)device;
	return enqueue(stream, &(struct operation){.copy = *copy}, event);
}

static int emulated_launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event)
{
	(void)device;
	return enqueue(stream, &(struct operation){.kernel = kernel, .context = context}, event);
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static int take_end(struct operation *o, int blocks)
{
	struct stream *s = o->stream;
	pthread_mutex_lock(&s->lock);
	while (blocks && !o->ended)
		pthread_cond_wait(&s->news, &s->lock);
	int ended = o->ended, status = o->status;
	pthread_mutex_unlock(&s->lock);
	if (!ended)
		return HEDDLE_PENDING;
	if (o->words)
		hd_error_give_back(o->words);
	free(o->words);
	free(o);
	return status;
}

static int emulated_query(void *device, void *event)
{
	(void)device;
	return take_end(event, 0);
}

static int emulated_wait(void *device, void *event)
{
	(void)device;
	return take_end(event, 1);
}

static int emulated_notify(void *device, void *stream, void *event, void (*ended)(void *arg), void *arg)
{
	(void)device;
	struct stream *s = stream;
	struct operation *o = event;
	pthread_mutex_lock(&s->lock);
	int already = o->ended;
	o->tell = ended;
	o->arg = arg;
	pthread_mutex_unlock(&s->lock);
	if (already)
		ended(arg);
	return 0;
}

const struct heddle_driver hd_driver_emulated = {
    .abi = HEDDLE_DRIVER_ABI,
    .kind = "emulated",
    .open = emulated_open,
    .close = emulated_close,
    .open_stream = emulated_open_stream,
    .close_stream = emulated_close_stream,
    .alloc = hd_host_alloc,
    .free = hd_host_free,
    .alloc_host = hd_host_alloc,
    .free_host = hd_host_free,
    .pin = emulated_pin,
    .unpin = emulated_unpin,
    .can_copy_directly = emulated_can_copy_directly,
    .copy = emulated_copy,
    .launch = emulated_launch,
    .query = emulated_query,
    .wait = emulated_wait,
    .notify = emulated_notify,
};
