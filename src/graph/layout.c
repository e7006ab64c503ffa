/* Layouts: which handles of a tree have the value of its data.
 *
 * A datum with plans is in one of three states:
 *
 *   whole         its own copies are the value; what lies below it is void
 *   shared        its own copies are the value, and so are the children of the plans that are `active`
 *   scattered     the children of one plan are the value; its own copies are void
 *
 * Each access that comes into force needs a state. It may name the datum (read, change), or go down through a plan p
 * (read p, change p):
 *
 *              whole          shared                  scattered over p        scattered over q
 *   read       whole          shared                  shared (p)              shared (q)
 *   change     whole          whole                   whole                   whole
 *   read p     shared (p)     shared (p as well)      scattered over p        shared (q, p)
 *   change p   scattered      scattered over p        scattered over p        scattered over p
 *
 * What leads there are steps. Each is a control of the plan that it concerns. Steps of one datum that exclude each
 * other follow each other, and while one is under way nothing more is granted at the datum. A step holds no place in
 * the datum's chain: the access that waits for it does, as the first in the queue. In the chains of the children it has
 * direct accesses, which wait until these have the right layout themselves; so steps go as deep as is needed.
 *
 * Where copies of children lie in copies of the datum (windows.h), nothing is copied: to split the datum takes no
 * copies at all, and it is gathered where the fewest bytes are missing. There must be memory for it in main memory,
 * since that is where the children go otherwise.
 *
 * A datum that is poisoned, and scattered: it could not be gathered, since a child has no value. Tasks that read it are
 * cancelled; those that read the other children are not. When a task is about to change a child that is forgotten: the
 * child may be healed.
 *
 * A step can fail, for lack of main memory or because a copy fails. It has changed nothing then: what had the value
 * before has it still, and the task that the step was made for is told. If that is an access of the program
 * (heddle_acquire) it fails, and that is all. If it is a task that was to change the datum, which fails now, the pieces
 * that could not be brought together are dropped, as those that the task has not changed as it should. */
#include <string.h>
#include <heddle/trace.h>
#include "layout.h"
#include "memory/allocation.h"
#include "memory/coherency.h"
#include "memory/transfers.h"
#include "memory/windows.h"
#include "record/record.h"
#include "state/task_make.h"
#include "state/tree.h"
#include "state/memory.h"
#include "state/flow_calls.h"

static struct hd_layout *layout_of(const heddle_data *d)
{
	return d->extra->layout;
}

/* The plan whose step is made by the control. */
static heddle_plan *plan_of(const heddle_task *t)
{
	heddle_plan *p = layout_of(t->accesses[0].data)->plans;
	while (p->task != t)
		p = p->next;
	return p;
}

/* --- The beginning of a step -------------------------------------------------------------------------------------- */

static int has_value(const heddle_data *d)
{
	return d->n_valid && !d->poisoned;
}

/* Whether the step needs nothing of the datum, nor of its memory. */
static int leaves_datum(const heddle_plan *p, enum hd_step step)
{
	return step == HD_DROP || (step == HD_TO_READ && p->data->replicas[0].ptr);
}

/* The mode of the step's access to the datum, which says what is staged: with W only memory. */
static unsigned mode_of_datum(const heddle_plan *p, enum hd_step step)
{
	if (leaves_datum(p, step))
		return HEDDLE_R;
	/* What is in several children is not copied to main memory with each of them, and what is in none is to stay
	 * there. */
	return step == HD_TO_WRITE && p->irregular && has_value(p->data) ? HEDDLE_RW : HEDDLE_W;
}

/* The mode of the step's accesses to the children; 0: they are not staged, because nobody can be using them. */
static unsigned mode_of_children(enum hd_step step)
{
	switch (step) {
	case HD_GATHER: return HEDDLE_R;
	case HD_JOIN: return HEDDLE_RW;
	case HD_DROP: return HEDDLE_W;
	default: return 0;
	}
}

