/* The program's own access to data: acquire, release, prefetch, unregister. Each call submits a control task, whose
 * access waits for its turn in the datum's chain. */
#include "acquire.h"
#include <stdlib.h>
#include <string.h>
#include "dispatch.h"
#include "errands.h"
#include "expand.h"
#include "give_up.h"
#include "plan.h"
#include "register.h"
#include "submit.h"
#include "submit_items.h"
#include "task_life.h"
#include "wait.h"
#include "graph/chains.h"
#include "memory/coherency.h"
#include "misuse/misuse.h"
#include "state/core_lock.h"
#include "state/engine.h"
#include "state/task_make.h"
#include "state/task_pool.h"
#include "state/tree.h"

static int check_datum(const heddle_data *d, const char *what)
{
	return d ? hd_data_check(d, what) : hd_error(HEDDLE_E_INVALID, "%s needs a datum", what);
}

static heddle_task *control_on(heddle_data *d, int kind, enum heddle_mode mode)
{
	heddle_task *t = hd_control_make(d->rt, kind, 1);
	if (t)
		hd_task_set_access(t, 0, d, mode);
	return t;
}

/* --- Holds: which thread has acquired which datum ----------------------------------------------------------------- */

static heddle_data *held_data(const struct hd_hold *hold)
{
	return hold->task->accesses[0].data;
}

/* The hold of the calling thread on a datum. If there is none, returns the hold of another thread; NULL: no thread of
 * the program holds the datum. */
static struct hd_hold *find_hold(const heddle_data *d)
{
	struct hd_hold *found = NULL;
	for (struct hd_hold *h = d->extra ? d->extra->holds : NULL; h; h = h->next_of_data) {
		if (!h->taken)
			continue;
		if (h->thread == hd_thread_token())
			return h;
		found = h;
	}
	return found;
}

int hd_data_is_held(const heddle_data *d)
{
	return find_hold(d) != NULL;
}

static void add_hold(heddle_runtime *rt, struct hd_hold *hold, heddle_task *t)
{
	HD_HELD(&rt->lock);
	struct hd_data_extra *extra = t->accesses[0].data->extra; /* present: acquire has allocated it */
	*hold = (struct hd_hold){
	    .next = rt->waits.holds, .next_of_data = extra->holds, .task = t, .thread = hd_thread_token()};
	if (hold->next)
		hold->next->prev = hold;
	rt->waits.holds = extra->holds = hold;
}

static void remove_hold(heddle_runtime *rt, struct hd_hold *hold)
{
	struct hd_hold **p = &held_data(hold)->extra->holds;
	while (*p != hold)
		p = &(*p)->next_of_data;
	*p = hold->next_of_data;
	*(hold->prev ? &hold->prev->next : &rt->waits.holds) = hold->next;
	if (hold->next)
		hold->next->prev = hold->prev;
	free(hold);
}

static void end_acquire(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	rt->count.held--;
	if (HD_UNLIKELY(rt->misuse != NULL))
		hd_misuse_given_back(t);
	if (HD_UNLIKELY(rt->tells_tsan))
		hd_tsan_lets_go(rt);
	hd_core_clock_now(rt);
	rt->dispatch.releaser = -1;
	hd_stage_end(t, 0);
	hd_core_end(rt, t, t->status);
	hd_core_settle(rt);
	/* Other threads may have gone to sleep because this thread held the datum: hd_others_may_act. */
	hd_wake_if_still(rt, NULL);
}

static void release(heddle_runtime *rt, struct hd_hold *hold)
{
	heddle_task *t = hold->task;
	remove_hold(rt, hold);
	end_acquire(rt, t);
}

void hd_holds_release(heddle_runtime *rt)
{
	hd_core_enter(rt);
	for (struct hd_hold *h = rt->waits.holds; h;) {
		struct hd_hold *taken = h->taken ? h : NULL;
		h = h->next;
		if (taken) {
			release(rt, taken);
			h = rt->waits.holds; /* restart: callbacks may have changed the list */
		}
	}
	hd_core_leave(rt);
}

