/* Chooses the lane of a central queue from which a worker takes a task, if not all workers can run the same tasks. */
#include "central_queue.h"
#include <stdlib.h>

int hd_lanes_init(struct hd_lanes *l, const struct heddle_platform *platform)
{
	*l = (struct hd_lanes){0};
	int status = hd_sets_init(&l->sets, platform, platform->n_workers + 32);
	if (status < 0)
		return status;
	l->lanes = calloc(l->sets.capacity, sizeof *l->lanes);
	if (l->lanes)
		return HEDDLE_OK;
	hd_sets_fini(&l->sets);
	return hd_no_memory("the queues of a policy");
}

void hd_lanes_fini(struct hd_lanes *l)
{
	free(l->lanes);
	hd_sets_fini(&l->sets);
}

/* Whether `a` is to be taken before `b`. */
static int goes_before(const heddle_task *a, const heddle_task *b, enum hd_lane_order order)
{
	if (order == HD_PRIORITY && heddle_task_priority(a) != heddle_task_priority(b))
		return heddle_task_priority(a) > heddle_task_priority(b);
	return heddle_task_order(a) < heddle_task_order(b);
}

/* Of the lanes with tasks that the worker can run, the lane with the best first task, except lane `but`; NULL: all are
 * empty. */
static struct hd_queue_lane *best_lane(struct hd_lanes *l, unsigned worker, const struct hd_queue_lane *but,
                                       enum hd_lane_order order)
{
	struct hd_queue_lane *best = NULL;
	for (size_t s = 0; s < l->sets.n; s++) {
		struct hd_queue_lane *lane = &l->lanes[s];
		heddle_task *t = hd_lane_first(lane, order);
		if (!t || lane == but || !hd_sets_has(&l->sets, s, worker))
			continue;
		if (!best || goes_before(t, hd_lane_first(best, order), order))
			best = lane;
	}
	return best;
}

/* Looks for a task behind the first task of a lane, which the worker cannot run and which is in its exact lane
 * already. */
static heddle_task *look_further(struct hd_queue_lane *lane, unsigned worker, enum hd_lane_order order)
{
	heddle_task *t = hd_lane_first(lane, order);
	for (int i = 0; t && i < HD_SETS_REACH; i++) {
		if (heddle_task_can_run(t, worker))
			return t;
		t = order == HD_FIFO ? heddle_task_link(t)->next : hd_levels_newer(&lane->levels, t);
	}
	return NULL;
}

heddle_task *hd_lanes_search(struct hd_lanes *l, unsigned worker, enum hd_lane_order order)
{
	const struct hd_queue_lane *hopeless = NULL;
	for (;;) {
		struct hd_queue_lane *lane = best_lane(l, worker, hopeless, order);
		if (!lane)
			return NULL;
		heddle_task *t = hd_lane_first(lane, order);
		struct hd_queue_lane *exact = lane;
		if (!heddle_task_can_run(t, worker)) {
			exact = &l->lanes[hd_sets_exact(&l->sets, t)];
			t = exact == lane ? look_further(lane, worker, order) : t;
		}
		if (t)
			hd_lane_remove(lane, t, order);
		if (exact != lane) {
			hd_lane_push(exact, t, order);
			l->refiled++;
			/* `hopeless` can only be lane 0, if the table of sets is full; so the loop ends */
		} else if (t || hopeless) {
			return t;
		} else {
			hopeless = lane;
		}
	}
}
