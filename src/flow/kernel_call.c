/* Running a kernel, and the functions with which the kernel reads its context. */
#define _GNU_SOURCE
#include "kernel_call.h"
#include <stdio.h>
#include <stdlib.h>
#include "errands.h"
#include "expand.h"
#include "graph/scratch_redux.h"
#include "memory/blocks.h"
#include "memory/windows.h"
#include "misuse/misuse.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/engine.h"
#include "state/kernel_context.h"
#include "state/memory.h"
#include "state/process.h"

static struct hd_access *access_at(const heddle_context *c, size_t i)
{
	struct hd_access *a;
	if (c->only)
		return i == 0 ? c->only : NULL;
	if (i >= c->task->n_accesses)
		return NULL;
	a = &c->task->accesses[i];
	return a->flags & HD_ACCESS_ALIAS ? a->next : a; /* only the first access to a datum has the replica */
}

/* The datum whose replica the kernel sees at index i; NULL: there is no such datum. */
static heddle_data *seen_at(const heddle_context *c, size_t i)
{
	struct hd_access *a = access_at(c, i);
	return !a ? NULL : a->private_copy ? a->private_copy : a->data;
}

/* Describes an object, with its address in part->base. If there is no object, because the task writes the whole of it,
 * it is allocated here. */
static __attribute__((noinline)) int find_object(const heddle_data *d, const struct hd_replica *r,
                                                 struct heddle_part *part)
{
	*part = d->part;
	part->base = d->traits & HD_DATA_OWN_MEMORY
	                 ? hd_object_ensure(r->ptr, d->extra->type, *(void **)d->replicas[0].ptr, r->node)
	                 : *(void **)r->ptr;
	return part->base ? 0 : HEDDLE_E_MEMORY;
}

int heddle_context_part(const heddle_context *c, size_t i, size_t part, struct heddle_part *out)
{
	/* This check comes first: other threads may change the accesses of a hierarchical task, which are markers in
	 * chains, so they must not be read. */
	if (HD_UNLIKELY(c->task->special & HD_TASK_EXPANDS))
		return hd_error(HEDDLE_E_STATE, "%s: a sub-graph has no addresses of its data: only its tasks do",
		                hd_task_name(c->task));
	heddle_data *d = seen_at(c, i);
	if (!d && HD_UNLIKELY(c->worker->rt->misuse != NULL))
		hd_misuse_not_there(c, "datum", i, heddle_context_n_data(c));
	if (!d || part >= hd_data_n_parts(d))
		return hd_error(HEDDLE_E_INVALID, "%s: there is no part %zu of datum %zu", hd_task_name(c->task), part,
		                i);
	const struct hd_replica *r = &d->replicas[c->worker->node];
	if (HD_UNLIKELY(d->traits & HD_DATA_OBJECT))
		return find_object(d, r, out);
	hd_data_part_at(d, r, part, out);
	return 0;
}

void *heddle_ptr(const heddle_context *c, size_t i)
{
	struct heddle_part part;
	if (HD_LIKELY(!heddle_context_part(c, i, 0, &part)))
		return part.base;
	/* the function of a sub-graph, which is not watched, gets NULL: it has no addresses of data */
	return c->watch ? hd_misuse_spare(c) : NULL;
}

size_t heddle_extent(const heddle_context *c, size_t i, unsigned dim)
{
	const struct hd_access *a = access_at(c, i);
	return a && dim < a->data->part.n_dims ? a->data->part.n[dim] : 1;
}

size_t heddle_ld(const heddle_context *c, size_t i)
{
	struct heddle_part part;
	return heddle_context_part(c, i, 0, &part) ? 0 : part.n_dims > 1 ? part.stride[1] : 1;
}

size_t heddle_context_n_data(const heddle_context *c)
{
	return c->only ? 1 : c->task->n_accesses;
}

heddle_data *heddle_context_data(const heddle_context *c, size_t i)
{
	const struct hd_access *a = access_at(c, i);
	return a ? a->data : NULL;
}

void heddle_context_keep(const heddle_context *c, size_t i)
{
	heddle_data *d = seen_at(c, i);
	if (!d)
		return;
	hd_core_enter(d->rt); /* another kernel may read the same replica, and may be keeping its memory */
	struct hd_block *b = hd_window_base(&d->replicas[c->worker->node])->block;
	if (b)
		b->left = 1;
	hd_core_leave(d->rt);
}

const void *heddle_value_ptr(const heddle_context *c, size_t i)
{
	return !c->only && i < c->task->n_values ? hd_task_value(c->task, i) : NULL;
}

const void *heddle_value_of_size(const heddle_context *c, size_t i, size_t size)
{
	const void *value = heddle_value_ptr(c, i);
	return HD_LIKELY(!c->worker->rt->misuse) ? value : hd_misuse_value(c, i, value, size);
}

