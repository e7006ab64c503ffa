/* One precision of plan.c. */

/* The coordinates of a group's particles relative to the centres of their leaves, in units of the side of the smallest
 * leaves. */
static void P(place_points)(const struct hd_fmm_box *box, const struct hd_fmm_side *side, int level, size_t group,
                            const double *xyz)
{
	const struct hd_fmm_group *g = &side->groups[level].all[group];
	const struct hd_fmm_level *l = &side->tree.levels[level];
	real *at = (real *)side->at + 3 * g->first_slot;
	int shift = box->depth - level;
	for (size_t cell = g->first; cell < g->first + g->n; cell++)
		for (size_t i = 0; i < l->count[cell] && hd_fmm_is_leaf(l, cell); i++) {
			const double *x = xyz + 3 * (size_t)side->tree.order[l->first[cell] + i];
			size_t slot = l->first_slot[cell] - g->first_slot + i;
			uint32_t place[3];
			hd_fmm_place_of(box, x, place);
			for (size_t c = 0; c < 3; c++)
				at[slot + c * g->n_slots] = (real)((x[c] - box->low[c]) / box->leaf_side -
				                                   ((place[c] >> shift) + 0.5) * (1 << shift));
		}
}
