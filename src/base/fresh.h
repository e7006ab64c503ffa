/* Fresh memory for many small objects, for threads that hold a certain lock and for threads that do not. Each side has
 * an arena of its own. So a thread that holds the lock never waits while another thread gets memory from the system. */
#ifndef HD_BASE_FRESH_H
#define HD_BASE_FRESH_H

#include "lock.h"

/* A struct hd_fresh of zeros is empty. */
struct hd_fresh {
	struct hd_arena inside; /* for threads that hold the lock; guarded by it */
	/* guards `outside`; a leaf lock: not acquired while the lock above is held, nor any lock while it is held */
	struct hd_lock growing;
	struct hd_arena outside; /* for the other threads */
};

/* Takes a piece of `size` bytes; `alignment` is at most HD_CACHE_LINE. `held`: 1 if the calling thread holds the lock
 * that guards `inside`. NULL: out of memory. */
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
