/* For devices, which do not see the plan: which gathered sources are near each leaf of a group of targets.
 *
 * The sources of the groups that a task of the near field reads lie one behind the other, in the order of these groups.
 * The list of a group of targets has, for each HD_FMM_PADDING slots, the number of their leaf in the group; then, for
 * each leaf and each of its HD_FMM_NEAR neighbours, the place of the first source and how many there are: none where
 * there is no such cell. */
#include <fmm/tasks/tasks.h>
#include <stdlib.h>

static size_t length_of(const struct hd_fmm_group *g)
{
	return g->n_slots / HD_FMM_PADDING + 2 * HD_FMM_NEAR * g->n;
}

/* `places` has, for each group of sources that the group needs, the place of its first slot. */
static void write_list(const struct heddle_fmm_plan *plan, const struct hd_fmm_group *g, const uint32_t *places,
                       uint32_t *out)
{
	int depth = plan->box.depth;
	const struct hd_fmm_tree *targets = hd_fmm_targets(plan), *sources = &plan->sources.tree;
	uint32_t *near = out + g->n_slots / HD_FMM_PADDING;
	for (size_t leaf = g->first; leaf < g->first + g->n; leaf++) {
		for (size_t slot = targets->first_slot[leaf]; slot < targets->first_slot[leaf + 1];
		     slot += HD_FMM_PADDING)
			*out++ = (uint32_t)(leaf - g->first);
		for (int k = 0; k < HD_FMM_NEAR; k++, near += 2) {
			uint32_t cell = plan->near.levels[depth][HD_FMM_NEAR * leaf + (size_t)k];
			near[0] = near[1] = 0;
			if (cell == HD_FMM_NO_CELL)
				continue;
			uint32_t group = plan->sources.groups[depth].of_cell[cell];
			size_t slot = sources->first_slot[cell] - plan->sources.groups[depth].all[group].first_slot;
			near[0] = places[group] + (uint32_t)slot;
			near[1] = (uint32_t)hd_fmm_count(sources, cell);
		}
	}
}

static int register_list(struct heddle_fmm_plan *plan, size_t group, uint32_t *places, uint32_t *out)
{
	const struct hd_fmm_group *g = &hd_fmm_target_groups(plan, plan->box.depth)->all[group];
	const struct hd_fmm_uses *uses = &plan->near_uses;
	size_t place = 0;
	for (size_t i = uses->start[group]; i < uses->start[group + 1]; i++) {
		places[uses->groups[i]] = (uint32_t)place;
		place += plan->sources.groups[plan->box.depth].all[uses->groups[i]].n_slots;
	}
	if (place > UINT32_MAX)
		return heddle_error(HEDDLE_E_UNSUPPORTED,
		                    "%zu sources near one group of targets are too many for "
		                    "OpenCL devices: start the runtime without them",
		                    place);
	write_list(plan, g, places, out);
	return heddle_vector(plan->fmm->rt, out, length_of(g), sizeof *out, &plan->near_data[group]);
}

int hd_fmm_register_near_lists(struct heddle_fmm_plan *plan)
{
	const struct hd_fmm_groups *groups = hd_fmm_target_groups(plan, plan->box.depth);
	size_t total = 0, done = 0;
	for (size_t g = 0; g < groups->n; g++)
		total += length_of(&groups->all[g]);
	uint32_t *places = malloc((plan->sources.groups[plan->box.depth].n + 1) * sizeof *places);
	plan->near_lists = malloc((total + 1) * sizeof *plan->near_lists);
	plan->near_data = calloc(groups->n + 1, sizeof(heddle_data *));
	int status = places && plan->near_lists && plan->near_data ? 0 : hd_fmm_no_memory("the lists of near cells");
	for (size_t g = 0; g < groups->n && status == 0; g++) {
		status = register_list(plan, g, places, plan->near_lists + done);
		done += length_of(&groups->all[g]);
	}
	free(places);
	return status;
}
