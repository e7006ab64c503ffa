/* Errands. Work under the core lock delays all threads. Therefore work that needs a system call is put off until
 * hd_core_leave releases the lock: waking threads that sleep, allocating memory, and freeing memory. The program's
 * functions that destroy objects are put off, too. The thread that releases the lock also wakes a worker that has asked
 * to be served. */
#include "errands.h"
#include <stdlib.h>
#include <string.h>
#include "dispatch.h"
#include "wait.h"
#include "memory/blocks.h"
#include "record/record.h"
#include "state/core_lock.h"
#include "state/engine.h"
#include "state/memory.h"

/* See heddle_runtime.last_end. */
_Static_assert(offsetof(struct heddle_runtime, dispatch.n_batch) + sizeof(size_t) -
                       offsetof(struct heddle_runtime, now) <=
                   HD_CACHE_LINE,
               "each task changes the first of these lines only");
_Static_assert(offsetof(struct heddle_runtime, lock) % HD_CACHE_LINE == 0 &&
                   offsetof(struct heddle_runtime, now) - offsetof(struct heddle_runtime, lock) == HD_CACHE_LINE,
               "threads that try to take the lock disturb nothing else");

void hd_core_wake(heddle_runtime *rt, struct hd_wakeup *event)
{
	HD_HELD(&rt->lock);
	if (!hd_wakeup_mark(event))
		return;
	struct hd_errands *e = &rt->errands;
	if (HD_LIKELY(e->n_roused < rt->max_roused) || !hd_core_reserve_wakes(rt, 2 * e->n_roused + 1))
		rt->roused[e->n_roused++] = event;
	else /* no memory for the list: the system call is made under the lock, so that no wake-up is lost */
		hd_wakeup_rouse_inside(event);
}

int hd_core_reserve_wakes(heddle_runtime *rt, unsigned n)
{
	struct hd_wakeup **larger = realloc(rt->roused, n * sizeof *larger);
	if (!larger)
		return HEDDLE_E_MEMORY;
	rt->roused = larger;
	rt->max_roused = n;
	return 0;
}

/* Releases the core lock and wakes the threads in the list. Copies up to AT_ONCE events before it releases the lock,
 * because the next holder of the lock changes the list, and sets them without the lock. Then it takes the lock again
 * for the rest of the list, which another thread may have emptied meanwhile. */
static void leave_and_rouse(heddle_runtime *rt)
{
	enum { AT_ONCE = 32 };
	struct hd_wakeup *roused[AT_ONCE];
	for (;;) {
		unsigned n = rt->errands.n_roused, some = n < AT_ONCE ? n : AT_ONCE;
		memcpy(roused, rt->roused + n - some, some * sizeof *roused);
		rt->errands.n_roused = n - some;
		hd_unlock(&rt->lock);
		hd_core_hand_over(rt);
		for (unsigned i = 0; i < some; i++)
			hd_wakeup_rouse(roused[i]);
		if (HD_LIKELY(n == some))
			return;
		hd_lock(&rt->lock);
	}
}

static inline void finish_inside(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	if (rt->errands.starting)
		rt->engine->start(rt);
	hd_core_count_time(rt);
}

/* Errands that are done without the core lock, and whose results are recorded under the lock afterwards. */
struct slow {
	struct hd_wanted wanted; /* blocks to allocate */
	struct hd_cell *dead;    /* objects to destroy */
	struct hd_destroying destroying;
	struct hd_supply supply; /* memory for the recorder */
};

/* Takes the objects that this thread will destroy. */
static void begin_to_destroy(heddle_runtime *rt, struct slow *slow)
{
	HD_HELD(&rt->lock);
	slow->dead = rt->dead;
	rt->dead = NULL;
	if (!slow->dead)
		return;
	slow->destroying = (struct hd_destroying){rt->destroying, rt->n_destroying++};
	rt->destroying = &slow->destroying;
}

/* Records that this thread has destroyed its objects. */
static void end_destroying(heddle_runtime *rt, const struct slow *slow)
{
	HD_HELD(&rt->lock);
	struct hd_destroying **at = &rt->destroying;
	while (*at != &slow->destroying)
		at = &(*at)->next;
	*at = slow->destroying.next;
	rt->waits.news = 1;
}

/* Releases the core lock and does the errands that do not need the lock afterwards. Returns whether errands are left:
 * those are in *slow, for do_slow_errands. */
static int leave_once(heddle_runtime *rt, struct slow *slow)
{
	HD_HELD(&rt->lock);
	slow->wanted.n = 0;
	slow->dead = NULL;
	slow->supply.log = NULL;
	struct hd_block *unwanted = NULL;
	/* Relaxed, pairs with nothing: `stopping` changes under the core lock. While the runtime stops, devices may
	 * already be closed, and start.c frees the rest. */
	if (rt->errands.slow && !atomic_load_explicit(&rt->stopping, memory_order_relaxed)) {
		unwanted = hd_blocks_unload(rt, &slow->wanted);
		begin_to_destroy(rt, slow);
		if (!slow->wanted.n && !slow->dead)
			hd_supply_choose(rt, &slow->supply); /* on failure, the next call tries again */
		rt->errands.slow = rt->short_logs != NULL;
	}
	if (rt->errands.n_roused) {
		leave_and_rouse(rt);
	} else {
		hd_unlock(&rt->lock);
		hd_core_hand_over(rt);
	}
	hd_blocks_free(rt, unwanted);
	return slow->wanted.n || slow->dead || slow->supply.log;
}

/* Allocates blocks and destroys objects without the lock; then enters the core, retries the tasks that wait for the
 * blocks, and wakes threads that wait for the destruction of objects. */
static void do_slow_errands(heddle_runtime *rt, struct slow *slow)
{
	struct hd_sentence before; /* the thread's error message, which errands must not replace */
	hd_error_keep(&before);
	int destroys = slow->dead != NULL;
	hd_objects_destroy(slow->dead);
	struct hd_block *made = hd_blocks_make(rt, &slow->wanted);
	hd_core_enter(rt);
	hd_core_clock_now(rt);
	rt->dispatch.releaser = -1;
	hd_blocks_deliver(rt, &slow->wanted, made);
	if (destroys)
		end_destroying(rt, slow);
	hd_core_settle(rt);
	hd_wake_if_still(rt, NULL);
	hd_error_give_back(&before);
}

static void supply(heddle_runtime *rt, struct hd_supply *s)
{
	hd_supply_make(s);
	hd_core_enter(rt);
	hd_supply_give(rt, s);
}

static __attribute__((noinline)) void leave_with_errands(heddle_runtime *rt)
{
	struct slow slow;
	while (leave_once(rt, &slow)) {
		if (slow.supply.log)
			supply(rt, &slow.supply);
		else
			do_slow_errands(rt, &slow);
		finish_inside(rt);
	}
}

void hd_core_leave(heddle_runtime *rt)
{
	finish_inside(rt);
	if (HD_UNLIKELY(rt->errands.n_roused || rt->errands.slow)) {
		leave_with_errands(rt);
		return;
	}
	hd_unlock(&rt->lock);
	hd_core_hand_over(rt);
}
