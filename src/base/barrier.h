/* Synchronisation for a team of threads that work together: a word that changes, and a barrier that members may leave.
 *
 * Waiting threads spin for as long as the caller says, then sleep by futex(2). A thread that wakes others makes a
 * system call only if some of them sleep, and one call for all of them.
 */
#ifndef HD_BASE_BARRIER_H
#define HD_BASE_BARRIER_H

#include <stdatomic.h>
#include <stdint.h>
#include "base.h"

/* A word that one thread changes while other threads wait for the change.
 *
 * now: pairs: the store in hd_word_change with the loads in hd_word_await, so that a waiting thread sees what the
 * changing thread wrote before. sleepers: number of threads that sleep, or are about to sleep. pairs: a waiting thread
 * adds itself to `sleepers`, then lets the system compare `now` with the value that the thread has read; a thread that
 * changes `now` reads `sleepers` afterwards. All these operations are sequentially consistent, so either the system
 * sees the new value, or the changing thread sees the sleeper and wakes it. */
struct hd_word {
	_Alignas(HD_CACHE_LINE) _Atomic uint32_t now;
	_Atomic uint32_t sleepers;
};
/* Waits until the word differs from `before`, and returns the new word. Spins for about `spin_us`, or until *hush is
 * not 0 (`hush` NULL: for `spin_us`), then sleeps. */
uint32_t hd_word_await(struct hd_word *word, uint32_t before, double spin_us, const _Atomic int *hush);
void hd_word_change(struct hd_word *word, uint32_t to);

/* A barrier for a team of threads. A member that has left counts as having arrived each time. */
struct hd_barrier {
	/* Two numbers in one word:
	 *
	 *     bits 63 .. 32: members that have not left | bits 31 .. 0: how many of these have not arrived yet
	 *
	 * pairs: each change acquires and releases, so the last member to arrive sees what all others did before they
	 * arrived or left; hd_word_change(&turn) then shows it to all. Between the last arrival and this call no other
	 * thread touches `members`. */
	_Alignas(HD_CACHE_LINE) _Atomic uint64_t members;
	_Atomic int failed; /* 1: a member has failed. Relaxed, pairs with nothing: `members` orders it */
	/* Grows by 2 each time all members have arrived; the lowest bit is 1 if a member had left as failed by then. */
	struct hd_word turn;
};
/* Makes all `n` members take part. No thread may be waiting at the barrier. */
void hd_barrier_enter(struct hd_barrier *barrier, uint32_t n);
/* Waits until all members have arrived. Returns 1 if a member had left as failed by then; all members get the same
 * answer. */
int hd_barrier_wait(struct hd_barrier *barrier, double spin_us);
/* The calling member leaves the barrier for good. Returns 1 if it is the last one; it then sees what all have done. */
int hd_barrier_leave(struct hd_barrier *barrier, int failed);

#endif
