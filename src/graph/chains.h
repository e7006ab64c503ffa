/* The access chains: chains.c. The core lock is held in all functions. */
#ifndef HD_CHAINS_H
#define HD_CHAINS_H

#include <heddle/data.h>
#include <heddle/task.h>
#include "state/task.h"
#include "state/flow_calls.h"
#include "state/runtime.h"

/* chains.c: the access chains. */
/* Links the accesses of a task behind those of all earlier tasks, and adds to `pending` those that must wait. Where
 * hd_task_inside covers a datum, the access is linked in front of the marker there. Markers are granted when all in
 * front of them is granted, and no access to the datum itself is in force that conflicts with them. */
void hd_chain_link(heddle_task *t);
/* The access of a hierarchical task that covers a datum: it is to the datum itself or, if there is none, to the nearest
 * handle above it. NULL: none does. Needs no lock, because the tree of handles above a datum does not change. */
struct hd_access *hd_chain_cover(const heddle_task *outer, const heddle_data *d);
/* A hierarchical task, whose markers are all granted, will run as an ordinary task after all, or has failed: its
 * markers become accesses at the same places in the chains. Tells that it is ready, now or later, when all of these are
 * granted. */
void hd_chain_resolve(heddle_task *t);
/* Makes `after` wait for `before`, unless `before` has ended. HEDDLE_E_MEMORY. */
int hd_chain_after(heddle_task *before, heddle_task *after);
/* Ends the explicit dependencies on a hierarchical task. hd_chain_release does it for others. */
void hd_chain_release_explicit(heddle_task *t);
/* Undoes the last call of hd_chain_after with this `before`. */
void hd_chain_undo_after(heddle_task *before);
/* Gives back the accesses of a task that has ended, removes its markers if its sub-graph has been submitted, and
 * removes the explicit dependencies on it, unless HD_TASK_EXPANDS is set. Tells of each task
 * that is ready because it waits for nothing any more. */
void hd_chain_release(heddle_task *t);
/* Starts to fetch what that will change of the tasks that wait for `t`. */
void hd_chain_fetch_successors(const heddle_task *t);
/* Takes an access that waits for its turn out of the queue, and tells of each task that is ready because it waited
 * for nothing else. The access has no place in a chain any more, and its task does not wait for it. Returns 0, and does
 * nothing, if the access does not wait for its turn. For the controls of the program: no marker, and not the task of a
 * reduction. */
int hd_chain_withdraw(struct hd_access *a);
/* Counts a direct access as granted; cancels its task if it needs a value that there is not. */
void hd_chain_grant(struct hd_access *a);
/* The handle in whose chain the access is; the lowest, if it has places in several. */
static inline heddle_data *hd_access_place(const struct hd_access *a)
{
	return a->flags & HD_ACCESS_ABOVE ? a->at : a->data;
}
/* The mode as far as the chain is concerned. A SCRATCH access needs the handle to live, but no value: like a reader it
 * excludes only those who change the datum. */
static inline unsigned hd_chain_mode(unsigned mode)
{
	return mode == HEDDLE_SCRATCH ? HEDDLE_R : mode;
}
/* Whether several accesses of that mode, as hd_chain_mode returns it, may be in force at once: R, COMMUTE and REDUX. */
static inline int hd_mode_is_shared(unsigned mode)
{
	return !(mode & HEDDLE_W);
}
static inline int hd_modes_compatible(unsigned a, unsigned b)
{
	return a == b && hd_mode_is_shared(a);
}
/* Takes the commute tokens of all COMMUTE accesses of `t`, or none of them. Returns whether it has taken them.
 * Otherwise `t` queues for the first token that is taken, and then for others, until hd_chain_release tells that `t` is
 * ready because all are free. */
int hd_chain_take_tokens(heddle_task *t);

/* Nothing holds the task back any more. */
static inline void hd_tell_ready(heddle_task *t)
{
	heddle_runtime *rt = hd_task_runtime(t);
	rt->flow->ready(rt, t);
}

#endif
