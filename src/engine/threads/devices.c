/* Workers whose devices have streams: accelerators. The thread of such a worker runs no kernels itself. In each step it
 * launches a kernel on each free slot for which a task is staged, asks the driver which kernels have ended, returns
 * their tasks to the core and takes new ones. Between two steps the thread waits, never for one particular kernel:
 *
 * - If the driver can notify, the thread sleeps on the worker's event. While the worker could hold more tasks, it
 *   counts as asleep, so that a submission wakes its thread. A notification takes at least as long as a short kernel;
 *   therefore the thread first polls for a while if the tasks are short.
 * - Otherwise the thread polls, with short naps if the wait is long.
 *
 * Each slot has a stream. A task has one launch on the stream for each init kernel of its reductions, and then one for
 * its own kernel. The launches run in order, so the task has ended when the last launch has ended. */
#include <stdlib.h>
#include <string.h>
#include "team.h"
#include "threads.h"
#include "driver/driver.h"
#include "flow/dispatch.h"
#include "flow/errands.h"
#include "flow/expand.h"
#include "flow/inlet.h"
#include "flow/kernel_call.h"
#include "flow/wait.h"
#include "misuse/misuse.h"
#include "state/core_lock.h"
#include "state/kernel_context.h"

/* how often the thread polls for the end of a kernel, or for a task, before it naps or sleeps */
enum { POLLS = 40 };
static const double LINGER_US = 1; /* us between two polls */
/* us: if tasks take at most this long, the thread polls before it asks for a notification */
static const double SHORT_US = 50;
static const double NAP_US = 20; /* us of a nap while a kernel runs whose end the driver cannot notify */

/* One kernel on a stream. */
struct hd_launch {
	heddle_context context;
	struct hd_launch *next;     /* owned: the next launch of the same task */
	const heddle_codelet *init; /* the codelet of the init kernel; NULL: the launch is the task's own kernel */
	void *event;                /* the driver's event; NULL: the launch has ended, or was never begun */
};

struct hd_stream {
	void *stream;            /* the driver's stream */
	struct hd_launch kernel; /* the last launch: the task's own kernel */
	struct hd_launch *first; /* the first launch of the task; NULL: nothing is launched */
	int is_open;
	int begun;         /* 1: the slot has begun a task that is not launched yet */
	int ended;         /* 1: the launches have ended, and the task has not been returned to the core */
	int told;          /* 1: the driver will notify the end of the last launch */
	unsigned polls;    /* how many more polls the thread makes before it asks for a notification */
	int status;        /* the task's status: 0, HEDDLE_E_KERNEL, or HEDDLE_E_DEVICE if the device is lost */
	double start, end; /* us: when the task was launched, and when the thread saw that it had ended */
	double own;        /* us: the task's share of this time: see engine/shared_clock.h */
	/* In the first slot only: number of consecutive rounds in which the worker's thread has found nothing to do. */
	unsigned idle_rounds;
};

/* --- Opening and closing ------------------------------------------------------------------------------------------ */

/* Makes sure that there is an error message after the driver has failed with `status`. */
static int explain(const struct hd_worker *w, int status, const char *what)
{
	if (status && !heddle_last_error()[0])
		return hd_error(status, "the driver of kind %s cannot open %s of worker %s", w->driver->kind, what,
		                w->rt->platform->workers[w->id].name);
	return status;
}

static int open_slot(struct hd_slot *slot)
{
	const struct hd_worker *w = slot->worker;
	slot->stream = calloc(1, sizeof *slot->stream);
	if (!slot->stream)
		return hd_no_memory("a stream");
	int status = w->driver->open_stream(w->device, HEDDLE_STREAM_KERNELS, &slot->stream->stream);
	slot->stream->is_open = !status;
	return explain(w, status, "a stream");
}

static int open_copier(const struct hd_worker *w, struct hd_copier *c, enum heddle_stream_use use)
{
	int status = w->driver->open_stream(w->device, use, &c->stream);
	c->is_open = !status;
	return explain(w, status, "a stream for copies");
}

/* Whether the worker's device makes the copies to and from its node. */
static int manages_node(const struct hd_worker *w)
{
	return w->node && w->rt->node_worker[w->node] == w->id;
}

static int open_streams(struct hd_worker *w)
{
	struct hd_threads *th = w->rt->engine_state.threads;
	int status = 0;
	for (unsigned i = 0; i < w->n_slots && !status; i++)
		status = open_slot(&w->slots[i]);
	if (!status && manages_node(w))
		status = open_copier(w, &th->in[w->node], HEDDLE_STREAM_IN);
	if (!status && manages_node(w))
		status = open_copier(w, &th->out[w->node], HEDDLE_STREAM_OUT);
	return status;
}

