/* Tasks that end by events: heddle/event.h; and external tasks (heddle_outside), which are nothing but their event.
 *
 * Each call of heddle_detach in a kernel creates an event, which the task counts in extra->n_events. If this number is
 * not 0 when the kernel has returned, the task becomes HD_DETACHED: its worker is free, but its accesses and pins stay.
 * The thread that fulfills the last event ends the task. */
#define _GNU_SOURCE
#include "event.h"
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include "codelet.h"
#include "dispatch.h"
#include "errands.h"
#include "inlet.h"
#include "task_life.h"
#include "wait.h"
#include "memory/coherency.h"
#include "misuse/misuse.h"
#include "state/core_lock.h"
#include "state/kernel_context.h"
#include "state/process.h"

struct heddle_event {
	heddle_runtime *rt; /* const: the event's memory stays with its runtime */
	/* Guarded by the core lock. */
	/* borrowed: the task that waits for the event, and cannot end before; NULL: fulfilled, or an orphan */
	heddle_task *task;
	heddle_event *next; /* in the list of the task's events, or in the list of free events */
	heddle_event *prev; /* in the list of the task's events */
	/* 1: no task waits for the event any more, and the event has not been fulfilled; it is in no list */
	uint8_t orphan;
	uint8_t due; /* 1: in virtual time, the clock will fulfill it: heddle_fulfill_at */
};

/* --- Events ------------------------------------------------------------------------------------------------------- */

/* Takes the free event that was fulfilled longest ago, because a second heddle_fulfill of an event is detected only
 * until the event is used again. */
static heddle_event *take(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	struct hd_events *events = &rt->events;
	heddle_event *e = events->first;
	if (e) {
		events->first = e->next;
		return e;
	}
	e = hd_arena_take(&events->arena, sizeof *e, _Alignof(heddle_event));
	if (e) {
		*e = (heddle_event){.rt = rt};
		events->n_made++;
	}
	return e;
}

/* Removes the event from the list of its task. */
static void leave_task(heddle_event *e)
{
	*(e->prev ? &e->prev->next : &e->task->extra->events) = e->next;
	if (e->next)
		e->next->prev = e->prev;
	e->task->extra->n_events--;
	e->task = NULL;
}

/* Frees an event that is in no list. */
static void give_back(heddle_runtime *rt, heddle_event *e)
{
	HD_HELD(&rt->lock);
	e->orphan = e->due = 0;
	e->next = NULL;
	if (rt->events.first)
		rt->events.last->next = e;
	else
		rt->events.first = e;
	rt->events.last = e;
}

uint64_t hd_events_free(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	uint64_t n = 0;
	for (const heddle_event *e = rt->events.first; e && !e->task && n <= rt->events.n_made; e = e->next)
		n++;
	return n;
}

heddle_event *hd_event_make(heddle_task *t)
{
	heddle_runtime *rt = hd_task_runtime(t);
	HD_HELD(&rt->lock);
	struct hd_task_extra *extra = hd_task_extra(t);
	heddle_event *e = extra ? take(rt) : NULL;
	if (!e) {
		hd_no_memory("an event");
		return NULL;
	}
	e->task = t;
	e->prev = NULL;
	e->next = extra->events;
	if (e->next)
		e->next->prev = e;
	extra->events = e;
	extra->n_events++;
	extra->detached = 1;
	return e;
}

/* --- The end of a task -------------------------------------------------------------------------------------------- */

static void conclude_outside(heddle_task *t, double now)
{
	heddle_runtime *rt = hd_task_runtime(t);
	if (HD_UNLIKELY(rt->misuse != NULL))
		hd_misuse_given_back(t);
	rt->last_end = now > rt->last_end ? now : rt->last_end;
	hd_stage_end(t, 0);
	hd_core_end(rt, t, t->status);
}

static void conclude(heddle_task *t, double now)
{
	if (!t->codelet) {
		conclude_outside(t, now);
		return;
	}
	if (HD_UNLIKELY(t->codelet->rt->misuse != NULL))
		hd_misuse_conclude(t);
	if (!t->status)
		hd_codelet_record_event(t, now - t->extra->returned);
	hd_core_conclude(t, t->extra->started, t->extra->returned, now);
}