/* Whether the access that waits for a step needs its data in main memory. */
static int goes_home(const struct hd_access *a)
{
	const heddle_task *t = hd_access_task(a);
	const heddle_runtime *rt = a->data->rt;
	if (!t->codelet)
		return t->kind == HD_TASK_ACQUIRE || t->kind == HD_TASK_UNREGISTER ||
		       (t->kind == HD_TASK_UNPARTITION && a->data->plan->home);
	int elsewhere = t->only_worker && rt->workers[t->only_worker - 1].node;
	for (size_t n = 1; !t->only_worker && n < rt->n_nodes; n++)
		elsewhere |= t->codelet->class_ok[rt->workers[rt->node_worker[n]].class_id];
	return !elsewhere;
}

/* Begins a step that the access `a` needs. */
static void begin(heddle_plan *p, enum hd_step step, const struct hd_access *a)
{
	heddle_data *d = p->data;
	unsigned mode = mode_of_children(step);
	heddle_task *t = p->task;
	layout_of(d)->n_steps++;
	p->step = (uint8_t)step;
	p->asker = hd_access_task(a)->order;
	p->home = (uint8_t)goes_home(a);
	hd_control_renew(t, step == HD_TO_READ || step == HD_TO_WRITE ? HD_TASK_PARTITION : HD_TASK_UNPARTITION,
	                 mode ? 1 + p->n_children : 1);
	t->refs = 2; /* the graph's and the plan's */
	hd_task_set_access(t, 0, d, mode_of_datum(p, step));
	t->accesses[0].flags = HD_ACCESS_UNCHAINED | (leaves_datum(p, step) ? HD_ACCESS_LATE : 0);
	for (uint32_t i = 1; i < t->n_accesses; i++) {
		hd_task_set_access(t, i, p->children[i - 1], mode);
		t->accesses[i].flags = HD_ACCESS_LOCAL;
	}
	d->rt->flow->insert(d->rt, t);
}

/* Begins a step that the access needs, unless the last such step was made for the same access and has failed: then its
 * task fails. A failed step may have been made for another access: for one that this one has come in front of, because
 * it belongs to a sub-graph, or for one that was given up. That does not concern this one. */
static enum hd_turn begin_or_fail(heddle_plan *p, enum hd_step step, const struct hd_access *a)
{
	heddle_task *t = hd_access_task(a);
	char why[HD_REASON];
	int failed = p->failed;
	p->failed = 0;
	if (HD_LIKELY(!failed || p->asker != t->order)) {
		begin(p, step, a);
		return HD_TURN_LATER;
	}
	if (!t->status) {
		t->status = failed;
		hd_task_message(t, hd_task_reason(p->task, why, sizeof why));
	}
	t->cancelled = 1;
	return HD_TURN_STOP;
}

/* Whether the access changes nothing if its task fails: it is the program's own, or that of a step. */
static int is_harmless(const struct hd_access *a)
{
	const heddle_task *t = hd_access_task(a);
	return t->kind == HD_TASK_ACQUIRE || t->kind == HD_TASK_UNPARTITION;
}

static void record(const heddle_data *d, const heddle_plan *p, enum heddle_layout_step step)
{
	if (d->rt->recorder)
		hd_record_layout(d->rt->recorder, d, p, (int)step, layout_of(d)->asked_by);
}

/* Drops the children of all plans but one, for `a`. Returns whether there were any. */
static int drop_others(const heddle_data *d, const struct hd_layout *l, const heddle_plan *kept,
                       const struct hd_access *a)
{
	int any = 0;
	for (heddle_plan *p = l->plans; p; p = p->next) {
		if (!p->active || p == kept)
			continue;
		begin(p, HD_DROP, a);
		any = 1;
	}
	if (any)
		record(d, NULL, HEDDLE_LAYOUT_JOIN);
	return any;
}

/* --- What an access needs ----------------------------------------------------------------------------------------- */

/* The plan whose children are the value; NULL: the datum itself is. */
static const heddle_plan *scattered_over(const heddle_data *d)
{
	const struct hd_layout *l = hd_data_layout(d);
	return l ? l->scattered : NULL;
}

