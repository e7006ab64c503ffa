/* hd_levels: a top-down splay tree (Sleator and Tarjan, "Self-adjusting binary search trees", 1985, section 4) whose
 * nodes are lists. It needs only two links per node, and no memory of its own. */
#include "queue.h"

static heddle_task **lower(heddle_task *t)
{
	return &heddle_task_link(t)->next;
}

static heddle_task **higher(heddle_task *t)
{
	return &heddle_task_link(t)->prev;
}

void hd_levels_splay(struct hd_levels *q, int priority)
{
	heddle_task *below = NULL, *above = NULL;               /* the trees of levels passed on the way down ... */
	heddle_task **below_end = &below, **above_end = &above; /* ... and where each grows */
	heddle_task *t = q->root;
	for (;;) {
		int here = hd_levels_priority(q, t);
		if (priority == here)
			break;
		int up = priority > here;
		heddle_task *next = up ? *higher(t) : *lower(t);
		if (!next)
			break;
		int there = hd_levels_priority(q, next);
		if (up ? priority > there : priority < there) { /* twice in the same direction: rotate */
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
	q->root = t;
}

static void append(heddle_task *leader, heddle_task *t, struct heddle_task_links *link)
{
	struct heddle_task_links *head = heddle_task_link(leader);
	if (!head->child) {
		link->next = link->prev = t;
	} else {
		struct heddle_task_links *newest = heddle_task_link(head->child);
		link->next = newest->next;
		link->prev = head->child;
		heddle_task_link(newest->next)->prev = t;
		newest->next = t;
	}
	head->child = t;
}

/* Makes a task the root, as a new level: no level has its priority yet, and the root is a neighbour of that
 * priority. */
static void push_level(struct hd_levels *q, heddle_task *t, struct heddle_task_links *link, int priority)
{
	heddle_task *root = q->root;
	link->next = link->prev = link->child = NULL;
	if (root && hd_levels_priority(q, root) < priority) {
		link->next = root;
		link->prev = *higher(root);
		*higher(root) = NULL;
	} else if (root) {
		link->prev = root;
		link->next = *lower(root);
		*lower(root) = NULL;
	}
	q->root = t;
}

void hd_levels_push(struct hd_levels *q, heddle_task *t)
{
	struct heddle_task_links *link = heddle_task_link(t);
	int priority = hd_levels_priority(q, t), same = q->root && hd_levels_priority(q, q->root) == priority;
	if (q->root && !same) {
		hd_levels_splay(q, priority);
		same = hd_levels_priority(q, q->root) == priority;
	}
	q->n++;
	if (same)
		append(q->root, t, link);
	else
		push_level(q, t, link, priority);
}

/* Takes `t` out of the ring of `leader`, in which it is. */
static void leave_ring(heddle_task *leader, heddle_task *t)
{
	struct heddle_task_links *head = heddle_task_link(leader), *link = heddle_task_link(t);
	if (link->next == t) {
		head->child = NULL;
		return;
	}
	heddle_task_link(link->next)->prev = link->prev;
	heddle_task_link(link->prev)->next = link->next;
	if (head->child == t)
		head->child = link->prev;
}

void hd_levels_remove(struct hd_levels *q, heddle_task *t)
{
	int priority = hd_levels_priority(q, t);
	if (hd_levels_priority(q, q->root) != priority)
		hd_levels_splay(q, priority);
	hd_levels_remove_urgent(q, t);
}

void hd_levels_remove_urgent(struct hd_levels *q, heddle_task *t)
{
	q->n--;
	struct heddle_task_links *head = heddle_task_link(q->root);
	if (t != q->root) {
		leave_ring(q->root, t);
		return;
	}
	if (head->child) { /* the second oldest task becomes the leader */
		heddle_task *second = heddle_task_link(head->child)->next;
		leave_ring(t, second);
		struct heddle_task_links *link = heddle_task_link(second);
		*link = (struct heddle_task_links){head->next, head->prev, head->child, link->u};
		q->root = second;
	} else if (head->next) { /* the level is gone: the highest of the lower ones becomes the root */
		heddle_task *rest = head->prev;
		q->root = head->next;
		hd_levels_splay(q, INT_MAX);
		*higher(q->root) = rest;
	} else {
		q->root = head->prev;
	}
}
