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

/* A word that one thread changes and other threads wait for.
 *
 * now: pairs: the store in hd_word_change with the loads of waiting threads, so that these see what was written before.
 * sleepers: number of threads that sleep or are about to. pairs: a thread adds itself and then lets the system compare
 * `now` with the value that it knows; a thread that changes `now` reads `sleepers` afterwards. All of these operations
 * are sequentially consistent. So the system sees the new value, or the thread is woken. */
struct hd_word {
	_Alignas(HD_CACHE_LINE) _Atomic uint32_t now;
	_Atomic uint32_t sleepers;
};
/* Waits until the word differs from `before`, and returns it. Spins for about `spin_us`, or until *hush is not 0
 * (`hush` NULL: never), then sleeps. */
uint32_t hd_word_await(struct hd_word *word, uint32_t before, double spin_us, const _Atomic int *hush);
void hd_word_change(struct hd_word *word, uint32_t to);

/* A barrier. Members that have left count as having arrived every time. */
struct hd_barrier {
	/* Two numbers in one word:
	 *
	 *     bits 63 .. 32: members that have not left | bits 31 .. 0: those of them that have not arrived yet
	 *
	 * pairs: each change acquires and releases, so the last member to arrive sees what all others did before they
	 * arrived or left; hd_word_change passes that on. Between the last arrival and that change no other thread
	 * touches the word. */
	_Alignas(HD_CACHE_LINE) _Atomic uint64_t members;
	_Atomic int failed; /* 1: a member has failed. Relaxed, pairs with nothing: `members` orders it */
	/* Adds 2 each time all members have arrived; the lowest bit is 1 if a member had failed by then. */
	struct hd_word turn;
};
/* Sets the number of members to `n`. No thread may be at the barrier. */
void hd_barrier_enter(struct hd_barrier *barrier, uint32_t n);
/* Waits until all members have arrived. Returns whether a member had left as failed before; all members get the same
 * answer. */
int hd_barrier_wait(struct hd_barrier *barrier, double spin_us);
/* The calling member leaves the barrier. Returns whether it was the last member: then it sees what all members have
 * done. */
int hd_barrier_leave(struct hd_barrier *barrier, int failed);

#endif
