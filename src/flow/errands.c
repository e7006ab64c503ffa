/* Errands. What happens under the core lock delays everybody, so what takes a system call is put off until the lock is
 * given back, by hd_core_leave: waking threads that sleep, and allocating and freeing memory. So is the program's
 * function that destroys an object. Whoever gives the lock back also tells a worker that has asked to be served
 * meanwhile. */
#include <stdlib.h>
#include <string.h>
#include "errands.h"
#include "dispatch.h"
#include "memory/blocks.h"
#include "record/record.h"
#include "state/core_lock.h"
#include "wait.h"
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
	else /* all others wait for it, but nothing is lost */
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

/* Gives the lock back and wakes the threads in the list: a few are copied, because the next holder changes the list,
 * and woken without the lock. For the others the lock is taken again, unless somebody else has woken them meanwhile. */
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

/* The last things that are done with the lock. */
static inline void finish_inside(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	if (rt->errands.starting)
		rt->engine->start(rt);
	hd_core_count_time(rt);
}

/* What is to be done without the lock before it is left for good. */
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

/* This thread has destroyed them. */
static void end_destroying(heddle_runtime *rt, const struct slow *slow)
{
	HD_HELD(&rt->lock);
	struct hd_destroying **at = &rt->destroying;
	while (*at != &slow->destroying)
		at = &(*at)->next;
	*at = slow->destroying.next;
	rt->waits.news = 1;
}

/* Gives the lock back and does what was put off. Returns whether something is left to do, for which the lock is needed
 * afterwards: *slow says what. */
static int leave_once(heddle_runtime *rt, struct slow *slow)
{
	HD_HELD(&rt->lock);
	slow->wanted.n = 0;
	slow->dead = NULL;
	slow->supply.log = NULL;
	struct hd_block *unwanted = NULL;
	/* Relaxed, pairs with nothing: `stopping` changes under the lock. While the runtime stops, devices may be
	 * closed without this thread, and start.c frees what is left. */
	if (rt->errands.slow && !atomic_load_explicit(&rt->stopping, memory_order_relaxed)) {
		unwanted = hd_blocks_unload(rt, &slow->wanted);
		begin_to_destroy(rt, slow);
		if (!slow->wanted.n && !slow->dead)
			hd_supply_choose(rt, &slow->supply); /* otherwise the next time */
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

/* Allocates blocks and destroys objects without the lock, then enters the core, tries the tasks again that wait for the
 * blocks, and tells threads that wait for the end of handles. */
static void do_slow_errands(heddle_runtime *rt, struct slow *slow)
{
	struct hd_sentence before; /* of what this thread does: the function that leaves the core may have set one */
	hd_error_keep(&before);
	int destroys = slow->dead != NULL;
	hd_objects_destroy(slow->dead);
	struct hd_block *made = hd_blocks_make(rt, &slow->wanted);
	hd_core_enter(rt);
	hd_core_clock(rt, rt->engine->now(rt));
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
