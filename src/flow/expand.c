/* Hierarchical tasks: instead of its kernel, such a task may run a function that submits a sub-graph.
 *
 *   hd_expand_enter ──► its accesses are markers (tree_chains.c) ──► all are granted: hd_expand_ready
 *     ──► run whole: the markers become accesses, and the task becomes an ordinary one
 *     ──► expand: it waits in a heap for an idle worker (hd_expand_give) and for room in the window
 *         ──► hd_expand_run, without the lock ──► hd_expand_over: the markers are removed ──► HD_EXPANDED
 *         ──► the last task of the sub-graph has ended: the hierarchical task ends
 *
 * A worker runs the function as it runs a kernel: the task is staged, begun and finished on the worker. The policy is
 * not told. The submitted tasks are collected in extra->submitted, without the core lock, and enter the graph in the
 * critical section that finishes the task; if the function submits more than MANY tasks, also earlier, MANY at a time.
 * Therefore a small sub-graph enters the core only twice, and several sub-graphs are submitted in parallel.
 *
 * The heap orders tasks by priority, then by depth, the deepest first, then by submission. So a recursion is expanded
 * depth-first, and few tasks wait to be expanded.
 *
 * There is no deadlock: a sub-graph never waits for room once its function has been called. Before the call the task
 * waits for room only as long as something else moves (hd_window_admits_expansion), and the core checks again whenever
 * a task or a transfer has ended or a worker has gone to sleep. Threads of the program that wait for room hold nothing
 * that an expansion needs.
 *
 * If a hierarchical task fails during its expansion or is cancelled, its markers become ordinary accesses behind the
 * accesses of the tasks that it has submitted, and it ends as an ordinary task: so it poisons the data that it was to
 * write for later tasks only. */
#include "expand.h"
#include <stdlib.h>
#include <string.h>
#include "dispatch.h"
#include "errands.h"
#include "group.h"
#include "inlet.h"
#include "task_life.h"
#include "task_model.h"
#include "graph/chains.h"
#include "graph/common_elements.h"
#include "graph/tree_chains.h"
#include "memory/uses.h"
#include "record/record.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/engine.h"
#include "state/failure.h"
#include "state/kernel_context.h"

/* If a function submits more tasks than this number, they enter the graph this many at a time. */
enum { MANY = 64 };

/* --- The tasks that wait to be expanded: a skew heap, linked by link.next and link.prev --------------------------- */

static int comes_before(const heddle_task *a, const heddle_task *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (a->extra->depth != b->extra->depth)
		return a->extra->depth > b->extra->depth;
	return a->order < b->order;
}

static heddle_task *merge(heddle_task *a, heddle_task *b)
{
	heddle_task *root = NULL, **place = &root;
	while (a && b) {
		if (comes_before(b, a)) {
			heddle_task *other = a;
			a = b;
			b = other;
		}
		*place = a;
		place = &a->link.prev;
		heddle_task *rest = a->link.next;
		a->link.next = a->link.prev;
		a = rest;
	}
	*place = a ? a : b;
	return root;
}

void hd_expand_push(heddle_task **heap, heddle_task *t)
{
	t->link.next = t->link.prev = NULL;
	*heap = merge(*heap, t);
}

heddle_task *hd_expand_pop(heddle_task **heap)
{
	heddle_task *t = *heap;
	*heap = merge(t->link.next, t->link.prev);
	return t;
}

void hd_expand_do(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	hd_expand_push(&rt->dispatch.unexpanded, t);
	rt->dispatch.retry |= HD_RETRY_EXPANSIONS;
}

static heddle_task *pop(heddle_runtime *rt)
{
	heddle_task *t = hd_expand_pop(&rt->dispatch.unexpanded);
	if (!rt->dispatch.unexpanded && !rt->dispatch.n_undecided)
		rt->dispatch.retry &= ~HD_RETRY_EXPANSIONS;
	return t;
}

void hd_expand_again(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	hd_set_state(t, HD_WAITING);
	hd_expand_do(rt, t);
}

/* --- The decision to expand --------------------------------------------------------------------------------------- */

