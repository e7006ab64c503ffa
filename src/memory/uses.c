/* Future uses: each datum has a list of the tasks in the graph that access it and whose data are not pinned yet, in the
 * order of submission. If a memory has a limit and the eviction rule looks ahead, the memory of each task ends with one
 * struct hd_use per access. Only while a memory is tight, these records are in the lists of their data.
 *
 * A task leaves the lists when its data are pinned on the node where it will run, or when it ends without having run.
 * Tasks without a codelet are not listed, because their data are needed in main memory, from which nothing is evicted.
 */
#include "uses.h"
#include <stdlib.h>
#include "state/data.h"
#include "state/runtime.h"
#include "state/task_pool.h"

static struct hd_use *uses_of(heddle_task *t)
{
	return (struct hd_use *)(void *)((char *)t + hd_pool_task_size(t)) - t->n_accesses;
}

struct hd_use_list *hd_data_uses(const heddle_data *d)
{
	return (struct hd_use_list *)(uintptr_t)&d->replicas[d->rt->n_nodes];
}

static void append(heddle_data *d, struct hd_use *u)
{
	struct hd_use_list *uses = hd_data_uses(d);
	if (!uses->first)
		uses->end = &uses->first;
	u->next = NULL;
	u->prev_next = uses->end;
	*uses->end = u;
	uses->end = &u->next;
}

static void unlink_use(heddle_data *d, const struct hd_use *u)
{
	*u->prev_next = u->next;
	if (u->next)
		u->next->prev_next = u->prev_next;
	else
		hd_data_uses(d)->end = u->prev_next;
}

/* 1 + the node to which the policy or the program has bound the task; 0: to none. */
static uint16_t place_of(const heddle_task *t, const struct hd_use *first)
{
	if (t->special & HD_TASK_PLACED)
		return first->place;
	return t->only_worker ? (uint16_t)(t->codelet->rt->workers[t->only_worker - 1].node + 1) : 0;
}

static void enlist(heddle_task *t)
{
	struct hd_use *u = uses_of(t);
	uint16_t place = place_of(t, u);
	t->special |= HD_TASK_LISTED;
	for (uint32_t i = 0; i < t->n_accesses; i++, u++) {
		*u = (struct hd_use){.access = &t->accesses[i], .place = place};
		if (hd_is_use(u->access))
			append(u->access->data, u);
	}
}

void hd_uses_unlist(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	struct hd_use *u = uses_of(t);
	t->special &= (uint16_t)~HD_TASK_LISTED;
	for (uint32_t i = 0; i < t->n_accesses; i++, u++)
		if (u->prev_next)
			unlink_use(u->access->data, u);
}

void hd_uses_enter(heddle_task *t)
{
	const heddle_runtime *rt = hd_task_runtime(t);
	HD_HELD(&rt->lock);
	if (rt->dispatch.n_tight && t->codelet && t->n_accesses)
		enlist(t);
}

void hd_uses_place(heddle_task *t, unsigned node)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	struct hd_use *u = uses_of(t);
	uint32_t n = t->special & HD_TASK_LISTED ? t->n_accesses : t->n_accesses != 0;
	t->special |= HD_TASK_PLACED;
	for (uint32_t i = 0; i < n; i++, u++)
		u->place = (uint16_t)(node + 1);
}

/* --- Memories become tight ---------------------------------------------------------------------------------------- */

struct listing {
	heddle_task **tasks; /* the array to fill; NULL: only counts the tasks */
	size_t n;
};

static void note_task(const heddle_task *t, void *arg)
{
	struct listing *l = arg;
	if (!hd_uses_are_due(t))
		return;
	if (l->tasks)
		l->tasks[l->n] = (heddle_task *)(uintptr_t)t;
	l->n++;
}

static int by_order(const void *a, const void *b)
{
	const heddle_task *x = *(heddle_task *const *)a, *y = *(heddle_task *const *)b;
	return (x->order > y->order) - (x->order < y->order);
}

int hd_uses_list(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	struct listing l = {0};
	hd_pool_each(rt->pool, note_task, &l);
	l.tasks = malloc((l.n + 1) * sizeof(heddle_task *));
	if (!l.tasks)
		return hd_no_memory("the tasks that will use data");
	l.n = 0;
	hd_pool_each(rt->pool, note_task, &l);
	qsort(l.tasks, l.n, sizeof(heddle_task *), by_order);
	for (size_t i = 0; i < l.n; i++)
		enlist(l.tasks[i]);
	free(l.tasks);
	return 0;
}

