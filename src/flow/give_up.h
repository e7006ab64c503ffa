/* Cancelling tasks that have not begun, so that the data that they would use can end before them. */
#ifndef HD_FLOW_GIVE_UP_H
#define HD_FLOW_GIVE_UP_H

#include <heddle/data.h>
#include <heddle/group.h>
#include <heddle/runtime.h>

/* For a thread of the program that cannot wait for the tasks that use the datum: cancels the tasks among them that have
 * not begun; the datum has neither a value nor a buffer of the program afterwards. The datum must not have been freed:
 * its UNREGISTER task, if submitted, has not ended. The caller settles. */
void hd_data_give_up(heddle_data *d);

/* Whether a task of the group, or a task that uses the datum, has begun and not ended; one of `group` and the datum is
 * NULL. Walks through all tasks. Called with the core lock. */
int hd_has_begun(heddle_runtime *rt, const heddle_group *group, const heddle_data *data);

/* Waits until all objects are destroyed that are unused now. Objects that become unused later are not waited for,
 * because other threads could prolong the wait for ever. May also be called by threads and kernels that must not wait
 * for tasks; not interruptible: it waits only for functions of types, which do not call Heddle. In wait.c. */
void hd_wait_destroyed(heddle_runtime *rt);

#endif
