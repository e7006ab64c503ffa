/* Cancels tasks that have not begun: for heddle_group_cancel, and for data whose owner cannot wait for the tasks that
 * use them.
 *
 * A cancelled task ends when its turn comes and never runs its kernel, so the handles of its data can end earlier.
 * Tasks that have not begun are in the chains of their data, in the queues of the policy, or held by a worker; a walk
 * through the pool finds all of them. */
#include "give_up.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "aside.h"
#include "dispatch.h"
#include "errands.h"
#include "group.h"
#include "inlet.h"
#include "wait.h"
#include "worker_set.h"
#include "graph/common_elements.h"
#include "memory/coherency.h"
#include "memory/transfers.h"
#include "state/core_lock.h"
#include "state/engine.h"
#include "state/process.h"
#include "state/task_pool.h"
#include "state/tree.h"

/* Which tasks are to be cancelled, and why. */
struct given_up {
	const heddle_group *group; /* tasks of this group; NULL: of any group */
	const heddle_data *data;   /* tasks that use this datum; NULL: any datum */
	const char *cause;         /* the cause in messages; NULL: out of memory */
	size_t n;                  /* number of cancelled tasks */
	/* 1: some of the tasks may be in the queues of the policy, and only workers that are out can run them */
	int stuck;
};

static int uses(const heddle_task *t, const heddle_data *d)
{
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (t->accesses[i].data == d || (HD_UNLIKELY(d->deep) && hd_data_meet(t->accesses[i].data, d)))
			return 1;
	return 0;
}

static int is_meant(const heddle_task *t, const struct given_up *g)
{
	if (!hd_task_works(t) || t->cancelled)
		return 0;
	return (!g->group || hd_task_group(t) == g->group) && (!g->data || uses(t, g->data));
}

static void cancel(heddle_task *t, struct given_up *g)
{
	hd_task_cancel(t, g->cause);
	g->n++;
}

/* Cancels a task that no worker holds yet. A hierarchical task that waits only for a worker to expand it counts as
 * begun. */
static void cancel_waiting(const heddle_task *task, void *arg)
{
	heddle_task *t = (heddle_task *)(uintptr_t)task;
	struct given_up *g = arg;
	/* Relaxed, pairs with nothing: the core lock orders it with the stores in hd_set_state. */
	unsigned state = atomic_load_explicit(&t->state, memory_order_relaxed);
	if (state != HD_WAITING && state != HD_READY && state != HD_PICKED)
		return;
	if (!is_meant(t, g) || (state == HD_WAITING && (t->special & HD_TASK_EXPANDS) && !t->pending))
		return;
	cancel(t, g);
	/* a task that is ready or picked needs a status: assign tests the status, and hd_core_staged tests `cancelled`
	 * only for tasks with transfers */
	if (state != HD_WAITING)
		t->status = HEDDLE_E_CANCELLED;
	g->stuck = g->stuck || (state == HD_READY && hd_only_out_can_run(t));
}

/* Takes one of the tasks to cancel from the worker's staged tasks; NULL: none. */
static heddle_task *take_staged(struct hd_worker *w, const struct given_up *g)
{
	heddle_task *before = NULL, *t = w->staged.first;
	while (t && ((t->special & HD_TASK_EXPANDS) || !is_meant(t, g))) {
		before = t;
		t = t->link.next;
	}
	if (!t)
		return NULL;
	*(before ? &before->link.next : &w->staged.first) = t->link.next;
	if (w->staged.last == t)
		w->staged.last = before;
	w->rt->count.staged--;
	return t;
}

/* Ends the cancelled tasks among the parked tasks. Only retired workers can run parked tasks, so no worker would find
 * them. */
static void end_parked(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	struct hd_task_queue parked = rt->dispatch.parked;
	rt->dispatch.parked.first = NULL;
	while (parked.first) {
		heddle_task *t = hd_queue_pop(&parked);
		if (t->status != HEDDLE_E_CANCELLED) {
			hd_queue_push(&rt->dispatch.parked, t);
			continue;
		}
		rt->count.parked--;
		hd_set_state(t, HD_WAITING);
		hd_queue_push(&rt->dispatch.controls, t);
	}
}

