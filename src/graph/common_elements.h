/* Data that share elements: common_elements.c. */
#ifndef HD_COMMON_ELEMENTS_H
#define HD_COMMON_ELEMENTS_H

#include <heddle/data.h>
#include <heddle/task.h>

/* common_elements.c. Both functions need no lock. */
/* Whether two different data share elements because one lies above the other, or both lie below different plans of one
 * datum. */
int hd_data_meet(const heddle_data *x, const heddle_data *y);
/* Refuses a task that names two such data, one of which it changes: HEDDLE_E_INVALID. */
int hd_task_check_overlaps(const heddle_task *t);

#endif