void hd_holds_free(heddle_runtime *rt)
{
	for (struct hd_hold *h = rt->waits.holds, *next; h; h = next) { /* the data are freed already */
		next = h->next;
		free(h);
	}
}

/* --- Acquire and release ------------------------------------------------------------------------------------------ */

static int is_staged(heddle_runtime *rt, void *arg)
{
	(void)rt;
	const heddle_task *t = arg;
	/* Relaxed, pairs with nothing: the core lock orders it with the stores in hd_set_state. */
	return atomic_load_explicit(&t->state, memory_order_relaxed) == HD_STAGED;
}

/* The name of the task whose failure has cancelled the control `t`, for messages. */
static const char *cause(const heddle_task *t)
{
	if (t->extra && (t->extra->cause || t->extra->message))
		return t->extra->cause ? t->extra->cause : t->extra->message;
	return "the task that should have written it failed";
}

static int acquire_failed(heddle_data *d, heddle_task *t)
{
	char name[80], why[HD_REASON];
	hd_data_name(d, name, sizeof name);
	int status = t->status
	                 ? hd_error(t->status, "heddle_acquire: %s cannot be brought to main memory: %s", name,
	                            hd_task_reason(t, why, sizeof why))
	                 : hd_error(HEDDLE_E_CANCELLED, "heddle_acquire: %s was not computed: %s", name, cause(t));
	/* heddle_acquire fails, so the program has written nothing: the end of this task must not poison the datum */
	t->status = 0;
	t->cancelled = 0;
	t->accesses[0].mode = HEDDLE_R;
	end_acquire(d->rt, t);
	return status;
}

/* Withdraws a control whose turn has not come: the control leaves its datum's chain, so that it delays no other task,
 * and ends without effect. Returns 0 if the control's turn has come; otherwise 1, and the caller calls withdrawn. */
static int withdraw(heddle_task *t)
{
	struct hd_access *a = &t->accesses[0];
	heddle_runtime *rt = a->data->rt;
	HD_HELD(&rt->lock);
	hd_core_clock_now(rt);
	rt->dispatch.releaser = -1;
	if (!hd_chain_withdraw(a))
		return 0;
	a->mode = HEDDLE_SCRATCH; /* the end of the task must not change the validity of the value */
	t->kind = HD_TASK_SYNC;   /* the end of an UNREGISTER task would free the datum */
	hd_core_end(rt, t, 0);
	return 1;
}

/* Called after `withdraw`: lets the tasks begin that waited for the control. Keeps the thread's error message. */
static void withdrawn(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	struct hd_sentence kept; /* callbacks may overwrite the thread's error message */
	hd_error_keep(&kept);
	hd_core_settle(rt);
	/* Threads that waited for the control must look for a deadlock. */
	hd_wake_if_still(rt, NULL);
	hd_error_give_back(&kept);
}

/* Ends the ACQUIRE task `t` after its wait has failed: the thread does not hold the datum, so it will not release the
 * datum. If the task's turn has come, the task must first wait for the end of its transfers. */
static void give_up(heddle_runtime *rt, heddle_task *t)
{
	if (withdraw(t))
		withdrawn(rt);
	else
		t->given_up = 1;
}

/* Whether pieces of the datum are being dropped, for example because the program is to write the whole datum. Then the
 * old value is lost already. An interruption could not restore it, so the wait for the remaining transfers goes on. */
static int drops_pieces(const heddle_data *d)
{
	while (d && !hd_plans_drop(d))
		d = hd_data_above(d);
	return d != NULL;
}

static int check_acquire(const heddle_data *d, enum heddle_mode mode)
{
	char name[80];
	int status = check_datum(d, "heddle_acquire");
	if (!status)
		status = hd_check_outside("heddle_acquire");
	if (!status && mode != HEDDLE_R && mode != HEDDLE_W && mode != HEDDLE_RW)
		status = hd_error(HEDDLE_E_INVALID, "heddle_acquire: the mode is R, W or RW, not %d", (int)mode);
	if (!status && d->read_only && mode != HEDDLE_R)
		status = hd_error(HEDDLE_E_INVALID, "heddle_acquire: %s overlaps its neighbours and can only be read",
		                  hd_data_name_unlocked(d, name, sizeof name));
	return status;
}