unsigned heddle_context_worker(const heddle_context *c)
{
	return c->worker->id;
}

heddle_runtime *heddle_context_runtime(const heddle_context *c)
{
	return c->worker->rt;
}

void *heddle_stream(const heddle_context *c)
{
	return c->stream;
}

unsigned heddle_context_cores(const heddle_context *c)
{
	return c->cores ? c->cores : 1;
}

unsigned heddle_context_rank(const heddle_context *c)
{
	return c->rank;
}

int heddle_context_barrier(const heddle_context *c)
{
	return c->team ? c->worker->rt->engine->team_barrier(c) : 0;
}

int heddle_set_prologue(heddle_runtime *rt, heddle_prologue call, void *arg)
{
	if (!rt)
		return hd_error(HEDDLE_E_INVALID, "heddle_set_prologue needs a runtime");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	rt->prologue = (struct hd_prologue){call, arg};
	hd_core_leave(rt);
	return 0;
}

int heddle_fail(heddle_context *c, int code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	free(c->message);
	if (vasprintf(&c->message, format, args) < 0)
		c->message = NULL;
	va_end(args);
	return code ? code : -1;
}

/* Records that the kernel of a watched task begins in this thread. Returns the watch of the task whose kernel waits
 * below on this thread's stack; NULL: none. */
static struct hd_watch *begin_watched(const heddle_context *c)
{
	struct hd_inside *here = hd_inside();
	struct hd_watch *outer = here->watch;
	here->watch = c->watch;
	if (c->watch)
		hd_crash_watch_thread();
	if (c->worker->rt->tells_tsan)
		hd_tsan_begins(c->task);
	return outer;
}

static void end_watched(const heddle_context *c, struct hd_watch *outer)
{
	heddle_runtime *rt = c->worker->rt;
	hd_inside()->watch = outer;
	if (!rt->tells_tsan)
		return;
	hd_core_enter(rt);
	hd_tsan_ends(c->task);
	hd_core_leave(rt);
}

static int call(heddle_context *c)
{
	if (HD_LIKELY(!c->worker->rt->watched))
		return c->kernel(c);
	struct hd_watch *outer = begin_watched(c);
	int status = c->kernel(c);
	end_watched(c, outer);
	return status;
}

int hd_call_kernel(heddle_context *c)
{
	if (hd_inside()) {
		hd_inside()->depth = hd_deeper(c->task);
		c->returned = call(c);
	} else { /* a kernel in a thread of the driver must not wait either */
		struct hd_inside here = {.rt = c->worker->rt, .what = HD_INSIDE_OTHER, .depth = hd_deeper(c->task)};
		hd_inside_enter(&here);
		c->returned = call(c);
		hd_inside_leave(&here);
	}
	return c->returned ? HEDDLE_E_KERNEL : 0;
}

const heddle_codelet *hd_next_init(heddle_context *c, uint32_t *i)
{
	heddle_task *t = c->task;
	heddle_runtime *rt = c->worker->rt;
	while (*i < t->n_accesses) {
		struct hd_access *a = &t->accesses[(*i)++];
		hd_core_enter(rt); /* other workers may be adding to the datum's list of private copies */
		int needed = hd_private_needs_init(a);
		hd_core_leave(rt);
		if (!needed)
			continue;
		const heddle_codelet *init = a->data->extra->redux_init;
		c->only = a;
		c->kernel = init->kernels[c->worker->class_id];
		return init;
	}
	return NULL;
}

/* The message that the kernel has given to heddle_fail; or, if the kernel returns the status of a failed Heddle call,
 * the message of that call; NULL: none. */
static const char *said_by(const heddle_context *c, int status)
{
	int passed_on = status < 0 && !c->team && c->worker->node == 0 && hd_error_status() == status;
	return c->message ? c->message : passed_on ? heddle_last_error() : NULL;
}

/* Says why the task failed: the kernel's message, if any, the name of the kernel, and the status that it returned. The
 * caller owns the text. NULL: out of memory. */
static char *failure_text(const heddle_context *c, const heddle_codelet *init, int status)
{
	const char *where = c->worker->rt->platform->workers[c->worker->id].name, *said = said_by(c, status);
	char rank[64] = "";
	if (c->team)
		snprintf(rank, sizeof rank, ", as rank %u of %u", c->rank, c->cores);
	char *kernel = init ? hd_format("%s, which begins the reduction, returned %d on %s%s", init->desc.name, status,
	                                where, rank)
	                    : hd_format("its kernel returned %d on %s%s", status, where, rank);
	char *text = kernel && said ? hd_format("%s (%s)", said, kernel) : NULL;
	if (!text)
		return kernel;
	free(kernel);
	return text;
}

