/* The scores that multiprio has computed for a task, for the tests and `heddle repro`, which check the examples of the
 * paper. */
#ifndef HD_POLICIES_MULTIPRIO_H
#define HD_POLICIES_MULTIPRIO_H

#include <heddle/policy.h>

struct hd_multiprio_scores {
	double gain; /* equation 1, 0 to 1; NAN: the class must not run the task */
	double nod;  /* equation 2, not normalised */
	double largest_nod;
};

/* The scores, in the heaps of a class, of the last task that was given to `ready`. `state` comes from
 * hd_policy_multiprio.create. */
struct hd_multiprio_scores hd_multiprio_scores(const void *state, unsigned class_id);

/* The memory that multiprio has for ready tasks, as numbers of elements. */
struct hd_multiprio_room {
	size_t n_slots;
	/* number of entries of the heap, including entries of tasks that a worker has taken from another heap */
	size_t n_entries;
};

/* `heap`: the index of a pair of a node and a class; pairs are numbered in the order of their first workers. */
struct hd_multiprio_room hd_multiprio_room(const void *state, unsigned heap);

#endif
