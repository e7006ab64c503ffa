/* The threaded engine: clock, memory, start and stop. */
#define _GNU_SOURCE
#include "threads.h"
#include <stdlib.h>
#include <string.h>
#include "team.h"
#include "driver/driver.h"
#include "flow/dispatch.h"
#include "flow/errands.h"
#include "flow/expand.h"
#include "machine/machine.h"
#include "state/core_lock.h"
#include "state/engine.h"
#include "state/memory.h"

static double threads_now(heddle_runtime *rt)
{
	return hd_threads_now(rt);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

/* Header of a block of main memory. Blocks have headers only if some driver allocates main memory for fast copies. The
 * block follows, aligned to a cache line. */
union header {
	const struct hd_worker *by; /* the worker whose driver has allocated the block; NULL: ordinary memory */
	char line[HD_CACHE_LINE];
};

/* Allocates main memory that the worker's driver copies fastest from and to; ordinary memory if the driver fails. */
static int alloc_for_copies(const struct hd_worker *w, size_t size, void **out)
{
	void *p = NULL;
	if (w->driver->alloc_host(w->device, sizeof(union header) + size, &p)) {
		w = NULL;
		int status = hd_driver_cpu.alloc(NULL, sizeof(union header) + size, &p);
		if (status)
			return status;
	}
	union header *h = p;
	h->by = w;
	*out = h + 1;
	return 0;
}

static void free_for_copies(void *ptr)
{
	union header *h = (union header *)ptr - 1;
	if (h->by)
		h->by->driver->free_host(h->by->device, h);
	else
		hd_driver_cpu.free(NULL, h);
}

static int alloc_main(heddle_runtime *rt, size_t size, void **out)
{
	const struct hd_worker *w = rt->engine_state.threads->host_memory;
	return w ? alloc_for_copies(w, size, out) : hd_driver_cpu.alloc(NULL, size, out);
}

static void free_main(heddle_runtime *rt, void *ptr)
{
	if (rt->engine_state.threads->host_memory)
		free_for_copies(ptr);
	else
		hd_driver_cpu.free(NULL, ptr);
}

static int threads_alloc(heddle_runtime *rt, unsigned node, size_t size, void **out)
{
	const struct hd_worker *w = &rt->workers[rt->node_worker[node]];
	if (!node)
		return alloc_main(rt, size ? size : 1, out);
	return w->driver->alloc(w->device, size ? size : 1, out);
}

static void threads_free(heddle_runtime *rt, unsigned node, void *ptr, size_t size)
{
	(void)size;
	const struct hd_worker *w = &rt->workers[rt->node_worker[node]];
	if (node)
		w->driver->free(w->device, ptr);
	else
		free_main(rt, ptr);
}

/* Whether worker i page-locks memory for its driver: one device does so for all devices of a kind. */
static int pins(const heddle_runtime *rt, size_t i)
{
	const struct heddle_driver *driver = rt->workers[i].driver;
	for (size_t k = 0; k < i; k++)
		if (rt->workers[k].driver == driver)
			return 0;
	return driver->pin != NULL;
}

static void unpin_first(heddle_runtime *rt, void *memory, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pins(rt, i))
			rt->workers[i].driver->unpin(rt->workers[i].device, memory);
}

static int threads_pin(heddle_runtime *rt, void *memory, size_t size)
{
	for (size_t i = 0; i < rt->n_workers; i++) {
		const struct hd_worker *w = &rt->workers[i];
		int status = pins(rt, i) ? w->driver->pin(w->device, memory, size) : 0;
		if (status) {
			unpin_first(rt, memory, i);
			return status;
		}
	}
	return 0;
}

static void threads_unpin(heddle_runtime *rt, void *memory)
{
	unpin_first(rt, memory, rt->n_workers);
}

/* --- Start and stop ----------------------------------------------------------------------------------------------- */

static int find_drivers(heddle_runtime *rt)
{
	for (size_t i = 0; i < rt->n_workers; i++) {
		struct hd_worker *w = &rt->workers[i];
		const char *kind = rt->platform->classes[w->class_id].kind;
		w->driver = hd_driver_find(kind);
		if (!w->driver)
			return hd_error(HEDDLE_E_UNSUPPORTED,
			                "worker %s is of kind %s, this build drives %s; a plug-in may drive others "
			                "(HEDDLE_PLUGINS), and in "
			                "virtual time any kind will do",
			                rt->platform->workers[i].name, kind, hd_driver_names());
		if (w->driver->abi != HEDDLE_DRIVER_ABI)
			return hd_error(HEDDLE_E_UNSUPPORTED,
			                "the driver of kind %s is made for version %u of the driver interface, this "
			                "library needs %d",
			                kind, w->driver->abi, HEDDLE_DRIVER_ABI);
	}
	return 0;
}

