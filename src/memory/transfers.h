/* Transfers (transfers.c) and prefetches (prefetch.c). The core lock is held in all functions. */
#ifndef HD_TRANSFERS_H
#define HD_TRANSFERS_H

#include <heddle/runtime.h>
#include <heddle/data.h>
#include "state/transfer.h"

struct hd_access;
struct hd_memory;
struct hd_replica;

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
/* Forgets all prefetches to the memory that wait for room. */
void hd_prefetch_undelay(const struct hd_memory *m);
/* To be called when nobody writes the datum any more: begins the prefetches that were remembered, or forgets them if
 * the value is not `good` or will not be used. */
void hd_prefetch_wanted(heddle_data *d, int good);

#endif
