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
 * In main memory children are windows of the datum's buffer. Elsewhere they have dense copies of their own.
 *
 * A datum that is poisoned, and scattered: it could not be gathered, since a child has no value. Tasks that read it are
 * cancelled; those that read the other children are not. When a task is about to change a child that is forgotten: the
 * child may be healed. */
#include <string.h>
#include <heddle/trace.h>
#include "core/runtime.h"
#include "misuse/misuse.h"

static struct hd_layout *layout_of(const heddle_data *d)
{
	return d->extra->layout;
}

/* --- The beginning of a step -------------------------------------------------------------------------------------- */

/* The mode of the step's access to the datum, which says what is staged in main memory. */
static unsigned mode_of_datum(const heddle_plan *p, enum hd_step step)
{
	const heddle_data *d = p->data;
	int has_value = d->n_valid != 0 && !d->poisoned && !p->active;
	switch (step) {
	case HD_TO_READ: return d->n_valid ? HEDDLE_R : HEDDLE_W;
	case HD_TO_WRITE: return has_value ? HEDDLE_RW : HEDDLE_W;
	case HD_DROP: return HEDDLE_R; /* it is not staged */
	default: return HEDDLE_W;
	}
}

/* The same for the children; 0: they are not staged, because nobody can be using them. */
static unsigned mode_of_children(enum hd_step step)
{
	switch (step) {
	case HD_GATHER: return HEDDLE_R;
	case HD_JOIN: return HEDDLE_RW;
	case HD_DROP: return HEDDLE_W;
	default: return 0;
	}
}

static void begin(heddle_plan *p, enum hd_step step)
{
	heddle_data *d = p->data;
	unsigned mode = mode_of_children(step);
	heddle_task *t = p->task;
	layout_of(d)->n_steps++;
	p->step = (uint8_t)step;
	hd_control_renew(t, step == HD_TO_READ || step == HD_TO_WRITE ? HD_TASK_PARTITION : HD_TASK_UNPARTITION,
	                 mode ? 1 + p->n_children : 1);
	t->refs = 2; /* the graph's and the plan's */
	hd_task_set_access(t, 0, d, mode_of_datum(p, step));
	t->accesses[0].flags = HD_ACCESS_UNCHAINED | (step == HD_DROP ? HD_ACCESS_LATE : 0);
	for (uint32_t i = 1; i < t->n_accesses; i++) {
		hd_task_set_access(t, i, p->children[i - 1], mode);
		t->accesses[i].flags = HD_ACCESS_LOCAL;
	}
	hd_core_insert(d->rt, t);
}

static void record(const heddle_data *d, const heddle_plan *p, enum heddle_layout_step step)
{
	if (d->rt->recorder)
		hd_record_layout(d->rt->recorder, d, p, (int)step, layout_of(d)->asked_by);
}

/* Drops the children of all plans but one. Returns whether there were any. */
static int drop_others(const heddle_data *d, const struct hd_layout *l, const heddle_plan *kept)
{
	int any = 0;
	for (heddle_plan *p = l->plans; p; p = p->next) {
		if (!p->active || p == kept)
			continue;
		begin(p, HD_DROP);
		any = 1;
	}
	if (any)
		record(d, NULL, HEDDLE_LAYOUT_JOIN);
	return any;
}

/* --- What an access needs ----------------------------------------------------------------------------------------- */

