/* What give_up.c offers: tasks that have not begun are cancelled, so that what they would use can end before them. */
#ifndef HD_CORE_GIVE_UP_H
#define HD_CORE_GIVE_UP_H

#include <heddle/data.h>
#include <heddle/group.h>
#include <heddle/runtime.h>

/* The program's thread cannot wait for the tasks that use the datum: cancels those that have not begun, and makes the
 * datum one that has no value and no buffer of the program's. It must not have been freed, so its unregistration, if it
 * has been submitted, has not ended. The caller settles. */
void hd_data_give_up(heddle_data *d);

/* Whether a task of the group, or one that uses the datum, has begun and not ended; the other one is NULL. Walks
 * through all tasks. The lock is held. */
int hd_has_begun(heddle_runtime *rt, const heddle_group *group, const heddle_data *data);

/* wait.c: waits until all objects are destroyed that nobody uses any more now; not for those of which this becomes true
 * meanwhile, or other threads could keep it for ever. Also for threads and kernels that may not wait for tasks, and not
 * interrupted: what it waits for are functions of types, which call nothing of Heddle. */
void hd_wait_destroyed(heddle_runtime *rt);

#endif
