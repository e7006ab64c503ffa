/* The virtual engine: an event clock. One thread, no kernel run, no byte moved, and the same schedule every time.
 *
 * Kernels last as long as the platform says (times noise, if asked for). A transfer first waits for its copy engine (one per
 * accelerator and direction, in order), then for the latency of its link, then moves bytes at a rate that max-min fair
 * sharing gives it among all transfers that cross the same buses at that moment.
 */
#include <math.h>
#include <stdlib.h>
#include "engine.h"

struct event {
	double time;
	uint64_t order; /* ties: first made, first served */
	struct hd_worker *worker;
};

/* The transfers of one accelerator in one direction; the first is the one under way. */
struct channel {
	struct hd_transfer *first, *last;
};

struct hd_virtual {
	double now;
	struct event *heap;  /* owns: ends of kernels, a binary heap */
	size_t n_events, max_events;
	uint64_t next_order;
	struct channel *in, *out; /* per node; own */
	struct hd_transfer **active; /* owns: under way, at most one per channel */
	size_t n_active;
	double updated;      /* when `left` of the active transfers was last brought up to date */
	double *bus_left;    /* owns, scratch: capacity not yet given out */
	unsigned *bus_users; /* owns, scratch */
	struct hd_rng rng;
};

/* --- Kernel events ------------------------------------------------------------------------------------------------------- */

static int before(const struct event *a, const struct event *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

/* There is at most one per worker: the heap never grows. */
static void push_event(struct hd_virtual *v, double time, struct hd_worker *w)
{
	struct event e = {time, v->next_order++, w};
	size_t i = v->n_events++;
	while (i && before(&e, &v->heap[(i - 1) / 2])) {
		v->heap[i] = v->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	v->heap[i] = e;
}

static struct event pop_event(struct hd_virtual *v)
{
	struct event top = v->heap[0], last = v->heap[--v->n_events];
	size_t i = 0;
	for (size_t child = 1; child < v->n_events; child = 2 * i + 1) {
		if (child + 1 < v->n_events && before(&v->heap[child + 1], &v->heap[child]))
			child++;
		if (!before(&v->heap[child], &last))
			break;
		v->heap[i] = v->heap[child];
		i = child;
	}
	v->heap[i] = last;
	return top;
}

static double duration(heddle_runtime *rt, const struct hd_worker *w, const heddle_task *t)
{
	double us = hd_perf_time(t->perf, w->class_id);
	if (rt->config.noise > 0) {
		double factor = 1 + rt->config.noise * hd_rng_normal(&rt->engine_state.virtual_->rng);
		us *= factor > 0.1 ? factor : 0.1;
	}
	return us + rt->config.sched_cost;
}

static void virtual_worker_ready(struct hd_worker *w)
{
	struct hd_virtual *v = w->rt->engine_state.virtual_;
	if (w->running)
		return;
	heddle_task *t = hd_core_take(w);
	if (!t)
		return;
	hd_core_begin(w, t, v->now);
	for (uint32_t i = 0; i < t->n_accesses && (t->special & HD_TASK_PRIVATE); i++)
		hd_private_needs_init(&t->accesses[i]); /* costs nothing here, but then there is something to combine */
	push_event(v, v->now + duration(w->rt, w, t), w);
}

/* --- Transfers ----------------------------------------------------------------------------------------------------------- */

static const struct heddle_link *link_of(heddle_runtime *rt, const struct hd_transfer *tr)
{
	return rt->links[tr->from * rt->n_nodes + tr->to];
}

static void progress(struct hd_virtual *v)
{
	double elapsed = v->now - v->updated;
	v->updated = v->now;
	for (size_t i = 0; i < v->n_active && elapsed > 0; i++) {
		struct hd_transfer *tr = v->active[i];
		double moving = v->now - fmax(tr->end, v->now - elapsed); /* `end` holds when its latency is over */
		if (moving > 0)
			tr->left -= moving * tr->rate;
	}
}

/* The rate a transfer could still get: its link's, or an equal part of the fullest bus on its way. */
static double fair_part(heddle_runtime *rt, struct hd_virtual *v, const struct hd_transfer *tr)
{
	const struct heddle_link *link = link_of(rt, tr);
	double rate = link->bandwidth;
	for (size_t b = 0; b < link->n_buses; b++)
		rate = fmin(rate, v->bus_left[link->buses[b]] / v->bus_users[link->buses[b]]);
	return rate;
}

/* Max-min fairness by progressive filling: the transfer with the smallest fair part gets it and leaves the rest to the others. */
static void share(heddle_runtime *rt, struct hd_virtual *v)
{
	for (size_t i = 0; i < v->n_active; i++) { /* only the buses in use: a machine may have many */
		const struct heddle_link *link = link_of(rt, v->active[i]);
		v->active[i]->rate = -1;
		for (size_t b = 0; b < link->n_buses; b++) {
			v->bus_left[link->buses[b]] = rt->platform->buses[link->buses[b]].bandwidth;
			v->bus_users[link->buses[b]] = 0;
		}
	}
	for (size_t i = 0; i < v->n_active; i++)
		for (size_t b = 0; b < link_of(rt, v->active[i])->n_buses; b++)
			v->bus_users[link_of(rt, v->active[i])->buses[b]]++;
	for (size_t given = 0; given < v->n_active; given++) {
		struct hd_transfer *least = NULL;
		double least_rate = 0;
		for (size_t i = 0; i < v->n_active; i++) {
			if (v->active[i]->rate >= 0)
				continue;
			double rate = fair_part(rt, v, v->active[i]);
			if (!least || rate < least_rate) {
				least = v->active[i];
				least_rate = rate;
			}
		}
		least->rate = least_rate;
		const struct heddle_link *link = link_of(rt, least);
		for (size_t b = 0; b < link->n_buses; b++) {
			v->bus_left[link->buses[b]] -= least_rate;
			v->bus_users[link->buses[b]]--;
		}
	}
}

static void set_out(heddle_runtime *rt, struct hd_transfer *tr)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	progress(v);
	tr->start = v->now;
	tr->end = v->now + link_of(rt, tr)->latency;
	tr->left = (double)tr->data->bytes;
	v->active[v->n_active++] = tr;
	share(rt, v);
}

static struct channel *channel_of(struct hd_virtual *v, const struct hd_transfer *tr)
{
	return tr->to ? &v->in[tr->to] : &v->out[tr->from];
}

static void virtual_transfer(heddle_runtime *rt, struct hd_transfer *tr)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	struct channel *c = channel_of(v, tr);
	tr->queue_next = NULL;
	if (c->first) {
		c->last->queue_next = tr;
		c->last = tr;
		return;
	}
	c->first = c->last = tr;
	set_out(rt, tr);
}

