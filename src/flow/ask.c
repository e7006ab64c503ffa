/* Selects the hungry workers for which the policy is asked (ask.h). The hungry workers of each group form a list, in
 * the order of the hungry list. To visit several groups in that order, a heap of groups is keyed by each group's next
 * worker. */
#include "ask.h"
#include <stdlib.h>
#include "state/failure.h"
#include "state/runtime.h"

/* Whether `v` comes before `w` in the hungry list: faster workers come first; of equally fast workers the one that
 * became hungry last. NULL comes after all workers. */
static int is_asked_before(const struct hd_worker *v, const struct hd_worker *w)
{
	if (HD_UNLIKELY(!v || !w))
		return v && !w;
	return v->speed != w->speed ? v->speed > w->speed : v->hungry_since > w->hungry_since;
}

static struct hd_ask_group *group_of(const struct hd_worker *w)
{
	return &w->rt->sched.ask.groups[w->group];
}

/* --- The lists of groups ------------------------------------------------------------------------------------------ */

/* Updates `askable` after a group was opened or closed, or its hungry workers have changed. */
static void update_askable(struct hd_ask *a, struct hd_ask_group *g)
{
	int wanted = g->hungry && (!g->closed || g->n_full);
	if (wanted == (g->place != 0))
		return;
	if (wanted) {
		a->askable[a->n_askable++] = g;
		g->place = (unsigned)a->n_askable;
		return;
	}
	struct hd_ask_group *last = a->askable[--a->n_askable];
	a->askable[g->place - 1] = last;
	last->place = g->place;
	g->place = 0;
}

void hd_ask_enter(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	struct hd_ask_group *g = group_of(w);
	struct hd_worker *prev = NULL, *next = g->hungry;
	w->hungry_since = ++w->rt->sched.ask.n_hungry;
	while (next && is_asked_before(next, w)) {
		prev = next;
		next = next->group_next;
	}
	w->group_prev = prev;
	w->group_next = next;
	if (next)
		next->group_prev = w;
	*(prev ? &prev->group_next : &g->hungry) = w;
	update_askable(&w->rt->sched.ask, g);
}

static void note_full(struct hd_worker *w, uint8_t full)
{
	struct hd_ask_group *g = group_of(w);
	g->n_full += (unsigned)full - (unsigned)w->full;
	w->full = full;
	update_askable(&w->rt->sched.ask, g);
}

void hd_ask_filled(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	if (w->rt->sched.ask.n_groups > 1)
		note_full(w, 1);
}

void hd_ask_leave(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	struct hd_ask_group *g = group_of(w);
	*(w->group_prev ? &w->group_prev->group_next : &g->hungry) = w->group_next;
	if (w->group_next)
		w->group_next->group_prev = w->group_prev;
	if (g->next == w)
		g->next = w->group_next;
	note_full(w, 0);
}

/* --- Asking the policy -------------------------------------------------------------------------------------------- */

/* Moves the group at place i of the heap down, to restore the heap order. */
static void sink(struct hd_ask *a, size_t i)
{
	struct hd_ask_group *g = a->queue[i];
	for (size_t child; (child = 2 * i + 1) < a->n_queue; i = child) {
		if (child + 1 < a->n_queue && is_asked_before(a->queue[child + 1]->next, a->queue[child]->next))
			child++;
		if (!is_asked_before(a->queue[child]->next, g->next))
			break;
		a->queue[i] = a->queue[child];
	}
	a->queue[i] = g;
}

static void join_queue(struct hd_ask *a, struct hd_ask_group *g)
{
	size_t i = a->n_queue++;
	g->queued = 1;
	for (; i > 0 && is_asked_before(g->next, a->queue[(i - 1) / 2]->next); i = (i - 1) / 2)
		a->queue[i] = a->queue[(i - 1) / 2];
	a->queue[i] = g;
}

/* Restores the heap order after `next` of the first group has changed; removes the group if none of its workers is left
 * to ask. */
static void renew_first(struct hd_ask *a)
{
	struct hd_ask_group *g = a->queue[0];
	if (!g->next || (g->closed && !g->n_full)) {
		g->queued = 0;
		a->queue[0] = a->queue[--a->n_queue];
	}
	if (a->n_queue)
		sink(a, 0);
}

/* Queues all askable groups. The group whose worker is asked first goes to the front; the other groups are not ordered
 * yet, because often one worker takes all ready tasks, and ordering would be wasted. */
static void fill_queue(struct hd_ask *a)
{
	size_t first = 0;
	for (size_t i = 0; i < a->n_askable; i++) {
		struct hd_ask_group *g = a->queue[i] = a->askable[i];
		g->next = g->hungry;
		g->queued = 1;
		first = is_asked_before(g->next, a->queue[first]->next) ? i : first;
	}
	struct hd_ask_group *g = a->queue[first];
	a->queue[first] = a->queue[0];
	a->queue[0] = g;
	a->n_queue = a->n_askable;
}

static void ask_groups(heddle_runtime *rt, void (*ask)(struct hd_worker *))
{
	struct hd_ask *a = &rt->sched.ask;
	fill_queue(a);
	for (int is_heap = 0; a->n_queue; is_heap = 1) {
		struct hd_ask_group *g = a->queue[0];
		struct hd_worker *w = g->next; /* NULL: the worker has left the hungry list since */
		if (HD_LIKELY(w != NULL)) {
			g->next = w->group_next;
			a->asked = w;
			note_full(w, 0);
			ask(w);
		}
		if (!rt->count.ready)
			break;
		for (size_t i = is_heap ? 0 : a->n_queue / 2; i-- > 1;)
			sink(a, i);
		renew_first(a);
	}
	a->asked = NULL;
	while (a->n_queue)
		a->queue[--a->n_queue]->queued = 0;
}

