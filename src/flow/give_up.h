/* Cancels tasks that have not begun, so that the handles of their data can end earlier. */
#ifndef HD_FLOW_GIVE_UP_H
#define HD_FLOW_GIVE_UP_H

#include <heddle/data.h>
#include <heddle/group.h>
#include <heddle/runtime.h>

/* For a thread of the program that cannot wait for the tasks that use the datum: cancels those of these tasks that have
 * not begun. Afterwards the datum has neither a value nor a buffer of the program. The datum must not have been freed:
 * its UNREGISTER task, if submitted, has not ended. The caller settles. */
void hd_data_give_up(heddle_data *d);

/* Whether a task of the group, or a task that uses the datum, has begun and not ended; one of `group` and `data` is
 * NULL. Walks through all tasks. Called with the core lock. */
int hd_has_begun(heddle_runtime *rt, const heddle_group *group, const heddle_data *data);

/* Waits until all objects that are unused now have been destroyed. Does not wait for objects that become unused later,
 * because other threads could then prolong the wait for ever. Threads and kernels that must not wait for tasks may also
 * call this, and the wait is not interruptible: it waits only for the `destroy` functions of types, which do not call
 * Heddle. In wait.c. */
void hd_wait_destroyed(heddle_runtime *rt);

#endif
