/* How submitted tasks get into the graph: a ring of tasks, and a gate that says which submissions must enter the core.
 *
 * A submitting thread prepares its task without the core lock, takes a *ticket*, which is the next number of the ring's
 * tail, and stores the task in the slot of its ticket. The holder of the core lock drains the ring: it puts the tasks
 * into the graph in the order of their tickets. If thread B submits after thread A has returned from submitting, B's
 * ticket is larger, so the order of submissions is kept.
 *
 * The gate (struct hd_gate) says which tickets may be left in the ring. A submission with any other ticket *enters the
 * core*: it takes the lock, drains the ring and settles before it returns. It then opens the gate for the next tickets:
 * submissions with these tickets take no lock, until the tickets are used up or a thread closes the gate (hd_revoke).
 *
 * - No task stays unseen. A thread that must know of all tasks, because it is about to sleep or closes a datum, closes
 *   the gate and then loads the tail. A submission takes its ticket and then loads the gate. All four operations are
 *   sequentially consistent. Therefore either the submission sees that the gate is closed, and enters the core; or the
 *   other thread sees the ticket, and waits for its task.
 * - Gaps. A thread that has taken a ticket may be preempted before it stores the task. A drain ends at this gap. A
 *   thread that needs the tasks behind the gap (a wait, a control, a submission that enters) releases the lock, yields,
 *   and tries again (step_aside). A worker does not fall asleep while there is a gap, but spins. A gap is short: the
 *   submitting thread executes a few instructions between ticket and store; if its submission must enter the core, it
 *   stores the task as soon as it gets the lock.
 * - Refusals. A datum may be closed (partitioned or unregistered) after the submitting thread has checked it. The drain
 *   checks the data of a task again if any datum was closed in between: the submission loads hd_gate.n_closings before
 *   it checks its data, and stores the number in the task's `order`. If a datum is closed, the draining thread writes
 *   the refusal into the record of the submitting thread. That thread is still inside its submission and waits for the
 *   answer. Reason: a datum is closed in the critical section in which the gate is closed and the ring is drained. The
 *   ticket was taken later, so the submission has found the gate closed or, if the gate was opened again, a changed
 *   n_closings.
 * - The window. The gate's `room` allows at most as many tickets as the window has room. A submission that finds no
 *   room enters the core and waits there before it takes a ticket. Simultaneous submissions may all find the last
 *   ticket free; so the window is exceeded by less than the number of submitting threads.
 * - Sleeping workers. A task must not lie in the ring while a worker sleeps that could run or expand it. Therefore,
 *   while workers sleep, a submission enters the core if its codelet can run on the class of a sleeping worker
 *   (`sleepers`), or if the task may be expanded and a sleeping worker is of a class that expands tasks (`expanders`).
 *   If such a submission has given no worker a task, for example because the tasks have unfinished predecessors, the
 *   submissions with the next 1, 2, 4 ... 64 tickets need not enter the core (`patience`), as long as there is a
 *   *lookout*. A lookout is a worker that polls its event (one of these workers looks into the ring every us), or a
 *   worker whose tasks are expected to end within SEEN_WITHIN_US: it drains the ring when it has nothing else to do,
 *   otherwise every 5 us (look_around in workers.c). When the last lookout begins a longer task, the patience ends, and
 *   a sleeping worker is woken if the ring has a task. So a task that a sleeping worker could run stays in the ring for
 *   about SEEN_WITHIN_US at most; or, if a lookout's task takes longer than predicted, until this task has ended. If
 *   all workers sleep, every submission enters the core.
 * - Oversubscription. While more workers are awake than there are hardware threads, a woken worker would only take the
 *   place of another one. Therefore there is patience even after a submission that has given a worker a task, and a
 *   worker with tasks of up to CROWDED_US is a lookout, too. When enough workers have fallen asleep, workers with tasks
 *   longer than SEEN_WITHIN_US are no lookouts any more: so each worker that falls asleep checks whether a lookout is
 *   left (hd_gate_others_look), and so does each worker that begins a task. */
