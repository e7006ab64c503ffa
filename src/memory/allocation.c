/* Allocation on memory nodes: room for the data of tasks, pins, and the tasks that wait for room. eviction.c makes
 * room.
 *
 * A task gets room for all its data at once, or waits without holding any room; otherwise tasks could block each other,
 * each with room for a part of its data. A task that has room always runs and then unpins its data, so every task whose
 * data fit into the node gets its turn. Nothing is evicted from main memory (node 0): in virtual time each datum has
 * room there from its registration on (state/handle.c), and in real time the operating system limits main memory.
 */
#include "allocation.h"
#include <stdlib.h>
#include "misuse/misuse.h"
#include "state/engine.h"
#include "state/flow_calls.h"
#include "state/memory.h"
#include "state/runtime.h"
#include "state/tree.h"
#include "blocks.h"
#include "eviction.h"
#include "lost_memory.h"
#include "transfers.h"
#include "uses.h"
#include "windows.h"

static struct hd_memory *memory_of(const struct hd_replica *r)
{
	return &hd_replica_data(r)->rt->memories[r->node];
}

static int limited(const struct hd_memory *m)
{
	return m->capacity != 0;
}

void hd_replica_first_pin(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	if (HD_UNLIKELY(r->window))
		hd_replica_pin(hd_window_host(r));
	else
		hd_evict_remove(r);
}

static void ask_for_retry(heddle_runtime *rt, struct hd_memory *m)
{
	m->retry = 1;
	rt->dispatch.retry |= HD_RETRY_MEMORY;
}

static inline void note_room(heddle_runtime *rt, struct hd_memory *m)
{
	if (HD_UNLIKELY(m->waiting.first != NULL))
		ask_for_retry(rt, m);
}

void hd_replica_unpinned(struct hd_replica *r)
{
	heddle_runtime *rt = hd_replica_data(r)->rt;
	HD_HELD(&rt->lock);
	if (HD_UNLIKELY(r->window))
		hd_window_unpinned(r);
	if (r->window || r->user_buffer || !r->ptr)
		return;
	struct hd_memory *m = &rt->memories[r->node];
	if (limited(m)) {
		hd_evict_add(m, r);
		note_room(rt, m);
	}
	if (HD_UNLIKELY(m->lost)) /* an unpinned replica can leave the lost memory */
		ask_for_retry(rt, m);
}

/* --- Allocation --------------------------------------------------------------------------------------------------- */

static int is_object(const heddle_data *d)
{
	return d->extra && d->extra->type;
}

/* Allocates memory for a replica. With `may_wait`, returns HEDDLE_PENDING if no kept block fits; then the caller asks
 * for a block. */
static int take_memory(struct hd_replica *r, int may_wait)
{
	const heddle_data *d = hd_replica_data(r);
	heddle_runtime *rt = d->rt;
	if (is_object(d)) {
		hd_blocks_make_way(rt, memory_of(r), d->bytes);
		r->ptr = calloc(1, sizeof(struct hd_cell));
	} else if (!rt->engine->alloc) {
		/* a stand-in for an address: in virtual time no data are stored, but NULL would mean that the replica
		 * is not allocated */
		r->ptr = rt;
	} else {
		size_t size = hd_data_dense_size(d);
		r->block = may_wait ? hd_block_take_kept(rt, r->node, size) : hd_block_take(rt, r->node, size);
		if (!r->block && may_wait)
			return HEDDLE_PENDING;
		r->ptr = r->block ? r->block->ptr : NULL;
	}
	if (HD_UNLIKELY(rt->misuse != NULL) && r->block)
		hd_misuse_fill(r);
	hd_replica_set_valid(r, r->valid); /* called to update at_home, because the replica is allocated now */
	return r->ptr ? 0 : HEDDLE_E_MEMORY;
}

static int no_memory(const struct hd_replica *r)
{
	char name[80];
	const heddle_data *d = hd_replica_data(r);
	return hd_error(HEDDLE_E_MEMORY, "no memory for a copy of %s on %s", hd_data_name(d, name, sizeof name),
	                d->rt->platform->nodes[r->node].name);
}