/* Submits the ACQUIRE task, and waits until the datum is acquired. Apart from the wait, this is one critical section,
 * so that the detection of deadlocks sees this thread either waiting for the datum or holding the datum. */
static int acquire(heddle_data *d, enum heddle_mode mode, struct hd_hold *hold)
{
	HD_HELD(&d->rt->lock);
	heddle_runtime *rt = d->rt;
	hd_control_begin(rt);
	int status = hd_data_check_open(d, "heddle_acquire");
	heddle_task *t = status || !hd_data_extra(d) ? NULL : control_on(d, HD_TASK_ACQUIRE, mode);
	if (!t) {
		free(hold);
		return status ? status : HEDDLE_E_MEMORY;
	}
	add_hold(rt, hold, t);
	hd_control_enter(rt, t);
	do
		status = hd_wait_reacting(rt, is_staged, t);
	while (status == HEDDLE_E_INTERRUPTED && drops_pieces(d));
	if (!status && !t->status && !t->cancelled) {
		hold->taken = 1;
		return 0;
	}
	remove_hold(rt, hold);
	if (!status)
		return acquire_failed(d, t);
	give_up(rt, t);
	return status;
}

int heddle_acquire(heddle_data *d, enum heddle_mode mode)
{
	int status = check_acquire(d, mode);
	if (status)
		return status;
	struct hd_hold *hold = malloc(sizeof *hold);
	if (!hold)
		return hd_no_memory("an acquired datum");
	heddle_runtime *rt = d->rt; /* read now: a callback may unregister the datum before the unlock */
	hd_core_enter(rt);
	status = acquire(d, mode, hold);
	hd_core_leave(rt);
	return status;
}

static int not_acquired(const heddle_data *d)
{
	char name[80];
	int status = hd_data_check_open(d, "heddle_release");
	return status
	           ? status
	           : hd_error(HEDDLE_E_STATE, "heddle_release: %s is not acquired", hd_data_name(d, name, sizeof name));
}

int heddle_release(heddle_data *d)
{
	int status = check_datum(d, "heddle_release");
	if (status)
		return status;
	heddle_runtime *rt = d->rt; /* read now: see heddle_acquire */
	hd_core_enter(rt);
	struct hd_hold *hold = find_hold(d);
	if (hold)
		release(rt, hold);
	else
		status = not_acquired(d);
	hd_core_leave(rt);
	return status;
}

/* --- Prefetch ----------------------------------------------------------------------------------------------------- */

int heddle_prefetch(heddle_data *d, unsigned node)
{
	int status = check_datum(d, "heddle_prefetch");
	if (status)
		return status;
	heddle_runtime *rt = d->rt;
	if (node >= rt->n_nodes)
		return hd_error(HEDDLE_E_INVALID, "heddle_prefetch: there is no node %u, only 0 to %zu", node,
		                rt->n_nodes - 1);
	hd_core_enter(rt);
	hd_control_begin(rt);
	const struct hd_access *cover = hd_expansion_cover(rt, d);
	status = cover ? 0 : hd_data_check_open(d, "heddle_prefetch");
	/* In a sub-graph, scratch memory of the hierarchical task has no value to prefetch. */
	int has_value = !cover || cover->mode != HEDDLE_SCRATCH;
	heddle_task *t = status || !has_value ? NULL : control_on(d, HD_TASK_PREFETCH, HEDDLE_R);
	if (t) {
		t->to_node = node;
		if (cover)
			hd_expansion_adopt(hd_expansion_here(rt), t);
		hd_control_enter(rt, t);
	}
	hd_core_leave(rt);
	return t || status || !has_value ? status : HEDDLE_E_MEMORY;
}

