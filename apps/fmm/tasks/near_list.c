/* For devices, which do not see the plan: which gathered sources are near each leaf of a group of targets.
 *
 * The sources of the groups that a task of the near field reads lie one behind the other, in the order of these groups.
 * The list of a group of targets begins with two numbers for each HD_FMM_PADDING slots, which have a leaf in common:
 * the first of the leaf's entries, and the end of them. Then the entries follow, struct entry. */
#include <fmm/tasks/tasks.h>
#include <stdlib.h>
#include <string.h>

/* Sources that act directly on a leaf. */
struct entry {
	uint32_t first, n; /* gathered slots */
	int32_t offset[3]; /* of their leaf's centre from the centre of the target, in halves of the side of a leaf */
};
enum { NUMBERS = sizeof(struct entry) / sizeof(uint32_t) };

/* Writes the entries of a leaf, HD_FMM_NEAR at most, and returns how many there are. `places` has, for each group of
 * sources that the leaf's group needs, the place of the group's first slot. */
static size_t entries_of(const struct heddle_fmm_plan *plan, size_t leaf, const uint32_t *places, struct entry *out)
{
	const uint32_t *near = plan->near.levels[plan->box.depth] + HD_FMM_NEAR * leaf;
	const struct hd_fmm_groups *groups = &plan->sources.groups[plan->box.depth];
	const struct hd_fmm_tree *sources = &plan->sources.tree;
	size_t n = 0;
	for (int k = 0; k < HD_FMM_NEAR; k++) {
		if (near[k] == HD_FMM_NO_CELL)
			continue;
		uint32_t group = groups->of_cell[near[k]];
		size_t slot = sources->first_slot[near[k]] - groups->all[group].first_slot;
		out[n++] = (struct entry){places[group] + (uint32_t)slot,
		                          (uint32_t)hd_fmm_count(sources, near[k]),
		                          {2 * (k / 9 - 1), 2 * (k / 3 % 3 - 1), 2 * (k % 3 - 1)}};
	}
	return n;
}

/* Returns how many numbers the list of a group has. */
static size_t write_list(const struct heddle_fmm_plan *plan, const struct hd_fmm_group *g, const uint32_t *places,
                         uint32_t *out)
{
	const struct hd_fmm_tree *targets = hd_fmm_targets(plan);
	uint32_t *numbers = out + 2 * (g->n_slots / HD_FMM_PADDING), done = 0;
	for (size_t leaf = g->first; leaf < g->first + g->n; leaf++) {
		struct entry entries[HD_FMM_NEAR];
		size_t n = entries_of(plan, leaf, places, entries);
		memcpy(numbers + NUMBERS * done, entries, n * sizeof *entries);
		for (size_t slot = targets->first_slot[leaf]; slot < targets->first_slot[leaf + 1];
		     slot += HD_FMM_PADDING) {
			*out++ = done;
			*out++ = done + (uint32_t)n;
		}
		done += (uint32_t)n;
	}
	return 2 * (g->n_slots / HD_FMM_PADDING) + NUMBERS * done;
}

/* Returns how many numbers the list has, or an error. */
static int64_t register_list(struct heddle_fmm_plan *plan, size_t group, uint32_t *places, uint32_t *out)
{
	const struct hd_fmm_uses *uses = &plan->near_uses;
	size_t place = 0;
	for (size_t i = uses->start[group]; i < uses->start[group + 1]; i++) {
		places[uses->groups[i]] = (uint32_t)place;
		place += plan->sources.groups[plan->box.depth].all[uses->groups[i]].n_slots;
	}
	if (place > UINT32_MAX)
		return heddle_error(HEDDLE_E_UNSUPPORTED,
		                    "%zu sources near one group of targets are too many for OpenCL devices: start the "
		                    "runtime without OpenCL devices",
		                    place);
	size_t n = write_list(plan, &hd_fmm_target_groups(plan, plan->box.depth)->all[group], places, out);
	int status = heddle_vector(plan->fmm->rt, out, n, sizeof *out, &plan->near_data[group]);
	return status < 0 ? status : (int64_t)n;
}

int hd_fmm_register_near_lists(struct heddle_fmm_plan *plan)
{
	const struct hd_fmm_groups *groups = hd_fmm_target_groups(plan, plan->box.depth);
	size_t most = 0;
	int64_t n = 0;
	for (size_t g = 0; g < groups->n; g++)
		most += 2 * (groups->all[g].n_slots / HD_FMM_PADDING) + NUMBERS * HD_FMM_NEAR * groups->all[g].n;
	uint32_t *places = malloc((plan->sources.groups[plan->box.depth].n + 1) * sizeof *places);
	uint32_t *out = plan->near_lists = malloc((most + 1) * sizeof *out);
	plan->near_data = calloc(groups->n + 1, sizeof(heddle_data *));
	if (!places || !out || !plan->near_data)
		n = hd_fmm_no_memory("the lists of near cells");
	for (size_t g = 0; g < groups->n && n >= 0; g++) {
		n = register_list(plan, g, places, out);
		out += n > 0 ? n : 0;
	}
	free(places);
	return n < 0 ? (int)n : 0;
}
