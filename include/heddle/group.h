/* Groups of tasks: a part of the program waits for its own tasks, and gets their error, whatever other threads submit
 * to the same runtime.
 *
 *   heddle_group *group;
 *   heddle_group_create(rt, &group);
 *   heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_in_group(group));
 *   ...
 *   if (heddle_group_wait(group))
 *           fprintf(stderr, "%s\n", heddle_last_error());
 *   heddle_group_free(group);
 *
 * A task is in one group at most. heddle_group_wait reports the failure of the task; heddle_wait_all also waits for the
 * task, but does not report its failure. Groups do not order tasks: data do. */
#ifndef HEDDLE_GROUP_H
#define HEDDLE_GROUP_H

#include <heddle/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an empty group, which the caller frees with heddle_group_free. HEDDLE_E_MEMORY. */
int heddle_group_create(heddle_runtime *rt, heddle_group **out);

/* Makes `group` (NULL: none) the group of the tasks without heddle_in_group that the calling thread submits to `rt`
 * from now on, and returns the previous group, which the caller sets again afterwards. The group does not apply to
 * tasks that kernels and callbacks submit, even if these run in this thread; a kernel or a callback may set a group, of
 * one runtime at a time, for the tasks that it submits itself, and must set the previous group again before it returns.
 * NULL also on an error: `group` is of another runtime, or HEDDLE_E_MEMORY; then nothing is set. */
heddle_group *heddle_group_set(heddle_runtime *rt, heddle_group *group);

/* Waits until every task of the group has ended, including tasks that are submitted to the group meanwhile. Returns 0,
 * or the first error of the group's tasks that no wait for the group has reported yet, with its message; the group can
 * be used further. Does not wait until reductions (HEDDLE_REDUX) are combined: acquire the datum, or put a task that
 * reads the datum into the group. HEDDLE_E_DEADLOCK. Blocks.
 *
 * A kernel on a CPU may wait for tasks that it has submitted to a group. Meanwhile its worker runs other tasks on the
 * same stack: tasks that the policy gives the worker and whose depth is greater than that of the kernel's own task. (A
 * task that the program submits has depth 0. A task that a kernel submits has one more than the kernel's task, a task
 * that a callback submits has the depth of the callback's task.) If there are no such tasks, the worker sleeps. The
 * kernel goes on when its wait is over and the kernels above it on the stack have returned. So under every policy, a
 * stack has at most as many kernels as the program nests tasks in each other. Tasks of smaller or equal depth are run
 * by workers whose kernels do not wait; only if the kernel's tasks depend on such a task, and nothing else in the
 * runtime can go on, the waiting worker runs it. The kernel's own task keeps its data, so the tasks of the group must
 * not need these data in a conflicting mode: pass addresses as values, or register a datum in the kernel. Nor may the
 * tasks of the group need data of tasks whose kernels wait below on the stack, such as a datum on which all tasks
 * commute, or data that the thread of the program below on the stack waits to acquire (caller_works). The wait then
 * returns HEDDLE_E_DEADLOCK, unless a thread of the program has acquired data and does not wait: this thread might
 * release them. The time that a kernel has waited is not part of its time in the models. HEDDLE_E_STATE: the kernel's
 * task is in the group itself; or the caller is a callback, a kernel that does not run on a CPU, or a member of an SPMD
 * kernel. HEDDLE_E_UNSUPPORTED: the kernel's task has SCRATCH or REDUX data. HEDDLE_E_MEMORY: so many kernels wait on
 * one worker that its stack is full, because the program nests tasks so deeply: larger tasks end a recursion earlier,
 * and `ulimit -s` sets the size of the stacks of workers. */
int heddle_group_wait(heddle_group *group);

/* Whether the caller may call heddle_group_wait: 0, or the error that heddle_group_wait would return: HEDDLE_E_STATE,
 * HEDDLE_E_UNSUPPORTED, HEDDLE_E_MEMORY. A kernel whose tasks use the kernel's local variables should ask before it
 * submits them. 0 leaves some room on the stack: the caller, and functions that the caller calls, may wait. Does not
 * block. */
int heddle_may_wait(heddle_runtime *rt);

/* Cancels the tasks of the group that have not begun, for example because the program cannot wait for them: their
 * kernels will never be called, and tasks that need their values are cancelled, too. A cancelled task ends with
 * HEDDLE_E_CANCELLED when the tasks before it have ended. Running tasks go on, and so does a hierarchical task that
 * waits only for a worker to expand it. Tasks that are submitted later are not affected. Returns how many were
 * cancelled, or an error. Does not block. */
int heddle_group_cancel(heddle_group *group);

/* Frees the group; NULL: does nothing. The tasks of the group go on. From now on no task may be submitted to the group,
 * and it must not be the group of a thread (heddle_group_set). heddle_wait_all reports an error that no wait for the
 * group has reported, and later errors of its tasks. heddle_stop frees all groups. */
void heddle_group_free(heddle_group *group);

#ifdef __cplusplus
}
#endif
#endif
