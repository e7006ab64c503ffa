/* When the kernels that a worker runs simultaneously end, in virtual time. */
#include "virtual.h"

static struct hd_kernel *find_first(const struct hd_streams *s)
{
	struct hd_kernel *first = s->kernels;
	for (struct hd_kernel *k = first + 1; k < s->kernels + s->clock.n; k++)
		if (k->due < first->due || (k->due == first->due && k->order < first->order))
			first = k;
	return first;
}

double hd_streams_next(const struct hd_streams *s, uint64_t *order)
{
	const struct hd_kernel *first = find_first(s);
	const struct hd_shared_clock *c = &s->clock;
	double rate = heddle_class_rate(c->class_, c->n);
	/* The formula for the rate 1 avoids rounding errors: a kernel that has always been alone ends exactly at its
	 * expected end. */
	double ends = rate == 1 ? first->due + (c->updated - c->shows) : c->updated + (first->due - c->shows) / rate;
	*order = first->order;
	return ends > c->updated ? ends : c->updated; /* never in the past, despite rounding errors */
}

unsigned hd_streams_end(struct hd_streams *s, double now)
{
	struct hd_kernel *first = find_first(s);
	unsigned slot = first->slot;
	s->clock.shows = first->due; /* set exactly, so that kernels with the same `due` end at the same time */
	s->clock.updated = now;
	*first = s->kernels[--s->clock.n];
	return slot;
}
