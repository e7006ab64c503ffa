/* The tasks of an evaluation, in the order of a sequential program. What is submitted first is what much waits for;
 * priorities are in the order P2M > M2M > M2L > L2L > P2P > L2P. */
#include <fmm/tasks/tasks.h>
#include <heddle/policy.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/grow.h"

/* Tasks of a call. */
struct flow {
	struct heddle_fmm_plan *plan;
	struct hd_fmm_value value; /* what all tasks have in common */
	int status;                /* of the first error; what comes after it does nothing */
	struct heddle_item *items; /* owns; of the next task */
	size_t n, room;
	struct hd_fmm_by_size *sizes; /* owns; NULL: models are told what a task does */
	int notes;                    /* 1: tasks are noted in `sizes`, and not submitted */
	/* owns; for each group of sources, its work with a group of targets; 0 but while that is looked at */
	struct hd_fmm_near_work *near;
	struct hd_fmm_direct *direct; /* owns; room for the leaves that act directly on one */
};

static void add(struct flow *f, struct heddle_item item)
{
	if (f->status < 0)
		return;
	if (HD_GROW(f->items, f->n, f->room, 64) < 0)
		f->status = hd_fmm_no_memory("the data of a task");
	else
		f->items[f->n++] = item;
}

static void begin(struct flow *f, enum hd_fmm_op op, int level, size_t group, double us)
{
	f->n = 0;
	f->value.work = (struct hd_fmm_work){.us = us};
	f->value.op = op;
	f->value.level = level;
	f->value.group = group;
	add(f, heddle_call(f->plan->fmm->codelets[f->plan->options.precision][op]));
	add(f, heddle_priority(f->plan->fmm->assumed.no_priorities ? 0 : HD_FMM_N_OPS - (int)op));
}

/* Of the data of the task. */
static double bytes_of(const struct flow *f)
{
	double bytes = 0;
	for (size_t i = 0; i < f->n; i++)
		if (f->items[i].what < HEDDLE_ITEM_CODELET && f->items[i].what != HEDDLE_SCRATCH)
			bytes += (double)heddle_data_bytes(f->items[i].ptr);
	return bytes;
}

static void submit(struct flow *f)
{
	if (f->notes) {
		hd_fmm_by_size_note(f->sizes, &f->value, bytes_of(f));
		return;
	}
	f->value.told = f->sizes ? hd_fmm_by_size_tell(f->sizes, &f->value, bytes_of(f)) : f->value.work;
	add(f, heddle_value(f->value));
	if (f->status >= 0)
		f->status = heddle_submit_items(f->plan->fmm->rt, f->n, f->items);
}

static void add_range(struct flow *f, heddle_data *const *data, struct hd_fmm_range range)
{
	for (size_t g = range.first; g < range.end; g++)
		add(f, heddle_r(data[g]));
}

/* What a group has in an array of those of all levels: NULL if it has no leaves. */
static heddle_data *of_leaves(heddle_data *const *data, const struct hd_fmm_groups *groups, size_t group)
{
	return data[groups->before + group];
}

static void add_uses(struct flow *f, heddle_data *const *data, const struct hd_fmm_uses *uses, size_t group)
{
	for (size_t i = uses->start[group]; i < uses->start[group + 1]; i++)
		add(f, heddle_r(data[uses->groups[i]]));
}

/* The coordinates of a group of targets. */
static heddle_data *points_of(const struct heddle_fmm_plan *plan, int level, size_t group)
{
	return of_leaves(hd_fmm_target_side(plan)->particles, hd_fmm_target_groups(plan, level), group);
}

/* --- The tree, upwards and downwards ------------------------------------------------------------------------------ */

/* Leaves and cells with children may be in one group: the multipoles of the latter are added to those of the former. */
static void up_to(struct flow *f, int level, size_t g)
{
	const struct heddle_fmm_plan *plan = f->plan;
	const struct hd_fmm_side *side = &plan->sources;
	const struct hd_fmm_group *group = &side->groups[level].all[g];
	struct hd_fmm_range children = hd_fmm_children_of(side, level, g);
	if (group->n_slots > 0) {
		begin(f, HD_FMM_P2M, level, g, plan->costs.particle * (double)group->n_slots);
		add(f, heddle_w(of_leaves(side->particles, &side->groups[level], g)));
		if (plan->options.pairs == HEDDLE_FMM_MUTUAL)
			add(f, heddle_w(of_leaves(plan->results, &side->groups[level], g)));
		if (level >= plan->near.first_far)
			add(f, heddle_w(side->expansions[level][g]));
		submit(f);
	}
	if (level >= plan->near.first_far && children.end > children.first) {
		begin(f, HD_FMM_M2M, level, g, 8 * plan->costs.translation * (double)group->n);
		add(f,
		    group->n_slots > 0 ? heddle_rw(side->expansions[level][g]) : heddle_w(side->expansions[level][g]));
		add(f, heddle_scratch(plan->work));
		add_range(f, side->expansions[level + 1], children);
		submit(f);
	}
}

