/* Streams, which are threads, and events. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include "inside.h"

struct CUevent_st {
	struct device *device;
	int has_timing;
	atomic_uint references; /* of the program, and of operations that record it */
	atomic_ulong begun;     /* how often cuEventRecord was called */
	atomic_ulong ended; /* for which of them the stream got there. pairs: run_record sets it after what it says */
	_Atomic double time_ms; /* when */
	atomic_int failed;      /* a CUresult: what was before it on its stream was dropped */
	pthread_mutex_t lock;   /* for those who wait */
	pthread_cond_t has_ended;
};

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* --- The thread of a stream --------------------------------------------------------------------------------------- */

void *new_op(size_t size, CUresult (*run)(struct op *op, CUstream stream, CUresult failed))
{
	struct op *op = calloc(1, size);
	if (!op)
		abort(); /* no test lets allocations of the stand-in fail */
	op->run = run;
	return op;
}

void push(CUstream stream, void *new)
{
	struct op *op = new;
	atomic_fetch_add_explicit(&stream->begun, 1, memory_order_relaxed);
	struct op *before = atomic_exchange(&stream->last, op);
	atomic_store_explicit(&before->next, op, memory_order_release);
	sem_post(&stream->filled);
}

/* The next operation. It stays in place, as the one that ran last, until the one behind it is there. */
static struct op *pop(CUstream stream)
{
	while (sem_wait(&stream->filled) && errno == EINTR) {
	}
	struct op *op;
	while ((op = atomic_load_explicit(&stream->first->next, memory_order_acquire)) == NULL)
		sched_yield(); /* its producer has counted it and not linked it yet */
	free(stream->first);
	stream->first = op;
	return op;
}

