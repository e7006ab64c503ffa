/* The states of workers: which can hold another task, the hungry ones, in which order these are asked, and when each
 * will have run the tasks it holds. Everything runs under the core lock. */
#include <math.h>
#include <stdlib.h>
#include "worker_set.h"

void hd_worker_enter(struct hd_worker *w, enum hd_worker_state state)
{
	HD_HELD(&w->rt->lock);
	int before = hd_worker_is_asleep(w);
	w->rt->count.off += (unsigned)(state == HD_OFF) - (unsigned)(w->state == HD_OFF);
	w->state = (uint8_t)state;
	if (HD_UNLIKELY(hd_worker_is_asleep(w) != before))
		hd_gate_asleep(w, !before);
}

/* --- Groups of hungry workers (heddle_sched_group) ---------------------------------------------------------------- */

/* Whether `a` is asked before `b`: the faster first, then the one that became hungry later. */
static int is_asked_before(const struct hd_worker *a, const struct hd_worker *b)
{
	return a->speed != b->speed ? a->speed > b->speed : a->hungry_since > b->hungry_since;
}

/* Brings `askable` in agreement with a group that was opened or closed, or whose hungry workers have come or gone. */
static void update_askable(struct heddle_sched *s, struct hd_ask_group *g)
{
	int wanted = g->hungry && (!g->closed || g->n_full);
	if (wanted == (g->place != 0))
		return;
	if (wanted) {
		s->askable[s->n_askable++] = g;
		g->place = (unsigned)s->n_askable;
		return;
	}
	struct hd_ask_group *last = s->askable[--s->n_askable];
	s->askable[g->place - 1] = last;
	last->place = g->place;
	g->place = 0;
}

static void enter_group(struct hd_worker *w)
{
	struct heddle_sched *s = &w->rt->sched;
	struct hd_ask_group *g = &s->groups[w->group];
	struct hd_worker *prev = NULL, *next = g->hungry;
	w->hungry_since = ++s->n_hungry;
	while (next && is_asked_before(next, w)) {
		prev = next;
		next = next->group_next;
	}
	w->group_prev = prev;
	w->group_next = next;
	if (next)
		next->group_prev = w;
	*(prev ? &prev->group_next : &g->hungry) = w;
	update_askable(s, g);
}

static void note_full(struct hd_worker *w, uint8_t full)
{
	struct hd_ask_group *g = &w->rt->sched.groups[w->group];
	g->n_full += (unsigned)full - (unsigned)w->full;
	w->full = full;
	update_askable(&w->rt->sched, g);
}

void hd_core_filled(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	if (w->rt->sched.n_groups > 1)
		note_full(w, 1);
}

static void leave_group(struct hd_worker *w)
{
	struct hd_ask_group *g = &w->rt->sched.groups[w->group];
	*(w->group_prev ? &w->group_prev->group_next : &g->hungry) = w->group_next;
	if (w->group_next)
		w->group_next->group_prev = w->group_prev;
	if (g->next == w)
		g->next = w->group_next;
	note_full(w, 0);
}

/* Moves the group at place i of the heap down to where it belongs. */
static void sink(struct heddle_sched *s, size_t i)
{
	struct hd_ask_group *g = s->queue[i];
	for (size_t child; (child = 2 * i + 1) < s->n_queue; i = child) {
		if (child + 1 < s->n_queue && is_asked_before(s->queue[child + 1]->next, s->queue[child]->next))
			child++;
		if (!is_asked_before(s->queue[child]->next, g->next))
			break;
		s->queue[i] = s->queue[child];
	}
	s->queue[i] = g;
}

static void join_queue(struct heddle_sched *s, struct hd_ask_group *g)
{
	size_t i = s->n_queue++;
	g->queued = 1;
	for (; i > 0 && is_asked_before(g->next, s->queue[(i - 1) / 2]->next); i = (i - 1) / 2)
		s->queue[i] = s->queue[(i - 1) / 2];
	s->queue[i] = g;
}

/* Takes the first group off the heap if nobody of it is left to ask. */
static void renew_first(struct heddle_sched *s)
{
	struct hd_ask_group *g = s->queue[0];
	if (!g->next || (g->closed && !g->n_full)) {
		g->queued = 0;
		s->queue[0] = s->queue[--s->n_queue];
	}
	if (s->n_queue)
		sink(s, 0);
}