static void give_up(heddle_runtime *rt, struct given_up *g)
{
	HD_HELD(&rt->lock);
	hd_pool_each(rt->pool, cancel_waiting, g);
	/* the policy must give all its tasks back, because no worker would take the stuck tasks from it */
	if (g->stuck)
		hd_unparked_return(rt);
	end_parked(rt);
	hd_core_end_aside(rt);
	for (size_t i = 0; i < rt->n_workers; i++) {
		struct hd_worker *w = &rt->workers[i];
		heddle_task *t;
		/* Takes back the tasks of a burst that have not run. Not if the policy has a `started`: it must not be
		 * told twice that a task has begun, so for it the whole burst has begun. */
		if (rt->engine->take_back && !w->slots[0].stream && !rt->sched.policy->started)
			rt->engine->take_back(w);
		while ((t = take_staged(w, g))) {
			cancel(t, g);
			hd_core_staged(rt, t, HEDDLE_E_CANCELLED);
		}
	}
}

static void note_begun(const heddle_task *t, void *arg)
{
	struct given_up *g = arg;
	/* Relaxed, pairs with nothing: the core lock orders it with the stores in hd_set_state. */
	unsigned state = atomic_load_explicit(&t->state, memory_order_relaxed);
	g->n += (state == HD_RUNNING || state == HD_EXPANDED) && is_meant(t, g);
}

int hd_has_begun(heddle_runtime *rt, const heddle_group *group, const heddle_data *data)
{
	HD_HELD(&rt->lock);
	struct given_up g = {.group = group, .data = data};
	hd_pool_each(rt->pool, note_begun, &g);
	return g.n != 0;
}

/* Makes the datum and all data below it invalid on every node, so that no copy to or from the program's buffer is
 * started any more. Adds the accesses that waited for transfers to a list. */
static void forget_value(heddle_data *d, const char *cause, struct hd_access **waiters)
{
	hd_data_spoil(d, cause ? strdup(cause) : NULL);
	d->poisoned |= HD_UNWANTED;
	for (size_t i = 0; i < d->rt->n_nodes; i++)
		hd_replica_set_valid(&d->replicas[i], 0);
	hd_drop_unmoved(d, waiters);
	for (heddle_plan *p = hd_data_plans(d); p; p = p->next)
		for (size_t i = 0; i < p->n_children; i++)
			forget_value(p->children[i], cause, waiters);
}

void hd_data_give_up(heddle_data *d)
{
	heddle_runtime *rt = d->rt;
	HD_HELD(&rt->lock);
	char name[80];
	char *cause = hd_format("%s was given up before the task began", hd_data_name(d, name, sizeof name));
	struct given_up g = {.data = d, .cause = cause};
	give_up(rt, &g);
	struct hd_access *waiters = NULL;
	forget_value(d, cause, &waiters);
	/* last, because the end of the datum's UNREGISTER task, which may be among the waiters, frees the datum */
	hd_stage_again(waiters);
	free(cause);
}

static int cancel_for_program(heddle_runtime *rt, struct given_up *g)
{
	hd_core_enter(rt);
	hd_core_clock_now(rt);
	hd_drain_all(rt);
	rt->dispatch.releaser = -1;
	give_up(rt, g);
	hd_core_settle(rt);
	hd_wake_if_still(rt, NULL);
	hd_core_leave(rt);
	return g->n < INT_MAX ? (int)g->n : INT_MAX;
}

/* --- For the program ---------------------------------------------------------------------------------------------- */

int heddle_group_cancel(heddle_group *group)
{
	if (!group)
		return hd_error(HEDDLE_E_INVALID, "heddle_group_cancel needs a group");
	heddle_runtime *rt = hd_group_runtime(group);
	if (hd_check_process(rt) || hd_group_check(group, "heddle_group_cancel"))
		return HEDDLE_E_STATE;
	return cancel_for_program(
	    rt, &(struct given_up){.group = group, .cause = "its group was cancelled before it began"});
}

int heddle_cancel_all(heddle_runtime *rt)
{
	if (!rt)
		return hd_error(HEDDLE_E_INVALID, "heddle_cancel_all needs a runtime");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	return cancel_for_program(rt, &(struct given_up){.cause = "the program has cancelled all tasks"});
}
