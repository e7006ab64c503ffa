/* Bursts. A task that is expected to be tiny may take long all the same. So the worker claims each task of its burst
 * before it runs it, and another worker can claim the tasks that are left. */
#include "bursts.h"

unsigned hd_burst_extend(struct hd_worker *w, double us, double expected, double now)
{
	HD_HELD(&w->rt->lock);
	unsigned n = 1;
	while (n < HD_MAX_BURST && w->staged.first && (expected += hd_core_expected(w->staged.first)) < us) {
		heddle_task *t = hd_core_take(w);
		hd_core_begin(&w->slots[0], t, now);
		w->burst[n++] = t;
	}
	w->burst_size = n;
	w->slots[0].task = w->burst[0];
	w->rt->count.bursts += n > 1;
	return n;
}

/* Claims all tasks of the burst that are left, and stages them again. They are all tasks of the burst if the worker's
 * thread has not begun it: perhaps it sleeps, and nothing has woken it yet. */
static void take_back(struct hd_worker *w)
{
	/* Relaxed, pairs with nothing: see the field `claimed`. */
	unsigned claimed = atomic_exchange_explicit(&w->claimed, HD_MAX_BURST + 1, memory_order_relaxed);
	if (claimed >= w->burst_size)
		return;
	for (unsigned i = w->burst_size; i-- > claimed;)
		hd_core_unbegin(w, w->burst[i]);
	w->slots[0].task = claimed ? w->burst[claimed - 1] : NULL;
	w->rt->count.bursts -= w->burst_size > 1;
	w->burst_size = claimed ? 1 : 0;
}

int hd_bursts_rescue(struct hd_worker *w, double overdue)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	int in_time = 0;
	for (size_t i = 0; i < rt->n_workers && (rt->count.bursts || rt->count.staged); i++) {
		struct hd_worker *from = &rt->workers[i];
		if (from == w || from->class_id != w->class_id || from->node != w->node || from->pipeline > 1)
			continue;
		if (!from->held_back && (!from->slots[0].task || rt->now - from->slots[0].start < overdue)) {
			in_time |= from->burst_size > 1 || from->staged.first;
			continue;
		}
		if (!rt->sched.policy->started) /* such a policy may not be told twice that a task has begun */
			take_back(from);
		hd_core_hand_over(from, w);
	}
	return in_time || w->staged.first;
}
