/* The tree of handles that plans make: functions that lead to parents and children. */
#ifndef HD_STATE_TREE_H
#define HD_STATE_TREE_H

#include <stdint.h>
#include <heddle/data.h>
#include "data.h"
#include "plan.h"

/* The parent of `d`; NULL: it is a root. Needs no lock. */
static inline heddle_data *hd_data_above(const heddle_data *d)
{
	return d->plan ? d->plan->data : NULL;
}
/* The root of the tree of `d`: its ancestor without a parent; `d` itself if `d` has no parent. Needs no lock. */
static inline heddle_data *hd_data_root(const heddle_data *d)
{
	return d->plan ? d->plan->root : (heddle_data *)(uintptr_t)d;
}
static inline uint32_t hd_data_depth(const heddle_data *d)
{
	return d->plan ? d->plan->depth : 0;
}
/* The child of `d` on the way down to `x`, which may be `x` itself; `x` lies below `d`. Needs no lock. */
static inline heddle_data *hd_data_towards(const heddle_data *d, heddle_data *x)
{
	while (HD_UNLIKELY(x->plan->data != d)) {
		const heddle_plan *far = x->plan->far;
		x = far && far->depth > hd_data_depth(d) + 1 ? far->data : x->plan->data;
	}
	return x;
}
/* The layout of a datum; NULL: it has never had a plan. */
static inline struct hd_layout *hd_data_layout(const heddle_data *d)
{
	return d->extra ? d->extra->layout : NULL;
}
/* The plans of a datum, the newest first; NULL: it has none. */
static inline heddle_plan *hd_data_plans(const heddle_data *d)
{
	const struct hd_layout *l = hd_data_layout(d);
	return l ? l->plans : NULL;
}
/* The parent's replica in which a window lies. */
static inline struct hd_replica *hd_window_host(const struct hd_replica *r)
{
	return &hd_data_above(hd_replica_data(r))->replicas[r->node];
}
/* The number of windows that lie in the replica. */
static inline uint32_t hd_windows_in(const struct hd_replica *r)
{
	const struct hd_data_extra *extra = hd_replica_data(r)->extra;
	return HD_UNLIKELY(extra != NULL) && extra->layout ? extra->layout->n_windows[r->node] : 0;
}

#endif
