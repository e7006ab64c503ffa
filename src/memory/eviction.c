/* Eviction: which replicas leave a memory that is full.
 *
 * The replica with the greatest rank is evicted first. A replica that is invalid, or will be soon because a staged task
 * writes the datum on another node, has the greatest rank. The eviction rule computes the ranks of the other replicas
 * (eviction_rule.h). Of replicas with equal ranks, the least recently used replica is evicted first.
 *
 * Ranks are computed only when something must be evicted. Then all idle replicas are ranked, and the 1/PART of them
 * with the greatest ranks become the candidates, which are evicted one after the other. A candidate whose rank has
 * fallen since, because a new task needs it, is skipped; when no candidate is left, all idle replicas are ranked again.
 * So an eviction computes about PART ranks, whatever the number of replicas, and a use of a replica computes none. A
 * clean replica that becomes idle when no task needs it any more is put into a list of its own, so that it can be
 * evicted before the next ranking.
 *
 * A prefetch may evict only replicas that no task needs. During a *shortage*, while replicas that tasks need must be
 * evicted, a prefetch may evict nothing: policies prefetch for tasks that run much later, and tasks that run earlier
 * need the free room. bench/eviction.c measures both rules.
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

/* --- The candidates ----------------------------------------------------------------------------------------------- */

static int leaves_before(const struct hd_leaving *a, const struct hd_leaving *b)
{
	return a->rank > b->rank || (a->rank == b->rank && a->age < b->age);
}

/* Puts the entry into the heap of `n` entries, whose place `i` is free, at this place or farther down. */
static void sift_down(struct hd_leaving *heap, size_t n, size_t i, struct hd_leaving entry)
{
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && leaves_before(&heap[child + 1], &heap[child]))
			child++;
		if (!leaves_before(&heap[child], &entry))
			break;
		heap[i] = heap[child];
	}
	heap[i] = entry;
}

/* Ranks all idle replicas, and makes the 1/PART of them with the greatest ranks candidates, the greatest rank last. */
static void choose_candidates(struct hd_memory *m)
{
	enum { PART = 16 };
	struct hd_leaving *all = m->candidates;
	size_t n = 0;
	for (struct hd_replica *r = m->idle.oldest; r; r = r->newer, n++)
		all[n] = (struct hd_leaving){rank_of(r), n, r};
	for (size_t i = n / 2; i-- > 0;)
		sift_down(all, n, i, all[i]);
	m->first_candidate = m->n_candidates = n;
	while (m->first_candidate && n - m->first_candidate <= n / PART) {
		size_t last = --m->first_candidate;
		struct hd_leaving top = all[0];
		sift_down(all, last, 0, all[last]);
		all[last] = top;
		top.replica->place = 2 + (uint32_t)last;
	}
}

/* Removes the last candidate from the candidates; its replica stays idle. */
static void pop_candidate(struct hd_memory *m)
{
	struct hd_replica *r = m->candidates[--m->n_candidates].replica;
	if (r)
		r->place = 1;
}

void hd_evict_choose_anew(struct hd_memory *m)
{
	while (m->first_candidate < m->n_candidates)
		pop_candidate(m);
}

static int reserve_candidates(struct hd_memory *m)
{
	if (m->n_copies < m->max_candidates)
		return 0;
	size_t max = m->max_candidates ? 2 * m->max_candidates : 32;
	while (max <= m->n_copies)
		max *= 2;
	struct hd_leaving *larger = realloc(m->candidates, max * sizeof *larger);
	if (!larger)
		return hd_no_memory("the copies of a memory");
	m->candidates = larger;
	m->max_candidates = max;
	return 0;
}

/* Whether no task in the graph will use the replica, and no value is lost with it. */
static int is_unneeded(const struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	return d->rt->next_use && !d->is_private && !hd_windows_in(r) && !hd_data_uses(d)->first &&
	       hd_is_clean_alone(r);
}