static void forget_task(const heddle_task *t, void *arg)
{
	(void)arg;
	if (hd_uses_are_due(t) && (t->special & HD_TASK_LISTED))
		hd_uses_unlist((heddle_task *)(uintptr_t)t);
}

void hd_uses_forget(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	hd_pool_each(rt->pool, forget_task, NULL);
}

/* --- When a copy is needed ---------------------------------------------------------------------------------------- */

/* The predicted turn of a task: the smaller the turn, the sooner the task will run. Ready tasks come before tasks that
 * wait for other tasks; then the higher priority comes first, then the earlier submission. Even for policies that
 * ignore priorities, this prediction is as good as any other that was tried, because programs give high priorities to
 * tasks that soon release others. The layout of the bits is in uses.h. The bits for the order of submission wrap around
 * after 2^27 tasks, far more than there are unfinished tasks. */
static uint64_t turn(const heddle_task *t)
{
	/* relaxed, pairs with nothing: the core lock is held whenever the state of a task in the graph changes */
	int waits = atomic_load_explicit(&t->state, memory_order_relaxed) < HD_READY;
	uint64_t priority = (uint64_t)((int64_t)INT32_MAX - t->priority);
	return (waits ? HD_WAITS : 0) | priority << 27 | (t->order & ((1 << 27) - 1));
}

/* Whether the task will run on another node: the policy has chosen another node, or no worker of this node can run the
 * task. */
static int is_elsewhere(const struct hd_use *u, const heddle_task *t, unsigned node)
{
	const heddle_runtime *rt = t->codelet->rt;
	return u->place ? u->place != node + 1 : !t->codelet->class_ok[rt->workers[rt->node_worker[node]].class_id];
}

/* Whether the task may run on an accelerator whose node is not `node`. */
static int may_run_beyond(const struct hd_use *u, const heddle_task *t, unsigned node)
{
	for (unsigned other = 1; other < t->codelet->rt->n_nodes; other++)
		if (other != node && !is_elsewhere(u, t, other))
			return 1;
	return 0;
}

/* Whether the task of the use is ready, may run on several accelerators, and is one of few that may use the value on
 * the node. If there were many such tasks, one of them would probably run on the node. */
static int is_for_anywhere(const struct hd_use *u, unsigned node)
{
	enum { FEW = 16, MOST_LOOKED_AT = 32 };
	const heddle_task *t = hd_access_task(u->access);
	unsigned n = 0, looked_at = 0;
	if (u->place || (turn(t) & HD_WAITS) || !may_run_beyond(u, t, node))
		return 0;
	for (; u && u->access->mode != HEDDLE_W && n <= FEW && looked_at < MOST_LOOKED_AT; u = u->next, looked_at++) {
		n += !is_elsewhere(u, hd_access_task(u->access), node);
		if (hd_mode_writes(u->access->mode))
			break;
	}
	return n <= FEW;
}

/* The number of nodes other than `node` and main memory that have a valid replica. */
static unsigned count_rivals(const heddle_data *d, unsigned node)
{
	return (unsigned)(d->n_valid - d->replicas[0].valid - d->replicas[node].valid);
}

uint64_t hd_next_use(const heddle_data *d, unsigned node)
{
	HD_HELD(&d->rt->lock);
	enum { MOST_LOOKED_AT = 32 }; /* limits the time for a datum with thousands of readers */
	unsigned n = 0, rivals = count_rivals(d, node);
	for (const struct hd_use *u = hd_data_uses(d)->first; u; u = u->next) {
		const heddle_task *t = hd_access_task(u->access);
		int elsewhere = is_elsewhere(u, t, node), writes = hd_mode_writes(u->access->mode);
		/* This task replaces the value without a read of this replica. */
		if (u->access->mode == HEDDLE_W || (elsewhere && writes))
			return HD_NEVER;
		/* A reader whose node is not known will probably run on a node with a valid replica. So as many of
		 * these readers are skipped as there are other nodes with valid replicas: one for each. */
		int for_rival = !elsewhere && !u->place && !writes && rivals;
		rivals -= (unsigned)for_rival;
		if ((!elsewhere && !for_rival) || ++n == MOST_LOOKED_AT)
			return turn(t) | (is_for_anywhere(u, node) ? HD_ANYWHERE : 0);
	}
	return HD_NEVER;
}

uint64_t hd_next_use_elsewhere(const heddle_data *d, unsigned node)
{
	HD_HELD(&d->rt->lock);
	const struct hd_use *u = hd_data_uses(d)->first;
	int elsewhere = u && u->place > 1 && u->place != node + 1 && u->access->mode != HEDDLE_W;
	return elsewhere ? turn(hd_access_task(u->access)) : HD_NEVER;
}
