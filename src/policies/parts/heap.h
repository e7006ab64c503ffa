/* A max-heap of ready tasks by two scores, for policies that keep a task in several heaps at once (multiprio).
 *
 * It is in two parts: the first few entries sorted in an array, since a policy looks at several of them each time, and
 * all others in a binary heap. A *place* numbers the entries of both, those of the array first: it holds until the heap
 * changes.
 *
 * Entries name a task by a slot and its order, not by its address: those of a task that another heap has given away
 * stay here until they surface, and the task may be long gone by then. The heap does not know which they are: its user
 * does.
 */
#ifndef HD_POLICIES_PARTS_HEAP_H
#define HD_POLICIES_PARTS_HEAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hd_heap_entry {
	uint64_t key;   /* hd_heap_key: the larger first */
	uint64_t order; /* then the smaller first */
	uint32_t slot;
};

enum {
	HD_HEAP_FRONT = 64, /* entries sorted in the array, at most */
	HD_HEAP_WALK = 128  /* entries that a walk can visit */
};

struct hd_heap {
	struct hd_heap_entry front[HD_HEAP_FRONT]; /* descending, none of them after any of the rest */
	size_t n_front;
	struct hd_heap_entry *rest; /* owns; the children of i are 2i + 1 and 2i + 2; empty when the front is */
	size_t n_rest, capacity;
};

/* Entries in the order of the heap, without taking them out: O(1) each in the front, then O(k log k) for the first k of
 * the rest. The heap must not change meanwhile. */
struct hd_heap_walk {
	const struct hd_heap *heap;
	/* of the rest: not visited, their parents are; ascending; `slot` is where */
	struct hd_heap_entry frontier[HD_HEAP_WALK + 1];
	size_t n, visited;
};

static inline size_t hd_heap_n(const struct hd_heap *h)
{
	return h->n_front + h->n_rest;
}

/* The first is at place 0. */
static inline const struct hd_heap_entry *hd_heap_at(const struct hd_heap *h, size_t place)
{
	return place < h->n_front ? &h->front[place] : &h->rest[place - h->n_front];
}

/* Both scores in one number, the first before the second, in single precision: they are not negative, and the bits of
 * such floats are in the order of their values. */
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
/* Room for `n` entries. Returns 0 without memory. */
int hd_heap_reserve(struct hd_heap *h, size_t n);
/* There must be room. */
void hd_heap_push(struct hd_heap *h, struct hd_heap_entry entry);
void hd_heap_remove(struct hd_heap *h, size_t place);
/* Removes those that `keep` says 0 for until the first n (at most HD_HEAP_FRONT) are none of them, and sorted; returns
 * how many it has removed. O(log n) for each, once in its life. */
size_t hd_heap_tidy(struct hd_heap *h, size_t n, int (*keep)(const void *arg, const struct hd_heap_entry *entry),
                    const void *arg);
/* Keeps the entries for which `keep` is not 0: O(n). */
void hd_heap_filter(struct hd_heap *h, int (*keep)(const void *arg, const struct hd_heap_entry *entry),
                    const void *arg);

void hd_heap_walk_init(struct hd_heap_walk *w, const struct hd_heap *h);
/* The next place; SIZE_MAX at the end, or when HD_HEAP_WALK have been visited. */
size_t hd_heap_walk_next(struct hd_heap_walk *w);

#endif
