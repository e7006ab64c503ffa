/* What worker_set.c offers: the set of workers that are given tasks, which changes while tasks run. */
#ifndef HD_CORE_WORKER_SET_H
#define HD_CORE_WORKER_SET_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

#include "state/runtime.h"
#include "loads.h"

/* Whether it is of kind "cpu". */
int hd_worker_is_cpu(const struct hd_worker *w);
/* For the start: finds the rivals of each worker, and retires those that the platform says. HEDDLE_E_MEMORY. */
int hd_worker_set_open(heddle_runtime *rt);
void hd_worker_set_close(heddle_runtime *rt);

/* us until `time`, which is not before the last change, in which processors were driven, all together. */
static inline double hd_driven_until(const struct hd_driven *driven, double time)
{
	return driven->time + driven->n * (time - driven->since);
}
/* To be called when `lost` or `retired` of workers has changed, before anybody asks which tasks these can run. */
void hd_workers_count(heddle_runtime *rt);
enum hd_change { HD_LOST, HD_OTHERS_DRIVEN, HD_MORE_CORES /* others are driven, and more cores than before */ };
/* The same, and makes the change known: takes the tasks from the workers that are out, lets those begin that are not,
 * and makes the policy give them to others, or another policy take over. The caller settles. */
void hd_workers_changed(heddle_runtime *rt, enum hd_change change);
/* Whether a worker that has nothing to do might run tasks that the policy has placed for workers that are out, or for
 * others when there were fewer cores. */
static inline int hd_displaced_wanted(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	return HD_UNLIKELY(rt->dispatch.displaced) && rt->dispatch.hungry;
}
/* What had been achieved before some of these tasks came back. Begins with .given = UINT64_MAX. */
struct hd_achieved {
	uint64_t given; /* how many tasks the policy had given to workers */
	size_t parked;
};
/* Makes some of these tasks ready again, unless those that came back before them in the same critical section have fed
 * no worker: there may be many that are only parked, and a policy of the program may place them where they were. If
 * some have been parked, a worker's thread goes on soon, in a critical section of its own. Returns whether it has done
 * so; then the caller settles. */
int hd_displaced_return(heddle_runtime *rt, struct hd_achieved *before);
/* Nothing moves, and nobody may act: makes the tasks ready again that the policy has placed for workers that are out;
 * if there are none, but it may have some that only retired workers can run, all. Returns whether it has done so; then
 * the caller settles. */
int hd_unparked_return(heddle_runtime *rt);
/* Drives the workers of the CPU that are marked, and retires the others. Returns whether that changes anything. The
 * caller settles. */
int hd_workers_retire_others(heddle_runtime *rt, const char *wanted);
/* The worker that the policy gave the task to, where another may have taken it over. */
static inline unsigned hd_given_to(const heddle_task *t)
{
	return HD_UNLIKELY(t->extra && t->extra->picked_by) ? t->extra->picked_by - 1 : t->worker;
}
/* Makes the task as it was before it was picked, and gives it to the policy. It is not counted as picked any more.
 * `begun`: its kernel may have changed its data. */
void hd_give_back(heddle_task *t, int begun);
/* Whether all workers that could run the task are lost or retired, or none could. */
int hd_only_out_can_run(const heddle_task *t);
/* To be called before the policy is told of a ready task while some worker is lost or retired: whether no worker can
 * run it. Then it waits for a retired one that can, or will end with an error. */
int hd_has_no_worker(heddle_task *t);

/* To be called when a worker whose `pipeline` is 0 runs no kernel any more: its rivals may begin. The caller
 * settles. */
void hd_cores_left(struct hd_worker *w);
/* Whether none of the worker's rivals runs, or is to go on with a kernel before the worker may begin one. */
int hd_cores_are_free(const struct hd_worker *w);
/* For a kernel that has waited, on a worker that has rivals: whether it may go on, in the same critical section.
 * Otherwise the worker's event is set when it may be asked again. */
int hd_cores_claim(struct hd_worker *w);
/* The kernel goes on: the worker runs it. */
void hd_cores_claimed(struct hd_worker *w);
/* us: when the kernels that run on the cores of the worker's rivals will have ended, as predicted; at least `now`. */
double hd_cores_free_at(const struct hd_worker *w, double now);

/* To be called where the load of a worker has changed, or whether it is driven (heddle_sched_moved). */
static inline void hd_worker_moved(struct hd_worker *w)
{
	if (HD_UNLIKELY(w->rt->sched.loads.watched) && !w->moved)
		hd_loads_note(w);
}

#endif
