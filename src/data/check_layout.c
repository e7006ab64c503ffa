/* The part of heddle_check about layouts: plans, their children, and which of them have the value. */
#include "core/check.h"

/* Checks a plan and its children: those of a plan that is not active have no value anywhere. */
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
		const struct hd_layout *l = child->data->extra ? child->data->extra->layout : NULL;
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

/* Checks that the state of a layout is one of those that there are, and allows what is in force. */
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
	if (seen->weak != l->n_weak || seen->changing != l->n_changing)
		return hd_broken("%s: %u accesses go to its children and %u change them; its layout says %u and %u",
		                 hd_check_name(seen), seen->weak, seen->changing, l->n_weak, l->n_changing);
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
	if ((hd_data_closed(d) == HD_PARTITIONED) != (extra && extra->partition))
		return hd_broken("%s: it is partitioned and has no children, or the other way round",
		                 hd_check_name(seen));
	int status = l ? check_state(seen, l) : 0;
	for (const heddle_plan *p = l ? l->plans : NULL; p && !status; p = p->next)
		status =
		    p->data == d ? check_plan(c, seen, p) : hd_broken("%s: its plan is another's", hd_check_name(seen));
	return status;
}
