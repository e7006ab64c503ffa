/* Groups of tasks: group.c. */
#ifndef HD_CORE_GROUP_H
#define HD_CORE_GROUP_H

#include <heddle/runtime.h>
#include <heddle/group.h>
#include "state/task.h"

struct hd_failure;

/* A task is about to be submitted to the group. Needs no lock. */
void hd_group_enter(heddle_group *g);
/* The task has ended; the group may be freed by that. The lock is held. */
void hd_group_leave(heddle_group *g);
/* The task was not submitted after all; the group may be freed by that. Takes the lock. */
void hd_group_refused(heddle_group *g);
/* Where the failure of the task is noted. The lock is held. */
struct hd_failure *hd_task_failure(heddle_runtime *rt, const heddle_task *t);
static inline heddle_group *hd_task_group(const heddle_task *t)
{
	return t->extra ? t->extra->group : NULL;
}
heddle_runtime *hd_group_runtime(const heddle_group *g);
/* For checking mode, in which groups are kept for a while after they were freed: HEDDLE_E_STATE, with a message, if
 * this one was. `what` is the function that the program calls with it. Takes the lock. */
int hd_group_check(const heddle_group *g, const char *what);
/* For hd_wait_until: whether all tasks of the group, which is `arg`, have ended. The lock is held. */
int hd_group_is_over(heddle_runtime *rt, void *arg);
/* How many tasks of all groups have been submitted and not ended. The lock is held. */
uint64_t hd_groups_live(heddle_runtime *rt);
/* For heddle_stop: lets heddle_wait_all report the failures of groups. Takes the lock. */
void hd_groups_report(heddle_runtime *rt);
/* For heddle_stop: frees the groups, when no task can end any more. The lock is held. */
void hd_groups_free(heddle_runtime *rt);

#endif