/* A child that is poisoned, or lies below such a one; NULL: there is none. */
static const heddle_data *find_poisoned(const heddle_plan *p)
{
	const heddle_data *found = NULL;
	for (size_t i = 0; i < p->n_children && !found; i++) {
		const heddle_data *child = p->children[i];
		const heddle_plan *below = scattered_over(child);
		found = child->poisoned ? child : below ? find_poisoned(below) : NULL;
	}
	return found;
}

/* The pieces are about to be dropped, which need not be gathered: if one is poisoned, so is the whole. */
static void judge(heddle_data *d, const heddle_plan *p)
{
	const heddle_data *bad = d->poisoned ? NULL : find_poisoned(p);
	if (bad)
		hd_data_spoil(d, bad->extra && bad->extra->cause ? hd_format("%s", bad->extra->cause) : NULL);
}

/* Makes the datum whole, for `a`; `value`: with the value that it has. */
static enum hd_turn make_whole(heddle_data *d, struct hd_layout *l, int value, struct hd_access *a)
{
	if (l->scattered && is_harmless(a) && hd_access_task(a)->cancelled) {
		a->mode = HEDDLE_R; /* another of its data could not be gathered: it changes nothing */
		return HD_TURN_STOP;
	}
	if (l->scattered && value) {
		enum hd_turn turn = d->poisoned ? HD_TURN_STOP : begin_or_fail(l->scattered, HD_JOIN, a);
		if (turn == HD_TURN_LATER)
			return turn;
		if (is_harmless(a)) {
			a->mode = HEDDLE_R; /* it will not change the datum, which stays as it is */
			return turn;
		}
	}
	if (l->scattered)
		judge(d, l->scattered);
	return drop_others(d, l, NULL, a) ? HD_TURN_LATER : HD_TURN_NOW;
}

/* Whether some child has never had a value. */
static int is_incomplete(const heddle_plan *p)
{
	for (size_t i = 0; i < p->n_children; i++) {
		const heddle_data *child = p->children[i];
		const heddle_plan *below = scattered_over(child);
		if (below ? is_incomplete(below) : !child->n_valid && !child->poisoned)
			return 1;
	}
	return 0;
}

/* Whether the value must be gathered for a task that changes the datum. */
static int needs_value(const heddle_data *d, const struct hd_layout *l, const struct hd_access *a)
{
	const heddle_task *t = hd_access_task(a);
	if (a->mode == HEDDLE_W || t->cancelled)
		return 0;
	if (t->kind == HD_TASK_UNREGISTER && !d->replicas[0].user_buffer)
		return 0; /* a temporary, which ends */
	return t->kind != HD_TASK_UNPLAN || !l->scattered || !is_incomplete(l->scattered);
}

/* Whether the access ends a plan, of this datum or below the plan `through`, and another plan's children are the value,
 * here or, as the mode then says, further up: those stay, and nothing is done that the ended plan would need. */
static int ends_unused_plan(const struct hd_layout *l, const struct hd_access *a, const heddle_plan *through)
{
	const heddle_task *t = hd_access_task(a);
	if (t->kind != HD_TASK_UNPLAN)
		return 0;
	return a->mode == HEDDLE_R || (l->scattered && (through ? l->scattered != through : l->scattered->end != t));
}

static enum hd_turn read_whole(const heddle_data *d, struct hd_layout *l, const struct hd_access *a)
{
	return l->scattered && !d->poisoned ? begin_or_fail(l->scattered, HD_GATHER, a) : HD_TURN_NOW;
}

/* The task needs a value that there is not. */
static enum hd_turn cancel(heddle_data *d, struct hd_access *a)
{
	hd_task_cancel(hd_access_task(a), d->extra->cause);
	return HD_TURN_STOP;
}

static enum hd_turn read_through(heddle_data *d, struct hd_layout *l, heddle_plan *p, struct hd_access *a)
{
	if (l->scattered == p)
		return HD_TURN_NOW;
	if (d->poisoned)
		return cancel(d, a);
	if (!l->scattered)
		return p->active ? HD_TURN_NOW : begin_or_fail(p, HD_TO_READ, a);
	return begin_or_fail(l->scattered, HD_GATHER, a);
}

void hd_layout_heal(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	if (!layout_of(d)->scattered->lacks)
		hd_data_heal(d);
}

