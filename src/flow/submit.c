/* Submission: turns the items of the program into a task, and puts the task into the ring (inlet.c). Also creates and
 * submits the tasks of the core itself. */
#include "submit.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "aside.h"
#include "dispatch.h"
#include "errands.h"
#include "expand.h"
#include "group.h"
#include "inlet.h"
#include "submit_items.h"
#include "task_life.h"
#include "graph/common_elements.h"
#include "misuse/misuse.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/process.h"
#include "state/task_make.h"
#include "state/task_pool.h"

/* The thread's submitter in the runtime that it used last. Each thread uses only its own copy. */
static _Thread_local struct {
	uint64_t uid;
	struct hd_submitter *submitter;
} cached;

/* Finds the submitter with the thread's token. A token is used again after its thread has ended: then the new thread
 * gets the submitter and its free tasks. */
static struct hd_submitter *find_submitter(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	uint64_t token = hd_thread_token();
	for (struct hd_submitter *s = rt->inlet.submitters; s; s = s->next)
		if (s->thread == token)
			return s;
	struct hd_submitter *s = aligned_alloc(HD_CACHE_LINE, hd_round_up(sizeof *s, HD_CACHE_LINE));
	if (!s) {
		hd_no_memory("a thread that submits");
		return NULL;
	}
	memset(s, 0, sizeof *s);
	s->rt = rt;
	s->thread = token;
	atomic_init(&s->ticket, UINT64_MAX);
	s->next = rt->inlet.submitters;
	rt->inlet.submitters = s;
	return s;
}

static struct hd_submitter *my_submitter(heddle_runtime *rt)
{
	if (HD_LIKELY(cached.uid == rt->uid))
		return cached.submitter;
	if (hd_check_process(rt))
		return NULL;
	hd_core_enter(rt);
	struct hd_submitter *s = find_submitter(rt);
	hd_core_leave(rt);
	if (s) {
		/* a thread that is inside a kernel now belongs to a worker, and runs kernels all its life */
		s->nests |= hd_inside() != NULL;
		s->is_rare = s->nests || s->sets_groups;
		cached.uid = rt->uid;
		cached.submitter = s;
	}
	return s;
}

void hd_submitter_nests(heddle_runtime *rt, int nests)
{
	HD_HELD(&rt->lock);
	struct hd_submitter *s = cached.uid == rt->uid ? cached.submitter : find_submitter(rt);
	if (!s) /* no memory for a submitter: then the thread cannot submit anything */
		return;
	s->nests = nests;
	s->is_rare = s->nests || s->sets_groups;
}

struct hd_submitter *hd_submitter_inside(heddle_runtime *rt)
{
	struct hd_submitter *s = my_submitter(rt);
	if (s)
		s->n_subgraphs++;
	return s;
}

static void forget_submitter(void)
{
	cached.uid = 0;
}

/* Installs a handler for fork, which clears the cached submitter in the child: there it is invalid. */
__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_submitter);
}

/* --- Submission --------------------------------------------------------------------------------------------------- */

/* The number of tasks that workers have been given so far. */
static uint64_t n_given(const heddle_runtime *rt)
{
	return rt->count.picks - rt->count.empty_picks;
}

static inline uint64_t take_ticket(heddle_runtime *rt, struct hd_submitter *s)
{
	/* pairs: the loads of the tail by threads that have closed the gate. Sequentially consistent, so that the loads
	 * of the gate in push cannot come before it. */
	uint64_t ticket = atomic_fetch_add_explicit(&rt->ring.tail, 1, memory_order_seq_cst);
	/* relaxed, pairs: see the field */
	atomic_store_explicit(&s->ticket, ticket, memory_order_relaxed);
	return ticket;
}

/* Waits for room in the window. */
static void await_room(heddle_runtime *rt)
{
	if (hd_drain(rt))
		hd_core_settle(rt);
	if (HD_UNLIKELY(hd_throttle(rt)) && hd_drain(rt))
		hd_core_settle(rt);
}

static const uint64_t NO_TICKET = UINT64_MAX;

/* Submits a task inside the core. `ticket` is NO_TICKET if the gate was shut before the task had a ticket; `t` is NULL
 * if the task is in the ring already. HEDDLE_E_STATE: the task was refused. */