/* Takes as long as the test wants each operation to take. */
static void dawdle(void)
{
	double ns = atomic_load(&operation_us) * 1e3;
	struct timespec t = {.tv_sec = (time_t)(ns / 1e9), .tv_nsec = (long)(ns - 1e9 * (double)(long)(ns / 1e9))};
	if (ns > 0)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* Streams that have been destroyed, and may still hold operations. pairs: serve decrements it with release when it is
 * done with all of them, await_ended_streams loads it with acquire. */
static atomic_int ending;

void await_ended_streams(void)
{
	while (atomic_load_explicit(&ending, memory_order_acquire) > 0)
		sched_yield();
}

static void *serve(void *arg)
{
	CUstream s = arg;
	while (!s->ending) {
		struct op *op = pop(s);
		dawdle();
		atomic_fetch_add(&s->device->working, !op->is_ours);
		CUresult broken = state_of(s->device, op->survives ? READS : 0);
		if (broken)
			s->failed = broken;
		CUresult code = op->run(op, s, s->failed);
		if (code) {
			break_device(s->device, code);
			s->failed = state_of(s->device, 0);
		}
		atomic_fetch_sub(&s->device->working, !op->is_ours);
		atomic_fetch_add_explicit(&s->ended, 1, memory_order_release);
	}
	end_launches();
	sem_destroy(&s->filled);
	free(s->first);
	free(s);
	atomic_fetch_sub_explicit(&ending, 1, memory_order_release);
	return NULL;
}

static CUstream start_stream(struct device *d)
{
	CUstream s = calloc(1, sizeof *s);
	pthread_t thread;
	if (!s)
		return NULL;
	s->device = d;
	s->first = new_op(sizeof *s->first, NULL);
	atomic_store(&s->last, s->first);
	sem_init(&s->filled, 0, 0);
	if (pthread_create(&thread, NULL, serve, s)) {
		sem_destroy(&s->filled);
		free(s->first);
		free(s);
		return NULL;
	}
	pthread_detach(thread);
	return s;
}

static CUresult run_end(struct op *op, CUstream stream, CUresult failed)
{
	(void)op, (void)failed;
	stream->ending = 1;
	return CUDA_SUCCESS;
}

/* The stream ends when it has done what is on it. */
static void end_stream(CUstream s)
{
	struct op *end = new_op(sizeof *end, run_end);
	end->is_ours = 1;
	atomic_fetch_add_explicit(&ending, 1, memory_order_relaxed); /* pairs with nothing: push orders it */
	push(s, end);
}

void end_null_stream(struct device *d)
{
	pthread_rwlock_wrlock(&registry);
	CUstream s = d->null_stream;
	d->null_stream = NULL;
	pthread_rwlock_unlock(&registry);
	if (s)
		end_stream(s);
}

static CUstream null_stream(struct device *d)
{
	pthread_rwlock_wrlock(&registry);
	if (!d->null_stream)
		d->null_stream = start_stream(d);
	CUstream s = d->null_stream;
	pthread_rwlock_unlock(&registry);
	return s;
}

CUresult find_stream(struct device *d, CUstream stream, CUstream *out)
{
	if (stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD) {
		stream = null_stream(d);
		if (!stream)
			return CUDA_ERROR_OUT_OF_MEMORY;
	} else if (!lives(STREAM, stream) || stream->device != d) {
		return CUDA_ERROR_INVALID_HANDLE;
	}
	*out = stream;
	return CUDA_SUCCESS;
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static struct CUevent_st *new_event(struct device *d, int has_timing)
{
	struct CUevent_st *e = calloc(1, sizeof *e);
	if (!e)
		return NULL;
	e->device = d;
	e->has_timing = has_timing;
	atomic_store(&e->references, 1);
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->has_ended, NULL);
	return e;
}

static void drop_event(struct CUevent_st *e)
{
	if (atomic_fetch_sub(&e->references, 1) > 1)
		return;
	pthread_mutex_destroy(&e->lock);
	pthread_cond_destroy(&e->has_ended);
	free(e);
}

/* An operation about an event: its nth record, or waiting for that. */
struct event_op {
	struct op op;
	struct CUevent_st *event;
	unsigned long nth;
};

static CUresult run_record(struct op *op, CUstream stream, CUresult failed)
{
	struct CUevent_st *e = ((struct event_op *)op)->event;
	(void)stream;
	atomic_store_explicit(&e->time_ms, now_ms(), memory_order_relaxed);
	atomic_store_explicit(&e->failed, (int)failed, memory_order_relaxed);
	pthread_mutex_lock(&e->lock);
	if (atomic_load(&e->ended) < ((struct event_op *)op)->nth)
		atomic_store(&e->ended, ((struct event_op *)op)->nth);
	pthread_cond_broadcast(&e->has_ended);
	pthread_mutex_unlock(&e->lock);
	drop_event(e);
	return CUDA_SUCCESS;
}

static void wait_for_event(struct CUevent_st *e, unsigned long nth)
{
	if (atomic_load(&e->ended) >= nth)
		return;
	pthread_mutex_lock(&e->lock);
	while (atomic_load(&e->ended) < nth)
		pthread_cond_wait(&e->has_ended, &e->lock);
	pthread_mutex_unlock(&e->lock);
}

static CUresult run_wait(struct op *op, CUstream stream, CUresult failed)
{
	struct event_op *wait = (struct event_op *)op;
	(void)stream, (void)failed;
	wait_for_event(wait->event, wait->nth);
	drop_event(wait->event);
	return CUDA_SUCCESS;
}

static void push_event(CUstream stream, struct CUevent_st *e, unsigned long nth,
                       CUresult (*run)(struct op *op, CUstream stream, CUresult failed))
{
	struct event_op *op = new_op(sizeof *op, run);
	atomic_fetch_add(&e->references, 1);
	op->op.survives = 1;
	op->op.is_ours = 1;
	op->event = e;
	op->nth = nth;
	push(stream, op);
}

static void record(CUstream stream, struct CUevent_st *e)
{
	push_event(stream, e, atomic_fetch_add(&e->begun, 1) + 1, run_record);
}

static CUresult result_of(const struct CUevent_st *e)
{
	if (atomic_load(&e->ended) < atomic_load(&e->begun))
		return CUDA_ERROR_NOT_READY;
	CUresult failed = (CUresult)atomic_load_explicit(&e->failed, memory_order_relaxed);
	if (failed)
		settle(e->device);
	return failed;
}

CUresult drain(CUstream stream)
{
	struct CUevent_st *e = new_event(stream->device, 0);
	if (!e)
		return CUDA_ERROR_OUT_OF_MEMORY;
	record(stream, e);
	wait_for_event(e, 1);
	CUresult code = result_of(e);
	drop_event(e);
	return code;
}

CUresult cuEventCreate(CUevent *phEvent, unsigned Flags)
{
	CUresult code = enter("cuEventCreate", CONTEXT | READS, NULL);
	if (code)
		return code;
	if (Flags & ~(unsigned)(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING))
		return CUDA_ERROR_INVALID_VALUE;
	struct CUevent_st *e = new_event(current(), !(Flags & CU_EVENT_DISABLE_TIMING));
	if (!e || !born(EVENT, e))
		return CUDA_ERROR_OUT_OF_MEMORY;
	*phEvent = e;
	return CUDA_SUCCESS;
}

/* A call that needs no current context, for the device is that of the event: a sticky error of `enter` is of that. */
static CUresult enter_with(struct device *d, CUresult entered)
{
	if (is_sticky(entered))
		fail_device(d, entered);
	return entered ? entered : lost(d, READS);
}

CUresult cuEventDestroy(CUevent hEvent)
{
	CUresult late = CUDA_SUCCESS, code = enter("cuEventDestroy", RELEASES, &late);
	if (code)
		return code;
	if (!dies(EVENT, hEvent))
		return CUDA_ERROR_INVALID_HANDLE;
	late = enter_with(hEvent->device, late);
	drop_event(hEvent);
	return late;
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream)
{
	CUresult code = enter("cuEventRecord", CONTEXT | READS, NULL);
	if (code)
		return code;
	if (!lives(EVENT, hEvent) || hEvent->device != current())
		return CUDA_ERROR_INVALID_HANDLE;
	code = find_stream(current(), hStream, &hStream);
	if (code)
		return code;
	record(hStream, hEvent);
	return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent hEvent)
{
	CUresult code = enter("cuEventQuery", 0, NULL);
	if (!lives(EVENT, hEvent))
		return code ? code : CUDA_ERROR_INVALID_HANDLE;
	code = enter_with(hEvent->device, code);
	return code ? code : result_of(hEvent);
}

CUresult cuEventSynchronize(CUevent hEvent)
{
	CUresult code = enter("cuEventSynchronize", 0, NULL);
	if (!lives(EVENT, hEvent))
		return code ? code : CUDA_ERROR_INVALID_HANDLE;
	if (!code)
		wait_for_event(hEvent, atomic_load(&hEvent->begun));
	code = enter_with(hEvent->device, code);
	return code ? code : result_of(hEvent);
}

CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
	CUresult code = enter("cuEventElapsedTime", 0, NULL);
	if (code)
		return code;
	if (!lives(EVENT, hStart) || !lives(EVENT, hEnd) || !hStart->has_timing || !hEnd->has_timing ||
	    !atomic_load(&hStart->begun) || !atomic_load(&hEnd->begun))
		return CUDA_ERROR_INVALID_HANDLE;
	code = result_of(hStart) ? result_of(hStart) : result_of(hEnd);
	if (!code)
		*pMilliseconds = (float)(atomic_load(&hEnd->time_ms) - atomic_load(&hStart->time_ms));
	return code;
}

