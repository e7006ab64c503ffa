/* Slots for ready tasks: an array that doubles, and a list of the free slots. */
#include "slots.h"
#include <stdlib.h>
#include <string.h>

static int grow(struct hd_slots *s)
{
	uint32_t n = s->n ? 2 * s->n : 64;
	struct hd_ready_slot *all = calloc(n, sizeof *all);
	if (!all)
		return 0;
	if (s->n)
		memcpy(all, s->all, s->n * sizeof *all);
	for (uint32_t i = n; i-- > s->n;) {
		all[i].next_free = s->free;
		s->free = i;
	}
	free(s->all);
	s->all = all;
	s->n = n;
	return 1;
}

uint32_t hd_slots_take(struct hd_slots *s)
{
	if (s->free == HD_NO_SLOT && !grow(s))
		return HD_NO_SLOT;
	uint32_t slot = s->free;
	s->free = s->all[slot].next_free;
	return slot;
}

void hd_slots_free(struct hd_slots *s, uint32_t slot)
{
	s->all[slot].task = NULL;
	s->all[slot].next_free = s->free;
	s->free = slot;
}
