/* Memory of the nodes: allocation, pins, and eviction of the least recently used.
 *
 * A task gets room for all its data at once, or waits without holding any; otherwise tasks could block each other, each
 * with half of what it needs. A task that has got its room always runs and then unpins its data, so every task whose
 * data fit into the node gets its turn. Nothing is evicted from main memory (node 0), whose capacity only describes the
 * machine.
 */
#include <stdlib.h>
#include "data.h"
#include "core/runtime.h"

static struct hd_memory *memory_of(const struct hd_replica *r)
{
	return &hd_replica_data(r)->rt->memories[r->node];
}

static int limited(const struct hd_memory *m)
{
	return m->capacity != 0;
}

void hd_replica_pin(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	if (r->pins++ == 0)
		hd_evict_remove(r);
}

static void note_room(struct hd_replica *r)
{
	struct hd_memory *m = memory_of(r);
	if (HD_UNLIKELY(m->waiting.first != NULL)) {
		m->retry = 1;
		hd_replica_data(r)->rt->dispatch.retry = 1;
	}
}

void hd_replica_unpin(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	if (--r->pins || r->user_buffer || !r->ptr)
		return;
	if (limited(memory_of(r))) {
		hd_evict_add(r);
		note_room(r);
	}
}

/* --- Allocation --------------------------------------------------------------------------------------------------- */

static int is_object(const heddle_data *d)
{
	return d->extra && d->extra->type;
}

static void *take_memory(struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	if (is_object(d))
		return calloc(1, sizeof(void *));
	if (!d->rt->engine->alloc)
		return d->rt; /* any address but NULL: no data are stored there */
	r->block = hd_block_take(d->rt, r->node, hd_data_dense_size(d));
	return r->block ? r->block->ptr : NULL;
}

static int allocate(struct hd_replica *r)
{
	heddle_data *d = hd_replica_data(r);
	heddle_runtime *rt = d->rt;
	struct hd_memory *m = &rt->memories[r->node];
	if (limited(m) && hd_evict_reserve(m))
		return HEDDLE_E_MEMORY;
	r->ptr = take_memory(r);
	if (!r->ptr) {
		char name[80];
		return hd_error(HEDDLE_E_MEMORY, "no memory for a copy of %s on %s", hd_data_name(d, name, sizeof name),
		                rt->platform->nodes[r->node].name);
	}
	d->n_away = (uint16_t)(d->n_away + (r->node != 0));
	m->used += d->bytes;
	m->n_copies++;
	if (m->used > m->peak)
		m->peak = m->used;
	return 0;
}

/* Frees the object of a replica, and the cell that points to it. */
static void free_object(const struct hd_replica *r)
{
	void **cell = r->ptr;
	if (!r->user_buffer && *cell)
		hd_replica_data(r)->extra->type->destroy(*cell);
	free(cell);
}

void hd_memory_free(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	heddle_data *d = hd_replica_data(r);
	heddle_runtime *rt = d->rt;
	if (HD_UNLIKELY(d->transfers != NULL))
		hd_drop_prefetches_from(r);
	hd_evict_remove(r);
	if (r->ptr && is_object(d))
		free_object(r);
	if (r->ptr && !r->user_buffer) {
		rt->memories[r->node].used -= d->bytes;
		rt->memories[r->node].n_copies--;
	}
	if (r->block)
		hd_block_give(rt, r->block);
	r->block = NULL;
	note_room(r);
	if (r->ptr && r->node != 0)
		d->n_away--;
	r->ptr = NULL;
	hd_replica_set_valid(r, 0);
	r->user_buffer = 0;
}

static int make_room(heddle_runtime *rt, unsigned node, uint64_t need)
{
	const struct hd_memory *m = &rt->memories[node];
	return !limited(m) || m->used + need <= m->capacity ? 0 : hd_evict(rt, node, need);
}

/* --- A task's data ------------------------------------------------------------------------------------------------ */

