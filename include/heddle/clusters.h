/* Which CPU workers are driven: cluster sets that change while tasks run.
 *
 * A platform may declare CPU workers that have cores in common: single cores, and clusters of several (struct
 * heddle_class, `cores`). Those of the present cluster set are *driven*; the others are *retired*, which means that
 * they are given no tasks and that their threads sleep. At the start, the field `retired` of struct heddle_worker says
 * which.
 *
 *   unsigned halves[] = {4, 5};               two clusters, which were declared as workers 4 and 5
 *   heddle_workers_drive(rt, halves, 2);      from now on they run the tasks of the CPU
 *
 * No kernel is interrupted. A worker that retires finishes its running kernel, and gives its other tasks back to the
 * policy; a worker that is newly driven begins when all kernels on its cores have ended. Most policies go on with the
 * tasks that they have. Policies that place each task for a worker place the tasks of workers that retire again; if
 * more cores are driven than before, they also place some tasks of other workers again. A program's policy that can do
 * neither is made anew: a new instance gets all ready tasks in one batch, and begins its counts at 0
 * (docs/clusters.md). A kernel that waits for tasks (heddle_group_wait) leaves the cores of its worker to other
 * workers; it goes on when its wait is over and no other worker runs a kernel on these cores.
 *
 * Ready tasks that only retired workers can run, because of their codelet, heddle_on or can_run, wait until one of
 * these workers is driven. A wait that cannot end for this reason returns HEDDLE_E_DEADLOCK, and the sentence names
 * such a worker; the program may drive this worker and wait again.
 */
#ifndef HEDDLE_CLUSTERS_H
#define HEDDLE_CLUSTERS_H

#include <stddef.h>
#include <heddle/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Drives exactly these `n` workers of the CPU from now on, given by their indices in the platform, in any order; all
 * other workers of kind cpu retire. Workers of other kinds are always driven, named or not. n may be 0: then no CPU
 * worker runs tasks. Lost workers stay lost. May be called from any thread, kernels and callbacks included, but not
 * from functions that policies or codelets call (can_run, time ...); does not wait. Ends the setting clusters=adaptive:
 * from then on the program alone decides. HEDDLE_E_INVALID: there is no such worker, or two of them have a core in
 * common; HEDDLE_E_MEMORY; then nothing has changed. */
int heddle_workers_drive(heddle_runtime *rt, const unsigned *workers, size_t n);

/* Drives the workers of a declared cluster set, which is given by its text: heddle_clusters_set(rt, "socket").
 * heddle_platform_cluster and the setting `clusters` declare cluster sets, several with commas between them; "none", if
 * declared, stands for single cores. Effect, threads and errors are as of heddle_workers_drive; HEDDLE_E_INVALID also:
 * the text is no cluster set, or a worker of the cluster set was not declared. */
int heddle_clusters_set(heddle_runtime *rt, const char *clusters);

/* Whether the worker is driven: neither retired nor lost. 0 also if there is no such worker. May be called from the
 * threads that may call heddle_workers_drive. */
int heddle_worker_is_driven(heddle_runtime *rt, unsigned worker);

#ifdef __cplusplus
}
#endif
#endif
