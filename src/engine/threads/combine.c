/* Flat combining: how workers exchange tasks with the core.
 *
 * A worker that has run its tasks tries to take the core lock. If the lock is free, the worker serves itself: it
 * returns the tasks and gets new ones. If the lock is taken, one worker at a time spins for a moment. Every other
 * worker *posts* a request and waits for its own event. The worker that holds the lock serves all posted requests, one
 * after the other, before it leaves. So the core's data stay in the cache of one processor while many workers need
 * them, and the lock is not handed from thread to thread. (Flat combining: Hendler et al., SPAA 2010; as a delegation
 * lock for a task runtime: Alvarez et al., PPoPP 2021.) To serve another worker costs cache misses on this worker's
 * data; therefore a worker that waits alone spins and does not post.
 *
 * A thread that is not a worker, or has served enough, serves nobody: when it releases the lock, it wakes one worker
 * that has posted, and that worker takes the lock itself (hd_core_leave). */
#include "bursts.h"
#include "threads.h"
#include "flow/errands.h"
#include "flow/inlet.h"
#include "state/core_lock.h"
#include "state/data.h"

/* How many workers a thread serves before it returns to its own tasks. */
enum { MOST_SERVED = 32 };
/* How often the spinning worker checks whether the lock is free: about as long as serving one worker takes. */
enum { SPINS = 50 };
/* us for which a worker that has posted polls its event before it sleeps: longer than the core is usually busy */
static const double PATIENCE_US = 20;

/* Sets or clears the worker's bit in heddle_runtime.posts. */
static void set_bit(const struct hd_worker *w, int posted)
{
	uint64_t bit = (uint64_t)1 << w->id % 64;
	_Atomic uint64_t *word = &w->rt->posts[w->id / 64];
	if (posted)
		atomic_fetch_or_explicit(word, bit, memory_order_seq_cst); /* pairs: see heddle_runtime.posts */
	else
		/* Relaxed, pairs with nothing: bits are cleared only under the core lock, which is held. */
		atomic_fetch_and_explicit(word, ~bit, memory_order_relaxed);
}

/* Removes and returns the first posted request, in the order of worker numbers that begins at `from`. NULL: no request
 * is posted. Called with the core lock. */
static struct hd_worker *next_post(heddle_runtime *rt, unsigned from)
{
	HD_HELD(&rt->lock);
	for (size_t k = 0; k <= rt->n_posts; k++) {
		size_t i = (from / 64 + k) % rt->n_posts;
		/* pairs: set_bit. What the worker wrote before its bit is visible. */
		uint64_t bits = atomic_load_explicit(&rt->posts[i], memory_order_seq_cst);
		if (k == 0)
			bits &= ~(uint64_t)0 << from % 64;
		if (!bits)
			continue;
		struct hd_worker *w = &rt->workers[64 * i + (unsigned)__builtin_ctzll(bits)];
		set_bit(w, 0);
		return w;
	}
	return NULL;
}

static int any_post(const heddle_runtime *rt)
{
	for (size_t i = 0; i < rt->n_posts; i++)
		/* Relaxed, pairs with nothing: hd_core_leave sees a post that is missed here. */
		if (HD_UNLIKELY(atomic_load_explicit(&rt->posts[i], memory_order_relaxed)))
			return 1;
	return 0;
}

/* Flat combining: serves the workers that have posted a request (rt->posts), in turn, beginning after `w`. */
static __attribute__((noinline)) void combine(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	struct hd_worker *other = w;
	for (int n = 0; n < MOST_SERVED && (other = next_post(rt, (other->id + 1) % (unsigned)rt->n_workers)); n++) {
		hd_worker_serve(other);
		/* pairs: the load in ask */
		atomic_store_explicit(&other->seat->posted, HD_SERVED, memory_order_release);
		hd_core_wake(rt, &other->wake);
	}
}

/* Spins until the lock is free, unless another worker spins already. Returns whether this thread has taken the lock. */
static int spin(heddle_runtime *rt)
{
	_Atomic unsigned *spinner = &rt->engine_state.threads->spinner;
	/* Relaxed, pairs with nothing: see the field. */
	if (atomic_exchange_explicit(spinner, 1, memory_order_relaxed))
		return 0;
	int entered = 0;
	for (int i = 0; i < SPINS && !entered; i++) {
		hd_cpu_relax();
		/* Relaxed, pairs with nothing: only a hint that taking the lock may succeed. */
		entered = atomic_load_explicit(&rt->lock.state, memory_order_relaxed) == 0 && hd_core_try_enter(rt);
	}
	atomic_store_explicit(spinner, 0, memory_order_relaxed); /* pairs with nothing: see the field */
	return entered;
}