static void up(struct flow *f)
{
	for (int level = f->plan->box.depth; level >= 0; level--)
		for (size_t g = 0; g < f->plan->sources.groups[level].n; g++)
			up_to(f, level, g);
}

static void down(struct flow *f)
{
	const struct heddle_fmm_plan *plan = f->plan;
	for (int level = plan->near.first_far; level <= plan->box.depth; level++) {
		const struct hd_fmm_groups *groups = hd_fmm_target_groups(plan, level);
		for (size_t g = 0; g < groups->n; g++) {
			begin(f, HD_FMM_M2L, level, g, plan->costs.translation * groups->all[g].translations);
			add(f, heddle_w(plan->targets.expansions[level][g]));
			add(f, heddle_scratch(plan->work));
			add_uses(f, plan->sources.expansions[level], &plan->far_uses[level], g);
			if (plan->far_lists[level]) {
				add(f, heddle_r(plan->far_lists[level][g].data));
				add(f, heddle_r(plan->tables_data));
			}
			submit(f);
		}
		for (size_t g = 0; g < groups->n && level > plan->near.first_far; g++) {
			begin(f, HD_FMM_L2L, level, g, plan->costs.translation * (double)groups->all[g].n);
			add(f, heddle_rw(plan->targets.expansions[level][g]));
			add(f, heddle_scratch(plan->work));
			add_range(f, plan->targets.expansions[level - 1], hd_fmm_parents_of(plan, level, g));
			submit(f);
		}
	}
}

/* --- Leaves ------------------------------------------------------------------------------------------------------- */

/* The work with a group of sources, which is then 0 again. */
static struct hd_fmm_near_work take_work(const struct flow *f, size_t group)
{
	struct hd_fmm_near_work work = f->near[group];
	f->near[group] = (struct hd_fmm_near_work){.pairs = 0};
	return work;
}

/* Sources x threads of a group of targets in blocks, if somebody asks. */
static double blocks_of(const struct flow *f, int level, size_t g)
{
	const struct hd_fmm_uses *uses = &f->plan->near_uses;
	size_t group = hd_fmm_target_groups(f->plan, level)->before + g;
	double blocks = 0;
	if (f->plan->fmm->assumed.gpu_pairs != HD_FMM_BLOCKS)
		return 0;
	hd_fmm_near_work(f->plan, level, g, f->direct, f->near);
	for (size_t i = uses->start[group]; i < uses->start[group + 1]; i++)
		blocks += take_work(f, uses->groups[i]).blocks;
	return blocks;
}

static void one_sided(struct flow *f, int level, size_t g)
{
	const struct heddle_fmm_plan *plan = f->plan;
	const struct hd_fmm_groups *groups = hd_fmm_target_groups(plan, level);
	begin(f, HD_FMM_P2P, level, g, plan->costs.pair * groups->all[g].pairs);
	f->value.work.blocks = blocks_of(f, level, g);
	add(f, heddle_w(of_leaves(plan->results, groups, g)));
	add(f, heddle_scratch(plan->work));
	add(f, heddle_r(points_of(plan, level, g)));
	add_uses(f, plan->sources.particles, &plan->near_uses, groups->before + g);
	if (plan->near_data)
		add(f, heddle_r(plan->near_data[groups->before + g]));
	submit(f);
}

