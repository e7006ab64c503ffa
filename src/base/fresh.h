/* Fresh memory for many small things, which is taken from the system by threads that hold a certain lock and by threads
 * that do not. Each side has an arena of its own: a thread that holds the lock never waits until another one has got
 * memory from the system.
 */
#ifndef HD_FRESH_H
#define HD_FRESH_H

#include "lock.h"

/* One of zeros is empty. */
struct hd_fresh {
	struct hd_arena inside;  /* for those that hold the lock */
	struct hd_lock growing;  /* nothing is locked below it, and it is not taken while the other lock is held */
	struct hd_arena outside; /* lock growing */
};

/* A piece of `size` bytes; `alignment` is at most HD_CACHE_LINE. `held`: the calling thread holds the lock that guards
 * the other arena. NULL when out of memory. */
static inline void *hd_fresh_take(struct hd_fresh *f, size_t size, size_t alignment, int held)
{
	if (held)
		return hd_arena_take(&f->inside, size, alignment);
	hd_lock(&f->growing);
	void *memory = hd_arena_take(&f->outside, size, alignment);
	hd_unlock(&f->growing);
	return memory;
}

static inline void hd_fresh_close(struct hd_fresh *f)
{
	hd_arena_close(&f->inside);
	hd_arena_close(&f->outside);
}

#endif
