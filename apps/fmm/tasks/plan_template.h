/* One precision of plan.c. */

/* The coordinates of a group's particles relative to the centres of their leaves, in units of their side. */
static void P(place_points)(const struct hd_fmm_box *box, const struct hd_fmm_tree *tree,
                            const struct hd_fmm_group *group, const double *xyz, real *at)
{
	at += 3 * group->first_slot;
	for (size_t leaf = group->first; leaf < group->first + group->n; leaf++)
		for (size_t i = 0; i < hd_fmm_count(tree, leaf); i++) {
			const double *x = xyz + 3 * (size_t)tree->order[tree->first[leaf] + i];
			size_t slot = tree->first_slot[leaf] - group->first_slot + i;
			uint32_t place[3];
			hd_fmm_place_of(box, x, place);
			for (size_t c = 0; c < 3; c++)
				at[slot + c * group->n_slots] =
				    (real)((x[c] - box->low[c]) / box->leaf_side - (place[c] + 0.5));
		}
}
