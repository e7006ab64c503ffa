/* SCRATCH and REDUX: private copies per slot of a worker, and how a reduction is completed.
 *
 * The last accesses of a chain may be REDUX: then the datum has an open reduction. When another mode follows, the
 * reduction is closed: a REDUCE task is put into the access chain. When all contributions have ended, REDUCE makes one
 * task per private copy, which adds the copy to the result. These tasks run one after the other; they use the datum
 * through REDUCE's access. If the datum had a value before the reduction, that value is part of the result.
 */
#include "scratch_redux.h"
#include <stdlib.h>
#include "memory/handle_end.h"
#include "memory/lost_memory.h"
#include "state/data.h"
#include "state/flow_calls.h"
#include "state/task_make.h"
#include "state/task_pool.h"
#include "chains.h"
#include "common_elements.h"

static struct hd_private *find(struct hd_private *p, unsigned worker, unsigned slot, int redux)
{
	while (p && (p->worker != worker || p->slot != slot || p->redux != redux))
		p = p->next;
	return p;
}

/* Makes a private copy: a handle of the same shape as `d` without a buffer. The caller holds the core lock. */
static struct hd_private *make(heddle_data *d, unsigned worker, unsigned slot, int redux)
{
	HD_HELD(&d->rt->lock);
	struct hd_data_extra *extra = hd_data_extra(d);
	struct hd_private *p = extra ? calloc(1, sizeof *p) : NULL;
	if (!p)
		return NULL;
	if (hd_data_clone_shape(d, &p->copy)) {
		free(p);
		return NULL;
	}
	p->worker = worker;
	p->slot = slot;
	p->redux = (uint8_t)redux;
	p->next = extra->privates;
	extra->privates = p;
	return p;
}

static struct hd_private *private_of(heddle_data *d, unsigned worker, unsigned slot, int redux)
{
	struct hd_private *p = d->extra ? find(d->extra->privates, worker, slot, redux) : NULL;
	return p ? p : make(d, worker, slot, redux);
}

int hd_private_attach(heddle_task *t, unsigned worker, unsigned slot)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		struct hd_access *a = &t->accesses[i];
		if ((a->mode != HEDDLE_SCRATCH && a->mode != HEDDLE_REDUX) || (a->flags & HD_ACCESS_ALIAS))
			continue;
		struct hd_private *p = private_of(a->data, worker, slot, a->mode == HEDDLE_REDUX);
		if (!p)
			return hd_no_memory("a private copy");
		a->private_copy = p->copy;
	}
	return 0;
}

void hd_private_detach(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		struct hd_access *a = &t->accesses[i];
		struct hd_private *p = a->private_copy ? a->data->extra->privates : NULL;
		while (p && p->copy != a->private_copy)
			p = p->next;
		if (p && !p->copy->n_valid)
			/* no task has completed a contribution to this copy, so the init kernel must run again */
			p->initialised = 0;
		a->private_copy = NULL;
	}
}

int hd_private_needs_init(struct hd_access *a)
{
	HD_HELD(&a->data->rt->lock);
	if (a->mode != HEDDLE_REDUX || (a->flags & HD_ACCESS_ALIAS))
		return 0;
	struct hd_private *p = a->data->extra->privates;
	while (p->copy != a->private_copy)
		p = p->next;
	int needed = !p->initialised;
	p->initialised = 1;
	return needed;
}

void hd_private_drop(heddle_data *d, int redux_only)
{
	HD_HELD(&d->rt->lock);
	struct hd_private **p = d->extra ? &d->extra->privates : NULL;
	while (p && *p) {
		struct hd_private *old = *p;
		if (redux_only && !old->redux) {
			p = &old->next;
			continue;
		}
		*p = old->next;
		hd_data_abandon(old->copy); /* the copy may still have transfers */
		free(old);
	}
}

/* Makes a step of the reduction: a task that uses `d` through REDUCE's access. The step is not in the graph yet. */
static heddle_task *make_step(heddle_data *d, heddle_codelet *codelet, unsigned mode, heddle_data *copy)
{
	heddle_task *s = hd_task_make(d->rt, codelet, copy ? 2 : 1);
	if (!s)
		return NULL;
	hd_task_set_access(s, 0, d, mode);
	s->accesses[0].flags |= HD_ACCESS_UNCHAINED;
	if (copy)
		hd_task_set_access(s, 1, copy, HEDDLE_R);
	return s;
}

/* The steps of a reduction in the order in which they run, linked by link.next until they are inserted into the
 * graph. */
struct steps {
	heddle_task *first, *last;
};