static void close_copier(const struct hd_worker *w, struct hd_copier *c)
{
	if (c->is_open)
		w->driver->close_stream(w->device, c->stream);
	c->is_open = 0;
}

static void close_streams(struct hd_worker *w)
{
	struct hd_threads *th = w->rt->engine_state.threads;
	for (unsigned i = 0; i < w->n_slots; i++) {
		struct hd_stream *s = w->slots[i].stream;
		if (s && s->is_open)
			w->driver->close_stream(w->device, s->stream);
		free(s);
		w->slots[i].stream = NULL;
	}
	if (manages_node(w) && th->in && th->out) { /* `in` and `out` are NULL if there was no memory for copiers */
		close_copier(w, &th->in[w->node]);
		close_copier(w, &th->out[w->node]);
	}
}

void hd_device_open(struct hd_worker *w)
{
	struct hd_seat *seat = w->seat;
	hd_error_clear(); /* so that an error found after `open` comes from the driver */
	seat->status = explain(w, w->driver->open(w->rt->platform, w->id, &w->device), "the device");
	seat->opened = seat->status == 0;
	seat->clock = (struct hd_shared_clock){.class_ = &w->rt->platform->classes[w->class_id]};
	if (seat->opened && w->driver->open_stream)
		seat->status = open_streams(w);
	if (seat->opened && w->driver == &hd_driver_cpu)
		seat->status = hd_team_open(w);
	if (!seat->status)
		return;
	seat->message = strdup(heddle_last_error());
	close_streams(w);
}

void hd_device_close(struct hd_worker *w)
{
	hd_team_close(w);
	close_streams(w);
	if (w->seat->opened)
		w->driver->close(w->device);
}

int hd_device_copy(const struct hd_copier *c, const struct heddle_copy *copy)
{
	const struct hd_worker *w = c->device_of;
	void *event = NULL;
	int status = w->driver->copy(w->device, c->stream, copy, &event);
	return status == HEDDLE_PENDING ? w->driver->wait(w->device, event) : status;
}

/* --- Launching ---------------------------------------------------------------------------------------------------- */

/* Records that a launch of the slot's task has failed with `status`, from the kernel or the driver. */
static void fail(struct hd_stream *s, const struct hd_launch *l, int status)
{
	int returned = l->context.returned;
	/* the loss of the device may be noticed first by the kernel, which then returns HEDDLE_E_DEVICE */
	int lost = status == HEDDLE_E_DEVICE || returned == HEDDLE_E_DEVICE;
	int why = lost ? HEDDLE_E_DEVICE : returned ? returned : status;
	int failed = hd_kernel_failed(&l->context, l->init, why, lost || !returned);
	if (!s->status || lost)
		s->status = failed;
}

static void launch(struct hd_slot *slot, struct hd_launch *l)
{
	const struct hd_worker *w = slot->worker;
	struct hd_stream *s = slot->stream;
	void *event = NULL;
	l->event = NULL;
	l->context.returned = 0;
	hd_error_clear(); /* so that an error found after the launch comes from the driver */
	int status = w->driver->launch(w->device, s->stream, hd_call_kernel, &l->context, &event);
	if (status == HEDDLE_PENDING && event)
		l->event = event;
	else if (status)
		fail(s, l, status);
}

/* Launches the init kernels that the task needs. Each has a context of its own, which lives until the init kernel has
 * ended. Returns the link to which the task's own kernel is to be appended. */
static struct hd_launch **launch_inits(struct hd_slot *slot)
{
	struct hd_stream *s = slot->stream;
	struct hd_launch **end = &s->first;
	heddle_context context = s->kernel.context;
	const heddle_codelet *init;
	uint32_t i = 0;
	while (!s->status && (init = hd_next_init(&context, &i))) {
		struct hd_launch *l = calloc(1, sizeof *l);
		if (!l) {
			hd_no_memory("launching an init kernel");
			s->status = hd_kernel_failed(&context, init, HEDDLE_E_MEMORY, 1);
			break;
		}
		l->context = context;
		l->init = init;
		*end = l;
		end = &l->next;
		launch(slot, l);
	}
	return end;
}

