/* Makes the tasks of the core itself: control tasks and steps of reductions. flow/submit.c makes the tasks of the
 * program. */
#include "task_make.h"
#include "data.h"
#include "task_pool.h"

/* Makes a task for the core, with `bytes_behind` bytes of room behind its accesses. */
static heddle_task *make_task(heddle_runtime *rt, heddle_codelet *codelet, size_t n_accesses, size_t bytes_behind)
{
	heddle_task *t = hd_pool_take(rt->pool, hd_task_size(rt, n_accesses, bytes_behind));
	if (!t)
		return NULL;
	hd_task_clear(rt, t);
	t->codelet = codelet;
	t->kind = codelet ? HD_TASK_CODELET : HD_TASK_SYNC;
	t->n_accesses = (uint32_t)n_accesses;
	if (codelet)
		t->footprint = codelet->footprint_seed;
	return t;
}

heddle_task *hd_task_make(heddle_runtime *rt, heddle_codelet *codelet, size_t n_accesses)
{
	HD_HELD(&rt->lock);
	heddle_task *t = make_task(rt, codelet, n_accesses, 0);
	if (t)
		/* so that a worker whose kernel waits for this task may begin the task, which itself never waits */
		t->depth = HD_DEEPEST;
	return t;
}

void hd_task_set_access(heddle_task *t, size_t i, heddle_data *d, unsigned mode)
{
	struct hd_access *a = &t->accesses[i];
	memset(a, 0, sizeof *a);
	a->data = d;
	a->mode = mode & 0x1f;
	a->index = (uint32_t)i;
	t->special |= (d->deep ? HD_TASK_DEEP : 0) | (d->settled ? 0 : HD_TASK_UNSETTLED);
	if (t->codelet)
		t->footprint = hd_fold(t->footprint, d->shape);
}

heddle_task *hd_control_make(heddle_runtime *rt, int kind, size_t n_accesses)
{
	HD_HELD(&rt->lock);
	heddle_task *t = make_task(rt, NULL, n_accesses, sizeof(struct hd_inside_of));
	if (!t)
		return NULL;
	t->kind = (uint8_t)kind;
	/* without HD_TASK_ONE_NODE, because control tasks also stage data that have no memory or no value yet */
	t->special = 0;
	return t;
}

void hd_control_renew(heddle_task *t, int kind, size_t n_accesses)
{
	heddle_runtime *rt = hd_task_runtime(t);
	HD_HELD(&rt->lock);
	hd_task_forget(t);
	hd_task_clear(rt, t);
	t->kind = (uint8_t)kind;
	t->special = 0;
	t->n_accesses = (uint32_t)n_accesses;
}
