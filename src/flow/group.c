/* Groups of tasks: include/heddle/group.h.
 *
 * A task names its group in extra->group. The group counts a task before the task enters the ring, and until the task
 * is buried. So a task that a kernel of the group submits is counted before the kernel's own task ends, and the count
 * cannot be 0 in between. */
#include "group.h"
#include <stdlib.h>
#include "dispatch.h"
#include "errands.h"
#include "wait.h"
#include "misuse/misuse.h"
#include "state/call_context.h"
#include "state/core_lock.h"
#include "state/engine.h"
#include "state/failure.h"
#include "state/process.h"

struct heddle_group {
	heddle_runtime *rt; /* const */
	/* Number of tasks that were submitted and have not ended. pairs: a submitter increments before its task gets
	 * into the ring; the increments are relaxed, because the ring orders them. Decremented and read under the core
	 * lock. */
	_Atomic uint64_t n_live;
	/* Guarded by the core lock. */
	heddle_group *next, *prev; /* in the runtime's list */
	struct hd_failure failure; /* the first failure that has not been reported */
	int freed;                 /* the program has freed the group; it lives until its last task has ended */
};

static uint64_t live(const heddle_group *g)
{
	/* Relaxed, pairs with nothing: see the field. */
	return atomic_load_explicit(&g->n_live, memory_order_relaxed);
}

/* Lets heddle_wait_all report a failure that the group has not reported. */
static void pass_on(heddle_group *g)
{
	if (g->failure.status)
		hd_failure_note(g->rt->outcome.failure, g->failure.status, g->failure.code, g->failure.message);
	hd_failure_clear(&g->failure);
}

static void destroy(heddle_group *g)
{
	heddle_runtime *rt = g->rt;
	HD_HELD(&rt->lock);
	pass_on(g);
	*(g->prev ? &g->prev->next : &rt->groups) = g->next;
	if (g->next)
		g->next->prev = g->prev;
	g->freed = 1;
	free(HD_UNLIKELY(rt->misuse != NULL) ? hd_misuse_keep(rt, g) : g);
}

void hd_group_enter(heddle_group *g)
{
	/* Relaxed, pairs with nothing: see the field. */
	atomic_fetch_add_explicit(&g->n_live, 1, memory_order_relaxed);
}

void hd_group_leave(heddle_group *g)
{
	HD_HELD(&g->rt->lock);
	/* Relaxed, pairs with nothing: see the field. */
	if (atomic_fetch_sub_explicit(&g->n_live, 1, memory_order_relaxed) > 1)
		return;
	g->rt->waits.news = 1;
	if (g->freed)
		destroy(g);
}

void hd_group_refused(heddle_group *g)
{
	heddle_runtime *rt = g->rt;
	hd_core_enter(rt);
	hd_group_leave(g);
	hd_core_settle(rt);
	hd_core_leave(rt);
}

struct hd_failure *hd_task_failure(heddle_runtime *rt, const heddle_task *t)
{
	HD_HELD(&rt->lock);
	heddle_group *g = t->extra ? t->extra->group : NULL;
	return g && !g->freed ? &g->failure : rt->outcome.failure;
}

heddle_runtime *hd_group_runtime(const heddle_group *g)
{
	return g->rt;
}

int hd_group_check(const heddle_group *g, const char *what)
{
	hd_core_enter(g->rt);
	int freed = g->freed;
	hd_core_leave(g->rt);
	return freed ? hd_error(HEDDLE_E_STATE, "%s: the group has been freed", what) : 0;
}

uint64_t hd_groups_live(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	uint64_t n = 0;
	for (const heddle_group *g = rt->groups; g; g = g->next)
		n += live(g);
	return n;
}

void hd_groups_report(heddle_runtime *rt)
{
	hd_core_enter(rt);
	for (heddle_group *g = rt->groups; g; g = g->next)
		pass_on(g);
	hd_core_leave(rt);
}

void hd_groups_free(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	while (rt->groups)
		destroy(rt->groups);
}

/* --- For the program ---------------------------------------------------------------------------------------------- */

int heddle_group_create(heddle_runtime *rt, heddle_group **out)
{
	if (!rt || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_group_create needs a runtime and a place for the group");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	heddle_group *g = calloc(1, sizeof *g);
	if (!g)
		return hd_no_memory("a group of tasks");
	g->rt = rt;
	hd_core_enter(rt);
	g->next = rt->groups;
	if (g->next)
		g->next->prev = g;
	rt->groups = g;
	hd_core_leave(rt);
	*out = g;
	return 0;
}

int hd_group_is_over(heddle_runtime *rt, void *arg)
{
	HD_HELD(&rt->lock);
	return live(arg) == 0;
}

/* HEDDLE_E_STATE: the calling thread runs a callback, or a kernel that must not wait. */
static int check_place(const heddle_runtime *rt)
{
	if (hd_inside() && hd_inside()->what == HD_INSIDE_MEMBER)
		return hd_error(HEDDLE_E_STATE, "heddle_group_wait: a member of a team that runs an SPMD kernel cannot "
		                                "wait, because the others wait for it; let another task wait, or the "
		                                "codelet be HEDDLE_FORK_JOIN");
	if (hd_inside() && !hd_inside_may_wait(rt))
		return hd_error(HEDDLE_E_STATE,
		                "heddle_group_wait blocks: it cannot be called from a callback, nor from "
		                "a kernel that does not run on a CPU worker of the group's runtime");
	return hd_check_process(rt);
}

int heddle_may_wait(heddle_runtime *rt)
{
	/* bytes of stack that heddle_may_wait demands beyond the wait's own need, because the kernel may wait in a
	 * deeper function */
	enum { UNTIL_THEN = 64 << 10 };
	if (!rt)
		return hd_error(HEDDLE_E_INVALID, "heddle_may_wait needs a runtime");
	int status = check_place(rt);
	if (status || !hd_inside())
		return status;
	hd_core_enter(rt);
	status = rt->engine->may_wait(rt, UNTIL_THEN, NULL);
	hd_core_leave(rt);
	return status;
}

int heddle_group_wait(heddle_group *group)
{
	if (!group)
		return hd_error(HEDDLE_E_INVALID, "heddle_group_wait needs a group");
	heddle_runtime *rt = group->rt;
	if (check_place(rt))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	int status = group->freed ? hd_error(HEDDLE_E_STATE, "heddle_group_wait: the group has been freed")
	                          : hd_wait_until(rt, hd_group_is_over, group);
	if (!status)
		status = hd_failure_report(&group->failure);
	hd_core_leave(rt);
	return status;
}

void heddle_group_free(heddle_group *group)
{
	if (!group || hd_check_process(group->rt))
		return;
	heddle_runtime *rt = group->rt;
	hd_core_enter(rt);
	int again = group->freed; /* a group freed twice: only checking mode keeps freed groups */
	group->freed = 1;
	if (again)
		hd_failure_note(rt->outcome.failure, HEDDLE_E_MISUSE, 0, "heddle_group_free: a group was freed twice");
	else
		pass_on(group);
	if (!again && !live(group))
		destroy(group);
	hd_core_leave(rt);
}
