/* The window: how many unfinished tasks there may be before submission waits. */
#include "inlet.h"

static int below_throttle(heddle_runtime *rt, void *arg)
{
	(void)arg;
	return hd_live(rt) - rt->count.held <= rt->inlet.throttle || (rt->count.held && hd_core_still(rt));
}

/* The number of unfinished tasks at which submission waits; 0: no limit. The window shrinks in proportion to the length
 * of tasks that take less than TINY_US, from TINY_WINDOW down to PER_WORKER for each worker: with more tasks in the
 * graph than the second level cache has room for each task costs more, and the schedules of tiny tasks do not get
 * better. */
static uint64_t window_of(const heddle_runtime *rt)
{
	enum { TINY_WINDOW = 2048, PER_WORKER = 256 };
	static const double TINY_US = 2;
	uint64_t window = (uint64_t)rt->config.window;
	if (HD_LIKELY(rt->inlet.mean_us >= TINY_US))
		return window;
	uint64_t least = rt->n_workers < 2 ? 2 * PER_WORKER : PER_WORKER * rt->n_workers;
	uint64_t tiny = (uint64_t)(rt->inlet.mean_us / TINY_US * TINY_WINDOW);
	if (tiny < least)
		tiny = least < TINY_WINDOW ? least : TINY_WINDOW;
	return window < tiny ? window : tiny;
}

void hd_throttle(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	uint64_t window = window_of(rt);
	if (HD_LIKELY(!window || hd_live(rt) - rt->count.held < window) || hd_inside())
		return;
	rt->inlet.throttle = window - (window + 3) / 4;
	hd_wait_until(rt, below_throttle, NULL);
}

uint32_t hd_window_room(heddle_runtime *rt)
{
	uint64_t window = window_of(rt), live = hd_live(rt) - rt->count.held;
	if (!window || window >= live + HD_RING_RUN)
		return HD_RING_RUN;
	return window > live ? (uint32_t)(window - live) : 0;
}
