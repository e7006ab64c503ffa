/* Transfers: copies of data between memories, prefetches included. The core lock guards them. */
#ifndef HD_STATE_TRANSFER_H
#define HD_STATE_TRANSFER_H

#include <heddle/data.h>

struct hd_access;
struct hd_hop;

enum hd_reason { HD_DEMAND, HD_PREFETCH, HD_WRITE_BACK };

/* The urgency of a transfer, the most urgent first. A lane has one list per urgency, in this order, and the list
 * HD_BEHIND. */
enum hd_urgency {
	HD_AWAITED, /* a task waits for the datum, or for the room that a write-back frees */
	HD_HINTED,  /* a prefetch: a task will probably need the datum */
	HD_URGENCIES,
	/* not an urgency: the list of the transfers that cannot move yet, because they are second hops */
	HD_BEHIND = HD_URGENCIES,
	HD_LANE_LISTS
};

/* A transfer of a datum from one node to another. From its creation until the engine takes it, the transfer waits in
 * its lane. */
struct hd_transfer {
	heddle_data *data;
	struct hd_hop *hop;                /* borrowed from the runtime: the link over which it moves */
	struct hd_transfer *next, *before; /* neighbours in the list of the datum's transfers */
	/* neighbours in its list of the lane; used by the engine when the transfer has begun to move */
	struct hd_transfer *lane_next, *lane_prev;
	/* accesses that wait for the transfer, in order of arrival; last_waiter is undefined if there is none */
	struct hd_access *waiters, *last_waiter;
	/* a second hop, from main memory: the first hop, to main memory, which must end before this transfer can move;
	 * NULL: none, or the first hop has ended */
	struct hd_transfer *behind;
	uint16_t from, to;
	/* reason: enum hd_reason; a prefetch becomes a demand if a task begins to wait for it before it moves. evict:
	 * 1: the source replica is freed afterwards */
	uint8_t reason, evict;
	uint8_t urgency; /* enum hd_urgency; const after the transfer has begun to move */
	int rank;        /* HD_HINTED: the urgency among the prefetches that the policy has asked for */
	/* us: when it was predicted to end, at the moment when it was queued or began to move */
	double due;
	uint8_t moving; /* 1: the engine has taken the transfer from its lane */
	uint8_t told;   /* used by the engine: whether the driver reports the end of the copy */
	void *event;    /* used by the engine: the driver's event while the copy is under way */
	uint8_t ended;  /* 1: it has ended, and is about to be freed */
	/* 1: a task was writing the datum when the transfer was made (heddle_unordered), so that its target will not be
	 * valid */
	uint8_t stale;
	int status;
	uint64_t leaves; /* bytes that the end of this transfer frees at its source, as counted in hd_memory.leaving */
	double expected; /* used by the engine: expected duration, us */
	double start, end; /* us: when the copy began and ended */
};

/* A lane: the transfers that wait to be moved into a node, or out of a node to main memory. Each list is in order of
 * arrival; in the list HD_HINTED, those with a larger `rank` go first. */
struct hd_lane {
	struct hd_transfer *first[HD_LANE_LISTS], *last[HD_LANE_LISTS];
	/* us: until: when what has begun to move is predicted to end; queued: the predicted time of what waits */
	double until, queued;
};

/* A prefetch that waits until a block of memory has been allocated for it. */
struct hd_hint {
	struct hd_hint *next;
	heddle_data *data; /* borrowed: a datum that ends removes its hints */
};

#endif
