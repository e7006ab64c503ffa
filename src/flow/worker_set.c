/* The set of workers that are given tasks. It changes when devices are lost (lost_device.c), and when the program
 * drives other workers (driven_workers.c). Both call hd_workers_changed:
 *
 * - A policy with `changed`, whose queues serve all workers, keeps its tasks when other workers are driven. A policy
 *   with `take_back` also continues when a device is lost, and gives back the tasks that it has placed for workers that
 *   are *out*: lost or retired. If there are many such tasks, a few return at once, and the others when a worker finds
 *   nothing to do (hd_displaced_return), so that a change costs little.
 * - If more cores are driven than before, a policy that has only `take_back` also gives back tasks of driven workers in
 *   this way, so that it can place them for the new workers: in total as many tasks as the policy had at the time of
 *   the change (to_share).
 * - The instance of any other policy is destroyed with all its tasks, and a new instance is told of all ready tasks as
 *   one batch. Policies of programs need not know: heddle_task_can_run and its kin exclude workers that are out.
 * - The tasks that were picked for workers that are out return to the policy: staged tasks, and tasks of a burst that
 *   have not begun, return at once; tasks whose transfers are under way return when the transfers have ended. Kernels
 *   that run on a retired worker run to their end.
 * - A ready task that only retired workers can run is *parked*, in a list of its own, until the set changes again. A
 *   policy with `changed` may keep such tasks in its queues. They are parked when nothing else moves and a wait would
 *   end in a deadlock (hd_unparked_return).
 *
 * Workers with common cores are *rivals*. At most one of them is driven, and at most one runs: while a retired worker
 * still runs a kernel, its rivals get and begin no tasks (their `pipeline` is 0). A kernel that waits for tasks does
 * not count as running, because otherwise these tasks might never run. If a rival runs when the kernel is to continue,
 * the kernel requests the cores (wants_cores): its rivals then begin nothing until the kernel has had its turn. */
#include "worker_set.h"
#include <stdlib.h>
#include <string.h>
#include "aside.h"
#include "dispatch.h"
#include "errands.h"
#include "event.h"
#include "expand.h"
#include "lost_device.h"
#include "policy_host.h"
#include "task_life.h"
#include "machine/machine.h"
#include "memory/lost_memory.h"
#include "record/record.h"
#include "state/core_lock.h"
#include "state/engine.h"
#include "state/task_pool.h"

/* How many tasks are taken from the policy at a time. */
enum { SLICE = 32 };

int hd_worker_is_cpu(const struct hd_worker *w)
{
	return strcmp(w->rt->platform->classes[w->class_id].kind, "cpu") == 0;
}

/* --- Rivals ------------------------------------------------------------------------------------------------------- */

/* Whether two different workers have common cores. No two workers that are driven at the start have: the platform was
 * checked for this. */
static int are_rivals(const struct hd_worker *a, const struct hd_worker *b)
{
	const struct heddle_platform *p = a->rt->platform;
	const struct heddle_worker *x = &p->workers[a->id], *y = &p->workers[b->id];
	if (a == b || x->core < 0 || y->core < 0 || !(x->retired || y->retired) || !hd_worker_is_cpu(a) ||
	    !hd_worker_is_cpu(b))
		return 0;
	unsigned n_x = p->classes[x->class_id].cores, n_y = p->classes[y->class_id].cores;
	return x->core < y->core + (int)(n_y ? n_y : 1) && y->core < x->core + (int)(n_x ? n_x : 1);
}

static int find_rivals(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	size_t n = 0;
	for (size_t i = 0; i < rt->n_workers; i++)
		n += (size_t)are_rivals(w, &rt->workers[i]);
	w->rivals = n ? calloc(n, sizeof(struct hd_worker *)) : NULL;
	if (n && !w->rivals)
		return hd_no_memory("workers");
	for (size_t i = 0; i < rt->n_workers; i++)
		if (are_rivals(w, &rt->workers[i]))
			w->rivals[w->n_rivals++] = &rt->workers[i];
	return 0;
}

static int a_rival_runs(const struct hd_worker *w)
{
	for (size_t i = 0; i < w->n_rivals; i++)
		if (hd_worker_runs(w->rivals[i]))
			return 1;
	return 0;
}

int hd_cores_are_free(const struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	for (size_t i = 0; i < w->n_rivals; i++)
		if (w->rivals[i]->wants_cores && !w->wants_cores)
			return 0;
	return !a_rival_runs(w);
}

