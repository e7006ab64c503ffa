/* The program's own access to data: acquire and release, prefetch, unregister. Each is a control task in the datum's
 * chain. */
#include <stdlib.h>
#include <string.h>
#include "runtime.h"

static int check_handle(const heddle_data *d, const char *what)
{
	char name[80];
	if (!d)
		return hd_error(HEDDLE_E_INVALID, "%s needs a datum", what);
	if (d->unregistered)
		return hd_error(HEDDLE_E_STATE, "%s: %s has been unregistered", what,
		                hd_data_name(d, name, sizeof name));
	if (d->partitioned)
		return hd_error(HEDDLE_E_STATE, "%s: %s is partitioned; call heddle_unpartition first", what,
		                hd_data_name(d, name, sizeof name));
	return 0;
}

static int check_outside(const char *what)
{
	return hd_inside()
	           ? hd_error(HEDDLE_E_STATE, "%s blocks and cannot be called from a kernel or a callback", what)
	           : 0;
}

static heddle_task *control_on(heddle_data *d, int kind, enum heddle_mode mode)
{
	heddle_task *t = hd_control_new(d->rt, kind, 1);
	if (t)
		hd_task_set_access(t, 0, d, mode);
	return t;
}

/* --- Acquire ------------------------------------------------------------------------------------------------------ */

static int is_staged(heddle_runtime *rt, void *arg)
{
	(void)rt;
	const heddle_task *t = arg;
	/* relaxed: under the core lock; pairs: nothing */
	return atomic_load_explicit(&t->state, memory_order_relaxed) == HD_STAGED;
}

static void end_acquire(heddle_task *t)
{
	heddle_runtime *rt = t->accesses[0].data->rt;
	rt->n_held--;
	rt->now = rt->engine->now(rt);
	rt->batch_releaser = -1;
	hd_stage_end(t, 0);
	hd_core_end(rt, t, t->status);
	hd_core_settle(rt);
}

/* Which task failed, for a control that was cancelled. */
static const char *cause(const heddle_task *t)
{
	return t->extra && t->extra->cause ? t->extra->cause : "the task that should have written it failed";
}

static int acquire_failed(heddle_data *d, heddle_task *t)
{
	char name[80], why[HD_REASON];
	hd_data_name(d, name, sizeof name);
	int status = t->status
	                 ? hd_error(t->status, "heddle_acquire: %s cannot be brought to main memory: %s", name,
	                            hd_task_reason(t, why, sizeof why))
	                 : hd_error(HEDDLE_E_CANCELLED, "heddle_acquire: %s was not computed: %s", name, cause(t));
	t->status = 0; /* that the program could not have it does not spoil the datum further */
	t->cancelled = 0;
	t->accesses[0].mode = HEDDLE_R;
	end_acquire(t);
	return status;
}

/* The wait has ended without it: nobody would release it. */
static void give_up(heddle_task *t)
{
	t->choice = 1;
	t->accesses[0].mode = HEDDLE_R;
}

static int cannot_write(const heddle_data *d)
{
	char name[80];
	return hd_error(HEDDLE_E_INVALID, "heddle_acquire: %s overlaps its neighbours and can only be read",
	                hd_data_name(d, name, sizeof name));
}

int heddle_acquire(heddle_data *d, enum heddle_mode mode)
{
	int status = check_handle(d, "heddle_acquire");
	if (!status)
		status = check_outside("heddle_acquire");
	if (!status && mode != HEDDLE_R && mode != HEDDLE_W && mode != HEDDLE_RW)
		status = hd_error(HEDDLE_E_INVALID, "heddle_acquire: the mode is R, W or RW, not %d", (int)mode);
	if (!status && d->read_only && mode != HEDDLE_R)
		status = cannot_write(d);
	heddle_task *t = status ? NULL : control_on(d, HD_TASK_ACQUIRE, mode);
	if (!t)
		return status ? status : HEDDLE_E_MEMORY;
	t->footprint = hd_thread_token();
	heddle_runtime *rt = d->rt; /* a callback may unregister the datum once it is not held */
	hd_control_submit(rt, t);
	hd_lock(&rt->lock);
	status = hd_wait_reacting(d->rt, is_staged, t);
	if (status)
		give_up(t);
	else if (t->status || t->cancelled)
		status = acquire_failed(d, t);
	else {
		t->link.next = d->holder; /* readers may hold it together */
		d->holder = t;
	}
	hd_unlock(&rt->lock);
	return status;
}

