/* The data of a plan, and what is known of them. */
#include <fmm/tasks/tasks.h>
#include <stdlib.h>

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

size_t hd_fmm_address_bytes(const struct heddle_fmm_plan *plan)
{
	size_t most =
	    larger(hd_fmm_all_groups(plan, &plan->sources), hd_fmm_all_groups(plan, hd_fmm_target_side(plan)));
	return (most * sizeof(void *) + 63) / 64 * 64;
}

size_t hd_fmm_most_direct(const struct heddle_fmm_plan *plan)
{
	size_t most = 0;
	for (int level = 0; level <= plan->box.depth; level++) {
		const struct hd_fmm_groups *groups = hd_fmm_target_groups(plan, level);
		for (size_t g = 0; g < groups->n; g++)
			most = larger(most, groups->all[g].most_direct);
	}
	return most;
}

/* Groups of targets far from many sources have the longest lists of translations. */
size_t hd_fmm_work_bytes(const struct heddle_fmm_plan *plan)
{
	double most = 0;
	for (int level = 0; level <= plan->box.depth; level++) {
		const struct hd_fmm_groups *groups = hd_fmm_target_groups(plan, level);
		for (size_t g = 0; g < groups->n; g++)
			most = groups->all[g].translations > most ? groups->all[g].translations : most;
	}
	size_t list = larger((size_t)most * sizeof(struct hd_fmm_listed),
	                     hd_fmm_most_direct(plan) * sizeof(struct hd_fmm_direct));
	list = (list + 63) / 64 * 64;
	return hd_fmm_address_bytes(plan) + 2 * HD_FMM_COLUMNS * hd_fmm_stride(plan) * hd_fmm_real_size(plan) + list;
}

static int make_room(size_t n, heddle_data ***out)
{
	*out = calloc(n + 1, sizeof **out);
	return *out ? 0 : hd_fmm_no_memory("the data of groups");
}

/* Expansions of the cells of one level, group by group. */
static int register_expansions(struct heddle_fmm_plan *plan, const struct hd_fmm_groups *groups, heddle_data ***out)
{
	int status = make_room(groups->n, out);
	size_t stride = hd_fmm_stride(plan);
	for (size_t g = 0; g < groups->n && status == 0; g++)
		status = heddle_matrix(plan->fmm->rt, NULL, stride, groups->all[g].n, stride, hd_fmm_real_size(plan),
		                       &(*out)[g]);
	return status;
}

/* Matrices of a row for each slot of a group that has leaves; `at` NULL: temporaries. */
static int register_slots(struct heddle_fmm_plan *plan, const struct hd_fmm_side *side, size_t columns, char *at,
                          heddle_data ***out)
{
	int status = make_room(hd_fmm_all_groups(plan, side), out);
	for (int level = 0; level <= plan->box.depth; level++) {
		const struct hd_fmm_groups *groups = &side->groups[level];
		for (size_t g = 0; g < groups->n && status == 0; g++) {
			size_t rows = groups->all[g].n_slots, real_size = hd_fmm_real_size(plan);
			void *from = at ? at + 3 * groups->all[g].first_slot * real_size : NULL;
			if (rows > 0)
				status = heddle_matrix(plan->fmm->rt, from, rows, columns, rows, real_size,
				                       &(*out)[groups->before + g]);
		}
	}
	return status;
}

/* What devices need to know of the plan: lists, matrices and signs. */
static int register_for_devices(struct heddle_fmm_plan *plan)
{
	size_t matrix = hd_fmm_terms(plan->degree) * hd_fmm_stride(plan);
	size_t n = HD_FMM_MATRICES * matrix + HD_FMM_REFLECTIONS * hd_fmm_stride(plan);
	void *tables = plan->options.precision == HEDDLE_FMM_SINGLE ? (void *)plan->tables.s.far[0]
	                                                            : (void *)plan->tables.d.far[0];
	int status = heddle_vector(plan->fmm->rt, tables, n, hd_fmm_real_size(plan), &plan->tables_data);
	status = status ? status : hd_fmm_register_far_lists(plan);
	return status ? status : hd_fmm_register_near_lists(plan);
}