/* Launches the task that the slot has begun. */
static void launch_task(struct hd_slot *slot)
{
	struct hd_worker *w = slot->worker;
	struct hd_stream *s = slot->stream;
	heddle_task *t = slot->task;
	s->begun = s->told = s->status = 0;
	s->first = NULL;
	s->kernel = (struct hd_launch){.context = {.task = t, .worker = w, .stream = s->stream}};
	s->kernel.context.kernel = hd_task_kernel(t, w->class_id);
	s->start = hd_threads_now(w->rt);
	s->own = -hd_shared_clock(&w->seat->clock, s->start);
	w->seat->clock.n++;
	/* calls the function of a sub-graph in this thread: the task came here because no other worker could take it */
	if (HD_UNLIKELY(t->special & HD_TASK_EXPANDS)) {
		s->first = &s->kernel;
		s->status = hd_expand_run(w, t);
		return;
	}
	if (HD_UNLIKELY(w->rt->misuse != NULL))
		s->status = hd_misuse_begin(&s->kernel.context);
	struct hd_launch **end = t->special & HD_TASK_PRIVATE ? launch_inits(slot) : &s->first;
	*end = &s->kernel;
	if (!s->status)
		launch(slot, &s->kernel);
}

/* Begins staged tasks on the free slots. Returns whether a task was begun. */
static int begin_staged(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	struct hd_slot *slot;
	heddle_task *t;
	int begun = 0;
	while ((t = hd_core_take_for_slot(w, &slot))) {
		hd_core_begin(slot, t, hd_threads_now(w->rt));
		slot->stream->begun = begun = 1;
		/* typical_us is read here, under the core lock, because other threads change it */
		slot->stream->polls = t->codelet->typical_us <= SHORT_US ? POLLS : 0;
	}
	return begun;
}

/* --- Ending ------------------------------------------------------------------------------------------------------- */

static void wake_worker(void *arg)
{
	struct hd_worker *w = arg;
	hd_wakeup_set(&w->wake);
}

/* The last launch that has not ended; NULL: all launches have ended. */
static struct hd_launch *last_pending(const struct hd_stream *s)
{
	struct hd_launch *last = NULL;
	for (struct hd_launch *l = s->first; l; l = l->next)
		if (l->event)
			last = l;
	return last;
}

/* Asks the driver whether the launches of the slot have ended, in order. */
static void query(struct hd_slot *slot)
{
	const struct hd_worker *w = slot->worker;
	struct hd_stream *s = slot->stream;
	for (struct hd_launch *l = s->first; l; l = l->next) {
		if (!l->event)
			continue;
		hd_error_clear(); /* so that an error found after the query comes from the driver */
		int status = w->driver->query(w->device, l->event);
		if (status == HEDDLE_PENDING) {
			s->polls -= s->polls > 0;
			return;
		}
		l->event = NULL;
		if (status)
			fail(s, l, status);
	}
	s->end = hd_threads_now(w->rt);
	s->own += hd_shared_clock(&w->seat->clock, s->end);
	w->seat->clock.n--;
	if (HD_UNLIKELY(s->kernel.context.watch != NULL))
		s->status = hd_misuse_end(&s->kernel.context, s->status);
	s->ended = 1;
}

/* Queries all slots. Returns whether a task has ended. */
static int query_all(struct hd_worker *w)
{
	int ended = 0;
	for (unsigned i = 0; i < w->n_slots; i++) {
		struct hd_stream *s = w->slots[i].stream;
		if (!s->first)
			continue;
		query(&w->slots[i]);
		ended |= s->ended;
	}
	return ended;
}

static void forget_launches(struct hd_stream *s)
{
	for (struct hd_launch *l = s->first, *next; l; l = next) {
		next = l->next;
		free(l->context.message);
		if (l != &s->kernel)
			free(l);
	}
	s->first = NULL;
}