static int allocate(struct hd_replica *r, int may_wait)
{
	heddle_data *d = hd_replica_data(r);
	struct hd_memory *m = memory_of(r);
	if (limited(m) && hd_evict_reserve(d->rt, m, d->bytes))
		return HEDDLE_E_MEMORY;
	int status = take_memory(r, may_wait);
	if (status)
		return status < 0 ? no_memory(r) : status;
	d->n_away = (uint16_t)(d->n_away + (r->node != 0));
	m->used += d->bytes;
	m->n_copies++;
	if (m->used > m->peak)
		m->peak = m->used;
	return 0;
}

/* Frees the cell of an object's replica. The object itself is destroyed after the lock is released, by a function of
 * the program. */
static void free_object(const struct hd_replica *r)
{
	struct hd_cell *cell = r->ptr;
	if (r->user_buffer || !cell->object) {
		free(cell);
		return;
	}
	const heddle_data *d = hd_replica_data(r);
	heddle_runtime *rt = d->rt;
	cell->type = d->extra->type;
	cell->node = r->node;
	cell->next = rt->dead;
	rt->dead = cell;
	rt->errands.slow = 1;
}

void hd_memory_free(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	heddle_data *d = hd_replica_data(r);
	heddle_runtime *rt = d->rt;
	if (HD_UNLIKELY(d->transfers != NULL))
		hd_drop_prefetches_from(r);
	struct hd_memory *m = &rt->memories[r->node];
	hd_evict_remove(r);
	if (HD_UNLIKELY(hd_windows_in(r)))
		hd_windows_free(r);
	if (HD_UNLIKELY(rt->adapt.left != NULL))
		rt->adapt.left(r);
	if (r->ptr && is_object(d))
		free_object(r);
	if (r->ptr && !r->user_buffer && !r->window) {
		m->used -= d->bytes;
		if (!--m->n_copies && HD_UNLIKELY(m->lost))
			rt->waits.news = 1; /* heddle_wait_all waits for empty lost memories, so it must check */
	}
	if (r->block)
		hd_block_give(rt, r->block);
	r->block = NULL;
	note_room(rt, m);
	if (r->ptr && r->node != 0)
		d->n_away--;
	r->ptr = NULL;
	hd_replica_set_valid(r, 0);
	r->user_buffer = 0;
	if (HD_UNLIKELY(r->window))
		hd_window_detach(r);
}

static int make_room(heddle_runtime *rt, unsigned node, uint64_t need)
{
	const struct hd_memory *m = &rt->memories[node];
	return !limited(m) || m->used + need <= m->capacity ? 0 : hd_evict(rt, node, need);
}

/* --- A task's data ------------------------------------------------------------------------------------------------ */

static struct hd_replica *replica_of(struct hd_access *a, unsigned node)
{
	return &hd_access_datum(a)->replicas[node];
}

static void unpin_all(heddle_task *t, unsigned node)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		if (t->accesses[i].flags & HD_ACCESS_PINNED) {
			t->accesses[i].flags &= ~HD_ACCESS_PINNED & HD_ACCESS_FLAGS;
			hd_replica_unpin(replica_of(&t->accesses[i], node));
		}
	}
}

/* Pins all replicas that the task needs on the node. Returns whether some are not allocated yet; *bytes: their bytes,
 * which may be 0. */
static int pin_all(heddle_task *t, unsigned node, uint64_t *bytes)
{
	uint64_t need = 0;
	int lacks = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		struct hd_access *a = &t->accesses[i];
		if (a->flags & (HD_ACCESS_ALIAS | HD_ACCESS_LATE))
			continue;
		heddle_data *d = hd_access_datum(a);
		struct hd_replica *r = &d->replicas[node];
		if (HD_UNLIKELY(!r->ptr) && !hd_window_attach(r)) {
			need += d->bytes;
			lacks = 1;
		}
		hd_replica_pin(r); /* pinned now, because make_room could evict the replica */
		a->flags |= HD_ACCESS_PINNED;
	}
	*bytes = need;
	return lacks;
}

/* Whether the task's datum `i` shares its memory on the node with an earlier datum of the task: both are windows of one
 * replica. */
static int shares_memory(heddle_task *t, uint32_t i, unsigned node)
{
	const struct hd_replica *base = hd_window_base(replica_of(&t->accesses[i], node));
	uint32_t k = 0;
	while (k < i &&
	       ((t->accesses[k].flags & HD_ACCESS_ALIAS) || hd_window_base(replica_of(&t->accesses[k], node)) != base))
		k++;
	return k < i;
}