void hd_event_await(heddle_task *t, double start, double now)
{
	heddle_runtime *rt = t->codelet->rt;
	HD_HELD(&rt->lock);
	t->extra->started = start;
	t->extra->returned = now;
	if (!t->extra->n_events) { /* all events were fulfilled before the kernel returned */
		conclude(t, now);
		return;
	}
	hd_set_state(t, HD_DETACHED);
	rt->count.detached++;
}

int hd_event_begin_outside(heddle_task *t)
{
	heddle_runtime *rt = hd_task_runtime(t);
	HD_HELD(&rt->lock);
	if (!hd_event_make(t)) {
		hd_task_message(t, heddle_last_error());
		return t->status = HEDDLE_E_MEMORY;
	}
	if (!(t->special & HD_TASK_ONE_NODE))
		hd_stage_begin(t);
	if (HD_UNLIKELY(rt->misuse != NULL))
		hd_misuse_acquired(t);
	t->extra->started = t->extra->returned = rt->now;
	hd_set_state(t, HD_DETACHED);
	rt->count.detached++;
	hd_queue_push(&rt->dispatch.called, t);
	return 0;
}

const heddle_task *hd_event_task(const heddle_event *e)
{
	return e->task;
}

heddle_event *hd_event_of_outside(const heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	/* Relaxed, pairs with nothing: see hd_event_fulfill. */
	return atomic_load_explicit(&t->state, memory_order_relaxed) == HD_DETACHED ? t->extra->events : NULL;
}

void hd_event_fulfill(heddle_event *e, double now)
{
	heddle_runtime *rt = e->rt;
	HD_HELD(&rt->lock);
	heddle_task *t = e->task;
	leave_task(e);
	give_back(rt, e);
	/* Relaxed, pairs with nothing: the core lock orders it with the stores in hd_set_state. */
	if (t->extra->n_events || atomic_load_explicit(&t->state, memory_order_relaxed) != HD_DETACHED)
		return;
	rt->count.detached--;
	conclude(t, now);
}

void hd_events_orphan(heddle_task *t)
{
	heddle_runtime *rt = t->codelet->rt;
	HD_HELD(&rt->lock);
	while (t->extra->events) {
		heddle_event *e = t->extra->events;
		leave_task(e);
		e->orphan = 1;
		rt->events.n_orphans++;
	}
	t->extra->detached = 0;
	if (HD_UNLIKELY(rt->misuse != NULL))
		hd_misuse_conclude(t);
}

void hd_events_close(heddle_runtime *rt)
{
	/* pairs: the decrement in leave */
	while (atomic_load_explicit(&rt->events.fulfilling, memory_order_acquire))
		sched_yield();
}

/* --- For the program ---------------------------------------------------------------------------------------------- */

heddle_event *heddle_detach(heddle_context *c)
{
	if (!c) {
		hd_error(HEDDLE_E_INVALID, "heddle_detach needs the context of a kernel");
		return NULL;
	}
	heddle_task *t = c->task;
	char title[HD_TITLE];
	if (t->special & HD_TASK_EXPANDS) {
		hd_error(HEDDLE_E_STATE,
		         "heddle_detach: %s is being expanded, and ends with the tasks of its sub-graph; let one of "
		         "these wait for the event",
		         hd_task_title(t, title, sizeof title));
		return NULL;
	}
	if (c->only || (t->special & HD_TASK_PRIVATE)) {
		hd_error(
		    HEDDLE_E_UNSUPPORTED,
		    "heddle_detach: %s has SCRATCH or REDUX data, which its worker will use for its next task; let "
		    "its kernel do the work, or give it a temporary (W) instead",
		    hd_task_title(t, title, sizeof title));
		return NULL;
	}
	heddle_runtime *rt = c->worker->rt;
	hd_core_enter(rt);
	heddle_event *e = hd_event_make(t);
	if (e)
		hd_codelet_open_event(t->codelet);
	hd_core_leave(rt);
	return e;
}

