/* Asks the policy for a task in the special cases in which the call of `pick` in dispatch.c does not suffice
 * (hd_pick_specially), and checks the tasks that a policy of the program picks. */
#include "pick.h"
#include "aside.h"
#include "state/failure.h"

/* Records that the program's policy has picked a task against the rules, for the reason `why`. The next heddle_wait_all
 * reports this. */
static int note_misbehaviour(const struct hd_worker *w, const heddle_task *t, const char *why)
{
	heddle_runtime *rt = w->rt;
	char title[HD_TITLE];
	int status = hd_error(HEDDLE_E_STATE, "policy %s gave worker %s %s, which %s", rt->sched.policy->name,
	                      rt->platform->workers[w->id].name, hd_task_title(t, title, sizeof title), why);
	hd_failure_note(rt->outcome.failure, status, 0, heddle_last_error());
	return status;
}

heddle_task *hd_check_pick(const struct hd_worker *w, heddle_task *t)
{
	/* Relaxed, pairs with nothing: the core lock orders it with the stores in hd_set_state. */
	if (atomic_load_explicit(&t->state, memory_order_relaxed) != HD_READY || t->aside) {
		note_misbehaviour(w, t, "is not ready: perhaps it was given before");
		return NULL;
	}
	if (!heddle_task_can_run(t, w->id))
		t->status = note_misbehaviour(w, t, "that worker cannot run: see heddle_task_can_run");
	return t;
}

static heddle_task *pick_measured(struct hd_worker *w)
{
	double began = hd_policy_begins(w->rt);
	heddle_task *t = w->rt->sched.policy->pick(w->rt->sched.state, w->id);
	hd_policy_ends(w->rt, began);
	return t;
}

heddle_task *hd_pick_specially(struct hd_worker *w)
{
	heddle_runtime *rt = w->rt;
	HD_HELD(&rt->lock);
	heddle_task *t = hd_aside_own(w);
	if (t) {
		rt->count.picks++;
		return t;
	}
	while ((t = hd_picked(w, pick_measured(w))) && hd_is_too_shallow(w, t)) {
		hd_aside_push(w, t);
		rt->count.picks--;
	}
	if (!t && (t = hd_aside_of_others(w)))
		rt->count.picks++;
	return t;
}
