/* How a task enters the graph, becomes ready, and ends; in between, dispatch.c handles it. Everything runs under the
 * core lock.
 *
 *   hd_core_insert ──► hd_core_on_ready ──► the policy's batch ──► dispatch.c ──► hd_core_end
 *                                 └──► controls (acquire, unregister ...): control.c ──► hd_core_end
 *
 * Only callbacks run without the lock: hd_core_run_callbacks releases it. */
#include "task_life.h"
#include <stdlib.h>
#include <string.h>
#include "acquire.h"
#include "errands.h"
#include "event.h"
#include "expand.h"
#include "group.h"
#include "inlet.h"
#include "policy_host.h"
#include "register.h"
#include "task_model.h"
#include "wait.h"
#include "worker_set.h"
#include "base/grow.h"
#include "graph/chains.h"
#include "graph/scratch_redux.h"
#include "graph/tree_chains.h"
#include "memory/uses.h"
#include "misuse/misuse.h"
#include "record/record.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/engine.h"
#include "state/failure.h"
#include "state/task_pool.h"

/* --- Ready -------------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) int grow_batch(heddle_runtime *rt)
{
	struct hd_dispatch *d = &rt->dispatch;
	return HD_GROW(d->batch, d->n_batch, d->max_batch, 256) ? hd_no_memory("ready tasks") : 0;
}

static inline void into_batch(heddle_runtime *rt, heddle_task *t)
{
	if (HD_UNLIKELY(rt->dispatch.n_batch == rt->dispatch.max_batch) && grow_batch(rt)) {
		t->status = HEDDLE_E_MEMORY;
		hd_queue_push(&rt->dispatch.controls, t);
		return;
	}
	hd_set_state(t, HD_READY);
	rt->dispatch.batch[rt->dispatch.n_batch++] = t;
	if (HD_UNLIKELY(rt->adapt.count != NULL))
		rt->adapt.count(rt, t, 1);
}

static inline void to_policy(heddle_runtime *rt, heddle_task *t)
{
	t->ready = rt->now;
	if (HD_LIKELY(!rt->dispatch.n_out) || !hd_has_no_worker(t))
		into_batch(rt, t);
}

void hd_core_ready_again(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	hd_set_state(t, HD_WAITING);
	if (!hd_has_no_worker(t))
		into_batch(rt, t);
}

/* Called when the task has got its commute tokens, if it needs any. The task may have been cancelled while it waited
 * for them, because a task that commutes with it has failed. */
static void on_tokens(heddle_runtime *rt, heddle_task *t)
{
	if (t->cancelled || !t->codelet)
		hd_queue_push(&rt->dispatch.controls, t);
	else
		to_policy(rt, t);
}

/* Treats a ready task that is not given to the policy at once: a control, or a cancelled, hierarchical or commuting
 * task. */
static __attribute__((noinline)) void on_special(heddle_runtime *rt, heddle_task *t)
{
	if (t->special & HD_TASK_UNORDERED)
		hd_unordered_ready(t);
	if (t->special & HD_TASK_EXPANDS)
		hd_expand_ready(rt, t);
	else if (!(t->special & HD_TASK_COMMUTES) || hd_chain_take_tokens(t))
		on_tokens(rt, t);
}

static inline void on_ready(heddle_runtime *rt, heddle_task *t)
{
	if (HD_UNLIKELY(t->kind != HD_TASK_CODELET || t->cancelled) ||
	    HD_UNLIKELY(t->special & (HD_TASK_COMMUTES | HD_TASK_EXPANDS | HD_TASK_UNORDERED)))
		on_special(rt, t);
	else
		to_policy(rt, t);
}

void hd_core_on_ready(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	on_ready(rt, t);
}

/* Prepares the linking of a task with rare features, or of any task if the policy wants to know of it. */
static __attribute__((noinline)) void enter_special(heddle_runtime *rt, heddle_task *t)
{
	if (t->special & HD_TASK_WATCHED)
		hd_sched_submitted(rt, t);
	if (t->special & HD_TASK_EXPANDS)
		hd_expand_enter(rt, t);
	if (t->special & HD_TASK_UNORDERED)
		hd_unordered_enter(t);
	if ((t->special & HD_TASK_USES) && !(t->special & HD_TASK_EXPANDS))
		hd_uses_enter(t);
}