/* Two groups, as hd_fmm_group_of numbers them, and the work of the first with the other as its sources. */
static void mutual_pair(struct flow *f, int level, size_t g, size_t other, struct hd_fmm_near_work work)
{
	const struct heddle_fmm_plan *plan = f->plan;
	const struct hd_fmm_groups *groups = plan->sources.groups;
	int other_level = level;
	while (other >= groups[other_level].before + groups[other_level].n)
		other_level++;
	f->value.other_level = other_level;
	f->value.other = other - groups[other_level].before;
	begin(f, HD_FMM_MUTUAL, level, g - groups[level].before, plan->costs.pair * (other == g ? 1 : 2) * work.pairs);
	f->value.work.blocks = other == g ? work.blocks : work.blocks + work.returned;
	add(f, heddle_commute(plan->results[g]));
	if (other != g)
		add(f, heddle_commute(plan->results[other]));
	add(f, heddle_scratch(plan->work));
	add(f, heddle_r(plan->sources.particles[g]));
	if (other != g)
		add(f, heddle_r(plan->sources.particles[other]));
	submit(f);
}

static void mutual(struct flow *f, int level, size_t group)
{
	const struct heddle_fmm_plan *plan = f->plan;
	const struct hd_fmm_groups *groups = &plan->sources.groups[level];
	const struct hd_fmm_uses *uses = &plan->near_uses;
	size_t g = groups->before + group;
	hd_fmm_near_work(plan, level, group, f->direct, f->near);
	for (size_t i = uses->start[g]; i < uses->start[g + 1]; i++) {
		struct hd_fmm_near_work work = take_work(f, uses->groups[i]);
		if (uses->groups[i] >= g)
			mutual_pair(f, level, g, uses->groups[i], work);
	}
}

static void finish(struct flow *f, int level, size_t g)
{
	const struct heddle_fmm_plan *plan = f->plan;
	const struct hd_fmm_groups *groups = hd_fmm_target_groups(plan, level);
	begin(f, HD_FMM_L2P, level, g, plan->costs.particle * (double)groups->all[g].n_slots);
	add(f, heddle_rw(of_leaves(plan->results, groups, g)));
	add(f, heddle_r(points_of(plan, level, g)));
	if (level >= plan->near.first_far)
		add(f, heddle_r(plan->targets.expansions[level][g]));
	submit(f);
}

static void for_groups_of_leaves(struct flow *f, void (*submit_tasks)(struct flow *, int level, size_t group))
{
	for (int level = 0; level <= f->plan->box.depth; level++) {
		const struct hd_fmm_groups *groups = hd_fmm_target_groups(f->plan, level);
		for (size_t g = 0; g < groups->n; g++)
			if (groups->all[g].n_slots > 0)
				submit_tasks(f, level, g);
	}
}

/* Groups of a side's leaves, on all levels. */
static size_t count_groups_of_leaves(const struct heddle_fmm_plan *plan, const struct hd_fmm_side *side)
{
	size_t n = 0;
	for (int level = 0; level <= plan->box.depth; level++)
		for (size_t g = 0; g < side->groups[level].n; g++)
			n += side->groups[level].all[g].n_slots > 0;
	return n;
}

size_t hd_fmm_count_tasks(const struct heddle_fmm_plan *plan)
{
	size_t leaves = count_groups_of_leaves(plan, hd_fmm_target_side(plan));
	size_t n = count_groups_of_leaves(plan, &plan->sources) + leaves;
	for (int level = plan->near.first_far; level <= plan->box.depth; level++) {
		for (size_t g = 0; g < plan->sources.groups[level].n; g++)
			n += hd_fmm_children_of(&plan->sources, level, g).end > 0;
		n += hd_fmm_target_groups(plan, level)->n * (level > plan->near.first_far ? 2 : 1);
	}
	if (plan->options.pairs == HEDDLE_FMM_ONE_SIDED)
		return n + leaves;
	for (size_t g = 0; g < hd_fmm_all_groups(plan, &plan->sources); g++)
		for (size_t i = plan->near_uses.start[g]; i < plan->near_uses.start[g + 1]; i++)
			n += plan->near_uses.groups[i] >= g;
	return n;
}

static void all_tasks(struct flow *f)
{
	int is_mutual = f->plan->options.pairs == HEDDLE_FMM_MUTUAL;
	up(f);
	down(f);
	for_groups_of_leaves(f, is_mutual ? mutual : one_sided);
	for_groups_of_leaves(f, finish);
}

static int open_flow(struct flow *f)
{
	const struct heddle_fmm_plan *plan = f->plan;
	int by_size = plan->fmm->assumed.by_size;
	f->near = calloc(hd_fmm_all_groups(plan, &plan->sources) + 1, sizeof *f->near);
	f->direct = malloc((hd_fmm_most_direct(plan) + 1) * sizeof *f->direct);
	f->sizes = by_size ? hd_fmm_by_size_make() : NULL;
	return f->near && f->direct && (f->sizes || !by_size) ? 0 : hd_fmm_no_memory("the tasks of an evaluation");
}

