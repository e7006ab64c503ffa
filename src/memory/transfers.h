/* Transfers (transfers.c) and prefetches (prefetch.c). The caller of each function holds the core lock. */
#ifndef HD_MEMORY_TRANSFERS_H
#define HD_MEMORY_TRANSFERS_H

#include <heddle/data.h>
#include <heddle/runtime.h>
#include "state/transfer.h"

struct hd_access;
struct hd_memory;
struct hd_replica;

/* Finds the transfer that will make the allocated replica on `to` valid, or makes a transfer, which is HD_AWAITED if
 * `reason` is HD_DEMAND. Stores the transfer in *out. HEDDLE_E_STATE: no replica of the datum is valid;
 * HEDDLE_E_MEMORY; for HD_PREFETCH also the results of hd_memory_try, if the datum goes through main memory. */
int hd_fetch(heddle_data *d, unsigned to, enum hd_reason reason, struct hd_transfer **out);
/* Makes the access wait for the transfer, which becomes HD_AWAITED. */
void hd_transfer_await(struct hd_transfer *tr, struct hd_access *a);
/* Drops the transfers of the datum that have not begun to move and for which no task waits. Called when the value is
 * about to be replaced or will not be used. */
void hd_drop_unawaited(heddle_data *d);
/* Drops all transfers of the datum that have not begun to move. Called when the datum's replicas have become invalid.
 * Adds the accesses that waited for these transfers to the list *waiters, for hd_stage_again. */
void hd_drop_unmoved(heddle_data *d, struct hd_access **waiters);
/* Drops the prefetches from the replica `r` that have not begun to move. Called when `r` is about to be freed. */
void hd_drop_prefetches_from(struct hd_replica *r);
/* Drops the last of the prefetches to `node` that have not begun to move, and frees its room. Returns 0 if there is
 * none. */
int hd_drop_last_prefetch(heddle_runtime *rt, unsigned node);
/* Raises the rank of the prefetch of the datum to the node, if there is one that has not begun to move. */
void hd_transfer_rank(heddle_data *d, unsigned node, int rank);
/* Drops the prefetch of the datum to the node. Returns 0 if there is none that has not begun to move and for which no
 * task waits. */
int hd_drop_prefetch(heddle_data *d, unsigned node);
/* us: when the lanes into the node are predicted to have moved all that waits in them. */
double hd_lane_free_at(const heddle_runtime *rt, unsigned node);
/* us: when the lane is predicted to be free by which the datum goes to main memory; now, if it is there. */
double hd_way_out_free_at(const heddle_data *d);
/* us: when the transfer of the datum to the node is predicted to end; -HUGE_VAL: there is none. */
double hd_transfer_due(const heddle_data *d, unsigned node);
/* Begins a write-back of `r` to main memory, because a task waits for its room. `r` is freed when the write-back ends,
 * which frees `leaves` bytes. HEDDLE_PENDING: a block in main memory must be allocated first, or the parent's value
 * must be brought to main memory first; then the waiting tasks are tried again. Or an error. */
int hd_write_back(struct hd_replica *r, uint64_t leaves);
/* Frees a transfer of a datum that is destroyed after the engine was closed. */
void hd_transfer_discard(struct hd_transfer *tr);
/* Frees the memory that is kept for transfers. No transfer may be left. */
void hd_transfers_close(heddle_runtime *rt);
/* For the engine: the lane of a transfer. */
struct hd_lane *hd_lane_of(const struct hd_transfer *tr);
/* For the engine: takes from a lane the next transfer that is at least as urgent as `least`. NULL: no transfer can move
 * now. */
struct hd_transfer *hd_lane_take(struct hd_lane *lane, enum hd_urgency least);
/* To be called by the engine when a transfer that it has taken has ended or failed. */
void hd_transfer_done(struct hd_transfer *tr);
/* Whether the transfer is a prefetch that has not begun to move. It does not pin its source, so that a task that needs
 * room need not wait for it. */
static inline int hd_transfer_is_hint(const struct hd_transfer *tr)
{
	return tr->reason == HD_PREFETCH && !tr->moving;
}
/* Whether the transfer pins its source. It always pins its target. */
static inline int hd_transfer_pins_source(const struct hd_transfer *tr)
{
	return !tr->behind && !hd_transfer_is_hint(tr);
}
/* Frees the replica if it is invalid and not pinned. */
void hd_free_if_void(struct hd_replica *r);

/* The functions from here on are in prefetch.c. */
/* Begins a transfer to `node`, if there is room. If a task is writing the datum, or a block must be allocated first,
 * only records the prefetch, which begins later. */
void hd_prefetch(heddle_data *d, unsigned node);
/* Begins the prefetches to the memory `m` that have waited for blocks. */
void hd_prefetch_hinted(heddle_runtime *rt, struct hd_memory *m);
/* Drops the prefetch to the replica, if there is one that waits for a block. */
void hd_prefetch_forget(struct hd_replica *r);
/* To be called when no task writes the datum any more: begins the prefetches that waited for the writer; or drops them,
 * if `good` is 0, because the writer has failed, or if the value will not be used. */
void hd_prefetch_wanted(heddle_data *d, int good);

#endif
