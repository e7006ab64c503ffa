/* Hash tables with open addressing, from keys of 64 bits to numbers. A key is never removed. */
#ifndef HD_BASE_TABLE_H
#define HD_BASE_TABLE_H

#include <stdlib.h>
#include <heddle/status.h>
#include "base.h"

struct hd_table_slot {
	uint64_t key;
	size_t value; /* 1 + the number that belongs to the key; 0: the slot is free */
};

/* A table of zeros is empty, and needs hd_table_reserve before anything else. The owner frees `slots`. */
struct hd_table {
	struct hd_table_slot *slots; /* owns */
	size_t size, used;           /* number of slots, a power of two; number of slots in use */
};

/* The first slot, from index `at` on, that has the key or is free. */
static inline struct hd_table_slot *hd_table_probe(const struct hd_table *t, uint64_t key, size_t at)
{
	for (at &= t->size - 1; t->slots[at].value && t->slots[at].key != key; at = (at + 1) & (t->size - 1))
		;
	return &t->slots[at];
}

/* The slot that has the key; if none has, the free slot where the key belongs. */
static inline struct hd_table_slot *hd_table_find(const struct hd_table *t, uint64_t key)
{
	return hd_table_probe(t, key, (size_t)hd_mix(key));
}

/* For keys that are hashes of longer keys, so that several slots may have the same: the next slot after `slot` with its
 * key; if there is none, the free slot where another such entry belongs. */
static inline struct hd_table_slot *hd_table_next(const struct hd_table *t, const struct hd_table_slot *slot)
{
	return hd_table_probe(t, slot->key, (size_t)(slot - t->slots) + 1);
}

/* Puts key and number into a free slot that hd_table_find or _next has found; hd_table_reserve has made room. */
static inline void hd_table_fill(struct hd_table *t, struct hd_table_slot *slot, uint64_t key, size_t number)
{
	*slot = (struct hd_table_slot){key, 1 + number};
	t->used++;
}

int hd_table_grow(struct hd_table *t, size_t n); /* called by hd_table_reserve only */
/* Makes room for n more keys, so that at most half of the slots are ever in use. The slots may move. HEDDLE_E_MEMORY,
 * without a message: the table is unchanged. */
static inline int hd_table_reserve(struct hd_table *t, size_t n)
{
	return HD_LIKELY(t->slots && 2 * (t->used + n) <= t->size) ? 0 : hd_table_grow(t, n);
}

#endif
