/* Groups of cells with about equal work, cut where parents change, and which groups need which. */
#include <fmm/tasks/tasks.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

struct hd_fmm_range hd_fmm_children_of(const struct hd_fmm_side *side, int level, size_t group)
{
	const struct hd_fmm_group *g = &side->groups[level].all[group];
	const struct hd_fmm_level *l = &side->tree.levels[level];
	size_t first_child = l->first_child[g->first], end = l->first_child[g->first + g->n];
	return end > first_child ? hd_fmm_groups_of(&side->groups[level + 1], first_child, end - first_child)
	                         : (struct hd_fmm_range){0, 0};
}

struct hd_fmm_range hd_fmm_parents_of(const struct heddle_fmm_plan *plan, int level, size_t group)
{
	const struct hd_fmm_group *g = &hd_fmm_target_groups(plan, level)->all[group];
	const uint32_t *parent = hd_fmm_targets(plan)->levels[level].parent;
	size_t first = parent[g->first], last = parent[g->first + g->n - 1];
	return hd_fmm_groups_of(hd_fmm_target_groups(plan, level - 1), first, last - first + 1);
}

/* --- Work --------------------------------------------------------------------------------------------------------- */

/* Sources that are no targets are cut as if they were: their tasks are short, and tasks of targets read them. */
static struct hd_fmm_group work_of(const struct heddle_fmm_plan *plan, const struct hd_fmm_side *side, int level,
                                   size_t cell)
{
	struct hd_fmm_group work = {.first = cell, .n = 1};
	struct hd_fmm_far far[HD_FMM_MOST_FAR];
	const struct hd_fmm_level *l = &side->tree.levels[level];
	int is_target = side == &plan->targets || !plan->has_targets;
	work.first_slot = l->first_slot[cell];
	work.n_slots = l->first_slot[cell + 1] - work.first_slot;
	if (hd_fmm_is_leaf(l, cell) && is_target) {
		struct hd_fmm_directs direct = {.all = NULL};
		hd_fmm_direct_of(&plan->near, &side->tree, &plan->sources.tree, level, (uint32_t)cell, &direct);
		work.most_direct = direct.n;
		work.pairs = (double)direct.sources * l->count[cell];
	} else if (hd_fmm_is_leaf(l, cell))
		work.pairs = HD_FMM_NEAR * (double)l->count[cell] * l->count[cell];
	if (level >= plan->near.first_far)
		work.translations = is_target ? (double)hd_fmm_far_of(&plan->near, &side->tree, &plan->sources.tree,
		                                                      level, (uint32_t)cell, far)
		                              : HD_FMM_MOST_FAR;
	return work;
}

static double us_of(const struct heddle_fmm_plan *plan, const struct hd_fmm_group *work)
{
	double pairs = plan->costs.pair * work->pairs, far = plan->costs.translation * work->translations;
	return pairs > far ? pairs : far;
}

/* --- Groups ------------------------------------------------------------------------------------------------------- */

static void add(struct hd_fmm_group *group, const struct hd_fmm_group *cell)
{
	group->n++;
	group->n_slots += cell->n_slots;
	group->most_direct = group->most_direct > cell->most_direct ? group->most_direct : cell->most_direct;
	group->pairs += cell->pairs;
	group->translations += cell->translations;
}

/* Work per group so that groups are as equal as cuts at parents permit. */
static int cut(const struct heddle_fmm_plan *plan, struct hd_fmm_side *side, int level)
{
	struct hd_fmm_groups *groups = &side->groups[level];
	const struct hd_fmm_level *l = &side->tree.levels[level];
	struct hd_fmm_group *all = groups->all = malloc((l->n + 1) * sizeof *all);
	groups->before = level > 0 ? groups[-1].before + groups[-1].n : 0;
	groups->of_cell = malloc((l->n + 1) * sizeof *groups->of_cell);
	if (!all || !groups->of_cell)
		return -1;
	for (size_t cell = 0; cell < l->n; cell++) {
		struct hd_fmm_group work = work_of(plan, side, level, cell);
		struct hd_fmm_group *last = cell > 0 ? &all[groups->n - 1] : NULL;
		int is_new = cell == 0 || l->parent[cell] != l->parent[cell - 1];
		if (!last || (is_new && us_of(plan, last) + us_of(plan, &work) / 2 > plan->options.task_us))
			all[groups->n++] = work;
		else
			add(last, &work);
		groups->of_cell[cell] = (uint32_t)(groups->n - 1);
	}
	all = realloc(groups->all, (groups->n + 1) * sizeof *all);
	groups->all = all ? all : groups->all;
	return 0;
}

/* --- Uses --------------------------------------------------------------------------------------------------------- */

