/* Devices that are lost: a call of their driver has returned HEDDLE_E_DEVICE.
 *
 * The worker of such a device, and those that share its memory, take no more tasks (hd_core_lose):
 *
 *  - The instance of the policy is destroyed, whatever it has, and another one is made, which is told of all ready
 *    tasks as one batch. heddle_task_can_run and its kin then leave out the lost workers. So policies, those of
 *    programs too, need not know of this.
 *  - Tasks that these workers had picked come back to the policy: those that are staged at once; those whose transfers
 *    are under way when these have ended; those that run when the driver says that their kernels have ended, which it
 *    does for all of them with an error. Tasks that wait for events come back at once, because what was to fulfill
 *    these may have been lost, too.
 *  - A task whose kernel had begun can only be run again if the values that it changes have other copies. Otherwise it
 *    fails, as does a task that no worker is left for.
 *  - Copies leave the memory of the device as the driver allows: data/lost.c.
 *
 * A lost worker stays so until the runtime stops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "expand.h"
#include "lost.h"

const char *hd_lost_why(const struct hd_worker *w)
{
	return w->why ? w->why : "";
}

size_t hd_class_left(const heddle_runtime *rt, unsigned class_id)
{
	size_t n = 0;
	for (size_t i = 0; i < rt->n_workers; i++)
		n += rt->workers[i].class_id == class_id && !rt->workers[i].lost;
	return n;
}

static const char *name_of(const struct hd_worker *w)
{
	return w->rt->platform->workers[w->id].name;
}

/* --- Tasks that come back ----------------------------------------------------------------------------------------- */

/* Makes the task as it was before it was picked, and gives it to the policy. It is not counted as picked any more. */
static void give_back(heddle_task *t, int begun)
{
	heddle_runtime *rt = t->codelet->rt;
	hd_stage_undo(t, rt->workers[t->worker].node, begun);
	if (t->extra) {
		free(t->extra->message);
		t->extra->message = NULL;
		t->extra->code = 0;
		t->extra->picked_by = 0;
		hd_events_orphan(t);
	}
	t->status = 0;
	t->choice = 0;
	t->pending = 0;
	rt->outcome.stats.tasks_retried++;
	hd_core_ready_again(rt, t);
}

void hd_lost_give_back(heddle_task *t)
{
	HD_HELD(&t->codelet->rt->lock);
	give_back(t, 0);
}

/* The task, whose kernel had begun, cannot be run again, since there is no other copy of what it was changing. */
static void fail_stuck(heddle_task *t, const heddle_data *stuck)
{
	const heddle_runtime *rt = t->codelet->rt;
	const struct hd_worker *w = &rt->workers[t->worker];
	char name[80];
	char *text = hd_format("%s was lost while the task changed %s there, of which there is no other copy (%s)",
	                       name_of(w), hd_data_name(stuck, name, sizeof name), hd_lost_why(w));
	if (t->extra) {
		free(t->extra->message);
		t->extra->message = NULL;
		t->extra->code = 0;
	}
	if (text)
		hd_task_message(t, text);
	free(text);
	t->status = HEDDLE_E_DEVICE;
}

int hd_lost_returned(heddle_task *t, int status)
{
	heddle_runtime *rt = t->codelet->rt;
	HD_HELD(&rt->lock);
	const heddle_data *stuck = NULL;
	if (hd_can_run_again(t, rt->workers[t->worker].node, &stuck)) {
		give_back(t, 1);
		return HEDDLE_PENDING;
	}
	int waits = t->extra && t->extra->n_events;
	if (!status && !waits)
		return 0; /* what it has computed may still be readable */
	if (t->extra)
		hd_events_orphan(t);
	fail_stuck(t, stuck);
	return t->status;
}

/* The tasks of lost workers that wait for events. */
struct detached {
	const heddle_runtime *rt;
	struct hd_task_queue tasks;
};

static unsigned state_of(const heddle_task *t)
{
	/* Relaxed, pairs with nothing: the core lock orders it with the stores in hd_set_state. */
	return atomic_load_explicit(&t->state, memory_order_relaxed);
}

static void collect_detached(const heddle_task *t, void *arg)
{
	struct detached *d = arg;
	if (state_of(t) == HD_DETACHED && d->rt->workers[t->worker].lost)
		hd_queue_push(&d->tasks, (heddle_task *)(uintptr_t)t);
}

static void end_detached(heddle_runtime *rt)
{
	struct detached d = {.rt = rt};
	hd_pool_each(&rt->pool, collect_detached, &d);
	while (d.tasks.first) {
		heddle_task *t = hd_queue_pop(&d.tasks);
		rt->count.detached--;
		if (hd_lost_returned(t, HEDDLE_E_DEVICE) != HEDDLE_PENDING)
			hd_core_conclude(t, t->extra->started, t->extra->returned, rt->now);
	}
}

static void take_staged(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	while (w->staged.first) {
		heddle_task *t = hd_queue_pop(&w->staged);
		rt->count.staged--;
		if (t->special & HD_TASK_EXPANDS) {
			w->in_flight--;
			hd_expand_again(rt, t);
			continue;
		}
		hd_core_staged(rt, t, HEDDLE_E_DEVICE);
	}
}

/* --- Tasks that the policy has ----------------------------------------------------------------------------------- */

static void collect_ready(const heddle_task *t, void *arg)
{
	if (state_of(t) == HD_READY)
		hd_queue_push(arg, (heddle_task *)(uintptr_t)t);
}

