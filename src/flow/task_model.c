/* Finds the entry of a codelet's model for the sizes of a task's data and values, and passes these sizes to the
 * functions of the codelet. */
#include "task_model.h"
#include <stdlib.h>
#include <string.h>
#include "submit_items.h"
#include "state/data.h"
#include "state/engine.h"
#include "state/memory.h"
#include "state/task_make.h"
#include "state/task_pool.h"

/* The argument of a codelet's functions flops, footprint, regressors and time, and the arrays to which it points. */
struct size_view {
	struct heddle_size size;
	struct heddle_part *parts;
	const struct heddle_part **part_ptrs;
	const void **values;
};

static int open_size(struct size_view *v, const heddle_task *t)
{
	size_t n = t->n_accesses, m = t->n_values;
	v->parts = calloc(n + 1, sizeof *v->parts);
	v->part_ptrs = calloc(n + 1, sizeof *v->part_ptrs);
	v->values = calloc(m + 1, sizeof *v->values);
	if (!v->parts || !v->part_ptrs || !v->values)
		return hd_no_memory("a task's size");
	v->size.bytes = 0;
	for (size_t i = 0; i < n; i++) {
		/* Reads only constant fields of the datum: the core lock is not held. */
		const struct heddle_part *part = &t->accesses[i].data->part;
		v->parts[i].elem_size = part->elem_size;
		v->parts[i].n_dims = part->n_dims;
		memcpy(v->parts[i].n, part->n, sizeof part->n);
		v->part_ptrs[i] = &v->parts[i];
		if (!(t->accesses[i].flags & HD_ACCESS_ALIAS))
			v->size.bytes += (double)t->accesses[i].data->bytes;
	}
	for (size_t i = 0; i < m; i++)
		v->values[i] = hd_task_value(t, i);
	v->size.n_data = n;
	v->size.n_values = m;
	v->size.parts = v->part_ptrs;
	v->size.values = v->values;
	return 0;
}

static void close_size(struct size_view *v)
{
	free(v->parts);
	free(v->part_ptrs);
	free(v->values);
}

struct hd_perf_entry *hd_task_entry(const heddle_task *t, struct hd_perf_model *model)
{
	struct size_view v;
	/* the policy's word may be where the task's footprint was */
	uint64_t footprint = t->perf ? t->perf->footprint : t->footprint;
	struct hd_perf_entry *entry = open_size(&v, t) == 0 ? hd_perf_entry(model, footprint, &v.size) : NULL;
	close_size(&v);
	return entry;
}

double hd_task_true_time(const heddle_task *t, unsigned class_id)
{
	struct size_view v;
	double us = open_size(&v, t) == 0 ? t->codelet->true_time(&v.size, class_id) : NAN;
	close_size(&v);
	return us >= 0 && us < HD_MOST_US ? us : hd_perf_time(t->perf, class_id);
}

/* In virtual time a worker can run a task only if its class has a time for the task. The checks at submission know only
 * for which classes the model may have times; whether it has one for the task's sizes is checked here. Returns 0 if
 * some worker can run the task; HEDDLE_E_NO_WORKER if no class has a time; HEDDLE_E_NO_FIT if the classes with a time
 * lack memory: then *room is the largest of their capacities, in bytes. */
static int check_times(const heddle_runtime *rt, const heddle_task *t, uint64_t *room)
{
	int status = HEDDLE_E_NO_WORKER;
	for (size_t i = 0; i < rt->n_workers; i++) {
		const struct hd_worker *w = &rt->workers[i];
		if ((t->only_worker && t->only_worker != i + 1) || !t->codelet->class_ok[w->class_id] ||
		    isnan(hd_perf_time(t->perf, w->class_id)))
			continue;
		if (hd_task_fits(rt, t, w->node))
			return 0;
		status = HEDDLE_E_NO_FIT;
		*room = rt->memories[w->node].capacity > *room ? rt->memories[w->node].capacity : *room;
	}
	return status;
}

int hd_task_has_time(heddle_runtime *rt, const heddle_task *t)
{
	HD_HELD(&rt->lock);
	uint64_t room = 0;
	return t->perf && check_times(rt, t, &room) == 0;
}

static const char *why_none(const heddle_task *t, uint64_t room)
{
	if (t->status == HEDDLE_E_NO_FIT) {
		hd_no_fit("on the classes that have a time for it, it needs", hd_task_bytes(t), room);
		return heddle_last_error();
	}
	if (t->only_worker)
		return "the only worker that may run it has no time for it";
	return t->codelet->desc.model == HEDDLE_MODEL_GIVEN
	           ? "its codelet gives no time for it on any class of this platform"
	           : "the platform has no time for data of this size: its rates need the codelet's flops";
}

void hd_task_find_model(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	heddle_codelet *c = t->codelet;
	uint64_t room = 0;
	/* the task has failed already, and may have entered the graph without its data */
	if (HD_UNLIKELY(t->cancelled))
		return;
	int known = c->last_entry && c->last_footprint == t->footprint;
	/* The capacity is checked even if the entry is known: tasks with and without aliases share an entry, but need
	 * different room. */
	int checks = !known || t->only_worker || (rt->limited && !(t->special & HD_TASK_FITS));
	t->perf = known ? c->last_entry : hd_task_entry(t, c->model);
	if (HD_UNLIKELY(!t->perf))
		t->status = HEDDLE_E_MEMORY;
	else if (rt->engine->times_are_given && checks && !(t->special & HD_TASK_EXPANDS)) /* hd_task_has_time */
		t->status = check_times(rt, t, &room);
	if (HD_LIKELY(t->perf != NULL))
		hd_perf_use(t->perf);
	if (HD_UNLIKELY(t->status)) {
		t->cancelled = 1;
		if (t->status != HEDDLE_E_MEMORY)
			hd_task_message(t, why_none(t, room));
	} else if (!known) {
		if (c->last_entry)
			hd_perf_leave(c->last_entry);
		hd_perf_use(t->perf);
		c->last_footprint = t->footprint;
		c->last_entry = t->perf;
	}
}

double hd_task_init_time(heddle_runtime *rt, heddle_data *d, unsigned class_id)
{
	heddle_codelet *init = d->extra->redux_init;
	/* this task is never submitted: it only serves to find the model entry */
	heddle_task *t = hd_task_make(rt, init, 1);
	if (!t)
		return 0;
	hd_task_set_access(t, 0, d, HEDDLE_W);
	const struct hd_perf_entry *e =
	    init->desc.footprint && hd_task_add_footprint(t) ? NULL : hd_task_entry(t, init->model);
	hd_task_unref(rt, t);
	double us = e ? hd_perf_time(e, class_id) : 0;
	return us > 0 ? us : 0; /* NAN, an unknown time, becomes 0 */
}

int hd_task_add_footprint(heddle_task *t)
{
	struct size_view v;
	int status = open_size(&v, t);
	uint64_t more = status ? 0 : t->codelet->desc.footprint(&v.size);
	if (more)
		t->footprint = hd_hash(t->footprint, more);
	close_size(&v);
	return status;
}
