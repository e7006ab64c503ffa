/* Transfers: copies of data between memories, and the prefetches among them. Included by data.h. */
#ifndef HD_TRANSFERS_H
#define HD_TRANSFERS_H

#include <heddle/data.h>
#include "state/task.h"

struct hd_memory;
struct hd_replica;

enum hd_reason { HD_DEMAND, HD_PREFETCH, HD_WRITE_BACK };

/* How soon a transfer must move, the most urgent first. In the same order the lists of a lane, which has one more. */
enum hd_urgency {
	HD_AWAITED, /* a task waits for the datum, or for the room of what is written back */
	HD_HINTED,  /* a prefetch: a task will probably need the datum */
	HD_URGENCIES,
	HD_BEHIND = HD_URGENCIES, /* not an urgency: transfers that cannot move yet, because they follow another */
	HD_LANE_LISTS
};

/* A transfer of a datum from one node to another. From its beginning until the engine takes it, to move it, it waits in
 * its lane. */
struct hd_transfer {
	heddle_data *data;
	struct hd_transfer *next;                  /* of the same datum */
	struct hd_transfer *lane_next, *lane_prev; /* in its list of the lane; the engine's while it moves */
	/* accesses of tasks that wait for it, in order of arrival; the last is undefined if there is none */
	struct hd_access *waiters, *last_waiter;
	struct hd_transfer *behind; /* second hop: cannot move until `behind` has ended; NULL then */
	uint16_t from, to;
	/* reason: enum hd_reason; a prefetch that a task waits for before it moves becomes a demand. evict: the source
	 * is freed afterwards */
	uint8_t reason, evict;
	uint8_t urgency; /* enum hd_urgency; does not change any more while it moves */
	uint8_t moving;  /* the engine has taken it from its lane */
	uint8_t told;    /* the engine's: whether the driver tells when the copy has ended */
	void *event;     /* the engine's: the driver's, while the copy is under way */
	uint8_t ended;   /* it has, and is about to be freed */
	int status;
	uint64_t leaves;   /* bytes that are free when it has ended, as far as is counted: hd_write_back */
	double expected;   /* the engine's: us that it is expected to take */
	double start, end; /* us */
};

/* The transfers that wait to be moved into a node, or out of one to main memory: of each urgency, and those behind
 * others. Within a list the one that came first is first. */
struct hd_lane {
	struct hd_transfer *first[HD_LANE_LISTS], *last[HD_LANE_LISTS];
};

/* A prefetch that waits until a block of memory has been allocated. */
struct hd_hint {
	struct hd_hint *next;
	heddle_data *data; /* borrowed: a datum that ends takes its hints along */
};

/* transfers.c */
/* Finds the transfer that will make the replica on `to`, which is allocated, valid; makes one if there is none: for
 * HD_DEMAND one that is HD_AWAITED. HEDDLE_E_STATE: there is no valid copy of the datum; HEDDLE_E_MEMORY. For
 * HD_PREFETCH also what hd_memory_try returns, if the datum goes through main memory. */
int hd_fetch(heddle_data *d, unsigned to, enum hd_reason reason, struct hd_transfer **out);
/* Lets the access wait for the transfer, which becomes HD_AWAITED. */
void hd_transfer_await(struct hd_transfer *tr, struct hd_access *a);
/* Drops the transfers of the datum that have not begun to move and that nobody waits for, because its value is about to
 * be obsolete or of no use. */
void hd_drop_unawaited(heddle_data *d);
/* Drops all transfers of the datum that have not begun to move, because its copies are void. Adds the accesses that
 * waited for them to a list, for hd_stage_again. */
void hd_drop_unmoved(heddle_data *d, struct hd_access **waiters);
/* Drops the prefetches that have not begun to move and come from `r`, which is about to be freed. */
void hd_drop_prefetches_from(struct hd_replica *r);
/* Drops the last prefetch to `node` that has not begun to move, and so frees its room. Returns 0 if there is none. */
int hd_drop_last_prefetch(heddle_runtime *rt, unsigned node);
/* Predicted time, us, to bring the datum to `node`; 0 if it is there or on the way. */
double hd_fetch_time(const heddle_data *d, unsigned node);
/* Begins to write `r` back to main memory, since a task waits for its room; it is freed then, and `leaves` bytes are.
 * HEDDLE_PENDING: something must come there first, and then the tasks that wait are tried again; or an error. */
int hd_write_back(struct hd_replica *r, uint64_t leaves);
/* Frees a transfer of a datum that is destroyed after its engine was closed. */
void hd_transfer_discard(struct hd_transfer *tr);
/* For the engine: the lane of a transfer. */
struct hd_lane *hd_lane_of(const struct hd_transfer *tr);
/* For the engine: takes the transfer of a lane that is to be moved next, if it is at least as urgent as `least`. NULL:
 * none can be moved now. */
struct hd_transfer *hd_lane_take(struct hd_lane *lane, enum hd_urgency least);
/* For the engine: a transfer that it has taken has ended or failed. */
void hd_transfer_done(struct hd_transfer *tr);
/* Whether the transfer is a prefetch that waits to move. It holds no pin on its source: nobody who needs room should
 * wait for it. */
static inline int hd_transfer_is_hint(const struct hd_transfer *tr)
{
	return tr->reason == HD_PREFETCH && !tr->moving;
}
/* Whether the transfer holds a pin on its source. On its target it always holds one. */
static inline int hd_transfer_pins_source(const struct hd_transfer *tr)
{
	return !tr->behind && !hd_transfer_is_hint(tr);
}
/* Frees a copy that has no value and is not used. */
void hd_free_if_void(struct hd_replica *r);

/* prefetch.c */
/* Begins a transfer to `node`, unless there is no room there. While a task writes the datum, or is about to, or a block
 * of memory must be allocated first, the prefetch is only remembered. */
void hd_prefetch(heddle_data *d, unsigned node);
/* Begins the prefetches to the node that waited for blocks. */
void hd_prefetch_hinted(heddle_runtime *rt, struct hd_memory *m);
/* Begins the prefetches to the node that waited for room and find it now. To be called when a task has got its data
 * there. */
void hd_prefetch_waiting(heddle_runtime *rt, unsigned node);
/* Forgets the prefetch to the replica that waits for a block or for room, if there is one. */
void hd_prefetch_forget(struct hd_replica *r);
/* To be called when nobody writes the datum any more: begins the prefetches that were remembered, or forgets them if
 * the value is not `good` or will not be used. */
void hd_prefetch_wanted(heddle_data *d, int good);

#endif