/* Says why the task failed, if the driver failed to start the kernel or to report its end. The caller owns the text.
 * NULL: out of memory. */
static char *device_failure_text(const heddle_context *c, int status)
{
	const struct hd_worker *w = c->worker;
	const char *where = w->rt->platform->workers[w->id].name;
	const char *said = c->message ? c->message : heddle_last_error();
	return said[0] ? hd_format("%s (a kernel on %s)", said, where)
	               : hd_format("%s failed to run a kernel: %s", where, heddle_status_name(status));
}

int hd_kernel_failed(const heddle_context *c, const heddle_codelet *init, int status, int by_device)
{
	heddle_runtime *rt = c->worker->rt;
	char *text = by_device ? device_failure_text(c, status) : failure_text(c, init, status);
	hd_core_enter(rt);
	if (text)
		hd_task_message(c->task, text);
	if (!by_device)
		hd_task_returned(c->task, status);
	hd_core_leave(rt);
	free(text);
	return by_device && status == HEDDLE_E_DEVICE ? status : HEDDLE_E_KERNEL;
}

/* Runs c->kernel, a kernel of `codelet`. On a worker in main memory, calls the kernel directly, because no device can
 * fail there and a call of the driver takes longer. */
static int launch(struct hd_worker *w, heddle_context *c, const heddle_codelet *codelet)
{
	void *event; /* unused without streams */
	c->returned = 0;
	/* Relaxed, pairs with nothing: see the field. */
	unsigned set_up = atomic_load_explicit(&w->set_up, memory_order_relaxed);
	if (HD_UNLIKELY(codelet->desc.parallel || set_up) && w->team)
		return c->worker->rt->engine->call_team(c, codelet);
	if (HD_UNLIKELY(w->node != 0))
		hd_error_clear(); /* so that an error found after the launch comes from the driver */
	return w->driver->launch(w->device, NULL, HD_LIKELY(w->node == 0) ? c->kernel : hd_call_kernel, c, &event);
}

/* Runs the init kernels of the task's private copies that are not neutral yet. *failed: the codelet of the init
 * kernel that failed, or NULL. */
static __attribute__((noinline)) int run_inits(struct hd_worker *w, heddle_context *c, const heddle_codelet **failed)
{
	int status = 0;
	uint32_t i = 0;
	const heddle_codelet *init;
	while (!status && (init = hd_next_init(c, &i))) {
		status = launch(w, c, init);
		*failed = status ? init : NULL;
	}
	c->only = NULL;
	return status;
}

static inline int run(struct hd_worker *w, heddle_context *c)
{
	heddle_task *t = c->task;
	const heddle_codelet *init = NULL;
	int status = 0;
	if (HD_UNLIKELY(t->special & (HD_TASK_PRIVATE | HD_TASK_EXPANDS))) {
		if (t->special & HD_TASK_EXPANDS)
			return hd_expand_run(w, t);
		status = run_inits(w, c, &init);
	}
	if (!status) {
		c->kernel = hd_task_kernel(t, w->class_id);
		status = launch(w, c, t->codelet);
	}
	if (HD_UNLIKELY(status)) {
		int device = w->node && (status == HEDDLE_E_DEVICE || c->returned == HEDDLE_E_DEVICE);
		int why = device ? HEDDLE_E_DEVICE : c->returned ? c->returned : status;
		status = hd_kernel_failed(c, init, why, w->node && (device || !c->returned));
	}
	if (HD_UNLIKELY(c->message != NULL))
		free(c->message);
	return status;
}

/* Runs the kernel in checking mode, or for ThreadSanitizer. */
static __attribute__((noinline)) int run_watched(struct hd_worker *w, heddle_task *t)
{
	heddle_context c = {.task = t, .worker = w};
	int status = w->rt->misuse ? hd_misuse_begin(&c) : 0;
	if (status)
		return status;
	/* On other nodes the driver calls hd_call_kernel, which records the begin and the end of the kernel. */
	struct hd_watch *outer = w->node == 0 ? begin_watched(&c) : NULL;
	status = run(w, &c);
	if (w->node == 0)
		end_watched(&c, outer);
	return c.watch ? hd_misuse_end(&c, status) : status;
}

int hd_run_kernel(struct hd_worker *w, heddle_task *t)
{
	/* A hierarchical task that submits its sub-graph is not watched: it uses no data. The tasks of the sub-graph
	 * are watched. */
	if (HD_UNLIKELY(w->rt->watched) && !(t->special & HD_TASK_EXPANDS))
		return run_watched(w, t);
	heddle_context c = {.task = t, .worker = w};
	return run(w, &c);
}
