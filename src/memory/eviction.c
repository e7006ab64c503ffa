/* Eviction: which replicas leave a memory that is full.
 *
 * The replica with the greatest rank is evicted first. The greatest rank has a replica that is invalid, or will be soon
 * because a staged task writes the datum on another node. Among the others the eviction rule decides (eviction_rule.h).
 * Among equal ranks the least recently used replica is evicted first.
 *
 * Ranks, and the heap of replicas by rank, exist only for tight (nearly full) memories. In other memories idle replicas
 * are only listed by their last use. When the memory becomes tight, the heap is made from that list.
 *
 * The rank of a replica changes while it lies in the heap. When a rank has grown, the heap is repaired at once
 * (hd_evict_sooner): a task that needed the datum has gone, or is known to run elsewhere. When a rank has fallen, since
 * a new task needs the datum or another replica has gone, this is discovered when the replica comes to the top.
 *
 * A prefetch may evict only replicas that no task needs. Evicting replicas that are needed later than the prefetched
 * one was measured, too: policies prefetch for tasks that run much later, and more bytes were moved (tiled GEMM under
 * dmdas, memory for 1/4 of the data: 1.3 times as many as with eviction=lru; with this rule 1.05 times).
 * bench/eviction.c measures it.
 */
#include "eviction.h"
#include <stdlib.h>
#include <string.h>
#include "state/memory.h"
#include "state/runtime.h"
#include "state/tree.h"
#include "allocation.h"
#include "eviction_rule.h"
#include "lost_memory.h"
#include "transfers.h"
#include "uses.h"
#include "windows.h"

static const struct hd_eviction_rule *const rules[] = {&hd_rule_next_use, &hd_rule_lru};

const struct hd_eviction_rule *hd_eviction_rule(const char *name)
{
	for (size_t i = 0; name && *name && i < sizeof rules / sizeof *rules; i++)
		if (strcmp(rules[i]->name, name) == 0)
			return rules[i];
	return name && *name ? NULL : rules[0];
}

static struct hd_memory *memory_of(const struct hd_replica *r)
{
	return &hd_replica_data(r)->rt->memories[r->node];
}

int hd_is_clean_alone(const struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	if (HD_UNLIKELY(d->rt->dispatch.n_lost || d->plan) && r->valid && !d->n_writers)
		return hd_is_valid_beside(d, r->node);
	return !r->valid || d->n_valid > 1 || d->n_writers;
}

void hd_windows_each(const struct hd_replica *r, void (*f)(struct hd_replica *window, void *arg), void *arg)
{
	const struct hd_layout *l = HD_UNLIKELY(hd_windows_in(r)) ? hd_replica_data(r)->extra->layout : NULL;
	for (const heddle_plan *p = l ? l->plans : NULL; p; p = p->next)
		for (size_t i = 0; i < p->n_children; i++)
			if (p->children[i]->replicas[r->node].window)
				f(&p->children[i]->replicas[r->node], arg);
}

static void note_unclean(struct hd_replica *r, void *arg)
{
	*(int *)arg |= !hd_is_clean(r);
}

int hd_is_clean(const struct hd_replica *r)
{
	int unclean = !hd_is_clean_alone(r);
	hd_windows_each(r, note_unclean, &unclean);
	return !unclean;
}

static void note_value(struct hd_replica *r, void *arg)
{
	*(int *)arg |= r->valid && !hd_replica_data(r)->n_writers;
	hd_windows_each(r, note_value, arg);
}

static uint64_t rank_of(struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	const struct hd_eviction_rule *rule = d->rt->rule;
	if (HD_LIKELY(!hd_windows_in(r)))
		return r->valid && !d->n_writers ? rule->rank(r, hd_is_clean_alone(r)) : UINT64_MAX;
	int of_use = 0;
	note_value(r, &of_use);
	return of_use ? rule->rank(r, hd_is_clean(r)) : UINT64_MAX;
}

/* --- The heap of copies that may leave ---------------------------------------------------------------------------- */

static int leaves_before(const struct hd_leaving *a, const struct hd_leaving *b)
{
	return a->rank > b->rank || (a->rank == b->rank && a->age < b->age);
}

static void put(struct hd_memory *m, size_t i, struct hd_leaving entry)
{
	m->heap[i] = entry;
	entry.replica->place = (uint32_t)i + 1;
}

