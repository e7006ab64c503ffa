/* What multiprio computed for a task, for those who check its paper's examples: tests, and `heddle repro`. */
#ifndef HD_POLICIES_MULTIPRIO_H
#define HD_POLICIES_MULTIPRIO_H

#include <heddle/policy.h>

struct hd_multiprio_scores {
	double gain; /* equation 1, 0 to 1; NAN: not for this class */
	double nod;  /* equation 2, before it is divided by the largest seen so far */
	double largest_nod;
};

/* Of the task last given to `ready`, in the heaps of a class. `state` is one that hd_policy_multiprio.create made. */
struct hd_multiprio_scores hd_multiprio_scores(const void *state, unsigned class_id);

/* The room that it has taken for ready tasks. */
struct hd_multiprio_room {
	size_t n_slots;
	size_t n_entries; /* of one heap, also those of tasks that another heap has given away */
};

/* `heap` counts the pairs of a node and a class in the order of the workers. */
struct hd_multiprio_room hd_multiprio_room(const void *state, unsigned heap);

#endif
