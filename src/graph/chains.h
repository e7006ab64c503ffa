/* The access chains: chains.c. The caller of each function holds the core lock. */
#ifndef HD_GRAPH_CHAINS_H
#define HD_GRAPH_CHAINS_H

#include <heddle/data.h>
#include <heddle/task.h>
#include "state/data.h"
#include "state/task.h"

/* Links each access of `t` at the end of its datum's chain, and adds to t->pending the number of accesses that must
 * wait. If `t` is in a sub-graph and a marker of the hierarchical task covers the datum, the access is linked in front
 * of this marker instead. A marker is granted when everything in front of it is granted and no conflicting direct
 * access to the datum is in force. */
void hd_chain_link(heddle_task *t);
/* The access of a hierarchical task that covers `d`: its access to `d` or, if there is none, to the nearest handle
 * above `d`. NULL: none covers it. Needs no lock, because the tree of handles above a datum does not change. */
struct hd_access *hd_chain_cover(const heddle_task *outer, const heddle_data *d);
/* To be called when all markers of the hierarchical task `t` are granted, and `t` has failed or will run as an ordinary
 * task after all: the markers become ordinary accesses, at their places in the chains. `t` is announced as ready when
 * all these accesses are granted, now or later. */
void hd_chain_resolve(heddle_task *t);
/* Makes the task `after` wait for the task `before`. If `before` has ended already, `after` does not wait, and is
 * cancelled if `before` failed. Returns 0 or HEDDLE_E_MEMORY. */
int hd_chain_after(heddle_task *before, heddle_task *after);
/* Releases the explicit successors (heddle_after) of a hierarchical task; for other tasks hd_chain_release does. */
void hd_chain_release_explicit(heddle_task *t);
/* Undoes the last hd_chain_after in which this task was `before`. */
void hd_chain_undo_after(heddle_task *before);
/* Releases the accesses of the ended task `t`, and its markers if its sub-graph has been submitted. Also releases the
 * explicit successors of `t`, unless HD_TASK_EXPANDS is set. Announces each task that becomes ready. */
void hd_chain_release(heddle_task *t);
/* Prefetches into the CPU cache the fields of the successors of `t` that hd_chain_release(t) will change. */
void hd_chain_fetch_successors(const heddle_task *t);
/* Removes the waiting access `a` from the queue of its datum, and announces each task that becomes ready because of
 * that. Afterwards `a` is in no chain, and its task does not wait for it. Returns 1; or 0, and does nothing, if `a`
 * does not wait. `a` must be an access of a control task of the program, and no marker. */
int hd_chain_withdraw(struct hd_access *a);
/* Counts the direct access `a` as granted; cancels the task of `a` if the task needs a value and the datum has none. */
void hd_chain_grant(struct hd_access *a);
/* The handle in whose chain the access waits or is granted; if the access has places in the chains of several handles
 * of a tree, the lowest of these handles. */
static inline heddle_data *hd_access_place(const struct hd_access *a)
{
	return a->flags & HD_ACCESS_ABOVE ? a->at : a->data;
}
/* Whether the access has a place of its own in a chain. */
static inline int hd_access_is_chained(const struct hd_access *a)
{
	return !(a->flags & (HD_ACCESS_ALIAS | HD_ACCESS_UNCHAINED));
}
/* The mode that counts in the chain for an access of this mode. A SCRATCH access needs the handle to live, but no
 * value: like a reader, it conflicts only with accesses that change the datum. */
static inline unsigned hd_chain_mode(unsigned mode)
{
	return mode == HEDDLE_SCRATCH ? HEDDLE_R : mode;
}
/* Whether several accesses of this mode, as returned by hd_chain_mode, may be in force together: R, COMMUTE and
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

/* Unordered accesses (heddle_unordered). The task enters the graph: its accesses are counted. */
void hd_unordered_enter(heddle_task *t);
/* The task is ready: cancels it if it needs a value that was never computed. */
void hd_unordered_ready(heddle_task *t);
/* Lets an UNREGISTER task, whose turn has come, wait for the unordered accesses to its datum; it will be announced as
 * ready again. 0: there are none. */
int hd_unordered_await(heddle_task *unregister);

#endif