int hd_expand_can_run_whole(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	if (!t->codelet->n_able || !hd_task_has_worker(t))
		return 0;
	return !rt->engine->times_are_given || hd_task_has_time(rt, t);
}

/* The decision for extra->subgraph: the number of a sub-graph, 0 (run the kernel), or HD_EXPAND_LATER. Cancels the task
 * if the program's `expand` has returned a wrong number. */
static int decide(heddle_runtime *rt, heddle_task *t)
{
	const struct heddle_codelet_desc *desc = &t->codelet->desc;
	int chosen = desc->expand ? desc->expand(t, desc->expand_arg) : rt->adapt.choose ? rt->adapt.choose(rt, t) : 1;
	if (!desc->expand && chosen == HD_EXPAND_LATER)
		return hd_expand_can_run_whole(rt, t) ? HD_EXPAND_LATER : 1;
	if (chosen < 0 || (size_t)chosen > desc->n_subgraphs) {
		char title[HD_TITLE];
		t->status = hd_error(HEDDLE_E_INVALID, "%s: `expand` returned %d; the codelet has %zu sub-graphs",
		                     hd_task_title(t, title, sizeof title), chosen, desc->n_subgraphs);
		hd_task_message(t, heddle_last_error());
		t->cancelled = 1;
		return 0;
	}
	return chosen || hd_expand_can_run_whole(rt, t) ? chosen : 1;
}

/* Makes the hierarchical task an ordinary one. */
static void make_ordinary(heddle_runtime *rt, heddle_task *t)
{
	t->special &= (uint16_t)~HD_TASK_EXPANDS;
	if (rt->n_nodes == 1 && !(t->special & HD_TASK_PRIVATE))
		t->special |= HD_TASK_ONE_NODE;
	rt->count.hierarchical--;
}

void hd_expand_enter(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	rt->count.hierarchical++;
	if (t->codelet->desc.expand_at_submission && !t->cancelled) {
		int chosen = decide(rt, t);
		if (!chosen) {
			make_ordinary(rt, t);
			return;
		}
		t->extra->subgraph = chosen > 0 ? (unsigned)chosen : 0;
	}
	for (uint32_t i = 0; i < t->n_accesses; i++)
		t->accesses[i].flags |= HD_ACCESS_MARKER;
	t->special |= HD_TASK_DEEP;
	if (HD_UNLIKELY(rt->adapt.entered != NULL))
		rt->adapt.entered(rt, t);
}

/* --- The end of a hierarchical task ------------------------------------------------------------------------------- */

/* Called when the task has left the chains of all its data. */
static void has_left_chains(heddle_runtime *rt, heddle_task *t)
{
	hd_set_state(t, HD_EXPANDED);
	if (--t->extra->n_inside == 0)
		hd_core_end_expanded(rt, t);
}

/* Records that the task `child` of the sub-graph has failed: the hierarchical task fails, too, when it ends. A failure
 * takes precedence over a cancellation. */
static __attribute__((cold)) void blame(heddle_runtime *rt, heddle_task *t, const heddle_task *child)
{
	struct hd_task_extra *extra = t->extra;
	if (extra->inner_status && (extra->inner_status != HEDDLE_E_CANCELLED || child->status == HEDDLE_E_CANCELLED))
		return;
	char title[HD_TITLE], why[HD_REASON];
	const char *reason = hd_task_reason(child, why, sizeof why);
	char *text = child->extra && child->extra->inner_status
	                 ? hd_format("%s", reason)
	                 : hd_format("%s in its sub-graph: %s", hd_task_title(child, title, sizeof title), reason);
	if (!t->status) {
		free(extra->message);
		extra->message = text;
		text = NULL;
	}
	free(text);
	extra->inner_status = child->status;
	if (!t->status)
		extra->code = hd_task_code(child);
	struct hd_failure *failure = hd_task_failure(rt, t);
	/* otherwise both tasks record failures in the same place, which has this failure already */
	if (failure != hd_task_failure(rt, child))
		hd_failure_note(failure, child->status, hd_task_code(child), extra->message);
}

