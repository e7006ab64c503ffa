/* The model entry of a task. */
#ifndef HD_FLOW_TASK_MODEL_H
#define HD_FLOW_TASK_MODEL_H

#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>
#include "perf/perf.h"

/* Sets t->perf, the model's entry for the sizes of the task's data. If there is no memory for an entry, or no worker
 * has a time for the task, cancels the task with a status. Called with the core lock. */
void hd_task_find_model(heddle_runtime *rt, heddle_task *t);
/* In virtual time: whether a worker that may run the task has a time for it. */
int hd_task_has_time(heddle_runtime *rt, const heddle_task *t);
/* In virtual time: us that a task takes on a class by its codelet's function true_time, which there is. */
double hd_task_true_time(const heddle_task *t, unsigned class_id);
/* us that the init kernel of a datum's reduction takes on a class; 0: unknown. */
double hd_task_init_time(heddle_runtime *rt, heddle_data *d, unsigned class_id);
/* The entry of `model` for the sizes of the task's data, created if necessary. NULL: out of memory. */
struct hd_perf_entry *hd_task_entry(const heddle_task *t, struct hd_perf_model *model);
/* Folds the value of the codelet's own footprint function into the task's footprint. HEDDLE_E_MEMORY. */
int hd_task_add_footprint(heddle_task *t);

#endif
