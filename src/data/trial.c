/* Whether the order in which tasks are expected to use their data (uses.c) deserves trust. It is a guess from the state
 * of the tasks, their priorities and the order of submission; a policy may follow quite another order, and then the
 * copies that leave are those that are needed soon. So each memory that evicts by this order also keeps a trial: which
 * copies would be there if always the least recently used one had left. Where a task lacks what it would have in the
 * trial, that speaks against the order; where it has what it would lack, for it. When the order has cost more than
 * 1 / FAULTS of the memory, copies that are needed leave by their last use for a while, then the order gets another
 * chance. Each time that is twice as long, so that it costs little if the order stays wrong.
 *
 * The trial needs no copies, only a list of what was used last: the memos. What nobody needs leaves first in any case;
 * in the trial it does not, which favours the order a little.
 */
#include "state/runtime.h"
#include "memory/lost_memory.h"
#include "state/memory.h"
#include "memory/uses.h"

enum {
	FAULTS = 4,
	FIRST_WHILE =
	    4, /* so many times the memory's bytes are used by tasks before the order gets its second chance */
	LONGEST_WHILE = 1 << 20
};

static void unlist(struct hd_memory *m, struct hd_memo *memo)
{
	struct hd_trial *trial = &m->trial;
	*(memo->newer ? &memo->newer->older : &trial->newest) = memo->older;
	*(memo->older ? &memo->older->newer : &trial->oldest) = memo->newer;
	memo->listed = 0;
	const heddle_data *d = hd_replica_data(memo->replica);
	trial->held -= d->bytes;
	hd_data_uses(d)->n_listed--;
}

static void list(struct hd_memory *m, struct hd_memo *memo, struct hd_replica *r)
{
	struct hd_trial *trial = &m->trial;
	memo->replica = r;
	memo->newer = NULL;
	memo->older = trial->newest;
	*(memo->older ? &memo->older->newer : &trial->oldest) = memo;
	trial->newest = memo;
	memo->listed = 1;
	const heddle_data *d = hd_replica_data(r);
	trial->held += d->bytes;
	hd_data_uses(d)->n_listed++;
	while (trial->held > m->capacity)
		unlist(m, trial->oldest);
}

void hd_trial_begin(struct hd_memory *m)
{
	for (struct hd_replica *r = m->oldest; r; r = r->newer) {
		struct hd_memo *memo = hd_data_memo(hd_replica_data(r), r->node);
		if (memo->early || !r->valid || r->window)
			continue;
		memo->kept = 1;
		list(m, memo, r);
	}
}

void hd_trial_end(struct hd_memory *m)
{
	while (m->trial.newest)
		unlist(m, m->trial.newest);
	while (m->early.first)
		hd_early_forget(m->early.first->replica);
	m->trial = (struct hd_trial){0};
	m->early.credit = 0;
}

/* Whether the order is trusted from now on. */
static void judge(struct hd_memory *m)
{
	struct hd_trial *trial = &m->trial;
	int64_t most = (int64_t)(m->capacity / FAULTS);
	if (trial->regret < -most)
		trial->regret = -most; /* so that what was long ago does not count for ever */
	if (trial->distrusted ? trial->used < trial->until : trial->regret <= most)
		return;
	trial->distrusted = !trial->distrusted;
	trial->regret = 0;
	if (trial->distrusted) {
		uint64_t longest = LONGEST_WHILE * m->capacity;
		trial->patience = trial->patience ? 2 * trial->patience : FIRST_WHILE * m->capacity;
		trial->patience = trial->patience < longest ? trial->patience : longest;
		trial->until = trial->used + trial->patience;
	}
	hd_evict_rank_all(m);
}

void hd_trial_used(heddle_task *t, unsigned node)
{
	heddle_runtime *rt = hd_task_runtime(t);
	HD_HELD(&rt->lock);
	struct hd_memory *m = &rt->memories[node];
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_access *a = &t->accesses[i];
		if (!hd_is_use(a) || !(a->flags & HD_ACCESS_PINNED))
			continue;
		heddle_data *d = a->data;
		struct hd_memo *memo = hd_data_memo(d, node);
		hd_early_used(&d->replicas[node]);
		m->trial.used += d->bytes;
		if (hd_mode_reads(a->mode) && !m->trial.distrusted)
			m->trial.regret += (int64_t)d->bytes * (memo->listed - memo->kept);
		memo->kept = 1;
		if (memo->listed)
			unlist(m, memo);
		list(m, memo, &d->replicas[node]);
	}
	judge(m);
}

void hd_trial_left(const struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	HD_HELD(&d->rt->lock);
	hd_data_memo(d, r->node)->kept = 0;
	hd_early_left(r);
}

void hd_trial_replaced(const heddle_data *d, size_t node)
{
	heddle_runtime *rt = d->rt;
	HD_HELD(&rt->lock);
	if (HD_LIKELY(!hd_data_uses(d)->n_listed))
		return;
	uint32_t stay = node < rt->n_nodes && hd_data_memo(d, node)->listed;
	for (size_t i = 1; hd_data_uses(d)->n_listed > stay; i++)
		if (i != node && hd_data_memo(d, i)->listed)
			unlist(&rt->memories[i], hd_data_memo(d, i));
}
