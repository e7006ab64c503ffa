/* What multiprio has computed for a task, for tests and `heddle repro`, which check the examples of its paper. */
#ifndef HD_POLICIES_MULTIPRIO_H
#define HD_POLICIES_MULTIPRIO_H

#include <heddle/policy.h>

struct hd_multiprio_scores {
	double gain; /* equation 1, 0 to 1; NAN: not for this class */
	double nod;  /* equation 2, before it is divided by the largest seen so far */
	double largest_nod;
};

/* The scores, in the heaps of a class, of the task last given to `ready`. hd_policy_multiprio.create has made
 * `state`. */
struct hd_multiprio_scores hd_multiprio_scores(const void *state, unsigned class_id);

/* How much room multiprio has for ready tasks. */
struct hd_multiprio_room {
	size_t n_slots;
	/* number of entries of the heap, including entries of tasks that a worker has taken from another heap */
	size_t n_entries;
};

/* `heap`: the index of a pair of a node and a class; pairs are numbered in the order of the first worker of each. */
struct hd_multiprio_room hd_multiprio_room(const void *state, unsigned heap);

#endif
