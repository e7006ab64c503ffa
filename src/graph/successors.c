/* What follows a task, for policies (heddle/policy.h). The walk reads the chains of the task's data (chains.c) and the
 * explicit edges; it changes nothing but the marks of tasks that it has met. */
#include <heddle/policy.h>
#include "state/data.h"
#include "state/runtime.h"
#include "chains.h"

static unsigned count_preds(const heddle_task *t)
{
	unsigned n = t->extra ? t->extra->n_preds : 0;
	for (uint32_t i = 0; i < t->n_accesses; i++)
		n += t->accesses[i].n_preds;
	return n ? n : 1; /* `n` is 0 for a step of a reduction, which waits for one task: the step before it */
}

/* Whether a worker will run the task. A cancelled task runs no kernel: it waits for its turn and then ends. A
 * hierarchical task may leave the work to its sub-graph. */
static int will_run(const heddle_task *t)
{
	return t->kind == HD_TASK_CODELET && !t->cancelled && !(t->special & HD_TASK_EXPANDS);
}

/* The first access in the queue, from `a` on, that is not a granted marker; NULL: there is none. */
static struct hd_access *first_waiting(struct hd_access *a)
{
	while (a && (a->flags & HD_ACCESS_IN_FORCE))
		a = a->next;
	return a;
}

/* Whether walk number `walk` over successors has met `s` before. Notes `walk` in s->link, unused while `s` waits. */
static int seen_before(heddle_task *s, uint64_t walk)
{
	int seen = s->link.u.word == walk;
	s->link.u.word = walk;
	return seen;
}

/* Whether the access waits in the queue of its place. The queue of plain data is in the order of submission. */
static int is_queued(const heddle_task *t, const struct hd_access *a, const heddle_data *d)
{
	/* Relaxed, pairs with nothing: the core lock is held whenever the state of a task in the graph changes. */
	if (!d->queue || atomic_load_explicit(&t->state, memory_order_relaxed) != HD_WAITING)
		return 0;
	if (HD_LIKELY(!d->deep))
		return hd_access_task(d->queue)->order <= t->order;
	const struct hd_access *s = d->queue;
	while (s && s != a)
		s = s->next;
	return s != NULL;
}

/* The first access that waits for the access `a` of `t`, with the others of its group behind it. */
static struct hd_access *first_behind(const heddle_task *t, const struct hd_access *a)
{
	const heddle_data *d = hd_access_place(a);
	if (!is_queued(t, a, d))
		return first_waiting(d->queue);
	struct hd_access *s = first_waiting(a->next);
	while (s && hd_modes_compatible(hd_chain_mode(a->mode), hd_chain_mode(s->mode)))
		s = first_waiting(s->next);
	return s;
}

int heddle_task_is_plain(const heddle_task *t)
{
	return !(t->special & (HD_TASK_DEEP | HD_TASK_UNORDERED)) && !(t->extra && t->extra->after);
}

void heddle_task_successors(heddle_task *t, int once, void (*f)(heddle_task *, unsigned, void *), void *arg)
{
	/* `last`: the successor met last. A successor with many data in common with `t` is met many times in a row, and
	 * its predecessors are counted once per row. */
	const heddle_task *last = NULL;
	unsigned n_preds = 0;
	uint64_t walk = ++hd_task_runtime(t)->n_walks;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		if (!hd_access_is_chained(&t->accesses[i]))
			continue;
		struct hd_access *a = first_behind(t, &t->accesses[i]);
		unsigned mode = a ? hd_chain_mode(a->mode) : 0;
		for (struct hd_access *s = a; s && (s == a || hd_modes_compatible(mode, hd_chain_mode(s->mode)));
		     s = s->next) {
			heddle_task *successor = hd_access_task(s);
			if (!will_run(successor) || (s->flags & HD_ACCESS_IN_FORCE) ||
			    (once && seen_before(successor, walk)))
				continue;
			if (successor != last)
				n_preds = count_preds(successor);
			last = successor;
			f(successor, n_preds, arg);
		}
	}
	for (struct hd_edge *e = t->extra ? t->extra->after : NULL; e; e = e->next)
		if (will_run(e->to) && !(once && seen_before(e->to, walk)))
			f(e->to, count_preds(e->to), arg);
}
