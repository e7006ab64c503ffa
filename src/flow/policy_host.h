/* The runtime's instance of its policy: policy_host.c. */
#ifndef HD_POLICY_HOST_H
#define HD_POLICY_HOST_H

#include <heddle/policy.h>
#include <heddle/runtime.h>
#include <heddle/task.h>
#include "state/sched.h"
#include "state/task.h"

/* policy_host.c. Makes the runtime's instance of the policy that its settings name. HEDDLE_E_UNKNOWN, or what the
 * policy's create returns. */
int hd_sched_open(heddle_runtime *rt);
void hd_sched_close(heddle_runtime *rt);
/* Destroys the instance, which forgets all that it was given. Another one is made by hd_sched_revive. */
void hd_sched_forget(heddle_runtime *rt);
int hd_sched_revive(heddle_runtime *rt); /* makes another instance: 0, or what the policy's create returns */
/* Whether the instance has picked the task, and so may hear that it begins and ends. */
static inline int hd_sched_knows(const struct heddle_sched *s, const heddle_task *t)
{
	return t->picked >= s->born;
}

#endif
