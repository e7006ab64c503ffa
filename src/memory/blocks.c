/* The allocator of a node. It keeps freed blocks for reuse, by their size, because most programs have data of few
 * sizes. So most replicas are allocated and freed without a call of the operating system or the driver, which is slow.
 *
 * No thread should make such a call while it holds the core lock. If no kept block fits, the task waits, as it waits
 * for room, and a new block is allocated when the lock is released (hd_core_leave). Blocks that the allocator does not
 * keep are freed at that time, too. A prefetch that needs a block waits in the same way. A task that waits for a
 * write-back also waits for the block in main memory that the write-back needs. One case allocates under the lock: a
 * task on one accelerator needs a datum from another accelerator, the datum must go through main memory, and it has no
 * block there yet.
 *
 * In a memory with a limit, the kept blocks use only the room beside the replicas and the blocks already asked for. In
 * other memories they use at most a quarter of the largest total size that the replicas have ever had, or LITTLE if
 * that is more: so the small results of a recursion, few of which live at the same time, need not be allocated again
 * and again.
 */
#include "blocks.h"
#include <stdlib.h>
#include <string.h>
#include "base/poison.h"
#include "misuse/misuse.h"
#include "state/engine.h"
#include "state/flow_calls.h"
#include "state/memory.h"
#include "state/runtime.h"

enum { LITTLE = 1 << 16 }; /* bytes */

static struct hd_block **shelf_of(struct hd_memory *m, size_t size)
{
	return &m->shelves[hd_hash(0, size) % HD_SHELVES];
}

static struct hd_block *take_kept(struct hd_memory *m, size_t size)
{
	struct hd_block **p = shelf_of(m, size);
	while (*p && (*p)->size != size)
		p = &(*p)->next;
	struct hd_block *b = *p;
	if (!b)
		return NULL;
	*p = b->next;
	m->kept -= b->size;
	if (b->node == 0)
		hd_unpoison(b->ptr, b->size);
	return b;
}

static void free_now(heddle_runtime *rt, struct hd_block *b)
{
	if (b->node == 0)
		hd_unpoison(b->ptr, b->size);
	size_t zone = hd_misuse_zone(rt, b->node);
	rt->engine->free(rt, b->node, (char *)b->ptr - zone, b->size + 2 * zone);
	free(b);
}

/* Puts the block into the list of blocks that are given back to the system. */
static void discard(heddle_runtime *rt, struct hd_block *b)
{
	b->next = rt->unwanted;
	rt->unwanted = b;
	rt->errands.slow = 1;
}

int hd_blocks_drop(heddle_runtime *rt, struct hd_memory *m)
{
	int any = m->kept != 0;
	for (size_t i = 0; i < HD_SHELVES; i++) {
		while (m->shelves[i]) {
			struct hd_block *b = m->shelves[i];
			m->shelves[i] = b->next;
			m->kept -= b->size;
			discard(rt, b);
		}
	}
	return any;
}

/* Allocates a block. NULL: the node is full; or its device is lost, then *status is HEDDLE_E_DEVICE. */
static struct hd_block *make(heddle_runtime *rt, unsigned node, size_t size, int *status)
{
	struct hd_block *b = malloc(sizeof *b);
	if (!b)
		return NULL;
	*b = (struct hd_block){.size = size, .node = (uint16_t)node};
	size_t zone = hd_misuse_zone(rt, node);
	*status = rt->engine->alloc(rt, node, size + 2 * zone, &b->ptr);
	if (!*status) {
		b->ptr = (char *)b->ptr + zone;
		return b;
	}
	free(b);
	return NULL;
}

/* Whether `more` bytes fit into a memory beside its replicas, the blocks that were asked for, and `kept` bytes. */
static int has_room(const struct hd_memory *m, uint64_t kept, uint64_t more)
{
	return !m->capacity || m->used + m->asked + kept + more <= m->capacity;
}

void hd_blocks_make_way(heddle_runtime *rt, struct hd_memory *m, uint64_t bytes)
{
	HD_HELD(&rt->lock);
	if (!has_room(m, m->kept, bytes))
		hd_blocks_drop(rt, m);
}

struct hd_block *hd_block_take(heddle_runtime *rt, unsigned node, size_t size)
{
	HD_HELD(&rt->lock);
	struct hd_memory *m = &rt->memories[node];
	struct hd_block *b = take_kept(m, size);
	if (b)
		return b;
	hd_blocks_make_way(rt, m, size);
	int status;
	return make(rt, node, size, &status);
}

struct hd_block *hd_block_take_kept(heddle_runtime *rt, unsigned node, size_t size)
{
	HD_HELD(&rt->lock);
	return take_kept(&rt->memories[node], size);
}

void hd_block_want(heddle_runtime *rt, unsigned node, size_t size)
{
	HD_HELD(&rt->lock);
	struct hd_memory *m = &rt->memories[node];
	if (m->fetching || rt->wanted.n == HD_MAX_WANTED || (m->asked && !has_room(m, 0, size)))
		/* the list is full: after these blocks have been allocated, the task is tried again, and asks again */
		return;
	hd_blocks_make_way(rt, m, size);
	m->asked += size;
	rt->wanted.nodes[rt->wanted.n] = (uint16_t)node;
	rt->wanted.sizes[rt->wanted.n++] = size;
	rt->errands.slow = 1;
}

