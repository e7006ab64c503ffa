/* The access chains: chains.c. The core lock is held in all functions. */
#ifndef HD_GRAPH_CHAINS_H
#define HD_GRAPH_CHAINS_H

#include <heddle/data.h>
#include <heddle/task.h>
#include "state/data.h"
#include "state/task.h"

/* Links the accesses of a task behind those of all earlier tasks, and adds the number of those that must wait to
 * `pending`. If the task is in a sub-graph whose hierarchical task covers a datum, its access is linked in front of
 * that task's marker. A marker is granted when everything in front of it is granted and no conflicting direct access to
 * the datum is in force. */
void hd_chain_link(heddle_task *t);
/* The access of a hierarchical task that covers `d`: its access to `d` or, if there is none, to the nearest handle
 * above `d`. NULL: none covers it. Needs no lock, because the tree of handles above a datum does not change. */
struct hd_access *hd_chain_cover(const heddle_task *outer, const heddle_data *d);
/* To be called when a hierarchical task whose markers are all granted will run as an ordinary task after all, or has
 * failed: its markers become accesses at the same places in the chains. The task is announced as ready when all of
 * these are granted, now or later. */
void hd_chain_resolve(heddle_task *t);
/* Makes `after` wait for `before`, unless `before` has ended. HEDDLE_E_MEMORY. */
int hd_chain_after(heddle_task *before, heddle_task *after);
/* Releases the explicit successors of a hierarchical task. hd_chain_release does so for other tasks. */
void hd_chain_release_explicit(heddle_task *t);
/* Undoes the last call of hd_chain_after with this `before`. */
void hd_chain_undo_after(heddle_task *before);
/* Releases the accesses of a task that has ended, removes its markers if its sub-graph has been submitted, and releases
 * its explicit successors, unless HD_TASK_EXPANDS is set. Announces each task that becomes ready. */
void hd_chain_release(heddle_task *t);
/* Prefetches into the cache what hd_chain_release will change of the successors of `t`. */
void hd_chain_fetch_successors(const heddle_task *t);
/* Removes a waiting access from the queue, and announces each task that becomes ready. Afterwards the access is in no
 * chain, and its task does not wait for it. Returns 0, and does nothing, if the access does not wait. Only for the
 * program's control tasks; not for markers, nor for tasks of a reduction. */
int hd_chain_withdraw(struct hd_access *a);
/* Counts a direct access as granted; cancels its task if it needs a value and the datum has none. */
void hd_chain_grant(struct hd_access *a);
/* The handle in whose chain the access is; if it has places in several chains, the lowest of them. */
static inline heddle_data *hd_access_place(const struct hd_access *a)
{
	return a->flags & HD_ACCESS_ABOVE ? a->at : a->data;
}
/* The mode of an access for the chain. A SCRATCH access needs the handle to live, but no value: like a reader, it
 * conflicts only with accesses that change the datum. */
static inline unsigned hd_chain_mode(unsigned mode)
{
	return mode == HEDDLE_SCRATCH ? HEDDLE_R : mode;
}
/* Whether several accesses of this mode, as returned by hd_chain_mode, may be in force at once: R, COMMUTE and
 * REDUX. */
static inline int hd_mode_is_shared(unsigned mode)
{
	return !(mode & HEDDLE_W);
}
static inline int hd_modes_compatible(unsigned a, unsigned b)
{
	return a == b && hd_mode_is_shared(a);
}
/* Takes the commute tokens of all COMMUTE accesses of `t`, or none of them. Returns whether it has taken them.
 * Otherwise `t` queues for a token that it lacks; when all its tokens are free, `t` is announced as ready. */
int hd_chain_take_tokens(heddle_task *t);

/* Puts the access at the end of the queue of the datum. */
static inline void hd_chain_append(heddle_data *d, struct hd_access *a)
{
	a->next = NULL;
	if (d->queue)
		d->queue_tail->next = a;
	else
		d->queue = a;
	d->queue_tail = a;
}

#endif
