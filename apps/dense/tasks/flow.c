/* A flow: the tasks of a call, with their priorities.
 *
 * If the priorities of tasks are their bottom levels, the function that inserts the tasks is called twice. The first
 * pass only notes which tiles each task uses, from which the bottom levels in the graph of the whole call follow
 * (levels.c). So no routine needs formulas for priorities. If all tasks have expert priorities, there is no such pass.
 */
#include <dense/internal.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PRIORITY = INT_MAX / 2 }; /* so that the priorities of tasks of sub-graphs do not overflow */

void hd_dense_expert(struct hd_dense_flow *flow, long long priority)
{
	flow->has_expert = !flow->no_expert;
	flow->expert = priority > INT_MAX ? INT_MAX : priority < INT_MIN ? INT_MIN : (int)priority;
}

void hd_dense_no_expert(struct hd_dense_flow *flow)
{
	flow->no_expert = 1;
	flow->has_expert = 0;
}

/* Finds the levels of all tasks, by an additional pass. */
static void plan(struct hd_dense_flow *flow)
{
	struct hd_dense_flow pass = *flow;
	flow->levels = pass.levels = hd_dense_levels_new();
	if (!flow->levels) {
		flow->status = hd_dense_no_memory("the priorities of tasks");
		return;
	}
	pass.planning = 1;
	pass.times = 0;
	pass.tasks(&pass, pass.args);
	flow->status = pass.status < 0 ? pass.status : hd_dense_levels_compute(flow->levels);
	flow->path = hd_dense_levels_top(flow->levels);
	if (!flow->inside && flow->path > 0 && flow->unit > MOST_PRIORITY / flow->path)
		flow->unit = flow->path < MOST_PRIORITY ? MOST_PRIORITY / flow->path : 1;
}

/* The level of the next task; 0 after an error. */
static int level_of_next(struct hd_dense_flow *flow)
{
	if (!flow->levels)
		plan(flow);
	return flow->status < 0 ? 0 : hd_dense_level(flow->levels, flow->next);
}

/* The priority of the next task of a sub-graph. If the priority of the hierarchical task is its level: the level at the
 * end of the hierarchical task plus the level of the next task in the sub-graph, in the same unit; so priorities are
 * about those of a matrix of small tiles only. Otherwise the level of the next task is scaled to the range of
 * priorities that the hierarchical task leaves for its sub-graph. */
static int priority_inside(struct hd_dense_flow *flow)
{
	long long level = level_of_next(flow), path = flow->path;
	if (flow->step > 0) {
		long long priority = flow->rest + flow->step * level;
		return priority > INT_MAX ? INT_MAX : (int)priority;
	}
	return flow->top - flow->width + (int)((flow->width * level + path - 1) / path);
}

static int priority_of(struct hd_dense_flow *flow)
{
	if (flow->options.priority == HEDDLE_DENSE_PRIORITY_NONE)
		return flow->top; /* 0, or the priority of the hierarchical task */
	if (flow->inside)
		return priority_inside(flow);
	if (flow->options.priority == HEDDLE_DENSE_PRIORITY_STARPU && flow->has_expert) {
		long long priority = (long long)flow->expert * flow->unit;
		return priority > MOST_PRIORITY    ? MOST_PRIORITY
		       : priority < -MOST_PRIORITY ? -MOST_PRIORITY
		                                   : (int)priority;
	}
	int level = level_of_next(flow); /* this call may make the unit smaller */
	return level * flow->unit;
}

struct hd_dense_flow hd_dense_flow_of(const heddle_dense_matrix *a)
{
	return (struct hd_dense_flow){
	    .dense = a->dense, .precision = a->shape.precision, .options = {.priority = HEDDLE_DENSE_PRIORITY_NONE}};
}

/* Notes for the sub-graph of the task the levels of the tasks around it. Notes nothing if there are no priorities, if
 * the sub-graph is not the routine on smaller square tiles, or if the routine has expert priorities (even under
 * HEDDLE_DENSE_PRIORITY_PATH, where measurements showed no difference). */
static void note_levels(const struct hd_dense_flow *flow, struct hd_dense_parent *parent, int is_other)
{
	if (is_other || flow->has_expert || flow->options.priority == HEDDLE_DENSE_PRIORITY_NONE)
		return;
	parent->step = flow->inside ? flow->step : flow->unit;
	parent->rest = parent->priority - hd_dense_cost(parent->op) * parent->step;
	parent->tile = flow->tile;
}

