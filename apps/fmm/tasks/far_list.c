/* For devices, which do not see the plan: the translations that a group of targets needs.
 *
 * The multipoles of the groups that a task reads lie one behind the other, in the order of these groups: each is a
 * column. The translations of a group of targets are cut into blocks with a matrix in common, of which the last one of
 * each matrix may have gaps; each place in a block has a product. The list of a group of targets has
 *
 *   the matrix of each block;
 *   for each place of each block, the column (HD_FMM_NO_COLUMN: a gap) and its reflection;
 *   for each target, and once more, the first of its products;
 *   the places of the products, target by target. */
#include <fmm/tasks/tasks.h>
#include <stdlib.h>

static size_t most_blocks(const struct hd_fmm_group *g)
{
	return (size_t)g->translations / HD_FMM_BLOCK + HD_FMM_MATRICES;
}

static size_t most_numbers(const struct hd_fmm_group *g)
{
	return (1 + 2 * HD_FMM_BLOCK) * most_blocks(g) + g->n + 1 + (size_t)g->translations;
}

/* What is known while a list is written. */
struct writer {
	const struct heddle_fmm_plan *plan;
	int level;
	const struct hd_fmm_group *g;
	uint32_t *column_of;          /* of each group of sources, its first column */
	size_t next[HD_FMM_MATRICES]; /* place of each matrix */
};

static size_t far_of(const struct writer *w, size_t target, struct hd_fmm_far *far)
{
	return hd_fmm_far_of(&w->plan->near, hd_fmm_targets(w->plan), &w->plan->sources.tree, w->level,
	                     (uint32_t)target, far);
}

/* Writes the matrices of blocks, and where the places of each matrix begin. */
static size_t write_blocks(struct writer *w, uint32_t *out)
{
	struct hd_fmm_far far[HD_FMM_MOST_FAR];
	size_t count[HD_FMM_MATRICES] = {0}, n_blocks = 0;
	for (size_t target = w->g->first; target < w->g->first + w->g->n; target++) {
		size_t n = far_of(w, target, far);
		for (size_t k = 0; k < n; k++)
			count[far[k].kind / HD_FMM_REFLECTIONS]++;
	}
	for (uint32_t matrix = 0; matrix < HD_FMM_MATRICES; matrix++) {
		w->next[matrix] = HD_FMM_BLOCK * n_blocks;
		for (size_t done = 0; done < count[matrix]; done += HD_FMM_BLOCK)
			out[n_blocks++] = matrix;
	}
	return n_blocks;
}

static void write_list(struct writer *w, struct hd_fmm_far_list *list)
{
	const struct hd_fmm_groups *sources = &w->plan->sources.groups[w->level];
	struct hd_fmm_far far[HD_FMM_MOST_FAR];
	list->n_blocks = write_blocks(w, list->numbers);
	uint32_t *places = list->numbers + list->n_blocks, *starts = places + 2 * HD_FMM_BLOCK * list->n_blocks;
	uint32_t *products = starts + w->g->n + 1, done = 0;
	for (size_t i = 0; i < HD_FMM_BLOCK * list->n_blocks; i++) {
		places[2 * i] = HD_FMM_NO_COLUMN;
		places[2 * i + 1] = 0;
	}
	for (size_t i = 0; i < w->g->n; i++) {
		size_t n = far_of(w, w->g->first + i, far);
		starts[i] = done;
		for (size_t k = 0; k < n; k++) {
			uint32_t group = sources->of_cell[far[k].source];
			size_t place = w->next[far[k].kind / HD_FMM_REFLECTIONS]++;
			places[2 * place] = w->column_of[group] + far[k].source - (uint32_t)sources->all[group].first;
			places[2 * place + 1] = far[k].kind % HD_FMM_REFLECTIONS;
			products[done++] = (uint32_t)place;
		}
	}
	starts[w->g->n] = done;
	list->n = (size_t)(products + done - list->numbers);
}

static int register_level(struct heddle_fmm_plan *plan, int level, uint32_t *column_of)
{
	const struct hd_fmm_groups *groups = hd_fmm_target_groups(plan, level), *sources = &plan->sources.groups[level];
	const struct hd_fmm_uses *uses = &plan->far_uses[level];
	struct hd_fmm_far_list *lists = plan->far_lists[level] = calloc(groups->n + 1, sizeof *lists);
	int status = lists ? 0 : hd_fmm_no_memory("the lists of far cells");
	for (size_t g = 0; g < groups->n && status == 0; g++) {
		struct writer w = {plan, level, &groups->all[g], column_of, {0}};
		uint32_t n_columns = 0;
		for (size_t i = uses->start[g]; i < uses->start[g + 1]; i++) {
			column_of[uses->groups[i]] = n_columns;
			n_columns += (uint32_t)sources->all[uses->groups[i]].n;
		}
		lists[g].n_columns = n_columns;
		lists[g].numbers = malloc(most_numbers(w.g) * sizeof(uint32_t));
		if (!lists[g].numbers)
			return hd_fmm_no_memory("the lists of far cells");
		write_list(&w, &lists[g]);
		status = heddle_vector(plan->fmm->rt, lists[g].numbers, lists[g].n, sizeof(uint32_t), &lists[g].data);
	}
	return status;
}

int hd_fmm_register_far_lists(struct heddle_fmm_plan *plan)
{
	int status = 0;
	for (int level = plan->near.first_far; level <= plan->box.depth && status == 0; level++) {
		uint32_t *column_of = malloc((plan->sources.groups[level].n + 1) * sizeof *column_of);
		status =
		    column_of ? register_level(plan, level, column_of) : hd_fmm_no_memory("the lists of far cells");
		free(column_of);
	}
	return status;
}

void hd_fmm_end_far_lists(struct heddle_fmm_plan *plan)
{
	for (int level = plan->near.first_far; level <= plan->box.depth; level++) {
		struct hd_fmm_far_list *lists = plan->far_lists[level];
		for (size_t g = 0; lists && g < hd_fmm_target_groups(plan, level)->n; g++) {
			hd_fmm_end_data(lists[g].data);
			free(lists[g].numbers);
		}
		free(lists);
	}
}
