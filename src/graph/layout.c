/* Layouts: which handles of a tree have the value of its data.
 *
 * A datum with plans is in one of three states:
 *
 *   whole         its own replicas are the value; everything below it is invalid
 *   shared        its own replicas are the value, and so are the children of the plans that are `active`
 *   scattered     the children of one plan are the value; its own replicas are invalid
 *
 * Each access that comes into force needs a state. It may name the datum (read, change), or lead down through a plan p
 * (read p, change p). The state that it needs, by the state before:
 *
 *              whole          shared                  scattered over p        scattered over q
 *   read       whole          shared                  shared (p)              shared (q)
 *   change     whole          whole                   whole                   whole
 *   read p     shared (p)     shared (p as well)      scattered over p        shared (q, p)
 *   change p   scattered      scattered over p        scattered over p        scattered over p
 *
 * Steps lead from one state to another. Each step is made by the control task of the plan that it concerns. Steps of
 * one datum that exclude each other are made one after the other, and while a step is under way, no further access is
 * granted at the datum. A step holds no place in the datum's chain: the access that waits for the step does, as the
 * first in the queue. In the chains of the children the step has direct accesses, which wait until the children have
 * the right layout themselves; so steps go as deep as needed.
 *
 * Where replicas of children lie in replicas of the datum (windows.h), nothing is copied: splitting the datum copies
 * nothing at all, and the datum is gathered on the node where the fewest bytes are missing. The datum must be allocated
 * in main memory, because children that are not windows go there.
 *
 * A datum can be both poisoned and scattered: it could not be gathered, because a child has no value. Tasks that read
 * the datum are cancelled; tasks that read the other children are not. When a task is about to change a child, the
 * poisoning of the datum ends, because that task may give the child a value.
 *
 * A step can fail, because main memory is full or a copy fails. A failed step has changed nothing: what was the value
 * before still is, and the task for which the step was made gets the error. If that task is a heddle_acquire of the
 * program, it fails, and nothing else happens. If the task was to change the datum, it fails, and the children that
 * could not be gathered are dropped, like the results of any failed task. */
#include "layout.h"
#include <string.h>
#include <heddle/trace.h>
#include "memory/allocation.h"
#include "memory/coherency.h"
#include "memory/transfers.h"
#include "memory/windows.h"
#include "record/record.h"
#include "state/flow_calls.h"
#include "state/memory.h"
#include "state/task_make.h"
#include "state/tree.h"

static struct hd_layout *layout_of(const heddle_data *d)
{
	return d->extra->layout;
}

/* The plan whose step the control task makes. */
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

/* Whether the step uses neither the value nor the memory of the plan's datum. */
static int leaves_datum(const heddle_plan *p, enum hd_step step)
{
	return step == HD_DROP || (step == HD_TO_READ && p->data->replicas[0].ptr);
}

/* The mode of the step's access to the datum. The mode decides what is staged: with W only memory, without a value. */
static unsigned mode_of_datum(const heddle_plan *p, enum hd_step step)
{
	if (leaves_datum(p, step))
		return HEDDLE_R;
	/* Some elements are in several children, which should not copy them to main memory one after the other; or in
	 * no child, so that only the datum's own replicas have them. So the value is brought to main memory first. */
	return step == HD_TO_WRITE && p->irregular && has_value(p->data) ? HEDDLE_RW : HEDDLE_W;
}

/* The mode of the step's accesses to the children; 0: they are not staged, because no task can be using them. */
static unsigned mode_of_children(enum hd_step step)
{
	switch (step) {
	case HD_GATHER: return HEDDLE_R;
	case HD_JOIN: return HEDDLE_RW;
	case HD_DROP: return HEDDLE_W;
	default: return 0;
	}
}

/* Whether `a`, the access that waits for the step, needs its data in main memory. */
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
	t->refs = 2; /* one reference of the graph, one of the plan */
	hd_task_set_access(t, 0, d, mode_of_datum(p, step));
	t->accesses[0].flags = HD_ACCESS_UNCHAINED | (leaves_datum(p, step) ? HD_ACCESS_LATE : 0);
	for (uint32_t i = 1; i < t->n_accesses; i++) {
		hd_task_set_access(t, i, p->children[i - 1], mode);
		t->accesses[i].flags = HD_ACCESS_LOCAL;
	}
	hd_insert_own(d->rt, t);
}

/* Begins a step for the access `a`. But if the last step of the plan was made for the task of `a` and has failed, the
 * task of `a` fails instead. The failed step may also have been made for another access: one that `a` has overtaken,
 * because `a` belongs to a sub-graph, or one that was given up. Such a failure does not matter to `a`. */
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

/* Whether no datum changes if the access's task fails: the task is a heddle_acquire, or a step. */
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

/* Begins to drop the children of the active plans except `kept`, for the access `a`. Returns whether there are any. */
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

/* The plan over which `d` is scattered: its children are the value. NULL: the own replicas of `d` are the value. */
static const heddle_plan *scattered_over(const heddle_data *d)
{
	const struct hd_layout *l = hd_data_layout(d);
	return l ? l->scattered : NULL;
}

/* The first poisoned datum among the children of `p`, or below a child that is itself scattered; NULL: none. */
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

/* Called before the children of `p` are dropped without being gathered: poisons `d` if one of them is poisoned. */
static void judge(heddle_data *d, const heddle_plan *p)
{
	const heddle_data *bad = d->poisoned ? NULL : find_poisoned(p);
	if (bad)
		hd_data_spoil(d, bad->extra && bad->extra->cause ? hd_format("%s", bad->extra->cause) : NULL);
}

