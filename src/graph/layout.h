/* Layouts: which handles of a tree have the value: layout.c. The caller of each function holds the core lock. */
#ifndef HD_GRAPH_LAYOUT_H
#define HD_GRAPH_LAYOUT_H

#include <heddle/data.h>
#include <heddle/task.h>
#include "tree_chains.h"

struct hd_access;

/* Whether the layout of `d` suits the access `a`; the caller has checked that `a` is compatible with all accesses in
 * force at `d`. If the layout does not suit `a`, begins the step that changes the layout. */
enum hd_turn hd_layout_admit(heddle_data *d, struct hd_access *a);
/* To be called when a child of the scattered datum `d` is about to be changed: ends the poisoning of `d`, because the
 * child may get a value. But `d` stays poisoned if elements of `d` that are in no child have no value. */
void hd_layout_heal(heddle_data *d);
/* `t`: the control task of a step. The node on which the data of the step are brought together. */
unsigned hd_layout_node(const heddle_task *t);
/* To be called when the data of the step's control task `t` have been staged, or could not be: makes the step. Returns
 * 0, or HEDDLE_PENDING: the caller must stage `t` again, on another node. */
int hd_layout_step(heddle_task *t);

#endif
