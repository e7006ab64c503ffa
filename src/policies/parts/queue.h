/* Containers for ready tasks. They use the links inside the tasks (heddle_task_link), so adding a task allocates no
 * memory and cannot fail.
 *
 * hd_deque   a list with two ends. O(1) everywhere.
 * hd_levels  a priority queue with two ends per priority: a list of tasks per distinct priority. The list of the
 *            priority that was used last is open: adding a task to it touches at most one other task, and taking a
 *            task from an end touches no other task: O(1). If all tasks have one priority, the only list is always
 *            open. The other lists are folded, each behind its oldest task, and these tasks form a search tree: to
 *            open a list takes O(log distinct priorities) amortised. Any task can be removed. A heap would not do: it
 *            would need a key to keep tasks of equal priority in order, and has no second end for thieves.
 *
 * A task can be in one container at a time. The word `u` of its links is left to the policy.
 *
 * This file, queue.c, heap.h and heap.c use only the public interface, because they are installed for plug-ins.
 */
#ifndef HD_POLICIES_PARTS_QUEUE_H
#define HD_POLICIES_PARTS_QUEUE_H

#include <limits.h>
#include <stdint.h>
#include <heddle/policy.h>

/* Prefetches a task that will probably be taken next, because its cache lines may be in another core's cache. */
static inline void hd_expect(const heddle_task *t)
{
	__builtin_prefetch(t, 1);
	__builtin_prefetch((const void *)((uintptr_t)t + 64), 1); /* no arithmetic on the pointer, which may be NULL */
}

/* --- hd_deque: a list by the links next and prev
 * ---------------------------------------------------------------------- */

struct hd_deque {
	/* `first` is NULL if the list is empty; then `last` is undefined. The `prev` of the first task is undefined. */
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

/* Removes the first task, which is `t`. */
static inline void hd_deque_remove_first(struct hd_deque *q, heddle_task *t)
{
	q->first = heddle_task_link(t)->next;
	hd_expect(q->first);
}

/* NULL when empty. */
static inline heddle_task *hd_deque_pop_front(struct hd_deque *q)
{
	heddle_task *t = q->first;
	if (t)
		hd_deque_remove_first(q, t);
	return t;
}

/* --- hd_levels ---------------------------------------------------------------------------------------------------- */

/* A level is the list of the tasks of one priority. One level is open: the `prev` of its first task and the `next` of
 * its last one are undefined. Any other level is folded: its oldest task is a node of a tree. The node's `next` is the
 * subtree of lower priorities, its `prev` the subtree of higher priorities, and its `child` the newest task of the
 * level, or NULL if the level has one task; the `next` of the newest task is the second oldest task. */
struct hd_levels {
	heddle_task *first, *last;   /* the open level; `first` is NULL if there are no tasks */
	heddle_task *lower, *higher; /* the folded levels of lower and of higher priorities than the open one */
	int priority;                /* the priority of the open level */
	int flat;                    /* 1: priorities are ignored, so there is only one level */
	size_t n;                    /* tasks */
};

static inline int hd_levels_priority(const struct hd_levels *q, const heddle_task *t)
{
	return q->flat ? 0 : heddle_task_priority(t);
}

/* Opens the level of `priority`; if there is none, the level of the next lower or higher priority. The queue must not
 * be empty. */
void hd_levels_open(struct hd_levels *q, int priority);
/* Opens a new level of `priority`, whose only task is `t`. Between the priority of the open level and `priority` there
 * must be no other level. */
void hd_levels_insert(struct hd_levels *q, heddle_task *t, int priority);
/* Opens another level, because the open level has become empty. There must be another level. */
void hd_levels_reopen(struct hd_levels *q);

/* Adds a task behind all tasks of its priority. */
static inline void hd_levels_push(struct hd_levels *q, heddle_task *t)
{
	int priority = hd_levels_priority(q, t);
	q->n++;
	if (!q->first) {
		q->first = q->last = t;
		q->priority = priority;
		return;
	}
	if (__builtin_expect(q->priority != priority, 0)) {
		hd_levels_open(q, priority);
		if (q->priority != priority) {
			hd_levels_insert(q, t, priority);
			return;
		}
	}
	heddle_task_link(t)->prev = q->last;
	heddle_task_link(q->last)->next = t;
	q->last = t;
}

/* Removes one of the most urgent tasks. To be called right after hd_levels_first or hd_levels_last, which have opened
 * the level. */
static inline void hd_levels_remove_urgent(struct hd_levels *q, heddle_task *t)
{
	const struct heddle_task_links *link = heddle_task_link(t);
	q->n--;
	if (q->first == q->last) {
		q->first = NULL;
		if (__builtin_expect(q->lower || q->higher, 0))
			hd_levels_reopen(q);
	} else if (t == q->first) {
		q->first = link->next;
		hd_expect(q->first);
	} else if (t == q->last) {
		q->last = link->prev;
		hd_expect(q->last);
	} else {
		heddle_task_link(link->prev)->next = link->next;
		heddle_task_link(link->next)->prev = link->prev;
	}
}

static inline void hd_levels_remove(struct hd_levels *q, heddle_task *t)
{
	int priority = hd_levels_priority(q, t);
	if (q->priority != priority)
		hd_levels_open(q, priority);
	hd_levels_remove_urgent(q, t);
}

/* The oldest of the most urgent tasks; NULL when empty. */
static inline heddle_task *hd_levels_first(struct hd_levels *q)
{
	if (__builtin_expect(q->higher != NULL, 0))
		hd_levels_open(q, INT_MAX);
	return q->first;
}

/* The newest of the most urgent tasks; NULL when empty. */
static inline heddle_task *hd_levels_last(struct hd_levels *q)
{
	return hd_levels_first(q) ? q->last : NULL;
}

/* The newest of the least urgent tasks; NULL when empty. To be removed by hd_levels_remove. */
static inline heddle_task *hd_levels_least(struct hd_levels *q)
{
	if (q->lower)
		hd_levels_open(q, INT_MIN);
	return q->first ? q->last : NULL;
}

/* The next newer or the next older task of the most urgent tasks after `t`, which is one of these tasks; NULL at the
 * end. To be called right after hd_levels_first or hd_levels_last. */
static inline heddle_task *hd_levels_newer(const struct hd_levels *q, heddle_task *t)
{
	return t == q->last ? NULL : heddle_task_link(t)->next;
}

static inline heddle_task *hd_levels_older(const struct hd_levels *q, heddle_task *t)
{
	return t == q->first ? NULL : heddle_task_link(t)->prev;
}

static inline heddle_task *hd_levels_pop_first(struct hd_levels *q)
{
	heddle_task *t = hd_levels_first(q);
	if (t)
		hd_levels_remove_urgent(q, t);
	return t;
}

#endif
