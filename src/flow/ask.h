/* Selects the hungry workers for which the policy is asked for a task. By default these are all hungry workers, in the
 * order of the hungry list. A policy that has created groups (heddle_sched_group) tells which groups would get nothing:
 * their workers are skipped, and the other workers are asked in the same order. */
#ifndef HD_FLOW_ASK_H
#define HD_FLOW_ASK_H

#include <heddle/runtime.h>
#include <stddef.h>
#include <stdint.h>
#include <heddle/policy.h>

struct hd_ask;

struct hd_worker;

/* Allocates the arrays. HEDDLE_E_MEMORY. */
int hd_ask_open(struct hd_ask *a, size_t n_workers);
void hd_ask_close(struct hd_ask *a);
/* Forgets the groups of the previous instance of the policy. Called before a new instance is created. */
void hd_ask_forget(heddle_runtime *rt);
/* Adds the hungry workers to their groups. Called after an instance was created. */
void hd_ask_begin(heddle_runtime *rt);

/* Called when a worker has entered the hungry list, and when it has left the list. The functions from here on need the
 * core lock. */
void hd_ask_enter(struct hd_worker *w);
void hd_ask_leave(struct hd_worker *w);
/* Records that a hungry worker has got tasks without hd_ask_hungry. The worker stays in the list until hd_ask_hungry
 * visits it. */
void hd_ask_filled(struct hd_worker *w);
/* Calls `ask` for each hungry worker for which the policy may have a task, while tasks are ready. */
void hd_ask_hungry(heddle_runtime *rt, void (*ask)(struct hd_worker *));
/* Checks the invariants of groups: a part of hd_selfcheck. */
int hd_ask_check(heddle_runtime *rt);

#endif
