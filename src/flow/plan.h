/* Plans, as the program makes and ends them: plan.c. The core lock is held in all functions. */
#ifndef HD_PLAN_H
#define HD_PLAN_H

#include <heddle/data.h>
#include <heddle/task.h>

/* To be called when the control that ends a plan may run. */
void hd_plan_end(heddle_task *t);
/* Whether a child is partitioned. */
int hd_plan_is_split(const heddle_plan *plan);
/* Lets no new task name what lies below the datum, which is closed itself. See hd_data_close. */
void hd_plans_close(heddle_data *d);
/* Undoes hd_plans_close, when the datum is open again. */
void hd_plans_open(heddle_data *d);
/* Whether the children of a plan are being dropped. */
int hd_plans_drop(const heddle_data *d);
/* Frees a datum's plans with their children. */
void hd_plans_free(heddle_data *d);
/* Whether some thread of the program has acquired something that lies below the datum. */
int hd_data_child_is_held(const heddle_data *d);

#endif
