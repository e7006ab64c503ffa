/* eager and prio: one central queue. StarPU has policies of the same names; these policies are baselines in the papers
 * on clusters (section 4.1), MultiPrio (section II) and AutoHeteroprio (section 6.4.2).
 *
 *   ready  the task goes to the end of the queue
 *   pick   eager: the first task that the worker can run; prio: the most urgent one, the first among equals
 *
 * Both policies use no models, prefetch nothing, and do not consider where data are. */
#include <stdlib.h>
#include "parts/central_queue.h"
#include "policies.h"

struct central {
	struct hd_lanes lanes;
	uint64_t queued, picked; /* numbers of tasks so far */
	uint64_t longest;        /* the largest length of the queue so far */
};

static int central_create(heddle_sched *sched, void **state)
{
	struct central *c = calloc(1, sizeof *c);
	if (!c)
		return hd_no_memory("the policy's queue");
	int status = hd_lanes_init(&c->lanes, heddle_sched_platform(sched));
	if (status < 0) {
		free(c);
		return status;
	}
	*state = c;
	return HEDDLE_OK;
}

static void central_destroy(void *state)
{
	struct central *c = state;
	hd_lanes_fini(&c->lanes);
	free(c);
}

HD_LANES_INLINE void push(struct central *c, heddle_task *const *batch, size_t n, enum hd_lane_order order)
{
	for (size_t i = 0; i < n; i++)
		hd_lanes_push(&c->lanes, batch[i], order);
	c->queued += n;
	if (c->queued - c->picked > c->longest)
		c->longest = c->queued - c->picked;
}

HD_LANES_INLINE heddle_task *pick(struct central *c, unsigned worker, enum hd_lane_order order)
{
	heddle_task *t = hd_lanes_pick(&c->lanes, worker, order);
	c->picked += t != NULL;
	return t;
}

/* Does nothing: every worker that can run a task finds it in the central queue. But the callback must exist, so that
 * the policy is kept. */
static void central_changed(void *state)
{
	(void)state;
}

static void central_report(void *state, heddle_sched *sched)
{
	const struct central *c = state;
	heddle_sched_count(sched, "tasks queued", (double)c->queued, "tasks");
	heddle_sched_report(sched, "longest queue", (double)c->longest, "tasks");
	heddle_sched_report(sched, "sets of workers", (double)c->lanes.sets.n, "sets");
	heddle_sched_count(sched, "refiled under their exact set", (double)c->lanes.refiled, "tasks");
}

static void eager_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	(void)releaser;
	push(state, batch, n, HD_FIFO);
}

static heddle_task *eager_pick(void *state, unsigned worker)
{
	return pick(state, worker, HD_FIFO);
}

static void prio_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	(void)releaser;
	push(state, batch, n, HD_PRIORITY);
}

static heddle_task *prio_pick(void *state, unsigned worker)
{
	return pick(state, worker, HD_PRIORITY);
}

const struct heddle_policy hd_policy_eager = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "eager",
    .summary = "one central queue, first in first out",
    .source = "StarPU's eager",
    .create = central_create,
    .destroy = central_destroy,
    .ready = eager_ready,
    .pick = eager_pick,
    .report = central_report,
    .changed = central_changed,
};

const struct heddle_policy hd_policy_prio = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "prio",
    .summary = "one central queue, most urgent first, first in first out among equals",
    .source = "StarPU's prio",
    .create = central_create,
    .destroy = central_destroy,
    .ready = prio_ready,
    .pick = prio_pick,
    .report = central_report,
    .changed = central_changed,
};