/* Whether the access cannot affect the open reductions: it has no place in the chain, or its place is before the tasks
 * that have begun the reductions. */
static int keeps_reductions(const struct hd_access *a)
{
	return (a->flags & (HD_ACCESS_ALIAS | HD_ACCESS_UNCHAINED | HD_ACCESS_LOCAL)) ||
	       (HD_UNLIKELY(a->data->deep) && (a->cover || hd_chain_is_covered(a)));
}

/* Ends the open reductions of other data that overlap data of the task. */
static __attribute__((noinline)) void end_those_met(const heddle_task *t)
{
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (t->accesses[i].data->deep && !keeps_reductions(&t->accesses[i]))
			hd_reductions_close_for(t->accesses[i].data);
}

/* Whether the task neither begins nor ends a reduction: either it has no REDUX access, and no reduction is open; or all
 * its accesses come before the tasks that have begun the open reductions. */
static inline int leaves_reductions(const heddle_runtime *rt, const heddle_task *t)
{
	return (!rt->dispatch.open_reductions && !(t->special & HD_TASK_PRIVATE)) || (t->special & HD_TASK_COVERED);
}

/* Opens a reduction at the first REDUX access to a datum, and ends it at the first later access of another mode. */
static __attribute__((noinline)) int begin_or_end_reductions(heddle_task *t)
{
	int status = 0;
	if (HD_UNLIKELY(t->special & HD_TASK_DEEP))
		end_those_met(t);
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		struct hd_access *a = &t->accesses[i];
		int reducing = a->data->tail_mode == HEDDLE_REDUX, reduces = a->mode == HEDDLE_REDUX;
		if (HD_LIKELY(reducing == reduces) || keeps_reductions(a))
			continue;
		if (reducing)
			hd_reduction_close(a->data);
		else if (!status)
			status = hd_reduction_open(a);
		else
			a->mode =
			    /* the task fails and must poison the datum, which lacks its contribution: therefore it
			     * becomes a writer */
			    HEDDLE_RW;
	}
	return status;
}

/* Makes the task wait for its explicit predecessors, unless it has failed already with `status`. Returns its status. */
static __attribute__((noinline)) int wait_for_explicit(heddle_runtime *rt, heddle_task *t, int status)
{
	for (size_t i = 0; i < t->extra->n_before && !status; i++) {
		uint32_t pending = t->pending;
		status = hd_chain_after(t->extra->before[i], t);
		t->extra->n_preds += t->pending - pending;
		if (rt->recorder)
			hd_record_explicit(rt->recorder, t->extra->before[i]->order);
	}
	free(t->extra->before);
	t->extra->before = NULL;
	return status;
}

/* Finds the model entry of the task. Most tasks have the same sizes as the last task of their codelet, and so the same
 * entry. */
static inline void find_model(heddle_runtime *rt, heddle_task *t)
{
	const heddle_codelet *c = t->codelet;
	if (HD_UNLIKELY(c->last_footprint != t->footprint || !c->last_entry || rt->engine->times_are_given)) {
		hd_task_find_model(rt, t);
		return;
	}
	t->perf = c->last_entry;
	hd_perf_use(t->perf);
}

