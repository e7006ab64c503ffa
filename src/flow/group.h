/* Groups of tasks. */
#ifndef HD_FLOW_GROUP_H
#define HD_FLOW_GROUP_H

#include <heddle/runtime.h>
#include <heddle/group.h>
#include "state/task.h"

struct hd_failure;

/* Counts a task that is about to be submitted to the group. Needs no lock. */
void hd_group_enter(heddle_group *g);
/* Counts the end of a task, which may free the group. Called with the core lock. */
void hd_group_leave(heddle_group *g);
/* Uncounts a task that was not submitted after all. Takes the core lock. */
void hd_group_refused(heddle_group *g);
/* The record of failures to which a failure of the task belongs: the record of its group, or of the runtime. Called
 * with the core lock. */
struct hd_failure *hd_task_failure(heddle_runtime *rt, const heddle_task *t);
static inline heddle_group *hd_task_group(const heddle_task *t)
{
	return t->extra ? t->extra->group : NULL;
}
heddle_runtime *hd_group_runtime(const heddle_group *g);
/* For checking mode, in which freed groups are kept for a while: HEDDLE_E_STATE, with a message, if the group was
 * freed. `what` is the function that the program calls with the group. Takes the core lock. */
int hd_group_check(const heddle_group *g, const char *what);
/* For hd_wait_until: whether all tasks of the group `arg` have ended. Called with the core lock. */
int hd_group_is_over(heddle_runtime *rt, void *arg);
/* Number of tasks of all groups that were submitted and have not ended. Called with the core lock. */
uint64_t hd_groups_live(heddle_runtime *rt);
/* For heddle_stop: lets heddle_wait_all report the failures of groups. Takes the core lock. */
void hd_groups_report(heddle_runtime *rt);
/* For heddle_stop: frees the groups, when no task can end any more. Called with the core lock. */
void hd_groups_free(heddle_runtime *rt);

#endif