heddle_task *hd_expand_child_ended(heddle_runtime *rt, const heddle_task *child)
{
	HD_HELD(&rt->lock);
	heddle_task *t = hd_task_inside(child);
	if (HD_UNLIKELY(rt->adapt.child_ended != NULL))
		rt->adapt.child_ended(rt, child);
	if (child->status && child->kind != HD_TASK_PREFETCH) /* a failed prefetch harms no task */
		blame(rt, t, child);
	return --t->extra->n_inside == 0 ? t : NULL;
}

/* --- From ready to expanded --------------------------------------------------------------------------------------- */

/* Cancels the task if it needs a poisoned value, because the grant of a marker does not check this. If a poisoned datum
 * has plans, its pieces may be valid nevertheless: then the check is left to the tasks of the sub-graph. */
static inline void cancel_if_poisoned(heddle_task *t)
{
	for (const struct hd_access *a = t->accesses, *end = a + t->n_accesses; a < end; a++)
		if (HD_UNLIKELY(a->data->poisoned) && a->mode != HEDDLE_W && a->mode != HEDDLE_SCRATCH &&
		    a->data->extra && !a->data->extra->layout)
			hd_task_cancel(t, a->data->extra->cause);
}

void hd_expand_ready(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	if (t->extra->is_submitted) { /* the task has failed during its submission, and may end now */
		hd_chain_release(t);
		has_left_chains(rt, t);
		return;
	}
	cancel_if_poisoned(t);
	int chosen = t->cancelled ? 0 : t->extra->subgraph ? (int)t->extra->subgraph : decide(rt, t);
	if (HD_UNLIKELY(rt->adapt.ready != NULL))
		rt->adapt.ready(rt, t, chosen);
	if (chosen > 0) {
		t->extra->subgraph = (unsigned)chosen;
		hd_expand_do(rt, t);
	} else if (!chosen) {
		hd_expand_not(rt, t);
	}
}

void hd_expand_not(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	make_ordinary(rt, t);
	if (HD_UNLIKELY(t->special & HD_TASK_USES))
		hd_uses_enter(t);
	hd_chain_resolve(t);
}

static int all_have_streams(const heddle_runtime *rt)
{
	for (size_t i = 0; i < rt->n_workers; i++)
		if (!rt->workers[i].slots[0].stream && !hd_worker_is_out(&rt->workers[i]))
			return 0;
	return 1;
}

int hd_expand_is_for(const struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	return !hd_worker_is_out(w) && (!w->slots[0].stream || all_have_streams(w->rt));
}

/* Whether the worker holds no task, so that it may be given a sub-graph to submit. */
static int is_free(const struct hd_worker *w)
{
	return hd_worker_is_attended(w) && w->pipeline && !w->in_flight && !w->held_back && !w->calling &&
	       hd_expand_is_for(w);
}

/* A hungry worker, preferably a worker in main memory. */
static struct hd_worker *find_worker(const heddle_runtime *rt)
{
	struct hd_worker *found = NULL;
	for (struct hd_worker *w = rt->dispatch.hungry; w && (!found || found->node); w = w->hungry_next)
		if ((!found || !w->node) && is_free(w))
			found = w;
	return found;
}

void hd_expand_give(heddle_runtime *rt, struct hd_worker *first)
{
	HD_HELD(&rt->lock);
	if (rt->adapt.decide)
		rt->adapt.decide(rt);
	while (rt->dispatch.unexpanded) {
		struct hd_worker *w = first && is_free(first) ? first : find_worker(rt);
		if (!w || !hd_window_admits_expansion(rt))
			return;
		heddle_task *t = pop(rt);
		t->worker = w->id;
		t->picked = -1; /* the policy does not know the task: hd_sched_knows */
		t->link.u.key = 0;
		hd_core_stage_expansion(w, t);
	}
}

/* --- The submission ----------------------------------------------------------------------------------------------- */

