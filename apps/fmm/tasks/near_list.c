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
	int32_t offset
	    [3]; /* of their leaf's centre from the centre of the target, in halves of the smallest leaves' side */
};
enum { NUMBERS = sizeof(struct entry) / sizeof(uint32_t) };

/* What is known while lists are written. */
struct writer {
	const struct heddle_fmm_plan *plan;
	uint32_t *places;             /* of each group of sources of all levels, where its first slot is gathered */
	struct hd_fmm_direct *direct; /* the list of a leaf */
	uint32_t *out;
};

static size_t entry_of(const struct writer *w, const struct hd_fmm_direct *d, uint32_t *out)
{
	const struct hd_fmm_side *side = &w->plan->sources;
	const struct hd_fmm_groups *groups = &side->groups[d->level];
	const struct hd_fmm_level *l = &side->tree.levels[d->level];
	uint32_t group = groups->of_cell[d->cell];
	size_t slot = l->first_slot[d->cell] - groups->all[group].first_slot;
	const struct entry e = {w->places[groups->before + group] + (uint32_t)slot,
	                        l->count[d->cell],
	                        {d->offset[0], d->offset[1], d->offset[2]}};
	memcpy(out, &e, sizeof e);
	return NUMBERS;
}

/* Returns how many numbers the list of a group has. */
static size_t write_list(const struct writer *w, int level, const struct hd_fmm_group *g)
{
	const struct hd_fmm_tree *targets = hd_fmm_targets(w->plan);
	const struct hd_fmm_level *l = &targets->levels[level];
	uint32_t *begin = w->out, *out = begin + 2 * (g->n_slots / HD_FMM_PADDING), done = 0;
	for (size_t leaf = g->first; leaf < g->first + g->n; leaf++) {
		struct hd_fmm_directs direct = {.all = w->direct};
		if (!hd_fmm_is_leaf(l, leaf))
			continue;
		hd_fmm_direct_of(&w->plan->near, targets, &w->plan->sources.tree, level, (uint32_t)leaf, &direct);
		for (size_t i = 0; i < direct.n; i++)
			out += entry_of(w, &direct.all[i], out);
		for (size_t slot = l->first_slot[leaf]; slot < l->first_slot[leaf + 1]; slot += HD_FMM_PADDING) {
			*begin++ = done;
			*begin++ = done + (uint32_t)direct.n;
		}
		done += (uint32_t)direct.n;
	}
	return (size_t)(out - w->out);
}

static int register_list(struct writer *w, int level, size_t group, heddle_data **out)
{
	const struct heddle_fmm_plan *plan = w->plan;
	const struct hd_fmm_uses *uses = &plan->near_uses;
	size_t place = 0, target = hd_fmm_target_groups(plan, level)->before + group;
	for (size_t i = uses->start[target]; i < uses->start[target + 1]; i++) {
		int of = 0;
		while (uses->groups[i] >= plan->sources.groups[of].before + plan->sources.groups[of].n)
			of++;
		w->places[uses->groups[i]] = (uint32_t)place;
		place += plan->sources.groups[of].all[uses->groups[i] - plan->sources.groups[of].before].n_slots;
	}
	if (place > UINT32_MAX)
		return heddle_error(HEDDLE_E_UNSUPPORTED,
		                    "%zu sources near one group of targets are too many for devices: start the "
		                    "runtime without them",
		                    place);
	size_t n = write_list(w, level, &hd_fmm_target_groups(plan, level)->all[group]);
	int status = heddle_vector(plan->fmm->rt, w->out, n, sizeof *w->out, out);
	w->out += n;
	return status;
}

static size_t most_numbers(const struct heddle_fmm_plan *plan)
{
	size_t most = 0;
	for (int level = 0; level <= plan->box.depth; level++) {
		const struct hd_fmm_groups *groups = hd_fmm_target_groups(plan, level);
		for (size_t g = 0; g < groups->n; g++)
			most += 2 * (groups->all[g].n_slots / HD_FMM_PADDING) +
			        NUMBERS * groups->all[g].most_direct * groups->all[g].n;
	}
	return most;
}

int hd_fmm_register_near_lists(struct heddle_fmm_plan *plan)
{
	struct writer w = {.plan = plan};
	w.places = malloc((hd_fmm_all_groups(plan, &plan->sources) + 1) * sizeof *w.places);
	w.direct = malloc((hd_fmm_most_direct(plan) + 1) * sizeof *w.direct);
	w.out = plan->near_lists = malloc((most_numbers(plan) + 1) * sizeof *w.out);
	plan->near_data = calloc(hd_fmm_all_groups(plan, hd_fmm_target_side(plan)) + 1, sizeof(heddle_data *));
	int status = w.places && w.direct && w.out && plan->near_data ? 0 : hd_fmm_no_memory("the lists of near cells");
	for (int level = 0; level <= plan->box.depth; level++) {
		const struct hd_fmm_groups *groups = hd_fmm_target_groups(plan, level);
		for (size_t g = 0; g < groups->n && status == 0; g++)
			if (groups->all[g].n_slots > 0)
				status = register_list(&w, level, g, &plan->near_data[groups->before + g]);
	}
	free(w.places);
	free(w.direct);
	return status;
}