double hd_cores_free_at(const struct hd_worker *w, double now)
{
	HD_HELD(&w->rt->lock);
	double end = now;
	for (size_t i = 0; i < w->n_rivals; i++) {
		const struct hd_slot *slot = &w->rivals[i]->slots[0];
		if (slot->task && slot->start + slot->predicted > end)
			end = slot->start + slot->predicted;
	}
	return end;
}

/* Updates whether the worker may take and begin tasks. */
static void refresh(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	unsigned before = w->pipeline;
	int rests = hd_worker_is_out(w) || w->wants_cores || !hd_cores_are_free(w) || rt->dispatch.pauses;
	w->pipeline = rests ? 0 : w->depth;
	if (w->pipeline == before)
		return;
	if (!w->pipeline) {
		hd_core_not_hungry(w);
		if (w->state == HD_SLEEPING && !w->slots[0].stream)
			hd_worker_enter(w, HD_OFF);
		return;
	}
	if (w->state == HD_OFF)
		/* the thread of a worker without pipeline sleeps, and is woken when the worker gets a task */
		hd_worker_enter(w, HD_SLEEPING);
	if (w->in_flight < w->pipeline && !w->calling && !w->held_back)
		hd_core_hungry(w);
	if (w->staged.first)
		rt->engine->worker_ready(w);
}

void hd_cores_left(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	for (size_t i = 0; i < w->n_rivals; i++) {
		struct hd_worker *rival = w->rivals[i];
		if (!rival->wants_cores)
			refresh(rival);
		else if (hd_cores_are_free(rival))
			hd_core_wake(w->rt, &rival->wake);
	}
}

int hd_cores_claim(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	if (!a_rival_runs(w))
		return 1;
	w->wants_cores = 1;
	refresh(w);
	for (size_t i = 0; i < w->n_rivals; i++)
		refresh(w->rivals[i]);
	return 0;
}

void hd_cores_claimed(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	w->wants_cores = 0;
	refresh(w);
	for (size_t i = 0; i < w->n_rivals; i++)
		refresh(w->rivals[i]);
}

void hd_workers_pause(heddle_runtime *rt, int pauses)
{
	HD_HELD(&rt->lock);
	unsigned before = rt->dispatch.pauses;
	rt->dispatch.pauses = pauses ? before + (unsigned)pauses : 0;
	for (size_t i = 0; !before != !rt->dispatch.pauses && i < rt->n_workers; i++) {
		struct hd_worker *w = &rt->workers[i];
		/* tasks that the thread has been given and has not begun; see give_up in give_up.c */
		if (!before && rt->engine->take_back && !w->slots[0].stream && !rt->sched.policy->started)
			rt->engine->take_back(w);
		refresh(w);
	}
	rt->waits.news = 1; /* submissions that wait for the window may go on */
}

/* --- Returning picked tasks --------------------------------------------------------------------------------------- */

void hd_give_back(heddle_task *t, int begun)
{
	heddle_runtime *rt = t->codelet->rt;
	HD_HELD(&rt->lock);
	const struct hd_worker *w = &rt->workers[t->worker];
	hd_stage_undo(t, w->node, begun);
	hd_private_detach(t);
	/* The policy knows of a task whose kernel has ended. Relaxed, pairs with nothing: the core lock orders it with
	 * the stores in hd_set_state. */
	int told = atomic_load_explicit(&t->state, memory_order_relaxed) == HD_DETACHED;
	if (!told && rt->sched.policy->done && hd_sched_knows(&rt->sched, t))
		rt->sched.policy->done(rt->sched.state, t, hd_given_to(t));
	if (t->extra) {
		free(t->extra->message);
		t->extra->message = NULL;
		t->extra->code = 0;
		t->extra->picked_by = 0;
		hd_events_orphan(t);
	}
	t->status = t->cancelled ? HEDDLE_E_CANCELLED : 0; /* a task that was cancelled meanwhile must not run */
	t->choice = 0;
	t->pending = 0;
	rt->outcome.stats.tasks_retried += w->lost;
	hd_core_ready_again(rt, t);
}

static void take_staged(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	if (rt->engine->take_back && !w->slots[0].stream)
		rt->engine->take_back(w);
	while (w->staged.first) {
		heddle_task *t = hd_queue_pop(&w->staged);
		rt->count.staged--;
		if (t->special & HD_TASK_EXPANDS) {
			w->in_flight--;
			hd_expand_again(rt, t);
			if (w->state == HD_LEAVING) /* its thread waits until the worker holds no task */
				hd_core_wake(rt, &w->wake);
			continue;
		}
		hd_core_staged(rt, t, HEDDLE_E_DEVICE);
	}
}

