/* The part of heddle_selfcheck for memories: the candidates for eviction, the blocks, and the counters. */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "state/data.h"
#include "state/memory.h"
#include "state/runtime.h"
#include "state/transfer.h"

static const char *node_name(const struct hd_check *c, size_t node)
{
	return c->rt->platform->nodes[node].name;
}

/* The number of replicas in the list; SIZE_MAX: the list is wrong. */
static size_t count_idle(const struct hd_idle *list, size_t node, int unneeded, size_t most)
{
	size_t n = 0;
	const struct hd_replica *older = NULL, *r = list->oldest;
	for (; r && n <= most; older = r, r = r->newer, n++)
		if (!r->place || (r->place == HD_UNNEEDED) != unneeded || r->older != older || r->node != node)
			return SIZE_MAX;
	return list->newest == older ? n : SIZE_MAX;
}

/* Checks the lists of idle replicas: while the memory is tight, they contain all replicas that may be evicted, in
 * order. */
static int check_idle(const struct hd_check *c, size_t node)
{
	const struct hd_memory *m = &c->rt->memories[node];
	size_t n = 0;
	for (size_t i = 0; i < c->n_data; i++)
		n += c->data[i].data->replicas[node].place != 0;
	size_t idle = count_idle(&m->idle, node, 0, n), unneeded = count_idle(&m->unneeded, node, 1, n);
	return idle > n || unneeded > n || idle + unneeded != n || (n && !m->tight)
	           ? hd_broken("%s: the list of copies that nobody uses is wrong", node_name(c, node))
	           : 0;
}

/* Checks that a nearly full memory is tight; that its candidates for eviction are idle replicas whose `place` is right;
 * and that there is room to rank all replicas of the node. */
static int check_candidates(const struct hd_check *c, size_t node)
{
	const struct hd_memory *m = &c->rt->memories[node];
	size_t listed = 0, n_copies = 0;
	for (size_t i = m->first_candidate; i < m->n_candidates; i++) {
		const struct hd_replica *r = m->candidates[i].replica;
		if (r && (r->place != i + 2 || r->node != node))
			return hd_broken("%s: the candidates for eviction are wrong", node_name(c, node));
		listed += r != NULL;
	}
	for (size_t i = 0; i < c->n_data; i++) {
		const struct hd_replica *r = &c->data[i].data->replicas[node];
		listed -= r->place > 1 && r->place != HD_UNNEEDED;
		n_copies += r->ptr && !r->user_buffer && !r->window;
	}
	if (m->capacity && !m->tight && m->used && m->used >= m->mark)
		return hd_broken("%s: it is nearly full, and not tight", node_name(c, node));
	if (listed)
		return hd_broken("%s: its candidates for eviction and the copies that say they are differ",
		                 node_name(c, node));
	return n_copies == m->n_copies && (!m->tight || m->max_candidates >= n_copies)
	           ? 0
	           : hd_broken("%s: it has %zu copies; n_copies says %zu, and there is room to rank %zu",
	                       node_name(c, node), n_copies, m->n_copies, m->max_candidates);
}

/* Checks the prefetches that wait for blocks: each is in the list once, and its replica is marked. */
static int check_hints(const struct hd_check *c, size_t node)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n_data; i++)
		n += c->data[i].data->replicas[node].hinted;
	const struct hd_memory *m = &c->rt->memories[node];
	const struct hd_hint *h = m->hints, *last = NULL;
	for (; h && n && hd_check_find_data(c, h->data) && h->data->replicas[node].hinted; last = h, h = h->next)
		n--;
	return h || n || (last && last != m->last_hint)
	           ? hd_broken("%s: the list of prefetches that wait for memory is wrong", node_name(c, node))
	           : 0;
}

static int check_blocks(const struct hd_check *c, size_t node)
{
	const struct hd_memory *m = &c->rt->memories[node];
	uint64_t kept = 0;
	for (size_t i = 0; i < HD_SHELVES; i++)
		for (const struct hd_block *b = m->shelves[i]; b; b = b->next) {
			if (b->node != node || (kept += b->size) > m->kept)
				return hd_broken("%s: its lists of free blocks are wrong", node_name(c, node));
		}
	if (m->capacity && m->used + kept > m->capacity)
		return hd_broken("%s: its copies and its free blocks have %llu bytes, more than its capacity",
		                 node_name(c, node), (unsigned long long)(m->used + kept));
	return kept == m->kept ? 0
	                       : hd_broken("%s: its free blocks have %llu bytes; kept says %llu", node_name(c, node),
	                                   (unsigned long long)kept, (unsigned long long)m->kept);
}

static uint64_t bytes_leaving(const heddle_data *d, size_t node)
{
	uint64_t bytes = 0;
	for (const struct hd_transfer *tr = d->transfers; tr; tr = tr->next)
		if (tr->evict && tr->from == node)
			bytes += tr->leaves;
	return bytes;
}

static int check_memory(const struct hd_check *c, size_t node)
{
	const struct hd_memory *m = &c->rt->memories[node];
	uint64_t used = 0, leaving = 0;
	for (size_t i = 0; i < c->n_data; i++) {
		const heddle_data *d = c->data[i].data;
		const struct hd_replica *r = &d->replicas[node];
		if (r->ptr && !r->user_buffer && !r->window)
			used += d->bytes;
		leaving += bytes_leaving(d, node);
	}
	if (used != m->used || leaving != m->leaving)
		return hd_broken(
		    "%s: its copies have %llu bytes, of which %llu leave; used and leaving say %llu and %llu",
		    node_name(c, node), (unsigned long long)used, (unsigned long long)leaving,
		    (unsigned long long)m->used, (unsigned long long)m->leaving);
	if (m->peak < used || (m->capacity && used > m->capacity))
		return hd_broken("%s: %llu bytes are used, more than its peak or its capacity", node_name(c, node),
		                 (unsigned long long)used);
	return m->retry && !(c->rt->dispatch.retry & HD_RETRY_MEMORY)
	           ? hd_broken("%s: tasks are to be tried again, and nobody is told", node_name(c, node))
	           : 0;
}

int hd_check_memories(struct hd_check *c)
{
	unsigned n_tight = 0;
	for (size_t i = 0; i < c->rt->n_nodes; i++)
		n_tight += c->rt->memories[i].tight;
	int status = n_tight == c->rt->dispatch.n_tight
	                 ? 0
	                 : hd_broken("%u memories are tight; n_tight says %u", n_tight, c->rt->dispatch.n_tight);
	for (size_t i = 0; i < c->rt->n_nodes && !status; i++) {
		status = check_memory(c, i);
		if (!status)
			status = check_idle(c, i);
		if (!status)
			status = check_candidates(c, i);
		if (!status)
			status = check_hints(c, i);
		if (!status)
			status = check_blocks(c, i);
	}
	return status || !c->rt->adapt.check_memories ? status : c->rt->adapt.check_memories(c);
}
