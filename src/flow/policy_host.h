/* The runtime's instance of its policy. */
#ifndef HD_FLOW_POLICY_HOST_H
#define HD_FLOW_POLICY_HOST_H

#include <heddle/policy.h>
#include <heddle/runtime.h>
#include <heddle/task.h>
#include "state/sched.h"
#include "state/task.h"

/* Creates the runtime's instance of the policy that its settings name. HEDDLE_E_UNKNOWN, or the result of the policy's
 * `create`. */
int hd_sched_open(heddle_runtime *rt);
void hd_sched_close(heddle_runtime *rt);
/* Destroys the instance, which forgets all its tasks. hd_sched_revive creates another one. */
void hd_sched_forget(heddle_runtime *rt);
int hd_sched_revive(heddle_runtime *rt); /* creates another instance: 0, or the result of `create` */
/* Tells the instance that a task with HD_TASK_WATCHED has entered the graph, or that it is about to leave the graph.
 * Nothing is told of controls. */
void hd_sched_submitted(heddle_runtime *rt, heddle_task *t);
void hd_sched_ended(heddle_runtime *rt, heddle_task *t);
/* Whether the instance has picked the task, and so must be told of the task's begin and end. */
static inline int hd_sched_knows(const struct heddle_sched *s, const heddle_task *t)
{
	return t->picked >= s->born;
}

#endif
