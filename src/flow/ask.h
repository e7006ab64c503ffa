/* Which hungry workers the policy is asked for a task. By default all of them, in the order of the hungry list. A
 * policy that has made groups (heddle_sched_group) says which of these find nothing. Their workers are passed over; all
 * others are asked in the same order. */
#ifndef HD_CORE_ASK_H
#define HD_CORE_ASK_H

#include <heddle/runtime.h>
#include <stddef.h>
#include <stdint.h>
#include <heddle/policy.h>

struct hd_ask;

struct hd_worker;

/* Allocates the arrays. HEDDLE_E_MEMORY. */
int hd_ask_open(struct hd_ask *a, size_t n_workers);
void hd_ask_close(struct hd_ask *a);
/* To be called before an instance of the policy is made: forgets the groups of the one before. */
void hd_ask_forget(heddle_runtime *rt);
/* To be called when the instance has been made: the hungry workers enter its groups. */
void hd_ask_begin(heddle_runtime *rt);

/* ask.c: all under the core lock. */
/* To be called when a worker has entered the hungry list, and when it has left the list. */
void hd_ask_enter(struct hd_worker *w);
void hd_ask_leave(struct hd_worker *w);
/* A hungry worker has been filled otherwise than by hd_ask_hungry. The worker stays in the list until hd_ask_hungry
 * comes to it. */
void hd_ask_filled(struct hd_worker *w);
/* Calls `ask` for each hungry worker that the policy may have a task for, as long as tasks are ready. */
void hd_ask_hungry(heddle_runtime *rt, void (*ask)(struct hd_worker *));
/* Checks the invariants of groups: a part of hd_check. */
int hd_ask_check(heddle_runtime *rt);

#endif