/* Returns ended tasks to the core, in the order in which they ended. */
static void finish_ended(struct hd_worker *w)
{
	for (;;) {
		struct hd_slot *first = NULL;
		for (unsigned i = 0; i < w->n_slots; i++) {
			struct hd_slot *slot = &w->slots[i];
			if (slot->stream->ended && (!first || slot->stream->end < first->stream->end))
				first = slot;
		}
		if (!first)
			return;
		struct hd_stream *s = first->stream;
		s->ended = 0;
		forget_launches(s);
		if (HD_LIKELY(!(first->task->special & HD_TASK_EXPANDS))) {
			hd_note_length(first->task->codelet, s->own);
			if (!w->seat->clock.class_->service)
				hd_note_mean(w->rt, s->own);
		}
		hd_core_finish(first, first->task, s->status, &(struct hd_span){s->start, s->end, s->own});
	}
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

/* Asks the driver to wake the thread when a task of the worker ends. Returns 0 if the driver cannot notify the end of
 * some running kernel; then the thread must poll. */
static int will_be_told(struct hd_worker *w)
{
	int told = 1;
	for (unsigned i = 0; i < w->n_slots; i++) {
		struct hd_stream *s = w->slots[i].stream;
		struct hd_launch *last = s->told || !s->first ? NULL : last_pending(s);
		if (last)
			s->told = w->driver->notify &&
			          w->driver->notify(w->device, s->stream, last->event, wake_worker, w) == 0;
		told &= !last || s->told;
	}
	return told;
}

/* Whether a running kernel will probably end soon, so that polling is better than a notification. */
static int ends_soon(const struct hd_worker *w)
{
	for (unsigned i = 0; i < w->n_slots; i++) {
		const struct hd_stream *s = w->slots[i].stream;
		if (s->first && !s->told && s->polls)
			return 1;
	}
	return 0;
}

/* Polls the kernels until one has ended, the worker's event is set, or no kernel will end soon. */
static void poll(struct hd_worker *w)
{
	while (ends_soon(w))
		if (hd_wakeup_wait(&w->wake, LINGER_US, 0) || query_all(w))
			return;
}

/* Enters the state, so that other threads know whether they must set the worker's event: in each state but HD_AWAKE. A
 * thread that only finishes running kernels stays in the state HD_LEAVING. */
static void enter(struct hd_worker *w, enum hd_worker_state state)
{
	HD_HELD(&w->rt->lock);
	if (w->state != HD_LEAVING && w->state != (uint8_t)state)
		hd_worker_enter(w, state);
}

/* Called when the worker has nothing to do and could hold more tasks: puts it into the state HD_SLEEPING, unless tasks
 * have just been submitted. Returns whether the thread may sleep. */
static int may_sleep(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	hd_revoke(rt);
	if (hd_drain(rt) || hd_submitted_unseen(rt))
		return 0;
	enter(w, HD_SLEEPING);
	hd_wake_if_still(rt, &w->wake);
	return 1;
}

/* Called when there is nothing to launch and no kernel has ended. `told`: the driver will notify the end of a kernel.
 * Returns how long in us the thread may wait before it polls again; negative: until the worker's event is set. */
static double rest(struct hd_worker *w, int told)
{
	HD_HELD(&w->rt->lock);
	unsigned *idle_rounds = &w->slots[0].stream->idle_rounds;
	if (!told) {
		enter(w, HD_ATTENDING);
		return ++*idle_rounds < POLLS ? LINGER_US : NAP_US;
	}
	/* The second test is needed because a full worker stays in the hungry list until hd_ask_hungry visits it. */
	if ((!w->hungry || w->in_flight >= w->pipeline) && !w->lost) {
		enter(w, HD_ATTENDING);
		if (!hd_worker_runs(w)) /* then all tasks that the worker holds wait for data or for memory */
			hd_wake_if_still(w->rt, &w->wake);
		return -1;
	}
	if (!hd_worker_runs(w) && ++*idle_rounds < POLLS) {
		enter(w, HD_SPINNING);
		return LINGER_US;
	}
	return may_sleep(w) ? -1 : 0;
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */

/* The part of a step in the core: returns ended tasks, gets tasks, begins them. Returns whether a task was begun. */
static int exchange(struct hd_worker *w, int takes)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	hd_core_clock(rt, hd_threads_now(rt));
	enter(w, HD_AWAKE);
	finish_ended(w);
	hd_drain(rt);
	if (takes)
		hd_core_refill(w);
	else
		hd_core_settle(rt);
	return begin_staged(w);
}

static void launch_begun(struct hd_worker *w)
{
	for (unsigned i = 0; i < w->n_slots; i++)
		if (w->slots[i].stream->begun)
			launch_task(&w->slots[i]);
}

int hd_device_step(struct hd_worker *w, int takes)
{
	heddle_runtime *rt = w->rt;
	hd_core_enter(rt);
	int begun = exchange(w, takes);
	hd_core_leave(rt);
	launch_begun(w);
	int ended = query_all(w);
	int polls = !ended && !begun && w->driver->notify && ends_soon(w);
	int told = ended || begun || polls || will_be_told(w);
	hd_core_enter(rt);
	hd_core_call_back(rt); /* callbacks run after the launches, because they may take long */
	/* Tasks may have been staged while the callbacks ran without the lock; the next step launches them. */
	int busy = begun || ended || begin_staged(w);
	double us = busy ? 0 : rest(w, told);
	hd_core_leave(rt);
	if (busy)
		w->slots[0].stream->idle_rounds = 0;
	if (us > 0)
		hd_wakeup_wait(&w->wake, LINGER_US, us > LINGER_US ? us : 0);
	if (us < 0 && polls)
		poll(w);
	return us >= 0 || polls;
}

int hd_device_turns(struct hd_worker *w, const _Atomic int *over)
{
	while (!hd_is_over(over))
		if (!hd_device_step(w, 1))
			return hd_is_over(over);
	return 1;
}