/* --- Tasks of the policy ------------------------------------------------------------------------------------------ */

static void collect_ready(const heddle_task *t, void *arg)
{
	/* Relaxed, pairs with nothing: the core lock orders it with the stores in hd_set_state. */
	if (atomic_load_explicit(&t->state, memory_order_relaxed) == HD_READY)
		hd_queue_push(arg, (heddle_task *)(uintptr_t)t);
}

static int by_order(const void *a, const void *b)
{
	const heddle_task *x = *(heddle_task *const *)a, *y = *(heddle_task *const *)b;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void sort_batch(heddle_runtime *rt)
{
	if (rt->dispatch.n_batch)
		qsort(rt->dispatch.batch, rt->dispatch.n_batch, sizeof *rt->dispatch.batch, by_order);
}

/* Called when the policy has no tasks any more. */
static void forget_displaced(heddle_runtime *rt)
{
	rt->dispatch.displaced = rt->dispatch.unparked = 0;
	rt->dispatch.to_share = 0;
}

/* Takes all ready tasks. The core has no list of the tasks in the policy's queues, so it walks through the pool. */
static struct hd_task_queue take_ready(heddle_runtime *rt)
{
	struct hd_task_queue ready = {0}, aside = {0};
	for (size_t i = 0; i < rt->n_workers; i++)
		hd_aside_take(&rt->workers[i], 0, &aside); /* the tasks taken here are ready, so the walk finds them */
	if (rt->count.ready)
		hd_pool_each(rt->pool, collect_ready, &ready);
	else
		ready = rt->dispatch.parked;
	for (size_t i = 0; !rt->count.ready && i < rt->dispatch.n_batch; i++)
		hd_queue_push(&ready, rt->dispatch.batch[i]);
	rt->dispatch.parked.first = NULL;
	rt->dispatch.n_batch = 0;
	rt->count.ready = 0;
	rt->count.parked = 0;
	forget_displaced(rt);
	if (rt->adapt.count_none)
		rt->adapt.count_none(rt);
	return ready;
}

/* Takes all ready tasks from the policy by destroying its instance, and makes them one batch for the next instance. */
static void renew_policy(heddle_runtime *rt)
{
	hd_sched_forget(rt);
	rt->dispatch.releaser = -1;
	struct hd_task_queue ready = take_ready(rt);
	while (ready.first)
		hd_core_ready_again(rt, hd_queue_pop(&ready));
	sort_batch(rt);
}

/* Adds a task that the policy has given back, or of which it was not told, to the queue `back`. */
static void unplace(heddle_runtime *rt, heddle_task *t, struct hd_task_queue *back)
{
	if (rt->adapt.count)
		rt->adapt.count(rt, t, -1);
	hd_queue_push(back, t);
}

/* Takes tasks from the policy, in turn one from each worker that is out; or, unless `out`, from each worker that is
 * driven and was driven before the last change. Stops at `most` tasks, or when none is left. Returns the number of
 * taken tasks. */
static size_t take_in_turn(heddle_runtime *rt, int out, size_t most, struct hd_task_queue *back)
{
	size_t n = 0, before = 1;
	while (n != before && n < most) {
		before = n;
		for (unsigned w = 0; w < rt->n_workers && n < most; w++) {
			const struct hd_worker *from = &rt->workers[w];
			int fits = out ? hd_worker_is_out(from) : !hd_worker_is_out(from) && !from->joined;
			heddle_task *t = fits ? rt->sched.policy->take_back(rt->sched.state, w) : NULL;
			if (!t)
				continue;
			n++;
			rt->count.ready--;
			unplace(rt, t, back);
		}
	}
	return n;
}

/* Takes at most `most` tasks: tasks of workers that are out, and then, if `share`, tasks to be shared with new
 * cores. */
static void take_displaced(heddle_runtime *rt, size_t most, int share, struct hd_task_queue *back)
{
	size_t left = most - take_in_turn(rt, 1, most, back);
	size_t *to_share = &rt->dispatch.to_share;
	if (share && left && *to_share) {
		size_t wanted = left < *to_share ? left : *to_share;
		size_t taken = take_in_turn(rt, 0, wanted, back);
		*to_share = taken == wanted ? *to_share - taken : 0;
	}
	rt->dispatch.displaced = !left || *to_share;
}

static void make_ready_again(heddle_runtime *rt, struct hd_task_queue *back)
{
	rt->dispatch.releaser = -1;
	while (back->first)
		hd_core_ready_again(rt, hd_queue_pop(back));
	sort_batch(rt);
}

int hd_displaced_return(heddle_runtime *rt, struct hd_achieved *before)
{
	HD_HELD(&rt->lock);
	struct hd_achieved now = {rt->count.picks - rt->count.empty_picks, rt->count.parked};
	if (now.given == before->given) {
		if (now.parked > before->parked)
			hd_core_wake(rt, &rt->dispatch.hungry->wake);
		return 0;
	}
	*before = now;
	struct hd_task_queue back = {0};
	take_displaced(rt, SLICE, 1, &back);
	make_ready_again(rt, &back);
	return 1;
}

int hd_unparked_return(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	if (!rt->count.ready)
		forget_displaced(rt);
	if (rt->dispatch.displaced) {
		struct hd_task_queue back = {0};
		take_displaced(rt, SIZE_MAX, 0, &back);
		if (back.first) {
			make_ready_again(rt, &back);
			return 1;
		}
	}
	if (!rt->dispatch.unparked)
		return 0;
	renew_policy(rt);
	return 1;
}

/* The policy keeps its instance. Makes one batch of tasks of workers that are out, of some tasks that are shared with
 * new cores, of the tasks of which the policy has not been told, and of the parked tasks. */
static void keep_policy(heddle_runtime *rt, enum hd_change change)
{
	const struct heddle_policy *policy = rt->sched.policy;
	struct hd_task_queue back = rt->dispatch.parked;
	rt->dispatch.parked.first = NULL;
	rt->count.parked = 0;
	size_t n = rt->dispatch.n_batch;
	for (size_t i = 0; i < n; i++)
		unplace(rt, rt->dispatch.batch[i], &back);
	rt->dispatch.n_batch = 0;
	struct hd_task_queue aside = {0};
	for (size_t i = 0; i < rt->n_workers; i++)
		hd_aside_take(&rt->workers[i], 0, &aside);
	while (aside.first) {
		rt->count.ready--;
		unplace(rt, hd_queue_pop(&aside), &back);
	}
	if (policy->changed)
		policy->changed(rt->sched.state);
	if (change != HD_LOST) /* tasks are not shared any more with the cores of an earlier change */
		rt->dispatch.to_share = change == HD_MORE_CORES && !policy->changed ? rt->count.ready : 0;
	if (policy->take_back)
		take_displaced(rt, change == HD_LOST ? SIZE_MAX : SLICE, change != HD_LOST, &back);
	rt->dispatch.unparked = policy->changed && rt->count.ready;
	make_ready_again(rt, &back);
}

int hd_only_out_can_run(const heddle_task *t)
{
	const heddle_runtime *rt = t->codelet->rt;
	HD_HELD(&t->codelet->rt->lock);
	if (!rt->dispatch.n_out)
		return 0;
	for (unsigned c = 0; c < rt->n_classes; c++)
		if (heddle_task_can_run_all(t, c) > 0)
			return 0;
	for (unsigned w = 0; w < rt->n_workers; w++)
		if (heddle_task_can_run(t, w))
			return 0;
	return 1;
}

int hd_has_no_worker(heddle_task *t)
{
	heddle_runtime *rt = t->codelet->rt;
	HD_HELD(&rt->lock);
	if (!hd_only_out_can_run(t))
		return 0;
	if (t->status) { /* a task that was cancelled meanwhile must not run */
		hd_queue_push(&rt->dispatch.controls, t);
		return 1;
	}
	unsigned w = 0;
	while (w < rt->n_workers && (rt->workers[w].lost || !heddle_task_could_run(t, w)))
		w++;
	if (w == rt->n_workers) {
		if (!hd_lost_for_all(t))
			return 0;
		hd_queue_push(&rt->dispatch.controls, t);
	} else {
		hd_set_state(t, HD_READY);
		hd_queue_push(&rt->dispatch.parked, t);
		rt->count.parked++;
	}
	return 1;
}

/* --- Changing the set --------------------------------------------------------------------------------------------- */

/* Records that `n` processors are driven from now on. */
static void count_driven(heddle_runtime *rt, double n)
{
	struct hd_driven *d = &rt->outcome.driven;
	if (n == d->n)
		return;
	if (rt->last_end >= d->since)
		d->until_end = hd_driven_until(d, rt->last_end);
	d->time = hd_driven_until(d, rt->now);
	d->since = rt->now;
	d->n = n;
}

void hd_workers_count(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	double n_processors = 0;
	rt->dispatch.n_out = 0;
	for (size_t c = 0; c < rt->n_classes; c++)
		rt->class_counts[c].n_out = 0;
	for (size_t i = 0; i < rt->n_workers; i++)
		if (hd_worker_is_out(&rt->workers[i])) {
			rt->dispatch.n_out++;
			rt->class_counts[rt->workers[i].class_id].n_out++;
		} else {
			n_processors += hd_class_processors(&rt->platform->classes[rt->workers[i].class_id]);
		}
	for (heddle_codelet *c = rt->codelets; c; c = c->next)
		c->anywhere = c->everywhere && !rt->dispatch.n_out;
	hd_gate_expanders(rt);
	count_driven(rt, n_processors);
	if (HD_UNLIKELY(rt->recorder != NULL))
		hd_record_drives(rt->recorder);
}

/* Whether the instance of the policy can stay. */
static int may_keep_policy(const heddle_runtime *rt, enum hd_change change)
{
	const struct heddle_policy *policy = rt->sched.policy;
	if (rt->sched.absent)
		return 0;
	return policy->changed ? change != HD_LOST : policy->take_back != NULL;
}

void hd_workers_changed(heddle_runtime *rt, enum hd_change change)
{
	HD_HELD(&rt->lock);
	hd_workers_count(rt);
	for (size_t i = 0; i < rt->n_workers; i++)
		if (hd_worker_is_out(&rt->workers[i])) {
			refresh(&rt->workers[i]);
			take_staged(&rt->workers[i]);
		}
	if (may_keep_policy(rt, change))
		keep_policy(rt, change);
	else
		renew_policy(rt);
	for (size_t i = 0; i < rt->n_workers; i++)
		refresh(&rt->workers[i]);
	rt->waits.news = 1;
}

static int is_to_change(const struct hd_worker *w, const char *wanted)
{
	return w->retired != !wanted[w->id] && hd_worker_is_cpu(w);
}

int hd_workers_retire_others(heddle_runtime *rt, const char *wanted)
{
	HD_HELD(&rt->lock);
	int changed = 0, more = 0; /* number of newly driven cores */
	for (size_t i = 0; i < rt->n_workers; i++)
		changed |= is_to_change(&rt->workers[i], wanted) && !rt->workers[i].lost;
	for (size_t i = 0; i < rt->n_workers; i++) {
		struct hd_worker *w = &rt->workers[i];
		if (changed)
			w->joined = w->retired && wanted[i];
		if (!is_to_change(w, wanted))
			continue;
		w->retired = !wanted[i];
		hd_worker_moved(w);
		int cores = (int)rt->platform->classes[w->class_id].cores;
		more += w->retired ? -cores : cores;
	}
	/* Relaxed, pairs with nothing: see the field. */
	for (size_t i = 0; changed && i < rt->n_workers; i++)
		atomic_fetch_or_explicit(&rt->workers[i].set_up, HD_OTHERS_RUN, memory_order_relaxed);
	if (changed)
		hd_workers_changed(rt, more > 0 ? HD_MORE_CORES : HD_OTHERS_DRIVEN);
	return changed;
}

/* --- Start and stop ----------------------------------------------------------------------------------------------- */

int hd_worker_set_open(heddle_runtime *rt)
{
	rt->class_counts = calloc(rt->n_classes, sizeof *rt->class_counts);
	if (!rt->class_counts)
		return hd_no_memory("workers");
	hd_core_enter(rt);               /* no other thread uses the runtime, but the core lock guards the counters */
	int status = 0, any_retired = 0; /* most platforms have no retired workers, and so no rivals */
	for (size_t i = 0; i < rt->n_workers; i++)
		any_retired |= rt->platform->workers[i].retired != 0;
	for (size_t i = 0; i < rt->n_workers && !status; i++) {
		struct hd_worker *w = &rt->workers[i];
		rt->class_counts[w->class_id].n++;
		w->retired = rt->platform->workers[i].retired && hd_worker_is_cpu(w);
		w->pipeline = w->retired ? 0 : w->depth;
		if (any_retired)
			status = find_rivals(w);
	}
	hd_workers_count(rt);
	hd_core_leave(rt);
	return status;
}

void hd_worker_set_close(heddle_runtime *rt)
{
	for (size_t i = 0; rt->workers && i < rt->n_workers; i++) {
		free(rt->workers[i].why);
		free(rt->workers[i].rivals);
	}
	free(rt->class_counts);
}