/* Posts a request and waits. Returns 1 if another thread has served the worker; 0 if this thread has taken the lock. */
static int ask(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	struct hd_seat *seat = w->seat;
	/* Relaxed, pairs with nothing: the thread that serves the worker has read its bit, which is set after this
	 * store. */
	atomic_store_explicit(&seat->posted, HD_POSTED, memory_order_relaxed);
	set_bit(w, 1);
	if (hd_core_try_enter(rt))
		return 0;
	hd_wakeup_wait(&w->wake, PATIENCE_US, -1);
	/* pairs: the store in combine */
	if (atomic_load_explicit(&seat->posted, memory_order_acquire) == HD_SERVED)
		return 1;
	hd_core_enter(rt);
	return 0;
}

void hd_worker_hand_to_idle(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	for (struct hd_worker *o = w->rt->dispatch.hungry; o && w->staged.first; o = o->hungry_next) {
		if (!hd_worker_is_idle(o) || o->class_id != w->class_id || o->node != w->node)
			continue;
		hd_burst_hand_over(w, o);
		if (o->staged.first)
			hd_threads_worker_ready(o);
	}
}

/* Runs the callbacks of ended tasks. Callbacks may take long. Meanwhile the worker is neither idle nor hungry, and
 * other workers may take over tasks that it has not begun. */
static __attribute__((noinline)) void call_back(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	hd_core_not_hungry(w);
	if (w->state != HD_AWAKE)
		hd_worker_enter(w, HD_AWAKE);
	w->calling = 1;
	if (HD_UNLIKELY(rt->inlet.step))
		hd_gate_worker_begins(rt); /* the worker is no lookout while its thread runs callbacks */
	hd_worker_put_back(w);
	hd_worker_hand_to_idle(w);
	hd_core_call_back(rt);
	w->calling = 0;
	hd_worker_serve(w);
}

/* Called when another thread holds the core lock: waits until the lock is free and takes it, or until another thread
 * has served the worker. Returns whether this thread holds the lock. */
static __attribute__((noinline)) int get_in(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	struct hd_seat *seat = w->seat;
	int served = !spin(rt) && ask(w);
	/* Relaxed, pairs with nothing: either `ask` has acquired the value, or this thread holds the lock, under which
	 * others change it. */
	uint8_t posted = atomic_load_explicit(&seat->posted, memory_order_relaxed);
	/* relaxed, pairs with nothing: no thread reads `posted` before the worker's next post */
	atomic_store_explicit(&seat->posted, HD_NOT_POSTED, memory_order_relaxed);
	if (served)
		return 0;
	if (posted == HD_POSTED)
		set_bit(w, 0);
	if (posted != HD_SERVED)
		hd_worker_serve(w);
	return 1;
}

/* Serves other workers and runs callbacks. Called with the core lock. */
static inline void see_to_others(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	if (any_post(rt))
		combine(w);
	while (HD_UNLIKELY(rt->dispatch.called.first != NULL))
		call_back(w);
}

void hd_worker_exchange_here(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	hd_worker_serve(w);
	see_to_others(w);
}

/* Prefetches the cache lines of data that the core will need when the worker returns its tasks; the lines arrive while
 * the worker takes the lock. Does nothing if other workers have posted: then the holder of the lock, which may serve
 * this worker, needs the lines in its own cache. */
static void fetch_data(const struct hd_worker *w)
{
	unsigned n = HD_LIKELY(!any_post(w->rt)) ? w->seat->n_ended : 0;
	for (unsigned i = 0; i < n; i++)
		hd_task_fetch_data(w->burst[i]);
}

int hd_worker_exchange(struct hd_worker *w, const _Atomic int *over)
{
	heddle_runtime *rt = w->rt;
	fetch_data(w);
	if (HD_LIKELY(hd_core_try_enter(rt)))
		hd_worker_serve(w);
	else if (!get_in(w))
		return 0;
	see_to_others(w);
	if (hd_is_over(over))
		return 1;
	hd_core_leave(rt);
	return 0;
}