#include "inlet.h"
#include <sched.h>
#include <stdlib.h>
#include "dispatch.h"
#include "errands.h"
#include "expand.h"
#include "task_life.h"
#include "graph/chains.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/task_pool.h"

static const double SEEN_WITHIN_US = 16, CROWDED_US = 64;

/* --- Draining the ring -------------------------------------------------------------------------------------------- */

static void enter(heddle_runtime *rt, heddle_task *t)
{
	rt->inlet.submitted += hd_task_works(t);
	hd_core_insert(rt, t);
}

/* Returns 1 if a datum of the task is closed, because it was partitioned or unregistered after the submitting thread
 * had checked it. Then *refusal names the datum, and the task is freed. */
static int refuse(heddle_runtime *rt, heddle_task *t, struct hd_refusal *refusal)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const heddle_data *d = t->accesses[i].data;
		enum hd_closed why = hd_data_closed(d);
		t->special |= d->deep ? HD_TASK_DEEP : 0;
		if (HD_LIKELY(why == HD_OPEN))
			continue;
		refusal->why = why;
		hd_data_name(d, refusal->name, sizeof refusal->name);
		if (t->extra) {
			free(t->extra->before);
			t->extra->before = NULL;
		}
		/* only the reference of this function: heddle_submit_items fails, so the program gets none */
		t->refs = 1;
		hd_task_unref(rt, t);
		rt->waits.news = 1; /* a thread may wait until the ring is empty */
		return 1;
	}
	return 0;
}

/* Whether a datum has been closed or opened since the submitting thread began to check the data of `t`. */
static inline int is_dated(const heddle_runtime *rt, const heddle_task *t)
{
	/* Relaxed, pairs with nothing: the number is written under the core lock, which is held. */
	return atomic_load_explicit(&rt->gate.n_closings, memory_order_relaxed) != t->order;
}

/* Called for a task of a sub-graph if any datum was closed or opened since its submission: the task fails if one of its
 * data that no access of the hierarchical task covers is closed. */
static __attribute__((cold)) void fail_if_closed(heddle_task *t)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		char name[80];
		enum hd_closed why = hd_data_closed(t->accesses[i].data);
		t->special |= t->accesses[i].data->deep ? HD_TASK_DEEP : 0;
		if (HD_LIKELY(why == HD_OPEN) || hd_chain_cover(hd_task_inside(t), t->accesses[i].data))
			continue;
		t->status =
		    hd_data_closed_error(hd_data_name(t->accesses[i].data, name, sizeof name), why, hd_task_name(t));
		hd_task_message(t, heddle_last_error());
		t->cancelled = 1;
		heddle_task *outer = hd_task_inside(t);
		t->n_accesses = t->n_values = 0;
		t->special = HD_TASK_INSIDE;
		hd_task_inside_of(t)->task = outer;
	}
}

void hd_enter_graph(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	if (HD_UNLIKELY(is_dated(rt, t)))
		fail_if_closed(t);
	enter(rt, t);
}

/* Called if any datum was closed or opened after the thread with this ticket had begun to check the data of `t`: puts
 * the task into the graph, or refuses the task and tells the thread, which is still inside its submission and waits for
 * the answer. */
static void let_in_if_open(heddle_runtime *rt, heddle_task *t, uint64_t ticket)
{
	struct hd_refusal refusal;
	if (!refuse(rt, t, &refusal)) {
		enter(rt, t);
		return;
	}
	struct hd_submitter *s = rt->inlet.submitters;
	/* relaxed, pairs: see the field */
	while (atomic_load_explicit(&s->ticket, memory_order_relaxed) != ticket)
		s = s->next;
	s->refusal = refusal;
}

/* The task of a ticket; NULL: the task has not been stored yet. */
static inline heddle_task *ring_at(struct hd_ring *ring, uint64_t ticket)
{
	/* pairs: the store in hd_ring_put */
	uintptr_t slot = atomic_load_explicit(&ring->slots[ticket % HD_RING_SIZE], memory_order_acquire);
	uintptr_t t = slot ^ hd_ring_parity(ticket);
	return HD_LIKELY(!(t & 1)) ? (heddle_task *)t : NULL;
}

