/* Data that share elements: common_elements.c. The functions need no lock. */
#ifndef HD_GRAPH_COMMON_ELEMENTS_H
#define HD_GRAPH_COMMON_ELEMENTS_H

#include <heddle/data.h>
#include <heddle/task.h>

/* Whether two different data share elements: one lies above the other, or both lie below different plans of one
 * datum. */
int hd_data_meet(const heddle_data *x, const heddle_data *y);
/* Checks a new task: HEDDLE_E_INVALID with a message if it names two data that share elements and changes one of
 * them. */
int hd_task_check_overlaps(const heddle_task *t);

#endif
