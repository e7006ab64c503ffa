/* The set of workers that are given tasks, which changes while tasks run. */
#ifndef HD_FLOW_WORKER_SET_H
#define HD_FLOW_WORKER_SET_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

#include "state/runtime.h"
#include "loads.h"

/* Whether the worker is of kind "cpu". */
int hd_worker_is_cpu(const struct hd_worker *w);
/* Called at the start: finds the rivals of each worker, and retires the workers that the platform names.
 * HEDDLE_E_MEMORY. */
int hd_worker_set_open(heddle_runtime *rt);
void hd_worker_set_close(heddle_runtime *rt);

/* Processor time in us: the sum over processors of the us until `time` in which they were driven. `time` is not before
 * the last change. */
static inline double hd_driven_until(const struct hd_driven *driven, double time)
{
	return driven->time + driven->n * (time - driven->since);
}
/* Called when `lost` or `retired` of workers has changed, before any caller asks which tasks they can run. */
void hd_workers_count(heddle_runtime *rt);
enum hd_change { HD_LOST, HD_OTHERS_DRIVEN, HD_MORE_CORES /* other workers are driven, and more cores than before */ };
/* Calls hd_workers_count, and carries the change out: takes the tasks from workers that are out, lets the other workers
 * begin, and makes the policy redistribute its tasks, or replaces its instance. The caller settles. */
void hd_workers_changed(heddle_runtime *rt, enum hd_change change);
/* Whether *displaced* tasks are left for idle workers: tasks that the policy has placed for workers that are out, or
 * before more cores were driven. */
static inline int hd_displaced_wanted(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	return HD_UNLIKELY(rt->dispatch.displaced) && rt->dispatch.hungry;
}
/* The progress before some displaced tasks returned. Initialised with .given = UINT64_MAX. */
struct hd_achieved {
	uint64_t given; /* number of tasks that the policy had given to workers */
	size_t parked;
};
/* Makes some displaced tasks ready again. Does nothing if the tasks that returned before in the same critical section
 * have fed no worker: perhaps they were all parked, or the policy has placed them where they were, and the loop of the
 * caller would not end. If tasks were parked, a worker's thread continues soon, in a critical section of its own.
 * Returns whether tasks were made ready; then the caller settles. */
int hd_displaced_return(heddle_runtime *rt, struct hd_achieved *before);
/* Called when nothing moves and no thread may act: makes the tasks ready again that the policy has placed for workers
 * that are out. If there are none, but the policy may have tasks that only retired workers can run, makes all tasks of
 * the policy ready again. Returns whether tasks were made ready; then the caller settles. */
int hd_unparked_return(heddle_runtime *rt);
/* Drives the marked CPU workers, and retires the other ones. Returns whether the set changes. The caller settles. */
int hd_workers_retire_others(heddle_runtime *rt, const char *wanted);
/* The worker to which the policy gave the task, even if another worker has taken the task over. */
static inline unsigned hd_given_to(const heddle_task *t)
{
	return HD_UNLIKELY(t->extra && t->extra->picked_by) ? t->extra->picked_by - 1 : t->worker;
}
/* Undoes the pick of the task, and returns the task to the policy. `begun`: the kernel has begun, and may have changed
 * the data. */
void hd_give_back(heddle_task *t, int begun);
/* Whether some worker is lost or retired, and no other worker can run the task. */
int hd_only_out_can_run(const heddle_task *t);
/* Called before the policy is told of a ready task, while some worker is lost or retired: whether no worker can run the
 * task. If so, the task is parked for a retired worker that can, or will end with an error. */
int hd_has_no_worker(heddle_task *t);

/* Called when a worker whose `pipeline` is 0 runs no kernel any more: its rivals may begin. The caller settles. */
void hd_cores_left(struct hd_worker *w);
/* Whether no rival of the worker runs a kernel or has requested the cores in order to continue a kernel. */
int hd_cores_are_free(const struct hd_worker *w);
/* Called for a kernel that has waited, on a worker with rivals. Returns whether the kernel may continue; then it must
 * do so in the same critical section. If not, the worker's event is set when the caller may ask again. */
int hd_cores_claim(struct hd_worker *w);
/* Records that the kernel continues: its worker runs it. */
void hd_cores_claimed(struct hd_worker *w);
/* The predicted time, in us, at which the kernels that run on the cores of the worker's rivals will have ended; at
 * least `now`. */
double hd_cores_free_at(const struct hd_worker *w, double now);

/* Called when the load of the worker has changed, or when the worker is driven or not driven any more
 * (heddle_sched_moved). */
static inline void hd_worker_moved(struct hd_worker *w)
{
	if (HD_UNLIKELY(w->rt->sched.loads.watched) && !w->moved)
		hd_loads_note(w);
}

/* For heddle_stop: ends all pauses, and lets none begin any more. Called without the core lock; driven_workers.c. */
void hd_resume_all(heddle_runtime *rt);
/* Counts the pauses of the runtime up or down by `pauses`; 0: ends all of them. While there is one, workers begin
 * nothing. The caller settles. */
void hd_workers_pause(heddle_runtime *rt, int pauses);

#endif
