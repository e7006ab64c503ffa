/* Access chains of trees: tree_chains.c. The core lock is held in all functions. */
#ifndef HD_TREE_CHAINS_H
#define HD_TREE_CHAINS_H

#include <heddle/data.h>
#include <heddle/task.h>

struct hd_access;

/* Chains of trees: tree_chains.c. */
/* Whether the access, in front of which nobody waits and which is compatible with what is in force, is granted. */
enum hd_turn {
	HD_TURN_NOW,
	HD_TURN_LATER, /* not before the layout has changed */
	HD_TURN_STOP   /* it is granted here and goes no further: its task is cancelled */
};
/* Makes the chain of a datum one that accesses from above and markers may enter. */
void hd_chain_deepen(heddle_data *d);
/* Links and releases one access to such a datum. `outer`: hd_task_inside of its task. */
void hd_chain_link_deep(struct hd_access *a, const heddle_task *outer);
/* Links all accesses of a task with HD_TASK_COVERED. */
void hd_chain_link_covered(heddle_task *t);
/* Links the markers of a task that is in no sub-graph. */
void hd_chain_link_markers(heddle_task *t);
/* Releases the markers of a task, all of which are in force. */
void hd_chain_release_markers(heddle_task *t);
void hd_chain_release_deep(struct hd_access *a);
/* hd_chain_withdraw for an access that waits in such a chain, behind `before`; NULL: it is the first. */
void hd_chain_withdraw_deep(struct hd_access *a, struct hd_access *before);
/* Whether the access, which is not linked yet, will be linked in front of a marker. */
int hd_chain_is_covered(const struct hd_access *a);
/* Grants what waits in such a chain, as far as possible: to be called when its layout has changed. */
void hd_chain_advance(heddle_data *d);
/* For heddle_selfcheck: whether the first access that waits in such a chain could be granted. */
int hd_chain_can_advance(heddle_data *d);

#endif