/* Drains the ring, whose first task is `t`. */
static __attribute__((noinline)) void drain(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	uint64_t ticket = rt->inlet.head;
	heddle_task *next = ring_at(&rt->ring, ticket + 1), *later;
	for (; t; t = next, next = later, ticket++) {
		later = next ? ring_at(&rt->ring, ticket + 2) : NULL;
		if (later)
			hd_task_fetch(later);
		if (next)
			hd_task_fetch_data(next);
		rt->inlet.head = ticket + 1;
		if (HD_UNLIKELY(is_dated(rt, t)))
			let_in_if_open(rt, t, ticket);
		else
			enter(rt, t);
	}
}

int hd_drain(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	heddle_task *t = ring_at(&rt->ring, rt->inlet.head);
	if (!t)
		return 0;
	drain(rt, t);
	return 1;
}

int hd_submitted_unseen(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	/* pairs: the ticket in push. Sequentially consistent, so that this load cannot come before the store that
	 * closes the gate in hd_revoke. */
	return atomic_load_explicit(&rt->ring.tail, memory_order_seq_cst) != rt->inlet.head;
}

/* Releases the core lock for a moment, so that the thread with the next ticket can store its task. */
static void step_aside(heddle_runtime *rt)
{
	enum { GLANCES = 100 };
	uint64_t gap = rt->inlet.head;
	hd_core_leave(rt);
	int glances = 0;
	while (!ring_at(&rt->ring, gap) && ++glances < GLANCES)
		hd_cpu_relax();
	if (glances == GLANCES)
		sched_yield();
	hd_core_enter(rt);
}

void hd_drain_until(heddle_runtime *rt, uint64_t end)
{
	while (rt->inlet.head < end)
		if (!hd_drain(rt))
			step_aside(rt);
}

void hd_drain_all(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	/* pairs: the ticket in push. Acquire would suffice: this thread sees each submission that happens before this
	 * call. */
	hd_drain_until(rt, atomic_load_explicit(&rt->ring.tail, memory_order_seq_cst));
}

/* --- The gate ----------------------------------------------------------------------------------------------------- */

void hd_revoke(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	/* Relaxed, pairs with nothing: written under the core lock. If 0 is stored already, that store, too, precedes
	 * the caller's load of the tail. */
	if (atomic_load_explicit(&rt->gate.room, memory_order_relaxed) == 0)
		return;
	/* pairs: the loads in push and hd_gate_is_shut */
	atomic_store_explicit(&rt->gate.limit, 0, memory_order_seq_cst);
	atomic_store_explicit(&rt->gate.room, 0, memory_order_seq_cst);
}

/* Whether the worker will look into the ring within `us` us: see the top of this file. */
static int is_lookout(const struct hd_worker *w, double us)
{
	const struct hd_slot *slot = &w->slots[0];
	if (slot->stream || w->calling)
		return 0; /* the thread of a device with streams sleeps while kernels run, so it does not look */
	if (!slot->task)
		return w->state == HD_AWAKE || w->state == HD_SPINNING;
	double expected = slot->predicted > 0 ? slot->predicted : slot->task->codelet->typical_us;
	return expected < us && w->rt->now - slot->start < us;
}

/* Whether there is a lookout. `sleeper`, which may be NULL, is a worker that is about to sleep. */
static int has_lookout(const heddle_runtime *rt, const struct hd_worker *sleeper)
{
	unsigned n_asleep = rt->count.asleep + (sleeper != NULL);
	if (n_asleep + rt->count.off == rt->n_workers)
		return 0;
	double us = hd_is_crowded(rt, n_asleep) ? CROWDED_US : SEEN_WITHIN_US;
	for (size_t i = 0; i < rt->n_workers; i++)
		if (&rt->workers[i] != sleeper && is_lookout(&rt->workers[i], us))
			return 1;
	return 0;
}