static struct hd_replica *replica_of(struct hd_access *a, unsigned node)
{
	heddle_data *d = a->private_copy ? a->private_copy : a->data;
	return &d->replicas[node];
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

/* Pins what the task needs on the node. Returns the bytes that are not allocated yet. */
static uint64_t pin_all(heddle_task *t, unsigned node)
{
	uint64_t need = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		struct hd_access *a = &t->accesses[i];
		if (a->flags & (HD_ACCESS_ALIAS | HD_ACCESS_LATE))
			continue;
		struct hd_replica *r = replica_of(a, node);
		if (HD_UNLIKELY(!r->ptr))
			need += hd_replica_data(r)->bytes;
		/* Replicas that are there must be pinned, or make_room could evict them. */
		hd_replica_pin(r);
		a->flags |= HD_ACCESS_PINNED;
	}
	return need;
}

/* How many copies on the node the task has pinned. */
static size_t count_own(heddle_task *t, unsigned node)
{
	size_t n = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_replica *r = replica_of(&t->accesses[i], node);
		n += (t->accesses[i].flags & HD_ACCESS_PINNED) && r->ptr && !r->user_buffer;
	}
	return n;
}

/* Allocates a replica that the task has pinned. The capacity leaves room, but the memory may lack it all the same,
 * since a block needs room in one piece: then others are evicted. */
static int allocate_for(heddle_task *t, struct hd_replica *r)
{
	heddle_runtime *rt = hd_replica_data(r)->rt;
	int status = allocate(r);
	while (HD_UNLIKELY(status == HEDDLE_E_MEMORY)) {
		if (!hd_blocks_drop(rt, &rt->memories[r->node])) {
			int evicted = hd_evict_one(rt, r->node, count_own(t, r->node));
			if (evicted)
				return evicted;
		}
		status = allocate(r);
	}
	return status;
}

int hd_memory_reserve(heddle_task *t, unsigned node)
{
	heddle_runtime *rt = t->n_accesses ? t->accesses[0].data->rt : NULL;
	uint64_t need = pin_all(t, node);
	/* Tasks that already wait for room come first, because otherwise a large one could wait for ever. */
	int status = !need ? 0 : rt->memories[node].waiting.first ? HEDDLE_PENDING : make_room(rt, node, need);
	for (uint32_t i = 0; need && !status && i < t->n_accesses; i++) {
		struct hd_access *a = &t->accesses[i];
		if (!(a->flags & (HD_ACCESS_ALIAS | HD_ACCESS_LATE)) && !replica_of(a, node)->ptr)
			status = allocate_for(t, replica_of(a, node));
	}
	if (HD_UNLIKELY(status)) {
		unpin_all(t, node);
		if (status == HEDDLE_PENDING) {
			hd_queue_push(&rt->memories[node].waiting, t);
			if (t->special & HD_TASK_LISTED)
				hd_uses_place(t, node);
		}
	} else if (HD_UNLIKELY(t->special & HD_TASK_LISTED)) {
		hd_uses_leave(t);
	}
	return status;
}

int hd_memory_try(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	struct hd_memory *m = memory_of(r);
	if (!r->ptr) {
		/* those that wait for room come first */
		if (limited(m) && (m->waiting.first || hd_evict_for_hint(r)))
			return HEDDLE_PENDING;
		int status = allocate(r);
		if (status)
			return status;
	}
	hd_replica_pin(r);
	return 0;
}

static void retry_node(heddle_runtime *rt, struct hd_memory *m)
{
	struct hd_task_queue tried = m->waiting;
	m->waiting.first = NULL;
	m->retry = 0;
	while (tried.first) {
		heddle_task *t = hd_queue_pop(&tried);
		hd_core_restage(rt, t);
		if (!m->waiting.first || m->waiting.last != t)
			continue;
		/* still no room: the tasks behind it go on waiting, or they could overtake it for ever */
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
	rt->dispatch.retry = 0;
	for (size_t i = 1; i < rt->n_nodes; i++)
		if (rt->memories[i].retry)
			retry_node(rt, &rt->memories[i]);
}
