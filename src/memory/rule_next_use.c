/* The rule next_use: what the submitted tasks need last leaves first, as far as that can be said (uses.c). Copies leave
 * in this order:
 *
 *   1. copies that no submitted task needs on this node (uses.c); those with another valid copy first
 *   2. copies that are needed only by tasks that wait for others; those with another valid copy first, since what has
 *      none must be written back; among these the one that is needed last. If a copy is the only valid one and
 *      another accelerator needs the datum next, the copy counts as clean, and as needed here or in 3
 *   3. copies that are needed by tasks that are ready; in the same order. But a copy with another valid one that only
 *      few tasks may need, of which the first may run on several accelerators, comes in 2, before those that must be
 *      written back: to write back is a transfer for certain, while that copy may be needed elsewhere
 *
 * When a task will run is a guess, which can be wrong for a policy: where it has turned out to be worse than the last
 * use (memory->distrusted), the needed copy that was used longest ago leaves first, whether there is another valid copy
 * or not.
 *
 * That copies without another one leave last in their class only was chosen by measurement, as was all of this
 * (bench/eviction.c): to keep all of them before all others moves more, to treat them alike moves less on machines with
 * one accelerator and more on those with four.
 */
#include "state/runtime.h"
#include "eviction.h"
#include "state/tree.h"
#include "uses.h"
#include "eviction_rule.h"
#include "state/memory.h"

/* When another accelerator needs next a copy without which the value would be lost; else HD_NEVER. */
static uint64_t use_elsewhere(const struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	return !hd_is_clean_alone(r) ? hd_next_use_elsewhere(d, r->node) : HD_NEVER;
}

/* Two bits of a rank, below HD_WAITS: the copy is clean; and it is the first to leave of the clean ones in 2. */
static const uint64_t CLEAN = (uint64_t)1 << 60, FIRST = (uint64_t)1 << 59;

/* The rank, in 2 or 3, of a copy that is needed at `use`. */
static uint64_t rank_of_needed(uint64_t use, uint64_t clean)
{
	uint64_t turn = use & ~HD_ANYWHERE;
	if (!clean)
		return turn;
	if (use & HD_WAITS)
		return turn | CLEAN | FIRST;
	return use & HD_ANYWHERE ? turn | CLEAN | HD_WAITS : turn | CLEAN;
}

/* The rank of a copy that no task needs on its node. If it is the only copy and another accelerator needs it, to let it
 * leave costs a transfer, as if it were clean and needed here: the value goes through main memory instead of straight
 * on. */
static uint64_t rank_of_unneeded(uint64_t elsewhere, uint64_t clean)
{
	return elsewhere == HD_NEVER ? HD_NEVER + clean : rank_of_needed(elsewhere, 1);
}

/* When a copy or a window in it is needed next. */
struct need {
	uint64_t use;
	uint64_t elsewhere; /* when another accelerator needs next what is only here */
};

static void note_need(struct hd_replica *r, void *arg)
{
	struct need *need = arg;
	const heddle_data *d = hd_replica_data(r);
	if (r->valid && !d->n_writers) {
		uint64_t use = hd_next_use(d, r->node);
		uint64_t elsewhere = use == HD_NEVER ? use_elsewhere(r) : HD_NEVER; /* else it does not count */
		need->use = use < need->use ? use : need->use;
		need->elsewhere = elsewhere < need->elsewhere ? elsewhere : need->elsewhere;
	}
	if (HD_UNLIKELY(hd_windows_in(r)))
		hd_windows_each(r, note_need, need);
}

static uint64_t rank(struct hd_replica *r, int clean)
{
	if (hd_replica_data(r)->is_private) /* the next contribution on this worker needs it, at an unknown time */
		return 0;
	struct need need = {HD_NEVER, HD_NEVER};
	note_need(r, &need);
	if (need.use == HD_NEVER)
		return rank_of_unneeded(need.elsewhere, (uint64_t)clean);
	const struct hd_memory *m = &hd_replica_data(r)->rt->memories[r->node];
	return m->distrusted ? 1 : rank_of_needed(need.use, (uint64_t)clean);
}

const struct hd_eviction_rule hd_rule_next_use = {
    .name = "next_use",
    .looks_ahead = 1,
    .rank = rank,
};
