/* Computes the iterative bound (Agullo, Beaumont, Eyraud-Dubois, Kumar, "Are static schedules so bad? A case study on
 * Cholesky factorization", IPDPS 2016): the area bound's linear program with conditions on paths. Each round solves the
 * program, finds the path that is longest if each task takes the time that the solution expects, and adds the condition
 * that this path takes at most T, until no path takes longer.
 *
 * The shares of a whole type cannot be used for its tasks on a path, because a schedule may run the tasks on the path
 * on other classes than the rest. So the unknowns belong to groups: tasks of one type that are on the same ones of the
 * paths found so far. A new path splits each group through which it goes into two. The path is then a union of whole
 * groups, so the mean times of its groups give its length exactly.
 *
 * The unknowns of a group are how many of its tasks each class runs, except its fastest class, which runs the rest. The
 * result is not CLP's optimum, but the bound that CLP's dual values prove (see area.c). They are prices: p[c] of the
 * time of class c, and q[k] of the length of path k, with (sum over c of p[c] * capacity[c]) + (sum over k of q[k]) =
 * 1. For such prices, no schedule is shorter than the sum over tasks of the least time[c] * (p[c] + sum of q[k] over
 * the paths k through the task) of any class c. So there is a valid bound after every round. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/lp.h"

#define TOLERANCE 1e-6 /* relative: a path may be longer than T by this part */
#define SMOOTHING 0.9  /* weight of the earlier solutions in the smoothed times of find_path() */
/* one solution may take PIVOTS pivots, and ten more per row; it takes fewer unless CLP cycles */
enum { T_COLUMN, PIVOTS = 2000 };
enum { NO_ROW = -1 };
enum { BASIC = 1, AT_UPPER, AT_LOWER }; /* CLP's numbers for the states of rows and columns in a basis */

struct group {
	size_t type;
	size_t count;   /* number of tasks */
	size_t on_path; /* how many of the tasks are on the path that is being added */
	size_t twin;    /* index of the new group, to which the tasks on the path move */
	size_t origin;  /* of a new group: index of the group from which its tasks have come */
	/* index of its first column; the others follow, one per class that can run the type, except the fastest */
	int column;
	int n_columns;
	/* the row that limits the sum of the columns to `count`; NO_ROW: a single column has this limit itself */
	int limit;
};

/* Columns, or one row, that are collected and then added to the program together. */
struct addition {
	int *start;    /* owns; index of the first coefficient of each, and one more entry */
	int *index;    /* owns; of a column's coefficients the rows, of a row's coefficients the columns */
	double *value; /* owns; the coefficients */
	int n, n_values;
};

/* A path that has been found, and its row in the program. */
struct path {
	struct path *before; /* the path that was found before this one */
	int row;
	size_t n;
	size_t tasks[];
};

struct iteration {
	const struct hd_costed *graph; /* borrowed, as are `types` and `paths` */
	const struct hd_bound_types *types;
	struct hd_paths *paths;
	/* factor for all times, because CLP's tolerances are absolute: it makes the mean of the tasks' least times 1 */
	double scale;
	Clp_Simplex *model;
	int n_rows, n_columns; /* of the program, counting what is in `added` */
	struct addition added;
	struct group *groups; /* owns; room for one group per task */
	size_t n_groups;
	size_t *of;      /* owns; per task: index of its group */
	size_t *fastest; /* owns; per type: its fastest class */
	double *price;   /* owns; scratch, per task */
	/* own; per task, in scaled time: what the last solution expects; weighted mean of that over all solutions */
	double *expected, *smoothed;
	struct path *last; /* owns; the path found last */
	unsigned max_rounds;
	struct heddle_bounds *out; /* borrowed */
};

static double time_of(const struct iteration *it, size_t type, size_t c)
{
	return it->types->times[type * it->types->n_classes + c] * it->scale;
}

/* Whether the groups of a type have a column for class c: the class can run the type, and is not its fastest class. */
static int has_column(const struct iteration *it, size_t type, size_t c)
{
	return c != it->fastest[type] && !isnan(time_of(it, type, c));
}

/* --- What is added ------------------------------------------------------------------------------------------------ */

