/* A binary max-heap of ready tasks by two scores, for policies that keep a task in several heaps at once (multiprio).
 *
 * Entries name a task by a slot and its order, not by its address: those of a task that another heap has given away stay here
 * until they surface, and the task may be long gone by then. The heap does not know which they are: its user does.
 */
#ifndef HD_SCHED_HEAP_H
#define HD_SCHED_HEAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hd_heap_entry {
	uint64_t key;   /* hd_heap_key: the larger first */
	uint64_t order; /* then the smaller first */
	uint32_t slot;
};

struct hd_heap {
	struct hd_heap_entry *entries; /* owns; the children of i are 2i + 1 and 2i + 2 */
	size_t n, capacity;
};

enum { HD_HEAP_WALK = 128 }; /* entries that a walk can visit */

/* Entries in the order of the heap, without taking them out: O(k log k) for the first k, whatever is in the heap. The heap must
 * not change meanwhile. */
struct hd_heap_walk {
	const struct hd_heap *heap;
	struct hd_heap_entry frontier[HD_HEAP_WALK + 1]; /* not visited, their parents are; ascending; `slot` is their place */
	size_t n, visited;
};

/* Both scores in one number, the first before the second, in single precision: they are not negative, and the bits of such
 * floats are in the order of their values. */
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
void hd_heap_remove(struct hd_heap *h, size_t i);
/* Keeps the entries for which `keep` is not 0: O(n). */
void hd_heap_filter(struct hd_heap *h, int (*keep)(const void *arg, const struct hd_heap_entry *entry), const void *arg);

void hd_heap_walk_init(struct hd_heap_walk *w, const struct hd_heap *h);
/* The next place in `entries`; SIZE_MAX at the end, or when HD_HEAP_WALK have been visited. */
size_t hd_heap_walk_next(struct hd_heap_walk *w);

#endif
