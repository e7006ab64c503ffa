/* The kernels that a worker runs at once in virtual time: when they end. */
#include "virtual.h"

double hd_streams_clock(struct hd_streams *s, double now)
{
	if (s->n == 0)
		s->clock = now;
	else
		s->clock += (now - s->updated) * heddle_class_rate(s->class_, s->n);
	s->updated = now;
	return s->clock;
}

static struct hd_kernel *find_first(const struct hd_streams *s)
{
	struct hd_kernel *first = s->kernels;
	for (struct hd_kernel *k = first + 1; k < s->kernels + s->n; k++)
		if (k->due < first->due || (k->due == first->due && k->order < first->order))
			first = k;
	return first;
}

double hd_streams_next(const struct hd_streams *s, uint64_t *order)
{
	const struct hd_kernel *first = find_first(s);
	double rate = heddle_class_rate(s->class_, s->n);
	/* At the rate 1, a kernel that has always been alone ends when the clock shows `due`, to the last bit. */
	double ends = rate == 1 ? first->due + (s->updated - s->clock) : s->updated + (first->due - s->clock) / rate;
	*order = first->order;
	return ends > s->updated ? ends : s->updated; /* not before, by a rounding error */
}

unsigned hd_streams_end(struct hd_streams *s, double now)
{
	struct hd_kernel *first = find_first(s);
	unsigned slot = first->slot;
	s->clock = first->due; /* exactly, so that kernels that are due together end together */
	s->updated = now;
	*first = s->kernels[--s->n];
	return slot;
}