/* Whether groups for which the policy has no tasks are skipped. While a task is aside (aside.h), no worker is skipped,
 * because any worker may take the task over. */
static int passes_over(const heddle_runtime *rt)
{
	return rt->sched.ask.n_groups > 1 && !rt->dispatch.n_aside;
}

void hd_ask_hungry(heddle_runtime *rt, void (*ask)(struct hd_worker *))
{
	HD_HELD(&rt->lock);
	if (passes_over(rt)) {
		if (rt->sched.ask.n_askable && rt->count.ready)
			ask_groups(rt, ask);
		return;
	}
	for (struct hd_worker *next, *w = rt->dispatch.hungry; w && rt->count.ready; w = next) {
		next = w->hungry_next;
		ask(w);
	}
}

/* --- Calls of the policy ------------------------------------------------------------------------------------------ */

void heddle_sched_group(heddle_sched *s, unsigned worker, unsigned group)
{
	if (s->ask.formed) { /* the hungry workers are in the lists of their groups */
		int status =
		    hd_error(HEDDLE_E_STATE, "policy %s calls heddle_sched_group outside its create", s->policy->name);
		hd_failure_note(s->rt->outcome.failure, status, 0, heddle_last_error());
		return;
	}
	if (worker >= s->rt->n_workers || group >= s->rt->n_workers)
		return;
	s->rt->workers[worker].group = group;
	if (group >= s->ask.n_groups)
		s->ask.n_groups = group + 1;
}

void heddle_sched_open(heddle_sched *s, unsigned group, int open)
{
	struct hd_ask *a = &s->ask;
	struct hd_ask_group *g = &a->groups[group];
	if (group >= a->n_groups || g->closed == !open)
		return;
	g->closed = !open;
	update_askable(a, g);
	if (!open || !a->asked || g->queued)
		return;
	/* The policy has opened the group during its call for the worker `asked`: workers of the group that come later
	 * in the order are asked, too. */
	g->next = g->hungry;
	while (g->next && !is_asked_before(a->asked, g->next))
		g->next = g->next->group_next;
	if (g->next)
		join_queue(a, g);
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */

int hd_ask_open(struct hd_ask *a, size_t n_workers)
{
	a->groups = calloc(n_workers, sizeof *a->groups);
	a->askable = calloc(n_workers, sizeof(struct hd_ask_group *));
	a->queue = calloc(n_workers, sizeof(struct hd_ask_group *));
	return a->groups && a->askable && a->queue ? 0 : hd_no_memory("the groups of workers");
}

void hd_ask_close(struct hd_ask *a)
{
	free(a->groups);
	free(a->askable);
	free(a->queue);
	*a = (struct hd_ask){0};
}

void hd_ask_forget(heddle_runtime *rt)
{
	struct hd_ask *a = &rt->sched.ask;
	a->formed = 0;
	a->n_groups = 1;
	a->n_askable = 0;
	for (size_t i = 0; i < rt->n_workers; i++) {
		a->groups[i] = (struct hd_ask_group){0};
		rt->workers[i].group = 0;
		rt->workers[i].full = 0;
	}
}

void hd_ask_begin(heddle_runtime *rt)
{
	struct hd_worker *last = rt->dispatch.hungry;
	rt->sched.ask.formed = 1;
	if (rt->sched.ask.n_groups == 1)
		return;
	while (last && last->hungry_next)
		last = last->hungry_next;
	for (; last; last = last->hungry_prev)
		hd_ask_enter(last);
}

static int check_list(const heddle_runtime *rt, size_t group, size_t *n_listed)
{
	const struct hd_worker *before = NULL;
	for (const struct hd_worker *w = rt->sched.ask.groups[group].hungry; w; before = w, w = w->group_next)
		if (w->group != group || !w->hungry || w->group_prev != before || ++*n_listed > rt->n_workers)
			return hd_error(HEDDLE_E_STATE,
			                "group %zu of hungry workers: the links or the mark of %s are wrong", group,
			                rt->platform->workers[w->id].name);
	return 0;
}

int hd_ask_check(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	const struct hd_ask *a = &rt->sched.ask;
	size_t n_listed = 0, n_hungry = 0, n_askable = 0;
	for (size_t i = 0; i < a->n_groups && a->n_groups > 1; i++) {
		const struct hd_ask_group *g = &a->groups[i];
		int askable = g->hungry && (!g->closed || g->n_full), status = check_list(rt, i, &n_listed);
		if (status)
			return status;
		n_askable += (size_t)askable;
		if (askable != (g->place != 0))
			return hd_error(HEDDLE_E_STATE,
			                "group %zu of hungry workers: its place among the askable is %u", i, g->place);
	}
	for (size_t i = 0; i < rt->n_workers; i++)
		n_hungry += rt->workers[i].hungry;
	if (a->n_groups > 1 && (n_listed != n_hungry || n_askable != a->n_askable))
		return hd_error(HEDDLE_E_STATE,
		                "%zu workers are hungry, %zu in groups; %zu groups are askable, n_askable says %zu",
		                n_hungry, n_listed, n_askable, a->n_askable);
	return 0;
}
