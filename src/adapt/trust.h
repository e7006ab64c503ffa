/* What eviction_trust.c and prefetch_credit.c remember of each memory and of each copy, if the rule of eviction looks
 * ahead. The core lock is held in all functions. */
#ifndef HD_ADAPT_TRUST_H
#define HD_ADAPT_TRUST_H

#include "state/runtime.h"
#include "state/data.h"

/* What is remembered of a copy, also when it has been evicted. */
struct hd_memo {
	struct hd_memo *newer, *older; /* in the list of its node, if it is listed */
	struct hd_replica *replica;    /* set when it is listed */
	uint8_t listed;
	uint8_t kept;  /* 1: a task has used this value here, and the copy has not left since */
	uint8_t early; /* 1: a prefetch has made the copy or is about to, and no task has used it since */
};
struct hd_memos {
	uint32_t n_listed;
	struct hd_memo of[]; /* per node */
};
static inline struct hd_memos *hd_memos(const heddle_data *d)
{
	return (struct hd_memos *)((uintptr_t)d + d->rt->adapt.datum_at);
}
static inline struct hd_memo *hd_memo(const struct hd_replica *r)
{
	return &hd_memos(hd_replica_data(r))->of[r->node];
}

/* Of a memory: which copies would be there if always the least recently used one had left, and how that compares with
 * what was done: eviction_trust.c. And whether prefetches are of use there: prefetch_credit.c. */
struct hd_trust {
	struct hd_memo *newest, *oldest; /* borrowed: the copies that would be there, by their last use */
	uint64_t held;                   /* bytes of these */
	uint64_t used;                   /* bytes that tasks have used on the node so far: the clock of this */
	int64_t regret;    /* bytes that tasks lacked and would have had, less those that they had and would not */
	uint64_t until;    /* on that clock: when the order of use is given another chance */
	uint64_t patience; /* bytes: how long the last such time was; 0: there was none */
	int64_t credit;    /* bytes of prefetches: below 0 they go in order */
};

/* prefetch_credit.c. A task has got its data on the node, and with them this copy. */
void hd_credit_used(const struct hd_replica *r);
/* struct hd_adapt. */
void hd_credit_prefetched(struct hd_replica *r);
void hd_credit_evicted(const struct hd_replica *r);

#endif
