/* Limits how many waiting kernels lie on one stack.
 *
 * The *depth* of a task is the number of kernels in which it is nested: 0 if the program has submitted it, otherwise
 * one more than the depth of the task whose kernel has submitted it. A task that a callback submits has the depth of
 * the callback's own task; a task of a sub-graph has the depth of the hierarchical task. Both functions never wait.
 * Tasks that the core itself creates may always begin, because their kernels do not wait.
 *
 * A worker whose kernel waits begins only deeper tasks: its *floor* is one more than the depth of the waiting kernel's
 * task. Therefore the depths of the kernels on a stack increase from the lowest to the innermost kernel, and there are
 * at most as many kernels as the program nests tasks in each other. Policies do not know about depths. If a policy
 * gives a worker a task that is too shallow, the task is kept *aside* at this worker. The worker begins the task when
 * the worker's floor is low enough. An idle worker may take the task over earlier, if both workers are of the same kind
 * or if the policy does not place tasks on workers. Each worker has a list of queues of aside tasks, one per depth, the
 * deepest first, so that a search looks at few tasks.
 *
 * No kernel waits for ever if the tasks for which it waits depend only on each other and on tasks nested in them.
 * Proof: let K be the deepest of all waiting kernels. K is the innermost kernel of its stack. No task for which K waits
 * has a waiting kernel, because that kernel would be deeper than K. So at least one of these tasks runs or is ready,
 * and every worker that can run a ready task of them may begin this task, because no floor is above its depth.
 *
 * Callbacks do not break this proof, wherever they run: on the worker of their task, on a worker whose kernel waits, or
 * on a thread of the program that fulfills an event. No callback waits, so a callback adds no waiting kernel to a
 * stack. Let T be the task of the callback; a task N that the callback submits has the depth of T. If T is nested in a
 * waiting kernel, so is N, and any worker that could begin T may begin N. If T is not, no waiting kernel waits for N,
 * unless the callback puts N into the kernel's group: then the next paragraph applies.
 *
 * However, a task for which a kernel waits may depend on a task that is not nested in the kernel: through a datum,
 * through an explicit dependency, or because another thread has put the task into the kernel's group. Other workers run
 * such predecessors. If no worker can begin them, finally nothing moves. Then one aside task at a time is begun on top
 * of a waiting kernel, and counts from then on as nested in this kernel (hd_aside_at_rest). So each wait that would end
 * without floors also ends with floors, and a stack grows beyond the nesting of the program only if nothing else could
 * continue. */
#include "aside.h"
#include "dispatch.h"
#include "state/call_context.h"
#include "state/engine.h"

uint16_t hd_depth_here(const heddle_runtime *rt)
{
	const struct hd_inside *i = hd_inside();
	if (!i || i->rt != rt)
		return 0;
	int by_thread = i->what == HD_INSIDE_WORKER && i->worker->node == 0 && !i->worker->slots[0].stream;
	if (!by_thread || !rt->engine->running_here)
		return i->depth;
	return hd_deeper(rt->engine->running_here(i->worker));
}

/* Floors must be checked at each pick while a kernel waits or a task is aside: `special` selects the slower pick, which
 * checks them. */
static void refresh(heddle_runtime *rt)
{
	rt->sched.special = rt->config.time_policy || rt->count.suspended || rt->dispatch.n_aside;
}

void hd_aside_push(struct hd_worker *w, heddle_task *t)
{
	HD_HELD(&w->rt->lock);
	heddle_task **at = &w->aside;
	while (*at && (*at)->depth > t->depth)
		at = &(*at)->link.child;
	/* link.child of a queue's first task is the next queue, link.prev its last task */
	heddle_task *first = *at;
	t->link.next = NULL;
	t->aside = 1;
	if (first && first->depth == t->depth) {
		first->link.prev->link.next = t;
		first->link.prev = t;
	} else {
		t->link.child = first;
		t->link.prev = t;
		*at = t;
	}
	w->rt->dispatch.n_aside++;
	refresh(w->rt);
}