/* The number of replicas on the node that the task has pinned. Replicas that share memory count as one. */
static size_t count_own(heddle_task *t, unsigned node)
{
	size_t n = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_replica *r = replica_of(&t->accesses[i], node);
		n += (t->accesses[i].flags & HD_ACCESS_PINNED) && r->ptr && !r->user_buffer &&
		     !shares_memory(t, i, node);
	}
	return n;
}

/* Bytes that the task's data alone keep allocated on the node. A window keeps the whole replica around it allocated. */
static uint64_t whole_bytes(heddle_task *t, unsigned node)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (!(t->accesses[i].flags & HD_ACCESS_ALIAS) && !shares_memory(t, i, node))
			bytes += hd_replica_data(hd_window_base(replica_of(&t->accesses[i], node)))->bytes;
	return bytes;
}

/* Makes sure that the task's data fit into the node's memory. If they do not fit because windows keep larger replicas
 * allocated than the task needs, evicts these replicas. Returns 0; HEDDLE_PENDING: these replicas must leave first; or
 * an error. */
static int leave_room(heddle_task *t, unsigned node)
{
	const struct hd_memory *m = &hd_task_runtime(t)->memories[node];
	for (uint32_t i = 0; limited(m) && i < t->n_accesses && whole_bytes(t, node) > m->capacity; i++) {
		struct hd_replica *r = replica_of(&t->accesses[i], node), *base = hd_window_base(r);
		int status = base == r ? 0 : base->pins ? HEDDLE_PENDING : hd_evict_copy(base);
		if (status)
			return status;
	}
	return 0;
}

/* For a task with deep data on an accelerator: checks that no window in use hinders the task's data, then makes sure
 * that the data fit. 0, HEDDLE_PENDING or an error. */
static int settle_windows(heddle_task *t, unsigned node)
{
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (!t->accesses[i].private_copy && hd_windows_hinder(t->accesses[i].data, node))
			return HEDDLE_PENDING;
	return leave_room(t, node);
}

/* The part of allocate_for for a replica whose block must be allocated without the lock. An allocation can fail
 * although the capacity leaves room, because the memory is fragmented: then kept blocks are freed, or replicas are
 * evicted. */
static __attribute__((noinline)) int await_block(heddle_task *t, struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	struct hd_memory *m = memory_of(r);
	int status;
	do {
		size_t size = hd_data_dense_size(d);
		if (!m->refused || size < m->refused) {
			hd_block_want(d->rt, r->node, size);
			return HEDDLE_PENDING;
		}
		/* freeing the kept blocks may make room */
		status = hd_blocks_drop(d->rt, m) ? 0 : hd_evict_one(d->rt, r->node, count_own(t, r->node));
		if (status)
			return status < 0 ? no_memory(r) : status;
		m->refused = 0;
	} while ((status = allocate(r, 1)) == HEDDLE_PENDING);
	return status;
}

/* Allocates a replica that the task has pinned. HEDDLE_PENDING: its block must be allocated first, without the lock. */
static inline int allocate_for(heddle_task *t, struct hd_replica *r)
{
	int status = allocate(r, 1);
	return HD_LIKELY(status != HEDDLE_PENDING) ? status : await_block(t, r);
}

/* Allocates the replicas on the node that the task has pinned and that are not allocated yet. Asks for all missing
 * blocks together. But after a refusal it asks only for the first missing block: the other blocks would take the room
 * that was made for the refused block, and would have to be freed for the refused block again, without end. */
static int allocate_all(heddle_task *t, unsigned node)
{
	const struct hd_memory *m = &hd_task_runtime(t)->memories[node];
	size_t refused = m->refused; /* saved, because allocate_for resets m->refused */
	int result = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_access *a = &t->accesses[i];
		struct hd_replica *r = replica_of(&t->accesses[i], node);
		if ((a->flags & (HD_ACCESS_ALIAS | HD_ACCESS_LATE)) || r->ptr)
			continue;
		int status = allocate_for(t, r);
		if (status < 0)
			return status;
		result |= status;
		if (status && refused)
			break;
	}
	return result ? HEDDLE_PENDING : 0;
}

