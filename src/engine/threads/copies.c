/* Copies. Each accelerator node has two copy threads: one for copies to the node, one for copies from the node to main
 * memory. A copy thread takes transfers from its lane, puts their copies on its stream, several at a time, and ends the
 * transfers in the same order. */
#include <stdlib.h>
#include "threads.h"
#include "flow/dispatch.h"
#include "flow/errands.h"
#include "flow/lost_device.h"
#include "flow/wait.h"
#include "machine/hops.h"
#include "memory/blocks.h"
#include "memory/transfers.h"
#include "state/call_context.h"
#include "state/core_lock.h"
#include "state/data.h"

enum { MAX_FLIGHT = 8 }; /* largest number of copies on one stream */
/* us: prefetches are put on a stream while its copies take less than SOON_US, which delays an awaited copy little */
static const double SOON_US = 20;

/* Copies an object whose type allocates its copies. */
static int copy_own(const struct hd_transfer *tr, void *from, void **to)
{
	const struct heddle_type *type = tr->data->extra->type;
	if (!from)
		return hd_error(HEDDLE_E_KERNEL, "type %s: the task that was to write the object has not asked for it",
		                type->name);
	/* a task may be writing the object on the node (heddle_unordered) */
	void *object = hd_object_ensure(to, type, from, tr->to);
	if (!object)
		return HEDDLE_E_MEMORY;
	return type->copy(from, tr->from, object, tr->to)
	           ? hd_error(HEDDLE_E_KERNEL, "type %s: copying failed", type->name)
	           : 0;
}

static int copy_object(struct hd_transfer *tr)
{
	const struct heddle_type *type = tr->data->extra->type;
	void **from = tr->data->replicas[tr->from].ptr, **to = tr->data->replicas[tr->to].ptr;
	if (type->copy)
		return copy_own(tr, *from, to);
	size_t size = type->size(*from);
	void *buffer = malloc(size ? size : 1);
	if (!buffer)
		return hd_no_memory("a packed object");
	int failed = type->pack(*from, buffer, size) || type->unpack(to, buffer, size);
	free(buffer);
	return failed ? hd_error(HEDDLE_E_KERNEL, "type %s: packing or unpacking failed", type->name) : 0;
}

/* Begins the copies of all parts. Returns 0: all copies have ended; HEDDLE_PENDING: only the last copy is under way,
 * and tr->event is its event; or an error. Waits for the copies of all other parts, which are few: only sparse matrices
 * have several parts. */
static int copy_parts(struct hd_copier *c, struct hd_transfer *tr)
{
	const struct hd_worker *w = c->device_of;
	size_t n = hd_data_n_parts(tr->data);
	int status = 0;
	for (size_t i = 0; i < n && !status; i++) {
		struct heddle_copy copy = {.from_node = tr->from, .to_node = tr->to};
		hd_data_part_at(tr->data, &tr->data->replicas[tr->from], i, &copy.from);
		hd_data_part_at(tr->data, &tr->data->replicas[tr->to], i, &copy.to);
		status =
		    i + 1 < n ? hd_device_copy(c, &copy) : w->driver->copy(w->device, c->stream, &copy, &tr->event);
	}
	return status;
}

static void wake_copier(void *arg)
{
	struct hd_copier *c = arg;
	hd_wakeup_set(&c->wake);
}

/* Begins a copy. Returns 0, HEDDLE_PENDING or an error. Called without the core lock: the description of the datum is
 * constant, and its replicas are pinned. */
static int begin_copy(struct hd_copier *c, struct hd_transfer *tr)
{
	const struct hd_worker *w = c->device_of;
	tr->start = hd_threads_now(c->rt);
	hd_error_clear(); /* so that an error found after the copy comes from the driver */
	int status = tr->data->traits & HD_DATA_OBJECT ? copy_object(tr) : copy_parts(c, tr);
	tr->told = status == HEDDLE_PENDING && w->driver->notify &&
	           w->driver->notify(w->device, c->stream, tr->event, wake_copier, c) == 0;
	return status;
}

/* Waits until the first copy under way has ended, and returns 0 or an error. Returns HEDDLE_PENDING if the thread was
 * woken earlier for another reason; a driver without `notify` cannot be interrupted, so it always waits for the
 * copy. */
static int await_copy(struct hd_copier *c)
{
	const struct hd_worker *w = c->device_of;
	struct hd_transfer *tr = c->first;
	hd_error_clear();
	if (!tr->told)
		return w->driver->wait(w->device, tr->event);
	int status = w->driver->query(w->device, tr->event);
	if (status == HEDDLE_PENDING)
		hd_wakeup_wait(&c->wake, 5, -1);
	return status;
}

/* The expected duration of the copy in us. */
static double expected_us(const struct hd_copier *c, const struct hd_transfer *tr)
{
	HD_HELD(&c->rt->lock); /* another thread may change the prediction */
	return tr->hop->latency + (double)tr->data->bytes * tr->hop->us_per_byte;
}

