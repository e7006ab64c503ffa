/* Groups of workers: a group consists of the workers of one class on one node. The predictions of a task are the same
 * on all of them. */
#ifndef HD_POLICIES_PARTS_GROUPS_H
#define HD_POLICIES_PARTS_GROUPS_H

#include <heddle/platform.h>

/* The last worker before `w` in the group of `w`; `w` itself, if it is the first worker of its group. */
static inline unsigned hd_group_mate(const struct heddle_platform *p, unsigned w)
{
	const struct heddle_worker *workers = p->workers;
	for (unsigned v = w; v-- > 0;)
		if (workers[v].class_id == workers[w].class_id && workers[v].node == workers[w].node)
			return v;
	return w;
}

#endif