int heddle_release(heddle_data *d)
{
	if (!d)
		return hd_error(HEDDLE_E_INVALID, "heddle_release needs a datum");
	char name[80];
	heddle_runtime *rt = d->rt; /* see heddle_acquire */
	hd_lock(&rt->lock);
	heddle_task *t = d->holder;
	if (t) {
		d->holder = t->link.next;
		end_acquire(t);
	}
	hd_unlock(&rt->lock);
	return t ? 0
	         : hd_error(HEDDLE_E_STATE, "heddle_release: %s is not acquired", hd_data_name(d, name, sizeof name));
}

/* --- Prefetch ----------------------------------------------------------------------------------------------------- */

int heddle_prefetch(heddle_data *d, unsigned node)
{
	int status = check_handle(d, "heddle_prefetch");
	if (status)
		return status;
	if (node >= d->rt->n_nodes)
		return hd_error(HEDDLE_E_INVALID, "heddle_prefetch: there is no node %u, only 0 to %zu", node,
		                d->rt->n_nodes - 1);
	heddle_task *t = control_on(d, HD_TASK_PREFETCH, HEDDLE_R);
	if (!t)
		return HEDDLE_E_MEMORY;
	t->worker = node;
	hd_control_submit(d->rt, t);
	return 0;
}

/* --- Unregister --------------------------------------------------------------------------------------------------- */

static int task_ended(heddle_runtime *rt, void *arg)
{
	(void)rt;
	return heddle_task_done(arg);
}

static int submit_unregister(heddle_data *d, heddle_task **held)
{
	char name[80];
	if (d->parent)
		return hd_error(HEDDLE_E_STATE,
		                "heddle_unregister: %s is a child; heddle_unpartition its parent instead",
		                hd_data_name(d, name, sizeof name));
	if (d->holder)
		return hd_error(HEDDLE_E_STATE, "heddle_unregister: %s is acquired; release it first",
		                hd_data_name(d, name, sizeof name));
	heddle_task *t = control_on(d, HD_TASK_UNREGISTER, HEDDLE_RW);
	if (!t)
		return HEDDLE_E_MEMORY;
	d->unregistered = 1;
	if (held) {
		t->refs++;
		t->waited = 1;
		*held = t;
	}
	hd_control_submit(d->rt, t);
	return 0;
}

void hd_unregister_failed(heddle_task *t)
{
	char name[80];
	struct hd_task_extra *extra = hd_task_extra(t);
	if (extra && !extra->name)
		extra->name = strdup(hd_data_name(t->accesses[0].data, name, sizeof name));
}

int heddle_unregister(heddle_data *d)
{
	int status = check_handle(d, "heddle_unregister");
	if (!status)
		status = check_outside("heddle_unregister");
	if (status)
		return status;
	heddle_runtime *rt = d->rt;
	heddle_task *t = NULL;
	status = submit_unregister(d, &t);
	if (!t)
		return status;
	hd_lock(&rt->lock);
	status = hd_wait_reacting(rt, task_ended, t);
	char why[HD_REASON];
	if (!status && t->status == HEDDLE_E_CANCELLED)
		status = hd_error(t->status, "heddle_unregister: %s was not computed: %s", hd_task_name(t), cause(t));
	else if (!status && t->status)
		status = hd_error(t->status, "heddle_unregister: the value of %s is lost: %s", hd_task_name(t),
		                  hd_task_reason(t, why, sizeof why));
	hd_task_unref(rt, t);
	hd_unlock(&rt->lock);
	return status;
}

int heddle_unregister_async(heddle_data *d)
{
	int status = check_handle(d, "heddle_unregister_async");
	return status ? status : submit_unregister(d, NULL);
}
