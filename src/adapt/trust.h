/* The records of eviction_trust.c, one per memory and one per replica, if the eviction rule looks ahead. */
#ifndef HD_ADAPT_TRUST_H
#define HD_ADAPT_TRUST_H

#include "state/data.h"
#include "state/runtime.h"

/* The record of a replica; it stays when the replica is evicted. */
struct hd_memo {
	struct hd_memo *newer, *older; /* if it is listed: its neighbours in the list of its node */
	struct hd_replica *replica;    /* set when the memo is listed */
	uint8_t listed;
	uint8_t kept; /* 1: a task has used the value here, and the replica has not been evicted since */
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

/* The record of a memory: the trial, that is, the replicas that the memory would have if it had always evicted the
 * least recently used replica; and the comparison of the trial with the real memory. */
struct hd_trust {
	struct hd_memo *newest, *oldest; /* borrowed: the list of the trial's replicas by their last use */
	uint64_t held;                   /* bytes of the trial's replicas */
	uint64_t used; /* bytes that tasks have used here so far: the clock for `until` and `patience` */
	/* bytes that tasks lacked but the trial had, less bytes that tasks had but the trial lacked */
	int64_t regret;
	uint64_t until; /* by the clock `used`: when the prediction gets another chance */
	/* bytes by that clock: length of the last period without the prediction; 0: there was none */
	uint64_t patience;
};

#endif
