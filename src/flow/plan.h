/* Plans, as the program creates and ends them. Functions are called with the core lock. */
#ifndef HD_FLOW_PLAN_H
#define HD_FLOW_PLAN_H

#include <heddle/data.h>
#include <heddle/task.h>

/* Called when the control that ends a plan may run. */
void hd_plan_end(heddle_task *t);
/* Whether a child of the plan is partitioned. */
int hd_plan_is_split(const heddle_plan *plan);
/* Closes all data below the datum, which is closed itself: no new task may use them. See hd_data_close. */
void hd_plans_close(heddle_data *d);
/* Undoes hd_plans_close, when the datum is open again. */
void hd_plans_open(heddle_data *d);
/* Whether the children of a plan of the datum are being dropped. */
int hd_plans_drop(const heddle_data *d);
/* Frees a datum's plans with their children. */
void hd_plans_free(heddle_data *d);
/* Whether a thread of the program has acquired a datum below this one. */
int hd_data_child_is_held(const heddle_data *d);

#endif