/* Begins an addition of at most n columns or rows, with at most n_values coefficients together. */
static int begin_addition(struct addition *a, int n, size_t n_values)
{
	int *start = realloc(a->start, ((size_t)n + 1) * sizeof *start);
	a->start = start ? start : a->start;
	int *index = realloc(a->index, (n_values + 1) * sizeof *index);
	a->index = index ? index : a->index;
	double *value = realloc(a->value, (n_values + 1) * sizeof *value);
	a->value = value ? value : a->value;
	if (!start || !index || !value)
		return hd_no_memory("the iterative bound");
	a->n = a->n_values = a->start[0] = 0;
	return 0;
}

static void put(struct addition *a, int index, double value)
{
	a->index[a->n_values] = index;
	a->value[a->n_values++] = value;
}

static void end_line(struct addition *a)
{
	a->start[++a->n] = a->n_values;
}

static void free_addition(struct addition *a)
{
	free(a->start);
	free(a->index);
	free(a->value);
}

/* --- The program -------------------------------------------------------------------------------------------------- */

/* Sets the number of tasks of a group, and the limit in the program that depends on it. */
static void set_count(struct iteration *it, struct group *group, size_t count)
{
	group->count = count;
	if (group->limit != NO_ROW)
		Clp_rowUpper(it->model)[group->limit] = (double)count;
	else if (group->n_columns)
		Clp_columnUpper(it->model)[group->column] = (double)count;
}

/* Makes a group. Gives numbers to its columns and, if there are several, to the row that limits their sum. */
static struct group *add_group(struct iteration *it, size_t type, size_t count)
{
	struct group *group = &it->groups[it->n_groups++];
	*group = (struct group){.type = type, .count = count, .column = it->n_columns, .limit = NO_ROW};
	for (size_t c = 0; c < it->graph->n_classes; c++)
		group->n_columns += has_column(it, type, c);
	it->n_columns += group->n_columns;
	if (group->n_columns > 1)
		group->limit = it->n_rows++;
	return group;
}

/* Adds the columns of the group of a whole type. A task that class c runs, not the fastest class, adds to the work of
 * class c and subtracts from the work of the fastest class. Row c belongs to class c. */
static void put_type(struct iteration *it, const struct group *group)
{
	size_t fastest = it->fastest[group->type];
	for (size_t c = 0; c < it->graph->n_classes; c++) {
		if (!has_column(it, group->type, c))
			continue;
		put(&it->added, (int)c, time_of(it, group->type, c));
		put(&it->added, (int)fastest, -time_of(it, group->type, fastest));
		if (group->limit != NO_ROW)
			put(&it->added, group->limit, 1);
		end_line(&it->added);
	}
}

/* The work of class c if each type runs on its fastest class. */
static double work_of(const struct iteration *it, size_t c)
{
	double work = 0;
	for (size_t t = 0; t < it->types->n; t++)
		work += it->fastest[t] == c ? it->types->counts[t] * time_of(it, t, c) : 0;
	return work;
}

/* Sets the basis from which the first solution starts: the slacks. */
static void set_standard_basis(struct iteration *it)
{
	for (int i = 0; i < it->n_rows; i++)
		Clp_setRowStatus(it->model, i, BASIC);
	for (int j = 0; j < it->n_columns; j++)
		Clp_setColumnStatus(it->model, j, AT_LOWER);
}

/* Makes the program of the area bound: each type is a group, and class c has at most T * capacity[c] of work. */
static int build(struct iteration *it)
{
	const struct hd_costed *g = it->graph;
	it->n_rows = (int)g->n_classes;
	it->n_columns = 1;
	for (size_t t = 0; t < it->types->n; t++)
		add_group(it, t, (size_t)it->types->counts[t]);
	int status = begin_addition(&it->added, it->n_columns, g->n_classes + 3 * (size_t)it->n_columns);
	if (status)
		return status;
	for (size_t c = 0; c < g->n_classes; c++)
		if (g->workers[c] > 0)
			put(&it->added, (int)c, -hd_costed_capacity(g, c));
	end_line(&it->added);
	for (size_t k = 0; k < it->n_groups; k++)
		put_type(it, &it->groups[k]);
	Clp_loadProblem(it->model, it->n_columns, it->n_rows, it->added.start, it->added.index, it->added.value, NULL,
	                NULL, NULL, NULL, NULL);
	Clp_objective(it->model)[T_COLUMN] = 1;
	for (size_t c = 0; c < g->n_classes; c++)
		Clp_rowUpper(it->model)[c] = -work_of(it, c);
	for (size_t k = 0; k < it->n_groups; k++)
		set_count(it, &it->groups[k], it->groups[k].count);
	set_standard_basis(it);
	for (size_t i = 0; i < g->n_tasks; i++)
		it->of[i] = it->types->of[i];
	return 0;
}

