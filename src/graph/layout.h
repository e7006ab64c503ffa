/* Layouts: which handles of a tree have the value: layout.c. The core lock is held in all functions. */
#ifndef HD_GRAPH_LAYOUT_H
#define HD_GRAPH_LAYOUT_H

#include <heddle/data.h>
#include <heddle/task.h>
#include "tree_chains.h"

struct hd_access;

/* Whether the layout of `d` suits the access, which is compatible with all accesses in force at `d`. If it does not,
 * begins the step that changes it. */
enum hd_turn hd_layout_admit(heddle_data *d, struct hd_access *a);
/* To be called when a child of the scattered datum is about to be changed: ends the poisoning of the datum, since the
 * child may get a value; but not if elements that are in no child have no value. */
void hd_layout_heal(heddle_data *d);
/* The node on which the data of a step (a control task) are brought together. */
unsigned hd_layout_node(const heddle_task *t);
/* To be called when these data are there, or could not be brought: makes the step. HEDDLE_PENDING: the step must be
 * staged again, on another node. */
int hd_layout_step(heddle_task *t);

#endif