struct marks {
	size_t *marked_by; /* 1 + the group of targets that has last marked this group of sources */
	uint32_t *groups;
	size_t n, room;
	struct hd_fmm_direct *direct; /* the list of a leaf */
};

static int mark(struct marks *m, size_t target, uint32_t source)
{
	if (m->marked_by[source] == target + 1)
		return 0;
	if (HD_GROW(m->groups, m->n, m->room, 64) < 0)
		return -1;
	m->marked_by[source] = target + 1;
	m->groups[m->n++] = source;
	return 0;
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static int mark_far(const struct heddle_fmm_plan *plan, int level, size_t cell, struct marks *m)
{
	struct hd_fmm_far list[HD_FMM_MOST_FAR];
	size_t n = hd_fmm_far_of(&plan->near, hd_fmm_targets(plan), &plan->sources.tree, level, (uint32_t)cell, list);
	int status = 0;
	for (size_t i = 0; i < n && status == 0; i++)
		status = mark(m, hd_fmm_target_groups(plan, level)->of_cell[cell],
		              plan->sources.groups[level].of_cell[list[i].source]);
	return status;
}

/* Groups of all levels, as hd_fmm_group_of numbers them. */
static int mark_direct(const struct heddle_fmm_plan *plan, int level, size_t cell, struct marks *m)
{
	struct hd_fmm_directs direct = {.all = m->direct};
	size_t target = hd_fmm_group_of(hd_fmm_target_groups(plan, 0), level, cell);
	int status = 0;
	if (!hd_fmm_is_leaf(&hd_fmm_targets(plan)->levels[level], cell))
		return 0;
	hd_fmm_direct_of(&plan->near, hd_fmm_targets(plan), &plan->sources.tree, level, (uint32_t)cell, &direct);
	for (size_t i = 0; i < direct.n && status == 0; i++)
		status = mark(m, target,
		              (uint32_t)hd_fmm_group_of(plan->sources.groups, direct.all[i].level, direct.all[i].cell));
	return status;
}

/* Of the groups of the levels `first` to `last` of targets. */
static int find_uses(const struct heddle_fmm_plan *plan, int first, int last,
                     int (*mark_cell)(const struct heddle_fmm_plan *, int, size_t, struct marks *),
                     struct hd_fmm_uses *uses)
{
	const struct hd_fmm_groups *targets = hd_fmm_target_groups(plan, 0);
	size_t n_targets = targets[last].before + targets[last].n - targets[first].before, done = 0;
	struct marks m = {.marked_by = calloc(hd_fmm_all_groups(plan, &plan->sources) + 1, sizeof *m.marked_by),
	                  .direct = malloc((hd_fmm_most_direct(plan) + 1) * sizeof *m.direct)};
	uses->start = calloc(n_targets + 1, sizeof *uses->start);
	int status = m.marked_by && m.direct && uses->start ? 0 : -1;
	for (int level = first; level <= last; level++)
		for (size_t g = 0; g < targets[level].n && status == 0; g++) {
			const struct hd_fmm_group *group = &targets[level].all[g];
			for (size_t i = 0; i < group->n && status == 0; i++)
				status = mark_cell(plan, level, group->first + i, &m);
			uses->start[++done] = m.n;
			if (m.n > uses->start[done - 1])
				qsort(m.groups + uses->start[done - 1], m.n - uses->start[done - 1], sizeof *m.groups,
				      ascending);
		}
	uses->groups = m.groups;
	free(m.marked_by);
	free(m.direct);
	return status;
}

int hd_fmm_groups_make(struct heddle_fmm_plan *plan)
{
	int depth = plan->box.depth, status = 0;
	for (int level = 0; level <= depth && status == 0; level++) {
		status = cut(plan, &plan->sources, level);
		if (status == 0 && plan->has_targets)
			status = cut(plan, &plan->targets, level);
	}
	for (int level = plan->near.first_far; level <= depth && status == 0; level++)
		status = find_uses(plan, level, level, mark_far, &plan->far_uses[level]);
	return status == 0 ? find_uses(plan, 0, depth, mark_direct, &plan->near_uses) : status;
}

void hd_fmm_groups_free(struct heddle_fmm_plan *plan)
{
	for (int level = 0; level < HD_FMM_LEVELS; level++) {
		free(plan->sources.groups[level].all);
		free(plan->sources.groups[level].of_cell);
		free(plan->targets.groups[level].all);
		free(plan->targets.groups[level].of_cell);
		free(plan->far_uses[level].start);
		free(plan->far_uses[level].groups);
	}
	free(plan->near_uses.start);
	free(plan->near_uses.groups);
}