/* --- A new path --------------------------------------------------------------------------------------------------- */

/* Extends the basis to the columns of a twin, so that the dual values stay feasible and the next solution starts from
 * the last one. The twin of a basic column has reduced cost 0, so it may be in the basis or not. But if the sum of the
 * group's columns is at its limit, one of the twin's columns must be in the basis. */
static void set_basis(struct iteration *it, const struct group *group, const struct group *twin)
{
	int is_tight = group->limit != NO_ROW && Clp_getRowStatus(it->model, group->limit) != BASIC;
	if (group->limit != NO_ROW)
		Clp_setRowStatus(it->model, twin->limit, is_tight ? AT_UPPER : BASIC);
	for (int k = 0; k < group->n_columns; k++) {
		int state = Clp_getColumnStatus(it->model, group->column + k);
		int is_in = state == BASIC && is_tight;
		Clp_setColumnStatus(it->model, twin->column + k, is_in ? BASIC : state == BASIC ? AT_LOWER : state);
		is_tight &= !is_in;
	}
}

/* Moves the group's tasks that are on the new path to a new group, its twin. add_twins() then changes the program. */
static void split(struct iteration *it, size_t number)
{
	struct group *group = &it->groups[number], *twin = add_group(it, group->type, group->on_path);
	group->twin = (size_t)(twin - it->groups);
	twin->origin = number;
	twin->on_path = twin->count;
	group->count -= group->on_path;
	group->on_path = 0;
}

/* Adds the columns of a twin, in the same rows as the columns of the group from which its tasks come. */
static void put_twin(struct iteration *it, const struct group *twin)
{
	const struct group *group = &it->groups[twin->origin];
	const int *start = Clp_getVectorStarts(it->model), *length = Clp_getVectorLengths(it->model);
	for (int k = 0; k < group->n_columns; k++) {
		int first = start[group->column + k], end = first + length[group->column + k];
		for (int e = first; e < end; e++) {
			int row = Clp_getIndices(it->model)[e];
			put(&it->added, group->limit != NO_ROW && row == group->limit ? twin->limit : row,
			    Clp_getElements(it->model)[e]);
		}
		end_line(&it->added);
	}
}

/* Adds n rows without coefficients. */
static int add_rows(struct iteration *it, int n)
{
	int status = n ? begin_addition(&it->added, n, 0) : 0;
	for (int i = 0; i < n && !status; i++)
		end_line(&it->added);
	if (!status && n)
		Clp_addRows(it->model, n, NULL, NULL, it->added.start, it->added.index, it->added.value);
	return status;
}

/* Makes the program match the groups. The groups from `first` on are new. */
static int add_twins(struct iteration *it, size_t first)
{
	int n_columns = it->n_columns - Clp_numberColumns(it->model), status;
	status = add_rows(it, it->n_rows - Clp_numberRows(it->model));
	if (!status)
		status = begin_addition(&it->added, n_columns, (size_t)n_columns * (size_t)it->n_rows);
	if (status)
		return status;
	for (size_t k = first; k < it->n_groups; k++)
		put_twin(it, &it->groups[k]);
	if (n_columns)
		Clp_addColumns(it->model, n_columns, NULL, NULL, NULL, it->added.start, it->added.index,
		               it->added.value);
	for (size_t k = first; k < it->n_groups; k++) {
		struct group *twin = &it->groups[k], *group = &it->groups[twin->origin];
		set_count(it, twin, twin->count);
		set_count(it, group, group->count);
		set_basis(it, group, twin);
	}
	return 0;
}

/* Splits groups so that the path is a union of whole groups. */
static int split_groups(struct iteration *it, const struct path *path)
{
	size_t first = it->n_groups;
	for (size_t i = 0; i < path->n; i++)
		it->groups[it->of[path->tasks[i]]].on_path++;
	for (size_t i = 0; i < path->n; i++) {
		size_t *of = &it->of[path->tasks[i]];
		struct group *group = &it->groups[*of];
		if (group->on_path > 0 && group->on_path < group->count)
			split(it, *of);
		if (group->on_path == 0)
			*of = group->twin;
	}
	return add_twins(it, first);
}