static void ask_groups(heddle_runtime *rt, void (*ask)(struct hd_worker *))
{
	struct heddle_sched *s = &rt->sched;
	for (size_t i = 0; i < s->n_askable; i++) {
		s->askable[i]->next = s->askable[i]->hungry;
		join_queue(s, s->askable[i]);
	}
	while (s->n_queue && rt->count.ready) {
		struct hd_ask_group *g = s->queue[0];
		struct hd_worker *w = g->next;
		g->next = w->group_next;
		s->asked = w;
		note_full(w, 0);
		ask(w);
		renew_first(s);
	}
	s->asked = NULL;
	while (s->n_queue)
		s->queue[--s->n_queue]->queued = 0;
}

void hd_core_ask_hungry(heddle_runtime *rt, void (*ask)(struct hd_worker *))
{
	HD_HELD(&rt->lock);
	if (rt->sched.n_groups > 1) {
		if (rt->sched.n_askable)
			ask_groups(rt, ask);
		return;
	}
	for (struct hd_worker *next, *w = rt->dispatch.hungry; w && rt->count.ready; w = next) {
		next = w->hungry_next;
		ask(w);
	}
}

void hd_ask_forget(heddle_runtime *rt)
{
	struct heddle_sched *s = &rt->sched;
	s->n_groups = 1;
	s->n_askable = 0;
	s->n_moved = 0;
	s->watched = 0;
	for (size_t i = 0; i < rt->n_workers; i++) {
		s->groups[i] = (struct hd_ask_group){0};
		rt->workers[i].group = 0;
		rt->workers[i].moved = rt->workers[i].full = 0;
	}
}

void hd_ask_begin(heddle_runtime *rt)
{
	struct hd_worker *last = rt->dispatch.hungry;
	if (rt->sched.n_groups == 1)
		return;
	while (last && last->hungry_next)
		last = last->hungry_next;
	for (; last; last = last->hungry_prev)
		enter_group(last);
}

void heddle_sched_group(heddle_sched *s, unsigned worker, unsigned group)
{
	if (worker >= s->rt->n_workers || group >= s->rt->n_workers)
		return;
	s->rt->workers[worker].group = group;
	if (group >= s->n_groups)
		s->n_groups = group + 1;
}

void heddle_sched_open(heddle_sched *s, unsigned group, int open)
{
	struct hd_ask_group *g = &s->groups[group];
	if (g->closed == !open || group >= s->n_groups)
		return;
	g->closed = !open;
	update_askable(s, g);
	if (!open || !s->asked || g->queued)
		return;
	/* Workers are being asked: those of this group follow that come behind the one that is asked now. */
	g->next = g->hungry;
	while (g->next && !is_asked_before(s->asked, g->next))
		g->next = g->next->group_next;
	if (g->next)
		join_queue(s, g);
}

/* --- Hungry workers ----------------------------------------------------------------------------------------------- */

void hd_core_hungry(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	if (w->hungry || !hd_worker_is_attended(w) || HD_UNLIKELY(!w->pipeline))
		return;
	heddle_runtime *rt = w->rt;
	struct hd_worker *prev = NULL, *next = rt->dispatch.hungry;
	while (HD_UNLIKELY(w->speed > 0) && next && next->speed > w->speed) {
		prev = next;
		next = next->hungry_next;
	}
	w->hungry = 1;
	w->hungry_prev = prev;
	w->hungry_next = next;
	if (next)
		next->hungry_prev = w;
	*(prev ? &prev->hungry_next : &rt->dispatch.hungry) = w;
	if (rt->sched.n_groups > 1)
		enter_group(w);
}

void hd_core_not_hungry(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	if (!w->hungry)
		return;
	w->hungry = 0;
	if (w->hungry_prev)
		w->hungry_prev->hungry_next = w->hungry_next;
	else
		w->rt->dispatch.hungry = w->hungry_next;
	if (w->hungry_next)
		w->hungry_next->hungry_prev = w->hungry_prev;
	if (w->rt->sched.n_groups > 1)
		leave_group(w);
}

