/* Waiting threads, and the detection of deadlocks when nothing moves. wait.c defines whose wait ends. */
#ifndef HD_FLOW_WAIT_H
#define HD_FLOW_WAIT_H

#include <stdatomic.h>
#include <stdint.h>
#include <heddle/runtime.h>

struct hd_wakeup;

/* A thread blocked in a wait. */
struct hd_waiter {
	struct hd_waiter *next;
	int (*done)(heddle_runtime *rt, void *arg); /* whether the wait is over; called with the core lock */
	void *arg;
	uint64_t thread;         /* the thread's token */
	struct hd_wakeup *event; /* the thread sleeps on this event */
	/* Whether the event has been set because done() was true. Changed under the core lock; read without it by a
	 * thread that runs tasks. Relaxed, pairs with nothing: the reader takes the lock and calls done() again. */
	_Atomic int woken;
	double quiet_us;    /* us that the thread had slept since a task last ended, at its last look */
	uint64_t ended;     /* number of ended tasks at this look */
	unsigned n_reports; /* number of reports of the watchdog */
	int inside;         /* 1: the waiter is a kernel */
	int told;           /* 1: the thread was woken to look for a deadlock: wait.c */
	/* 1: another kernel waits above this kernel on the stack, so this wait cannot end before that wait */
	int covered;
};

static inline void hd_waiter_set_woken(struct hd_waiter *w, int woken)
{
	/* Relaxed, pairs with nothing: see the field. */
	atomic_store_explicit(&w->woken, woken, memory_order_relaxed);
}

/* Whether the function `what` may wait: 0; or HEDDLE_E_STATE, with a message, if the calling thread runs code of the
 * program that must not wait. */
int hd_check_outside(const char *what);

/* The functions below are called with the core lock. The waits release it meanwhile. */
/* Waits until done() is true. May return HEDDLE_E_DEADLOCK. */
int hd_wait_until(heddle_runtime *rt, int (*done)(heddle_runtime *, void *), void *arg);
/* Does what hd_wait_until does, for a thread that waits for one task or datum: meanwhile workers take no tasks beyond
 * their pipeline, so that the thread is woken as soon as its task has ended. */
int hd_wait_reacting(heddle_runtime *rt, int (*done)(heddle_runtime *, void *), void *arg);
/* A condition for hd_wait_until and hd_wait_reacting: whether the task `arg` has ended. */
int hd_task_is_over(heddle_runtime *rt, void *arg);
/* For engines: called now and then while the waiter's thread waits. Returns HEDDLE_E_INTERRUPTED if the program wants
 * the wait to end. Releases the core lock meanwhile. */
int hd_wait_interrupted(heddle_runtime *rt, const struct hd_waiter *waiter);
/* hd_waiter_add adds a waiter to the list that hd_wake_waiters visits, hd_waiter_remove removes it. */
void hd_waiter_add(heddle_runtime *rt, struct hd_waiter *waiter);
void hd_waiter_remove(heddle_runtime *rt, struct hd_waiter *waiter);
/* Wakes the threads whose done() is true. */
void hd_wake_waiters(heddle_runtime *rt);
/* Wakes waiting threads if nothing moves any more, so that they look for a deadlock. Does not wake the thread that
 * sleeps on `except`, because this thread looks anyway; NULL: no exception. */
void hd_wake_if_still(heddle_runtime *rt, const struct hd_wakeup *except);
/* Whether another thread of the program may act, so that the waiter's condition can still become true. */
int hd_others_may_act(heddle_runtime *rt, const struct hd_waiter *waiter);
/* Whether nothing moves: no kernel or callback runs that does not wait in hd_throttle or for a group; no transfer is
 * under way; and no worker whose thread does not wait in this way has a task or is about to look for one. Tasks may
 * still wait for events: the kernel that will fulfill an event may itself wait in hd_throttle. */
int hd_core_still(heddle_runtime *rt);
/* Looks for a deadlock, in the waiter's thread. Returns whether the wait must end with HEDDLE_E_DEADLOCK; otherwise the
 * thread may sleep. */
int hd_core_stuck(heddle_runtime *rt, struct hd_waiter *waiter);

/* Returns HEDDLE_E_DEADLOCK, with a message that says which task waits for what. In dump.c. */
int hd_core_deadlock(heddle_runtime *rt);
/* Reports to the program, or on standard error, that no task has ended for the time of the watchdog; `n_reports`
 * reports of this wait came before. Releases the core lock meanwhile. In dump.c. */
void hd_report_hang(heddle_runtime *rt, unsigned n_reports);
/* The time in us without the end of a task after which a wait reports a hang, given `n_reports` earlier reports;
 * negative: no more reports. `watchdog` is the setting. In dump.c. */
double hd_watchdog_us(int watchdog, unsigned n_reports);

#endif