/* Marks the task as failed by an event, unless it has failed already. */
static void fail(heddle_task *t, int status, const char *said)
{
	char *text = said ? hd_format("%s (its event was fulfilled with %d)", said, status)
	                  : hd_format("its event was fulfilled with %d", status);
	if (!t->status && text)
		hd_task_message(t, text);
	hd_task_returned(t, status);
	if (!t->status)
		t->status = HEDDLE_E_KERNEL;
	free(text);
}

/* Takes the core lock to fulfill an event. HEDDLE_E_STATE: in a child of fork. */
static int enter(heddle_runtime *rt)
{
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	/* Relaxed, pairs with nothing: the event is fulfilled later, under the core lock, and heddle_stop waits for
	 * that. */
	atomic_fetch_add_explicit(&rt->events.fulfilling, 1, memory_order_relaxed);
	hd_core_enter(rt);
	return 0;
}

/* Releases the core lock. Afterwards the thread does not touch the runtime, which may end. */
static void leave(heddle_runtime *rt)
{
	hd_core_leave(rt);
	/* pairs: the load in hd_events_close */
	atomic_fetch_sub_explicit(&rt->events.fulfilling, 1, memory_order_release);
}

static int fulfill(heddle_event *e, int status, const char *said)
{
	heddle_runtime *rt = e->rt;
	if (enter(rt))
		return HEDDLE_E_STATE;
	const int orphan = e->orphan;
	heddle_task *t = e->due ? NULL : e->task;
	if (orphan) {
		rt->events.n_orphans--;
		give_back(rt, e);
	} else if (t) {
		hd_core_clock_now(rt);
		rt->dispatch.releaser = -1;
		/* tasks that this thread has submitted enter the graph before this task ends: see hd_live */
		hd_drain(rt);
		if (status)
			fail(t, status, said);
		if (HD_UNLIKELY(rt->tells_tsan))
			hd_tsan_ends(t);
		hd_event_fulfill(e, rt->now);
		hd_core_settle(rt);
		rt->dispatch.releaser = -1;
		hd_wake_if_still(rt, NULL);
	}
	leave(rt);
	return t || orphan ? 0
	                   : hd_error(HEDDLE_E_STATE, "this event has been fulfilled before; fulfill each event once");
}

/* Lets the clock fulfill the event, which a task awaits. */
static int fulfill_later(heddle_event *e, int status, double time)
{
	heddle_runtime *rt = e->rt;
	HD_HELD(&rt->lock);
	int failed = rt->engine->fulfill_at(rt, e, time);
	if (failed)
		return failed;
	e->due = 1;
	if (status)
		fail(e->task, status, NULL);
	return 0;
}

int heddle_fulfill_at(heddle_event *event, int status, double time)
{
	if (!event || !isfinite(time))
		return hd_error(HEDDLE_E_INVALID, "heddle_fulfill_at needs an event and a finite time");
	heddle_runtime *rt = event->rt;
	if (!rt->engine->fulfill_at)
		return hd_error(HEDDLE_E_UNSUPPORTED,
		                "heddle_fulfill_at: the runtime is not in virtual time; call heddle_fulfill then");
	if (enter(rt))
		return HEDDLE_E_STATE;
	hd_core_clock_now(rt);
	int later = event->task && !event->due && time > rt->now;
	int result = later ? fulfill_later(event, status, time) : 0;
	leave(rt);
	return later ? result : fulfill(event, status, NULL);
}

int heddle_fulfill(heddle_event *event, int status)
{
	return event ? fulfill(event, status, NULL) : hd_error(HEDDLE_E_INVALID, "heddle_fulfill needs an event");
}

int heddle_event_fail(heddle_event *event, int status, const char *format, ...)
{
	if (!event || !format)
		return hd_error(HEDDLE_E_INVALID, "heddle_event_fail needs an event and a format");
	va_list args;
	va_start(args, format);
	char *said = NULL;
	if (vasprintf(&said, format, args) < 0)
		said = NULL;
	va_end(args);
	int result = fulfill(event, status ? status : -1, said);
	free(said);
	return result;
}
