/* A tournament tree over a count per worker, such as the number of tasks in the worker's queue: finds the worker with
 * the largest count. */
#ifndef HD_POLICIES_PARTS_MOST_H
#define HD_POLICIES_PARTS_MOST_H

#include <stddef.h>
#include <stdint.h>

struct hd_most {
	size_t n_leaves; /* a power of two; a worker's leaf is n_leaves + its number */
	unsigned *tree;  /* owns: node i has the larger of the counts of its children, 2i and 2i + 1; 1 is the root */
};

/* Sets all counts to 0. HEDDLE_E_MEMORY; call hd_most_fini even then. */
int hd_most_init(struct hd_most *m, size_t n_workers);
void hd_most_fini(struct hd_most *m);
/* Adds `change` to the count of a worker. The count must not become negative. O(log workers). */
void hd_most_add(struct hd_most *m, unsigned worker, int change);
/* The largest count. */
static inline unsigned hd_most_max(const struct hd_most *m)
{
	return m->tree[1];
}
/* The first worker from number `from` on whose count is at least `least`, which is not 0; UINT32_MAX: there is none.
 * O(log workers). */
unsigned hd_most_next(const struct hd_most *m, size_t from, unsigned least);

#endif