static int by_order(const void *a, const void *b)
{
	const heddle_task *x = *(heddle_task *const *)a, *y = *(heddle_task *const *)b;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Takes all ready tasks from the policy by destroying it, and makes one batch of them for the next one. */
static void renew_policy(heddle_runtime *rt)
{
	struct hd_task_queue ready = {0};
	hd_sched_forget(rt);
	rt->count.ready = 0;
	rt->dispatch.n_batch = 0;
	rt->dispatch.releaser = -1;
	hd_pool_each(&rt->pool, collect_ready, &ready);
	while (ready.first)
		hd_core_ready_again(rt, hd_queue_pop(&ready));
	if (rt->dispatch.n_batch)
		qsort(rt->dispatch.batch, rt->dispatch.n_batch, sizeof *rt->dispatch.batch, by_order);
}

int hd_lost_for_all(heddle_task *t)
{
	heddle_runtime *rt = t->codelet->rt;
	HD_HELD(&rt->lock);
	if (hd_task_has_worker(t))
		return 0;
	const struct hd_worker *w = rt->workers;
	while (!w->lost || !t->codelet->class_ok[w->class_id] || (t->only_worker && t->only_worker != w->id + 1))
		if (++w == rt->workers + rt->n_workers)
			return 0; /* it is not for a lost worker */
	const char *why = hd_lost_why(w);
	char *text =
	    hd_format("no worker is left that could run it: %s is lost%s%s", name_of(w), *why ? ": " : "", why);
	if (text)
		hd_task_message(t, text);
	free(text);
	t->status = HEDDLE_E_DEVICE;
	return 1;
}

/* --- The loss ----------------------------------------------------------------------------------------------------- */

static void lose_worker(struct hd_worker *w, const char *why)
{
	heddle_runtime *rt = w->rt;
	w->lost = 1;
	w->why = strdup(why);
	w->pipeline = 0;
	w->burst_us = 0;
	hd_core_not_hungry(w);
	rt->dispatch.n_lost++;
	rt->outcome.stats.workers_lost++;
}

static void lose_memory(heddle_runtime *rt, unsigned node)
{
	struct hd_memory *m = &rt->memories[node];
	m->lost = 1;
	while (hd_drop_last_prefetch(rt, node))
		continue;
	m->retry = 1; /* for the tasks that wait for room there, and for the copies there */
	rt->dispatch.retry |= HD_RETRY_MEMORY;
}

void hd_core_lose(struct hd_worker *w, const char *why)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	if (w->lost)
		return;
	for (size_t i = 0; i < rt->n_workers; i++) {
		struct hd_worker *v = &rt->workers[i];
		if ((v == w || (w->node && v->node == w->node)) && !v->lost)
			lose_worker(v, why);
	}
	for (heddle_codelet *c = rt->codelets; c; c = c->next)
		c->anywhere = 0;
	if (w->node)
		lose_memory(rt, w->node);
	for (size_t i = 0; i < rt->n_workers; i++)
		if (rt->workers[i].lost)
			take_staged(&rt->workers[i]);
	end_detached(rt);
	renew_policy(rt);
	rt->waits.news = 1;
}

/* --- Values that are lost ----------------------------------------------------------------------------------------- */

enum { MAX_NAMES = 20 };

/* Adds a name to those of the data that were lost with the node. */
static void add_name(struct hd_memory *m, const char *name)
{
	/* All private copies of a datum have its name. */
	size_t length = m->lost_names ? strlen(m->lost_names) : 0, last = strlen(name);
	if (length >= last && strcmp(m->lost_names + length - last, name) == 0 &&
	    (length == last || (length > last + 1 && m->lost_names[length - last - 2] == ',')))
		return;
	if (++m->n_lost_names > MAX_NAMES)
		return;
	char *names = m->lost_names ? hd_format("%s, %s", m->lost_names, name) : hd_format("%s", name);
	if (!names)
		return;
	free(m->lost_names);
	m->lost_names = names;
}

/* The datum whose private copy this is; otherwise the datum itself. */
static const heddle_data *owner_of(const heddle_data *d)
{
	for (const heddle_data *owner = d->is_private ? d->rt->handles.list : NULL; owner; owner = owner->next)
		for (const struct hd_private *p = owner->extra ? owner->extra->privates : NULL; p; p = p->next)
			if (p->copy == d)
				return owner;
	return d;
}

/* What the next heddle_wait_all reports names all data that have been lost with the node so far. */
static void report(heddle_runtime *rt, const struct hd_memory *m, const char *node, const char *why)
{
	struct hd_failure *f = &rt->outcome.failure;
	char more[40] = "";
	if (m->n_lost_names > MAX_NAMES)
		snprintf(more, sizeof more, " and %u more", m->n_lost_names - MAX_NAMES);
	char *beginning = hd_format("%s is lost, and with it the values of ", node);
	char *text =
	    beginning ? hd_format("%s%s%s: %s", beginning, m->lost_names ? m->lost_names : "data", more, why) : NULL;
	if (f->status == HEDDLE_E_DEVICE) /* this says more than that a task has found no worker */
		hd_failure_clear(f);
	hd_failure_note(f, HEDDLE_E_DEVICE, 0, text ? text : why);
	free(beginning);
	free(text);
}

void hd_lost_value(heddle_data *d, unsigned node, const char *why)
{
	heddle_runtime *rt = d->rt;
	HD_HELD(&rt->lock);
	struct hd_memory *m = &rt->memories[node];
	const char *where = rt->platform->nodes[node].name;
	char name[80];
	if (d->orphan)
		return;
	hd_data_name(owner_of(d), name, sizeof name);
	hd_data_spoil(d, hd_format("the only copy of %s was on %s, which is lost: %s", name, where, why));
	add_name(m, name);
	report(rt, m, where, why);
}
