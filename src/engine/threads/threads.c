/* The threaded engine: a thread per worker, two copy threads per accelerator node (in and out), the real clock.
 *
 * A worker that finds nothing to do is in the hungry list. It first spins for a few microseconds, looking now and then
 * into the inbox, so that a stream of small tasks is taken in batches; then it revokes the lease, so that the next
 * submission comes with the lock and finds it in the list, marks itself asleep under the lock, and sleeps on its event.
 * Whoever gives it a task sets the event after marking the task staged, so no wake-up is lost.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "driver/driver.h"
#include "bursts.h"
#include "core/runtime.h"

enum { SPIN_ROUNDS = 40 };           /* of about 1 us each, before a worker sleeps */
static const double BURST_US = 4;    /* what a worker may take at a time: less than a scheduling decision is worth */
static const double LINGER_US = 1;   /* between two looks into the inbox */
static const double LOOK_US = 5;     /* between two looks into it while there is enough to do */
static const double OVERDUE_US = 16; /* when tasks that were expected to take BURST_US are not */

/* A copy engine: the transfers of one node in one direction, in order. */
struct copier {
	heddle_runtime *rt;
	pthread_t thread;
	struct hd_worker *device_of;            /* whose driver copies */
	struct hd_transfer *queue, *queue_tail; /* lock core */
	struct hd_event wake;
	int started;
};

/* A worker's thread, and its device, which lives in that thread: some devices are bound to the thread that opened
 * them. */
struct seat {
	pthread_t thread;
	int started; /* only the thread that starts and stops the runtime */
	/* the worker's thread, before it is counted in n_seated */
	int opened, status;
	char *message; /* owns: what heddle_last_error says there */
};

struct hd_threads {
	struct seat *seats;      /* per worker; owns */
	struct copier *in, *out; /* per node; owns */
	/* lock core */
	size_t n_seated, n_done; /* threads of workers that have opened their device; that run no more tasks */
	int closing;             /* devices are to be closed */
	int caller_busy;         /* a waiting thread drives worker 0 */
	double looked;           /* us: when a worker last looked for what the policy does not know of */
	struct hd_event counted; /* a worker's thread sets it after counting itself */
};

static double threads_now(heddle_runtime *rt)
{
	return hd_clock_us() - rt->start_us;
}

/* --- Workers ------------------------------------------------------------------------------------------------------ */

/* Roughly: writing the codelet for every task would make its cache line travel. */
static void note_length(heddle_codelet *c, double us)
{
	if (us > 1.5 * c->typical_us || us < c->typical_us / 1.5)
		c->typical_us = isinf(c->typical_us) ? us : c->typical_us + 0.25 * (us - c->typical_us);
}

/* Runs a staged task, and with it those behind it, without the lock, as long as they are expected to take less than
 * BURST_US together: it costs a lock and a hand-over of its cache line once for all instead of once for each, and
 * delays their successors by no more than that time. A policy that is told when each kernel begins gets them one by
 * one. */
static void run_staged(struct hd_worker *w, heddle_task *t)
{
	heddle_runtime *rt = w->rt;
	struct {
		int status;
		double end;
	} done[HD_MAX_BURST];
	double begin = threads_now(rt);
	unsigned n = hd_burst_begin(w, t, rt->sched.policy->started ? 0 : BURST_US, begin), ran = 0;
	hd_unlock(&rt->lock);
	if (n > 1)
		begin = threads_now(rt); /* taking them must not count as the first one's time */
	do {
		done[ran].status = hd_run_kernel(w, w->burst[ran]);
		done[ran].end = threads_now(rt);
	} while (++ran < n && hd_burst_claim(w, ran));
	hd_lock(&rt->lock);
	hd_burst_end(w);
	for (unsigned i = 0; i < ran; i++) {
		double start = i ? done[i - 1].end : begin;
		note_length(w->burst[i]->codelet, done[i].end - start);
		hd_core_finish(w, w->burst[i], done[i].status, start, done[i].end);
	}
	double mean = (done[ran - 1].end - begin) / ran;
	rt->mean_us = isinf(rt->mean_us) ? mean : rt->mean_us + 0.25 * (mean - rt->mean_us);
}

/* All waiting threads look again, but the one that drives `except` (may be NULL). */
static void wake_blocked(heddle_runtime *rt, const struct hd_worker *except)
{
	for (struct hd_waiter *w = rt->waiters; w; w = w->next)
		if (!except || w->event != &except->wake)
			hd_event_set(w->event);
}

