/* A max-heap of ready tasks by two scores, for policies that keep a task in several heaps at once (multiprio).
 *
 * It has two parts: the *front*, a sorted array of the first few entries, because a policy looks at several of them
 * each time; and the *rest*, a binary heap of all other entries. A *place* is the number of an entry: the entries of
 * the front have the lowest numbers, in order, then come the entries of the rest. A place is valid until the heap
 * changes.
 *
 * When a task is taken from one heap, its entries in other heaps stay until they come to the front, and by then the
 * task may have been freed. So an entry does not point to the task, but has the number of the task's slot (slots.h) and
 * its order: if the slot has another order now, the task is gone.
 */
#ifndef HD_POLICIES_PARTS_HEAP_H
#define HD_POLICIES_PARTS_HEAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hd_heap_entry {
	uint64_t key;   /* hd_heap_key; the larger key comes first */
	uint64_t order; /* the task's submission number; of equal keys the smaller number comes first */
	uint32_t slot;
};

enum {
	HD_HEAP_FRONT = 64, /* largest number of entries in the front */
	HD_HEAP_WALK = 128  /* largest number of entries that a walk visits */
};

struct hd_heap {
	struct hd_heap_entry front[HD_HEAP_FRONT]; /* sorted; all these entries come before the entries of the rest */
	size_t n_front;
	struct hd_heap_entry *rest; /* owns; the children of i are 2i + 1 and 2i + 2; empty if the front is empty */
	size_t n_rest, capacity;
};

/* A walk over the entries in the order of the heap, without removing them: O(1) for each entry of the front, then
 * O(k^2) for the first k entries of the rest. The heap must not change meanwhile. */
struct hd_heap_walk {
	const struct hd_heap *heap;
	/* the entries of the rest that are not visited and whose parents are visited, in ascending order; their `slot`
	 * is the index in the rest */
	struct hd_heap_entry frontier[HD_HEAP_WALK + 1];
	size_t n, visited;
};

static inline size_t hd_heap_n(const struct hd_heap *h)
{
	return h->n_front + h->n_rest;
}

/* The entry at a place; the first is at place 0. */
static inline const struct hd_heap_entry *hd_heap_at(const struct hd_heap *h, size_t place)
{
	return place < h->n_front ? &h->front[place] : &h->rest[place - h->n_front];
}

/* Packs two scores, which must not be negative, into one number: such numbers compare by the first score, then by the
 * second. The scores are rounded to single precision, because the bits of nonnegative floats, read as integers, have
 * the order of the floats. */
static inline uint64_t hd_heap_key(double first, double second)
{
	float scores[2] = {(float)first, (float)second};
	uint32_t bits[2];
	memcpy(bits, scores, sizeof bits);
	return (uint64_t)bits[0] << 32 | bits[1];
}

/* The first score of a key. */
static inline double hd_heap_first_score(uint64_t key)
{
	uint32_t bits = (uint32_t)(key >> 32);
	float score;
	memcpy(&score, &bits, sizeof score);
	return (double)score;
}

void hd_heap_fini(struct hd_heap *h);
/* Makes room for `n` entries. Returns 0 when out of memory. */
int hd_heap_reserve(struct hd_heap *h, size_t n);
/* Adds an entry. There must be room: hd_heap_reserve. */
void hd_heap_push(struct hd_heap *h, struct hd_heap_entry entry);
void hd_heap_remove(struct hd_heap *h, size_t place);
/* Removes entries for which `keep` returns 0, until the first n entries have none of them; these n entries, at most
 * HD_HEAP_FRONT, are then in the front. Returns the number of removed entries. O(log entries) for each removed
 * entry. */
size_t hd_heap_tidy(struct hd_heap *h, size_t n, int (*keep)(const void *arg, const struct hd_heap_entry *entry),
                    const void *arg);
/* Removes all entries for which `keep` returns 0: O(entries). */
void hd_heap_filter(struct hd_heap *h, int (*keep)(const void *arg, const struct hd_heap_entry *entry),
                    const void *arg);

void hd_heap_walk_init(struct hd_heap_walk *w, const struct hd_heap *h);
/* The place of the next entry; SIZE_MAX at the end, or after HD_HEAP_WALK entries. */
size_t hd_heap_walk_next(struct hd_heap_walk *w);

#endif
