/* Threads that wait, and what they look for when nothing moves: a deadlock. Part of runtime.h, which includes it.
 * wait.c says who may end whose wait. */
#ifndef HD_CORE_WAIT_H
#define HD_CORE_WAIT_H

#include <stdatomic.h>
#include <stdint.h>
#include <heddle/runtime.h>

struct hd_wakeup;

/* A thread blocked in a wait. */
struct hd_waiter {
	struct hd_waiter *next;
	int (*done)(heddle_runtime *rt, void *arg); /* whether the wait is over; called under the lock */
	void *arg;
	uint64_t thread;         /* the thread's token */
	struct hd_wakeup *event; /* what the thread sleeps on */
	/* The event has been set because done() was true. Changed under the lock; read without by a thread that runs
	 * tasks. Relaxed, pairs with nothing: the thread takes the lock and asks done() again. */
	_Atomic int woken;
	double quiet_us;    /* for how long it has slept since a task last ended, as far as the thread has looked ... */
	uint64_t ended;     /* ... and the number of ended tasks then */
	unsigned n_reports; /* of the watchdog */
	int inside;         /* it is a kernel that waits */
	int told;           /* it is to look for a deadlock, and was woken for that: wait.c */
	int covered; /* a kernel that the thread runs meanwhile waits, too: this wait cannot end before that one */
};

static inline void hd_waiter_set_woken(struct hd_waiter *w, int woken)
{
	/* Relaxed, pairs with nothing: see the field. */
	atomic_store_explicit(&w->woken, woken, memory_order_relaxed);
}

/* wait.c */
/* HEDDLE_E_STATE, with a message, if the calling thread runs code of the program in which it must not wait; 0: the
 * function `what` may wait. */
int hd_check_outside(const char *what);

/* All that follows is called with the lock held. The waits leave it meanwhile. */
/* Waits until done() is true. HEDDLE_E_DEADLOCK. */
int hd_wait_until(heddle_runtime *rt, int (*done)(heddle_runtime *, void *), void *arg);
/* Such a wait of a thread that waits for one task or datum. Meanwhile workers take no tasks beyond their pipeline, so
 * that the thread is woken as soon as its task has ended. */
int hd_wait_reacting(heddle_runtime *rt, int (*done)(heddle_runtime *, void *), void *arg);
/* For these: whether the task, which is `arg`, has ended. */
int hd_task_is_over(heddle_runtime *rt, void *arg);
/* For engines: to be called now and then while the waiter's thread waits. HEDDLE_E_INTERRUPTED: the program wants the
 * wait to end. Leaves the lock meanwhile. */
int hd_wait_interrupted(heddle_runtime *rt, const struct hd_waiter *waiter);
/* Adds a waiter to the list that hd_wake_waiters goes through; and removes the waiter from that list. */
void hd_waiter_add(heddle_runtime *rt, struct hd_waiter *waiter);
void hd_waiter_remove(heddle_runtime *rt, struct hd_waiter *waiter);
/* Wakes the threads whose done() is true. */
void hd_wake_waiters(heddle_runtime *rt);
/* Wakes threads that wait if nothing moves any more: they must look for a deadlock. But not the one that sleeps on
 * `except`, which looks itself; NULL: no exception. */
void hd_wake_if_still(heddle_runtime *rt, const struct hd_wakeup *except);
/* Whether another thread of the program can still change what the waiter waits for. */
int hd_others_may_act(heddle_runtime *rt, const struct hd_waiter *waiter);
/* Whether nothing moves: no kernel or callback runs that does not wait in hd_throttle or for a group, no copy is under
 * way, and no worker whose thread does not wait there has a task or is about to look for one. Tasks may wait for
 * events: what will fulfill these may itself be a kernel that waits in hd_throttle. */
int hd_core_still(heddle_runtime *rt);
/* The waiter's thread looks for a deadlock. Whether its wait is to end with one; otherwise it may sleep. */
int hd_core_stuck(heddle_runtime *rt, struct hd_waiter *waiter);

/* dump.c */
/* Returns HEDDLE_E_DEADLOCK, with a message that says what waits for what. */
int hd_core_deadlock(heddle_runtime *rt);
/* Tells the program, or standard error, that no task has ended for the time that the watchdog allows, after so many
 * reports of this wait. Leaves the lock meanwhile. */
void hd_report_hang(heddle_runtime *rt, unsigned n_reports);
/* us that a wait sees no task end before it reports, after so many reports; negative: it reports no more. `watchdog` is
 * the setting. */
double hd_watchdog_us(int watchdog, unsigned n_reports);

#endif
