/* SCRATCH and REDUX: scratch_redux.c. The core lock is held in all functions. */
#ifndef HD_SCRATCH_REDUX_H
#define HD_SCRATCH_REDUX_H

#include <stdint.h>
#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

struct hd_access;

/* scratch_redux.c: SCRATCH and REDUX. Each slot of a worker (struct hd_slot) that runs such a task has a private copy
 * of the datum: a temporary handle of the same shape. */
/* Gives a task that a worker has just picked the private copies of one of its slots. HEDDLE_E_MEMORY. */
int hd_private_attach(heddle_task *t, unsigned worker, unsigned slot);
/* Whether the init kernel must run on access `a` before the task's kernel; marks it done. */
int hd_private_needs_init(struct hd_access *a);
/* To be called when the REDUCE task `t` is ready: makes the tasks that combine the private copies, one after the other,
 * before `t`. HEDDLE_E_MEMORY: none were made. */
int hd_reduce_spawn(heddle_task *t);
/* To be called when the first access of a reduction enters the graph. HEDDLE_E_MEMORY: the access has become RW, and
 * its task must fail. */
int hd_reduction_open(struct hd_access *a);
/* Lets the open reduction of a datum, if any, be combined: its REDUCE task enters the graph. */
void hd_reduction_close(heddle_data *d);
/* Lets the open reductions of all other data that share elements with `d` be combined: tasks on `d` must wait for
 * these. */
void hd_reductions_close_for(const heddle_data *d);
/* Lets all open reductions be combined. */
void hd_reductions_close(heddle_runtime *rt);
/* Frees the REDUCE task of an open reduction, because the datum is freed. */
void hd_reduction_drop(heddle_data *d);
/* Frees the private copies of a datum: those for REDUX, or all. */
void hd_private_drop(heddle_data *d, int redux_only);

#endif
