/* Bursts: see bursts.h. A task of a burst may take much longer than expected. Therefore the worker claims each task of
 * its burst just before it runs the task, so that another worker can claim the remaining tasks. */
#include "bursts.h"
#include <math.h>
#include "flow/aside.h"
#include "flow/worker_set.h"

void hd_burst_extend(struct hd_worker *w, double us, double now)
{
	HD_HELD(&w->rt->lock);
	unsigned n = 1;
	double more, expected = w->burst_expected;
	/* a task that submits its sub-graph is alone in its burst, because other tasks would wait long for it */
	if (HD_UNLIKELY(w->burst[0]->special & HD_TASK_EXPANDS))
		return;
	while (n < HD_MAX_BURST && w->staged.first && (more = expected + hd_core_expected(w->staged.first)) < us) {
		heddle_task *t = hd_core_take(w);
		expected = more;
		hd_core_begin(&w->slots[0], t, now);
		w->burst[n++] = t;
	}
	w->burst_size = n;
	w->burst_expected = expected;
	w->slots[0].task = w->burst[0];
	w->rt->count.bursts += n > 1;
}

void hd_burst_take_back(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	/* Relaxed, pairs with nothing: see the field `claimed`. */
	unsigned claimed = atomic_exchange_explicit(&w->claimed, HD_MAX_BURST + 1, memory_order_relaxed);
	if (claimed >= w->burst_size)
		return;
	for (unsigned i = w->burst_size; i-- > claimed;)
		hd_core_unbegin(w, w->burst[i]);
	w->slots[0].task = claimed ? w->burst[claimed - 1] : NULL;
	w->rt->count.bursts -= w->burst_size > 1;
	w->burst_size = claimed ? 1 : 0;
	if (HD_UNLIKELY(!w->pipeline) && !claimed)
		hd_cores_left(w);
}

static int can_take_over(const struct hd_worker *from, const struct hd_worker *to, const heddle_task *t)
{
	if (to->node != from->node || to->class_id != from->class_id)
		return 0;
	if (t->special & HD_TASK_EXPANDS)
		return 1;
	return !(t->special & HD_TASK_PRIVATE) && heddle_task_can_run(t, to->id) && !hd_is_too_shallow(to, t);
}

void hd_burst_hand_over(struct hd_worker *from, struct hd_worker *to)
{
	HD_HELD(&to->rt->lock);
	struct hd_task_queue all = from->staged;
	from->staged.first = NULL;
	while (all.first) {
		heddle_task *t = hd_queue_pop(&all);
		struct hd_task_extra *extra = can_take_over(from, to, t) ? hd_task_extra(t) : NULL;
		/* no memory to record in `picked_by` that the policy gave the task to `from`: then the task stays
		 * there */
		struct hd_worker *w = extra ? to : from;
		hd_queue_push(&w->staged, t);
		if (extra) {
			if (!extra->picked_by)
				extra->picked_by = from->id + 1;
			t->worker = to->id;
			from->in_flight--;
			to->in_flight++;
			from->backlog -= t->link.u.key;
			to->backlog += t->link.u.key;
			hd_worker_moved(from);
			hd_worker_moved(to);
			double expected = hd_core_expected(t);
			if (isfinite(expected)) {
				from->held_us -= expected;
				to->held_us += expected;
			}
		}
	}
}

/* Whether the worker's thread is likely to run its other tasks soon. A thread that waits until its worker's cores are
 * free is not: it depends on a kernel of another worker, and this kernel may itself wait until nothing moves. */
static int is_in_time(const struct hd_worker *from, double overdue)
{
	if (from->held_back || from->calling || HD_UNLIKELY(!from->pipeline && !from->slots[0].task))
		return 0;
	double twice = 2 * from->burst_expected; /* not finite: unknown */
	double limit = isfinite(twice) && twice > overdue ? twice : overdue;
	return !from->slots[0].task || from->rt->now - from->slots[0].start < limit;
}

int hd_bursts_rescue(struct hd_worker *w, double overdue)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	int in_time = 0;
	if (HD_UNLIKELY(!w->pipeline)) /* the worker must begin no tasks */
		return 0;
	for (size_t i = 0; i < rt->n_workers && (rt->count.bursts || rt->count.staged); i++) {
		struct hd_worker *from = &rt->workers[i];
		if (from == w || from->class_id != w->class_id || from->node != w->node || from->depth > 1)
			continue;
		if (is_in_time(from, overdue)) {
			in_time |= from->burst_size > 1 || from->staged.first;
			continue;
		}
		/* a policy with `started` must not be told twice that a task has begun */
		if (!rt->sched.policy->started)
			hd_burst_take_back(from);
		hd_burst_hand_over(from, w);
	}
	return in_time || w->staged.first;
}