/* --- Streams ------------------------------------------------------------------------------------------------------ */

/* Those out of range are brought into it. Order is all that a stream of ours has, but a program may ask. */
static CUresult create_stream(CUstream *out, unsigned flags, int priority)
{
	if (flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	CUstream s = start_stream(current());
	if (!s || !born(STREAM, s))
		return CUDA_ERROR_OUT_OF_MEMORY;
	s->priority = priority > 0 ? 0 : priority < HIGHEST_PRIORITY ? HIGHEST_PRIORITY : priority;
	*out = s;
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *phStream, unsigned Flags)
{
	CUresult code = enter("cuStreamCreate", CONTEXT | READS, NULL);
	return code ? code : create_stream(phStream, Flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned flags, int priority)
{
	CUresult code = enter("cuStreamCreateWithPriority", CONTEXT | READS, NULL);
	return code ? code : create_stream(phStream, flags, priority);
}

CUresult cuStreamGetPriority(CUstream hStream, int *priority)
{
	CUresult code = enter("cuStreamGetPriority", READS, NULL);
	if (!code && !lives(STREAM, hStream))
		code = CUDA_ERROR_INVALID_HANDLE;
	if (!code)
		*priority = hStream->priority;
	return code;
}

CUresult cuStreamDestroy(CUstream hStream)
{
	CUresult late = CUDA_SUCCESS, code = enter("cuStreamDestroy", RELEASES, &late);
	if (code)
		return code;
	if (!dies(STREAM, hStream))
		return CUDA_ERROR_INVALID_HANDLE;
	late = enter_with(hStream->device, late);
	end_stream(hStream);
	return late;
}

CUresult cuStreamQuery(CUstream hStream)
{
	CUresult code = enter("cuStreamQuery", CONTEXT | READS, NULL);
	if (code)
		return code;
	code = find_stream(current(), hStream, &hStream);
	if (code)
		return code;
	unsigned long begun = atomic_load(&hStream->begun);
	return atomic_load_explicit(&hStream->ended, memory_order_acquire) < begun ? CUDA_ERROR_NOT_READY
	                                                                           : CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream hStream)
{
	CUresult code = enter("cuStreamSynchronize", CONTEXT | READS, NULL);
	if (code)
		return code;
	code = find_stream(current(), hStream, &hStream);
	if (code)
		return code;
	CUresult result = drain(hStream);
	code = lost(current(), READS);
	return code ? code : result;
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned Flags)
{
	CUresult code = enter("cuStreamWaitEvent", CONTEXT | READS, NULL);
	if (code)
		return code;
	if (Flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!lives(EVENT, hEvent))
		return CUDA_ERROR_INVALID_HANDLE;
	code = find_stream(current(), hStream, &hStream);
	if (code)
		return code;
	push_event(hStream, hEvent, atomic_load(&hEvent->begun), run_wait);
	return CUDA_SUCCESS;
}

/* --- Functions of the program on a stream ------------------------------------------------------------------------- */

struct host_op {
	struct op op;
	CUhostFn function;
	CUstreamCallback callback; /* or this */
	CUstream stream;           /* as the program calls it */
	void *arg;
};

static CUresult run_host(struct op *op, CUstream stream, CUresult failed)
{
	struct host_op *host = (struct host_op *)op;
	in_host_function = 1;
	if (failed && op->is_ours)
		settle(stream->device);
	if (host->callback)
		host->callback(host->stream, failed, host->arg);
	else if (!failed)
		host->function(host->arg);
	in_host_function = 0;
	return CUDA_SUCCESS;
}

static CUresult push_host(CUstream stream, struct host_op what)
{
	CUresult code = find_stream(current(), stream, &stream);
	if (code)
		return code;
	struct host_op *op = new_op(sizeof *op, run_host);
	what.op.run = run_host;
	*op = what;
	push(stream, op);
	return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
	CUresult code = enter("cuLaunchHostFunc", CONTEXT | READS, NULL);
	if (code)
		return code;
	struct host_op op = {.op = {.survives = 1, .is_ours = 1}, .function = fn, .stream = hStream, .arg = userData};
	return fn ? push_host(hStream, op) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned flags)
{
	CUresult code = enter("cuStreamAddCallback", CONTEXT | READS, NULL);
	if (code)
		return code;
	struct host_op op = {
	    .op = {.survives = 1, .is_ours = 1}, .callback = callback, .stream = hStream, .arg = userData};
	return callback && !flags ? push_host(hStream, op) : CUDA_ERROR_INVALID_VALUE;
}

int standin_enqueue(CUstream stream, void (*work)(void *arg), void *arg)
{
	if (!current())
		return CUDA_ERROR_INVALID_CONTEXT;
	CUresult code = lost(current(), 0);
	return (int)(code ? code : push_host(stream, (struct host_op){.function = work, .stream = stream, .arg = arg}));
}