/* Makes the datum whole, for the access `a`. `value`: 1 if the value of the datum must be kept. */
static enum hd_turn make_whole(heddle_data *d, struct hd_layout *l, int value, struct hd_access *a)
{
	if (l->scattered && is_harmless(a) && hd_access_task(a)->cancelled) {
		a->mode = HEDDLE_R; /* another datum of the task could not be gathered: the task changes nothing */
		return HD_TURN_STOP;
	}
	if (l->scattered && value) {
		enum hd_turn turn = d->poisoned ? HD_TURN_STOP : begin_or_fail(l->scattered, HD_JOIN, a);
		if (turn == HD_TURN_LATER)
			return turn;
		if (is_harmless(a)) {
			a->mode = HEDDLE_R; /* the task will not change the datum, so the layout stays */
			return turn;
		}
	}
	if (l->scattered)
		judge(d, l->scattered);
	return drop_others(d, l, NULL, a) ? HD_TURN_LATER : HD_TURN_NOW;
}

/* Whether some child of `p` has never had a value, or, if that child is scattered, some datum below it. */
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

/* Whether the value of `d` must be gathered for the access `a`, which changes `d`. */
static int needs_value(const heddle_data *d, const struct hd_layout *l, const struct hd_access *a)
{
	const heddle_task *t = hd_access_task(a);
	if (a->mode == HEDDLE_W || t->cancelled)
		return 0;
	if (t->kind == HD_TASK_UNREGISTER && !d->replicas[0].user_buffer)
		return 0; /* `d` has no buffer of the program: its value ends with it */
	return t->kind != HD_TASK_UNPLAN || !l->scattered || !is_incomplete(l->scattered);
}

/* Whether the access belongs to the control task that ends a plan, and the children of another plan are the value: then
 * they stay the value, and the step that the ended plan would need is skipped. The ended plan is a plan of this datum,
 * or lies below the plan `through`. Mode R means that this was found already at a handle further up. */
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

/* Cancels the task, because it needs a value and the datum has none. */
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
		hd_layout_heal(d); /* the changed child may get a value, and then the datum can be gathered again */
		return HD_TURN_NOW;
	}
	if (l->scattered && !d->poisoned) {
		enum hd_turn turn = begin_or_fail(l->scattered, HD_JOIN, a);
		if (turn == HD_TURN_LATER || is_harmless(a))
			return turn;
		/* the values of the other plan's children are lost */
		hd_data_spoil(d, hd_task_blame(hd_access_task(a)));
	} else if (l->scattered && is_harmless(a) && a->mode != HEDDLE_W) {
		return cancel(d, a);
	}
	return drop_others(d, l, p, a) ? HD_TURN_LATER : begin_or_fail(p, HD_TO_WRITE, a);
}

/* 1 + the id of the task for which an access of `t` gets its steps; 0: it is the program. If `t` itself makes a step,
 * its accesses get theirs for the task that needs the step of `t`. */
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

/* Makes the children of `p` usable: each child has the value of the datum then, or is poisoned if the datum is. */
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

/* Makes all replicas of `d` invalid. The caller has made sure that no task and no transfer uses `d`. */
static void forget_copies(heddle_data *d)
{
	hd_adapt_replaced(&d->rt->adapt, d, SIZE_MAX);
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

/* Ends a step HD_TO_READ or HD_TO_WRITE: the children of the plan can be read from now on; after HD_TO_WRITE the
 * children are the value and can be changed. */
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

/* Ends a step HD_GATHER or HD_JOIN, after the children were brought together: the datum is the value again. */
static void join(heddle_plan *p)
{
	struct hd_layout *l = layout_of(p->data);
	if (p->step == HD_JOIN)
		deactivate(p);
	l->scattered = NULL;
	if (p->step == HD_GATHER)
		hd_windows_settle(p);
}

/* Completes a step that has succeeded. */
static void apply(heddle_plan *p, heddle_task *t)
{
	static const enum heddle_layout_step steps[] = {[HD_TO_READ] = HEDDLE_LAYOUT_READ,
	                                                [HD_TO_WRITE] = HEDDLE_LAYOUT_WRITE,
	                                                [HD_GATHER] = HEDDLE_LAYOUT_GATHER,
	                                                [HD_JOIN] = HEDDLE_LAYOUT_JOIN};
	heddle_data *d = p->data;
	if (p->step == HD_GATHER || p->step == HD_JOIN)
		hd_windows_gather(p);
	/* only unpins the replicas: without HD_TASK_BEGUN it changes no validity; the switch below does */
	hd_stage_end(t, hd_task_node(d->rt, t));
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

/* Whether the step must be staged again, in main memory: the node on which it was staged is lost; or a child that is in
 * use in main memory would become a part of a replica that is invalid there. */
static int must_move(const heddle_plan *p, const heddle_task *t)
{
	unsigned node = hd_task_node(p->data->rt, t);
	if (!node)
		return 0;
	return p->data->rt->memories[node].lost || (!t->status && !t->cancelled && hd_windows_used_at_home(p));
}

/* Notes that the step has failed, for the task that asked for it. The end of a failed step must poison nothing, because
 * the datum and its children are what they were: so the step's accesses become reads. Exception: if children were
 * gathered and one of them has no value, the access to the datum stays a write, whose end poisons the datum. */
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
