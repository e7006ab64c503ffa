/* hd_levels: a top-down splay tree (Sleator and Tarjan, "Self-adjusting binary search trees", 1985, section 4) whose
 * nodes are lists. A splay tree needs only two links per node, which the tasks have, so the queue allocates no
 * memory. */
#include "queue.h"

static heddle_task **lower(heddle_task *t)
{
	return &heddle_task_link(t)->next;
}

static heddle_task **higher(heddle_task *t)
{
	return &heddle_task_link(t)->prev;
}

/* Makes the node of `priority`, or of the next lower or higher priority, the root of the tree, and returns it. */
static heddle_task *splay(heddle_task *t, int priority)
{
	heddle_task *below = NULL, *above = NULL; /* the trees of the levels that the descent has passed */
	heddle_task **below_end = &below, **above_end = &above; /* the links at which these trees grow */
	for (;;) {
		int here = heddle_task_priority(t);
		if (priority == here)
			break;
		int up = priority > here;
		heddle_task *next = up ? *higher(t) : *lower(t);
		if (!next)
			break;
		int there = heddle_task_priority(next);
		if (up ? priority > there : priority < there) { /* two steps in the same direction: rotates */
			heddle_task **inner = up ? lower(next) : higher(next);
			*(up ? higher(t) : lower(t)) = *inner;
			*inner = t;
			t = next;
			next = up ? *higher(t) : *lower(t);
			if (!next)
				break;
		}
		if (up) {
			*below_end = t;
			below_end = higher(t);
		} else {
			*above_end = t;
			above_end = lower(t);
		}
		t = next;
	}
	*below_end = *lower(t);
	*above_end = *higher(t);
	*lower(t) = below;
	*higher(t) = above;
	return t;
}

/* Folds the open level into a node, and returns the node. */
static heddle_task *fold(const struct hd_levels *q)
{
	struct heddle_task_links *link = heddle_task_link(q->first);
	link->child = NULL;
	if (q->first != q->last) {
		heddle_task_link(q->last)->next = link->next;
		link->child = q->last;
	}
	link->next = q->lower;
	link->prev = q->higher;
	return q->first;
}

/* Opens the level that is folded behind `t`, with its subtrees. */
static void unfold(struct hd_levels *q, heddle_task *t)
{
	struct heddle_task_links *link = heddle_task_link(t);
	q->priority = heddle_task_priority(t);
	q->lower = link->next;
	q->higher = link->prev;
	q->first = q->last = t;
	if (!link->child)
		return;
	q->last = link->child;
	link->next = heddle_task_link(q->last)->next;
	heddle_task_link(link->next)->prev = t;
}

void hd_levels_open(struct hd_levels *q, int priority)
{
	unfold(q, splay(fold(q), priority));
}

void hd_levels_insert(struct hd_levels *q, heddle_task *t, int priority)
{
	heddle_task *neighbour = fold(q);
	if (q->priority < priority) {
		q->lower = neighbour;
		q->higher = *higher(neighbour);
		*higher(neighbour) = NULL;
	} else {
		q->higher = neighbour;
		q->lower = *lower(neighbour);
		*lower(neighbour) = NULL;
	}
	q->first = q->last = t;
	q->priority = priority;
}

void hd_levels_reopen(struct hd_levels *q)
{
	heddle_task *rest = q->higher;
	if (q->lower) { /* prefers the next lower level */
		unfold(q, splay(q->lower, INT_MAX));
		q->higher = rest;
	} else {
		unfold(q, rest);
	}
}