static int push_in_core(heddle_runtime *rt, struct hd_submitter *s, heddle_task *t, uint64_t ticket)
{
	hd_core_enter(rt);
	hd_core_clock_now(rt);
	rt->dispatch.releaser = -1;
	uint64_t given = n_given(rt);
	if (ticket == NO_TICKET) {
		await_room(rt);
		ticket = take_ticket(rt, s);
	}
	if (t) {
		/* the slot is free only when the task with ticket - HD_RING_SIZE has entered the graph */
		if (ticket >= HD_RING_SIZE)
			hd_drain_until(rt, ticket - HD_RING_SIZE + 1);
		hd_ring_put(&rt->ring, ticket, t);
	}
	hd_drain_until(rt, ticket + 1);
	/* Copies the answer before this thread settles, because kernels and callbacks that it runs meanwhile may
	 * submit, too. */
	struct hd_refusal refusal = s->refusal;
	s->refusal.why = HD_OPEN;
	hd_core_settle(rt);
	hd_gate_open(rt, n_given(rt) != given);
	hd_core_leave(rt);
	return HD_LIKELY(refusal.why == HD_OPEN) ? 0 : hd_data_closed_error(refusal.name, refusal.why, "heddle_submit");
}

/* Submits a task. `looked` is the value of gate.n_closings from before the check of the task's data. */
static inline __attribute__((always_inline)) int push(heddle_runtime *rt, struct hd_submitter *s, heddle_task *t,
                                                      uint64_t looked)
{
	struct hd_gate *gate = &rt->gate;
	/* Relaxed, pairs with nothing: a guess of the ticket, so that the window is not exceeded. */
	uint64_t guess = atomic_load_explicit(&rt->ring.tail, memory_order_relaxed);
	t->order = looked;
	if (HD_UNLIKELY(guess >= atomic_load_explicit(&gate->limit, memory_order_relaxed)) &&
	    hd_gate_is_shut(rt, t, guess))
		return push_in_core(rt, s, t, NO_TICKET);
	uint64_t ticket = take_ticket(rt, s);
	/* pairs: the stores in hd_revoke and hd_gate_open */
	if (HD_UNLIKELY(ticket >= atomic_load_explicit(&gate->limit, memory_order_seq_cst)) &&
	    hd_gate_is_shut(rt, t, ticket))
		return push_in_core(rt, s, t, ticket);
	/* Relaxed, pairs with hd_data_close: after the last closing before this ticket was taken, the gate was opened
	 * again, and the load of the gate has seen this; so the number is up to date. */
	uint64_t closings = atomic_load_explicit(&gate->n_closings, memory_order_relaxed);
	hd_ring_put(&rt->ring, ticket, t);
	return HD_LIKELY(closings == looked) ? 0 : push_in_core(rt, s, NULL, ticket);
}

/* --- Tasks of the core -------------------------------------------------------------------------------------------- */

/* Takes free tasks from the pool. If the pool is empty, allocates a slab without the core lock, and adds it to the
 * pool. */
static heddle_task *fetch_bundle(heddle_runtime *rt, size_t size)
{
	hd_core_enter(rt);
	heddle_task *t = hd_pool_take_bundle(rt->pool, hd_size_class(size));
	hd_core_leave(rt);
	if (t)
		return t;
	struct slab *slab = hd_pool_make(rt->pool, size, 0);
	if (!slab)
		return NULL;
	hd_core_enter(rt);
	t = hd_pool_add(rt->pool, slab);
	hd_core_leave(rt);
	return t;
}

/* Takes the memory of a task from the thread's list of free tasks. An empty list is filled with a bundle from the
 * pool. */
static heddle_task *take_memory(heddle_runtime *rt, struct hd_submitter *s, size_t size)
{
	unsigned size_class = hd_size_class(size);
	if (HD_UNLIKELY(size_class == HD_SIZE_CLASSES))
		return fetch_bundle(rt, size);
	heddle_task *t = s->free[size_class];
	if (HD_UNLIKELY(!t)) {
		t = fetch_bundle(rt, size);
		if (!t)
			return NULL;
	}
	s->free[size_class] = t->link.next;
	if (t->link.next)
		/* prefetches the task for the next submission, because its lines are in another core's cache */
		hd_task_fetch(t->link.next);
	return t;
}

static void give_memory(struct hd_submitter *s, heddle_task *t)
{
	if (t->size_class == HD_SIZE_CLASSES) {
		hd_core_enter(s->rt);
		hd_pool_give(s->rt->pool, t);
		hd_core_leave(s->rt);
		return;
	}
	t->link.next = s->free[t->size_class];
	s->free[t->size_class] = t;
}

void hd_control_begin_now(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	hd_core_clock_now(rt);
	rt->dispatch.releaser = -1;
	struct hd_expansion *e = hd_expansion_here(rt);
	/* in a sub-graph, the control must enter the graph after the tasks that the sub-graph has submitted */
	if (HD_UNLIKELY(e != NULL))
		hd_expansion_flush(e);
	hd_drain_and_close(rt);
}

void hd_control_begin(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	hd_control_begin_now(rt);
	if (HD_UNLIKELY(hd_throttle(rt)))
		hd_drain_and_close(rt);
}

