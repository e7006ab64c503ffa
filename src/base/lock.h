/* A mutex that costs one atomic exchange when free, and an event that a thread can sleep on.
 *
 * Both spin for a moment before asking the kernel: critical sections of the core last well under a microsecond, so the
 * holder is usually gone before a system call would have returned.
 */
#ifndef HD_LOCK_H
#define HD_LOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include "base.h"

static inline void hd_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Tells live threads apart; not 0. */
uint64_t hd_thread_token(void);

/* pairs: hd_lock's acquire exchange with hd_unlock's release exchange; without them the next holder could read the
 * state from before the last one's writes. 0 free, 1 held, 2 held and somebody sleeps. */
struct hd_lock {
	_Atomic uint32_t state;
#ifdef HD_CHECKED
	/* Token of the thread that has it, 0 when free. pairs: nothing, a thread looks for itself. */
	_Atomic uint64_t owner;
#endif
};

/* In builds that check themselves (those with sanitizers) HD_HELD stops the program, with the place, when a function
 * that needs a lock is called by a thread that does not have it. In others it is nothing. */
#ifdef HD_CHECKED
void hd_lock_note(struct hd_lock *lock, int taken);
void hd_lock_check(struct hd_lock *lock, const char *file, int line);
#define HD_HELD(lock) hd_lock_check((lock), __FILE__, __LINE__)
#else
static inline void hd_lock_note(struct hd_lock *lock, int taken)
{
	(void)lock, (void)taken;
}
#define HD_HELD(lock) ((void)(lock))
#endif

void hd_lock_slow(struct hd_lock *lock);
void hd_unlock_wake(struct hd_lock *lock);

static inline void hd_lock(struct hd_lock *lock)
{
	uint32_t free = 0;
	/* pairs: hd_unlock */
	if (HD_UNLIKELY(!atomic_compare_exchange_strong_explicit(&lock->state, &free, 1, memory_order_acquire,
	                                                         memory_order_relaxed)))
		hd_lock_slow(lock);
	hd_lock_note(lock, 1);
}

/* 0 when it was not free at any moment of `us` microseconds. */
int hd_lock_for(struct hd_lock *lock, double us);

static inline void hd_unlock(struct hd_lock *lock)
{
	HD_HELD(lock);
	hd_lock_note(lock, 0);
	/* pairs: hd_lock */
	if (HD_UNLIKELY(atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2))
		hd_unlock_wake(lock);
}

/* One thread waits, any thread sets. A set that comes before the wait is kept: no wake-up is lost.
 * pairs: the release exchange of hd_event_set with the acquire exchange of the wait; what the setter wrote before is
 * seen by the waiter after. 0 unset, 1 set, 2 unset and the waiter sleeps. */
struct hd_event {
	_Atomic uint32_t state;
};

void hd_event_set(struct hd_event *event);
/* Consumes the event if set. */
int hd_event_poll(struct hd_event *event);
/* Spins for about `spin_us`, then sleeps, at most `timeout_us` (negative: for ever). 1 when the event was set, 0 on
 * timeout. */
int hd_event_wait(struct hd_event *event, double spin_us, double timeout_us);

#endif