static double arrival(const struct hd_virtual *v, const struct hd_transfer *tr)
{
	return fmax(tr->end, v->updated) + fmax(tr->left, 0) / tr->rate;
}

/* The active transfer that ends first, and when. */
static size_t next_arrival(const struct hd_virtual *v, double *time)
{
	size_t best = 0;
	*time = INFINITY;
	for (size_t i = 0; i < v->n_active; i++) {
		double t = arrival(v, v->active[i]);
		if (t < *time) {
			*time = t;
			best = i;
		}
	}
	return best;
}

static void finish_transfer(heddle_runtime *rt, size_t index)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	struct hd_transfer *tr = v->active[index];
	struct channel *c = channel_of(v, tr);
	progress(v);
	for (size_t i = index + 1; i < v->n_active; i++) /* order kept: it breaks ties */
		v->active[i - 1] = v->active[i];
	v->n_active--;
	c->first = tr->queue_next;
	if (c->first)
		set_out(rt, c->first);
	else
		share(rt, v);
	tr->end = v->now;
	hd_transfer_done(tr);
}

/* --- The clock ----------------------------------------------------------------------------------------------------------- */

static double virtual_now(heddle_runtime *rt)
{
	return rt->engine_state.virtual_->now;
}

static void finish_kernel(heddle_runtime *rt, struct hd_worker *w)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	hd_core_finish(w, w->running, 0, w->run_start, v->now);
	hd_core_refill(w);
	virtual_worker_ready(w);
}

/* The next thing that happens; 0 when there is none. */
static int advance(heddle_runtime *rt)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	double arrives;
	size_t index = next_arrival(v, &arrives);
	if (v->n_events && v->heap[0].time <= arrives) {
		struct event e = pop_event(v);
		v->now = rt->now = e.time;
		finish_kernel(rt, e.worker);
		return 1;
	}
	if (!v->n_active)
		return 0;
	v->now = rt->now = fmax(arrives, v->now);
	rt->batch_releaser = -1;
	finish_transfer(rt, index);
	hd_core_settle(rt);
	return 1;
}

static int virtual_wait(heddle_runtime *rt, struct hd_waiter *waiter)
{
	while (!waiter->done(rt, waiter->arg)) {
		hd_drain(rt);
		hd_core_settle(rt);
		if (waiter->done(rt, waiter->arg))
			break;
		if (!advance(rt))
			return hd_core_deadlock(rt);
	}
	return 0;
}

static void *virtual_alloc(heddle_runtime *rt, unsigned node, size_t size)
{
	(void)node;
	(void)size;
	return rt; /* an address that is not NULL and that nobody uses */
}

static void virtual_free(heddle_runtime *rt, unsigned node, void *ptr, size_t size)
{
	(void)rt;
	(void)node;
	(void)ptr;
	(void)size;
}

static void virtual_close(heddle_runtime *rt)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	if (!v)
		return;
	free(v->heap);
	free(v->in);
	free(v->out);
	free(v->active);
	free(v->bus_left);
	free(v->bus_users);
	free(v);
	rt->engine_state.virtual_ = NULL;
}

static int virtual_open(heddle_runtime *rt)
{
	struct hd_virtual *v = calloc(1, sizeof *v);
	if (!v)
		return hd_no_memory("the virtual engine");
	rt->engine_state.virtual_ = v;
	size_t n_buses = rt->platform->n_buses + 1;
	v->heap = calloc(rt->n_workers + 1, sizeof *v->heap);
	v->in = calloc(rt->n_nodes, sizeof *v->in);
	v->out = calloc(rt->n_nodes, sizeof *v->out);
	v->active = calloc(2 * rt->n_nodes, sizeof(struct hd_transfer *));
	v->bus_left = calloc(n_buses, sizeof *v->bus_left);
	v->bus_users = calloc(n_buses, sizeof *v->bus_users);
	if (!v->heap || !v->in || !v->out || !v->active || !v->bus_left || !v->bus_users)
		return hd_no_memory("the virtual engine");
	hd_rng_seed(&v->rng, rt->config.seed ^ 0x6e6f697365); /* apart from the policy's numbers */
	for (size_t i = rt->n_workers; i-- > 0;) { /* the list is last in, first out: worker 0 comes first */
		rt->workers[i].driven = 1;
		hd_core_hungry(&rt->workers[i]);
	}
	return 0;
}

const struct hd_engine hd_engine_virtual = {
    .name = "virtual",
    .open = virtual_open,
    .close = virtual_close,
    .now = virtual_now,
    .transfer = virtual_transfer,
    .worker_ready = virtual_worker_ready,
    .wait = virtual_wait,
    .alloc = virtual_alloc,
    .free = virtual_free,
};
