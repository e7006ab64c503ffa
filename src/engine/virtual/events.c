/* The heap of events, the next event first. */
#include "virtual.h"

static int before(const struct event *a, const struct event *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static void put(struct events *h, size_t i, const struct event *e)
{
	h->events[i] = *e;
	if (HD_LIKELY(e->at != NULL))
		*e->at = i + 1;
}

/* Puts `e` into the heap, whose place i is free, and moves other events to keep the heap order. */
static void settle(struct events *h, size_t i, const struct event *e)
{
	size_t hole = i;
	for (size_t child = 2 * i + 1; child < h->n; i = child, child = 2 * i + 1) {
		if (child + 1 < h->n && before(&h->events[child + 1], &h->events[child]))
			child++;
		if (!before(&h->events[child], e))
			break;
		put(h, i, &h->events[child]);
	}
	for (; i && i <= hole && before(e, &h->events[(i - 1) / 2]); i = (i - 1) / 2)
		put(h, i, &h->events[(i - 1) / 2]);
	put(h, i, e);
}

void hd_events_put(struct events *h, const struct event *e)
{
	settle(h, e->at && *e->at ? *e->at - 1 : h->n++, e);
}

void hd_events_remove(struct events *h, size_t i)
{
	if (h->events[i].at)
		*h->events[i].at = 0;
	struct event last = h->events[--h->n];
	if (i < h->n)
		settle(h, i, &last);
}