enum { FEW_ITEMS = 12 }; /* the most items of a hierarchical task, unless it is on a column of tiles */

static void insert_hierarchical(struct hd_dense_flow *flow, enum hd_dense_op op, int priority, size_t n,
                                const struct heddle_item *items, const struct hd_dense_extra *extra)
{
	struct heddle_item few[FEW_ITEMS], *all = n + 2 > FEW_ITEMS ? malloc((n + 2) * sizeof *all) : few;
	struct hd_dense_parent parent = {
	    .dense = flow->dense,
	    .op = op,
	    .precision = flow->precision,
	    .priorities = flow->options.priority,
	    .priority = priority,
	    .width = flow->unit,
	    .info = flow->options.info,
	};
	note_levels(flow, &parent, extra != NULL);
	if (!all) {
		flow->status = hd_dense_no_memory("a hierarchical task");
		return;
	}
	memcpy(&all[2], &items[2], (n - 2) * sizeof *items);
	all[0] = heddle_call(flow->dense->hierarchical[flow->precision][op]);
	all[1] = heddle_priority(priority);
	all[n++] = heddle_value(parent);
	if (extra)
		all[n++] = heddle_bytes(extra->value, extra->bytes);
	flow->status = heddle_submit_items(flow->dense->rt, n, all);
	if (all != few)
		free(all);
}

void hd_dense_insert_items(struct hd_dense_flow *flow, enum hd_dense_op op, size_t n, struct heddle_item *items)
{
	hd_dense_insert_cut(flow, op, n, items, NULL);
}

void hd_dense_insert_cut(struct hd_dense_flow *flow, enum hd_dense_op op, size_t n, struct heddle_item *items,
                         const struct hd_dense_extra *extra)
{
	if (flow->status < 0)
		return;
	if (flow->planning) {
		int times = flow->times > 0 ? flow->times : 1;
		flow->times = 0;
		flow->status = hd_dense_levels_add(flow->levels, times * hd_dense_cost(op), n - 2, items + 2);
		return;
	}
	int priority = priority_of(flow);
	if (flow->status < 0)
		return;
	flow->next++;
	if (extra || (flow->refined && hd_dense_may_expand(op, n, items))) {
		insert_hierarchical(flow, op, priority, n, items, extra);
		return;
	}
	items[0] = heddle_call(flow->dense->codelets[flow->precision][op]);
	items[1] = heddle_priority(priority);
	flow->status = heddle_submit_items(flow->dense->rt, n, items);
}

int hd_dense_flow_run(struct hd_dense_flow *flow, hd_dense_tasks tasks, const struct hd_dense_args *x)
{
	enum { MATRICES = sizeof x->m / sizeof *x->m };
	if (flow->unit < 1)
		flow->unit = 1;
	for (size_t i = 0; i < MATRICES; i++) {
		if (x->m[i] && x->m[i]->unit > flow->unit)
			flow->unit = x->m[i]->unit;
		if (x->m[i] && !flow->tile)
			flow->tile = x->m[i]->shape.tile;
	}
	flow->refined = flow->unit > 1;
	flow->tasks = tasks;
	flow->args = x;
	/* Expert priorities are multiplied by the unit. A unit above 1 follows from the longest path. */
	if (flow->options.priority != HEDDLE_DENSE_PRIORITY_NONE && (flow->refined || flow->inside))
		plan(flow);
	if (flow->status >= 0)
		tasks(flow, x);
	hd_dense_levels_free(flow->levels);
	return flow->status;
}

int hd_dense_check_triangle(const char *routine, const heddle_dense_matrix *a, enum heddle_dense_uplo uplo)
{
	if (uplo != HEDDLE_DENSE_LOWER && uplo != HEDDLE_DENSE_UPPER)
		return heddle_error(HEDDLE_E_INVALID, "%s: uplo is %d: it must be HEDDLE_DENSE_LOWER or _UPPER",
		                    routine, (int)uplo);
	if (a->shape.rows != a->shape.columns)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a square matrix, this one is %zu x %zu", routine,
		                    a->shape.rows, a->shape.columns);
	if (a->shape.uplo != HEDDLE_DENSE_GENERAL && a->shape.uplo != uplo)
		return heddle_error(HEDDLE_E_INVALID,
		                    "%s of the %s triangle: the matrix has only the tiles of the other", routine,
		                    uplo == HEDDLE_DENSE_LOWER ? "lower" : "upper");
	return 0;
}

