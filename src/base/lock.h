/* A mutex that costs one atomic exchange when it is free, and an event for which one thread can sleep.
 *
 * Both spin for a moment before they make a system call: critical sections of the core are so short that the lock is
 * usually free before a system call would have returned. */
#ifndef HD_BASE_LOCK_H
#define HD_BASE_LOCK_H

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

/* A number, not 0, that differs between live threads. */
uint64_t hd_thread_token(void);

/* The mutex. state: 0: free; 1: held; 2: held, and threads may be sleeping until it is free. pairs: the acquire
 * exchange in hd_lock with the release exchange in hd_unlock, so that a holder sees what the holder before it wrote. */
struct hd_lock {
	_Atomic uint32_t state;
#ifdef HD_CHECKED
	/* Token of the thread that holds the lock; 0: free. Relaxed, pairs with nothing: a thread only compares it with
	 * its own token. */
	_Atomic uint64_t owner;
	int is_quick; /* set by hd_lock_make_quick; const while threads use the lock */
#endif
};

/* In builds with HD_CHECKED (builds with sanitizers) HD_HELD(lock) aborts the program, with file and line, if the
 * calling thread does not hold the lock; in other builds it does nothing. hd_lock_make_quick declares that a thread
 * makes no system call of this file while it holds the lock; builds with HD_CHECKED abort the program if a thread
 * does. */
#ifdef HD_CHECKED
void hd_lock_make_quick(struct hd_lock *lock);
void hd_lock_note(struct hd_lock *lock, int taken);
void hd_lock_check(const struct hd_lock *lock, const char *file, int line);
#define HD_HELD(lock) hd_lock_check((lock), __FILE__, __LINE__)
#else
static inline void hd_lock_make_quick(struct hd_lock *lock)
{
	(void)lock;
}
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

/* Acquires the lock if it is free; never blocks. Returns 1 if the caller now holds it. Sequentially consistent for the
 * sake of heddle_runtime.posts, which says why. */
static inline int hd_try_lock(struct hd_lock *lock)
{
	uint32_t free = 0;
	/* pairs: hd_unlock */
	if (!atomic_compare_exchange_strong_explicit(&lock->state, &free, 1, memory_order_seq_cst,
	                                             memory_order_seq_cst))
		return 0;
	hd_lock_note(lock, 1);
	return 1;
}

/* Tries to acquire the lock for `us` microseconds. 1: acquired; 0: it was not free in that time. */
int hd_lock_for(struct hd_lock *lock, double us);

static inline void hd_unlock(struct hd_lock *lock)
{
	HD_HELD(lock);
	hd_lock_note(lock, 0);
	/* pairs: hd_lock. Sequentially consistent for the sake of heddle_runtime.posts, which says why. */
	if (HD_UNLIKELY(atomic_exchange_explicit(&lock->state, 0, memory_order_seq_cst) == 2))
		hd_unlock_wake(lock);
}

/* An event that any thread may set and one thread waits for. An event that is set before the wait stays set, so no
 * wake-up is lost. state: 0: unset; 1: set; 2: unset, and the waiting thread sleeps. pairs: the release exchange in
 * hd_wakeup_set with the acquire exchanges in hd_wakeup_poll and hd_wakeup_wait, so that the waiting thread sees what
 * the setting thread wrote. */
struct hd_wakeup {
	_Atomic uint32_t state;
};

void hd_wakeup_set(struct hd_wakeup *event);
/* The two halves of hd_wakeup_set. hd_wakeup_mark sets the event; if it returns 1, the waiting thread sleeps, and the
 * caller must call hd_wakeup_rouse, which makes the system call that wakes it. The waiting thread may have woken by
 * itself meanwhile and freed the event, so hd_wakeup_rouse uses only the event's address. */
int hd_wakeup_mark(struct hd_wakeup *event);
void hd_wakeup_rouse(struct hd_wakeup *event);
/* hd_wakeup_rouse for a caller that holds a quick lock (hd_lock_make_quick) and must make the system call at once. */
void hd_wakeup_rouse_inside(struct hd_wakeup *event);
/* If the event is set, resets it and returns 1; otherwise returns 0. */
int hd_wakeup_poll(struct hd_wakeup *event);
/* Waits until the event is set, and resets it: spins for about `spin_us`, then sleeps. 1: it was set; 0: it was not set
 * within `timeout_us` (negative: no timeout). */
int hd_wakeup_wait(struct hd_wakeup *event, double spin_us, double timeout_us);

/* hd_futex_wait sleeps while *word is `value`, or returns without reason; hd_futex_wake_all wakes all who sleep
 * there. */
void hd_futex_wait(_Atomic uint32_t *word, uint32_t value);
void hd_futex_wake_all(_Atomic uint32_t *word);

#endif