/* Puts the submitted tasks into the graph. */
static void insert_submitted(heddle_runtime *rt, heddle_task *t)
{
	struct hd_task_extra *extra = t->extra;
	struct hd_task_queue all = extra->submitted;
	extra->submitted.first = NULL;
	extra->n_entered = extra->n_submitted;
	while (all.first) {
		heddle_task *child = hd_queue_pop(&all);
		if (all.first)
			hd_task_fetch(all.first);
		extra->n_inside++;
		hd_enter_graph(rt, child);
		if (HD_UNLIKELY(rt->adapt.child_entered != NULL))
			rt->adapt.child_entered(rt, child);
		/* Runs the changes of layouts now, because changes that need no copy end at once, and the tasks behind
		 * them need not wait. */
		if (HD_UNLIKELY(rt->dispatch.controls.first != NULL))
			hd_core_run_controls(rt);
	}
}

void hd_expand_over(heddle_task *t, int status, const struct hd_span *ran)
{
	heddle_runtime *rt = t->codelet->rt;
	HD_HELD(&rt->lock);
	hd_drain(rt);
	rt->dispatch.releaser = (int)t->worker;
	rt->outcome.stats.tasks_expanded++;
	if (HD_UNLIKELY(rt->recorder != NULL))
		hd_record_expansion(rt->recorder, t, ran);
	insert_submitted(rt, t);
	t->extra->is_submitted = 1;
	if (HD_UNLIKELY(rt->adapt.submitted != NULL))
		rt->adapt.submitted(rt, t, status);
	if (HD_LIKELY(!status)) {
		hd_chain_release_markers(t);
		has_left_chains(rt, t);
		return;
	}
	t->status = status;
	t->cancelled = 1;
	hd_core_note_failure(rt, t);
	hd_set_state(t, HD_WAITING);
	hd_chain_resolve(t);
}

void hd_expansion_flush(struct hd_expansion *e)
{
	heddle_task *t = e->task;
	heddle_runtime *rt = t->codelet->rt;
	HD_HELD(&rt->lock);
	hd_core_clock_now(rt);
	hd_drain_all(rt);
	rt->dispatch.releaser = -1;
	insert_submitted(rt, t);
	hd_core_settle(rt);
}

static void flush(struct hd_expansion *e)
{
	heddle_runtime *rt = e->task->codelet->rt;
	hd_core_enter(rt);
	hd_expansion_flush(e);
	hd_core_leave(rt);
}

static __attribute__((cold)) int exceeds(const heddle_task *t, const struct hd_access *cover, const struct hd_access *a)
{
	char name[80], outer[80], title[HD_TITLE];
	hd_data_name_unlocked(a->data, name, sizeof name);
	hd_data_name_unlocked(cover->data, outer, sizeof outer);
	const heddle_task *h = hd_task_inside(t);
	if (a->mode == HEDDLE_REDUX)
		return hd_error(HEDDLE_E_UNSUPPORTED,
		                "%s: REDUX of %s, which %s has: let a task of the sub-graph read and write it",
		                hd_task_name(t), name, hd_task_title(h, title, sizeof title));
	return hd_error(HEDDLE_E_INVALID, "%s: %s of %s, while %s, in whose sub-graph it is, only has %s of %s",
	                hd_task_name(t), hd_mode_name(a->mode), name, hd_task_title(h, title, sizeof title),
	                hd_mode_name(cover->mode), outer);
}

/* Checks that access `a` of `t`, a task of the sub-graph, asks for no more than the mode of the hierarchical task's
 * access that covers it, and records this covering access. If no access covers it, sets *covered to 0. */
static int check_mode(struct hd_expansion *e, heddle_task *t, struct hd_access *a, int *covered)
{
	struct hd_access *cover = hd_chain_cover(e->task, a->data);
	if (!cover) {
		*covered = 0;
		return 0;
	}
	if (!(a->flags & HD_ACCESS_ALIAS))
		a->cover = cover;
	int reads_only = a->mode == HEDDLE_R || a->mode == HEDDLE_SCRATCH;
	if (a->mode == HEDDLE_REDUX || (cover->mode == HEDDLE_SCRATCH && a->mode != HEDDLE_SCRATCH) ||
	    (cover->mode == HEDDLE_R && !reads_only))
		return exceeds(t, cover, a);
	return 0;
}

