/* The part of heddle_selfcheck for workers: the tasks that they hold, and the workers for which the policy is asked. */
#include <math.h>
#include <stdlib.h>
#include "check.h"
#include "flow/ask.h"
#include "flow/dispatch.h"
#include "flow/worker_set.h"
#include "machine/machine.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/memory.h"

static const char *worker_name(const struct hd_worker *w)
{
	return w->rt->platform->workers[w->id].name;
}

static int check_hungry_list(struct hd_check *c)
{
	const heddle_runtime *rt = c->rt;
	const struct hd_worker *before = NULL;
	size_t n_listed = 0, n_marked = 0;
	for (const struct hd_worker *w = rt->dispatch.hungry; w; before = w, w = w->hungry_next) {
		if (w->hungry_prev != before || !w->hungry || ++n_listed > rt->n_workers)
			return hd_broken("the list of hungry workers: the links or the mark of %s are wrong",
			                 worker_name(w));
		if (before && before->speed < w->speed)
			return hd_broken("the list of hungry workers: %s comes before %s, which is faster",
			                 worker_name(before), worker_name(w));
		if (!hd_worker_is_attended(w) || !w->pipeline)
			return hd_broken("the list of hungry workers: %s cannot be given tasks", worker_name(w));
	}
	unsigned n_asleep = 0, n_off = 0;
	for (size_t i = 0; i < rt->n_workers; i++) {
		n_marked += rt->workers[i].hungry;
		n_asleep += (unsigned)hd_worker_is_asleep(&rt->workers[i]);
		n_off += rt->workers[i].state == HD_OFF;
	}
	if (n_off != rt->count.off)
		return hd_broken("%u workers are off; off says %u", n_off, rt->count.off);
	if (n_listed != n_marked)
		return hd_broken("%zu workers are in the list of the hungry, %zu are marked so", n_listed, n_marked);
	return n_asleep == rt->count.asleep
	           ? 0
	           : hd_broken("%u workers sleep; n_asleep says %u", n_asleep, rt->count.asleep);
}

static int check_slot(struct hd_check *c, const struct hd_worker *w, const struct hd_slot *slot)
{
	const heddle_task *t = slot->task;
	if (slot->worker != w || slot->index != (size_t)(slot - w->slots))
		return hd_broken("%s: one of its slots is another worker's", worker_name(w));
	if (!t)
		return 0;
	if (!hd_check_find_task(c, t) || hd_check_state(t) != HD_RUNNING || t->worker != w->id)
		return hd_broken("%s: what it is said to run does not run there", worker_name(w));
	const struct hd_slot *bound = hd_task_slot(c->rt, t);
	if (bound && bound != slot)
		return hd_broken("%s: task %llu does not run on the slot of its private copies", worker_name(w),
		                 (unsigned long long)t->order);
	return 0;
}

/* Checks a worker and its rivals: at most one of them is driven, at most one runs, and the worker can hold tasks only
 * while its cores are free. */
static int check_cores(const struct hd_worker *w)
{
	int taken = w->wants_cores || !hd_cores_are_free(w) || w->rt->dispatch.pauses;
	if (w->pipeline != (hd_worker_is_out(w) || taken ? 0 : w->depth))
		return hd_broken("%s can hold %u tasks, which is wrong for one that is %s", worker_name(w), w->pipeline,
		                 hd_worker_is_out(w) ? "lost or retired"
		                 : taken             ? "to wait for its cores or for heddle_resume"
		                                     : "driven");
	for (size_t i = 0; i < w->n_rivals; i++) {
		const struct hd_worker *rival = w->rivals[i];
		if (hd_worker_runs(w) && hd_worker_runs(rival))
			return hd_broken("%s and %s run on the same cores", worker_name(w), worker_name(rival));
		if (!w->retired && !rival->retired)
			return hd_broken("%s and %s are driven on the same cores", worker_name(w), worker_name(rival));
	}
	if (w->retired && (w->hungry || w->staged.first))
		return hd_broken("%s is retired, and yet can be given tasks or has some", worker_name(w));
	return w->state == HD_OFF && w->pipeline ? hd_broken("%s can be given tasks and is off", worker_name(w)) : 0;
}

static int check_worker(struct hd_check *c, const struct hd_worker *w, uint64_t *n_staged)
{
	int status = hd_check_queue(c, w->staged.first, w->staged.last, HD_ON_WORKER, "a worker's list of staged tasks",
	                            n_staged);
	for (unsigned i = 0; i < w->n_slots && !status; i++)
		status = check_slot(c, w, &w->slots[i]);
	if (!status)
		status = check_cores(w);
	if (!status && w->lost &&
	    (w->hungry || w->pipeline || w->staged.first || (w->node && !c->rt->memories[w->node].lost)))
		status = hd_broken("%s is lost, and yet can be given tasks or has some, or its memory is in use",
		                   worker_name(w));
	return status;
}

/* The sums over the tasks of a worker. */
struct load {
	uint32_t in_flight, staged, running, bound;
	double backlog;
};