/* --- Forget ------------------------------------------------------------------------------------------------------- */

int heddle_forget(heddle_data *d)
{
	int status = check_datum(d, "heddle_forget");
	return status
	           ? status
	           : heddle_submit(d->rt, heddle_w(d), (struct heddle_item){HD_ITEM_KIND, HD_TASK_FORGET, NULL, {0}});
}

/* --- Unregister --------------------------------------------------------------------------------------------------- */

/* Whether heddle_unregister may have to wait before the handle can end. */
static int is_used(const heddle_data *d)
{
	const struct hd_replica *home = &d->replicas[0];
	return d->granted || d->queue || d->deep || (d->extra && (d->extra->reduce || d->extra->n_unordered)) ||
	       d->n_transfers || (home->user_buffer && !home->valid);
}

/* Whether the datum may be unregistered now; an error otherwise. */
static int check_unregister(const heddle_data *d, const char *what)
{
	HD_HELD(&d->rt->lock);
	char name[80];
	int status = hd_data_check_open(d, what);
	if (!status && d->plan)
		status = hd_error(HEDDLE_E_STATE, "%s: %s is a child; heddle_unpartition its parent instead", what,
		                  hd_data_name(d, name, sizeof name));
	if (!status && (hd_data_is_held(d) || hd_data_child_is_held(d)))
		status = hd_error(HEDDLE_E_STATE, "%s: %s is acquired; release it first", what,
		                  hd_data_name(d, name, sizeof name));
	return status;
}

/* Submits the UNREGISTER task of the datum. If `awaited`, the caller gets a reference. NULL: out of memory. */
static heddle_task *unregister(heddle_data *d, int awaited)
{
	HD_HELD(&d->rt->lock);
	heddle_task *t = control_on(d, HD_TASK_UNREGISTER, HEDDLE_RW);
	if (!t)
		return NULL;
	if (awaited) {
		t->refs++;
		t->waited = 1;
	}
	hd_data_close(d, HD_UNREGISTERED);
	hd_plans_close(d);
	hd_control_enter(d->rt, t);
	return t;
}

/* Checks, then calls unregister. NULL, with the reason in *status: the datum cannot be unregistered now, the calling
 * kernel cannot wait, or out of memory. Called with the core lock. */
static heddle_task *submit_unregister(heddle_data *d, const char *what, int awaited, int *status)
{
	/* Bytes of stack from here to the wait. heddle_may_wait demands more stack, so that its answer is still valid
	 * here. */
	enum { UNTIL_THEN = 4 << 10 };
	HD_HELD(&d->rt->lock);
	hd_control_begin(d->rt);
	*status = check_unregister(d, what);
	if (!*status && awaited && hd_inside() && is_used(d))
		*status = d->rt->engine->may_wait(d->rt, UNTIL_THEN, d);
	heddle_task *t = *status ? NULL : unregister(d, awaited);
	if (!*status && !t)
		*status = HEDDLE_E_MEMORY;
	return t;
}

void hd_unregister_failed(heddle_task *t)
{
	char name[80];
	struct hd_task_extra *extra = hd_task_extra(t);
	if (extra && !extra->name)
		extra->name = strdup(hd_data_name(t->accesses[0].data, name, sizeof name));
}

/* Replaces the statuses HEDDLE_E_MEMORY and HEDDLE_E_UNSUPPORTED: heddle_unregister returns them only if the handle has
 * not ended, and it has ended. */
static int of_ended(int status)
{
	return status == HEDDLE_E_MEMORY || status == HEDDLE_E_UNSUPPORTED ? HEDDLE_E_CANCELLED : status;
}

/* The status of heddle_unregister: an error if the datum's value is lost. */
static int unregistered(const heddle_task *t)
{
	char why[HD_REASON];
	if (t->status == HEDDLE_E_CANCELLED)
		return hd_error(t->status, "heddle_unregister: %s was not computed: %s", hd_task_name(t), cause(t));
	if (!t->status)
		return 0;
	return hd_error(of_ended(t->status), "heddle_unregister: the value of %s is lost: %s", hd_task_name(t),
	                hd_task_reason(t, why, sizeof why));
}