static void append(struct hd_idle *list, struct hd_replica *r, uint32_t place)
{
	r->place = place;
	r->newer = NULL;
	r->older = list->newest;
	*(r->older ? &r->older->newer : &list->oldest) = r;
	list->newest = r;
}

void hd_evict_add(struct hd_memory *m, struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	if (HD_LIKELY(!m->tight))
		r->idle_since = ++m->n_idled;
	else if (is_unneeded(r))
		append(&m->unneeded, r, HD_UNNEEDED);
	else
		append(&m->idle, r, 1);
}

void hd_evict_remove(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	if (!r->place)
		return;
	struct hd_memory *m = memory_of(r);
	struct hd_idle *list = r->place == HD_UNNEEDED ? &m->unneeded : &m->idle;
	if (HD_UNLIKELY(r->place > 1) && r->place != HD_UNNEEDED)
		m->candidates[r->place - 2].replica = NULL;
	*(r->older ? &r->older->newer : &list->oldest) = r->newer;
	*(r->newer ? &r->newer->older : &list->newest) = r->older;
	r->place = 0;
}

/* The candidate to evict first; its `replica` is NULL if there is none. */
static struct hd_leaving best_candidate(struct hd_memory *m)
{
	for (; m->idle.oldest; choose_candidates(m))
		for (; m->first_candidate < m->n_candidates; pop_candidate(m)) {
			struct hd_leaving best = m->candidates[m->n_candidates - 1];
			if (best.replica && rank_of(best.replica) >= best.rank)
				return best;
		}
	return (struct hd_leaving){.replica = NULL};
}

/* The replica to evict first, with its rank; `replica` NULL: there is none. The caller has made the memory tight. */
static struct hd_leaving first_to_leave(struct hd_memory *m)
{
	for (struct hd_replica *r; (r = m->unneeded.oldest) && !is_unneeded(r);) {
		hd_evict_remove(r); /* it is in the wrong list now, because a new task needs the replica */
		hd_evict_add(m, r);
	}
	struct hd_replica *unneeded = m->unneeded.oldest;
	struct hd_leaving best = best_candidate(m);
	uint64_t rank = unneeded ? rank_of(unneeded) : 0;
	return unneeded && (!best.replica || rank > best.rank) ? (struct hd_leaving){rank, 0, unneeded} : best;
}

/* --- Tight and loose ---------------------------------------------------------------------------------------------- */

/* Adds the replica to the candidates if it is idle. */
static void note_idle(struct hd_memory *m, struct hd_replica *r)
{
	if (r->ptr && !r->pins && !r->user_buffer && !r->window)
		m->candidates[m->n_candidates++] = (struct hd_leaving){0, r->idle_since, r};
}

/* Lists the idle replicas of the memory, by their last use. There must be room for as many candidates. */
static void list_idle(const heddle_runtime *rt, struct hd_memory *m)
{
	size_t node = (size_t)(m - rt->memories);
	m->n_candidates = 0;
	for (heddle_data *d = rt->handles.list; d; d = d->next) {
		note_idle(m, &d->replicas[node]);
		for (const struct hd_private *p = d->extra ? d->extra->privates : NULL; p; p = p->next)
			note_idle(m, &p->copy->replicas[node]);
	}
	for (size_t i = m->n_candidates / 2; i-- > 0;)
		sift_down(m->candidates, m->n_candidates, i, m->candidates[i]);
	while (m->n_candidates) {
		append(&m->idle, m->candidates[0].replica, 1);
		size_t last = --m->n_candidates;
		sift_down(m->candidates, last, 0, m->candidates[last]);
	}
	m->first_candidate = 0;
}

static int tighten(heddle_runtime *rt, struct hd_memory *m)
{
	int status = reserve_candidates(m);
	if (!status && rt->next_use && !rt->dispatch.n_tight)
		status = hd_uses_list(rt);
	if (status)
		return status;
	rt->dispatch.n_tight++;
	list_idle(rt, m);
	m->tight = 1;
	if (rt->adapt.tightened)
		rt->adapt.tightened(m, 1);
	return 0;
}