static void keep(heddle_runtime *rt, struct hd_block *b)
{
	struct hd_memory *m = &rt->memories[b->node];
	struct hd_block **shelf = shelf_of(m, b->size);
	m->kept += b->size;
	b->next = *shelf;
	*shelf = b;
	if (b->node == 0)
		/* so that AddressSanitizer reports a later use of the block as a use after free() */
		hd_poison(b->ptr, b->size);
}

void hd_block_give(heddle_runtime *rt, struct hd_block *b)
{
	HD_HELD(&rt->lock);
	if (HD_UNLIKELY(b->left)) {
		free(b);
		return;
	}
	const struct hd_memory *m = &rt->memories[b->node];
	uint64_t most = m->peak / 4 > LITTLE ? m->peak / 4 : LITTLE;
	if (m->capacity ? has_room(m, m->kept, b->size) : m->kept + b->size <= most) {
		keep(rt, b);
		return;
	}
	discard(rt, b);
}

struct hd_block *hd_blocks_unload(heddle_runtime *rt, struct hd_wanted *wanted)
{
	HD_HELD(&rt->lock);
	struct hd_block *unwanted = rt->unwanted;
	*wanted = rt->wanted;
	wanted->lost = 0;
	rt->unwanted = NULL;
	rt->wanted.n = 0;
	rt->count.fetching += wanted->n;
	for (unsigned i = 0; i < wanted->n; i++)
		rt->memories[wanted->nodes[i]].fetching = 1;
	return unwanted;
}

void *hd_object_ensure(void **cell, const struct heddle_type *type, const void *like, unsigned node)
{
	/* pairs: the exchange below, by another thread */
	void *object = __atomic_load_n(cell, __ATOMIC_ACQUIRE), *made = NULL;
	if (object)
		return object;
	if (type->allocate(like, node, &made)) {
		hd_error(HEDDLE_E_MEMORY, "type %s: no memory for a copy on node %u", type->name, node);
		return NULL;
	}
	/* pairs: the load above, by another thread */
	if (__atomic_compare_exchange_n(cell, &object, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return made;
	type->release(made, node);
	return object;
}

void hd_objects_destroy(struct hd_cell *list)
{
	for (struct hd_cell *next; list; list = next) {
		next = list->next;
		if (list->type->release)
			list->type->release(list->object, list->node);
		else
			list->type->destroy(list->object);
		free(list);
	}
}

struct hd_block *hd_blocks_make(heddle_runtime *rt, struct hd_wanted *wanted)
{
	struct hd_block *made = NULL;
	for (unsigned i = 0; i < wanted->n; i++) {
		int status = 0;
		hd_error_clear(); /* so that an error found after the call comes from this allocation */
		struct hd_block *b = make(rt, wanted->nodes[i], wanted->sizes[i], &status);
		if (status == HEDDLE_E_DEVICE) {
			wanted->lost = wanted->nodes[i];
			/* sizes of 0, so that the remaining blocks do not count as refused */
			memset(&wanted->sizes[i], 0, (wanted->n - i) * sizeof *wanted->sizes);
			break; /* keeps the driver's message as the last error */
		}
		if (!b)
			continue;
		wanted->sizes[i] = 0; /* in the end, the sizes that are not 0 are those of refused blocks */
		b->next = made;
		made = b;
	}
	return made;
}

void hd_blocks_deliver(heddle_runtime *rt, const struct hd_wanted *wanted, struct hd_block *made)
{
	HD_HELD(&rt->lock);
	if (HD_UNLIKELY(wanted->lost))
		rt->flow->lose(&rt->workers[rt->node_worker[wanted->lost]], heddle_last_error());
	for (struct hd_block *next; made; made = next) {
		next = made->next;
		keep(rt, made);
	}
	for (unsigned i = 0; i < wanted->n; i++) {
		struct hd_memory *m = &rt->memories[wanted->nodes[i]];
		m->fetching = 0;
		m->asked = 0;
		if (wanted->sizes[i] && (!m->refused || wanted->sizes[i] < m->refused))
			m->refused = wanted->sizes[i];
	}
	/* Retries all nodes, because hd_block_want ignores requests while rt->wanted is full. */
	for (size_t i = 0; i < rt->n_nodes; i++)
		rt->memories[i].retry |= rt->memories[i].waiting.first || rt->memories[i].hints ||
		                         (rt->memories[i].lost && rt->memories[i].n_copies);
	rt->count.fetching -= wanted->n;
	rt->dispatch.retry |= HD_RETRY_MEMORY;
}

void hd_blocks_free(heddle_runtime *rt, struct hd_block *list)
{
	while (list) {
		struct hd_block *next = list->next;
		free_now(rt, list);
		list = next;
	}
}
