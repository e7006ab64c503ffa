/* What multiprio computed for a task, for those who check its paper's examples: tests, and `heddle repro`. */
#ifndef HD_POLICIES_MULTIPRIO_H
#define HD_POLICIES_MULTIPRIO_H

#include <heddle/policy.h>

struct hd_multiprio_scores {
	double gain; /* equation 1, 0 to 1; NAN: not for this class */
	double nod;  /* equation 2, before it is divided by the largest seen so far */
};

/* Of the task last given to `ready`, in the heaps of a class. `state` is one that hd_policy_multiprio.create made. */
struct hd_multiprio_scores hd_multiprio_scores(const void *state, unsigned class_id);

#endif
