/* The rule next_use: evicts the replica whose next use by a submitted task is farthest away, as predicted by uses.c.
 * "Clean": no write-back is needed, because the value is valid on another node. Replicas are evicted in this order, and
 * within a class the replica with the latest next use first:
 *
 *   class  needed on its node                                   bits of the rank
 *   1      by no submitted task, clean                          NEVER + 1
 *   2      by no submitted task, not clean                      NEVER
 *   3      by waiting tasks only, clean                         WAITS CLEAN FIRST
 *   4      by few ready tasks that may run elsewhere, clean     WAITS CLEAN
 *   5      by waiting tasks only, not clean                     WAITS
 *   6      by other ready tasks, clean                                CLEAN
 *   7      by ready tasks, not clean                            -
 *
 * Class 4 comes before class 5 because the eviction of a replica of class 5 certainly costs a transfer, while a replica
 * of class 4 may turn out to be needed only on another accelerator. A special case is a replica that no task needs on
 * its node, but that is the only valid replica of a datum that another accelerator uses next. It ranks as if it were
 * clean and needed here at that time, because its eviction costs one transfer: the value then goes through main memory
 * instead of directly to the other accelerator.
 *
 * Under some policies the predictions are wrong. While src/adapt distrusts them (memory->distrusted), needed replicas,
 * clean or not, are evicted by their last use.
 *
 * These choices were made by measurement (bench/eviction.c). Keeping all unclean replicas longer than all clean
 * replicas moves more bytes; no distinction between clean and unclean replicas moves fewer bytes on machines with one
 * accelerator, but more bytes on machines with four.
 */
#include "state/memory.h"
#include "state/runtime.h"
#include "state/tree.h"
#include "eviction.h"
#include "eviction_rule.h"
#include "uses.h"

/* The turn of the datum's next use on another accelerator, if `r` is the datum's only valid replica; otherwise
 * HD_NEVER. */
static uint64_t use_elsewhere(const struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	return !hd_is_clean_alone(r) ? hd_next_use_elsewhere(d, r->node) : HD_NEVER;
}

/* Two bits of a rank, below HD_WAITS: CLEAN: the replica is clean. FIRST: class 3; it takes the place of HD_ANYWHERE,
 * which ranks do not contain.
 *
 *     bit   62     61     60     59     58 .. 0
 *           NEVER  WAITS  CLEAN  FIRST  the turn of the next use: memory/uses.h
 */
static const uint64_t CLEAN = (uint64_t)1 << 60, FIRST = (uint64_t)1 << 59;

/* The rank, in classes 3 to 7, of a replica that is needed at `use`. */
static uint64_t rank_of_needed(uint64_t use, uint64_t clean)
{
	uint64_t turn = use & ~HD_ANYWHERE;
	if (!clean)
		return turn;
	if (use & HD_WAITS)
		return turn | CLEAN | FIRST;
	return use & HD_ANYWHERE ? turn | CLEAN | HD_WAITS : turn | CLEAN;
}

/* The rank of a replica that no task needs on its node; `elsewhere`: see use_elsewhere. */
static uint64_t rank_of_unneeded(uint64_t elsewhere, uint64_t clean)
{
	return elsewhere == HD_NEVER ? HD_NEVER + clean : rank_of_needed(elsewhere, 1);
}

/* The turns (uses.h) at which a replica, or a window in it, is needed next. */
struct need {
	uint64_t use;
	/* the turn at which another accelerator next uses a value that is valid only in this replica */
	uint64_t elsewhere;
};

static void note_need(struct hd_replica *r, void *arg)
{
	struct need *need = arg;
	const heddle_data *d = hd_replica_data(r);
	if (r->valid && !d->n_writers) {
		uint64_t use = hd_next_use(d, r->node);
		/* `elsewhere` matters only if no task needs the value on this node */
		uint64_t elsewhere = use == HD_NEVER ? use_elsewhere(r) : HD_NEVER;
		need->use = use < need->use ? use : need->use;
		need->elsewhere = elsewhere < need->elsewhere ? elsewhere : need->elsewhere;
	}
	if (HD_UNLIKELY(hd_windows_in(r)))
		hd_windows_each(r, note_need, need);
}

static uint64_t rank(struct hd_replica *r, int clean)
{
	/* the next contribution to the reduction on this worker needs the private copy, at an unknown time */
	if (hd_replica_data(r)->is_private)
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