static enum hd_turn change_through(heddle_data *d, struct hd_layout *l, heddle_plan *p, struct hd_access *a)
{
	if (l->scattered == p) {
		hd_layout_heal(d); /* whether the datum can be gathered will have to be found out again */
		return HD_TURN_NOW;
	}
	if (l->scattered && !d->poisoned) {
		enum hd_turn turn = begin_or_fail(l->scattered, HD_JOIN, a);
		if (turn == HD_TURN_LATER || is_harmless(a))
			return turn;
		hd_data_spoil(d, hd_task_blame(hd_access_task(a))); /* of its other pieces nothing will be left */
	} else if (l->scattered && is_harmless(a) && a->mode != HEDDLE_W) {
		return cancel(d, a);
	}
	return drop_others(d, l, p, a) ? HD_TURN_LATER : begin_or_fail(p, HD_TO_WRITE, a);
}

/* 1 + the id of the task that a step is made for; 0: it is made for the program. A step below another one is made for
 * the same task. */
static uint64_t asker(const heddle_task *t)
{
	const heddle_data *d =
	    t->kind == HD_TASK_PARTITION || t->kind == HD_TASK_UNPARTITION ? t->accesses[0].data : NULL;
	if (d && hd_data_layout(d))
		return layout_of(d)->asked_by;
	return t->kind == HD_TASK_CODELET ? 1 + t->order : 0;
}

enum hd_turn hd_layout_admit(heddle_data *d, struct hd_access *a)
{
	HD_HELD(&d->rt->lock);
	struct hd_layout *l = layout_of(d);
	int changes = (a->flags & HD_ACCESS_CHANGES) != 0;
	if (l->n_steps)
		return HD_TURN_LATER;
	l->asked_by = asker(hd_access_task(a));
	if (a->mode == HEDDLE_SCRATCH)
		return HD_TURN_NOW;
	heddle_plan *through = a->data == d ? NULL : hd_data_towards(d, a->data)->plan;
	if (ends_unused_plan(l, a, through)) {
		a->mode = HEDDLE_R;
		return HD_TURN_NOW;
	}
	if (!through)
		return changes ? make_whole(d, l, needs_value(d, l, a), a) : read_whole(d, l, a);
	return changes ? change_through(d, l, through, a) : read_through(d, l, through, a);
}

/* --- The end of a step -------------------------------------------------------------------------------------------- */

unsigned hd_layout_node(const heddle_task *t)
{
	const heddle_data *d = t->accesses[0].data;
	const heddle_runtime *rt = d->rt;
	HD_HELD(&d->rt->lock);
	const heddle_plan *p = plan_of(t);
	unsigned best = 0;
	uint64_t fewest = hd_windows_missing(p, 0);
	for (unsigned n = 1; p->step != HD_DROP && !p->home && !p->irregular && n < rt->n_nodes; n++) {
		uint64_t bytes = rt->memories[n].lost ? UINT64_MAX : hd_windows_missing(p, n);
		if (bytes > fewest || (bytes == fewest && best))
			continue;
		fewest = bytes;
		best = n;
	}
	return best;
}

/* Lets the children be used. They have the value that the datum has, or none if it has none. */
static void activate(heddle_plan *p)
{
	heddle_data *d = p->data;
	const char *cause = d->poisoned && d->extra->cause ? d->extra->cause : NULL;
	hd_plan_place(p);
	for (size_t i = 0; i < p->n_children; i++) {
		heddle_data *child = p->children[i];
		hd_data_heal(child);
		if (HD_UNLIKELY(d->poisoned))
			hd_data_spoil(child, cause ? hd_format("%s", cause) : NULL);
	}
	p->active = 1;
}

/* Makes all copies of a datum void. Nobody uses it, and no transfer of it is under way. */
static void forget_copies(heddle_data *d)
{
	if (HD_UNLIKELY(d->rt->adapt.replaced != NULL))
		d->rt->adapt.replaced(d, SIZE_MAX);
	for (size_t i = 0; i < d->rt->n_nodes; i++) {
		struct hd_replica *r = &d->replicas[i];
		hd_prefetch_forget(r);
		hd_replica_set_valid(r, 0);
		if (i && r->ptr && !r->pins)
			hd_memory_free(r);
	}
}