void hd_control_enter(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	hd_core_insert(rt, t);
	hd_core_settle(rt);
}

/* --- Tasks of the program ----------------------------------------------------------------------------------------- */

static void discard(struct hd_submitter *s, heddle_task *t)
{
	if (t->extra) {
		free(t->extra->before);
		hd_task_forget(t);
	}
	give_memory(s, t);
}

/* Stores the task through each heddle_out item; `t` is NULL if the submission failed. */
static void hand_out(heddle_task *t, size_t n, const struct heddle_item *items)
{
	for (size_t i = 0; i < n; i++)
		if (items[i].what == HEDDLE_ITEM_OUT && items[i].ptr)
			*(heddle_task **)(uintptr_t)items[i].ptr = t;
}

/* The variable with the group that the thread has set. Kernels and callbacks have a variable of their own, so that
 * their group does not affect the program outside. */
static heddle_group **place_of_group(struct hd_submitter *s)
{
	struct hd_inside *inside = hd_inside();
	return inside ? &inside->group : &s->group;
}

static heddle_group *group_of(struct hd_submitter *s)
{
	heddle_group *group = *place_of_group(s);
	return group && hd_group_runtime(group) == s->rt ? group : NULL;
}

static size_t extra_bytes(const heddle_runtime *rt)
{
	return sizeof(struct hd_task_extra) + rt->adapt.task_bytes;
}

/* The size in bytes of the parts that few tasks have: the pointer to the hierarchical task of `e`, and `extra`. */
static size_t rare_bytes(const heddle_runtime *rt, const struct hd_expansion *e, struct hd_request *q)
{
	q->outer = e ? e->task : NULL;
	q->has_extra |= e && e->task->extra->group;
	return (e ? sizeof(struct hd_inside_of) : 0) + (q->has_extra ? extra_bytes(rt) : 0);
}

/* Places the parts that rare_bytes counts; `offset` is the place of `extra` if there is no hierarchical task. */
static void place_rare(const heddle_runtime *rt, const struct hd_expansion *e, heddle_task *t,
                       const struct hd_request *q, size_t offset)
{
	t->special |= e ? HD_TASK_INSIDE : 0;
	if (q->has_extra)
		hd_task_place_extra(t, offset + (e ? sizeof(struct hd_inside_of) : 0), extra_bytes(rt));
}

/* The group of a task that names none: the group that the thread has set, or the group of the hierarchical task of the
 * sub-graph. */
static heddle_group *default_group(struct hd_submitter *s, const struct hd_expansion *e)
{
	heddle_group *group = s->sets_groups ? group_of(s) : NULL;
	return group || !e ? group : e->task->extra->group;
}

/* Submits a task that may be in a group or in the sub-graph `e`. */
static __attribute__((noinline)) int submit_rare(struct hd_submitter *s, heddle_task *t, struct hd_expansion *e,
                                                 uint64_t looked)
{
	heddle_group *group = t->extra && t->extra->group ? t->extra->group : default_group(s, e);
	t->depth = s->nests ? hd_depth_here(s->rt) & (uint32_t)HD_DEEPEST : 0;
	int status = e && HD_UNLIKELY(!(t->special & HD_TASK_COVERED)) ? hd_expansion_check(e, t) : 0;
	if (HD_UNLIKELY(group != NULL) && !status && !hd_task_extra(t))
		status = HEDDLE_E_MEMORY;
	if (HD_UNLIKELY(status)) {
		discard(s, t);
		return status;
	}
	if (HD_UNLIKELY(group != NULL)) {
		t->extra->group = group;
		hd_group_enter(group);
	}
	if (e) {
		t->order = looked;
		hd_expansion_add(e, t);
		return 0;
	}
	status = push(s->rt, s, t, looked);
	if (HD_UNLIKELY(status) && group)
		hd_group_refused(group);
	return status;
}

/* Checks the items and copies them into the task, which is zeroed and large enough. Called once per task. */
static inline int fill(heddle_runtime *rt, heddle_task *t, size_t n, const struct heddle_item *items,
                       struct hd_request *q)
{
	heddle_codelet *c = (heddle_codelet *)(uintptr_t)q->codelet;
	t->codelet = c;
	t->kind = c ? HD_TASK_CODELET : HD_TASK_SYNC;
	t->n_accesses = (uint32_t)q->n_data;
	t->n_values = (uint32_t)q->n_values;
	if (HD_LIKELY(c != NULL))
		t->footprint = c->footprint_seed;
	int strict = rt->misuse || (c && c->desc.n_modes);
	int status = HD_UNLIKELY(strict) ? hd_request_check_data(rt, c, n, items) : 0;
	if (HD_LIKELY(!status))
		status = hd_request_copy(rt, t, n, items, q);
	/* Tasks of sub-graphs are checked in hd_expansion_check. */
	if (HD_UNLIKELY(t->special & HD_TASK_DEEP) && !(t->special & HD_TASK_INSIDE) && !status)
		status = hd_task_check_overlaps(t);
	if (HD_UNLIKELY(!c))
		return status ? status : hd_request_check_bare(t);
	if (HD_UNLIKELY(status) || HD_LIKELY(c->unchecked && !t->only_worker))
		return status;
	return hd_request_complete(rt, t);
}