static void join_flight(struct hd_copier *c, struct hd_transfer *tr)
{
	tr->lane_next = NULL;
	if (c->first)
		c->last->lane_next = tr;
	else
		c->first = tr;
	c->last = tr;
	c->n_flight++;
	c->flight_us += tr->expected;
}

static void leave_flight(struct hd_copier *c)
{
	c->flight_us -= c->first->expected;
	c->first = c->first->lane_next;
	c->n_flight--;
	if (!c->first)
		c->flight_us = 0; /* removes accumulated rounding errors */
}

/* Takes the transfer to begin next from the lane; NULL: none may begin now. A transfer on the stream cannot be
 * overtaken any more. Therefore a transfer for which a task waits is put on the stream at once, but any other transfer
 * only just before its turn, so that more urgent transfers can overtake it in the lane. */
static struct hd_transfer *take(struct hd_copier *c)
{
	if (c->n_flight == MAX_FLIGHT)
		return NULL;
	struct hd_transfer *tr = hd_lane_take(c->lane, c->flight_us < SOON_US ? HD_HINTED : HD_AWAITED);
	if (tr)
		tr->expected = expected_us(c, tr);
	return tr;
}

/* Handles a copy that reports a lost device. A failed copy between two devices does not tell which device is lost.
 * Therefore the link between them is closed, and their data go through main memory: each of these copies involves one
 * device only. */
static void note_loss(const struct hd_copier *c, const struct hd_transfer *tr)
{
	heddle_runtime *rt = c->rt;
	struct hd_hop *direct = tr->from && tr->to ? hd_hop_between(rt->hops, tr->from, tr->to) : NULL;
	if (direct)
		hd_hop_set_closed(rt->hops, direct, 1);
	else if (!tr->from || !tr->to)
		hd_core_lose(c->device_of, heddle_last_error());
}

/* Ends a copy with `status`; the thread's last error is its message. */
static void end_copy(struct hd_copier *c, struct hd_transfer *tr, int status)
{
	heddle_runtime *rt = c->rt;
	double now = hd_threads_now(rt);
	tr->status = status;
	if (status && !heddle_last_error()[0])
		hd_error(status, "a copy between memories failed");
	/* before the end of the previous copy, this copy only waited on the stream */
	tr->start = tr->start > c->last_end ? tr->start : c->last_end;
	tr->end = c->last_end = now;
	hd_core_enter(rt);
	hd_core_clock(rt, now);
	rt->dispatch.releaser = -1;
	if (HD_UNLIKELY(status == HEDDLE_E_DEVICE))
		note_loss(c, tr);
	hd_transfer_done(tr);
	hd_core_settle(rt);
	hd_wake_if_still(rt, NULL);
}

void *hd_copier_main(void *arg)
{
	struct hd_copier *c = arg;
	heddle_runtime *rt = c->rt;
	struct hd_inside here = {.rt = rt, .what = HD_INSIDE_OTHER};
	hd_inside_enter(&here);
	hd_core_enter(rt);
	for (;;) {
		struct hd_transfer *tr = take(c);
		if (!tr && !c->first && rt->stopping)
			break;
		hd_core_leave(rt);
		int status = HEDDLE_PENDING;
		if (tr) {
			status = begin_copy(c, tr);
			if (status == HEDDLE_PENDING)
				join_flight(c, tr);
		} else if (c->first) {
			tr = c->first;
			status = await_copy(c);
			if (status != HEDDLE_PENDING)
				leave_flight(c);
		} else {
			hd_wakeup_wait(&c->wake, 5, -1);
		}
		if (status == HEDDLE_PENDING)
			hd_core_enter(rt);
		else
			end_copy(c, tr, status);
	}
	hd_core_leave(rt);
	hd_inside_leave(&here);
	return NULL;
}

void hd_ask_direct_copies(const struct hd_worker *w)
{
	const heddle_runtime *rt = w->rt;
	int some = rt->hops->n > 2 * (rt->n_nodes - 1); /* there are links between accelerators */
	if (!some || !w->node || rt->node_worker[w->node] != w->id)
		return;
	for (unsigned from = 1; from < rt->n_nodes; from++) {
		struct hd_hop *hop = from == w->node ? NULL : hd_hop_between(rt->hops, from, w->node);
		if (!hop)
			continue;
		const struct heddle_driver *driver = w->driver, *other = rt->workers[rt->node_worker[from]].driver;
		int closed = other != driver || !driver->can_copy_directly ||
		             !driver->can_copy_directly(w->device, from, w->node);
		hd_core_enter(w->rt); /* other workers close other links, which the table of links counts */
		hd_hop_set_closed(rt->hops, hop, closed);
		hd_core_leave(w->rt);
	}
}

void hd_threads_transfer(heddle_runtime *rt, struct hd_transfer *tr)
{
	hd_core_wake(rt, &hd_copier_for(rt, tr->from, tr->to)->wake);
}