static int append(heddle_runtime *rt, struct steps *steps, heddle_task *step)
{
	if (!step)
		return HEDDLE_E_MEMORY;
	step->link.next = NULL;
	if (steps->last && hd_chain_after(steps->last, step)) {
		hd_task_unref(rt, step);
		return HEDDLE_E_MEMORY;
	}
	if (steps->last)
		steps->last->link.next = step;
	else
		steps->first = step;
	steps->last = step;
	return 0;
}

static int make_steps(heddle_data *d, struct steps *steps)
{
	const struct hd_data_extra *extra = d->extra;
	int status = 0;
	if (!d->n_valid || d->poisoned == HD_FORGOTTEN)
		status = append(d->rt, steps, make_step(d, extra->redux_init, HEDDLE_W, NULL));
	for (struct hd_private *p = extra->privates; p && !status; p = p->next)
		if (p->redux && p->initialised)
			status = append(d->rt, steps, make_step(d, extra->redux_combine, HEDDLE_RW, p->copy));
	return status;
}

static void discard_steps(heddle_runtime *rt, struct steps *steps)
{
	for (heddle_task *s = steps->first, *next; s; s = next) {
		next = s->link.next;
		if (next)
			hd_chain_undo_after(s);
		hd_task_unref(rt, s);
	}
}

int hd_reduce_spawn(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	heddle_runtime *rt = t->accesses[0].data->rt;
	struct steps steps = {0};
	t->spawned = 1;
	int status = make_steps(t->accesses[0].data, &steps);
	if (!status && steps.last)
		status = hd_chain_after(steps.last, t);
	if (status) {
		discard_steps(rt, &steps);
		return status;
	}
	for (heddle_task *s = steps.first, *next; s; s = next) {
		next = s->link.next; /* read before hd_insert_own uses the link */
		/* for the trace: the step's place in the order of submission is that of REDUCE */
		s->link.u.word = t->order;
		hd_insert_own(rt, s);
	}
	return 0;
}

/* --- The task that ends a reduction ------------------------------------------------------------------------------- */

/* The REDUCE task is made when the first contribution enters the graph, not when the reduction is closed: if memory
 * runs out, this contribution can still fail and poison the datum. */
int hd_reduction_open(struct hd_access *a)
{
	heddle_runtime *rt = a->data->rt;
	heddle_task *reduce = hd_task_make(rt, NULL, 1);
	if (!reduce) {
		a->mode = HEDDLE_RW;
		return HEDDLE_E_MEMORY;
	}
	reduce->kind = HD_TASK_REDUCE;
	reduce->special = 0;
	hd_task_set_access(reduce, 0, a->data, HEDDLE_RW);
	a->data->extra->reduce = reduce; /* `extra` exists, because the datum has reduction kernels */
	reduce->link.prev = NULL;
	reduce->link.next = rt->dispatch.open_reductions;
	if (rt->dispatch.open_reductions)
		rt->dispatch.open_reductions->link.prev = reduce;
	rt->dispatch.open_reductions = reduce;
	return 0;
}

static heddle_task *take_reduction(heddle_data *d)
{
	heddle_task *reduce = d->extra->reduce;
	d->extra->reduce = NULL;
	if (reduce->link.prev)
		reduce->link.prev->link.next = reduce->link.next;
	else
		d->rt->dispatch.open_reductions = reduce->link.next;
	if (reduce->link.next)
		reduce->link.next->link.prev = reduce->link.prev;
	return reduce;
}

/* Called for the first access in another mode, before that access enters the chain. */
void hd_reduction_close(heddle_data *d)
{
	heddle_task *reduce = take_reduction(d);
	/* the datum may have become deep since the reduction was opened */
	reduce->special |= d->deep ? HD_TASK_DEEP : 0;
	d->tail_mode = HEDDLE_RW; /* so that REDUCE's own access does not close the reduction again */
	hd_insert_own(d->rt, reduce);
}

void hd_reductions_close_for(const heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	for (heddle_task *t = d->rt->dispatch.open_reductions; t;) {
		heddle_data *reduced = t->accesses[0].data;
		int met = reduced != d && reduced->deep && hd_data_meet(reduced, d);
		if (met)
			hd_reduction_close(reduced);
		t = met ? d->rt->dispatch.open_reductions : t->link.next; /* the list has changed, so start again */
	}
}

void hd_reductions_close(heddle_runtime *rt)
{
	while (rt->dispatch.open_reductions)
		hd_reduction_close(rt->dispatch.open_reductions->accesses[0].data);
}

void hd_reduction_drop(heddle_data *d)
{
	if (d->extra && d->extra->reduce)
		hd_task_unref(d->rt, take_reduction(d));
}