/* --- The interface ------------------------------------------------------------------------------------------------ */

static double charge_of(const struct heddle_fmm_plan *plan, const void *charges, size_t i)
{
	return plan->options.precision == HEDDLE_FMM_SINGLE ? (double)((const float *)charges)[i]
	                                                    : ((const double *)charges)[i];
}

/* Charges may have any unit, and yet what tasks multiply them by fits into the numbers of single precision. */
static int find_unit(const struct heddle_fmm_plan *plan, const void *charges, double *unit)
{
	int exponent;
	double largest = 0;
	for (size_t i = 0; i < plan->statistics.sources; i++) {
		double q = charge_of(plan, charges, i);
		if (!isfinite(q))
			return heddle_error(HEDDLE_E_INVALID, "charge %zu is %s (charges are counted from 0)", i,
			                    isnan(q) ? "NaN" : "infinite");
		largest = fmax(largest, fabs(q));
	}
	frexp(largest, &exponent);
	*unit = largest > 0 ? ldexp(1, exponent - 1) : 1;
	return 0;
}

static void find_background(struct hd_fmm_value *v)
{
	for (size_t i = 0; i < v->plan->statistics.sources; i++) {
		double q = charge_of(v->plan, v->charges, i) / v->unit;
		v->total += q;
		v->squares += q * v->plan->squares[i];
	}
}

static int check_arrays(const struct heddle_fmm_plan *plan, struct hd_fmm_value *v)
{
	int is_virtual = heddle_runtime_is_virtual(plan->fmm->rt);
	if (is_virtual && (v->potential || v->gradient))
		return heddle_error(HEDDLE_E_STATE,
		                    "heddle_fmm_evaluate: in virtual time nothing is computed, so there are no "
		                    "results: give NULL for them, or use a runtime without config.platform");
	if (is_virtual)
		return 0;
	if (!v->charges && plan->statistics.sources > 0)
		return heddle_error(HEDDLE_E_INVALID,
		                    "heddle_fmm_evaluate: charges is NULL, which only virtual time permits");
	int status = find_unit(plan, v->charges, &v->unit);
	if (status == 0 && plan->box.periodic && !plan->counting)
		find_background(v);
	return status;
}

int heddle_fmm_evaluate_submit(heddle_fmm_plan *plan, const void *charges, void *potential, void *gradient)
{
	if (!plan)
		return heddle_error(HEDDLE_E_INVALID, "heddle_fmm_evaluate needs a plan");
	struct flow f = {.plan = plan,
	                 .value = {.plan = plan, .charges = charges, .potential = potential, .gradient = gradient}};
	f.status = check_arrays(plan, &f.value);
	if (f.status < 0)
		return f.status;
	f.status = open_flow(&f);
	f.notes = f.sizes != NULL;
	if (f.notes && f.status == 0)
		all_tasks(&f);
	f.notes = 0;
	if (f.status == 0)
		all_tasks(&f);
	free(f.items);
	free(f.sizes);
	free(f.near);
	free(f.direct);
	return f.status;
}

int heddle_fmm_evaluate(heddle_fmm_plan *plan, const void *charges, void *potential, void *gradient)
{
	char message[1024];
	heddle_group *group;
	if (!plan)
		return heddle_error(HEDDLE_E_INVALID, "heddle_fmm_evaluate needs a plan");
	heddle_runtime *rt = plan->fmm->rt;
	/* asked first: tasks that the call cannot wait for would use arrays that may end with the call */
	int waited, status = heddle_may_wait(rt);
	status = status ? status : heddle_group_create(rt, &group);
	if (status)
		return status;
	heddle_group *before = heddle_group_set(rt, group);
	status = heddle_fmm_evaluate_submit(plan, charges, potential, gradient);
	snprintf(message, sizeof message, "%s", status < 0 ? heddle_last_error() : "");
	heddle_group_set(rt, before);
	do
		waited = heddle_group_wait(group);
	while (waited == HEDDLE_E_INTERRUPTED);
	heddle_group_free(group);
	return status < 0 ? heddle_error(status, "%s", message) : waited;
}
