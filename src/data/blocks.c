/* The allocator of a node: it keeps blocks that were freed, by their size, since most programs have data of few sizes.
 * So copies come and go without calls of the operating system or of a device, which are slow and which nobody should
 * make while holding the core lock. What the allocator does not keep is given back after the lock has been left:
 * hd_blocks_unload, hd_blocks_free.
 *
 * Of a memory with a limit the blocks that are kept never take more than what the copies leave free. Of other memories
 * they take at most a quarter of what the copies have ever taken at once.
 */
#include <stdlib.h>
#include "base/poison.h"
#include "core/runtime.h"

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
	rt->engine->free(rt, b->node, b->ptr, b->size);
	free(b);
}

int hd_blocks_drop(heddle_runtime *rt, struct hd_memory *m)
{
	int any = m->kept != 0;
	for (size_t i = 0; i < HD_SHELVES; i++) {
		while (m->shelves[i]) {
			struct hd_block *b = m->shelves[i];
			m->shelves[i] = b->next;
			m->kept -= b->size;
			free_now(rt, b);
		}
	}
	return any;
}

struct hd_block *hd_block_take(heddle_runtime *rt, unsigned node, size_t size)
{
	HD_HELD(&rt->lock);
	struct hd_memory *m = &rt->memories[node];
	struct hd_block *b = take_kept(m, size);
	if (b)
		return b;
	if (m->capacity && m->used + m->kept + size > m->capacity)
		hd_blocks_drop(rt, m); /* blocks of other sizes */
	b = malloc(sizeof *b);
	if (!b)
		return NULL;
	*b = (struct hd_block){.ptr = rt->engine->alloc(rt, node, size), .size = size, .node = (uint16_t)node};
	if (!b->ptr) {
		free(b);
		return NULL;
	}
	return b;
}

void hd_block_give(heddle_runtime *rt, struct hd_block *b)
{
	HD_HELD(&rt->lock);
	struct hd_memory *m = &rt->memories[b->node];
	uint64_t most = m->capacity ? m->capacity - m->used : m->peak / 4;
	struct hd_block **list = m->kept + b->size <= most ? shelf_of(m, b->size) : &rt->unwanted;
	if (list != &rt->unwanted)
		m->kept += b->size;
	b->next = *list;
	*list = b;
	if (b->node == 0)
		hd_poison(b->ptr, b->size); /* so that AddressSanitizer finds its use as after free() */
}

struct hd_block *hd_blocks_unload(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	struct hd_block *list = rt->unwanted;
	rt->unwanted = NULL;
	return list;
}

void hd_blocks_free(heddle_runtime *rt, struct hd_block *list)
{
	while (list) {
		struct hd_block *next = list->next;
		free_now(rt, list);
		list = next;
	}
}
