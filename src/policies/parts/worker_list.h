/* Lists of workers, linked in arrays. */
#ifndef HD_POLICIES_PARTS_WORKER_LIST_H
#define HD_POLICIES_PARTS_WORKER_LIST_H

#include <stdint.h>

#define HD_NOBODY UINT32_MAX

/* The place of a worker in the list that it is in; HD_NOBODY at both ends. */
struct hd_worker_place {
	unsigned next, prev;
	int is_in;
};
/* Lists that have no worker in common may share one array of places. */
struct hd_worker_list {
	unsigned first;                 /* HD_NOBODY: the list is empty */
	struct hd_worker_place *places; /* borrows: per worker */
};

/* Puts a worker at the front, unless it is in the list. */
static inline void hd_worker_list_add(struct hd_worker_list *l, unsigned w)
{
	struct hd_worker_place *p = &l->places[w];
	if (p->is_in)
		return;
	*p = (struct hd_worker_place){.next = l->first, .prev = HD_NOBODY, .is_in = 1};
	if (l->first != HD_NOBODY)
		l->places[l->first].prev = w;
	l->first = w;
}

/* Takes a worker out, if it is in the list. */
static inline void hd_worker_list_remove(struct hd_worker_list *l, unsigned w)
{
	struct hd_worker_place *p = &l->places[w];
	if (!p->is_in)
		return;
	*(p->prev == HD_NOBODY ? &l->first : &l->places[p->prev].next) = p->next;
	if (p->next != HD_NOBODY)
		l->places[p->next].prev = p->prev;
	p->is_in = 0;
}

#endif
