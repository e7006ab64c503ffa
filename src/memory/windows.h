/* Windows: replicas of children inside the replica of their parent.
 *
 * The replica of a child may lie inside the replica of its parent on the same node. Then it is a *window*: it has no
 * memory of its own, and changing between the parent and its children copies nothing on that node. In main memory every
 * child is a window. On other nodes a child becomes a window when it needs memory and the parent has a suitable
 * replica; otherwise the child gets a dense replica. Invariants:
 *
 * - While the datum is scattered over a plan, its own replicas are invalid. Replicas that contain windows stay
 *   allocated until their last window has gone. Children that share elements get no new windows meanwhile, because two
 *   transfers could write the same bytes. If there are such children, or elements that are in no child, the whole datum
 *   is brought to main memory before it is split, and it is gathered in main memory.
 * - While the datum is not scattered, a window is valid if and only if the replica around it is: the children are read
 *   as parts of the datum. So the target of a transfer is never a window, because the transfer could overwrite elements
 *   that other tasks read: instead of a child, the whole datum is brought to main memory (hd_window_owner). One
 *   exception: after a datum has been gathered on another node, windows in use stay valid until they are not used any
 *   more; until then the datum itself cannot be brought to the node of these windows.
 * - A pin of a window also pins the replica around it. So the lists of eviction.c have only whole replicas, and a
 *   replica is evicted together with its windows. Windows do not count as used memory.
 */
#ifndef HD_MEMORY_WINDOWS_H
#define HD_MEMORY_WINDOWS_H

#include <heddle/data.h>

struct hd_window;
struct hd_replica;

/* The next function is in graph/window_overlap.c. */
/* Sets `shared` of all windows that overlap another window. HEDDLE_E_MEMORY. */
int hd_windows_overlap(struct hd_window *windows, size_t n, unsigned n_dims);

/* The next two functions are in graph/filter.c. */
/* Checks whether the filter can split the datum: 0, or an error. */
int hd_filter_check(const heddle_data *d, const struct heddle_filter *f);
/* Computes the windows of all children; *n is their number. The caller owns the array. NULL, with *status, on error. */
struct hd_window *hd_filter_windows(const struct heddle_part *p, const struct heddle_filter *f, size_t *n, int *status);

/* The functions from here on are in windows.c. */
/* Makes the children of a plan windows of the datum's replica in main memory, if the datum has memory there. */
void hd_plan_place(const heddle_plan *p);
/* The replica in whose memory `r` lies or will lie: for a window, the replica of an ancestor of the datum; otherwise
 * `r` itself. */
struct hd_replica *hd_window_base(struct hd_replica *r);
/* The datum whose replicas have the value of `d`: the nearest datum, from `d` upwards, that is not read as a part of
 * its parent. */
heddle_data *hd_window_owner(heddle_data *d);
/* Whether the valid replica stays valid until its value is replaced: false for a window that is only kept until its
 * users have ended. */
int hd_window_stays(const struct hd_replica *r);
/* Makes an unallocated replica a window, if that is possible; returns whether it is one. The window is valid if the
 * child is read as a part of its parent. */
int hd_window_attach(struct hd_replica *r);
/* To be called when the last pin of a window is released. */
void hd_window_unpinned(struct hd_replica *r);
/* For hd_memory_free. hd_window_detach: makes the window an ordinary, unallocated replica. hd_windows_free: frees the
 * windows in a replica that is about to be freed. */
void hd_window_detach(struct hd_replica *r);
void hd_windows_free(struct hd_replica *r);
/* Whether the datum cannot be brought to the node yet, because windows of it are in use there. */
int hd_windows_hinder(const heddle_data *d, unsigned node);
/* To be called when the replica `r` of a datum with plans has become valid: makes the children that are read as parts
 * of the datum valid windows of `r`. */
void hd_windows_follow(struct hd_replica *r);
/* Makes the datum's own replicas invalid, because the children of the plan have the value now. */
void hd_windows_scatter(const heddle_plan *p);
/* To be called when the children of the plan were brought together on at least one node: makes the datum valid on each
 * node where all children are valid windows. */
void hd_windows_gather(const heddle_plan *p);
/* To be called when the children become parts of the datum again: frees the windows in invalid replicas, except those
 * in use. */
void hd_windows_settle(const heddle_plan *p);
/* Whether a child is in use in main memory while not all children are valid there. */
int hd_windows_used_at_home(const heddle_plan *p);
/* Bytes that must be copied to a node before the datum can be gathered there; UINT64_MAX: it cannot be gathered
 * there. */
uint64_t hd_windows_missing(const heddle_plan *p, unsigned node);

#endif