static int submit(heddle_runtime *rt, size_t n, const struct heddle_item *items)
{
	struct hd_request q;
	int status = hd_request_read(rt, n, items, &q);
	if (HD_UNLIKELY(status))
		return status;
	struct hd_submitter *s = my_submitter(rt);
	size_t value_bytes = q.n_values ? hd_rounded(q.n_values * sizeof(uint32_t)) + q.value_bytes : 0;
	struct hd_expansion *e = HD_UNLIKELY(s && s->n_subgraphs) ? hd_expansion_here(rt) : NULL;
	size_t more = HD_UNLIKELY(q.has_extra || e) ? rare_bytes(rt, e, &q) : 0;
	heddle_task *t = s ? take_memory(rt, s, hd_task_size(rt, q.n_data, value_bytes) + more) : NULL;
	if (HD_UNLIKELY(!t))
		return hd_check_process(rt) ? HEDDLE_E_STATE : HEDDLE_E_MEMORY;
	hd_task_clear(rt, t);
	if (HD_UNLIKELY(more != 0))
		place_rare(rt, e, t, &q, sizeof *t + q.n_data * sizeof(struct hd_access) + value_bytes);
	/* pairs: hd_data_close; the data are checked after this load */
	uint64_t looked = atomic_load_explicit(&rt->gate.n_closings, memory_order_acquire);
	status = fill(rt, t, n, items, &q);
	if (HD_UNLIKELY(status)) {
		discard(s, t);
		return status;
	}
	if (HD_UNLIKELY(t->refs > 1))
		hand_out(t, n, items);
	if (HD_UNLIKELY(rt->tells_tsan))
		hd_tsan_submitted(t);
	if (HD_UNLIKELY(s->is_rare || more))
		return submit_rare(s, t, e, looked);
	return push(rt, s, t, looked);
}

heddle_task *hd_submission_begin(heddle_runtime *rt, heddle_codelet *c, size_t n_accesses, size_t value_bytes)
{
	struct hd_submitter *s = my_submitter(rt);
	heddle_task *t = s ? take_memory(rt, s, hd_task_size(rt, n_accesses, value_bytes)) : NULL;
	if (HD_UNLIKELY(!t))
		return NULL;
	hd_task_clear(rt, t);
	t->codelet = c;
	t->kind = HD_TASK_CODELET;
	t->footprint = c->footprint_seed;
	t->n_accesses = (uint32_t)n_accesses;
	return t;
}

int hd_submission_end(heddle_runtime *rt, heddle_task *t)
{
	struct hd_submitter *s = my_submitter(rt);
	/* pairs: hd_data_close, which the submitting thread calls for no datum of the task meanwhile */
	uint64_t looked = atomic_load_explicit(&rt->gate.n_closings, memory_order_acquire);
	return HD_UNLIKELY(s->is_rare) ? submit_rare(s, t, NULL, looked) : push(rt, s, t, looked);
}

heddle_group *heddle_group_set(heddle_runtime *rt, heddle_group *group)
{
	struct hd_submitter *s = rt ? my_submitter(rt) : NULL;
	if (!s)
		return NULL;
	if (group && hd_group_runtime(group) != rt) {
		hd_error(HEDDLE_E_INVALID, "heddle_group_set: the group belongs to another runtime");
		return NULL;
	}
	heddle_group *before = group_of(s);
	*place_of_group(s) = group;
	s->sets_groups = s->is_rare = 1;
	return before;
}

int heddle_submit_items(heddle_runtime *rt, size_t n, const struct heddle_item *items)
{
	static const struct heddle_item none; /* stands for an empty array, because arithmetic with NULL is undefined */
	if (HD_UNLIKELY(!rt || !items)) {
		if (!rt || n)
			return hd_error(HEDDLE_E_INVALID, "a task needs a runtime and its items");
		items = &none;
	}
	int status = submit(rt, n, items);
	if (HD_UNLIKELY(status)) {
		struct hd_expansion *e = hd_expansion_here(rt);
		hand_out(NULL, n, items);
		if (e)
			hd_expansion_failed(e, status);
	}
	return status;
}
