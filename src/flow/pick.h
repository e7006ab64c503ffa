/* Asking the policy for a task; used by dispatch.c. */
#ifndef HD_FLOW_PICK_H
#define HD_FLOW_PICK_H

#include <heddle/runtime.h>
#include <heddle/task.h>

#include "state/runtime.h"

/* Reads the clock before a call of the policy, if calls are measured (the setting time_policy). */
static inline double hd_policy_begins(const heddle_runtime *rt)
{
	return HD_UNLIKELY(rt->config.time_policy) ? hd_clock_us() : 0;
}

static inline void hd_policy_ends(heddle_runtime *rt, double began)
{
	if (HD_UNLIKELY(rt->config.time_policy))
		rt->outcome.stats.sched_time += hd_clock_us() - began - rt->clock_cost;
}

/* Checks a task that a policy of the program has picked. NULL: the task is not ready, because the policy has picked it
 * before. A task that the worker cannot run fails, because the policy will not give it to another worker. */
heddle_task *hd_check_pick(const struct hd_worker *w, heddle_task *t);
/* Asks the policy in the special cases: calls are measured, a kernel waits on some worker, or tasks are kept aside. */
heddle_task *hd_pick_specially(struct hd_worker *w);

/* Counts a call of `pick`, and checks the task `t` that it has returned. */
static inline heddle_task *hd_picked(struct hd_worker *w, heddle_task *t)
{
	heddle_runtime *rt = w->rt;
	rt->count.picks++;
	if (HD_UNLIKELY(!t))
		rt->count.empty_picks++;
	else if (HD_UNLIKELY(rt->sched.checked))
		t = hd_check_pick(w, t);
	return t;
}

#endif
