/* Groups of tasks: a part of the program waits for the tasks that it has submitted, and gets their error, whatever
 * other threads submit to the same runtime.
 *
 *   heddle_group *group;
 *   heddle_group_create(rt, &group);
 *   heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_in_group(group));
 *   ...
 *   if (heddle_group_wait(group))
 *           fprintf(stderr, "%s\n", heddle_last_error());
 *   heddle_group_free(group);
 *
 * A task is in one group at most. Its failure is reported by heddle_group_wait, and not by heddle_wait_all, although
 * that waits for it, too. Groups do not order tasks: data do. */
#ifndef HEDDLE_GROUP_H
#define HEDDLE_GROUP_H

#include <heddle/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an empty group, which the caller frees with heddle_group_free. HEDDLE_E_MEMORY. */
int heddle_group_create(heddle_runtime *rt, heddle_group **out);

/* Makes `group` (NULL: none) the group of the tasks without heddle_in_group that the calling thread submits to `rt`
 * from now on, and returns the one that was it before, to be set again afterwards. Tasks that kernels and callbacks
 * submit are not meant, even if they run in this thread; a kernel or a callback may set a group, of one runtime at a
 * time, for what it submits itself, and must set the one before again before it returns. NULL also on an error: `group`
 * is of another runtime, or HEDDLE_E_MEMORY; then nothing is set. */
heddle_group *heddle_group_set(heddle_runtime *rt, heddle_group *group);

/* Waits until every task that has been put into the group has ended, those included that are submitted to it meanwhile.
 * Returns 0, or the first error among the tasks of the group that no wait for it has reported yet, with its message;
 * the group can be used further. It does not wait until reductions (HEDDLE_REDUX) are combined: acquire the datum, or
 * put a task that reads it into the group. HEDDLE_E_DEADLOCK. Blocks.
 *
 * A kernel on a CPU may wait for tasks that it has submitted to a group. Its worker runs other tasks meanwhile, on the
 * same stack: those that the policy gives it and that are nested more deeply than its own task. (A task that the
 * program submits is nested in no kernel, one that a kernel submits once more than the task of this kernel, and one
 * that a callback submits as often as the task of this callback.) The kernel goes on when these have returned, or
 * sleeps if there are none. So under every policy, at most as many kernels lie on one stack as the program nests tasks
 * in each other. Tasks that are not nested more deeply are run by workers whose kernels do not wait; if the kernel's
 * tasks depend on some, and nothing else in the runtime can go on, one of these is run on top of it, too. Its own task
 * keeps its data, so the tasks of the group must not need them in a conflicting mode: pass addresses as values, or
 * register a datum of the kernel's own. Nor may they need data of tasks whose kernels wait below it on the stack, such
 * as one with which all tasks commute, or data that the thread of the program below it waits to acquire
 * (caller_works). The wait then returns HEDDLE_E_DEADLOCK, unless a thread of the program has acquired data and does
 * not wait itself: it might act. What the kernel has waited is not part of its time in the models. HEDDLE_E_STATE: the
 * task of the kernel is in the group itself; or called from a callback, a kernel elsewhere, or by a member of an SPMD
 * kernel. HEDDLE_E_UNSUPPORTED: the task has SCRATCH or REDUX data. HEDDLE_E_MEMORY: so many kernels wait on one
 * worker that its stack is full, because the program nests tasks so deeply: larger tasks end a recursion earlier, and
 * `ulimit -s` sets the size of the stacks of workers. */
int heddle_group_wait(heddle_group *group);

/* Whether heddle_group_wait may be called here: 0, or the error that it would return for the place, before there is
 * anything to wait for: HEDDLE_E_STATE, HEDDLE_E_UNSUPPORTED, HEDDLE_E_MEMORY. A kernel that submits tasks which use
 * its own variables should ask first. It leaves some room on the stack: a function that is told 0, and functions
 * that it calls, may wait. Does not block. */
int heddle_may_wait(heddle_runtime *rt);

/* Cancels the tasks of the group that have not begun, for example because the program cannot wait for them: their
 * kernels will never be called, and tasks that need their values are cancelled, too. Each ends when its turn comes,
 * with HEDDLE_E_CANCELLED. Tasks that run go on, and a hierarchical task that only waits for a worker to expand it
 * counts as one that runs. Tasks that are submitted later are not affected. Returns how many were cancelled, or an
 * error. Does not block. */
int heddle_group_cancel(heddle_group *group);

/* Frees the group; NULL: does nothing. Its tasks go on. No task may be submitted to it any more, and no thread may
 * have it set. An error that no wait has reported, or that comes later, is reported by heddle_wait_all. heddle_stop
 * frees all groups. */
void heddle_group_free(heddle_group *group);

#ifdef __cplusplus
}
#endif
#endif
