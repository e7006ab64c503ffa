/* Windows: where the children of a datum lie in it. Included by data.h.
 *
 * A copy of a child may lie in the copy of its parent on the same node: then it is a *window* of that, has no memory of
 * its own, and to change between the parent and its children moves nothing there. In main memory every child is a
 * window. On other nodes a child becomes one when it needs memory there and the parent has some that it may use;
 * otherwise it gets a dense copy. What holds:
 *
 *  - While the datum is scattered over a plan, its own copies are void. Those in which windows lie keep their memory
 *    until the last of these has gone. Children that share elements get no new windows then, since two transfers could
 *    write the same bytes; the whole is brought to main memory before, and gathered there, if there are such children
 *    or the children leave elements out.
 *  - Otherwise a window is valid if and only if the copy is in which it lies: the children are read as parts of it. So
 *    no transfer ever goes to a window, which could write what others read: to main memory, the datum is brought
 *    instead (hd_window_owner). One exception: where a datum has been gathered on another node, windows that are used
 *    stay until they are not; until then the datum itself cannot be brought there.
 *  - What pins a window pins the copy in which it lies. So only whole copies are in the heaps of eviction.c, and a copy
 *    leaves with its windows. Windows count as no memory.
 */
#ifndef HD_WINDOWS_H
#define HD_WINDOWS_H

#include <heddle/data.h>

struct hd_window;

struct hd_replica;

/* window_overlap.c */
/* Sets `shared` of all windows that overlap another. HEDDLE_E_MEMORY. */
int hd_windows_overlap(struct hd_window *windows, size_t n, unsigned n_dims);

/* filter.c */
/* Whether the filter can split such data: 0, or an error. */
int hd_filter_check(const heddle_data *d, const struct heddle_filter *f);
/* Makes the windows of all children, *n of them, in an array that the caller owns. NULL, with *status, on error. */
struct hd_window *hd_filter_windows(const struct heddle_part *p, const struct heddle_filter *f, size_t *n, int *status);

/* windows.c */
/* Gives the children of a plan their places in main memory, if the datum has one there. */
void hd_plan_place(const heddle_plan *p);
/* The copy whose memory has, or will have, the replica: of a window that of a datum further up; otherwise itself. */
struct hd_replica *hd_window_base(struct hd_replica *r);
/* The datum whose copies have the value of `d`: the next one upwards that is not read as a part of its parent. */
heddle_data *hd_window_owner(heddle_data *d);
/* Whether the valid replica will be so until it is replaced: not if it is a window that is left only while it is
 * used. */
int hd_window_stays(const struct hd_replica *r);
/* Makes a replica without memory a window, if it can be one; returns whether it is. It is valid then, if it is read as
 * a part of its parent. */
int hd_window_attach(struct hd_replica *r);
/* To be called when nothing pins a window any more. */
void hd_window_unpinned(struct hd_replica *r);
/* For hd_memory_free: a window is none any more; the windows in a copy that is about to be freed are freed. */
void hd_window_detach(struct hd_replica *r);
void hd_windows_free(struct hd_replica *r);
/* Whether the datum cannot be brought to the node yet, because windows of it are used there. */
int hd_windows_hinder(const heddle_data *d, unsigned node);
/* To be called when a copy of a datum with plans has become valid: makes the children windows of it that are valid, if
 * they are read as parts of it. */
void hd_windows_follow(struct hd_replica *r);
/* The children of the plan are the value: makes the datum's own copies void. */
void hd_windows_scatter(const heddle_plan *p);
/* The children of the plan have come together on at least one node: makes the datum valid wherever all of them are. */
void hd_windows_gather(const heddle_plan *p);
/* The children, which may still be read, are parts of the datum from now on: windows of copies that are not valid go,
 * as far as they are not used. */
void hd_windows_settle(const heddle_plan *p);
/* Whether a child is used in main memory, where not all children are valid. */
int hd_windows_used_at_home(const heddle_plan *p);
/* Bytes that must be moved to a node before the datum can be gathered there; UINT64_MAX: it cannot. */
uint64_t hd_windows_missing(const heddle_plan *p, unsigned node);

#endif
