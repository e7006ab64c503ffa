/* What a team of threads that work together waits by: a word that changes, and a barrier that members may leave.
 *
 * Both spin for as long as the caller says, then sleep by futex(2). Whoever makes threads go on makes a system call
 * only if some of them sleep, and one for all of these.
 */
#ifndef HD_BARRIER_H
#define HD_BARRIER_H

#include <stdatomic.h>
#include <stdint.h>
#include "base.h"

/* A word that one thread changes and others wait for.
 *
 * now: pairs: the store in hd_word_change with the loads of those that wait, so that they see what was written before.
 * sleepers: how many threads sleep or are about to. pairs: a thread adds itself and then lets the system compare `now`
 * with the value that it knows; whoever changes `now` looks at the number afterwards. All of these are sequentially
 * consistent. So the system sees the new value, or the thread is woken. */
struct hd_word {
	_Alignas(HD_CACHE_LINE) _Atomic uint32_t now;
	_Atomic uint32_t sleepers;
};
/* Waits until the word is another than `before`, and returns it. Spins for about `spin_us`, or until *hush is not 0
 * (NULL: it is never looked at), then sleeps. */
uint32_t hd_word_await(struct hd_word *word, uint32_t before, double spin_us, const _Atomic int *hush);
void hd_word_change(struct hd_word *word, uint32_t to);

/* A barrier. Members that have left count as if they had arrived each time. */
struct hd_barrier {
	/* The members that have not left, times 2^32, and how many of these have not arrived this time. pairs: each
	 * change acquires and releases, so whoever is the last to arrive sees what all others did before they arrived
	 * or left; hd_word_change passes that on. Between the last arrival and that change nobody else touches it. */
	_Alignas(HD_CACHE_LINE) _Atomic uint64_t members;
	_Atomic int failed; /* a member has failed. Relaxed, pairs with nothing: `members` orders it */
	/* Counts by 2 how often all have arrived; its lowest bit says that a member had failed by then. */
	struct hd_word turn;
};
/* Makes `n` members enter. No thread may be at the barrier. */
void hd_barrier_enter(struct hd_barrier *barrier, uint32_t n);
/* Waits until all members have arrived. Returns whether one had left as failed before that; all get the same answer. */
int hd_barrier_wait(struct hd_barrier *barrier, double spin_us);
/* The calling member leaves. Returns whether it was the last one: then it sees what all members have done. */
int hd_barrier_leave(struct hd_barrier *barrier, int failed);

#endif
