/* The part of heddle_selfcheck for layouts: plans, their children, and which of them are valid. */
#include "check.h"
#include "state/memory.h"
#include "state/runtime.h"
#include "state/tree.h"

int hd_check_windows(const struct hd_check *c)
{
	for (size_t i = 0; i < c->n_data; i++)
		for (size_t n = 0; n < c->rt->n_nodes; n++) {
			const struct hd_replica *r = &c->data[i].data->replicas[n];
			const heddle_plan *p = c->data[i].data->plan;
			const struct hd_checked_data *whole = p ? hd_check_find_data(c, p->data) : NULL;
			if (r->window && (!whole || !r->ptr || !whole->data->replicas[n].ptr || r->block))
				return hd_broken(
				    "%s: its copy on node %zu is that of a child, and there is none of the parent",
				    hd_check_name(&c->data[i]), n);
			if (r->window && r->pins)
				whole->pins[n]++;
		}
	return 0;
}

/* Checks that the child, a part of the datum, is valid on the node if and only if the datum is valid there. */
static int check_part(const struct hd_checked_data *seen, const heddle_data *child, size_t node)
{
	const struct hd_replica *host = &seen->data->replicas[node], *r = &child->replicas[node];
	/* a pinned replica of a child stays valid on nodes where the datum was not gathered */
	int left = node && !host->valid && r->pins;
	if ((node && !r->window) || left || seen->data->rt->memories[node].lost)
		return 0;
	return r->valid != host->valid || r->incoming
	           ? hd_broken("%s: its child %u, a part of it, is valid on node %zu and it is not, or the other way "
	                       "round, or a transfer goes there",
	                       hd_check_name(seen), child->id, node)
	           : 0;
}

/* Checks the windows of the children in the datum's replica on a node. */
static int check_node(const struct hd_checked_data *seen, const struct hd_layout *l, size_t node)
{
	const struct hd_replica *host = &seen->data->replicas[node];
	uint32_t n = 0;
	for (const heddle_plan *p = l->plans; p; p = p->next)
		for (size_t i = 0; i < p->n_children; i++) {
			const heddle_data *child = p->children[i];
			n += node && child->replicas[node].window;
			if (node && child->replicas[node].window && !p->active)
				return hd_broken("%s: its child %zu lies in its copy on node %zu, and is not in use",
				                 hd_check_name(seen), i, node);
			int status = p->active && !l->scattered ? check_part(seen, child, node) : 0;
			if (status)
				return status;
		}
	if (n != l->n_windows[node])
		return hd_broken("%s: %u children lie in its copy on node %zu; n_windows says %u", hd_check_name(seen),
		                 n, node, l->n_windows[node]);
	return node && l->scattered && host->ptr && !n && !host->pins
	           ? hd_broken("%s: its copy on node %zu is void, and nothing lies in it", hd_check_name(seen), node)
	           : 0;
}

/* Checks a plan and its children: children of an inactive plan are invalid on every node. */
static int check_plan(const struct hd_check *c, const struct hd_checked_data *seen, const heddle_plan *p)
{
	if (p->checked != p->n_weak)
		return hd_broken("%s: %u accesses are in force that go to children of one plan; n_weak says %u",
		                 hd_check_name(seen), p->checked, p->n_weak);
	for (size_t i = 0; i < p->n_children; i++) {
		const struct hd_checked_data *child = hd_check_find_data(c, p->children[i]);
		if (!child || child->data->plan != p || !child->data->deep)
			return hd_broken("%s: its child %zu is another's, or not there any more", hd_check_name(seen),
			                 i);
		const struct hd_layout *l = hd_data_layout(child->data);
		if (p->active || p->step)
			continue;
		if (child->data->n_valid || child->data->transfers)
			return hd_broken("%s: its child %zu is in use, although its plan is not active",
			                 hd_check_name(seen), i);
		for (const heddle_plan *below = l ? l->plans : NULL; below; below = below->next)
			if (below->active)
				return hd_broken("%s: its child %zu is split, although its plan is not active",
				                 hd_check_name(seen), i);
	}
	return 0;
}

/* Checks that the state of the layout is one of those in graph/layout.c, and allows the accesses in force. */
static int check_state(const struct hd_checked_data *seen, const struct hd_layout *l)
{
	const heddle_data *d = seen->data;
	uint32_t n_steps = 0, n_active = 0, n_used = 0;
	int found = !l->scattered;
	for (const heddle_plan *p = l->plans; p; p = p->next) {
		n_steps += p->step != HD_NO_STEP;
		n_active += p->active;
		n_used += p->n_weak != 0;
		found |= p == l->scattered && p->active;
	}
	if (n_steps != l->n_steps || n_used != l->n_used)
		return hd_broken("%s: %u of its plans have steps and %u are in use; its layout says %u and %u",
		                 hd_check_name(seen), n_steps, n_used, l->n_steps, l->n_used);
	if (seen->changing != l->n_changing)
		return hd_broken("%s: %u accesses change its children; its layout says %u", hd_check_name(seen),
		                 seen->changing, l->n_changing);
	if (!found || (l->scattered && n_active > 1) || (l->scattered && !n_steps && d->n_valid))
		return hd_broken("%s: it is scattered over a plan, and has other copies", hd_check_name(seen));
	if (d->granted && d->granted_mode != HEDDLE_R && n_active)
		return hd_broken("%s: a task may change it, and its children have a value", hd_check_name(seen));
	return 0;
}

int hd_check_layout(const struct hd_check *c, const struct hd_checked_data *seen)
{
	const heddle_data *d = seen->data;
	const struct hd_data_extra *extra = d->extra;
	const struct hd_layout *l = extra ? extra->layout : NULL;
	if (d->plan && !hd_check_find_data(c, d->plan->data))
		return hd_broken("%s: its parent is not there any more", hd_check_name(seen));
	enum hd_closed closed = hd_data_closed(d);
	if (closed != HD_UNREGISTERED && (closed == HD_PARTITIONED) != (extra && extra->partition))
		return hd_broken("%s: it is partitioned and has no children, or the other way round",
		                 hd_check_name(seen));
	int status = l ? check_state(seen, l) : 0;
	for (const heddle_plan *p = l ? l->plans : NULL; p && !status; p = p->next)
		status =
		    p->data == d ? check_plan(c, seen, p) : hd_broken("%s: its plan is another's", hd_check_name(seen));
	for (size_t n = 0; l && n < c->rt->n_nodes && !status; n++)
		status = check_node(seen, l, n);
	return status;
}
