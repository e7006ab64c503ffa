/* The set of addresses that are handles. In checking mode, a program that passes something else than a handle gets an
 * error before anything is read at that address.
 *
 * There is one table for the whole process, because most functions get a datum and no runtime. Only while every runtime
 * of the process is in checking mode is the table complete (hd_handles_known). The hash table of base/table.h does not
 * serve here, because readers must take no lock: so a child of fork, where `lock` may be held for ever, can look up,
 * too. Writers hold `lock`. */
#include "known_handles.h"
#include <pthread.h>
#include <stdlib.h>
#include "runtime.h"
#include "base/fresh.h"

struct handle {
	/* Address of the handle; 0: the place is free. Changes only once, from 0. pairs: the release store in place()
	 * with the acquire load in find(), so that a reader that sees the address also sees `rt`. */
	_Atomic uintptr_t at;
	/* The runtime of the handle; NULL: the address is no handle now. Relaxed, pairs with nothing: a thread that may
	 * use the handle has received it from the thread that made it, and that thread had noted it before
	 * (happens-before). */
	_Atomic(const heddle_runtime *) rt;
};

struct table {
	struct table *older; /* owned: the smaller table before this one; a reader may still be searching it */
	/* size: number of places, a power of two; used: number of places in use, guarded by `lock` */
	size_t size, used;
	struct handle places[];
};

static struct hd_lock lock; /* guards all changes, and n_watched and n_unwatched */
/* Number of runtimes in checking mode, and of other runtimes. A child of fork also counts the runtimes of its parent:
 * it can name their handles, which are not in the table if checking mode was off there. */
static unsigned n_watched, n_unwatched;
/* pairs: the release store in grow() with the acquire load in hd_is_handle, so that the reader sees the table's
 * contents. */
static struct table *_Atomic table;
/* 1: every handle of the process is in the table. Relaxed, pairs with nothing: a thread that has a handle received it
 * from the thread that started the runtime, which had stored this flag before (happens-before). */
_Atomic int hd_handles_known;

static struct handle *find(struct table *t, uintptr_t at)
{
	size_t i = (size_t)hd_mix(at) & (t->size - 1);
	for (;; i = (i + 1) & (t->size - 1)) {
		/* pairs: the release store in place() */
		uintptr_t here = atomic_load_explicit(&t->places[i].at, memory_order_acquire);
		if (!here || here == at)
			return &t->places[i];
	}
}

static void place(struct table *t, uintptr_t at, const heddle_runtime *rt)
{
	struct handle *h = find(t, at);
	atomic_store_explicit(&h->rt, rt, memory_order_relaxed); /* relaxed, pairs with nothing: see handle.rt */
	/* Relaxed, pairs with nothing: only holders of `lock` store `at`. */
	if (atomic_load_explicit(&h->at, memory_order_relaxed))
		return;
	atomic_store_explicit(&h->at, at, memory_order_release); /* pairs: the load in find() */
	t->used++;
}

static struct table *current(void)
{
	HD_HELD(&lock);
	return atomic_load_explicit(&table, memory_order_relaxed); /* relaxed, pairs with nothing: the lock is held */
}

/* Returns the table, with room for one more address. NULL when out of memory. */
static struct table *grow(void)
{
	HD_HELD(&lock);
	struct table *t = current();
	if (t && 2 * t->used < t->size)
		return t;
	size_t size = t ? 2 * t->size : 1024;
	struct table *larger = calloc(1, sizeof *larger + size * sizeof *larger->places);
	if (!larger)
		return NULL;
	larger->older = t;
	larger->size = size;
	for (size_t i = 0; t && i < t->size; i++) {
		/* Relaxed (both loads), pairs with nothing: the lock is held. */
		uintptr_t at = atomic_load_explicit(&t->places[i].at, memory_order_relaxed);
		if (at)
			place(larger, at, atomic_load_explicit(&t->places[i].rt, memory_order_relaxed));
	}
	atomic_store_explicit(&table, larger, memory_order_release); /* pairs: the load in hd_is_handle */
	return larger;
}

static void know(void)
{
	HD_HELD(&lock);
	/* Relaxed, pairs with nothing: see the declaration. */
	atomic_store_explicit(&hd_handles_known, n_watched && !n_unwatched, memory_order_relaxed);
}

int hd_handle_note(const heddle_data *d, const heddle_runtime *rt)
{
	hd_lock(&lock);
	struct table *t = current();
	/* Relaxed, pairs with nothing: the lock is held. Only a new address needs room, so the end of a handle can be
	 * noted even when memory is short. */
	if (!t || !atomic_load_explicit(&find(t, (uintptr_t)d)->at, memory_order_relaxed))
		t = grow();
	if (t)
		place(t, (uintptr_t)d, rt);
	hd_unlock(&lock);
	return t ? 0 : hd_no_memory("a handle");
}

int hd_is_handle(const heddle_data *d)
{
	struct table *t = atomic_load_explicit(&table, memory_order_acquire); /* pairs: the release store in grow() */
	const struct handle *h = t ? find(t, (uintptr_t)d) : NULL;
	/* relaxed (both loads), pairs with nothing: see struct handle */
	return h && atomic_load_explicit(&h->at, memory_order_relaxed) &&
	       atomic_load_explicit(&h->rt, memory_order_relaxed);
}

int hd_no_handle(const heddle_data *d, const char *what)
{
	return hd_error(HEDDLE_E_INVALID,
	                "%s: what is at address %p is no handle, or none any more: give what heddle_vector and the "
	                "like have returned, before its heddle_unregister",
	                what, (const void *)d);
}

int hd_handles_open(heddle_runtime *rt)
{
	rt->handles.memory = calloc(1, sizeof *rt->handles.memory);
	if (!rt->handles.memory)
		return hd_no_memory("handles");
	hd_lock(&lock);
	rt->handles.counted = 1;
	++*(rt->config.check ? &n_watched : &n_unwatched);
	know();
	hd_unlock(&lock);
	return 0;
}

void hd_handles_close(heddle_runtime *rt)
{
	if (!rt->handles.counted)
		return;
	hd_lock(&lock);
	--*(rt->config.check ? &n_watched : &n_unwatched);
	know();
	struct table *t = current();
	for (size_t i = 0; t && i < t->size; i++)
		/* relaxed (load and store), pairs with nothing: see handle.rt */
		if (atomic_load_explicit(&t->places[i].rt, memory_order_relaxed) == rt)
			atomic_store_explicit(&t->places[i].rt, NULL, memory_order_relaxed);
	hd_unlock(&lock);
	hd_fresh_close(rt->handles.memory);
	free(rt->handles.memory);
}

/* Runs in a child of fork, which has one thread: resets the lock. */
static void forked(void)
{
	lock = (struct hd_lock){0};
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}
