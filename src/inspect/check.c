/* Checks the invariants of a runtime's data structures, on which all other code relies.
 *
 * First, all live tasks are collected from the pool, and all data from the list of handles. Then every list is
 * followed: each task in the list must be live, in a state that belongs to this list, and in no other list. Finally,
 * the numbers counted on the way are compared with the fields of each task and datum and with the runtime's counters.
 * Free tasks and tasks in the ring are left out, because other threads may change them. */
#include "check.h"
#include <stdlib.h>
#include "flow/dispatch.h"
#include "flow/errands.h"
#include "flow/event.h"
#include "flow/group.h"
#include "flow/wait.h"
#include "flow/worker_set.h"
#include "misuse/misuse.h"
#include "perf/perf.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/memory.h"
#include "state/process.h"
#include "state/task_pool.h"

static const char *const state_names[] = {"outside", "waiting",  "ready",    "picked",   "staged",
                                          "running", "detached", "expanded", "released", "ended"};

static int is_live(const heddle_task *t)
{
	/* Loaded only once: another thread may be reusing the memory of an ended task (HD_ENDED) without the lock. */
	unsigned state = hd_check_state(t);
	return state != HD_OUTSIDE && state != HD_ENDED;
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */

static void count_task(const heddle_task *t, void *arg)
{
	*(size_t *)arg += (size_t)is_live(t);
}

static void note_task(const heddle_task *t, void *arg)
{
	struct hd_check *c = arg;
	if (is_live(t))
		c->tasks[c->n_tasks++] = (struct hd_checked_task){.key = (uint64_t)(uintptr_t)t, .task = t};
}

int hd_check_by_key(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
	return left < right ? -1 : left > right;
}

static int collect_tasks(struct hd_check *c)
{
	size_t n = 0;
	hd_pool_each(c->rt->pool, count_task, &n);
	if (n != hd_live(c->rt))
		return hd_broken("%zu tasks are alive; n_inserted - n_ended says %llu", n,
		                 (unsigned long long)hd_live(c->rt));
	c->tasks = malloc((n + 1) * sizeof *c->tasks);
	if (!c->tasks)
		return hd_no_memory("a check");
	hd_pool_each(c->rt->pool, note_task, c);
	qsort(c->tasks, c->n_tasks, sizeof *c->tasks, hd_check_by_key);
	return 0;
}

struct hd_checked_task *hd_check_find_task(const struct hd_check *c, const heddle_task *t)
{
	size_t i = hd_search(c->tasks, c->n_tasks, sizeof *c->tasks, (uint64_t)(uintptr_t)t);
	return i < c->n_tasks && c->tasks[i].task == t ? &c->tasks[i] : NULL;
}

int hd_check_place(struct hd_check *c, const heddle_task *t, enum hd_place place, const char *list)
{
	struct hd_checked_task *seen = hd_check_find_task(c, t);
	if (!seen)
		return hd_broken("%s: it holds a task that is not alive", list);
	if (seen->place != HD_NOWHERE)
		return hd_broken("%s: task %llu is in this list twice, or in another, too", list,
		                 (unsigned long long)t->order);
	seen->place = place;
	return 0;
}

/* --- Lists of tasks ----------------------------------------------------------------------------------------------- */

int hd_check_queue(struct hd_check *c, const heddle_task *first, const heddle_task *tail, enum hd_place place,
                   const char *name, uint64_t *n)
{
	const heddle_task *last = NULL;
	for (const heddle_task *t = first; t; t = t->link.next) {
		int status = hd_check_place(c, t, place, name);
		if (status)
			return status;
		if (n)
			++*n;
		last = t;
	}
	return !last || last == tail ? 0 : hd_broken("%s: its tail is not its last task", name);
}

static int check_batch(struct hd_check *c)
{
	const heddle_runtime *rt = c->rt;
	int status = rt->dispatch.n_batch > rt->dispatch.max_batch
	                 ? hd_broken("the batch of ready tasks is longer than its array")
	                 : 0;
	for (size_t i = 0; i < rt->dispatch.n_batch && !status; i++)
		status = hd_check_place(c, rt->dispatch.batch[i], HD_IN_BATCH, "the batch of ready tasks");
	return status;
}

static int check_queues(struct hd_check *c)
{
	const heddle_runtime *rt = c->rt;
	int status = check_batch(c);
	if (!status)
		status = hd_check_queue(c, rt->dispatch.controls.first, rt->dispatch.controls.last, HD_AMONG_CONTROLS,
		                        "the list of ready controls", NULL);
	if (!status)
		status = hd_check_queue(c, rt->dispatch.called.first, rt->dispatch.called.last, HD_CALLED,
		                        "the list of callbacks to call", NULL);
	uint64_t n_parked = 0;
	if (!status)
		status = hd_check_queue(c, rt->dispatch.parked.first, rt->dispatch.parked.last, HD_PARKED,
		                        "the list of tasks for retired workers", &n_parked);
	if (!status && n_parked != rt->count.parked)
		status = hd_broken("%llu tasks wait for retired workers; parked says %llu",
		                   (unsigned long long)n_parked, (unsigned long long)rt->count.parked);
	for (size_t i = 0; i < rt->n_nodes && !status; i++)
		status = hd_check_queue(c, rt->memories[i].waiting.first, rt->memories[i].waiting.last,
		                        HD_WAITS_FOR_ROOM, "the list of tasks that wait for room on a node", NULL);
	return status;
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* Checks the number of unordered accesses to each datum, and counts them for the UNREGISTER task that waits for them.
 * */
static int check_unordered(struct hd_check *c)
{
	for (size_t i = 0; i < c->n_data; i++) {
		const struct hd_data_extra *extra = c->data[i].data->extra;
		struct hd_checked_task *end =
		    extra && extra->unregister ? hd_check_find_task(c, extra->unregister) : NULL;
		if (end)
			end->pending++;
		if ((extra ? extra->n_unordered : 0) != c->data[i].unordered || (extra && extra->unregister && !end))
			return hd_broken("%s: tasks have %u unordered accesses to it; n_unordered says %u",
			                 hd_check_name(&c->data[i]), c->data[i].unordered,
			                 extra ? extra->n_unordered : 0);
	}
	return 0;
}

static int check_edges(struct hd_check *c)
{
	for (size_t i = 0; i < c->n_tasks; i++) {
		const heddle_task *t = c->tasks[i].task;
		for (const struct hd_edge *e = t->extra ? t->extra->after : NULL; e; e = e->next) {
			struct hd_checked_task *to = hd_check_find_task(c, e->to);
			if (!to)
				return hd_broken("task %llu: what is to follow it is not alive",
				                 (unsigned long long)t->order);
			to->pending++;
			to->edges++;
		}
	}
	return 0;
}

/* Whether the task was found in a list that fits its state. A task that waits for nothing must be in a list or belong
 * to the policy; otherwise it would never run. */
static int may_be_at(const struct hd_checked_task *seen)
{
	const heddle_task *t = seen->task;
	enum hd_place place = seen->place;
	switch (hd_check_state(t)) {
	case HD_WAITING:
		return t->pending ? place == HD_NOWHERE
		                  : place == HD_AMONG_CONTROLS || place == HD_WAITS_FOR_TOKEN ||
		                        place == HD_TO_EXPAND || (place == HD_WAITS_FOR_ROOM && !t->codelet);
	case HD_READY: return place == HD_NOWHERE || place == HD_IN_BATCH || place == HD_PARKED;
	case HD_PICKED: return place == (t->pending ? HD_NOWHERE : HD_WAITS_FOR_ROOM);
	case HD_STAGED: return place == (t->codelet ? HD_ON_WORKER : HD_NOWHERE);
	case HD_RELEASED: return place == HD_NOWHERE || place == HD_CALLED;
	case HD_DETACHED: return place == HD_NOWHERE || (place == HD_CALLED && !t->codelet);
	default: return place == HD_NOWHERE;
	}
}

static int check_task(const struct hd_check *c, const struct hd_checked_task *seen)
{
	const heddle_task *t = seen->task;
	unsigned state = hd_check_state(t);
	unsigned long long order = t->order;
	if (t->order >= c->rt->inlet.next_order || (t->codelet != NULL) != (t->kind == HD_TASK_CODELET))
		return hd_broken("task %llu: its number or its kind cannot be", order);
	if (t->pending != seen->pending)
		return hd_broken("task %llu, %s, waits for %u things; pending says %u", order, state_names[state],
		                 seen->pending, t->pending);
	if (!may_be_at(seen))
		return hd_broken("task %llu, %s, is in no list that will be looked at, or in one for other tasks",
		                 order, state_names[state]);
	/* one reference of the graph, one per explicit dependency, and one if the program has a reference */
	if (t->refs != 1 + seen->edges && t->refs != 2 + seen->edges)
		return hd_broken("task %llu: %u explicit dependencies lead to it; refs says %u", order, seen->edges,
		                 t->refs);
	unsigned n_events = t->extra ? t->extra->n_events : 0;
	if ((state == HD_DETACHED && !n_events) || (n_events && state != HD_RUNNING && state != HD_DETACHED))
		return hd_broken("task %llu, %s, waits for %u events", order, state_names[state], n_events);
	if (t->codelet && state >= HD_PICKED && t->worker >= c->rt->n_workers)
		return hd_broken("task %llu: there is no worker %u", order, t->worker);
	return 0;
}

/* Checks the number of tasks that wait for events, and that each event is either awaited or free. */
static int check_events(struct hd_check *c)
{
	heddle_runtime *rt = c->rt;
	uint64_t n_detached = 0, n_events = hd_events_free(rt) + rt->events.n_orphans;
	for (size_t i = 0; i < c->n_tasks; i++) {
		const heddle_task *t = c->tasks[i].task;
		n_detached += hd_check_state(t) == HD_DETACHED;
		n_events += t->extra ? t->extra->n_events : 0;
	}
	if (n_detached != rt->count.detached)
		return hd_broken("%llu tasks wait for events; n_detached says %llu", (unsigned long long)n_detached,
		                 (unsigned long long)rt->count.detached);
	return n_events == rt->events.n_made
	           ? 0
	           : hd_broken("%llu events are waited for or not in use; n_made of events says %llu",
	                       (unsigned long long)n_events, (unsigned long long)rt->events.n_made);
}

static int check_tasks(struct hd_check *c)
{
	const heddle_runtime *rt = c->rt;
	uint64_t n_ready = 0, n_held = 0, n_calling = 0;
	for (size_t i = 0; i < c->n_tasks; i++) {
		const struct hd_checked_task *seen = &c->tasks[i];
		unsigned state = hd_check_state(seen->task);
		int status = check_task(c, seen);
		if (status)
			return status;
		n_ready += state == HD_READY && seen->place == HD_NOWHERE;
		n_held += state == HD_STAGED && !seen->task->codelet;
		n_calling += state == HD_RELEASED && seen->place == HD_NOWHERE;
	}
	if (n_ready != rt->count.ready)
		return hd_broken("the policy has been given %llu tasks that it has not given back; n_ready says %zu",
		                 (unsigned long long)n_ready, rt->count.ready);
	if (n_held != rt->count.held)
		return hd_broken("the program holds %llu data; n_held says %llu", (unsigned long long)n_held,
		                 (unsigned long long)rt->count.held);
	if (n_calling + rt->count.beginning != rt->count.calling)
		return hd_broken("%llu callbacks are being called; n_calling says %u", (unsigned long long)n_calling,
		                 rt->count.calling);
	return 0;
}

/* --- Groups, counters, errands, holds and models ------------------------------------------------------------------ */

static int check_size_class(const struct hd_size_class *class)
{
	size_t n = 0;
	for (const heddle_task *t = class->open; t; t = t->link.next)
		if (is_live(t) || ++n > class->n_open)
			return hd_broken("the pool of tasks: a free task is alive, or its list is longer than n_open");
	if (n != class->n_open)
		return hd_broken("the pool of tasks: %zu tasks are free in the open bundle; n_open says %zu", n,
		                 class->n_open);
	for (const heddle_task *bundle = class->bundles; bundle; bundle = bundle->link.prev) {
		n = 0;
		for (const heddle_task *t = bundle; t && n <= HD_BUNDLE; t = t->link.next)
			n += !is_live(t);
		if (n != HD_BUNDLE)
			return hd_broken("the pool of tasks: a bundle has %zu free tasks instead of %d", n, HD_BUNDLE);
	}
	return 0;
}

/* Checks the counts of the groups. A group also counts its tasks in the ring, which the check does not see. */
static int check_groups(struct hd_check *c)
{
	uint64_t n = 0;
	for (size_t i = 0; i < c->n_tasks; i++)
		n += c->tasks[i].task->extra && c->tasks[i].task->extra->group;
	uint64_t n_live = hd_groups_live(c->rt);
	return n <= n_live ? 0
	                   : hd_broken("%llu tasks are in groups, which count %llu", (unsigned long long)n,
	                               (unsigned long long)n_live);
}

static int check_pool(struct hd_check *c)
{
	int status = 0;
	for (size_t i = 0; i < HD_SIZE_CLASSES && !status; i++)
		status = check_size_class(&c->rt->pool->classes[i]);
	return status;
}

/* Relaxed, although the field pairs with others: only the value is used here, and the core lock guards writes to the
 * gate. */
static uint64_t number(const _Atomic uint64_t *field)
{
	return atomic_load_explicit(field, memory_order_relaxed);
}

static int check_inlet(struct hd_check *c)
{
	const heddle_runtime *rt = c->rt;
	const struct hd_inlet *in = &rt->inlet;
	if (in->head > number(&rt->ring.tail))
		return hd_broken("more tasks were taken out of the ring than were put in");
	uint64_t room = number(&rt->gate.room), limit = number(&rt->gate.limit), sleepers = 0;
	if (room > in->head + HD_RING_SIZE || (limit && (limit != room || rt->count.asleep)))
		return hd_broken("the gate is open for more submissions than it may be");
	unsigned asleep = 0;
	for (unsigned i = 0; i < 64; i++) {
		asleep += in->asleep[i];
		sleepers |= (uint64_t)(in->asleep[i] != 0) << i;
	}
	if (asleep != rt->count.asleep || sleepers != number(&rt->gate.sleepers))
		return hd_broken("the gate does not know which workers sleep");
	return 0;
}

static int check_misuse(struct hd_check *c)
{
	const char *wrong = c->rt->misuse ? hd_misuse_broken(c->rt) : NULL;
	return wrong ? hd_broken("checking mode: %s", wrong) : 0;
}

/* Checks that errands.slow is set if slow errands wait: otherwise hd_core_leave would not do them. */
static int check_errands(struct hd_check *c)
{
	const heddle_runtime *rt = c->rt;
	int some = rt->unwanted || rt->dead || rt->wanted.n || rt->short_logs;
	return some && !rt->errands.slow ? hd_broken("whoever leaves the core does not know of slow errands") : 0;
}

static int check_waiters(struct hd_check *c)
{
	for (const struct hd_waiter *w = c->rt->waits.waiters; w; w = w->next)
		if (!w->event || !w->done)
			return hd_broken("a thread waits for nothing, or cannot be woken");
	return 0;
}

static int is_listed_at_its_datum(const struct hd_hold *hold)
{
	const struct hd_data_extra *extra = hold->task->accesses[0].data->extra;
	const struct hd_hold *h = extra ? extra->holds : NULL;
	while (h && h != hold)
		h = h->next_of_data;
	return h != NULL;
}

/* Checks the holds. Each has an ACQUIRE task of its own, which is staged as soon as the program has the datum. */
static int check_holds(struct hd_check *c)
{
	size_t n = 0;
	for (const struct hd_hold *h = c->rt->waits.holds; h; h = h->next) {
		if (!hd_check_find_task(c, h->task) || h->task->kind != HD_TASK_ACQUIRE || h->task->given_up ||
		    (h->taken && hd_check_state(h->task) != HD_STAGED) || (h->next && h->next->prev != h) ||
		    !is_listed_at_its_datum(h) || ++n > c->n_tasks)
			return hd_broken("the list of what the program has acquired or asked for is wrong");
	}
	return 0;
}

/* Checks the use counts of model entries (hd_perf_use): tasks in the graph and codelets use entries. Events of the
 * recorder use entries, too, but are not counted here. */
static int check_models(struct hd_check *c)
{
	const heddle_runtime *rt = c->rt;
	const char *codelet = NULL;
	uint64_t n_users, n = 0;
	const char *wrong = hd_perf_check(rt->perf, &codelet, &n_users);
	if (wrong)
		return hd_broken("the model of %s: %s", codelet, wrong);
	for (size_t i = 0; i < c->n_tasks; i++) {
		const heddle_task *t = c->tasks[i].task;
		n += t->perf != NULL;
		if (t->perf && !t->perf->users)
			return hd_broken("task %llu: its size may leave the model at any time: users is 0",
			                 (unsigned long long)t->order);
	}
	for (const heddle_codelet *k = rt->codelets; k; k = k->next)
		n += k->last_entry != NULL;
	return n == n_users || (rt->recorder && n < n_users)
	           ? 0
	           : hd_broken("sizes in models are used %llu times; their users say %llu", (unsigned long long)n,
	                       (unsigned long long)n_users);
}

int hd_selfcheck(heddle_runtime *rt)
{
	static int (*const steps[])(struct hd_check *) = {
	    collect_tasks,    hd_check_collect_data, check_queues,    hd_check_unexpanded, hd_check_workers,
	    hd_check_chains,  hd_check_accesses,     check_unordered, check_edges,         check_tasks,
	    hd_check_insides, hd_check_loads,        hd_check_data,   hd_check_memories,   check_pool,
	    check_inlet,      check_waiters,         check_holds,     check_events,        check_models,
	    check_groups,     check_misuse,          check_errands,   hd_check_expanders,
	};
	HD_HELD(&rt->lock);
	struct hd_check c = {.rt = rt};
	int status = 0;
	for (size_t i = 0; i < sizeof steps / sizeof *steps && !status; i++)
		status = steps[i](&c);
	free(c.tasks);
	free(c.data);
	free(c.pins);
	return status;
}

int heddle_selfcheck(heddle_runtime *rt)
{
	if (!rt)
		return hd_error(HEDDLE_E_INVALID, "heddle_selfcheck needs a runtime");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	int status = hd_selfcheck(rt);
	hd_core_leave(rt);
	return status;
}