/* Puts an entry into the heap at the free place `i`, or moves it up or down from there. */
static void sift(struct hd_memory *m, size_t i, struct hd_leaving entry)
{
	for (; i && leaves_before(&entry, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
		put(m, i, m->heap[(i - 1) / 2]);
	for (size_t child; (child = 2 * i + 1) < m->n_heap; i = child) {
		if (child + 1 < m->n_heap && leaves_before(&m->heap[child + 1], &m->heap[child]))
			child++;
		if (!leaves_before(&m->heap[child], &entry))
			break;
		put(m, i, m->heap[child]);
	}
	put(m, i, entry);
}

static int reserve_heap(struct hd_memory *m)
{
	if (m->n_copies < m->max_heap)
		return 0;
	size_t max = m->max_heap ? 2 * m->max_heap : 32;
	while (max <= m->n_copies)
		max *= 2;
	struct hd_leaving *larger = realloc(m->heap, max * sizeof *larger);
	if (!larger)
		return hd_no_memory("the copies of a memory");
	m->heap = larger;
	m->max_heap = max;
	return 0;
}

static void enter_heap(struct hd_memory *m, struct hd_replica *r)
{
	sift(m, m->n_heap++, (struct hd_leaving){rank_of(r), m->clock++, r});
}

static void leave_heap(struct hd_memory *m, const struct hd_replica *r)
{
	size_t i = r->place - 1;
	struct hd_leaving last = m->heap[--m->n_heap];
	if (i < m->n_heap)
		sift(m, i, last);
}

void hd_evict_add(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	struct hd_memory *m = memory_of(r);
	r->place = 1;
	r->newer = NULL;
	r->older = m->newest;
	*(r->older ? &r->older->newer : &m->oldest) = r;
	m->newest = r;
	if (HD_UNLIKELY(m->tight))
		enter_heap(m, r);
}

void hd_evict_remove(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	if (!r->place)
		return;
	struct hd_memory *m = memory_of(r);
	if (HD_UNLIKELY(m->tight))
		leave_heap(m, r);
	*(r->older ? &r->older->newer : &m->oldest) = r->newer;
	*(r->newer ? &r->newer->older : &m->newest) = r->older;
	r->place = 0;
}

static void rank_again(struct hd_replica *r)
{
	struct hd_memory *m = memory_of(r);
	struct hd_leaving entry = m->heap[r->place - 1];
	uint64_t rank = rank_of(r);
	if (rank == entry.rank)
		return;
	entry.rank = rank;
	sift(m, r->place - 1, entry);
}

void hd_evict_rank_all(struct hd_memory *m)
{
	size_t n = m->n_heap;
	for (m->n_heap = 0; m->n_heap < n;) {
		struct hd_leaving entry = m->heap[m->n_heap++];
		entry.rank = rank_of(entry.replica);
		sift(m, m->n_heap - 1, entry);
	}
}

void hd_evict_sooner(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	for (size_t i = 1; d->rt->dispatch.n_tight && d->n_away && i < d->rt->n_nodes; i++) {
		if (!d->rt->memories[i].tight)
			continue;
		struct hd_replica *r = hd_window_base(&d->replicas[i]);
		if (r->place)
			rank_again(r);
	}
}

/* --- Tight and loose ---------------------------------------------------------------------------------------------- */

static int tighten(heddle_runtime *rt, struct hd_memory *m)
{
	int status = reserve_heap(m);
	if (!status && rt->next_use && !rt->dispatch.n_tight)
		status = hd_uses_list(rt);
	if (status)
		return status;
	rt->dispatch.n_tight++;
	m->tight = 1;
	if (rt->adapt.tightened)
		rt->adapt.tightened(m, 1);
	for (struct hd_replica *r = m->oldest; r; r = r->newer)
		enter_heap(m, r);
	return 0;
}

static void loosen(heddle_runtime *rt, struct hd_memory *m)
{
	m->tight = 0;
	m->n_heap = 0;
	rt->dispatch.n_tight--;
	hd_prefetch_undelay(m);
	if (rt->adapt.tightened)
		rt->adapt.tightened(m, 0);
	if (rt->next_use && !rt->dispatch.n_tight)
		hd_uses_forget(rt);
}

int hd_evict_reserve(heddle_runtime *rt, struct hd_memory *m, uint64_t bytes)
{
	HD_HELD(&rt->lock);
	uint64_t used = m->used + bytes;
	if (HD_LIKELY(!m->tight))
		return used < m->mark ? 0 : tighten(rt, m);
	if (used >= m->mark / 2)
		return reserve_heap(m);
	loosen(rt, m);
	return 0;
}

/* Makes the memory tight, whatever its mark, because some replica must be evicted. If the memory has less room than its
 * capacity says, or a task needs much room at once, the mark is lowered, so that the memory does not alternate between
 * tight and loose. HEDDLE_E_MEMORY. */
static int be_tight(heddle_runtime *rt, struct hd_memory *m)
{
	if (HD_LIKELY(m->tight))
		return 0;
	m->mark = m->used < m->mark ? m->used : m->mark;
	return tighten(rt, m);
}

/* The replica to evict first; NULL: none may be evicted. The memory is tight. */
static struct hd_replica *first_to_leave(struct hd_memory *m)
{
	while (m->n_heap && rank_of(m->heap[0].replica) != m->heap[0].rank)
		rank_again(m->heap[0].replica);
	return m->n_heap ? m->heap[0].replica : NULL;
}

/* --- Making room -------------------------------------------------------------------------------------------------- */

static void drop(struct hd_replica *r)
{
	memory_of(r)->evictions += !hd_replica_data(r)->n_writers;
	if (HD_UNLIKELY(hd_replica_data(r)->rt->adapt.evicted != NULL))
		hd_replica_data(r)->rt->adapt.evicted(r);
	hd_memory_free(r);
}

/* Counts or begins the write-backs that a replica and the windows in it need before the replica can be evicted. */
struct written_back {
	unsigned n; /* number of write-backs that have not begun */
	int begins; /* 0: write-backs are only counted */
	int status;
	uint64_t bytes; /* bytes that are free when all write-backs have ended; the last one is charged with them */
};

static void write_back_window(struct hd_replica *r, void *arg)
{
	struct written_back *w = arg;
	if (w->status)
		return;
	if (!r->valid) {
		hd_windows_each(r, write_back_window, w);
	} else if (!hd_is_clean(r)) { /* the windows in it are parts of the same value */
		w->n += w->begins ? -1u : 1;
		w->status = w->begins ? hd_write_back(r, w->n ? 0 : w->bytes) : 0;
	}
}

/* Begins to write back a replica that is not clean. */
static int write_back(struct hd_replica *r)
{
	if (HD_LIKELY(!hd_windows_in(r)))
		return hd_write_back(r, hd_replica_data(r)->bytes);
	struct written_back w = {.bytes = hd_replica_data(r)->bytes};
	write_back_window(r, &w);
	w.begins = 1;
	write_back_window(r, &w);
	return w.status;
}

int hd_evict_copy(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	int clean = hd_is_clean(r), status = clean ? 0 : write_back(r);
	if (clean)
		drop(r);
	else
		memory_of(r)->evictions += !status;
	return clean || status < 0 ? status : HEDDLE_PENDING;
}

/* Evicts replicas that nothing pins, until there is room for `need` bytes or no more can be evicted. Returns 0, or the
 * error of a write-back. */
static int evict_unused(heddle_runtime *rt, unsigned node, uint64_t need)
{
	struct hd_memory *m = &rt->memories[node];
	struct hd_replica *r;
	while (m->used + need > m->capacity && (r = first_to_leave(m))) {
		/* Write-backs under way count as free room. But evicting a replica that no task needs makes room at
		 * once. */
		if (m->used + need <= m->capacity + m->leaving && m->heap[0].rank <= HD_NEVER)
			break;
		if (hd_is_clean(r)) {
			drop(r);
			continue;
		}
		if (hd_drop_last_prefetch(rt, node))
			continue;
		int status = write_back(r);
		if (status)
			return status;
		m->evictions++;
	}
	return 0;
}

int hd_evict(heddle_runtime *rt, unsigned node, uint64_t need)
{
	HD_HELD(&rt->lock);
	struct hd_memory *m = &rt->memories[node];
	int status = be_tight(rt, m);
	if (status)
		return status;
	/* Dropping a prefetch frees its room; if it was to a window, the replica around the window may become idle. */
	do
		status = evict_unused(rt, node, need);
	while (!status && m->used + need > m->capacity && hd_drop_last_prefetch(rt, node));
	if (status)
		return status;
	return m->used + need <= m->capacity ? 0 : HEDDLE_PENDING;
}

int hd_evict_one(heddle_runtime *rt, unsigned node, size_t own)
{
	HD_HELD(&rt->lock);
	struct hd_memory *m = &rt->memories[node];
	int status = m->capacity ? be_tight(rt, m) : 0;
	if (status)
		return status;
	struct hd_replica *r = m->leaving ? NULL : first_to_leave(m);
	if (!r)
		return m->capacity && m->n_copies > own ? HEDDLE_PENDING : HEDDLE_E_MEMORY;
	if (!hd_is_clean(r) && hd_drop_last_prefetch(rt, node))
		return 0;
	return hd_evict_copy(r);
}

int hd_evict_for_hint(const struct hd_replica *wanted)
{
	const heddle_data *d = hd_replica_data(wanted);
	heddle_runtime *rt = d->rt;
	HD_HELD(&rt->lock);
	struct hd_memory *m = memory_of(wanted);
	if (HD_LIKELY(m->used + d->bytes <= m->capacity))
		return 0;
	if (be_tight(rt, m))
		return HEDDLE_PENDING; /* out of memory: the prefetch is only a hint */
	int needed = rt->next_use && hd_next_use(d, wanted->node) != HD_NEVER;
	struct hd_replica *r;
	while (m->used + d->bytes > m->capacity && needed && (r = first_to_leave(m)) && m->heap[0].rank > HD_NEVER)
		drop(r);
	return m->used + d->bytes <= m->capacity ? 0 : HEDDLE_PENDING;
}