/* Adds the row for the condition that the path takes at most T. Sets on_path of its groups to 0. */
static int add_row(struct iteration *it, struct path *path)
{
	double length = 0;
	int status = begin_addition(&it->added, 1, 1 + path->n * it->graph->n_classes);
	if (status)
		return status;
	put(&it->added, T_COLUMN, -1);
	for (size_t i = 0; i < path->n; i++) {
		struct group *group = &it->groups[it->of[path->tasks[i]]];
		double fastest = time_of(it, group->type, it->fastest[group->type]);
		int column = group->column;
		length += fastest;
		for (size_t c = 0; c < it->graph->n_classes && group->on_path; c++)
			if (has_column(it, group->type, c))
				put(&it->added, column++, time_of(it, group->type, c) - fastest);
		group->on_path = 0; /* 0 from now on, so that the group's columns are not added again */
	}
	end_line(&it->added);
	path->row = it->n_rows++;
	Clp_addRows(it->model, 1, NULL, NULL, it->added.start, it->added.index, it->added.value);
	Clp_rowUpper(it->model)[path->row] = -length;
	Clp_setRowStatus(it->model, path->row, BASIC);
	return 0;
}

/* Adds the path that hd_paths_find has found last. */
static int add_path(struct iteration *it)
{
	const struct hd_paths *p = it->paths;
	size_t n = 0;
	for (size_t task = p->start; task != HD_PATH_END; task = p->next[task])
		n++;
	struct path *path = malloc(sizeof *path + n * sizeof *path->tasks);
	if (!path)
		return hd_no_memory("the iterative bound");
	*path = (struct path){.before = it->last};
	for (size_t task = p->start; task != HD_PATH_END; task = p->next[task])
		path->tasks[path->n++] = task;
	it->last = path;
	int status = split_groups(it, path);
	return status ? status : add_row(it, path);
}

/* --- Rounds ------------------------------------------------------------------------------------------------------- */

/* The bound in us that the dual values prove, as the head of the file says. */
static double prove(struct iteration *it)
{
	const struct hd_costed *g = it->graph;
	double whole = 0, bound = 0;
	for (size_t i = 0; i < g->n_tasks; i++)
		it->price[i] = 0;
	for (const struct path *path = it->last; path; path = path->before) {
		double q = hd_lp_price(it->model, path->row);
		whole += q;
		for (size_t i = 0; i < path->n; i++)
			it->price[path->tasks[i]] += q;
	}
	for (size_t c = 0; c < g->n_classes; c++)
		whole += hd_lp_price(it->model, (int)c) * hd_costed_capacity(g, c);
	for (size_t i = 0; i < g->n_tasks; i++) {
		double least = INFINITY;
		for (size_t c = 0; c < g->n_classes; c++)
			if (!isnan(g->times[i * g->n_classes + c]))
				least = fmin(least, g->times[i * g->n_classes + c] *
				                        (it->price[i] + hd_lp_price(it->model, (int)c)));
		bound += least;
	}
	return whole > 0 ? bound / whole : 0;
}

/* Computes the times that the solution expects: for each task, the mean over its group. */
static void expect_times(struct iteration *it)
{
	for (size_t i = 0; i < it->graph->n_tasks; i++) {
		const struct group *group = &it->groups[it->of[i]];
		double fastest = time_of(it, group->type, it->fastest[group->type]), time = fastest;
		int column = group->column;
		for (size_t c = 0; c < it->graph->n_classes; c++)
			if (has_column(it, group->type, c))
				time += (time_of(it, group->type, c) - fastest) *
				        Clp_primalColumnSolution(it->model)[column++] / (double)group->count;
		it->expected[i] = time;
	}
}

/* Looks for a path longer than `limit`. Returns 1 if there is one, and it->paths then has it; 0 if the search is over.
 *
 * The path that is longest by the smoothed times is tried first. There are many equally good solutions; with the times
 * of the last one alone, each round would undo the round before (Ben-Ameur and Neto's "in-out separation", Networks 49,
 * 2007). A mean of solutions satisfies the rows of the classes, too, so if no path is too long by it, the search is
 * over. */
static int find_path(struct iteration *it, double limit)
{
	struct hd_paths *p = it->paths;
	size_t n = it->graph->n_tasks;
	double weight = it->out->rounds > 1 ? SMOOTHING : 0, length = 0;
	for (size_t i = 0; i < n; i++)
		p->weights[i] = it->smoothed[i] = weight * it->smoothed[i] + (1 - weight) * it->expected[i];
	if (hd_paths_find(p) <= limit)
		return 0;
	for (size_t task = p->start; task != HD_PATH_END; task = p->next[task])
		length += it->expected[task];
	if (length > limit)
		return 1;
	memcpy(p->weights, it->expected, n * sizeof *p->weights);
	return hd_paths_find(p) > limit;
}

