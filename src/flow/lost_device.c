/* Lost devices: a call of their driver has returned HEDDLE_E_DEVICE.
 *
 * The worker of a lost device, and the workers that share its memory, take no more tasks (hd_core_lose): the set of
 * workers has changed, and worker_set.c redistributes their tasks and those of the policy. In addition:
 *
 * - Tasks that run on the device return to the policy when the driver reports that their kernels have ended, which it
 *   does with an error. Tasks that wait for events return at once, because the operations that were to fulfill the
 *   events may be lost, too.
 * - A task whose kernel had begun can be repeated only if the values that it changes have other valid replicas.
 *   Otherwise it fails; so does a task for which no worker is left.
 * - Replicas leave the memory of the device as far as the driver allows: memory/lost_memory.c.
 *
 * A lost worker stays lost until the runtime stops. */
#include "lost_device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dispatch.h"
#include "event.h"
#include "worker_set.h"
#include "memory/lost_memory.h"
#include "memory/transfers.h"
#include "state/data.h"
#include "state/failure.h"
#include "state/memory.h"
#include "state/task_pool.h"

const char *hd_lost_why(const struct hd_worker *w)
{
	return w->why ? w->why : "";
}

static const char *name_of(const struct hd_worker *w)
{
	return w->rt->platform->workers[w->id].name;
}

/* Fails a task whose kernel had begun. The task cannot be repeated, because the value of `stuck`, which the kernel was
 * changing, has no other valid replica. */
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
		hd_give_back(t, 1);
		return HEDDLE_PENDING;
	}
	int waits = t->extra && t->extra->n_events;
	if (!status && !waits)
		/* the kernel has ended well: its results are lost only if they cannot be copied from the device */
		return 0;
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
	if (state_of(t) == HD_DETACHED && t->codelet && d->rt->workers[t->worker].lost)
		hd_queue_push(&d->tasks, (heddle_task *)(uintptr_t)t);
}

static void end_detached(heddle_runtime *rt)
{
	struct detached d = {.rt = rt};
	hd_pool_each(rt->pool, collect_detached, &d);
	while (d.tasks.first) {
		heddle_task *t = hd_queue_pop(&d.tasks);
		rt->count.detached--;
		if (hd_lost_returned(t, HEDDLE_E_DEVICE) != HEDDLE_PENDING)
			hd_core_conclude(t, t->extra->started, t->extra->returned, rt->now);
	}
}

/* --- The loss ----------------------------------------------------------------------------------------------------- */

int hd_lost_for_all(heddle_task *t)
{
	heddle_runtime *rt = t->codelet->rt;
	HD_HELD(&rt->lock);
	const struct hd_worker *w = rt->workers;
	while (!w->lost || !t->codelet->class_ok[w->class_id] || (t->only_worker && t->only_worker != w->id + 1))
		if (++w == rt->workers + rt->n_workers)
			return 0; /* the driver has failed on a worker that is not lost */
	const char *why = hd_lost_why(w);
	char *text =
	    hd_format("no worker is left that could run it: %s is lost%s%s", name_of(w), *why ? ": " : "", why);
	if (text)
		hd_task_message(t, text);
	free(text);
	t->status = HEDDLE_E_DEVICE;
	return 1;
}

static void lose_worker(struct hd_worker *w, const char *why)
{
	heddle_runtime *rt = w->rt;
	w->lost = 1;
	hd_worker_moved(w);
	w->why = strdup(why);
	rt->dispatch.n_lost++;
	rt->outcome.stats.workers_lost++;
}

static void lose_memory(heddle_runtime *rt, unsigned node)
{
	struct hd_memory *m = &rt->memories[node];
	m->lost = 1;
	while (hd_drop_last_prefetch(rt, node))
		continue;
	/* the tasks that wait for room on the node must be staged again, and the replicas on the node must leave */
	m->retry = 1;
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
	if (w->node)
		lose_memory(rt, w->node);
	hd_workers_count(rt);
	end_detached(rt);
	hd_workers_changed(rt, HD_LOST);
}

/* --- Lost values -------------------------------------------------------------------------------------------------- */

enum { MAX_NAMES = 20 };

/* Adds the name of a datum to the names of the data whose values were lost with the node. */
static void add_name(struct hd_memory *m, const char *name)
{
	/* all private copies of a datum have the datum's name, which is added only once */
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

/* The owner of a private copy; otherwise the datum itself. */
static const heddle_data *owner_of(const heddle_data *d)
{
	for (const heddle_data *owner = d->is_private ? d->rt->handles.list : NULL; owner; owner = owner->next)
		for (const struct hd_private *p = owner->extra ? owner->extra->privates : NULL; p; p = p->next)
			if (p->copy == d)
				return owner;
	return d;
}

/* Writes the failure that the next heddle_wait_all reports. Its message names all data whose values have been lost with
 * the node so far. */
static void report(heddle_runtime *rt, const struct hd_memory *m, const char *node, const char *why)
{
	struct hd_failure *f = rt->outcome.failure;
	char more[40] = "";
	if (m->n_lost_names > MAX_NAMES)
		snprintf(more, sizeof more, " and %u more", m->n_lost_names - MAX_NAMES);
	char *beginning = hd_format("%s is lost, and with it the values of ", node);
	char *text =
	    beginning ? hd_format("%s%s%s: %s", beginning, m->lost_names ? m->lost_names : "data", more, why) : NULL;
	/* replaces the failure of a task that has no worker left, whose message says less */
	if (f->status == HEDDLE_E_DEVICE)
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