int hd_expansion_check(struct hd_expansion *e, heddle_task *t)
{
	int covered = 1, status = 0;
	for (uint32_t i = 0; i < t->n_accesses && !status; i++)
		status = check_mode(e, t, &t->accesses[i], &covered);
	if (covered)
		t->special |= HD_TASK_COVERED;
	else
		e->drains = 1;
	return status || !(t->special & HD_TASK_DEEP) ? status : hd_task_check_overlaps(t);
}

const struct hd_access *hd_expansion_cover(const heddle_runtime *rt, const heddle_data *d)
{
	const struct hd_expansion *e = hd_expansion_here(rt);
	return e ? hd_chain_cover(e->task, d) : NULL;
}

void hd_expansion_add(struct hd_expansion *e, heddle_task *t)
{
	struct hd_task_extra *outer = e->task->extra, *extra = t->extra;
	if (extra)
		extra->depth = outer->depth + 1;
	/* Explicit predecessors, and data that no access of the hierarchical task covers, belong to the program. Such a
	 * task enters the graph at once, because another thread may release the predecessor or unregister the datum as
	 * soon as heddle_submit has returned. */
	int follows = extra && extra->before, exposed = follows || !(t->special & HD_TASK_COVERED);
	e->drains |= follows;
	hd_queue_push(&outer->submitted, t);
	outer->n_submitted++;
	int is_due = exposed || outer->n_submitted % MANY == 0;
	if (HD_UNLIKELY(is_due) && (follows || e->task->codelet->rt->engine->runs_kernels))
		flush(e);
}

void hd_expansion_adopt(const struct hd_expansion *e, heddle_task *control)
{
	HD_HELD(&hd_task_runtime(control)->lock);
	control->special |= HD_TASK_INSIDE;
	hd_task_inside_of(control)->task = e->task;
	e->task->extra->n_inside++;
}

void hd_expansion_failed(struct hd_expansion *e, int status)
{
	if (e->status)
		return;
	e->status = status;
	e->message = strdup(heddle_last_error());
}

/* Records why the submission has failed. Returns the task's status. */
static int note_failure(const struct hd_expansion *e, const struct heddle_subgraph *s, const char *said, int returned)
{
	heddle_runtime *rt = e->task->codelet->rt;
	if (!said) /* if the function returns the status of a failed Heddle call, the message of that call says why */
		said = e->message ? e->message : hd_error_status() == returned ? heddle_last_error() : NULL;
	const char *name = s->name ? s->name : "its sub-graph";
	char *text = !returned ? hd_format("%s could not submit a task: %s", name, e->message ? e->message : "")
	             : said    ? hd_format("%s (%s returned %d)", said, name, returned)
	                       : hd_format("%s returned %d", name, returned);
	hd_core_enter(rt);
	if (text)
		hd_task_message(e->task, text);
	hd_task_returned(e->task, returned);
	hd_core_leave(rt);
	free(text);
	return returned ? HEDDLE_E_KERNEL : e->status;
}

int hd_expand_run(struct hd_worker *w, heddle_task *t)
{
	const struct heddle_subgraph *s = &t->codelet->desc.subgraphs[t->extra->subgraph - 1];
	struct hd_expansion e = {.task = t};
	struct hd_inside here = {.rt = w->rt, .what = HD_INSIDE_SUBGRAPH, .depth = (uint16_t)t->depth, .expansion = &e};
	heddle_context c = {.task = t, .worker = w};
	struct hd_submitter *submitter = hd_submitter_inside(w->rt);
	/* the thread's error message, which is restored: the thread may belong to the program */
	struct hd_sentence before;
	int returned = 0;
	hd_error_keep(&before);
	if (HD_UNLIKELY(!submitter)) {
		hd_expansion_failed(&e, HEDDLE_E_MEMORY);
	} else {
		hd_inside_enter(&here);
		hd_error_clear(); /* so that an error found after the call comes from the function */
		returned = s->submit(&c);
		if (e.drains && t->extra->submitted.first)
			flush(&e);
		hd_inside_leave(&here);
		submitter->n_subgraphs--;
	}
	int status = returned || e.status ? note_failure(&e, s, c.message, returned) : 0;
	hd_error_give_back(&before);
	free(c.message);
	free(e.message);
	return status;
}
