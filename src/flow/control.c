/* Control tasks have no codelet and need no worker: acquire, unregister and prefetch of the program, external tasks,
 * changes of layout, and the end of a reduction. They run under the core lock as soon as they are ready; a control that
 * needs data in main memory ends when the data have arrived there. */
#include "control.h"
#include "event.h"
#include "plan.h"
#include "task_life.h"
#include "graph/chains.h"
#include "graph/layout.h"
#include "graph/scratch_redux.h"
#include "memory/coherency.h"
#include "memory/transfers.h"
#include "misuse/misuse.h"
#include "state/data.h"
#include "state/runtime.h"

static void stage_control(heddle_runtime *rt, heddle_task *t);

/* Drops the value of the datum: nobody may need it before it is written. */
static void forget(heddle_task *t)
{
	struct hd_access *a = &t->accesses[0];
	char name[80];
	hd_forget_value(a->data);
	hd_data_spoil(a->data, hd_format("%s was forgotten (heddle_forget) and has not been written since",
	                                 hd_data_name(a->data, name, sizeof name)));
	a->data->poisoned = (a->data->poisoned & HD_UNWANTED) | HD_FORGOTTEN;
	a->mode = HEDDLE_RW; /* so that the end of the task does not count as a written value */
}

void hd_control_staged(heddle_runtime *rt, heddle_task *t, int status)
{
	HD_HELD(&rt->lock);
	if (status && !t->status)
		t->status = status;
	int given_up = t->kind == HD_TASK_ACQUIRE && t->given_up;
	if (given_up)
		t->accesses[0].mode = HEDDLE_SCRATCH; /* the program has changed nothing */
	if (t->kind == HD_TASK_PARTITION || t->kind == HD_TASK_UNPARTITION) {
		if (hd_layout_step(t) == HEDDLE_PENDING)
			stage_control(rt, t);
		return;
	}
	/* The control that frees its datum waits for the transfers under way, even after a failure. */
	if (status && t->kind == HD_TASK_UNREGISTER && hd_stage_quiet(t))
		return;
	if (!t->status && !t->cancelled && t->kind == HD_TASK_ACQUIRE) {
		hd_stage_begin(t);
		if (HD_UNLIKELY(rt->misuse != NULL) && !given_up)
			hd_misuse_acquired(t);
	}
	if (t->kind == HD_TASK_ACQUIRE && !given_up) { /* the task ends at heddle_release */
		hd_set_state(t, HD_STAGED);
		rt->count.held++;
		rt->waits.news = 1;
		return;
	}
	if (t->kind == HD_TASK_FORGET)
		forget(t);
	if (t->kind == HD_TASK_OUTSIDE && !t->status && !t->cancelled && !hd_event_begin_outside(t))
		return;
	hd_stage_end(t, 0);
	hd_core_end(rt, t, 0);
}

static void stage_control(heddle_runtime *rt, heddle_task *t)
{
	if (t->kind == HD_TASK_UNPARTITION)
		t->to_node = hd_layout_node(t);
	int status = hd_stage(t, hd_task_node(rt, t));
	if (status != HEDDLE_PENDING)
		hd_control_staged(rt, t, status);
}

/* Whether the value must be copied to the program's buffer: the program gave a buffer, and only other nodes have a
 * valid replica. */
static int wants_value_home(const heddle_data *d)
{
	const struct hd_replica *home = &d->replicas[0];
	return home->user_buffer && !home->valid && !d->poisoned && !d->plan;
}

static void run_reduce(heddle_runtime *rt, heddle_task *t)
{
	if (!t->spawned && !t->cancelled) {
		t->status = hd_reduce_spawn(t);
		if (t->pending)
			return; /* hd_control_run is called again when the last step has ended */
	}
	hd_private_drop(t->accesses[0].data, 1);
	hd_core_end(rt, t, 0);
}

void hd_control_run(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	if (HD_UNLIKELY(rt->tells_tsan))
		hd_tsan_control(t);
	switch (t->kind) {
	case HD_TASK_OUTSIDE:
	case HD_TASK_ACQUIRE:
		if (t->cancelled || t->given_up)
			hd_control_staged(rt, t, 0);
		else
			stage_control(rt, t);
		return;
	case HD_TASK_UNREGISTER:
		if (hd_unordered_await(t))
			return;
		/* The value is not fetched: only the transfers under way must end before the handle is freed. */
		if (wants_value_home(t->accesses[0].data)) {
			stage_control(rt, t);
			return;
		}
		t->accesses[0].mode = HEDDLE_W;
		if (hd_stage_quiet(t))
			return;
		break;
	case HD_TASK_PARTITION:
	case HD_TASK_UNPARTITION:
		if (t->cancelled)
			hd_layout_step(t);
		else
			stage_control(rt, t);
		return;
	case HD_TASK_FORGET:
		if (!hd_stage_quiet(t))
			hd_control_staged(rt, t, 0);
		return;
	case HD_TASK_PREFETCH: hd_prefetch(t->accesses[0].data, t->to_node); break;
	case HD_TASK_REDUCE: run_reduce(rt, t); return;
	case HD_TASK_UNPLAN: hd_plan_end(t); return;
	default: break;
	}
	hd_core_end(rt, t, 0);
}