/* Sets the fields that depend on the driver: a worker without streams has one slot, and takes bursts if it holds one
 * task at a time. */
static void use_driver(struct hd_worker *w)
{
	int streams = w->driver->open_stream != NULL;
	if (!streams)
		w->n_slots = 1;
	w->burst_us = w->depth == 1 && !streams ? HD_BURST_US : 0;
}

/* The copier for copies between two nodes: the copier `in` of the destination; or the copier `out` of the source, if
 * the destination is main memory, which has no copiers. */
struct hd_copier *hd_copier_for(heddle_runtime *rt, unsigned from, unsigned to)
{
	struct hd_threads *th = rt->engine_state.threads;
	return to ? &th->in[to] : &th->out[from];
}

static int threads_copy(heddle_runtime *rt, const struct heddle_copy *copy)
{
	return hd_device_copy(hd_copier_for(rt, copy->from_node, copy->to_node), copy);
}

static int start_copier(heddle_runtime *rt, struct hd_copier *c, size_t node, struct hd_lane *lane)
{
	c->rt = rt;
	c->lane = lane;
	c->device_of = &rt->workers[rt->node_worker[node]];
	if (pthread_create(&c->thread, NULL, hd_copier_main, c))
		return hd_error(HEDDLE_E_MEMORY, "cannot start a copy thread");
	c->started = 1;
	return 0;
}

static int start_copiers(heddle_runtime *rt, struct hd_threads *th)
{
	for (size_t i = 1; i < rt->n_nodes; i++) {
		int status = start_copier(rt, &th->in[i], i, &rt->memories[i].in);
		if (!status)
			status = start_copier(rt, &th->out[i], i, &rt->memories[i].out);
		if (status)
			return status;
	}
	return 0;
}

static int start_worker(struct hd_worker *w, struct hd_seat *seat)
{
	const heddle_runtime *rt = w->rt;
	if (pthread_create(&seat->thread, NULL, hd_worker_main, w))
		return hd_error(HEDDLE_E_MEMORY, "cannot start the thread of worker %s",
		                rt->platform->workers[w->id].name);
	seat->started = 1;
	return 0;
}

/* Waits until the threads of all workers have incremented *counter. */
static void await_workers(heddle_runtime *rt, struct hd_threads *th, const size_t *counter)
{
	size_t n = 0;
	for (size_t i = 0; i < rt->n_workers; i++)
		n += th->seats[i].started != 0;
	hd_core_enter(rt);
	while (*counter < n) {
		hd_core_leave(rt);
		hd_wakeup_wait(&th->counted, 0, -1);
		hd_core_enter(rt);
	}
	hd_core_leave(rt);
}

/* Wakes each worker's thread, so that it reads rt->stopping, th->all_open and th->closing again. */
static void wake_workers(heddle_runtime *rt, struct hd_threads *th)
{
	for (size_t i = 0; i < rt->n_workers; i++)
		if (th->seats[i].started)
			hd_wakeup_set(&rt->workers[i].wake);
}

/* Called when all devices are open: lets each worker's thread ask its device about direct copies. */
static void ask_devices(heddle_runtime *rt, struct hd_threads *th)
{
	hd_core_enter(rt);
	th->all_open = 1;
	hd_gate_expanders(rt);
	hd_core_leave(rt);
	wake_workers(rt, th);
	if (rt->config.caller_works)
		hd_ask_direct_copies(&rt->workers[0]);
	await_workers(rt, th, &th->n_asked);
}

/* Starts the threads of workers; each opens the device of its worker. With caller_works, the calling thread opens the
 * device of worker 0. */
static int start_workers(heddle_runtime *rt, struct hd_threads *th)
{
	int status = 0;
	hd_core_enter(rt);
	for (size_t i = rt->config.caller_works ? 1 : 0; i < rt->n_workers; i++)
		hd_worker_enter(&rt->workers[i], HD_AWAKE);
	hd_core_leave(rt);
	for (size_t i = rt->config.caller_works ? 1 : 0; i < rt->n_workers && !status; i++)
		status = start_worker(&rt->workers[i], &th->seats[i]);
	if (rt->config.caller_works && !status)
		hd_device_open(&rt->workers[0]);
	await_workers(rt, th, &th->n_seated);
	for (size_t i = 0; i < rt->n_workers && !status; i++)
		if (th->seats[i].status)
			status = hd_error(th->seats[i].status, "%s",
			                  th->seats[i].message ? th->seats[i].message : "a device cannot be opened");
	if (!status)
		ask_devices(rt, th);
	return status;
}

