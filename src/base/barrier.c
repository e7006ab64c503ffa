/* Waiting in teams of threads: words and barriers. */
#include "barrier.h"
#include "lock.h"

uint32_t hd_word_await(struct hd_word *word, uint32_t before, double spin_us, const _Atomic int *hush)
{
	uint32_t now;
	double start = spin_us > 0 ? hd_clock_us() : 0;
	do {
		for (int i = 0; i < 32; i++) {
			/* pairs: the store in hd_word_change */
			now = atomic_load_explicit(&word->now, memory_order_acquire);
			if (now != before)
				return now;
			hd_cpu_relax();
		}
		/* Relaxed, pairs with nothing: only a hint that this thread should sleep instead of spinning. */
		if (hush && atomic_load_explicit(hush, memory_order_relaxed))
			break;
	} while (spin_us > 0 && hd_clock_us() - start < spin_us);
	/* pairs: hd_word.sleepers says with what */
	atomic_fetch_add_explicit(&word->sleepers, 1, memory_order_seq_cst);
	/* pairs: the store in hd_word_change */
	while ((now = atomic_load_explicit(&word->now, memory_order_seq_cst)) == before)
		hd_futex_wait(&word->now, before);
	/* pairs: hd_word.sleepers says with what */
	atomic_fetch_sub_explicit(&word->sleepers, 1, memory_order_seq_cst);
	return now;
}

void hd_word_change(struct hd_word *word, uint32_t to)
{
	atomic_store_explicit(&word->now, to, memory_order_seq_cst);     /* pairs: hd_word_await */
	if (atomic_load_explicit(&word->sleepers, memory_order_seq_cst)) /* pairs: hd_word.sleepers says with what */
		hd_futex_wake_all(&word->now);
}

static const uint64_t ONE_IN = (uint64_t)1 << 32;

static uint64_t all_away(uint32_t n)
{
	return n * ONE_IN + n;
}

void hd_barrier_enter(struct hd_barrier *barrier, uint32_t n)
{
	/* Relaxed, pairs with nothing: members start later, when the caller announces their work by another hd_word. */
	atomic_store_explicit(&barrier->members, all_away(n), memory_order_relaxed);
	atomic_store_explicit(&barrier->failed, 0, memory_order_relaxed);
}

/* Called by the last member to arrive: releases all waiting members. `in`: number of members that have not left. */
static void go_on(struct hd_barrier *barrier, uint32_t in)
{
	/* Relaxed, pairs with nothing: hd_word_change below publishes these stores; struct hd_barrier says why. */
	atomic_store_explicit(&barrier->members, all_away(in), memory_order_relaxed);
	uint32_t failed = atomic_load_explicit(&barrier->failed, memory_order_relaxed) != 0;
	uint32_t turn = atomic_load_explicit(&barrier->turn.now, memory_order_relaxed);
	hd_word_change(&barrier->turn, ((turn | 1) + 1) | failed);
}

int hd_barrier_wait(struct hd_barrier *barrier, double spin_us)
{
	/* Relaxed, pairs with nothing: `turn` cannot change before this member has arrived. */
	uint32_t turn = atomic_load_explicit(&barrier->turn.now, memory_order_relaxed);
	/* pairs: this operation and the one in hd_barrier_leave, by the other members */
	uint64_t left = atomic_fetch_sub_explicit(&barrier->members, 1, memory_order_acq_rel) - 1;
	if ((uint32_t)left == 0)
		go_on(barrier, (uint32_t)(left / ONE_IN));
	return hd_word_await(&barrier->turn, turn, spin_us, NULL) & 1;
}

int hd_barrier_leave(struct hd_barrier *barrier, int failed)
{
	if (failed) /* Relaxed, pairs with nothing: the operation on `members` below orders this store. */
		atomic_store_explicit(&barrier->failed, 1, memory_order_relaxed);
	/* pairs: this operation and the one in hd_barrier_wait, by the other members */
	uint64_t left = atomic_fetch_sub_explicit(&barrier->members, ONE_IN + 1, memory_order_acq_rel) - ONE_IN - 1;
	if ((uint32_t)left == 0 && left)
		go_on(barrier, (uint32_t)(left / ONE_IN));
	return left == 0;
}
