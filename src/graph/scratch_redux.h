/* SCRATCH and REDUX: scratch_redux.c. The core lock is held in all functions. */
#ifndef HD_GRAPH_SCRATCH_REDUX_H
#define HD_GRAPH_SCRATCH_REDUX_H

#include <stdint.h>
#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

struct hd_access;

/* Each slot of a worker (struct hd_slot) that runs a task with a SCRATCH or REDUX access has a private copy of the
 * datum: a temporary handle of the same shape. */
/* Attaches the private copies of a worker's slot to a task that was just picked for that worker. HEDDLE_E_MEMORY. */
int hd_private_attach(heddle_task *t, unsigned worker, unsigned slot);
/* Whether the init kernel must run on access `a` before the task's kernel; marks the copy as initialised. */
int hd_private_needs_init(struct hd_access *a);
/* To be called when the REDUCE task `t` is ready: makes the steps that combine the private copies, one after the other,
 * before `t`. HEDDLE_E_MEMORY: no step was made. */
int hd_reduce_spawn(heddle_task *t);
/* Opens a reduction: to be called when its first access enters the graph. HEDDLE_E_MEMORY: the access has become RW,
 * and its task must fail. */
int hd_reduction_open(struct hd_access *a);
/* Closes the open reduction of a datum, if it has one: the REDUCE task enters the graph. */
void hd_reduction_close(heddle_data *d);
/* Closes the open reductions of the data that share elements with `d`, except that of `d` itself: a task on `d` must
 * wait for them. */
void hd_reductions_close_for(const heddle_data *d);
/* Closes all open reductions. */
void hd_reductions_close(heddle_runtime *rt);
/* Frees the REDUCE task of an open reduction, because the datum is freed. */
void hd_reduction_drop(heddle_data *d);
/* Frees the private copies of a datum: those for REDUX only, or all. */
void hd_private_drop(heddle_data *d, int redux_only);

#endif