/* Entered and left with the lock; on return there may be something to do. 0 when it slept `timeout_us` in vain. */
static int idle(struct hd_worker *w, double timeout_us)
{
	heddle_runtime *rt = w->rt;
	int woken = 1;
	if (w->asleep) {
		hd_unlock(&rt->lock);
		woken = hd_event_wait(&w->wake, 0, timeout_us);
		hd_lock(&rt->lock);
		hd_core_clock(rt, threads_now(rt));
		if (w->asleep) {
			w->asleep = 0;
			rt->n_asleep--;
		}
		w->idle_rounds = 0;
	} else {
		hd_unlock(&rt->lock);
		double start = hd_clock_us();
		while (!hd_event_poll(&w->wake) && hd_clock_us() - start < LINGER_US)
			hd_cpu_relax();
		hd_lock(&rt->lock);
		hd_core_clock(rt, threads_now(rt));
		if (++w->idle_rounds >= SPIN_ROUNDS) {
			w->asleep = 1;
			rt->n_asleep++;
			hd_revoke(rt);
			if (rt->waiters && hd_core_still(rt))
				/* some of them may have waited for that, or want to tell their callers */
				wake_blocked(rt, w);
		}
	}
	return woken;
}

/* A worker with plenty to do sees neither what lies in an inbox, which may be more urgent, nor tasks that another
 * worker has taken and cannot run now: one of them looks for both from time to time. */
static void look_around(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	struct hd_threads *th = rt->engine_state.threads;
	if (HD_LIKELY(rt->now - th->looked < LOOK_US))
		return;
	th->looked = rt->now;
	hd_drain(rt);
	if (rt->n_bursts || rt->n_staged)
		hd_bursts_rescue(w, OVERDUE_US);
}

/* One step of a worker: runs a task, or idles. 0 when it slept `timeout_us` in vain. */
static int step(struct hd_worker *w, double timeout_us)
{
	look_around(w);
	hd_core_refill(w);
	heddle_task *t = hd_core_take(w);
	if (!t) {
		w->idling = 1;
		int woken = idle(w, timeout_us);
		w->idling = 0;
		return woken;
	}
	if (HD_UNLIKELY(w->asleep)) {
		w->asleep = 0;
		w->rt->n_asleep--;
	}
	w->idle_rounds = 0;
	run_staged(w, t);
	return 1;
}

static void open_device(struct hd_worker *w)
{
	const struct heddle_platform *p = w->rt->platform;
	struct seat *seat = &w->rt->engine_state.threads->seats[w->id];
	hd_error(0, "%s", ""); /* what it says afterwards is the driver's */
	seat->status = w->driver->open(p, w->id, &w->device);
	seat->opened = seat->status == 0;
	if (seat->status && !heddle_last_error()[0])
		hd_error(seat->status, "the driver of kind %s cannot open the device of worker %s", w->driver->kind,
		         p->workers[w->id].name);
	if (seat->status)
		seat->message = strdup(heddle_last_error());
}

static void close_device(struct hd_worker *w)
{
	if (w->rt->engine_state.threads->seats[w->id].opened)
		w->driver->close(w->device);
}

/* Under the lock. */
static void count_one(heddle_runtime *rt, size_t *counter)
{
	HD_HELD(&rt->lock);
	++*counter;
	hd_event_set(&rt->engine_state.threads->counted);
}

static void *worker_main(void *arg)
{
	struct hd_worker *w = arg;
	heddle_runtime *rt = w->rt;
	struct hd_threads *th = rt->engine_state.threads;
	int core = rt->platform->workers[w->id].core;
	if (rt->config.bind && core >= 0)
		hd_topology_bind(rt->topology, core);
	hd_inside_enter(); /* whatever runs in this thread is a kernel or a callback */
	open_device(w);
	hd_lock(&rt->lock);
	count_one(rt, &th->n_seated);
	while (!rt->stopping)
		step(w, -1);
	count_one(rt, &th->n_done);
	while (!th->closing) { /* the device's memory is still being given back */
		hd_unlock(&rt->lock);
		hd_event_wait(&w->wake, 0, -1);
		hd_lock(&rt->lock);
	}
	hd_unlock(&rt->lock);
	close_device(w);
	return NULL;
}

static void threads_worker_ready(struct hd_worker *w)
{
	if (w->idling)
		hd_event_set(&w->wake);
}

/* --- Copies ------------------------------------------------------------------------------------------------------- */