/* Called when the wait of heddle_unregister for its task `t` was interrupted. If the task's turn has not come,
 * withdraws the task, opens the handle again and returns 1. Otherwise returns 0, and the wait continues: pieces may be
 * dropped already, and only transfers are left to wait for. */
static int keep(heddle_data *d, heddle_task *t)
{
	HD_HELD(&d->rt->lock);
	if (hd_plans_drop(d) || !withdraw(t))
		return 0;
	hd_data_close(d, HD_OPEN);
	hd_plans_open(d);
	withdrawn(d->rt);
	return 1;
}

/* Called when the wait of heddle_unregister has failed before the handle has ended: cancels the tasks that use the
 * datum and have not begun, because the program may free the buffer as soon as the call returns. */
static int give_up_waiting(heddle_data *d, int status)
{
	heddle_runtime *rt = d->rt;
	char name[80];
	char *why = hd_format("%s", heddle_last_error());
	hd_data_name(d, name, sizeof name);
	hd_data_give_up(d);
	hd_core_settle(rt);
	hd_wake_if_still(rt, NULL);
	status = of_ended(status);
	hd_error(status,
	         "heddle_unregister: %s was given up, and the tasks that use it and have not begun are "
	         "cancelled, because %s",
	         name, why ? why : heddle_status_name(status));
	free(why);
	return status;
}

int heddle_unregister(heddle_data *d)
{
	int status = check_datum(d, "heddle_unregister");
	/* This error is not misuse: a program may try heddle_unregister first, and call heddle_unregister_async if it
	 * fails. */
	if (!status && hd_inside() && !hd_inside_may_wait(d->rt))
		status = hd_error(HEDDLE_E_STATE,
		                  "heddle_unregister blocks and cannot be called from a callback, nor from a kernel "
		                  "that is SPMD or not on a CPU worker of the datum's runtime: call "
		                  "heddle_unregister_async");
	if (status)
		return status;
	heddle_runtime *rt = d->rt;
	hd_core_enter(rt);
	int is_object = d->traits & HD_DATA_OBJECT;
	heddle_task *t = submit_unregister(d, "heddle_unregister", 1, &status);
	if (t) {
		int kept = 0;
		do
			status = hd_wait_reacting(rt, hd_task_is_over, t);
		while (status == HEDDLE_E_INTERRUPTED && !(kept = keep(d, t)));
		if (!status) {
			/* after this call the program may free memory that the functions of the object's type use */
			if (is_object)
				hd_wait_destroyed(rt);
			status = unregistered(t);
		} else if (!kept)
			status = give_up_waiting(d, status);
		hd_task_unref(rt, t);
	}
	hd_core_leave(rt);
	return status;
}

int heddle_unregister_async(heddle_data *d)
{
	int status = check_datum(d, "heddle_unregister_async");
	if (status)
		return status;
	heddle_runtime *rt = d->rt;
	hd_core_enter(rt);
	submit_unregister(d, "heddle_unregister_async", 0, &status);
	hd_core_leave(rt);
	return status;
}

int heddle_data_give_up(heddle_data *d)
{
	int status = check_datum(d, "heddle_data_give_up");
	if (status)
		return status;
	heddle_runtime *rt = d->rt;
	hd_core_enter(rt);
	/* hd_control_begin would wait while the window is full, perhaps for an event that this thread must fulfill */
	hd_control_begin_now(rt);
	status = check_unregister(d, "heddle_data_give_up");
	if (!status) {
		hd_data_give_up(d);
		/* the datum is closed even if there is no memory for the UNREGISTER task, which frees the handle */
		hd_data_close(d, HD_UNREGISTERED);
		hd_plans_close(d);
		unregister(d, 0);
		hd_core_settle(rt);
		hd_wake_if_still(rt, NULL);
	}
	hd_core_leave(rt);
	return status;
}
