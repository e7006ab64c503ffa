/* Access chains of deep data (trees of handles): tree_chains.c. The caller of each function holds the core lock. */
#ifndef HD_GRAPH_TREE_CHAINS_H
#define HD_GRAPH_TREE_CHAINS_H

#include <heddle/data.h>
#include <heddle/task.h>

struct hd_access;

/* Whether an access is granted at a handle. This is asked when the access is compatible with the accesses in force
 * there and no access waits in front of it. */
enum hd_turn {
	HD_TURN_NOW,
	HD_TURN_LATER, /* not yet: the layout must change first */
	HD_TURN_STOP   /* granted here, but goes no further down: its task is cancelled */
};
/* Makes a datum deep, so that weak accesses and markers may enter its chain. */
void hd_chain_deepen(heddle_data *d);
/* Links `a` into the chain of its datum, which becomes deep if it is not. `outer`: the hierarchical task around the
 * task of `a` (hd_task_inside), or NULL. */
void hd_chain_link_deep(struct hd_access *a, const heddle_task *outer);
/* Links all accesses of a task with HD_TASK_COVERED. */
void hd_chain_link_covered(heddle_task *t);
/* Links the markers of a task that is in no sub-graph. */
void hd_chain_link_markers(heddle_task *t);
/* Releases the markers of `t`, which are all in force. */
void hd_chain_release_markers(heddle_task *t);
void hd_chain_release_deep(struct hd_access *a);
/* hd_chain_withdraw for an access to a deep datum. `before`: the access in front of `a` in the queue; NULL: none. */
void hd_chain_withdraw_deep(struct hd_access *a, struct hd_access *before);
/* Whether the access, which is not linked yet, will be linked in front of a marker. */
int hd_chain_is_covered(const struct hd_access *a);
/* Grants the waiting accesses of a deep datum as far as possible. To be called when its layout has changed. */
void hd_chain_advance(heddle_data *d);
/* For heddle_selfcheck: whether the first waiting access of a deep datum could be granted. */
int hd_chain_can_advance(heddle_data *d);

#endif
