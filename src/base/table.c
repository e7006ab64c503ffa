/* Makes room in the hash tables of table.h. */
#include "table.h"

int hd_table_grow(struct hd_table *t, size_t n)
{
	struct hd_table larger = {.size = t->size ? t->size : 16};
	while (larger.size < 2 * (t->used + n))
		larger.size *= 2;
	larger.slots = calloc(larger.size, sizeof *larger.slots);
	if (!larger.slots)
		return HEDDLE_E_MEMORY;
	for (size_t i = 0; i < t->size; i++) {
		const struct hd_table_slot *from = &t->slots[i];
		if (!from->value)
			continue;
		struct hd_table_slot *to = hd_table_find(&larger, from->key);
		while (to->value)
			to = hd_table_next(&larger, to);
		hd_table_fill(&larger, to, from->key, from->value - 1);
	}
	free(t->slots);
	*t = larger;
	return 0;
}