static void loosen(heddle_runtime *rt, struct hd_memory *m)
{
	m->tight = 0;
	m->shortage = 0;
	hd_evict_choose_anew(m);
	for (struct hd_replica *r; (r = m->idle.oldest ? m->idle.oldest : m->unneeded.oldest);) {
		hd_evict_remove(r);
		hd_evict_add(m, r);
	}
	rt->dispatch.n_tight--;
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
		return reserve_candidates(m);
	loosen(rt, m);
	return 0;
}

/* Makes the memory tight, whatever its mark, because some replica must be evicted. Lowers the mark to the present use:
 * the memory may have less room than its capacity says, or a task may need much room at once, and the memory must not
 * alternate between tight and loose. HEDDLE_E_MEMORY. */
static int be_tight(heddle_runtime *rt, struct hd_memory *m)
{
	if (HD_LIKELY(m->tight))
		return 0;
	m->mark = m->used < m->mark ? m->used : m->mark;
	return tighten(rt, m);
}

/* --- Making room -------------------------------------------------------------------------------------------------- */

static void drop(struct hd_replica *r)
{
	memory_of(r)->evictions += !hd_replica_data(r)->n_writers;
	hd_memory_free(r);
}

/* The argument of write_back_window: counts or begins the write-backs that a replica and its windows need before the
 * replica can be evicted. */
struct written_back {
	unsigned n; /* number of write-backs that have not begun */
	int begins; /* 1: begins the write-backs; 0: only counts them */
	int status;
	/* bytes that become free when all write-backs have ended; recorded as `leaves` of the last write-back */
	uint64_t bytes;
};

static void write_back_window(struct hd_replica *r, void *arg)
{
	struct written_back *w = arg;
	if (w->status)
		return;
	if (!r->valid) {
		hd_windows_each(r, write_back_window, w);
	} else if (!hd_is_clean(r)) { /* one write-back of `r` also writes back the windows in it */
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

/* Records that a replica with this rank is evicted for a task: begins, continues or ends a shortage. */
static void note_eviction(struct hd_memory *m, uint64_t rank)
{
	/* a shortage ends after n_copies / SHORT evictions in a row of replicas that no task needs */
	enum { SHORT = 4 };
	if (rank < HD_NEVER)
		m->shortage = m->n_copies / SHORT;
	else if (m->shortage)
		m->shortage--;
}

/* Evicts replicas that nothing pins, until there is room for `need` bytes or no more can be evicted. Returns 0, or the
 * status of a write-back that has not begun. */
static int evict_unused(heddle_runtime *rt, unsigned node, uint64_t need)
{
	struct hd_memory *m = &rt->memories[node];
	while (m->used + need > m->capacity) {
		struct hd_leaving first = first_to_leave(m);
		struct hd_replica *r = first.replica;
		/* Write-backs under way count as free room. But an unneeded replica is evicted even then, because it
		 * makes room at once. */
		if (!r || (m->used + need <= m->capacity + m->leaving && first.rank <= HD_NEVER))
			break;
		note_eviction(m, first.rank);
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
	/* A dropped prefetch frees its room; if its target was a window, the replica around the window may become idle,
	 * and can be evicted. */
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
	struct hd_replica *r = m->leaving ? NULL : first_to_leave(m).replica;
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
		return HEDDLE_PENDING; /* even if out of memory, because a prefetch is only a hint */
	int may_evict = rt->next_use && !m->shortage && hd_next_use(d, wanted->node) != HD_NEVER;
	while (m->used + d->bytes > m->capacity && may_evict) {
		struct hd_leaving first = first_to_leave(m);
		may_evict = first.replica && first.rank > HD_NEVER;
		if (may_evict)
			drop(first.replica);
	}
	return m->used + d->bytes <= m->capacity ? 0 : HEDDLE_PENDING;
}