/* Ends the copy threads. The threads of workers run no more tasks, but exist until threads_release, when they close
 * their devices. */
static void threads_close(heddle_runtime *rt)
{
	struct hd_threads *th = rt->engine_state.threads;
	if (!th || !th->seats)
		return;
	hd_core_enter(rt);
	rt->stopping = 1;
	hd_core_leave(rt);
	wake_workers(rt, th);
	await_workers(rt, th, &th->n_done);
	for (size_t i = 0; th->in && th->out && i < 2 * rt->n_nodes; i++) {
		struct hd_copier *c = i < rt->n_nodes ? &th->in[i] : &th->out[i - rt->n_nodes];
		if (!c->started)
			continue;
		hd_wakeup_set(&c->wake);
		pthread_join(c->thread, NULL);
	}
	if (rt->config.caller_works && rt->config.bind)
		hd_topology_give_back(rt->topology);
}

static void close_devices(heddle_runtime *rt, struct hd_threads *th)
{
	hd_core_enter(rt);
	th->closing = 1;
	hd_core_leave(rt);
	wake_workers(rt, th);
	for (size_t i = 0; i < rt->n_workers; i++) {
		if (th->seats[i].started)
			pthread_join(th->seats[i].thread, NULL);
		else
			hd_device_close(&rt->workers[i]);
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
	rt->n_posts = 0;
	free(rt->posts);
	free(th->in);
	free(th->out);
	free(th);
	rt->engine_state.threads = NULL;
}

static struct hd_seat *make_seats(size_t n)
{
	struct hd_seat *seats = aligned_alloc(HD_CACHE_LINE, n * sizeof *seats);
	if (seats)
		memset(seats, 0, n * sizeof *seats);
	return seats;
}

/* Binds the calling thread to the core of worker 0 if caller_works is set: this thread will probably wait for tasks and
 * then run the tasks of worker 0. Without the binding, it could share a core with another worker while the core of
 * worker 0 is idle. Called after all other threads were started, because new threads inherit the binding. heddle_stop
 * restores the binding of this thread, even if another thread calls it. */
static void bind_caller(const heddle_runtime *rt)
{
	if (rt->config.caller_works && rt->config.bind && rt->platform->workers[0].core >= 0)
		hd_topology_borrow(rt->topology, rt->platform->workers[0].core);
}

static int threads_open(heddle_runtime *rt)
{
	int status = find_drivers(rt);
	if (status)
		return status;
	struct hd_threads *th = aligned_alloc(HD_CACHE_LINE, sizeof *th);
	if (!th)
		return hd_no_memory("threads");
	memset(th, 0, sizeof *th);
	rt->engine_state.threads = th;
	for (size_t i = 0; i < rt->n_workers; i++)
		use_driver(&rt->workers[i]);
	th->seats = make_seats(rt->n_workers);
	for (size_t i = 0; th->seats && i < rt->n_workers; i++)
		rt->workers[i].seat = &th->seats[i];
	rt->posts = calloc((rt->n_workers + 63) / 64, sizeof *rt->posts);
	rt->n_posts = rt->posts ? (rt->n_workers + 63) / 64 : 0;
	th->in = calloc(rt->n_nodes, sizeof *th->in);
	th->out = calloc(rt->n_nodes, sizeof *th->out);
	if (!th->seats || !rt->posts || !th->in || !th->out)
		return hd_no_memory("threads");
	status = start_workers(rt, th);
	for (size_t i = 0; i < rt->n_workers && !status && !th->host_memory; i++)
		if (rt->workers[i].node && rt->workers[i].driver->alloc_host)
			th->host_memory = &rt->workers[i];
	if (!status)
		status = start_copiers(rt, th);
	if (!status)
		bind_caller(rt);
	return status;
}

const struct hd_engine hd_engine_threads = {
    .name = "threads",
    .runs_kernels = 1,
    .open = threads_open,
    .close = threads_close,
    .release = threads_release,
    .now = threads_now,
    .transfer = hd_threads_transfer,
    .copy = threads_copy,
    .worker_ready = hd_threads_worker_ready,
    .take_back = hd_worker_take_back,
    .start = hd_threads_start,
    .wait = hd_threads_wait,
    .may_wait = hd_threads_may_wait,
    .running_here = hd_threads_running_here,
    .call_team = hd_team_call,
    .team_barrier = hd_team_meet,
    .find_eager = hd_inner_exceeds,
    .alloc = threads_alloc,
    .free = threads_free,
    .pin = threads_pin,
    .unpin = threads_unpin,
};