int hd_dense_check_full(const char *routine, const heddle_dense_matrix *a)
{
	if (a->shape.uplo == HEDDLE_DENSE_GENERAL)
		return 0;
	return heddle_error(HEDDLE_E_INVALID, "%s needs all tiles of a matrix of which only the %s triangle exists",
	                    routine, a->shape.uplo == HEDDLE_DENSE_LOWER ? "lower" : "upper");
}

static int check_flags(const char *routine, const struct hd_dense_args *x)
{
	if ((unsigned)x->trans_a <= HEDDLE_DENSE_CONJ_TRANS && (unsigned)x->trans_b <= HEDDLE_DENSE_CONJ_TRANS &&
	    (unsigned)x->side <= HEDDLE_DENSE_RIGHT && (unsigned)x->uplo <= HEDDLE_DENSE_UPPER &&
	    (unsigned)x->diag <= HEDDLE_DENSE_UNIT)
		return 0;
	return heddle_error(
	    HEDDLE_E_INVALID,
	    "%s: transpositions %d and %d, side %d, triangle %d, diagonal %d: one of them is not a value "
	    "of its enumeration",
	    routine, (int)x->trans_a, (int)x->trans_b, (int)x->side, (int)x->uplo, (int)x->diag);
}

static int check_matrices(const struct hd_dense_operation *operation, heddle_dense_matrix *const *m)
{
	const char *names = operation->matrices;
	for (size_t i = 0; names[i]; i++) {
		if (!m[i])
			return heddle_error(HEDDLE_E_INVALID, "%s: matrix %c is NULL", operation->name, names[i]);
		if (m[i]->dense != m[0]->dense)
			return heddle_error(HEDDLE_E_INVALID, "%s: matrices %c and %c are of different dense contexts",
			                    operation->name, names[0], names[i]);
		if (m[i]->shape.precision != m[0]->shape.precision || m[i]->shape.tile != m[0]->shape.tile)
			return heddle_error(HEDDLE_E_INVALID,
			                    "%s: matrices %c and %c have different precisions or tiles",
			                    operation->name, names[0], names[i]);
	}
	return 0;
}

/* Checks that all matrices are different. A routine of several matrices writes the last matrix, or one of two. If the
 * same matrix were another argument, the routine would overwrite values that it still has to read. */
static int check_distinct(const struct hd_dense_operation *operation, heddle_dense_matrix *const *m)
{
	size_t last = strlen(operation->matrices) - 1;
	for (size_t i = 0; i < last; i++)
		if (m[i] == m[last])
			return heddle_error(
			    HEDDLE_E_INVALID,
			    "%s: matrices %c and %c are the same, and one of them is written: pass a copy "
			    "(heddle_dense_copy_submit)",
			    operation->name, operation->matrices[i], operation->matrices[last]);
	return 0;
}

static int check_options(const char *routine, const struct heddle_dense_options *options)
{
	if (!options || ((unsigned)options->layout <= HEDDLE_DENSE_TILED &&
	                 (unsigned)options->priority <= HEDDLE_DENSE_PRIORITY_NONE &&
	                 (unsigned)options->tree <= HEDDLE_DENSE_DOMAINS))
		return 0;
	return heddle_error(HEDDLE_E_INVALID,
	                    "%s: options have layout %d, priority %d, tree %d: one of them is not a value of its "
	                    "enumeration",
	                    routine, (int)options->layout, (int)options->priority, (int)options->tree);
}

static int check_arguments(const struct hd_dense_operation *operation, const struct hd_dense_args *x,
                           const struct heddle_dense_options *options)
{
	int status = check_matrices(operation, x->m);
	if (status >= 0)
		status = check_flags(operation->name, x);
	if (status >= 0)
		status = check_options(operation->name, options);
	if (status >= 0 && operation->check)
		status = operation->check(x);
	return status < 0 ? status : check_distinct(operation, x->m);
}

int hd_dense_submit(const struct hd_dense_operation *operation, const struct hd_dense_args *x,
                    const struct heddle_dense_options *options)
{
	int status = check_arguments(operation, x, options);
	if (status < 0)
		return status;
	struct hd_dense_flow flow = {.dense = x->m[0]->dense, .precision = x->m[0]->shape.precision};
	if (options)
		flow.options = *options;
	if (flow.options.info)
		*flow.options.info = 0;
	struct hd_dense_args settled = *x;
	settled.alpha = hd_dense_factor(flow.precision, x->alpha);
	settled.beta = hd_dense_factor(flow.precision, x->beta);
	return hd_dense_flow_run(&flow, operation->tasks, &settled);
}
