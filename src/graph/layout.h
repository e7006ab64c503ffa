/* Which handles of a tree have the value: layout.c. The core lock is held in all functions. */
#ifndef HD_LAYOUT_H
#define HD_LAYOUT_H

#include <heddle/data.h>
#include <heddle/task.h>
#include "tree_chains.h"

struct hd_access;

/* Whether the layout of `d` suits the access, which goes with all in force there. If not, begins to change it. */
enum hd_turn hd_layout_admit(heddle_data *d, struct hd_access *a);
/* A piece of the datum, which is scattered, is about to be changed: whether the datum can be gathered is to be found
 * out again, unless what lies in no piece has no value. */
void hd_layout_heal(heddle_data *d);
/* Where the data of a step, a control, are to be brought together. */
unsigned hd_layout_node(const heddle_task *t);
/* To be called when they are there, or cannot be: makes the step. HEDDLE_PENDING: it must be staged elsewhere. */
int hd_layout_step(heddle_task *t);

#endif
