/* One central queue for all workers, divided into one lane per set of workers (worker_sets.h): a worker takes the best
 * of the first tasks of its lanes, so it need not pass tasks that it cannot run. Cost per pick: O(sets); there is one
 * set if all workers can run the same tasks.
 *
 * The order is HD_FIFO or HD_PRIORITY (tasks of equal priority first in, first out). Each caller passes a constant, so
 * that the compiler generates code for this order only. Choice: of equally good first tasks of several lanes, a worker
 * takes the task that was submitted first.
 */
#ifndef HD_POLICIES_PARTS_CENTRAL_QUEUE_H
#define HD_POLICIES_PARTS_CENTRAL_QUEUE_H

#include "queue.h"
#include "worker_sets.h"

enum hd_lane_order { HD_FIFO, HD_PRIORITY };
#define HD_LANES_INLINE static inline __attribute__((always_inline))

struct hd_queue_lane {
	struct hd_deque fifo;    /* used by HD_FIFO */
	struct hd_levels levels; /* used by HD_PRIORITY */
};

struct hd_lanes {
	struct hd_sets sets;
	struct hd_queue_lane *lanes; /* owns; per set */
	uint64_t refiled;            /* tasks moved to the lane of their exact set */
};

int hd_lanes_init(struct hd_lanes *l, const struct heddle_platform *platform); /* HEDDLE_E_MEMORY */
void hd_lanes_fini(struct hd_lanes *l);

HD_LANES_INLINE void hd_lane_push(struct hd_queue_lane *lane, heddle_task *t, enum hd_lane_order order)
{
	if (order == HD_FIFO)
		hd_deque_push_back(&lane->fifo, t);
	else
		hd_levels_push(&lane->levels, t);
}

HD_LANES_INLINE void hd_lane_remove(struct hd_queue_lane *lane, heddle_task *t, enum hd_lane_order order)
{
	if (order == HD_FIFO)
		hd_deque_remove(&lane->fifo, t);
	else
		hd_levels_remove_urgent(&lane->levels, t);
}

HD_LANES_INLINE heddle_task *hd_lane_first(struct hd_queue_lane *lane, enum hd_lane_order order)
{
	return order == HD_FIFO ? lane->fifo.first : hd_levels_first(&lane->levels);
}

HD_LANES_INLINE void hd_lanes_push(struct hd_lanes *l, heddle_task *t, enum hd_lane_order order)
{
	hd_lane_push(&l->lanes[hd_sets_of(&l->sets, t)], t, order);
}

/* Does what hd_lanes_pick does, if there are several lanes or the worker cannot run the first task. */
heddle_task *hd_lanes_search(struct hd_lanes *l, unsigned worker, enum hd_lane_order order);

HD_LANES_INLINE heddle_task *hd_lanes_pick(struct hd_lanes *l, unsigned worker, enum hd_lane_order order)
{
	if (HD_UNLIKELY(l->sets.n > 1))
		return hd_lanes_search(l, worker, order);
	heddle_task *t = hd_lane_first(l->lanes, order);
	if (!t)
		return NULL;
	if (HD_UNLIKELY(!heddle_task_can_run(t, worker)))
		return hd_lanes_search(l, worker, order);
	if (order == HD_FIFO)
		hd_deque_remove_first(&l->lanes->fifo, t);
	else
		hd_levels_remove_urgent(&l->lanes->levels, t);
	return t;
}

#endif