int hd_fmm_register_data(struct heddle_fmm_plan *plan)
{
	int depth = plan->box.depth, status = 0;
	const struct hd_fmm_side *sources = &plan->sources, *targets = hd_fmm_target_side(plan);
	for (int level = plan->near.first_far; level <= depth && status == 0; level++) {
		status = register_expansions(plan, &plan->sources.groups[level], &plan->sources.expansions[level]);
		if (status == 0)
			status = register_expansions(plan, hd_fmm_target_groups(plan, level),
			                             &plan->targets.expansions[level]);
	}
	status = status ? status : register_slots(plan, sources, 4, NULL, &plan->sources.particles);
	if (status == 0 && plan->has_targets)
		status = register_slots(plan, targets, 3, plan->targets.at, &plan->targets.particles);
	if (status == 0 && plan->fmm->for_devices[plan->options.precision])
		status = register_for_devices(plan);
	status = status ? status : register_slots(plan, targets, 4, NULL, &plan->results);
	return status ? status : heddle_vector(plan->fmm->rt, NULL, hd_fmm_work_bytes(plan), 1, &plan->work);
}

void hd_fmm_end_data(heddle_data *data)
{
	while (data && heddle_unregister(data) == HEDDLE_E_INTERRUPTED)
		;
}

static void end(heddle_data **all, size_t n)
{
	for (size_t i = 0; all && i < n; i++)
		hd_fmm_end_data(all[i]);
	free(all);
}

int hd_fmm_unregister_data(struct heddle_fmm_plan *plan)
{
	int depth = plan->box.depth, status = plan->results ? heddle_may_wait(plan->fmm->rt) : 0;
	size_t n_sources = hd_fmm_all_groups(plan, &plan->sources);
	size_t n_targets = hd_fmm_all_groups(plan, hd_fmm_target_side(plan));
	if (status)
		return status;
	end(plan->results, n_targets);
	end(plan->near_data, n_targets);
	end(plan->targets.particles, n_targets);
	end(plan->sources.particles, n_sources);
	for (int level = plan->near.first_far; level <= depth; level++) {
		end(plan->targets.expansions[level], hd_fmm_target_groups(plan, level)->n);
		end(plan->sources.expansions[level], plan->sources.groups[level].n);
	}
	hd_fmm_end_far_lists(plan);
	hd_fmm_end_data(plan->tables_data);
	hd_fmm_end_data(plan->work);
	return 0;
}

/* --- What is known of a plan -------------------------------------------------------------------------------------- */

void hd_fmm_describe(struct heddle_fmm_plan *plan)
{
	struct heddle_fmm_statistics *s = &plan->statistics;
	const struct hd_fmm_tree *targets = hd_fmm_targets(plan);
	double terms = (double)hd_fmm_terms(plan->degree), real_size = (double)hd_fmm_real_size(plan);
	s->depth = plan->box.depth;
	s->degree = plan->degree;
	s->leaves = targets->leaves;
	double expansions = 0;
	for (int level = 0; level <= s->depth; level++) {
		const struct hd_fmm_groups *groups = hd_fmm_target_groups(plan, level);
		s->cells += targets->levels[level].n;
		for (size_t g = 0; g < groups->n; g++) {
			s->pairs += groups->all[g].pairs;
			s->translations += groups->all[g].translations;
		}
		if (level >= plan->near.first_far)
			expansions += (double)(plan->sources.tree.levels[level].n + targets->levels[level].n);
	}
	s->flops = 20 * s->pairs + 2 * terms * terms * s->translations;
	s->bytes = real_size * ((double)hd_fmm_stride(plan) * expansions + 8 * (double)(s->sources + s->targets));
	s->tasks = hd_fmm_count_tasks(plan);
}