static int copy_object(struct hd_transfer *tr)
{
	const struct heddle_type *type = tr->data->extra->type;
	void **from = tr->data->replicas[tr->from].ptr, **to = tr->data->replicas[tr->to].ptr;
	size_t size = type->size(*from);
	void *buffer = malloc(size ? size : 1);
	if (!buffer)
		return hd_no_memory("a packed object");
	int failed = type->pack(*from, buffer, size) || type->unpack(to, buffer, size);
	free(buffer);
	return failed ? hd_error(HEDDLE_E_KERNEL, "type %s: packing or unpacking failed", type->name) : 0;
}

static int copy_parts(struct copier *c, struct hd_transfer *tr)
{
	size_t n = hd_data_n_parts(tr->data);
	int status = 0;
	for (size_t i = 0; i < n && !status; i++) {
		struct heddle_copy copy = {.from_node = tr->from, .to_node = tr->to};
		hd_data_part_at(tr->data, &tr->data->replicas[tr->from], i, &copy.from);
		hd_data_part_at(tr->data, &tr->data->replicas[tr->to], i, &copy.to);
		status = c->device_of->driver->copy(c->device_of->device, &copy);
	}
	return status;
}

static void *copier_main(void *arg)
{
	struct copier *c = arg;
	heddle_runtime *rt = c->rt;
	hd_lock(&rt->lock);
	for (;;) {
		struct hd_transfer *tr = c->queue;
		if (!tr && rt->stopping)
			break;
		if (!tr) {
			hd_unlock(&rt->lock);
			hd_event_wait(&c->wake, 5, -1);
			hd_lock(&rt->lock);
			continue;
		}
		c->queue = tr->queue_next;
		hd_unlock(&rt->lock);
		tr->start = threads_now(rt);
		/* The descriptions of the datum are constant, the replicas pinned. */
		hd_error(0, "%s", ""); /* what it says afterwards is about this copy */
		tr->status = tr->data->traits & HD_DATA_OBJECT ? copy_object(tr) : copy_parts(c, tr);
		if (tr->status && !heddle_last_error()[0])
			hd_error(tr->status, "a copy between memories failed");
		tr->end = threads_now(rt);
		hd_lock(&rt->lock);
		hd_core_clock(rt, tr->end);
		rt->batch_releaser = -1;
		hd_transfer_done(tr);
		hd_core_settle(rt);
		if (rt->waiters && hd_core_still(rt))
			wake_blocked(rt, NULL); /* as when the last worker falls asleep */
	}
	hd_unlock(&rt->lock);
	return NULL;
}