/* A child that is poisoned, or lies below such a one; NULL: there is none. */
static const heddle_data *find_poisoned(const heddle_plan *p)
{
	const heddle_data *found = NULL;
	for (size_t i = 0; i < p->n_children && !found; i++) {
		const heddle_data *child = p->children[i];
		const heddle_plan *below = child->extra && child->extra->layout ? layout_of(child)->scattered : NULL;
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

/* Makes the datum whole; `value`: with the value that it has. */
static enum hd_turn make_whole(heddle_data *d, struct hd_layout *l, int value)
{
	if (l->scattered && value && !d->poisoned) {
		begin(l->scattered, HD_JOIN);
		return HD_TURN_LATER;
	}
	if (l->scattered)
		judge(d, l->scattered);
	return drop_others(d, l, NULL) ? HD_TURN_LATER : HD_TURN_NOW;
}

/* Whether some child has never had a value. */
static int is_incomplete(const heddle_plan *p)
{
	for (size_t i = 0; i < p->n_children; i++) {
		const heddle_data *child = p->children[i];
		const heddle_plan *below = child->extra && child->extra->layout ? layout_of(child)->scattered : NULL;
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

static enum hd_turn read_whole(const heddle_data *d, struct hd_layout *l)
{
	if (!l->scattered || d->poisoned)
		return HD_TURN_NOW;
	begin(l->scattered, HD_GATHER);
	return HD_TURN_LATER;
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
	if (l->scattered)
		begin(l->scattered, HD_GATHER);
	else if (p->active)
		return HD_TURN_NOW;
	else
		begin(p, HD_TO_READ);
	return HD_TURN_LATER;
}

static enum hd_turn change_through(heddle_data *d, struct hd_layout *l, heddle_plan *p)
{
	if (l->scattered == p) {
		d->poisoned = 0; /* whether the datum can be gathered will have to be found out again */
		return HD_TURN_NOW;
	}
	if (l->scattered && !d->poisoned)
		begin(l->scattered, HD_JOIN);
	else if (!drop_others(d, l, p))
		begin(p, HD_TO_WRITE);
	return HD_TURN_LATER;
}

/* The last step has failed: the task cannot have what it needs. */
static enum hd_turn fail(struct hd_layout *l, struct hd_access *a)
{
	heddle_task *t = hd_access_task(a);
	if (!t->status)
		t->status = l->failed;
	t->cancelled = 1;
	l->failed = 0;
	return HD_TURN_STOP;
}

/* 1 + the id of the task that a step is made for; 0: it is made for the program. A step below another one is made for
 * the same task. */
static uint64_t asker(const heddle_task *t)
{
	const heddle_data *d =
	    t->kind == HD_TASK_PARTITION || t->kind == HD_TASK_UNPARTITION ? t->accesses[0].data : NULL;
	if (d && d->extra && d->extra->layout)
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
	if (a->data == d)
		return changes ? make_whole(d, l, needs_value(d, l, a)) : read_whole(d, l);
	if (HD_UNLIKELY(l->failed))
		return fail(l, a);
	heddle_data *child = a->data;
	while (child->plan->data != d)
		child = child->plan->data;
	return changes ? change_through(d, l, child->plan) : read_through(d, l, child->plan, a);
}

/* --- The end of a step -------------------------------------------------------------------------------------------- */

/* Makes a child a window of the datum's buffer in main memory. */
static void place(const heddle_plan *p, size_t i, const struct heddle_part *whole)
{
	heddle_data *child = p->children[i];
	struct hd_replica *home = &child->replicas[0];
	size_t offset = 0;
	for (unsigned dim = 0; dim < whole->n_dims; dim++)
		offset += p->windows[i].offset[dim] * whole->stride[dim];
	home->ptr = (char *)whole->base + offset * whole->elem_size;
	home->user_buffer = 1;
	if (HD_UNLIKELY(child->rt->misuse != NULL))
		hd_misuse_registered(child);
	child->part.base = home->ptr;
	memcpy(child->part.stride, whole->stride, sizeof whole->stride);
}

void hd_plan_place(const heddle_plan *p)
{
	const heddle_data *d = p->data;
	HD_HELD(&d->rt->lock);
	struct heddle_part whole;
	if (!d->replicas[0].ptr)
		return;
	hd_data_part_at(d, &d->replicas[0], 0, &whole);
	for (size_t i = 0; i < p->n_children; i++)
		place(p, i, &whole);
}

/* Gives the children the value that the datum has, or none if it has none. */
static void activate(heddle_plan *p, int value)
{
	heddle_data *d = p->data;
	const char *cause = d->poisoned && d->extra->cause ? d->extra->cause : NULL;
	hd_plan_place(p);
	for (size_t i = 0; i < p->n_children; i++) {
		heddle_data *child = p->children[i];
		hd_replica_set_valid(&child->replicas[0], value);
		child->poisoned = 0;
		if (HD_UNLIKELY(d->poisoned))
			hd_data_spoil(child, cause ? hd_format("%s", cause) : NULL);
	}
	p->active = 1;
}

/* Makes all copies of a datum void. Nobody uses it, and no transfer of it is under way. */
static void forget_copies(heddle_data *d)
{
	if (HD_UNLIKELY(d->rt->next_use))
		hd_trial_replaced(d, SIZE_MAX);
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

/* The step has not failed. */
static void apply(heddle_plan *p, heddle_task *t)
{
	static const enum heddle_layout_step steps[] = {[HD_TO_READ] = HEDDLE_LAYOUT_READ,
	                                                [HD_TO_WRITE] = HEDDLE_LAYOUT_WRITE,
	                                                [HD_GATHER] = HEDDLE_LAYOUT_GATHER,
	                                                [HD_JOIN] = HEDDLE_LAYOUT_JOIN};
	heddle_data *d = p->data;
	struct hd_layout *l = layout_of(d);
	int value = d->replicas[0].valid && t->accesses[0].mode != HEDDLE_W;
	if (p->step == HD_TO_READ || (p->step == HD_TO_WRITE && !p->active))
		activate(p, value);
	if (p->step != HD_DROP)
		hd_stage_begin(t);
	hd_stage_end(t, 0);
	if (p->step == HD_JOIN || p->step == HD_DROP)
		deactivate(p);
	if (p->step == HD_TO_WRITE || (p->step == HD_TO_READ && !value))
		hd_replica_set_valid(&d->replicas[0], 0);
	l->scattered = p->step == HD_TO_WRITE ? p : NULL;
	if (p->step != HD_DROP)
		record(d, p, steps[p->step]);
}

void hd_layout_step(heddle_task *t)
{
	heddle_data *d = t->accesses[0].data;
	HD_HELD(&d->rt->lock);
	struct hd_layout *l = layout_of(d);
	heddle_plan *p = l->plans;
	while (p->task != t)
		p = p->next;
	if (!t->status && !t->cancelled)
		apply(p, t);
	else
		hd_stage_end(t, 0);
	if (t->status && (p->step == HD_TO_READ || p->step == HD_TO_WRITE))
		l->failed = t->status;
	p->step = HD_NO_STEP;
	hd_core_end(d->rt, t, 0);
	if (--l->n_steps == 0)
		hd_core_advance(d);
}