/* Removes the task after `before` from a queue; `before` is NULL: the first task. */
static heddle_task *take(heddle_runtime *rt, heddle_task **at, heddle_task *before)
{
	heddle_task *first = *at, *t = before ? before->link.next : first, *next = t->link.next;
	if (before) {
		before->link.next = next;
		if (!next)
			first->link.prev = before;
	} else if (next) {
		*at = next;
		next->link.child = t->link.child;
		next->link.prev = t->link.prev;
	} else {
		*at = t->link.child;
	}
	t->aside = 0;
	rt->dispatch.n_aside--;
	refresh(rt);
	return t;
}

static heddle_task *pop(heddle_runtime *rt, heddle_task **at)
{
	return take(rt, at, NULL);
}

heddle_task *hd_aside_own(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	return w->aside && !hd_is_too_shallow(w, w->aside) ? pop(w->rt, &w->aside) : NULL;
}

/* Whether `w` may take over an aside task that the policy gave to `from`. If the policy has chosen the kind of worker,
 * `w` must be of the same kind. */
static int may_take_over(const struct hd_worker *w, const struct hd_worker *from)
{
	int alike = from->class_id == w->class_id && from->node == w->node;
	return from->aside && from != w && (alike || !w->rt->sched.policy->pushes);
}

/* Takes an aside task of `from` that `w` may begin: searches the first few tasks of each queue. */
static heddle_task *take_over(struct hd_worker *w, struct hd_worker *from)
{
	enum { REACH = 64 };
	for (heddle_task **at = &from->aside; *at; at = &(*at)->link.child) {
		heddle_task *before = NULL, *t = *at;
		for (int i = 1; t && (hd_is_too_shallow(w, t) || !heddle_task_can_run(t, w->id)); i++) {
			before = t;
			t = i < REACH ? t->link.next : NULL;
		}
		struct hd_task_extra *extra = t ? hd_task_extra(t) : NULL;
		if (!extra) /* no such task, or no memory for picked_by: the task stays */
			continue;
		if (!extra->picked_by)
			extra->picked_by = from->id + 1;
		return take(w->rt, at, before);
	}
	return NULL;
}

heddle_task *hd_aside_of_others(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	heddle_task *t = NULL;
	for (size_t i = 0; i < rt->n_workers && rt->dispatch.n_aside && !t; i++)
		if (may_take_over(w, &rt->workers[i]))
			t = take_over(w, &rt->workers[i]);
	return t;
}

heddle_task *hd_aside_at_rest(heddle_runtime *rt, struct hd_worker **w)
{
	HD_HELD(&rt->lock);
	for (size_t i = 0; i < rt->n_workers && rt->dispatch.n_aside; i++) {
		*w = &rt->workers[i];
		if (!(*w)->aside || !hd_worker_is_attended(*w) || !(*w)->pipeline)
			continue;
		heddle_task *t = pop(rt, &(*w)->aside);
		if (t->depth < (*w)->floor)
			t->depth = (*w)->floor & (uint32_t)HD_DEEPEST;
		return t;
	}
	return NULL;
}

void hd_aside_take(struct hd_worker *w, int given_up, struct hd_task_queue *to)
{
	struct hd_task_queue all = {0};
	HD_HELD(&w->rt->lock);
	while (w->aside)
		hd_queue_push(&all, pop(w->rt, &w->aside));
	while (all.first) {
		heddle_task *t = hd_queue_pop(&all);
		if (given_up && !t->status)
			hd_aside_push(w, t);
		else
			hd_queue_push(to, t);
	}
}

void hd_aside_raise_floor(struct hd_worker *w, const heddle_task *t)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	w->floor = hd_deeper(t);
	refresh(rt);
	struct hd_task_queue all = w->staged;
	w->staged.first = NULL;
	while (all.first) {
		heddle_task *s = hd_queue_pop(&all);
		if (!hd_is_too_shallow(w, s)) {
			hd_queue_push(&w->staged, s);
			continue;
		}
		rt->count.staged--;
		hd_core_staged(rt, s, 0); /* returns the task to the policy, because the task is too shallow now */
	}
}

void hd_aside_lower_floor(struct hd_worker *w, uint16_t floor)
{
	HD_HELD(&w->rt->lock);
	w->floor = floor;
	refresh(w->rt);
}
