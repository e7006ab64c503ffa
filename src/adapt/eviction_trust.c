/* Decides whether the predicted order in which tasks will use data (memory/uses.c) is trusted. The prediction is a
 * guess from the states of tasks, their priorities and the order of submission. If a policy follows another order,
 * replicas are evicted that are needed soon. So each memory that evicts by the prediction also keeps a trial: the set
 * of replicas that the memory would have if it had always evicted the least recently used replica. If a task lacks a
 * replica that the trial has, this counts against the prediction; if the task has a replica that the trial lacks, it
 * counts for the prediction. If the prediction has cost more than 1 / FAULTS of the memory's bytes, needed replicas are
 * evicted by their last use for a period; then the prediction gets another chance. Each such period is twice as long as
 * the previous period, so that a prediction that stays wrong costs little.
 *
 * Adaptive caches work in this way, too: of two rules they follow the rule that would have had fewer misses, and for
 * the comparison they list what the other rule would have kept (Subramanian et al., MICRO 2006). FAULTS and the times
 * are Heddle's own: bench/eviction.c measures them.
 *
 * The trial needs no replicas, only a list of last uses: the memos. The real memory evicts replicas that no task needs
 * first; the trial does not, which favours the prediction a little. */
#include <stdlib.h>
#include "inspect/check.h"
#include "memory/eviction.h"
#include "memory/uses.h"
#include "state/data.h"
#include "state/memory.h"
#include "adapt.h"
#include "trust.h"

enum {
	FAULTS = 4,
	/* the first period without the prediction ends when tasks have used this many times the memory's bytes */
	FIRST_WHILE = 4,
	LONGEST_WHILE = 1 << 20
};

static void unlist(struct hd_memory *m, struct hd_memo *memo)
{
	struct hd_trust *trust = m->trust;
	*(memo->newer ? &memo->newer->older : &trust->newest) = memo->older;
	*(memo->older ? &memo->older->newer : &trust->oldest) = memo->newer;
	memo->listed = 0;
	const heddle_data *d = hd_replica_data(memo->replica);
	trust->held -= d->bytes;
	hd_memos(d)->n_listed--;
}

static void list(struct hd_memory *m, struct hd_memo *memo, struct hd_replica *r)
{
	struct hd_trust *trust = m->trust;
	memo->replica = r;
	memo->newer = NULL;
	memo->older = trust->newest;
	*(memo->older ? &memo->older->newer : &trust->oldest) = memo;
	trust->newest = memo;
	memo->listed = 1;
	const heddle_data *d = hd_replica_data(r);
	trust->held += d->bytes;
	hd_memos(d)->n_listed++;
	while (trust->held > m->capacity)
		unlist(m, trust->oldest);
}

static void begin(struct hd_memory *m)
{
	for (struct hd_replica *r = m->idle.oldest; r; r = r->newer) {
		struct hd_memo *memo = hd_memo(r);
		if (!r->valid || r->window)
			continue;
		memo->kept = 1;
		list(m, memo, r);
	}
}

static void end(struct hd_memory *m)
{
	while (m->trust->newest)
		unlist(m, m->trust->newest);
	*m->trust = (struct hd_trust){0};
	m->distrusted = 0;
}

static void tightened(struct hd_memory *m, int tight)
{
	if (tight)
		begin(m);
	else
		end(m);
}

/* Decides whether the prediction is trusted from now on. */
static void judge(struct hd_memory *m)
{
	struct hd_trust *trust = m->trust;
	int64_t most = (int64_t)(m->capacity / FAULTS);
	if (trust->regret < -most)
		trust->regret = -most; /* a limit, so that the distant past does not count for ever */
	if (m->distrusted ? trust->used < trust->until : trust->regret <= most)
		return;
	m->distrusted = !m->distrusted;
	trust->regret = 0;
	if (m->distrusted) {
		uint64_t longest = LONGEST_WHILE * m->capacity;
		trust->patience = trust->patience ? 2 * trust->patience : FIRST_WHILE * m->capacity;
		trust->patience = trust->patience < longest ? trust->patience : longest;
		trust->until = trust->used + trust->patience;
	}
	hd_evict_choose_anew(m);
}