void hd_core_insert(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	int status = HD_LIKELY(leaves_reductions(rt, t)) ? 0 : begin_or_end_reductions(t);
	hd_set_state(t, HD_WAITING);
	t->order = rt->inlet.next_order++;
	struct hd_submission *submission = HD_UNLIKELY(rt->recorder != NULL) ? hd_record_enter(rt->recorder, t) : NULL;
	rt->count.inserted++;
	t->pending++; /* keeps the task from becoming ready before all its accesses are linked */
	if (t->codelet && !t->perf)
		find_model(rt, t);
	if (HD_UNLIKELY((t->special & (HD_TASK_EXPANDS | HD_TASK_UNORDERED | HD_TASK_WATCHED)) || rt->dispatch.n_tight))
		enter_special(rt, t);
	hd_chain_link(t);
	if (HD_UNLIKELY(t->extra && t->extra->before))
		status = wait_for_explicit(rt, t, status);
	if (HD_UNLIKELY(rt->recorder != NULL))
		hd_record_insert(rt->recorder, t, submission);
	if (HD_UNLIKELY(status)) {
		t->status = status;
		t->cancelled = 1;
	}
	if (--t->pending == 0)
		on_ready(rt, t);
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

static void note_error(heddle_runtime *rt, heddle_task *t)
{
	struct hd_failure *f = hd_task_failure(rt, t);
	if (t->status == HEDDLE_E_CANCELLED)
		rt->outcome.stats.tasks_cancelled++;
	else
		rt->outcome.stats.tasks_failed++;
	if (!hd_failure_counts(f, t->status))
		return;
	char title[HD_TITLE], why[HD_REASON];
	char *text = hd_format("%s: %s", hd_task_title(t, title, sizeof title), hd_task_reason(t, why, sizeof why));
	hd_failure_clear(f);
	*f = (struct hd_failure){t->status, hd_task_code(t), text};
}

/* Whether the next heddle_wait_all must report the failure of the task: yes for a task of the program; for a control,
 * unless the control was merely cancelled or a thread waits for it. If a step of a layout fails, the task that needed
 * this step reports the failure. */
static int is_news(const heddle_task *t)
{
	int is_step = t->kind == HD_TASK_PARTITION || t->kind == HD_TASK_UNPARTITION;
	return hd_task_works(t) || (t->status != HEDDLE_E_CANCELLED && !t->waited && !is_step);
}

void hd_core_note_failure(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	if (is_news(t))
		note_error(rt, t);
}

/* Tells the group of a task and its hierarchical task that the task has ended. Returns the hierarchical task if it has
 * ended, too. */
static heddle_task *leave_others(heddle_runtime *rt, heddle_task *t)
{
	heddle_task *outer = t->special & HD_TASK_INSIDE ? hd_expand_child_ended(rt, t) : NULL;
	if (!t->extra)
		return outer;
	if (rt->adapt.ended)
		rt->adapt.ended(rt, t);
	if (t->extra->group)
		hd_group_leave(t->extra->group);
	return outer;
}

/* The last step of a task: waiting threads may see its end, and the graph drops its reference. */
static inline __attribute__((always_inline)) void bury_one(heddle_runtime *rt, heddle_task *t)
{
	rt->count.ended++;
	if (hd_task_works(t) && !t->status)
		rt->count.executed++;
	uint64_t live = hd_live(rt) - rt->count.held;
	if (t->waited || live == 0 || live == rt->inlet.throttle)
		rt->waits.news = 1;
	/* pairs: the acquire load in heddle_task_done, which sees what the task has written */
	atomic_store_explicit(&t->state, HD_ENDED, memory_order_release);
	hd_task_unref(rt, t);
}

/* Ends a hierarchical task whose sub-graph has ended completely. Returns whether the task can be buried: it has no
 * callback. */
static int end_expanded(heddle_runtime *rt, heddle_task *t)
{
	if (!t->status)
		t->status = t->extra->inner_status;
	rt->count.hierarchical--;
	if (t->special & HD_TASK_WATCHED)
		hd_sched_ended(rt, t);
	hd_perf_leave(t->perf);
	t->perf = NULL;
	hd_set_state(t, HD_RELEASED);
	hd_chain_release_explicit(t);
	if (!t->extra->callback)
		return 1;
	hd_queue_push(&rt->dispatch.called, t);
	return 0;
}

/* Buries a task of a group or sub-graph, and then the hierarchical tasks that end with it. A loop, not a recursion,
 * because hierarchical tasks may be nested deeply. */
static __attribute__((noinline)) void bury(heddle_runtime *rt, heddle_task *t)
{
	do {
		heddle_task *outer = leave_others(rt, t);
		if ((t->special & HD_TASK_EXPANDS) && !t->status)
			/* bury_one will count the hierarchical task, which has executed no kernel */
			rt->count.executed--;
		bury_one(rt, t);
		t = outer;
	} while (t && end_expanded(rt, t));
}

void hd_core_end_expanded(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	if (end_expanded(rt, t))
		bury(rt, t);
}

/* Frees the datum of an UNREGISTER task. */
static void free_data(heddle_task *t)
{
	if (HD_UNLIKELY(t->status))
		hd_unregister_failed(t);
	hd_data_destroy(t->accesses[0].data);
}

static __attribute__((noinline)) void leave_special(heddle_runtime *rt, heddle_task *t)
{
	if (t->special & HD_TASK_WATCHED)
		hd_sched_ended(rt, t);
	if (t->special & HD_TASK_USES)
		hd_uses_leave(t);
}

void hd_core_end(heddle_runtime *rt, heddle_task *t, int status)
{
	HD_HELD(&rt->lock);
	if (!t->status)
		t->status = t->cancelled ? HEDDLE_E_CANCELLED : status;
	if (HD_UNLIKELY(t->status) && is_news(t))
		note_error(rt, t);
	if (HD_UNLIKELY(t->special & (HD_TASK_USES | HD_TASK_WATCHED)))
		leave_special(rt, t);
	hd_chain_release(t);
	if (HD_LIKELY(t->perf != NULL)) {
		hd_perf_leave(t->perf);
		t->perf = NULL;
	}
	if (HD_UNLIKELY(t->kind == HD_TASK_UNREGISTER))
		free_data(t);
	if (HD_LIKELY(!t->extra && !(t->special & HD_TASK_INSIDE))) {
		bury_one(rt, t);
		return;
	}
	hd_set_state(t, HD_RELEASED);
	if (t->extra && t->extra->callback)
		hd_queue_push(&rt->dispatch.called, t);
	else
		bury(rt, t);
}

/* Calls the callback of a task that has ended and buries the task, or begins the work of an external task, which may
 * end meanwhile. Releases the core lock. */
static void call(heddle_runtime *rt, heddle_task *t)
{
	heddle_event *event = t->kind == HD_TASK_OUTSIDE ? hd_event_of_outside(t) : NULL;
	const struct hd_task_extra *extra = t->extra;
	void (*begin)(heddle_event *, void *) = event ? extra->begin : NULL;
	void *arg = event ? extra->begin_arg : extra->callback_arg;
	rt->count.calling++;
	rt->count.beginning += event != NULL;
	hd_core_leave(rt);
	if (HD_UNLIKELY(rt->tells_tsan)) {
		if (event)
			hd_tsan_begins(t);
		else
			hd_tsan_waited(rt);
	}
	if (event)
		begin(event, arg);
	else
		extra->callback(arg, t->status);
	if (HD_UNLIKELY(rt->tells_tsan))
		hd_tsan_lets_go(rt);
	hd_core_enter(rt);
	/* tasks that the callback has submitted enter the graph before the callback's own task ends: see hd_live */
	hd_drain_all(rt);
	rt->count.calling--;
	rt->count.beginning -= event != NULL;
	if (!event)
		bury(rt, t);
}

/* A callback may submit a task that ends at once and has a callback, too; then this function is called recursively. A
 * recursive call in a thread that already runs callbacks of the same runtime returns at once, and the outer loop runs
 * the new callbacks. So the stack does not grow with the length of a chain of callbacks. */
int hd_core_run_callbacks(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	for (const struct hd_inside *i = hd_inside(); i; i = i->outer)
		if (i->rt == rt && i->what == HD_INSIDE_CALLBACK)
			return 0;
	struct hd_inside here = {.rt = rt, .what = HD_INSIDE_CALLBACK};
	hd_inside_enter(&here);
	while (rt->dispatch.called.first) {
		heddle_task *t = hd_queue_pop(&rt->dispatch.called);
		here.depth = (uint16_t)t->depth;
		if (rt->waits.news) /* threads that wait for earlier tasks are woken before this callback runs */
			hd_wake_waiters(rt);
		call(rt, t);
	}
	hd_inside_leave(&here);
	/* perhaps nothing moves any more after the callbacks; then a thread in hd_throttle may go on */
	if (HD_UNLIKELY(rt->count.held_back))
		rt->waits.news = 1;
	hd_wake_if_still(rt, NULL);
	return 1;
}
