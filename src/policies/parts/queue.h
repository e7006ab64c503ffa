/* Containers for ready tasks. They use the links inside the tasks (heddle_task_link), so adding a task allocates
 * nothing and cannot fail.
 *
 * hd_deque   a list with two ends. O(1) everywhere.
 * hd_levels  a priority queue with two ends per priority: a search tree with one node per distinct priority present,
 *            each with the first-in first-out list of its tasks. O(1) when the priority is the one used last (so
 *            always, when no priorities are given), else O(log distinct priorities) amortised. Any task can be removed.
 *            Chosen over a heap because equal priorities stay in order without a key, and because thieves and owners
 *            take from opposite ends.
 *
 * A task can be in one container at a time. The word `u` of its links is left to the policy.
 */
#ifndef HD_POLICIES_PARTS_QUEUE_H
#define HD_POLICIES_PARTS_QUEUE_H

#include <limits.h>
#include <heddle/policy.h>
#include "base/base.h"

/* --- hd_deque: a list by the links next and prev
 * ---------------------------------------------------------------------- */

struct hd_deque {
	/* `first` is NULL if the list is empty; `last` is undefined then. The `prev` of the first task is undefined. */
	heddle_task *first, *last;
};

static inline void hd_deque_push_back(struct hd_deque *q, heddle_task *t)
{
	struct heddle_task_links *link = heddle_task_link(t);
	link->next = NULL;
	link->prev = q->last;
	if (q->first)
		heddle_task_link(q->last)->next = t;
	else
		q->first = t;
	q->last = t;
}

static inline void hd_deque_push_front(struct hd_deque *q, heddle_task *t)
{
	heddle_task_link(t)->next = q->first;
	if (q->first)
		heddle_task_link(q->first)->prev = t;
	else
		q->last = t;
	q->first = t;
}

static inline void hd_deque_remove(struct hd_deque *q, heddle_task *t)
{
	struct heddle_task_links *link = heddle_task_link(t);
	if (t == q->first) {
		q->first = link->next;
		return;
	}
	heddle_task_link(link->prev)->next = link->next;
	if (t == q->last)
		q->last = link->prev;
	else
		heddle_task_link(link->next)->prev = link->prev;
}

/* NULL when empty. */
static inline heddle_task *hd_deque_pop_front(struct hd_deque *q)
{
	heddle_task *t = q->first;
	if (t)
		q->first = heddle_task_link(t)->next;
	return t;
}

static inline heddle_task *hd_deque_pop_back(struct hd_deque *q)
{
	heddle_task *t = q->first ? q->last : NULL;
	if (t)
		hd_deque_remove(q, t);
	return t;
}

/* --- hd_levels ---------------------------------------------------------------------------------------------------- */

/* The oldest task of a level is its leader, a node of the tree: its `next` is the subtree of lower priorities, its
 * `prev` that of higher ones, its `child` the newest task of the level, or NULL if the leader is alone. The other tasks
 * of the level form a ring: the `next` of the newest is the second oldest. */
struct hd_levels {
	heddle_task *root; /* NULL when empty */
	size_t n;          /* tasks */
	int flat;          /* 1: priorities are ignored, so there is one level */
};

static inline int hd_levels_priority(const struct hd_levels *q, const heddle_task *t)
{
	return q->flat ? 0 : heddle_task_priority(t);
}

/* Brings the level of `priority` to the root; if there is no such level, one with the next lower or higher priority. */
void hd_levels_splay(struct hd_levels *q, int priority);
/* Adds a task behind all tasks of its priority. */
void hd_levels_push(struct hd_levels *q, heddle_task *t);
void hd_levels_remove(struct hd_levels *q, heddle_task *t);
/* Removes one of the most urgent tasks. To be called right after hd_levels_first or hd_levels_last, so that its level
 * need not be looked for. */
void hd_levels_remove_urgent(struct hd_levels *q, heddle_task *t);

/* The oldest of the most urgent tasks; NULL when empty. */
static inline heddle_task *hd_levels_first(struct hd_levels *q)
{
	if (q->root && heddle_task_link(q->root)->prev)
		hd_levels_splay(q, INT_MAX);
	return q->root;
}

/* The newest of the most urgent tasks; NULL when empty. */
static inline heddle_task *hd_levels_last(struct hd_levels *q)
{
	heddle_task *first = hd_levels_first(q);
	heddle_task *last = first ? heddle_task_link(first)->child : NULL;
	return last ? last : first;
}

/* The next newer, and the next older, of the most urgent tasks after `t`, which is one of them; NULL at the end. To be
 * called right after hd_levels_first or hd_levels_last. */
static inline heddle_task *hd_levels_newer(const struct hd_levels *q, heddle_task *t)
{
	heddle_task *last = heddle_task_link(q->root)->child;
	if (!last || t == last)
		return NULL;
	return heddle_task_link(t == q->root ? last : t)->next;
}

static inline heddle_task *hd_levels_older(const struct hd_levels *q, heddle_task *t)
{
	heddle_task *last = heddle_task_link(q->root)->child;
	if (t == q->root)
		return NULL;
	return t == heddle_task_link(last)->next ? q->root : heddle_task_link(t)->prev;
}

static inline heddle_task *hd_levels_pop_first(struct hd_levels *q)
{
	heddle_task *t = hd_levels_first(q);
	if (t)
		hd_levels_remove_urgent(q, t);
	return t;
}

#endif