static void deactivate(heddle_plan *p)
{
	for (size_t i = 0; i < p->n_children; i++)
		forget_copies(p->children[i]);
	p->active = 0;
}

/* The children of the plan can be used from now on: also to be changed, if that is the step. */
static void split(heddle_plan *p)
{
	heddle_data *d = p->data;
	if (!p->active)
		activate(p);
	for (size_t n = 0; has_value(d) && n < d->rt->n_nodes; n++)
		if (d->replicas[n].valid)
			hd_windows_follow(&d->replicas[n]);
	if (p->step != HD_TO_WRITE)
		return;
	layout_of(d)->scattered = p;
	p->lacks = p->irregular && d->poisoned;
	hd_windows_scatter(p);
}

/* The children of the plan, which have come together, are the value no longer. */
static void join(heddle_plan *p)
{
	struct hd_layout *l = layout_of(p->data);
	if (p->step == HD_JOIN)
		deactivate(p);
	l->scattered = NULL;
	if (p->step == HD_GATHER)
		hd_windows_settle(p);
}

/* The step has not failed. */
static void apply(heddle_plan *p, heddle_task *t)
{
	static const enum heddle_layout_step steps[] = {[HD_TO_READ] = HEDDLE_LAYOUT_READ,
	                                                [HD_TO_WRITE] = HEDDLE_LAYOUT_WRITE,
	                                                [HD_GATHER] = HEDDLE_LAYOUT_GATHER,
	                                                [HD_JOIN] = HEDDLE_LAYOUT_JOIN};
	heddle_data *d = p->data;
	if (p->step == HD_GATHER || p->step == HD_JOIN)
		hd_windows_gather(p);
	hd_stage_end(t, hd_task_node(d->rt, t)); /* it has not begun: what is valid is said here */
	switch ((enum hd_step)p->step) {
	case HD_TO_READ:
	case HD_TO_WRITE: split(p); break;
	case HD_GATHER:
	case HD_JOIN: join(p); break;
	default: deactivate(p); layout_of(d)->scattered = NULL;
	}
	if (p->step != HD_DROP)
		record(d, p, steps[p->step]);
}

/* Whether the step must be staged again, in main memory: the node where it was is lost; or a child is used in main
 * memory that would be a part of a void copy there. */
static int must_move(const heddle_plan *p, const heddle_task *t)
{
	unsigned node = hd_task_node(p->data->rt, t);
	if (!node)
		return 0;
	return p->data->rt->memories[node].lost || (!t->status && !t->cancelled && hd_windows_used_at_home(p));
}

/* Notes whether the step has failed, for the task that it was made for, and lets its end spoil nothing: the datum and
 * its children are what they were. But if one of the children has no value, neither has the whole. */
static void note_failure(heddle_plan *p, heddle_task *t)
{
	if (p->step == HD_DROP)
		return;
	p->failed = t->status;
	for (uint32_t i = t->status || p->step == HD_TO_READ || p->step == HD_TO_WRITE ? 0 : 1; i < t->n_accesses; i++)
		t->accesses[i].mode = HEDDLE_R;
}

int hd_layout_step(heddle_task *t)
{
	heddle_data *d = t->accesses[0].data;
	HD_HELD(&d->rt->lock);
	struct hd_layout *l = layout_of(d);
	heddle_plan *p = plan_of(t);
	if (HD_UNLIKELY(must_move(p, t))) {
		hd_stage_end(t, hd_task_node(d->rt, t));
		t->status = 0;
		p->home = 1;
		return HEDDLE_PENDING;
	}
	if (!t->status && !t->cancelled)
		apply(p, t);
	else
		hd_stage_end(t, hd_task_node(d->rt, t));
	note_failure(p, t);
	p->step = HD_NO_STEP;
	d->rt->flow->end(d->rt, t, 0);
	if (--l->n_steps == 0)
		hd_chain_advance(d);
	return 0;
}