/* Solves the program, starting from the basis of the last round; if CLP cycles, again from the standard basis. Returns
 * 1 if it has found a solution. */
static int solve(struct iteration *it)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		int is_anew = attempt > 0 || it->out->rounds == 0;
		Clp_setMaximumIterations(it->model, PIVOTS + 10 * (it->n_rows + (is_anew ? it->n_columns : 0)));

		Clp_dual(it->model, 0);
		/* the dual simplex, because the new row alone is violated */
		if (Clp_status(it->model) == 0)
			return 1;
		set_standard_basis(it);
	}
	return 0;
}

/* Solves the program and adds paths, until no path is too long. The critical path is the first path added. */
static int iterate(void *arg)
{
	struct iteration *it = arg;
	it->model = hd_lp_new();
	int status = build(it);
	hd_paths_find(it->paths);
	while (!status && it->out->rounds < it->max_rounds && !it->out->converged) {
		status = add_path(it);
		if (status || !solve(it))
			break; /* the bound proven so far stays valid */
		it->out->rounds++;
		if (it->graph->watch)
			it->graph->watch->round(it->out->rounds, it->max_rounds, it->graph->watch->arg);
		it->out->iterative = fmax(it->out->iterative, prove(it));
		expect_times(it);
		it->out->converged = !find_path(it, Clp_primalColumnSolution(it->model)[T_COLUMN] * (1 + TOLERANCE));
	}
	Clp_deleteModel(it->model);
	return status;
}

static int begin(struct iteration *it)
{
	size_t n = it->graph->n_tasks;
	double sum = 0;
	it->groups = malloc((n + 1) * sizeof *it->groups);
	it->of = malloc((n + 1) * sizeof *it->of);
	it->fastest = malloc((it->types->n + 1) * sizeof *it->fastest);
	it->price = malloc((n + 1) * sizeof *it->price);
	it->expected = malloc((n + 1) * sizeof *it->expected);
	it->smoothed = malloc((n + 1) * sizeof *it->smoothed);
	if (!it->groups || !it->of || !it->fastest || !it->price || !it->expected || !it->smoothed)
		return hd_no_memory("the iterative bound");
	for (size_t t = 0; t < it->types->n; t++) {
		const double *times = it->types->times + t * it->types->n_classes;
		sum += it->types->best[t] * it->types->counts[t];
		for (size_t c = it->types->n_classes; c-- > 0;)
			it->fastest[t] = times[c] <= it->types->best[t] ? c : it->fastest[t];
	}
	it->scale = sum > 0 ? (double)n / sum : 0;
	for (size_t i = 0; i < n; i++)
		it->smoothed[i] = 0;
	return 0;
}

static void end(struct iteration *it)
{
	while (it->last) {
		struct path *before = it->last->before;
		free(it->last);
		it->last = before;
	}
	free(it->groups);
	free(it->of);
	free(it->fastest);
	free(it->price);
	free(it->expected);
	free(it->smoothed);
	free_addition(&it->added);
}

/* Whether each class can run all tasks for which it is the fastest class in the time of the critical path. Then the
 * iterative bound is not above the length of the critical path. */
static int path_suffices(const struct iteration *it)
{
	const struct hd_bound_types *types = it->types;
	for (size_t c = 0; c < types->n_classes; c++) {
		double work = 0;
		for (size_t t = 0; t < types->n; t++)
			work += it->fastest[t] == c ? types->counts[t] * types->best[t] : 0;
		if (work > hd_costed_capacity(it->graph, c) * it->out->critical_path)
			return 0;
	}
	return 1;
}

int hd_iterative_bound(const struct hd_bound_types *types, struct hd_paths *paths, unsigned rounds,
                       struct heddle_bounds *out)
{
	struct iteration it = {.graph = paths->graph, .types = types, .paths = paths, .max_rounds = rounds, .out = out};
	int status = begin(&it);
	out->iterative = fmax(out->area, out->critical_path);
	out->converged = !status && path_suffices(&it);
	if (!status && !out->converged)
		status = hd_lp_run(iterate, &it);
	end(&it);
	return status;
}
