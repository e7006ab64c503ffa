/* The records of eviction_trust.c and prefetch_credit.c: of each memory and of each replica, if the eviction rule looks
 * ahead. The core lock is held in all functions. */
#ifndef HD_ADAPT_TRUST_H
#define HD_ADAPT_TRUST_H

#include "state/data.h"
#include "state/runtime.h"

/* The record of a replica; it stays when the replica is evicted. */
struct hd_memo {
	struct hd_memo *newer, *older; /* neighbours in the list of its node, if it is listed */
	struct hd_replica *replica;    /* set when it is listed */
	uint8_t listed;
	uint8_t kept;  /* 1: a task has used the value here, and the replica has not been evicted since */
	uint8_t early; /* 1: a prefetch has brought the replica or is about to, and no task has used it since */
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

/* The record of a memory. eviction_trust.c: the trial, that is, which replicas would be there if the least recently
 * used one had always been evicted, and how the trial compares with reality. prefetch_credit.c: whether prefetches are
 * useful. */
struct hd_trust {
	struct hd_memo *newest, *oldest; /* borrowed: the replicas of the trial, by their last use */
	uint64_t held;                   /* bytes of the replicas of the trial */
	uint64_t used;                   /* bytes that tasks have used on the node so far: the clock of `until` */
	/* bytes that tasks lacked but the trial had, minus bytes that tasks had but the trial lacked */
	int64_t regret;
	uint64_t until;    /* by the clock `used`: when the prediction gets another chance */
	uint64_t patience; /* bytes by that clock: length of the last time without the prediction; 0: there was none */
	int64_t credit;    /* bytes: the credit of prefetches; below 0, prefetches go in order */
};

/* prefetch_credit.c: to be called when a task has its data on the node, this replica among them. */
void hd_credit_used(const struct hd_replica *r);
/* Functions of the table struct hd_adapt. */
void hd_credit_prefetched(struct hd_replica *r);
void hd_credit_evicted(const struct hd_replica *r);

#endif
