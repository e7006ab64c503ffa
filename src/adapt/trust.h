/* What eviction_trust.c and prefetch_credit.c record of each memory and each replica, if the rule of eviction looks
 * ahead. All functions are called with the core lock held. */
#ifndef HD_ADAPT_TRUST_H
#define HD_ADAPT_TRUST_H

#include "state/data.h"
#include "state/runtime.h"

/* What is recorded of a replica; it stays when the replica is evicted. */
struct hd_memo {
	struct hd_memo *newer, *older; /* if it is listed: its neighbours in the list of its node */
	struct hd_replica *replica;    /* set when the memo is listed */
	uint8_t listed;
	uint8_t kept;  /* 1: a task has used the value here, and the replica has not been evicted since */
	uint8_t early; /* 1: a prefetch has brought the replica, or will, and no task has used it since */
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

/* What is recorded of a memory. For eviction_trust.c: the trial, that is, which replicas would be there if the least
 * recently used one had always been evicted, and how the trial compares with reality. For prefetch_credit.c: whether
 * prefetches are useful. */
struct hd_trust {
	struct hd_memo *newest, *oldest; /* borrowed: the list of the trial's replicas by their last use */
	uint64_t held;                   /* bytes of the trial's replicas */
	uint64_t used; /* bytes that tasks have used here so far: the clock for `until` and `patience` */
	/* bytes that tasks lacked but the trial had, less bytes that tasks had but the trial lacked */
	int64_t regret;
	uint64_t until;    /* when `used` has reached it, the prediction gets another chance */
	uint64_t patience; /* how many bytes the last while without the prediction lasted; 0: there was none */
	int64_t credit;    /* bytes: the credit of prefetches; below 0: prefetches go in order */
};

/* prefetch_credit.c: called for each replica of a task that has its data on the node. */
void hd_credit_used(const struct hd_replica *r);
/* These are functions of the table struct hd_adapt. */
void hd_credit_prefetched(struct hd_replica *r);
void hd_credit_evicted(const struct hd_replica *r);

#endif
