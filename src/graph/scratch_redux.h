/* SCRATCH and REDUX: scratch_redux.c. The caller of each function holds the core lock. */
#ifndef HD_GRAPH_SCRATCH_REDUX_H
#define HD_GRAPH_SCRATCH_REDUX_H

#include <stdint.h>
#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

struct hd_access;

/* Each slot of a worker (struct hd_slot) that runs a task with a SCRATCH or REDUX access has a private copy of the
 * datum: a temporary handle of the same shape. */
/* Sets the private copies of the accesses of `t`, which was just picked for this slot of the worker. Makes the copies
 * that do not exist yet. Returns 0 or HEDDLE_E_MEMORY. */
int hd_private_attach(heddle_task *t, unsigned worker, unsigned slot);
/* Whether the init kernel must run on the private copy of `a` before the task's kernel; marks the copy initialised. */
int hd_private_needs_init(struct hd_access *a);
/* To be called when the REDUCE task `t` is ready: makes the steps that combine the private copies, one after the other,
 * before `t`. HEDDLE_E_MEMORY: no step was made. */
int hd_reduce_spawn(heddle_task *t);
/* Opens a reduction of the datum of `a`: to be called when `a`, the first REDUX access, enters the graph.
 * HEDDLE_E_MEMORY: `a` has become RW, and the caller must fail the task of `a`. */
int hd_reduction_open(struct hd_access *a);
/* Closes the open reduction of a datum, if it has one: the REDUCE task enters the graph. */
void hd_reduction_close(heddle_data *d);
/* Closes the open reductions of the data that share elements with `d`, except that of `d` itself: a task on `d` must
 * wait for them. */
void hd_reductions_close_for(const heddle_data *d);
/* Closes all open reductions of the runtime. */
void hd_reductions_close(heddle_runtime *rt);
/* Frees the REDUCE task of an open reduction, because the datum is freed. */
void hd_reduction_drop(heddle_data *d);
/* Frees the private copies of `d`; if `redux_only` is 1, only those for REDUX. */
void hd_private_drop(heddle_data *d, int redux_only);

#endif