/* RAM has no copy engine of its own: a copy belongs to the accelerator at its end, or at its start. */
static void threads_transfer(heddle_runtime *rt, struct hd_transfer *tr)
{
	struct hd_threads *th = rt->engine_state.threads;
	struct copier *c = tr->to ? &th->in[tr->to] : &th->out[tr->from];
	tr->queue_next = NULL;
	if (c->queue)
		c->queue_tail->queue_next = tr;
	else
		c->queue = tr;
	c->queue_tail = tr;
	hd_event_set(&c->wake);
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

/* Nobody else can run what worker 0 still holds. */
static void run_what_is_left(heddle_runtime *rt, struct hd_worker *w)
{
	while (w->in_flight) {
		heddle_task *t = hd_core_take(w);
		if (t) {
			run_staged(w, t);
			hd_drain(rt);
			hd_core_settle(rt);
			continue;
		}
		w->idling = 1;
		hd_unlock(&rt->lock);
		hd_event_wait(&w->wake, 0, -1);
		hd_lock(&rt->lock);
		w->idling = 0;
	}
}

/* Drives worker 0 until the waiter has what it wants. */
static int wait_working(heddle_runtime *rt, struct hd_waiter *waiter, double timeout_us)
{
	struct hd_worker *w = &rt->workers[0];
	struct hd_threads *th = rt->engine_state.threads;
	int status = 0, outer = hd_inside_enter();
	th->caller_busy = 1;
	w->driven = 1;
	waiter->event = &w->wake;
	while (!waiter->done(rt, waiter->arg)) {
		uint64_t before = rt->n_ended;
		waiter->woken = 0; /* it may have come true and been undone by another thread's submission */
		int woken = step(w, timeout_us);
		/* what a kernel submitted counts before that has ended, and others hear of what it released */
		hd_drain(rt);
		hd_core_settle(rt);
		if (w->asleep && hd_core_stuck(rt, waiter) && !waiter->done(rt, waiter->arg)) {
			status = hd_core_deadlock(rt);
			break;
		}
		if (!woken && before == rt->n_ended)
			hd_report_hang(rt);
	}
	hd_core_not_hungry(w);
	if (w->asleep) {
		w->asleep = 0;
		rt->n_asleep--;
	}
	w->driven = 0; /* gets no more */
	if (!status)
		run_what_is_left(rt, w);
	th->caller_busy = 0;
	hd_inside_leave(outer);
	wake_blocked(rt, w); /* one of them takes over */
	return status;
}

static int wait_sleeping(heddle_runtime *rt, struct hd_waiter *waiter, double timeout_us)
{
	while (!waiter->done(rt, waiter->arg)) {
		if (rt->config.caller_works && !rt->engine_state.threads->caller_busy)
			return wait_working(rt, waiter, timeout_us);
		if (hd_core_stuck(rt, waiter) && !waiter->done(rt, waiter->arg))
			return hd_core_deadlock(rt);
		uint64_t before = rt->n_ended;
		waiter->woken = 0;
		hd_revoke(rt);
		hd_unlock(&rt->lock);
		int woken = hd_event_wait(waiter->event, 5, timeout_us);
		hd_lock(&rt->lock);
		if (!woken && before == rt->n_ended)
			hd_report_hang(rt);
	}
	return 0;
}

static int threads_wait(heddle_runtime *rt, struct hd_waiter *waiter)
{
	double timeout_us = rt->config.watchdog ? rt->config.watchdog * 1e6 : -1;
	return wait_sleeping(rt, waiter, timeout_us);
}

/* --- Start and stop ----------------------------------------------------------------------------------------------- */

static void *threads_alloc(heddle_runtime *rt, unsigned node, size_t size)
{
	void *p = NULL;
	const struct hd_worker *w = &rt->workers[rt->node_worker[node]];
	const struct heddle_driver *driver = node ? w->driver : &hd_driver_cpu;
	return driver->alloc(node ? w->device : NULL, size ? size : 1, &p) ? NULL : p;
}

static void threads_free(heddle_runtime *rt, unsigned node, void *ptr, size_t size)
{
	(void)size;
	const struct hd_worker *w = &rt->workers[rt->node_worker[node]];
	if (node)
		w->driver->free(w->device, ptr);
	else
		hd_driver_cpu.free(NULL, ptr);
}

static int find_drivers(heddle_runtime *rt)
{
	for (size_t i = 0; i < rt->n_workers; i++) {
		struct hd_worker *w = &rt->workers[i];
		const char *kind = rt->platform->classes[w->class_id].kind;
		w->driver = hd_driver_find(kind);
		if (!w->driver)
			return hd_error(
			    HEDDLE_E_UNSUPPORTED,
			    "worker %s is of kind %s, this build drives %s; in virtual time any kind will do",
			    rt->platform->workers[i].name, kind, hd_driver_names());
	}
	return 0;
}

static int start_copier(heddle_runtime *rt, struct copier *c, size_t node)
{
	c->rt = rt;
	c->device_of = &rt->workers[rt->node_worker[node]];
	if (pthread_create(&c->thread, NULL, copier_main, c))
		return hd_error(HEDDLE_E_MEMORY, "cannot start a copy thread");
	c->started = 1;
	return 0;
}

static int start_copiers(heddle_runtime *rt, struct hd_threads *th)
{
	for (size_t i = 1; i < rt->n_nodes; i++) {
		int status = start_copier(rt, &th->in[i], i);
		if (!status)
			status = start_copier(rt, &th->out[i], i);
		if (status)
			return status;
	}
	return 0;
}

static int start_worker(struct hd_worker *w, struct seat *seat)
{
	const heddle_runtime *rt = w->rt;
	w->driven = 1;
	if (pthread_create(&seat->thread, NULL, worker_main, w))
		return hd_error(HEDDLE_E_MEMORY, "cannot start the thread of worker %s",
		                rt->platform->workers[w->id].name);
	seat->started = 1;
	return 0;
}

/* Waits until the threads of all workers have counted themselves. */
static void await_workers(heddle_runtime *rt, struct hd_threads *th, const size_t *counter)
{
	size_t n = 0;
	for (size_t i = 0; i < rt->n_workers; i++)
		n += th->seats[i].started != 0;
	hd_lock(&rt->lock);
	while (*counter < n) {
		hd_unlock(&rt->lock);
		hd_event_wait(&th->counted, 0, -1);
		hd_lock(&rt->lock);
	}
	hd_unlock(&rt->lock);
}

/* Every worker opens its device in its own thread; with caller_works the caller's is that of worker 0. */
static int start_workers(heddle_runtime *rt, struct hd_threads *th)
{
	int status = 0;
	for (size_t i = rt->config.caller_works ? 1 : 0; i < rt->n_workers && !status; i++)
		status = start_worker(&rt->workers[i], &th->seats[i]);
	if (rt->config.caller_works && !status)
		open_device(&rt->workers[0]);
	await_workers(rt, th, &th->n_seated);
	for (size_t i = 0; i < rt->n_workers && !status; i++)
		if (th->seats[i].status)
			status = hd_error(th->seats[i].status, "%s",
			                  th->seats[i].message ? th->seats[i].message : "a device cannot be opened");
	return status;
}

/* Each worker's thread looks whether it is to stop, or to close its device. */
static void wake_workers(heddle_runtime *rt, struct hd_threads *th)
{
	for (size_t i = 0; i < rt->n_workers; i++)
		if (th->seats[i].started)
			hd_event_set(&rt->workers[i].wake);
}

/* The workers' threads stay for their devices, until threads_release. */
static void threads_close(heddle_runtime *rt)
{
	struct hd_threads *th = rt->engine_state.threads;
	if (!th || !th->seats)
		return;
	hd_lock(&rt->lock);
	rt->stopping = 1;
	hd_unlock(&rt->lock);
	wake_workers(rt, th);
	await_workers(rt, th, &th->n_done);
	for (size_t i = 0; th->in && th->out && i < 2 * rt->n_nodes; i++) {
		struct copier *c = i < rt->n_nodes ? &th->in[i] : &th->out[i - rt->n_nodes];
		if (!c->started)
			continue;
		hd_event_set(&c->wake);
		pthread_join(c->thread, NULL);
	}
	if (rt->config.caller_works && rt->config.bind)
		hd_topology_bind(rt->topology, -1);
}

static void close_devices(heddle_runtime *rt, struct hd_threads *th)
{
	hd_lock(&rt->lock);
	th->closing = 1;
	hd_unlock(&rt->lock);
	wake_workers(rt, th);
	for (size_t i = 0; i < rt->n_workers; i++) {
		if (th->seats[i].started)
			pthread_join(th->seats[i].thread, NULL);
		else
			close_device(&rt->workers[i]);
		free(th->seats[i].message);
	}
}

static void threads_release(heddle_runtime *rt)
{
	struct hd_threads *th = rt->engine_state.threads;
	if (!th)
		return;
	if (th->seats)
		close_devices(rt, th);
	free(th->seats);
	free(th->in);
	free(th->out);
	free(th);
	rt->engine_state.threads = NULL;
}

static int threads_open(heddle_runtime *rt)
{
	int status = find_drivers(rt);
	if (status)
		return status;
	struct hd_threads *th = calloc(1, sizeof *th);
	if (!th)
		return hd_no_memory("threads");
	rt->engine_state.threads = th;
	for (size_t i = 0; i < rt->n_workers; i++) /* asynchronous devices have their own way of not waiting */
		rt->workers[i].burst_us = rt->workers[i].pipeline == 1 ? BURST_US : 0;
	/* The thread that starts the runtime is taken to be the one that will wait on it; were it free to share the
	 * core of another worker, one of them would wait for the other while a core is idle. */
	if (rt->config.caller_works && rt->config.bind && rt->platform->workers[0].core >= 0)
		hd_topology_bind(rt->topology, rt->platform->workers[0].core);
	th->seats = calloc(rt->n_workers, sizeof *th->seats);
	th->in = calloc(rt->n_nodes, sizeof *th->in);
	th->out = calloc(rt->n_nodes, sizeof *th->out);
	if (!th->seats || !th->in || !th->out)
		return hd_no_memory("threads");
	status = start_workers(rt, th);
	return status ? status : start_copiers(rt, th);
}

const struct hd_engine hd_engine_threads = {
    .name = "threads",
    .runs_kernels = 1,
    .open = threads_open,
    .close = threads_close,
    .release = threads_release,
    .now = threads_now,
    .transfer = threads_transfer,
    .worker_ready = threads_worker_ready,
    .wait = threads_wait,
    .alloc = threads_alloc,
    .free = threads_free,
};