/* --- When workers are free ---------------------------------------------------------------------------------------- */

/* hd_worker_free_at for a worker with several slots. What its kernels have done so far is estimated as if as many had
 * run all the time as run now. */
static double slots_free_at(const struct hd_worker *w, double now)
{
	const struct heddle_class *class_ = &w->rt->platform->classes[w->class_id];
	unsigned n_running = 0;
	double us = w->backlog;
	for (unsigned i = 0; i < w->n_slots; i++)
		n_running += w->slots[i].task != NULL;
	for (unsigned i = 0; i < w->n_slots; i++) {
		const struct hd_slot *s = &w->slots[i];
		if (!s->task)
			continue;
		double left = s->predicted - (now - s->start) * heddle_class_rate(class_, n_running);
		us += left > 0 ? left : 0;
	}
	return now + us / hd_class_full_rate(w->rt, w->class_id);
}

double hd_worker_free_at(struct hd_worker *w, double now)
{
	HD_HELD(&w->rt->lock);
	if (w->n_slots > 1)
		return slots_free_at(w, now);
	if (HD_UNLIKELY(w->n_rivals))
		now = hd_cores_free_at(w, now);
	double end = w->slots->task ? w->slots->start + w->slots->predicted : now;
	return (end > now ? end : now) + w->backlog;
}

/* Whether time alone changes what the worker holds in another way than heddle_sched_worker_load says. */
static int is_unsteady(const struct hd_worker *w)
{
	return w->n_slots > 1 || w->n_rivals;
}

void heddle_sched_worker_load(heddle_sched *s, unsigned worker, double *until, double *backlog)
{
	struct hd_worker *w = &s->rt->workers[worker];
	HD_HELD(&s->rt->lock);
	*until = w->slots->task ? w->slots->start + w->slots->predicted : (double)-INFINITY;
	*backlog = w->backlog;
	if (HD_UNLIKELY(is_unsteady(w))) {
		*until = hd_worker_free_at(w, s->rt->now);
		*backlog = 0;
	}
}

void hd_worker_note_moved(struct hd_worker *w)
{
	struct heddle_sched *s = &w->rt->sched;
	HD_HELD(&w->rt->lock);
	w->moved = 1;
	s->moved[s->n_moved++] = w->id;
}

size_t heddle_sched_moved(heddle_sched *s, const unsigned **workers)
{
	HD_HELD(&s->rt->lock);
	unsigned *told = s->moved;
	size_t n = s->n_moved;
	for (size_t i = 0; i < n; i++)
		s->rt->workers[told[i]].moved = 0;
	s->moved = s->told;
	s->told = told;
	s->n_moved = 0;
	if (!s->watched)
		for (n = 0; n < s->rt->n_workers; n++)
			told[n] = (unsigned)n;
	s->watched = 1;
	for (size_t i = 0; i < s->n_unsteady; i++)
		hd_worker_moved(&s->rt->workers[s->unsteady[i]]);
	*workers = told;
	return n;
}

int hd_ask_open(heddle_runtime *rt)
{
	struct heddle_sched *s = &rt->sched;
	size_t n = rt->n_workers;
	s->groups = calloc(n, sizeof *s->groups);
	s->askable = calloc(n, sizeof(struct hd_ask_group *));
	s->queue = calloc(n, sizeof(struct hd_ask_group *));
	s->moved = calloc(n, sizeof *s->moved);
	s->told = calloc(n, sizeof *s->told);
	s->unsteady = calloc(n, sizeof *s->unsteady);
	if (!s->groups || !s->askable || !s->queue || !s->moved || !s->told || !s->unsteady)
		return hd_no_memory("the groups of workers");
	for (size_t i = 0; i < n; i++)
		if (is_unsteady(&rt->workers[i]))
			s->unsteady[s->n_unsteady++] = (unsigned)i;
	return 0;
}

void hd_ask_close(heddle_runtime *rt)
{
	struct heddle_sched *s = &rt->sched;
	s->n_groups = 0;
	free(s->groups);
	free(s->askable);
	free(s->queue);
	free(s->moved);
	free(s->told);
	free(s->unsteady);
}
