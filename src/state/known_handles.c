/* Which addresses are handles. A program in checking mode that gives a function something else than a handle is told so
 * before anything is read there.
 *
 * The table is that of the process, since most functions get a datum and no runtime. So it says something only while
 * each runtime that there is notes its handles. It is an open hash of addresses, to which writers add under a lock; who
 * asks takes no lock, so that a child of fork can ask, too. */
#include <pthread.h>
#include <stdlib.h>
#include "known_handles.h"
#include "runtime.h"

struct handle {
	/* 0: free. Never changed otherwise. pairs: the release store in `place` with the acquire load in find, so that
	 * who finds the address sees its runtime. */
	_Atomic uintptr_t at;
	/* The runtime whose handle it is; NULL: of none now. Relaxed, pairs with nothing: who may name the handle has
	 * been told of it by the thread that made it, and that thread has noted it before. */
	_Atomic(const heddle_runtime *) rt;
};

struct table {
	struct table *older; /* owned: the one before, in which a thread may still look */
	size_t size, used;   /* a power of two; how many places are not free, guarded by `lock` */
	struct handle places[];
};

static struct hd_lock lock; /* guards all changes, and n_watched and n_unwatched */
/* Runtimes in checking mode, and others. In a child of fork those of its parent count, too: it can name their handles,
 * which nobody has noted if the mode is off. */
static unsigned n_watched, n_unwatched;
/* pairs: the release store in grow with the acquire load in hd_is_handle, so that what lies in the table is seen. */
static struct table *_Atomic table;
/* Relaxed, pairs with nothing: a thread that has a handle of a runtime has been told of it by the one that started the
 * runtime, after that had stored this. */
_Atomic int hd_handles_known;

static struct handle *find(struct table *t, uintptr_t at)
{
	size_t i = (size_t)hd_mix(at) & (t->size - 1);
	for (;; i = (i + 1) & (t->size - 1)) {
		/* pairs: the release store in place */
		uintptr_t here = atomic_load_explicit(&t->places[i].at, memory_order_acquire);
		if (!here || here == at)
			return &t->places[i];
	}
}

static void place(struct table *t, uintptr_t at, const heddle_runtime *rt)
{
	struct handle *h = find(t, at);
	atomic_store_explicit(&h->rt, rt, memory_order_relaxed); /* relaxed, pairs with nothing: see the field */
	/* Relaxed, pairs with nothing: only holders of the lock store it. */
	if (atomic_load_explicit(&h->at, memory_order_relaxed))
		return;
	atomic_store_explicit(&h->at, at, memory_order_release); /* pairs: the load in find */
	t->used++;
}

static struct table *current(void)
{
	HD_HELD(&lock);
	return atomic_load_explicit(&table, memory_order_relaxed); /* relaxed, pairs with nothing: the lock is held */
}

/* The table with room for one more. NULL when out of memory. */
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
		/* Relaxed, both, pairs with nothing: the lock is held. */
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
	/* Relaxed, pairs with nothing: the lock is held. Only a new address needs room, so that an end can be noted
	 * when memory is short. */
	if (!t || !atomic_load_explicit(&find(t, (uintptr_t)d)->at, memory_order_relaxed))
		t = grow();
	if (t)
		place(t, (uintptr_t)d, rt);
	hd_unlock(&lock);
	return t ? 0 : hd_no_memory("a handle");
}

int hd_is_handle(const heddle_data *d)
{
	/* pairs: the release store in grow */
	struct table *t = atomic_load_explicit(&table, memory_order_acquire);
	const struct handle *h = t ? find(t, (uintptr_t)d) : NULL;
	/* relaxed, both, pairs with nothing: see the fields */
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

void hd_handles_open(heddle_runtime *rt)
{
	hd_lock(&lock);
	rt->handles.counted = 1;
	++*(rt->config.check ? &n_watched : &n_unwatched);
	know();
	hd_unlock(&lock);
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
		/* relaxed, both, pairs with nothing: see the field */
		if (atomic_load_explicit(&t->places[i].rt, memory_order_relaxed) == rt)
			atomic_store_explicit(&t->places[i].rt, NULL, memory_order_relaxed);
	hd_unlock(&lock);
}

/* In a child of fork, which has one thread. */
static void forked(void)
{
	lock = (struct hd_lock){0};
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}