void hd_gate_asleep(struct hd_worker *w, int asleep)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	unsigned *n = &rt->inlet.asleep[w->class_id % 64];
	uint64_t bit = (uint64_t)1 << w->class_id % 64;
	rt->count.asleep += asleep ? 1 : -1u;
	*n += asleep ? 1 : -1u;
	/* pairs: the load in hd_gate_is_shut. Before the worker's thread sleeps, it loads the tail. */
	if (asleep && *n == 1)
		atomic_fetch_or_explicit(&rt->gate.sleepers, bit, memory_order_seq_cst);
	else if (!asleep && *n == 0)
		atomic_fetch_and_explicit(&rt->gate.sleepers, ~bit, memory_order_seq_cst);
	if (asleep && (*n == 1 || !has_lookout(rt, NULL)))
		hd_revoke(rt);
}

int hd_gate_others_look(const struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	return w->rt->inlet.asleep[w->class_id % 64] && has_lookout(w->rt, w);
}

void hd_gate_worker_begins(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	if (!rt->count.asleep || has_lookout(rt, NULL))
		return;
	rt->inlet.step = 0;
	hd_revoke(rt);
	for (size_t i = 0; i < rt->n_workers && hd_submitted_unseen(rt); i++) {
		const struct hd_worker *w = &rt->workers[i];
		if (!hd_worker_is_asleep(w) || w->in_flight || w->starting)
			continue; /* the sleeping thread of an accelerator with tasks would not look into the ring */
		hd_core_wake(rt, &rt->workers[i].wake);
		return;
	}
}

uint64_t hd_expanders(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	uint64_t bits = 0;
	for (size_t i = 0; i < rt->n_workers; i++)
		if (hd_expand_is_for(&rt->workers[i]))
			bits |= (uint64_t)1 << rt->workers[i].class_id % 64;
	return bits;
}

void hd_gate_expanders(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	/* pairs: the load in hd_gate_is_shut */
	atomic_store_explicit(&rt->gate.expanders, hd_expanders(rt), memory_order_seq_cst);
	hd_gate_worker_begins(rt);
}

void hd_gate_open(heddle_runtime *rt, int gave)
{
	HD_HELD(&rt->lock);
	struct hd_inlet *in = &rt->inlet;
	struct hd_gate *gate = &rt->gate;
	unsigned twice = in->step ? 2 * in->step : 1;
	/* the submission has given a worker a task, so the next submission may do so, too */
	int soon = gave && !hd_is_crowded(rt, rt->count.asleep);
	in->step = soon || !rt->count.asleep || !has_lookout(rt, NULL) ? 0 : twice < HD_RING_RUN ? twice : HD_RING_RUN;
	uint64_t room = in->head + (HD_LIKELY(!rt->dispatch.pauses) ? hd_window_room(rt) : 0);
	/* Relaxed: pairs by the store of `room`. */
	atomic_store_explicit(&gate->patience, in->head + in->step, memory_order_relaxed);
	/* pairs: the loads in push and hd_gate_is_shut; see hd_gate */
	atomic_store_explicit(&gate->room, room, memory_order_release);
	atomic_store_explicit(&gate->limit, rt->count.asleep ? 0 : room, memory_order_release);
}

int hd_gate_is_shut(heddle_runtime *rt, const heddle_task *t, uint64_t ticket)
{
	struct hd_gate *gate = &rt->gate;
	/* pairs: the stores in hd_gate_open, hd_revoke and hd_gate_asleep */
	if (ticket >= atomic_load_explicit(&gate->room, memory_order_seq_cst))
		return 1;
	if (ticket < atomic_load_explicit(&gate->patience, memory_order_seq_cst))
		return 0;
	uint64_t sleepers = atomic_load_explicit(&gate->sleepers, memory_order_seq_cst);
	if (sleepers & (t->codelet ? t->codelet->class_bits : UINT64_MAX))
		return 1;
	/* pairs: the store in hd_gate_expanders */
	return HD_UNLIKELY(t->special & HD_TASK_EXPANDS) &&
	       (sleepers & atomic_load_explicit(&gate->expanders, memory_order_seq_cst));
}

void hd_drain_and_close(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	for (;;) {
		hd_revoke(rt);
		if (hd_drain(rt))
			hd_core_settle(rt); /* callbacks run without the lock, so other threads may submit meanwhile */
		else if (hd_submitted_unseen(rt))
			step_aside(rt);
		else
			return;
	}
}