static void add_load(const heddle_task *t, struct load *loads)
{
	unsigned state = hd_check_state(t);
	if (!t->codelet || state < HD_PICKED || state > HD_RUNNING)
		return;
	struct load *l = &loads[t->worker];
	l->in_flight++;
	l->staged += state == HD_STAGED;
	l->running += state == HD_RUNNING;
	l->bound += t->extra && t->extra->slot;
	if (state != HD_RUNNING)
		l->backlog += t->link.u.key;
}

static int compare_load(const struct hd_worker *w, const struct load *l)
{
	/* INEXACT_US in us, INEXACT as a fraction: the backlog is a running sum with rounding errors */
	static const double INEXACT_US = 1e-3, INEXACT = 1e-6;
	if (w->in_flight + w->n_suspended != l->in_flight)
		return hd_broken("%s has %u tasks picked and not ended; in_flight says %u, and %u wait", worker_name(w),
		                 l->in_flight, w->in_flight, w->n_suspended);
	unsigned n_busy = 0, n_bound = 0;
	for (unsigned i = 0; i < w->n_slots; i++) {
		n_busy += w->slots[i].task != NULL;
		n_bound += w->slots[i].n_bound;
	}
	unsigned n_running = l->running - w->n_suspended; /* during a burst, several running tasks share a slot */
	if (n_busy != n_running && (w->n_slots > 1 || !n_busy || !n_running))
		return hd_broken("%s: %u of its tasks are running, and %u of its slots are busy", worker_name(w),
		                 n_running, n_busy);
	if (n_bound != l->bound)
		return hd_broken("%s: %u of its tasks are bound to a slot; n_bound says %u", worker_name(w), l->bound,
		                 n_bound);
	if (fabs(w->backlog - l->backlog) > INEXACT_US + INEXACT * l->backlog)
		return hd_broken("%s: its tasks are predicted to take %g us; backlog says %g", worker_name(w),
		                 l->backlog, w->backlog);
	return 0;
}

int hd_check_loads(struct hd_check *c)
{
	const heddle_runtime *rt = c->rt;
	struct load *loads = calloc(rt->n_workers, sizeof *loads);
	if (!loads)
		return hd_no_memory("a check");
	for (size_t i = 0; i < c->n_tasks; i++)
		add_load(c->tasks[i].task, loads);
	uint64_t n_running = 0;
	int status = 0;
	for (size_t i = 0; i < rt->n_workers && !status; i++) {
		status = compare_load(&rt->workers[i], &loads[i]);
		n_running += loads[i].running;
	}
	free(loads);
	if (!status && n_running != rt->count.running)
		status = hd_broken("%llu tasks are running; n_running says %llu", (unsigned long long)n_running,
		                   (unsigned long long)rt->count.running);
	return status;
}

int hd_check_workers(struct hd_check *c)
{
	const heddle_runtime *rt = c->rt;
	uint64_t n_staged = 0;
	unsigned n_bursts = 0, n_held_back = 0, n_lost = 0, n_out = 0, n_suspended = 0;
	double n_driven = 0;
	int status = check_hungry_list(c);
	if (!status)
		status = hd_ask_check(c->rt);
	for (size_t i = 0; i < rt->n_workers && !status; i++) {
		status = check_worker(c, &rt->workers[i], &n_staged);
		n_bursts += rt->workers[i].burst_size > 1;
		n_held_back += rt->workers[i].held_back;
		n_lost += rt->workers[i].lost;
		n_out += (unsigned)hd_worker_is_out(&rt->workers[i]);
		if (!hd_worker_is_out(&rt->workers[i]))
			n_driven += hd_class_processors(&rt->platform->classes[rt->workers[i].class_id]);
		n_suspended += rt->workers[i].n_suspended;
	}
	if (!status && n_suspended != rt->count.suspended)
		status = hd_broken("%u kernels wait for groups; suspended says %u", n_suspended, rt->count.suspended);
	if (!status && (n_lost != rt->dispatch.n_lost || n_out != rt->dispatch.n_out))
		status = hd_broken("%u workers are lost, and with those that are retired %u; n_lost says %u, n_out %u",
		                   n_lost, n_out, rt->dispatch.n_lost, rt->dispatch.n_out);
	if (!status && n_driven != rt->outcome.driven.n)
		status = hd_broken("%g processors are driven; driven.n says %g", n_driven, rt->outcome.driven.n);
	if (!status && (n_held_back > rt->count.held_back || rt->count.calls_held_back > rt->count.calling))
		status = hd_broken("the numbers of kernels and callbacks that wait for room are wrong");
	if (!status && n_bursts != rt->count.bursts)
		status =
		    hd_broken("%u workers run several tasks at once; n_bursts says %u", n_bursts, rt->count.bursts);
	if (!status && n_staged != rt->count.staged)
		status = hd_broken("%llu tasks are staged on workers; n_staged says %llu", (unsigned long long)n_staged,
		                   (unsigned long long)rt->count.staged);
	return status;
}