static void used(heddle_task *t, unsigned node)
{
	heddle_runtime *rt = hd_task_runtime(t);
	HD_HELD(&rt->lock);
	struct hd_memory *m = &rt->memories[node];
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_access *a = &t->accesses[i];
		if (!hd_is_use(a) || !(a->flags & HD_ACCESS_PINNED))
			continue;
		heddle_data *d = a->data;
		struct hd_memo *memo = &hd_memos(d)->of[node];
		m->trust->used += d->bytes;
		if (hd_mode_reads(a->mode) && !m->distrusted)
			m->trust->regret += (int64_t)d->bytes * (memo->listed - memo->kept);
		memo->kept = 1;
		if (memo->listed)
			unlist(m, memo);
		list(m, memo, &d->replicas[node]);
	}
	judge(m);
}

static void left(const struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	hd_memo(r)->kept = 0;
}

static void replaced(const heddle_data *d, size_t node)
{
	heddle_runtime *rt = d->rt;
	HD_HELD(&rt->lock);
	struct hd_memos *memos = hd_memos(d);
	if (HD_LIKELY(!memos->n_listed))
		return;
	uint32_t stay = node < rt->n_nodes && memos->of[node].listed;
	for (size_t i = 1; memos->n_listed > stay; i++)
		if (i != node && memos->of[i].listed)
			unlist(&rt->memories[i], &memos->of[i]);
}

/* Checks that the list of a memory contains exactly the memos marked as listed, and that their bytes are counted and
 * fit into the memory. */
static int check(const struct hd_check *c, size_t node)
{
	const struct hd_memory *m = &c->rt->memories[node];
	const struct hd_trust *trust = m->trust;
	const char *name = c->rt->platform->nodes[node].name;
	uint64_t held = 0;
	size_t n = 0;
	for (size_t i = 0; i < c->n_data; i++) {
		const heddle_data *d = c->data[i].data;
		const struct hd_memo *memo = hd_memo(&d->replicas[node]);
		held += memo->listed ? d->bytes : 0;
		n += memo->listed;
	}
	const struct hd_memo *newer = NULL;
	for (const struct hd_memo *memo = trust->newest; memo; newer = memo, memo = memo->older)
		if (!n-- || memo->newer != newer || memo->replica->node != node || !memo->listed)
			return hd_broken("%s: the list of what was used last is wrong", name);
	if (!m->tight && trust->newest)
		return hd_broken("%s: it is not tight, and what was used last is listed", name);
	return n || trust->oldest != newer || trust->held != held || held > m->capacity
	           ? hd_broken("%s: what was used last has %llu bytes, held says %llu; or the end of the list is wrong",
	                       name, (unsigned long long)held, (unsigned long long)trust->held)
	           : 0;
}

static int check_all(struct hd_check *c)
{
	int status = 0;
	for (size_t i = 0; c->rt->next_use && i < c->rt->n_nodes && !status; i++)
		status = check(c, i);
	return status;
}

int hd_trust_open(heddle_runtime *rt)
{
	struct hd_adapt *a = &rt->adapt;
	for (size_t i = 0; rt->next_use && i < rt->n_nodes; i++)
		if (!(rt->memories[i].trust = calloc(1, sizeof *rt->memories[i].trust)))
			return hd_no_memory("the uses of a memory");
	if (!rt->next_use)
		return 0;
	a->tightened = tightened;
	a->used = used;
	a->left = left;
	a->replaced = replaced;
	a->check_memories = check_all;
	a->datum_bytes += hd_round_up(sizeof(struct hd_memos) + rt->n_nodes * sizeof(struct hd_memo), sizeof(double));
	return 0;
}

void hd_trust_close(heddle_runtime *rt)
{
	for (size_t i = 0; rt->memories && i < rt->n_nodes; i++)
		free(rt->memories[i].trust);
}