int hd_memory_reserve(heddle_task *t, unsigned node)
{
	heddle_runtime *rt = t->n_accesses ? t->accesses[0].data->rt : NULL;
	int status = HD_UNLIKELY(t->special & HD_TASK_DEEP) && node ? settle_windows(t, node) : 0;
	uint64_t need = 0;
	int lacks = status ? 0 : pin_all(t, node, &need);
	const struct hd_memory *m = lacks ? &rt->memories[node] : NULL;
	/* Tasks that already wait for room come first; otherwise a large task could wait for ever. */
	if (lacks)
		status = m->waiting.first && limited(m) ? HEDDLE_PENDING : make_room(rt, node, need);
	if (lacks && !status)
		status = allocate_all(t, node);
	if (HD_UNLIKELY(status)) {
		unpin_all(t, node);
		if (status == HEDDLE_PENDING) {
			hd_queue_push(&rt->memories[node].waiting, t);
			if (t->special & HD_TASK_USES)
				hd_uses_place(t, node);
		}
	} else if (HD_UNLIKELY(t->special & HD_TASK_USES) && rt) {
		hd_uses_leave(t);
		if (HD_UNLIKELY(rt->memories[node].tight))
			rt->adapt.used(t, node);
	}
	return status;
}

/* Asks for the block of a replica that a transfer needs. HD_LATER: the block will be allocated; HEDDLE_PENDING: there
 * is no room; or an error. */
static int ask_for_block(const struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	struct hd_memory *m = memory_of(r);
	size_t size = hd_data_dense_size(d);
	if (limited(m) && m->used + m->asked + d->bytes > m->capacity)
		return HEDDLE_PENDING;
	if (m->refused && size >= m->refused) {
		m->refused = 0;
		return no_memory(r);
	}
	hd_block_want(d->rt, r->node, size);
	return HD_LATER;
}

int hd_memory_try(struct hd_replica *r, int at_once)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	struct hd_memory *m = memory_of(r);
	if (HD_UNLIKELY(hd_windows_hinder(hd_replica_data(r), r->node)))
		return HEDDLE_PENDING;
	if (!r->ptr && !hd_window_attach(r)) {
		/* tasks that wait for room come first */
		if (limited(m) && (m->waiting.first || hd_evict_for_hint(r)))
			return HEDDLE_PENDING;
		int status = allocate(r, !at_once);
		if (status)
			return status < 0 ? status : ask_for_block(r);
	}
	hd_replica_pin(r);
	return 0;
}

static void retry_node(heddle_runtime *rt, struct hd_memory *m)
{
	struct hd_task_queue tried = m->waiting;
	size_t refused = m->refused; /* saved, because allocate_for resets m->refused */
	m->waiting.first = NULL;
	m->retry = 0;
	while (tried.first) {
		heddle_task *t = hd_queue_pop(&tried);
		rt->flow->restage(rt, t);
		if (!m->waiting.first || m->waiting.last != t)
			continue;
		/* Without a limit, tasks wait only for blocks, and as many blocks as possible are asked for together.
		 * But after a refusal only the first task asks: the blocks of other tasks would be freed to make room
		 * for the refused block, and asked for again, without end. */
		if (!limited(m) && !refused && !m->fetching && rt->wanted.n < HD_MAX_WANTED)
			continue;
		/* there is still no room for `t`: the tasks behind `t` must go on waiting, because they could overtake
		 * `t` again and again */
		if (tried.first) {
			t->link.next = tried.first;
			m->waiting.last = tried.last;
		}
		return;
	}
}

void hd_memory_retry(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	rt->dispatch.retry &= ~HD_RETRY_MEMORY;
	for (size_t i = 0; i < rt->n_nodes; i++)
		if (rt->memories[i].retry) {
			retry_node(rt, &rt->memories[i]);
			hd_prefetch_hinted(rt, &rt->memories[i]);
			if (HD_UNLIKELY(rt->memories[i].lost))
				hd_memory_leave(rt, (unsigned)i);
		}
	/* `refused` is cleared only after all nodes were tried, because tasks and prefetches of one node may need
	 * blocks of another node. It is cleared for all nodes, because perhaps no task needs the refused block any
	 * more. */
	for (size_t i = 0; i < rt->n_nodes; i++) {
		rt->memories[i].refused = 0;
		/* Frees kept blocks beyond the capacity: a new block that no task has taken may be larger than the room
		 * that was made for it, because of alignment. */
		hd_blocks_make_way(rt, &rt->memories[i], 0);
	}
}
