/* The slow paths of the mutex and the event, which sleep by futex(2). */
#define _GNU_SOURCE
#include "lock.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* number of tries before a thread sleeps: they take longer than almost every critical section of the core */
enum { LOCK_SPINS = 200 };

#ifdef HD_CHECKED
/* number of locks with hd_lock_make_quick that the thread holds; if there is any, it must make no system call */
static _Thread_local int n_quick;

static void check_system_call(void)
{
	if (!n_quick)
		return;
	fprintf(stderr, "lock.c: a system call while a lock is held that many threads need\n");
	__builtin_trap();
}
#else
static void check_system_call(void) {}
#endif

static long futex_anywhere(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	check_system_call();
	return futex_anywhere(word, op, value, timeout);
}

void hd_futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	futex(word, FUTEX_WAIT, value, NULL);
}

void hd_futex_wake_all(_Atomic uint32_t *word)
{
	futex(word, FUTEX_WAKE, INT_MAX, NULL);
}

static _Thread_local char token_address; /* its address differs between live threads; its value is not used */

uint64_t hd_thread_token(void)
{
	return (uint64_t)(uintptr_t)&token_address;
}

#ifdef HD_CHECKED
void hd_lock_make_quick(struct hd_lock *lock)
{
	lock->is_quick = 1;
}

void hd_lock_note(struct hd_lock *lock, int taken)
{
	n_quick += lock->is_quick ? taken ? 1 : -1 : 0;
	/* relaxed, pairs with nothing: a thread only compares the owner with its own token */
	atomic_store_explicit(&lock->owner, taken ? hd_thread_token() : 0, memory_order_relaxed);
}

void hd_lock_check(const struct hd_lock *lock, const char *file, int line)
{
	/* relaxed, pairs with nothing: if the owner is this thread, this thread wrote it */
	if (atomic_load_explicit(&lock->owner, memory_order_relaxed) == hd_thread_token())
		return;
	fprintf(stderr, "%s:%d: called without the lock\n", file, line);
	__builtin_trap();
}
#endif

void hd_lock_slow(struct hd_lock *lock)
{
	for (int i = 0; i < LOCK_SPINS; i++) {
		uint32_t free = 0;
		/* relaxed, pairs with nothing: only a hint whether the exchange below can succeed */
		if (atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 &&
		    /* pairs: hd_unlock */
		    atomic_compare_exchange_weak_explicit(&lock->state, &free, 1, memory_order_acquire,
		                                          memory_order_relaxed))
			return;
		hd_cpu_relax();
	}
	/* pairs: hd_unlock. State 2: threads may sleep; if none does, hd_unlock makes a needless system call. */
	while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
		futex(&lock->state, FUTEX_WAIT, 2, NULL);
}

int hd_lock_for(struct hd_lock *lock, double us)
{
	double start = hd_clock_us();
	do {
		uint32_t free = 0;
		/* pairs: hd_unlock */
		if (atomic_compare_exchange_strong_explicit(&lock->state, &free, 1, memory_order_acquire,
		                                            memory_order_relaxed)) {
			hd_lock_note(lock, 1);
			return 1;
		}
		sched_yield(); /* the thread that holds the lock may need this core */
	} while (hd_clock_us() - start < us);
	return 0;
}

void hd_unlock_wake(struct hd_lock *lock)
{
	futex(&lock->state, FUTEX_WAKE, 1, NULL);
}

int hd_wakeup_mark(struct hd_wakeup *event)
{
	/* pairs: hd_wakeup_poll, hd_wakeup_wait */
	return atomic_exchange_explicit(&event->state, 1, memory_order_release) == 2;
}

void hd_wakeup_rouse(struct hd_wakeup *event)
{
	futex(&event->state, FUTEX_WAKE, 1, NULL);
}

void hd_wakeup_rouse_inside(struct hd_wakeup *event)
{
	futex_anywhere(&event->state, FUTEX_WAKE, 1, NULL);
}

void hd_wakeup_set(struct hd_wakeup *event)
{
	if (hd_wakeup_mark(event))
		hd_wakeup_rouse(event);
}

int hd_wakeup_poll(struct hd_wakeup *event)
{
	/* relaxed, pairs with nothing: only a hint; the exchange below acquires */
	if (atomic_load_explicit(&event->state, memory_order_relaxed) != 1)
		return 0;
	/* pairs: hd_wakeup_set */
	return atomic_exchange_explicit(&event->state, 0, memory_order_acquire) == 1;
}

int hd_wakeup_wait(struct hd_wakeup *event, double spin_us, double timeout_us)
{
	double start = hd_clock_us();
	do {
		for (int i = 0; i < 32; i++) {
			if (hd_wakeup_poll(event))
				return 1;
			hd_cpu_relax();
		}
	} while (hd_clock_us() - start < spin_us);
	for (;;) {
		uint32_t unset = 0;
		/* pairs: hd_wakeup_set. If the event is set, this acquires what the setting thread wrote; if not, the
		 * exchange in hd_wakeup_set will find the 2 and wake this thread. */
		if (!atomic_compare_exchange_strong_explicit(&event->state, &unset, 2, memory_order_acquire,
		                                             memory_order_acquire) &&
		    unset == 1) {
			/* pairs: hd_wakeup_set, which another thread may have called again meanwhile */
			atomic_exchange_explicit(&event->state, 0, memory_order_acquire);
			return 1;
		}
		struct timespec left, *timeout = NULL;
		if (timeout_us >= 0) {
			double us = timeout_us - (hd_clock_us() - start);
			if (us <= 0) {
				unset = 2;
				/* pairs: hd_wakeup_set. Either this thread takes its 2 back, or the event has been set,
				 * and the next round of the loop consumes it. */
				if (atomic_compare_exchange_strong_explicit(&event->state, &unset, 0,
				                                            memory_order_acquire, memory_order_acquire))
					return 0;
				continue;
			}
			left.tv_sec = (time_t)(us * 1e-6);
			left.tv_nsec = (long)((us - (double)left.tv_sec * 1e6) * 1e3);
			timeout = &left;
		}
		futex(&event->state, FUTEX_WAIT, 2, timeout);
	}
}
